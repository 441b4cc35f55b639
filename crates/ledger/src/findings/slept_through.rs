//! Real-time threads that slept through instants at which they are woken as a rule, where the recording does not show what for.

use super::left_out::INFO;
use super::subject::Subject;
use super::words;
use crate::causes::advised::RECORD;
use crate::identities::Identity;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let explained = subject.timeline.threads.iter().filter(|thread| subject.stats.get(thread.tid).is_some());
    let slept_through = explained.filter_map(|thread| {
        let (longest, times) = thread.pacing.wake_steps.slept_through()?;
        let (sleep, period) = (longest.sleep, longest.period);
        let Identity { comm, .. } = subject.usual(thread);
        let what = words::periods(longest.periods.into());
        let title = format!("{comm}:{} slept through {what} of {period}", thread.tid);
        let by = sleep.by.and_then(|by| subject.timeline.threads.get(by));
        let until = by.map_or("until a packet or a device woke it".to_owned(), |by| {
            format!("until {}:{} woke it", by.comm_at(sleep.to), by.tid)
        });
        let again = if times == 1 { String::new() } else { format!("; it did so {}", words::times(times.into())) };
        Some(Finding {
            code: INFO.code,
            severity: Severity::Warning,
            title,
            why: format!(
                "a timer or an interrupt wakes it each {period}, and here it waited for something else in the middle of a period, past the next \
                 one{again}"
            ),
            evidence: vec![Evidence {
                at: Some(sleep.from),
                ..Evidence::general(format!("{comm} slept for {}, {until}", sleep.to - sleep.from))
            }],
            fix: vec![AdvisedFix::by_hand(
                "record its system calls and timers, which show what it waited for: whylate record takes both",
                RECORD,
            )],
        })
    });
    slept_through.collect()
}
