//! The changes of a thread, in the order in which they are made, and how each reads back.

use super::limit::LimitChange;
use super::request::RunRequest;
use super::setting::ThreadSetting;
use std::fmt;
use std::fs;
use whylate_base::{CpuSet, Ns, Tid};
use whylate_sys::{SchedParams, SysError};

/// One change of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThreadChange {
    /// A limit of its process.
    Limit(LimitChange),
    /// Its policy and priority.
    Scheduling(SchedParams),
    /// Its CPUs.
    Cpus(CpuSet),
    /// Its timer slack.
    TimerSlack(Ns),
    /// The NUMA nodes of its memory.
    MemoryNodes(Vec<u32>),
}

impl ThreadChange {
    /// Those of a request. Priority comes before affinity: see the module's first lines.
    pub(super) fn all(request: &RunRequest) -> Vec<ThreadChange> {
        let limits = request.limits.iter().copied().map(ThreadChange::Limit);
        let scheduling = request.scheduling.map(ThreadChange::Scheduling);
        let cpus = request.cpus.clone().map(ThreadChange::Cpus);
        let slack = request.timer_slack.map(ThreadChange::TimerSlack);
        let nodes = Some(request.memory_nodes.clone()).filter(|nodes| !nodes.is_empty());
        let others = [scheduling, cpus, slack, nodes.map(ThreadChange::MemoryNodes)];
        limits.chain(others.into_iter().flatten()).collect()
    }

    /// Those of a thread that a rule meets, in the same order.
    pub(super) fn of_setting(setting: &ThreadSetting) -> Vec<ThreadChange> {
        let request = RunRequest {
            scheduling: setting.scheduling,
            cpus: setting.cpus.clone(),
            ..RunRequest::default()
        };
        ThreadChange::all(&request)
    }

    /// Makes it for a thread, 0 for the calling one, and gives back what the thread then is.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(super) fn make(&self, thread: Tid) -> Result<String, SysError> {
        match self {
            ThreadChange::Limit(limit) => limit.set(thread),
            ThreadChange::Scheduling(params) => {
                whylate_sys::setattr(thread, params)?;
                Ok(whylate_sys::getattr(thread)?.to_string())
            }
            ThreadChange::Cpus(cpus) => {
                whylate_sys::setaffinity(thread, cpus)?;
                Ok(format!("CPUs {}", whylate_sys::getaffinity(thread)?))
            }
            ThreadChange::TimerSlack(slack) if thread.0 == 0 => {
                whylate_sys::set_timer_slack(*slack)?;
                Ok(format!("timer slack {}", whylate_sys::timer_slack()?))
            }
            ThreadChange::TimerSlack(slack) => {
                let path = format!("/proc/{thread}/timerslack_ns");
                let failed = |error| SysError::of_io("write", path.clone(), &error);
                fs::write(&path, slack.0.to_string()).map_err(failed)?;
                let now = fs::read_to_string(&path).map_err(failed)?;
                Ok(format!("timer slack {} ns", now.trim()))
            }
            ThreadChange::MemoryNodes(nodes) => {
                whylate_sys::bind_memory(nodes)?;
                Ok(self.to_string())
            }
        }
    }
}

impl fmt::Display for ThreadChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadChange::Limit(limit) => limit.fmt(f),
            ThreadChange::Scheduling(params) => params.fmt(f),
            ThreadChange::Cpus(cpus) => write!(f, "CPUs {cpus}"),
            ThreadChange::TimerSlack(Ns::ZERO) => write!(f, "default timer slack"),
            ThreadChange::TimerSlack(slack) => write!(f, "timer slack {slack}"),
            ThreadChange::MemoryNodes(nodes) => {
                let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
                write!(f, "memory of NUMA nodes {}", nodes.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_first_and_priority_before_affinity() {
        let request = RunRequest {
            limits: vec!["rtprio=50".parse().expect("a limit")],
            scheduling: Some(SchedParams::fifo(50)),
            cpus: "3".parse().ok(),
            timer_slack: Some(Ns(1)),
            memory_nodes: vec![0],
            ..RunRequest::default()
        };
        let order: Vec<String> = ThreadChange::all(&request).iter().map(ToString::to_string).collect();
        let expected = [
            "limit rtprio 50",
            "SCHED_FIFO priority 50",
            "CPUs 3",
            "timer slack 1 ns",
            "memory of NUMA nodes 0",
        ];
        assert_eq!(order, expected);
    }
}
