//! Threads whose timers have so much slack that it is a part of their periods.

use super::subject::Subject;
use crate::causes::Cause;
use crate::timeline::thread::Thread;
use whylate_base::{Evidence, Finding, Ns, Severity};

/// Less is of no matter to a thread that is not real-time; the kernel's own slack is far shorter.
const NOTABLE: Ns = Ns::from_ms(1);
/// What the kernel adds to a timeout of poll(2) is a far smaller part of that (`select_estimate_accuracy()`, `fs/select.c`).
const PART_OF_PERIOD: i64 = 20;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    subject.timeline.threads.iter().filter_map(|thread| finding(subject, thread)).collect()
}

fn finding(subject: &Subject<'_>, thread: &Thread) -> Option<Finding> {
    let periods = subject.by_thread.get(&thread.tid)?.iter().filter(|one| one.is_period());
    let late = periods.filter(|one| one.verdict.cause == Cause::TimerSlack);
    let worst = late.max_by_key(|one| one.verdict.charged)?;
    let cost = subject.stats.get(thread.tid)?.costs.get(&(Cause::TimerSlack, None))?;
    let usual = Ns(cost.in_periods.0.checked_div(i64::try_from(cost.periods).ok()?)?);
    let is_part = |period: Ns| usual.0.saturating_mul(PART_OF_PERIOD) >= period.0;
    let is_notable = usual >= NOTABLE && thread.pacing.periods.usual().is_some_and(is_part);
    let slack = worst.verdict.charged;
    is_notable.then(|| Finding {
        code: Cause::TimerSlack.code(),
        severity: Severity::Warning,
        title: format!(
            "{}:{} starts late by the slack of its timers: by up to {slack}, in {} activations",
            worst.comm, thread.tid, cost.periods
        ),
        why:
            "the timers of a thread that is not real-time may expire later by its slack, together with others"
                .to_owned(),
        evidence: vec![Evidence::at(
            worst.due,
            worst.cpu,
            format!("its timer was due, and expired {slack} later"),
        )],
        fix: worst.verdict.fix.clone(),
    })
}
