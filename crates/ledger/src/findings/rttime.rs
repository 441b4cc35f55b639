//! Real-time threads that the kernel warned or killed because they did not sleep: RLIMIT_RTTIME.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::ITS_PROGRAM;
use crate::timeline::settings::RtOverrun;
use std::collections::BTreeMap;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity, Tid};

pub(super) const INFO: FindingInfo = FindingInfo { code: "rttime-exceeded", page: page!("rttime-exceeded") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut by_thread: BTreeMap<Tid, Vec<&RtOverrun>> = BTreeMap::new();
    let overruns = subject.timeline.rt_overruns.iter();
    for overrun in overruns.filter(|one| subject.is_in_scope(one.cpu, one.at, one.at)) {
        by_thread.entry(overrun.tid).or_default().push(overrun);
    }
    by_thread.into_values().filter_map(|overruns| finding(&overruns)).collect()
}

fn finding(overruns: &[&RtOverrun]) -> Option<Finding> {
    let last = overruns.last()?;
    let thread = format!("{}:{} ({})", last.comm, last.tid, last.priority);
    let killed = overruns.iter().any(|overrun| overrun.killed);
    let what = if killed { "killed it with its whole process" } else { "sent it SIGXCPU" };
    let evidence = overruns.iter().take(5).map(|overrun| {
        let signal = if overrun.killed { "SIGKILL" } else { "SIGXCPU" };
        let least = if overrun.whole { "" } else { "at least " };
        let what = format!("the kernel sent {signal}; it had not slept for {least}{}", overrun.awake);
        Evidence::at(overrun.at, overrun.cpu, what)
    });
    let steps_down = overruns.iter().rev().find_map(|overrun| {
        let at = overrun.steps_down?;
        let what = format!(
            "{}:{} gave up its real-time priority itself, {} after the signal: it is not real-time from here on",
            overrun.comm,
            overrun.tid,
            at - overrun.at
        );
        Some(Evidence::at(at, overrun.cpu, what))
    });
    let mut fix = fixes();
    if steps_down.is_some() {
        let text = "let the program ask for its real-time priority again when that is over, or report that it has lost it: without it, \
                    other threads delay it from then on";
        fix.push(AdvisedFix::by_hand(text, ITS_PROGRAM));
    }
    Some(Finding {
        code: INFO.code,
        severity: Severity::Error,
        title: format!("{thread} ran for {} without sleeping, and the kernel {what}", last.awake),
        why: "RLIMIT_RTTIME bounds how long a real-time thread may use a CPU without sleeping: at its soft limit \
              the kernel sends SIGXCPU, which ends a program that does not handle it, and at its hard limit SIGKILL"
            .to_owned(),
        evidence: evidence.chain(steps_down).collect(),
        fix,
    })
}

fn fixes() -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand(
            "find out why it did not sleep: a loop that polls, work for more than its period, sched_yield (which does not count)",
            ITS_PROGRAM,
        ),
        AdvisedFix::by_hand(
            "raise the limit: LimitRTTIME= of a systemd service, rtkit's --rttime-usec-max, prlimit --rttime",
            "the limit is that of a service, of rtkit or of a process, which the recording does not show",
        ),
    ]
}
