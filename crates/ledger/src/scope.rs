//! The part of a trace that an answer is about: a time, and CPUs.

use std::fmt;
use std::str::FromStr;
use whylate_base::{Cpu, CpuSet, Ns, parse_duration};

/// A part of a trace, as a user asks for it; what is left open is everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Nothing before this.
    pub from: Option<Instant>,
    /// Nothing after this.
    pub to: Option<Instant>,
    /// Only these CPUs.
    pub cpus: Option<CpuSet>,
}

/// An instant of a trace, as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// On the trace clock.
    Clock(Ns),
    /// After the trace's first event.
    AfterStart(Ns),
}

impl Scope {
    /// True of all of a trace.
    pub fn is_whole(&self) -> bool {
        self.from.is_none() && self.to.is_none() && self.cpus.is_none()
    }

    /// True when it ends before it begins, whatever the trace.
    pub fn is_backwards(&self) -> bool {
        match (self.from, self.to) {
            (Some(Instant::Clock(from)), Some(Instant::Clock(to)))
            | (Some(Instant::AfterStart(from)), Some(Instant::AfterStart(to))) => from > to,
            _ => false,
        }
    }

    /// Its first and its last instant in a trace whose first event is at `first`.
    pub fn on_clock(&self, first: Ns) -> (Ns, Ns) {
        let from = self.from.map_or(Ns(i64::MIN), |from| from.on_clock(first));
        (from, self.to.map_or(Ns::MAX, |to| to.on_clock(first)))
    }
}

impl Instant {
    /// Of a trace that begins at `first`.
    fn on_clock(self, first: Ns) -> Ns {
        match self {
            Instant::Clock(at) => at,
            Instant::AfterStart(after) => first + after,
        }
    }
}

/// As it is written.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Instant::Clock(at) => {
                let (whole, fraction) = (at.0.div_euclid(1_000_000_000), at.0.rem_euclid(1_000_000_000));
                write!(f, "{whole}.{fraction:09}")
            }
            Instant::AfterStart(after) => write!(f, "+{}ns", after.0),
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

/// A scope in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedScope {
    /// The first instant, if one was asked for.
    pub from: Option<Ns>,
    /// The last instant, if one was asked for.
    pub to: Option<Ns>,
    /// The CPUs, if some were asked for.
    pub cpus: Option<CpuSet>,
    /// Why nothing of the trace is in it; `None` where something is.
    pub outside: Option<OutsideTrace>,
}

impl AppliedScope {
    /// In a trace whose first event is at `first`.
    pub(crate) fn of(scope: &Scope, first: Ns) -> AppliedScope {
        AppliedScope {
            from: scope.from.map(|from| from.on_clock(first)),
            to: scope.to.map(|to| to.on_clock(first)),
            cpus: scope.cpus.clone(),
            outside: None,
        }
    }

    /// True when a part of `from..=to` is in it.
    pub(crate) fn overlaps(&self, from: Ns, to: Ns) -> bool {
        self.from.is_none_or(|first| to >= first) && self.to.is_none_or(|last| from <= last)
    }

    /// True of one of its CPUs.
    pub(crate) fn has_cpu(&self, cpu: Cpu) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }

    /// Compares it with what the trace covers: its first and last instant, the CPUs with events, and how many CPUs the
    /// recording has, with events or without.
    pub(crate) fn compare(&mut self, span: Option<(Ns, Ns)>, seen: &CpuSet, cpus: u32) {
        // A recording of some CPUs may have a number that is higher than their count.
        let highest = seen.iter().map(|cpu| cpu.0).max().unwrap_or(0);
        let exists = |cpu: Cpu| cpus == 0 || cpu.0 < cpus.max(highest.saturating_add(1));
        self.outside = match (span, &self.cpus) {
            (None, _) if self.from.is_some() || self.to.is_some() => Some(OutsideTrace::NoTimes),
            (Some((start, end)), _) if self.from > self.to.or(Some(Ns::MAX)) => {
                Some(OutsideTrace::Backwards { start, end })
            }
            (Some((start, end)), _) if self.from.is_some_and(|from| from > end) => {
                Some(OutsideTrace::After { start, end })
            }
            (Some((start, end)), _) if self.to.is_some_and(|to| to < start) => {
                Some(OutsideTrace::Before { start, end })
            }
            (_, Some(asked)) if !asked.iter().any(|cpu| seen.contains(cpu)) => {
                Some(OutsideTrace::Cpus { asked: asked.clone(), seen: seen.clone() })
            }
            (_, Some(asked)) if !asked.iter().all(exists) => {
                let absent = asked.iter().filter(|&cpu| !exists(cpu)).collect();
                Some(OutsideTrace::NoSuchCpus { absent, seen: seen.clone() })
            }
            _ => None,
        };
    }
}

/// Why nothing of a trace is in a scope.
#[derive(Clone, Debug, PartialEq)]
pub enum OutsideTrace {
    /// The trace has lengths of time, and no instants.
    NoTimes,
    /// The scope ends before it begins.
    Backwards {
        /// The trace's first instant.
        start: Ns,
        /// The trace's last instant.
        end: Ns,
    },
    /// It begins after the end of the trace.
    After {
        /// The trace's first instant.
        start: Ns,
        /// The trace's last instant.
        end: Ns,
    },
    /// It ends before the trace begins.
    Before {
        /// The trace's first instant.
        start: Ns,
        /// The trace's last instant.
        end: Ns,
    },
    /// Some of its CPUs do not exist on the machine.
    NoSuchCpus {
        /// Those.
        absent: CpuSet,
        /// The CPUs with events.
        seen: CpuSet,
    },
    /// The trace has no event of these CPUs.
    Cpus {
        /// The CPUs that were asked for.
        asked: CpuSet,
        /// The CPUs with events.
        seen: CpuSet,
    },
}

impl fmt::Display for OutsideTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutsideTrace::NoTimes => {
                f.write_str("the trace has no instants, only lengths of time: leave out --from and --to")
            }
            OutsideTrace::Backwards { start, end } => write!(
                f,
                "--to is before --from: nothing can be between them; the trace goes from {} to {}",
                Instant::Clock(*start),
                Instant::Clock(*end)
            ),
            OutsideTrace::After { start, end } => write!(
                f,
                "--from is after the end of the trace, which goes from {} to {}",
                Instant::Clock(*start),
                Instant::Clock(*end)
            ),
            OutsideTrace::Before { start, end } => write!(
                f,
                "--to is before the start of the trace, which goes from {} to {}",
                Instant::Clock(*start),
                Instant::Clock(*end)
            ),
            OutsideTrace::NoSuchCpus { absent, seen } => {
                write!(
                    f,
                    "--cpu: the machine of the trace has no CPU {absent}; the trace has events of CPUs {seen}"
                )
            }
            OutsideTrace::Cpus { asked, seen } if seen.is_empty() => {
                write!(f, "--cpu {asked}: the trace does not show CPUs: leave out --cpu")
            }
            OutsideTrace::Cpus { asked, seen } => {
                write!(f, "--cpu {asked}: the trace has no event of these CPUs, only of CPUs {seen}")
            }
        }
    }
}

impl std::error::Error for OutsideTrace {}

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
    fn a_scope_may_not_end_before_it_begins() {
        for (from, to, expected) in [
            (Some("2"), Some("1.999999999"), true),
            (Some("2"), Some("2"), false),
            (Some("+2s"), Some("+1999ms"), true),
            (Some("+2s"), Some("1"), false),
            (Some("2"), None, false),
            (None, Some("1"), false),
        ] {
            let instant = |text: Option<&str>| text.map(|text| text.parse().expect("an instant"));
            let scope = Scope { from: instant(from), to: instant(to), cpus: None };
            assert_eq!(scope.is_backwards(), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_scope_outside_the_trace_says_where_the_trace_is() {
        let span = Some((Ns::from_secs(10), Ns::from_secs(20)));
        let seen: CpuSet = "0-1,4".parse().expect("a list");
        let outside = |from: Option<&str>, to: Option<&str>, cpus: Option<&str>, span| {
            let instant = |text: Option<&str>| text.map(|text| text.parse().expect("an instant"));
            let scope = Scope {
                from: instant(from),
                to: instant(to),
                cpus: cpus.map(|cpus| cpus.parse().expect("a list")),
            };
            let mut applied = AppliedScope::of(&scope, Ns::from_secs(10));
            applied.compare(span, &seen, 8);
            applied.outside.map(|outside| outside.to_string())
        };
        assert_eq!(outside(Some("15"), Some("+6s"), Some("4-7"), span), None);
        assert_eq!(outside(Some("20"), None, None, span), None);
        assert_eq!(outside(None, None, Some("0-3"), span), None, "CPUs 2 and 3 have no events");
        assert_eq!(
            outside(None, None, Some("0,98-99"), span).as_deref(),
            Some("--cpu: the machine of the trace has no CPU 98-99; the trace has events of CPUs 0-1,4")
        );
        assert_eq!(outside(None, Some("+0s"), None, span), None);
        let trace = "which goes from 10.000000000 to 20.000000000";
        for (from, to, cpus, span, expected) in [
            (Some("+11s"), None, None, span, format!("--from is after the end of the trace, {trace}")),
            (None, Some("9.5"), None, span, format!("--to is before the start of the trace, {trace}")),
            (
                None,
                None,
                Some("2-3"),
                span,
                "--cpu 2-3: the trace has no event of these CPUs, only of CPUs 0-1,4".to_owned(),
            ),
            (
                Some("1"),
                None,
                None,
                None,
                "the trace has no instants, only lengths of time: leave out --from and --to".to_owned(),
            ),
        ] {
            assert_eq!(outside(from, to, cpus, span), Some(expected));
        }
        let backwards = outside(Some("+6s"), Some("15"), None, span).unwrap_or_default();
        assert!(backwards.starts_with("--to is before --from"), "{backwards}");
    }
}
