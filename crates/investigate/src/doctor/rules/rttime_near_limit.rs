//! Real-time threads that run for long without sleeping, close to RLIMIT_RTTIME.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Action, Policy, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "rttime-near-limit", page: page!("rttime-near-limit"), needs: Needs::Calls, find };

/// The share of the limit from which it is close: a run that is twice as long is possible wherever this one was.
const CLOSE: i64 = 2;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    let threads =
        observation.threads.values().filter(|thread| matches!(thread.policy, Policy::Fifo | Policy::Rr));
    for thread in threads {
        let limit = observation.processes.get(&thread.pid).and_then(|process| process.rttime_limit);
        let ran = format!("{} ran for {} without sleeping", thread.name(), thread.longest_awake);
        let title = match limit {
            Some(limit) if thread.longest_awake.0 >= limit.0 / CLOSE => {
                format!("{ran}; its RLIMIT_RTTIME is {limit}")
            }
            // A limit that was set, and met, between two looks.
            None if thread.is_over_rttime => {
                format!("{ran}, and was sent SIGXCPU: it had reached its RLIMIT_RTTIME, or RLIMIT_CPU")
            }
            _ => continue,
        };
        found.push(
            DoctorFinding::new(RULE.code, Severity::Warning, title)
                .of(thread)
                .times(1, Some(thread.longest_awake))
                .because(WHY)
                .fix(FIX)
                .action(1, Action::by_hand("the limit is that of a service, of rtkit or of a process")),
        );
    }
    found
}

const WHY: &str = "at the soft limit the kernel sends SIGXCPU, each second anew, which ends a program that does not handle it, and \
     at the hard limit SIGKILL";

const FIX: &[&str] = &[
    "find out why it does not sleep: a loop that polls, work for more than its period",
    "raise the limit: LimitRTTIME= of a systemd service, rtkit's --rttime-usec-max, prlimit --rttime",
];
