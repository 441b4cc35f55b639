//! A table of `perf sched latency` beside the rows of a trace, as people paste the outputs of perf one after the other: it has no event,
//! and its largest delay may be of a thread, or a time, that the rows do not have.

use super::fields;
use crate::pasted;
use crate::sched_latency::{self, Row};
use whylate_events::Damage;

/// The tables of a text.
#[derive(Default)]
pub(crate) struct DelayTable {
    /// The line of the first row.
    first: Option<u64>,
    /// A row that a mail may have broken.
    begun: Option<String>,
    worst: Option<Row>,
    /// Rows of which a number is missing or broken.
    broken: u64,
    /// The last line was one of a table.
    is_within: bool,
    has_sum: bool,
    is_cut: bool,
}

impl DelayTable {
    /// Takes in a line; false where it is none of a table.
    pub(crate) fn takes(&mut self, number: u64, line: &str) -> bool {
        let line = fields::trim(line);
        if let Some(row) = self.begun.as_mut().filter(|row| !Row::is_whole(row))
            && sched_latency::may_continue(line)
        {
            row.push(' ');
            row.push_str(line);
            return true;
        }
        self.end();
        let is_row = sched_latency::begins(line);
        let is_of_rows = || sched_latency::is_sum(line) || sched_latency::is_of_frame(line);
        let is_within = is_row || is_title(line) || self.is_within && is_of_rows();
        if is_row {
            self.first = self.first.or(Some(number));
            self.begun = Some(line.to_owned());
        }
        self.is_cut |= self.is_within && pasted::leaves_out(line);
        self.has_sum |= is_within && sched_latency::is_sum(line);
        self.is_within = is_within;
        is_within
    }

    /// No line follows of the row that has begun.
    pub(crate) fn end(&mut self) {
        let Some(line) = self.begun.take() else { return };
        match Row::of(&line) {
            Some(row) if self.worst.as_ref().is_none_or(|worst| row.max > worst.max) => {
                self.worst = Some(row);
            }
            Some(_) => {}
            None => self.broken += 1,
        }
    }

    /// What the tables show beside the rows.
    pub(crate) fn beside_rows(&self) -> Option<Damage> {
        let worst = match &self.worst {
            Some(worst) => format!("its largest delay is {}", worst.shown()),
            None => "no row of it is whole".to_owned(),
        };
        let missing = match self.broken > 0 || self.is_cut || !self.has_sum {
            true => ", and rows of it may be missing",
            false => "",
        };
        let what = format!(
            "the text has a table of perf sched latency beside its rows, which is no part of this answer: {worst}{missing}. It has sums \
             and no cause; a file with the table alone can be compared with another one"
        );
        self.first.map(|first| Damage::at(first, what).detail())
    }
}

/// True of the titles of the columns, which have units: a latency tracer's header has the word `delay`, too.
fn is_title(line: &str) -> bool {
    sched_latency::is_title(line) && line.contains(" ms")
}
