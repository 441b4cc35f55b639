//! What of a trace is kept: a stretch of time, CPUs, threads, events.

use crate::threads::{Threads, named};
use crate::tracepoint::{Tracepoint, kind_name};
use std::fmt;
use std::str::FromStr;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, Kind, StackSample};
use whylate_ledger::{Scope, Select};

/// What is to be kept; of an empty choice, everything.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Events of this time, and of these CPUs.
    pub scope: Scope,
    /// Events in the context of these threads, or about them.
    pub tasks: Vec<Select>,
    /// These events.
    pub events: Vec<Choice>,
}

impl Cut {
    /// True when everything is kept.
    pub fn is_empty(&self) -> bool {
        self.scope.is_whole() && self.tasks.is_empty() && self.events.is_empty()
    }

    /// True where events of that kind, known under that group and name, are kept.
    pub(crate) fn takes(&self, kind: Kind, point: &Tracepoint<'_>) -> bool {
        self.events.is_empty() || self.events.iter().any(|choice| choice.takes(kind, point))
    }
}

/// A choice of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All of a kind.
    Kind(Kind),
    /// A tracepoint by its group, its name, or both.
    Tracepoint {
        /// `sched`; of any group where there is none.
        group: Option<String>,
        /// `sched_switch`; all of the group where there is none.
        name: Option<String>,
    },
    /// What is called so, be it a group or a tracepoint.
    Either(String),
}

/// Why a choice of events was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceError {
    text: String,
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> = Kind::ALL.into_iter().map(kind_name).collect();
        write!(
            f,
            "`{}` is no event: write a tracepoint (sched_switch, sched:sched_switch), a group (irq_vectors), or one \
             of {}",
            self.text,
            kinds.join(", ")
        )
    }
}

impl std::error::Error for ChoiceError {}

/// `switch`, `sched_switch`, `sched:sched_switch`, `sched:*`, `irq_vectors`.
impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        let word = |word: &str| {
            let fits =
                !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            fits.then(|| word.to_owned()).ok_or_else(|| ChoiceError { text: text.to_owned() })
        };
        if let Some(kind) = Kind::ALL.into_iter().find(|&kind| kind_name(kind) == text) {
            return Ok(Choice::Kind(kind));
        }
        match text.split_once(':') {
            Some((group, "" | "*")) => Ok(Choice::Tracepoint { group: Some(word(group)?), name: None }),
            Some(("*", name)) => Ok(Choice::Tracepoint { group: None, name: Some(word(name)?) }),
            Some((group, name)) => {
                Ok(Choice::Tracepoint { group: Some(word(group)?), name: Some(word(name)?) })
            }
            None => word(text).map(Choice::Either),
        }
    }
}

impl Choice {
    /// True for an event of that kind, which is known under that group and name.
    pub fn takes(&self, kind: Kind, point: &Tracepoint<'_>) -> bool {
        match self {
            Choice::Kind(chosen) => *chosen == kind,
            Choice::Tracepoint { group, name } => {
                group.as_ref().is_none_or(|group| *group == point.group)
                    && name.as_ref().is_none_or(|name| *name == point.name)
            }
            Choice::Either(word) => *word == point.group || *word == point.name,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Kind(kind) => f.write_str(&kind_name(*kind)),
            Choice::Tracepoint { group, name } => {
                let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
                write!(f, "{}:{}", part(group), part(name))
            }
            Choice::Either(word) => f.write_str(word),
        }
    }
}

/// A [`Cut`] at work: sees the events of a trace one after the other and selects which to keep.
#[derive(Debug)]
pub struct Selected<'c> {
    cut: &'c Cut,
    /// Names as of the event at hand.
    threads: Threads,
    window: Option<(Ns, Ns)>,
    /// Which of the choices of events matched one.
    met: Vec<bool>,
}

impl<'c> Selected<'c> {
    /// Begins with the names that a recording gives beside its events.
    pub fn new(cut: &'c Cut, comms: Vec<(Tid, Comm)>) -> Selected<'c> {
        Selected { cut, threads: Threads::new(comms), window: None, met: vec![false; cut.events.len()] }
    }

    /// Whether to keep `event`, which is the next of the trace.
    pub fn keeps(&mut self, event: &Event) -> bool {
        self.threads.see(event);
        let window = self.window(event.ts);
        if !self.in_place(event, window) {
            return false;
        }
        // A gap belongs to whatever is left.
        if event.kind.kind() == Kind::Lost {
            return true;
        }
        self.chosen(event.kind.kind(), &Tracepoint::of(&event.kind)) && self.of_task(event)
    }

    /// The same of an event of that kind under the name that its recording gives it. Its own fields are only
    /// looked at where threads were chosen.
    pub fn keeps_as(&mut self, event: &Event, kind: Kind, point: &Tracepoint<'_>) -> bool {
        self.threads.see(event);
        let window = self.window(event.ts);
        self.in_place(event, window) && self.chosen(kind, point) && self.of_task(event)
    }

    /// Whether time and CPU of `event` are within the cut.
    pub fn is_in_place(&mut self, event: &Event) -> bool {
        let window = self.window(event.ts);
        self.in_place(event, window)
    }

    /// True when all that follows an event at `ts` comes too late.
    pub fn is_past(&self, ts: Ns) -> bool {
        self.window.is_some_and(|(_, to)| ts > to)
    }

    /// True when a part of `from..=to` may be kept.
    pub fn overlaps(&self, from: Ns, to: Ns) -> bool {
        self.window.is_none_or(|(first, last)| from <= last && to >= first)
    }

    /// Whether to keep a sampled call stack; asked when all events were seen.
    pub(crate) fn keeps_sample(&self, sample: &StackSample) -> bool {
        let is_selected = |select: &Select| select.is(sample.tid, self.threads.comm(sample.tid).as_str());
        self.overlaps(sample.time, sample.time)
            && self.cut.scope.cpus.as_ref().is_none_or(|cpus| cpus.contains(sample.cpu))
            && (self.cut.tasks.is_empty() || self.cut.tasks.iter().any(is_selected))
    }

    /// What is known of the threads so far.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Choices of events that none of the trace matched so far.
    pub fn unmet(&self) -> impl Iterator<Item = &'c Choice> {
        self.cut.events.iter().zip(&self.met).filter(|&(_, &met)| !met).map(|(choice, _)| choice)
    }

    fn window(&mut self, ts: Ns) -> (Ns, Ns) {
        let scope = &self.cut.scope;
        *self.window.get_or_insert_with(|| scope.on_clock(ts))
    }

    fn in_place(&self, event: &Event, (from, to): (Ns, Ns)) -> bool {
        event.ts >= from
            && event.ts <= to
            && self.cut.scope.cpus.as_ref().is_none_or(|cpus| cpus.contains(event.cpu))
    }

    fn chosen(&mut self, kind: Kind, point: &Tracepoint<'_>) -> bool {
        let choices = self.cut.events.iter().zip(&mut self.met);
        let mut any = self.cut.events.is_empty();
        for (choice, met) in choices {
            if choice.takes(kind, point) {
                *met = true;
                any = true;
            }
        }
        any
    }

    fn of_task(&self, event: &Event) -> bool {
        let is_selected = |tid: Tid, comm: &str| self.cut.tasks.iter().any(|select| select.is(tid, comm));
        self.cut.tasks.is_empty()
            || is_selected(event.context.tid, self.threads.comm(event.context.tid).as_str())
            || named(&event.kind)
                .into_iter()
                .flatten()
                .any(|(tid, comm)| is_selected(tid, comm.unwrap_or_else(|| self.threads.comm(tid)).as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_shown_as_they_are_written() {
        for text in ["switch", "page-fault", "sched_switch", "sched:sched_switch", "irq_vectors:*", "*:x"] {
            assert_eq!(text.parse::<Choice>().map(|choice| choice.to_string()).as_deref(), Ok(text));
        }
        for bad in ["", "a b", ":", "a:b:c", "sched:sched switch"] {
            let error = bad.parse::<Choice>().expect_err(bad);
            assert!(error.to_string().starts_with(&format!("`{bad}` is no event")), "{error}");
        }
    }
}
