//! What an examination results in.

use super::calls::SystemCall;
use super::facts::Observation;
use super::finding::DoctorFinding;
use std::collections::BTreeMap;
use std::process::ExitStatus;
use whylate_base::{Comm, CpuSet, Ns, Policy, Tid};

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
}

impl DoctorReport {
    /// True where a thread is, or asked to be, real-time: only then is there anything to conclude.
    pub fn has_realtime(&self) -> bool {
        !self.findings.is_empty() || self.threads.iter().any(|thread| thread.policy.is_realtime())
    }
}

/// The threads of an observation, real-time ones first.
pub(super) fn threads(observation: &Observation) -> Vec<ThreadReport> {
    let mut totals: BTreeMap<Tid, BTreeMap<SystemCall, CallTotal>> = BTreeMap::new();
    for call in &observation.calls {
        let of_thread = totals.entry(call.tid).or_default();
        let total = of_thread.entry(call.call).or_insert_with(|| CallTotal {
            name: call.call.name(),
            count: 0,
            total: Ns::ZERO,
            worst: Ns::ZERO,
        });
        let took = call.duration().unwrap_or_default();
        total.count += 1;
        total.total += took;
        total.worst = total.worst.max(took);
    }
    let mut threads: Vec<(u32, ThreadReport)> = Vec::new();
    for facts in observation.threads.values() {
        let mut calls: Vec<CallTotal> = totals.remove(&facts.tid).unwrap_or_default().into_values().collect();
        calls.sort_by_key(|total| std::cmp::Reverse(total.total));
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
            calls,
        };
        threads.push((facts.rank(), thread));
    }
    threads.sort_by_key(|(rank, thread)| (std::cmp::Reverse(*rank), thread.tid));
    threads.into_iter().map(|(_, thread)| thread).collect()
}
