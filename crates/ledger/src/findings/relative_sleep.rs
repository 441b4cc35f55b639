//! Periodic threads that sleep for a while rather than until an instant, and so drift.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::identities::Identity;
use whylate_base::{Evidence, Finding, Severity};

/// Fewer activations than this are no period.
const ENOUGH: u64 = 10;
/// A thread whose periods are longer by a smaller share than this may well only look at something now and then.
const NOTABLE_SHARE: i64 = 100;

/// How a thread drifts, as far as the recording shows it.
struct Shown {
    severity: Severity,
    drifts: &'static str,
    why: String,
    evidence: String,
}

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let drifting = subject.timeline.threads.iter().filter_map(|thread| {
        let stats = subject.stats.get(thread.tid).filter(|stats| stats.activations >= ENOUGH)?;
        let response = stats.response.spread()?;
        let by_sleeps = Some(&thread.pacing).filter(|pacing| pacing.drifts() == Some(true));
        let by_timer = || thread.own_timers.drifting(stats.activations, response.p50);
        let (pacing, sleeps, sleep) = match by_sleeps {
            Some(pacing) if pacing.absolute_calls > pacing.relative_calls => {
                (pacing, "sleeps until instants that it counts from now", "the sleep after it is")
            }
            Some(pacing) => (pacing, "sleeps relative to now", "the sleep after it is"),
            None => (by_timer()?, "arms its timer relative to now", "the time to the next expiry is"),
        };
        let Identity { comm, .. } = subject.usual(thread);
        let (p50, max) = (response.p50, response.max);
        let shown = if by_sleeps.is_some_and(|pacing| !pacing.shows_expiries()) {
            // By the kind of its calls alone: a program may shorten each sleep by what its work took, as jackd does.
            Shown {
                severity: Severity::Info,
                drifts: "and drifts unless it makes up for that",
                why: format!(
                    "a period is longer by its whole response, {p50} at the median and {max} at most, unless the program shortens the \
                     sleep by it: that shows where timer:hrtimer_start is recorded"
                ),
                evidence: format!("{} calls sleep relative to now", pacing.relative_calls),
            }
        } else {
            let notable = pacing.mean_period().is_none_or(|period| p50.0 >= period.0 / NOTABLE_SHARE)
                && !subject.looks_after_others(thread);
            Shown {
                severity: if notable { Severity::Warning } else { Severity::Info },
                drifts: "and so drifts",
                why: format!(
                    "each of its periods is longer by its whole response, {p50} at the median and {max} at most: lateness adds up \
                     and is never made up for"
                ),
                evidence: format!(
                    "where its response is longer, {sleep} as long as ever, and the next period begins as much later"
                ),
            }
        };
        Some(Finding {
            code: Cause::RelativeSleep.code(),
            severity: shown.severity,
            title: format!("{comm}:{} {sleeps}, {}", thread.tid, shown.drifts),
            why: shown.why,
            evidence: vec![Evidence::general(shown.evidence)],
            fix: Cause::RelativeSleep.advice(&Advised::general()),
        })
    });
    drifting.collect()
}
