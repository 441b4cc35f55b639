//! Real-time threads that slept through instants at which they are woken as a rule, where the recording does not show what for.

use super::left_out::INFO;
use super::subject::Subject;
use crate::causes::advised::RECORD;
use crate::identities::Identity;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let slept_through = subject.timeline.threads.iter().filter_map(|thread| {
        let _explained = subject.stats.get(thread.tid)?;
        let (longest, times) = thread.pacing.wake_steps.slept_through()?;
        let (sleep, period) = (longest.sleep, longest.period);
        let Identity { comm, .. } = subject.usual(thread);
        let what = if longest.periods == 1 { "1 period".to_owned() } else { format!("{} periods", longest.periods) };
        let title = format!("{comm}:{} slept through {what} of {period}", thread.tid);
        let by = sleep.by.and_then(|by| subject.timeline.threads.get(by));
        let until = by.map_or("until a packet or a device woke it".to_owned(), |by| {
            format!("until {}:{} woke it", by.comm_at(sleep.to), by.tid)
        });
        let again = if times == 1 { String::new() } else { format!("; it did so {times} times") };
        Some(Finding {
            code: INFO.code,
            severity: Severity::Warning,
            title,
            why: format!(
                "a timer wakes it each {period}, and here it waited for something else in the middle of a period, past the next \
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
