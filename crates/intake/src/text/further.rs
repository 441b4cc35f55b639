//! A further recording in the same text, whose times are its own: the first one is read.

use super::event_head::EventHead;
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_events::Damage;

/// A time that goes back by less, behind a line of prose, may be that of another piece of the same recording.
const LONG: Ns = Ns::from_secs(5);

/// How a row is printed. A tracer prints all rows of one recording in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowForm {
    Event,
    Graph,
}

/// See the module.
#[derive(Default)]
pub(crate) struct FurtherRecording {
    /// Those with events.
    cpus: CpuSet,
    /// A recording's title below events. The files of single CPUs, put together, have one each as well.
    title: Option<u64>,
    /// A line of prose below the last event.
    remark: Option<u64>,
    /// The line of its title, once its first event was seen.
    begins: Option<u64>,
    /// Of a latency trace: its rows so far, and how the last one is printed.
    rows: u64,
    form: Option<RowForm>,
    /// True if it is known to be a latency trace.
    is_latency_trace: bool,
}

impl FurtherRecording {
    /// The title of a recording stands in this line, below events.
    pub(crate) fn title(&mut self, line: u64) {
        self.title = Some(line);
    }

    /// A line of prose stands below events: `After the change:`
    pub(crate) fn remark(&mut self, line: u64) {
        self.remark.get_or_insert(line);
    }

    /// A further latency trace begins: each has times from its own begin on.
    pub(crate) fn latency_trace(&mut self, line: u64) {
        if self.begins.is_none() {
            (self.begins, self.is_latency_trace) = (Some(line), true);
        }
    }

    /// Looks at a row of a latency trace whose header counts so many entries. Its times count from its own beginning: behind prose, an
    /// earlier row is of another recording where the trace has all of its entries, or its rows were printed in another way.
    pub(crate) fn row(&mut self, form: RowForm, ts: Ns, entries: Option<u64>, last: Option<EventHead>) {
        let is_whole = self.has_all(entries);
        let before = self.form;
        let remark = match form {
            RowForm::Event => self.remark,
            // It is no event that `precedes` takes in.
            RowForm::Graph => self.remark.take(),
        };
        if let (None, Some(remark), Some(last), Some(before)) = (self.begins, remark, last, before)
            && ts < last.ts
            && (is_whole || before != form)
        {
            self.begins = Some(remark);
        }
    }

    /// The row was taken in, and not held back for the rest of its line.
    pub(crate) fn took(&mut self, form: RowForm) {
        self.form = Some(form);
        self.rows += 1;
    }

    /// True where a latency trace has as many rows as its header counts.
    pub(crate) fn has_all(&self, entries: Option<u64>) -> bool {
        entries.is_some_and(|entries| self.rows >= entries)
    }

    /// Takes in an event; false from the first one of a further recording on.
    #[inline]
    pub(crate) fn precedes(&mut self, cpu: Cpu, ts: Ns, last: Option<EventHead>) -> bool {
        if self.begins.is_some() {
            return false;
        }
        if let (Some(title), Some(last)) = (self.title.take(), last)
            && ts < last.ts
            && self.cpus.contains(cpu)
        {
            self.begins = Some(title);
            return false;
        }
        // Excerpts of one recording may stand in any order, and few of them lie so far apart.
        if let (Some(remark), Some(last)) = (self.remark.take(), last)
            && last.ts - ts >= LONG
            && self.cpus.contains(cpu)
        {
            self.begins = Some(remark);
            return false;
        }
        if last.is_none_or(|last| last.cpu != cpu) {
            self.cpus.insert(cpu);
        }
        true
    }

    /// The line with which it begins.
    pub(crate) fn begins(&self) -> Option<u64> {
        self.begins
    }

    /// What is left out: the latency traces that follow the first, as `more` describes them, or another recording.
    pub(crate) fn damage(&self, more: Option<String>) -> [Option<Damage>; 2] {
        let more = more.map(|what| match self.begins {
            Some(line) => {
                Damage::at(line, format!("{what}, and are left out: save each in a file of its own"))
            }
            None => Damage::whole(format!("{what}: their times are their own")),
        });
        let other = self.begins.filter(|_| !self.is_latency_trace).map(|line| {
            let what = "another recording follows, with times of its own, and is left out: save each in a file of its own";
            Damage::at(line, what.to_owned())
        });
        [more, other]
    }
}
