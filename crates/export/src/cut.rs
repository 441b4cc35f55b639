//! What of a trace is kept: a stretch of time, CPUs, threads, events.

use crate::threads::{Threads, named};
use crate::tracepoint::{Tracepoint, kind_name};
use std::fmt;
use std::str::FromStr;
use whylate_base::{Comm, CpuSet, Ns, Tid, parse_duration};
use whylate_events::{Event, Kind};
use whylate_ledger::Select;

/// What is to be kept; of an empty choice, everything.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Nothing before this.
    pub from: Option<Instant>,
    /// Nothing after this.
    pub to: Option<Instant>,
    /// Events of these CPUs.
    pub cpus: Option<CpuSet>,
    /// Events in the context of these threads, or about them.
    pub tasks: Vec<Select>,
    /// These events.
    pub events: Vec<Choice>,
}

impl Cut {
    /// True when everything is kept.
    pub fn is_empty(&self) -> bool {
        self.from.is_none()
            && self.to.is_none()
            && self.cpus.is_none()
            && self.tasks.is_empty()
            && self.events.is_empty()
    }
}

/// An instant of a trace, as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// On the trace clock.
    Clock(Ns),
    /// After the trace's first event.
    AfterStart(Ns),
}

impl Cut {
    /// True when it ends before it begins, whatever the trace.
    pub fn is_backwards(&self) -> bool {
        match (self.from, self.to) {
            (Some(Instant::Clock(from)), Some(Instant::Clock(to)))
            | (Some(Instant::AfterStart(from)), Some(Instant::AfterStart(to))) => from > to,
            _ => false,
        }
    }
}

impl Instant {
    fn on_clock(self, first: Ns) -> Ns {
        match self {
            Instant::Clock(at) => at,
            Instant::AfterStart(after) => first + after,
        }
    }
}

/// Why an instant was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstantError {
    text: String,
}

impl fmt::Display for InstantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not an instant: write seconds of the trace clock, such as 1999.123456, or a duration from \
             the start, such as +1.5s",
            self.text
        )
    }
}

impl std::error::Error for InstantError {}

/// `1999.123456` or `+1.5s`.
impl FromStr for Instant {
    type Err = InstantError;

    fn from_str(text: &str) -> Result<Instant, InstantError> {
        let error = || InstantError { text: text.to_owned() };
        if let Some(duration) = text.strip_prefix('+') {
            return parse_duration(duration).map(Instant::AfterStart).map_err(|_| error());
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let number = |text: &str| {
            text.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| text.parse::<i64>().ok())
                .flatten()
                .ok_or_else(error)
        };
        // Nanoseconds are all the clock has.
        let digits = u32::try_from(fraction.len()).ok().filter(|&digits| digits <= 9).ok_or_else(error)?;
        let fraction = number(fraction)? * 10i64.pow(9 - digits);
        let ns = number(whole)?.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(fraction));
        ns.map(|ns| Instant::Clock(Ns(ns))).ok_or_else(error)
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

    /// What is known of the threads so far.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Choices of events that none of the trace matched so far.
    pub fn unmet(&self) -> impl Iterator<Item = &'c Choice> {
        self.cut.events.iter().zip(&self.met).filter(|&(_, &met)| !met).map(|(choice, _)| choice)
    }

    fn window(&mut self, ts: Ns) -> (Ns, Ns) {
        let cut = self.cut;
        *self.window.get_or_insert_with(|| {
            let from = cut.from.map_or(Ns(i64::MIN), |from| from.on_clock(ts));
            (from, cut.to.map_or(Ns::MAX, |to| to.on_clock(ts)))
        })
    }

    fn in_place(&self, event: &Event, (from, to): (Ns, Ns)) -> bool {
        event.ts >= from
            && event.ts <= to
            && self.cut.cpus.as_ref().is_none_or(|cpus| cpus.contains(event.cpu))
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
    fn instants() {
        for (text, expected) in [
            ("1999.123456", Instant::Clock(Ns(1_999_123_456_000))),
            ("0.000000001", Instant::Clock(Ns(1))),
            ("12", Instant::Clock(Ns::from_secs(12))),
            ("+1.5s", Instant::AfterStart(Ns(1_500_000_000))),
            ("+20ms", Instant::AfterStart(Ns::from_ms(20))),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for bad in ["", "+", "1.5s", "-1", "1.", "1.0000000001", "99999999999", "+5", "1,5", "."] {
            assert!(bad.parse::<Instant>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cut_may_not_end_before_it_begins() {
        for (from, to, expected) in [
            (Some("2"), Some("1.999999999"), true),
            (Some("2"), Some("2"), false),
            (Some("+2s"), Some("+1999ms"), true),
            (Some("+2s"), Some("1"), false),
            (Some("2"), None, false),
            (None, Some("1"), false),
        ] {
            let instant = |text: Option<&str>| text.map(|text| text.parse().expect("an instant"));
            let cut = Cut { from: instant(from), to: instant(to), ..Cut::default() };
            assert_eq!(cut.is_backwards(), expected, "{from:?} {to:?}");
        }
    }

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
