//! What an examination results in.

use super::calls::SystemCall;
use super::facts::{Call, Observation};
use super::finding::DoctorFinding;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::ExitStatus;
use whylate_base::{Comm, CpuSet, Ns, Policy, SourceLocation, Tid};
use whylate_events::StackId;

/// The result of an examination.
#[derive(Clone, Debug, Default)]
pub struct DoctorReport {
    /// For how long the program was observed.
    pub duration: Ns,
    /// Its threads, the real-time ones first.
    pub threads: Vec<ThreadReport>,
    /// The mistakes, gravest first.
    pub findings: Vec<DoctorFinding>,
    /// What could not be seen and why, in sentences; rules that need it found nothing for that reason.
    pub unseen: Vec<String>,
    /// How the command ended; `None` without one, or when it still runs.
    pub child: Option<ExitStatus>,
}

/// A thread, with what it did.
#[derive(Clone, Debug)]
pub struct ThreadReport {
    /// Its id.
    pub tid: Tid,
    /// Its process.
    pub pid: Tid,
    /// Its name.
    pub comm: Comm,
    /// Its policy.
    pub policy: Policy,
    /// Its real-time priority, 1 to 99; 0 for other policies.
    pub priority: u32,
    /// The CPUs it may use.
    pub cpus: Option<CpuSet>,
    /// Page faults without a device, since it began.
    pub minor_faults: u64,
    /// Page faults that read from a device, since it began.
    pub major_faults: u64,
    /// Times that it gave up the CPU, since it began.
    pub voluntary_switches: u64,
    /// Times that it was preempted, since it began.
    pub involuntary_switches: u64,
    /// The time it waited on a runqueue, since it began.
    pub run_delay: Option<Ns>,
    /// The locked memory of its process.
    pub locked_bytes: Option<u64>,
    /// How many periodic waits it made; `None`: it is not real-time, or has none.
    pub waits: Option<u64>,
    /// Its system calls, the longest in total first.
    pub calls: Vec<CallTotal>,
}

/// All calls of one kind by a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTotal {
    /// The call's name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// For how long in total.
    pub total: Ns,
    /// The longest.
    pub worst: Ns,
    /// The program's line at which most of the time went; `None` where no call stack shows it.
    pub location: Option<SourceLocation>,
}

impl DoctorReport {
    /// True where a thread is, or asked to be, real-time: only then is there anything to conclude.
    pub fn has_realtime(&self) -> bool {
        !self.findings.is_empty() || self.threads.iter().any(|thread| thread.policy.is_realtime())
    }
}

/// The threads of an observation, real-time ones first.
pub(super) fn threads(observation: &Observation) -> Vec<ThreadReport> {
    let mut totals = call_totals(observation);
    let mut threads: Vec<(u32, ThreadReport)> = Vec::new();
    for facts in observation.threads.values() {
        let thread = ThreadReport {
            tid: facts.tid,
            pid: facts.pid,
            comm: facts.comm,
            policy: facts.policy,
            priority: facts.priority,
            cpus: facts.cpus.clone(),
            minor_faults: facts.minor_faults,
            major_faults: facts.major_faults,
            voluntary_switches: facts.voluntary_switches,
            involuntary_switches: facts.involuntary_switches,
            run_delay: facts.run_delay,
            locked_bytes: observation.processes.get(&facts.pid).and_then(|process| process.locked_bytes),
            waits: facts.path.map(|path| path.waits),
            calls: totals.remove(&facts.tid).unwrap_or_default(),
        };
        threads.push((facts.rank(), thread));
    }
    threads.sort_by_key(|(rank, thread)| (Reverse(*rank), thread.tid));
    threads.into_iter().map(|(_, thread)| thread).collect()
}

/// The calls of each thread, the longest in total first.
fn call_totals(observation: &Observation) -> BTreeMap<Tid, Vec<CallTotal>> {
    let mut calls: BTreeMap<(Tid, SystemCall), Vec<&Call>> = BTreeMap::new();
    for call in &observation.calls {
        calls.entry((call.tid, call.call)).or_default().push(call);
    }
    let mut totals: BTreeMap<Tid, Vec<CallTotal>> = BTreeMap::new();
    for ((tid, kind), calls) in calls {
        let durations = || calls.iter().filter_map(|call| call.duration());
        totals.entry(tid).or_default().push(CallTotal {
            name: kind.name(),
            count: calls.len() as u64,
            total: durations().sum(),
            worst: durations().max().unwrap_or_default(),
            location: costliest_line(observation, &calls),
        });
    }
    for totals in totals.values_mut() {
        totals.sort_by_key(|total| Reverse(total.total));
    }
    totals
}

fn costliest_line(observation: &Observation, calls: &[&Call]) -> Option<SourceLocation> {
    let mut stacks: BTreeMap<StackId, Ns> = BTreeMap::new();
    for call in calls {
        if let Some(stack) = call.stack {
            *stacks.entry(stack).or_default() += call.duration().unwrap_or_default();
        }
    }
    let mut lines: BTreeMap<String, (Ns, SourceLocation)> = BTreeMap::new();
    for (stack, took) in stacks {
        if let Some(location) = observation.location(Some(stack)) {
            lines.entry(location.to_string()).or_insert((Ns::ZERO, location)).0 += took;
        }
    }
    lines.into_values().max_by_key(|(took, _)| *took).map(|(_, location)| location)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call, program};

    #[test]
    fn calls_are_summed_up_and_have_their_costliest_line() {
        let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Other, 0)]);
        let write = |line, took| {
            let write = call(11, SystemCall::Write, &[1], line);
            Call { end: Some(Ns(write.start.0 + took)), ..write }
        };
        let unseen = Call { stack: None, ..write(0, 900) };
        let read = call(11, SystemCall::Read, &[0], 5);
        observation.calls = vec![write(7, 200), write(8, 300), write(7, 200), unseen, read];
        let threads = threads(&observation);
        assert_eq!(threads.iter().map(|thread| thread.tid).collect::<Vec<_>>(), [Tid(11), Tid(12)]);
        let [write, read] = &threads[0].calls[..] else { panic!("{threads:?}") };
        assert_eq!((write.name.as_str(), write.count), ("write", 4));
        assert_eq!((write.total, write.worst), (Ns(1_600), Ns(900)));
        assert_eq!(write.location.as_ref().and_then(|location| location.line), Some(7));
        assert_eq!((read.name.as_str(), read.count), ("read", 1));
        assert_eq!(threads[1].calls, []);
    }
}
