//! The changes of a thread, in the order in which they are made, and how each reads back.

use super::request::RunRequest;
use std::fmt;
use whylate_base::{CpuSet, Ns, Tid};
use whylate_sys::{SchedParams, SysError};

/// One change of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThreadChange {
    /// Its policy and priority.
    Scheduling(SchedParams),
    /// Its CPUs.
    Cpus(CpuSet),
    /// Its timer slack.
    TimerSlack(Ns),
}

impl ThreadChange {
    /// Those of a request. Priority comes before affinity: see the module's first lines.
    pub(super) fn all(request: &RunRequest) -> Vec<ThreadChange> {
        let scheduling = request.scheduling.map(ThreadChange::Scheduling);
        let cpus = request.cpus.clone().map(ThreadChange::Cpus);
        let slack = request.timer_slack.map(ThreadChange::TimerSlack);
        [scheduling, cpus, slack].into_iter().flatten().collect()
    }

    /// Makes it for the calling thread, and gives back what the thread then is.
    ///
    /// # Errors
    /// The kernel's refusal, also where the thread then is something else.
    pub(super) fn make(&self) -> Result<String, SysError> {
        const OWN: Tid = Tid(0);
        match self {
            ThreadChange::Scheduling(params) => {
                whylate_sys::setattr(OWN, params)?;
                Ok(whylate_sys::getattr(OWN)?.to_string())
            }
            ThreadChange::Cpus(cpus) => {
                whylate_sys::setaffinity(OWN, cpus)?;
                Ok(format!("CPUs {}", whylate_sys::getaffinity(OWN)?))
            }
            ThreadChange::TimerSlack(slack) => {
                whylate_sys::set_timer_slack(*slack)?;
                Ok(format!("timer slack {}", whylate_sys::timer_slack()?))
            }
        }
    }
}

impl fmt::Display for ThreadChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadChange::Scheduling(params) => params.fmt(f),
            ThreadChange::Cpus(cpus) => write!(f, "CPUs {cpus}"),
            ThreadChange::TimerSlack(Ns::ZERO) => write!(f, "default timer slack"),
            ThreadChange::TimerSlack(slack) => write!(f, "timer slack {slack}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_comes_before_affinity() {
        let request = RunRequest {
            scheduling: Some(SchedParams::fifo(50)),
            cpus: "3".parse().ok(),
            timer_slack: Some(Ns(1)),
            ..RunRequest::default()
        };
        let order: Vec<String> = ThreadChange::all(&request).iter().map(ToString::to_string).collect();
        assert_eq!(order, ["SCHED_FIFO priority 50", "CPUs 3", "timer slack 1 ns"]);
    }
}
