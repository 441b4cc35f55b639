//! The policies that may be desired for, as a profile writes them.

use whylate_base::Policy;

/// Which there are, for errors.
pub const POLICIES: &str = "a policy is `fifo 1` to `fifo 99`, `rr 1` to `rr 99`, `other`, `batch`, both also with a \
                                   nice value behind them, or `idle`; SCHED_DEADLINE is for the application to ask for";

/// What is asked for: a policy, and its number where one was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedPolicy {
    policy: Policy,
    number: Option<i32>,
}

impl RequestedPolicy {
    /// A policy as a profile writes it.
    pub fn parse(value: &str) -> Option<RequestedPolicy> {
        let mut words = value.split_ascii_whitespace();
        let policy = Policy::from_name(words.next()?)?;
        let number = match words.next() {
            Some(word) => Some(word.parse::<i32>().ok()?),
            None => None,
        };
        let fits = match policy {
            Policy::Fifo | Policy::Rr => number.is_some_and(|priority| (1..=99).contains(&priority)),
            Policy::Other | Policy::Batch => number.is_none_or(|nice| (-20..=19).contains(&nice)),
            Policy::Idle => number.is_none_or(|number| number == 0),
            // Their values are the application's.
            Policy::Deadline | Policy::Ext => false,
        };
        (fits && words.next().is_none()).then_some(RequestedPolicy { policy, number })
    }

    /// As a plan writes it, for a thread with a nice value, which it keeps where none was asked
    /// for.
    pub fn for_nice(self, nice: i32) -> String {
        match self.policy {
            Policy::Idle => "idle".to_owned(),
            policy => format!("{} {}", policy.name(), self.number.unwrap_or(nice)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_asked_for() {
        for (text, normalized) in [
            ("fifo 50", Some("fifo 50")),
            ("rr  1", Some("rr 1")),
            ("other", Some("other 5")),
            ("batch -3", Some("batch -3")),
            ("idle", Some("idle")),
            ("idle 0", Some("idle")),
            ("fifo", None),
            ("fifo 0", None),
            ("fifo 100", None),
            ("fifo 5 5", None),
            ("other 20", None),
            ("idle 1", None),
            ("deadline 1 2 3", None),
            ("best", None),
            ("", None),
        ] {
            assert_eq!(
                RequestedPolicy::parse(text).map(|asked| asked.for_nice(5)).as_deref(),
                normalized,
                "{text}"
            );
        }
    }
}
