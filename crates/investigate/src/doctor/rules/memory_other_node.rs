//! Real-time threads whose memory is on another NUMA node than their CPUs.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "memory-other-node", page: page!("memory-other-node"), needs: Needs::Files, find };

/// Less than this fits a cache, so that it hardly matters where it is.
const LEAST: u64 = 4 << 20;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    observation.processes.keys().filter_map(|&pid| of_process(observation, pid)).collect()
}

/// Whose memory it is cannot be told for each thread. So all threads of the process must run on one node, and most of its
/// memory be on others.
fn of_process(observation: &Observation, pid: Tid) -> Option<DoctorFinding> {
    let memory = &observation.processes.get(&pid)?.node_bytes;
    let threads = || observation.threads.values().filter(move |thread| thread.pid == pid);
    let node = node_of(observation, threads().next()?)?;
    if !threads().all(|thread| node_of(observation, thread) == Some(node)) {
        return None;
    }
    let own = memory.get(&node).copied().unwrap_or(0);
    let other: u64 = memory.iter().filter(|(at, _)| **at != node).map(|(_, bytes)| bytes).sum();
    if other < LEAST || other <= own {
        return None;
    }
    let realtime = observation.realtime_threads().filter(|thread| thread.pid == pid && thread.path.is_some());
    let thread = realtime.max_by_key(|thread| thread.rank())?;
    let title = format!(
        "{} runs on NUMA node {node}, and {} of the {} MiB of its process are on other nodes",
        thread.name(),
        other >> 20,
        (own + other) >> 20
    );
    let fix = [
        format!("start it with its memory on that node: whylate run --memory-node {node} ..."),
        format!("move what is there: migratepages {pid} all {node} (of the package numactl), before the real-time part begins"),
        "touch the memory first in a thread that already has its CPUs: the kernel takes the page from that thread's node"
            .to_owned(),
    ];
    let found = DoctorFinding::new(RULE.code, Severity::Warning, title).of(thread).because(WHY);
    Some(found.fix(&fix.each_ref().map(String::as_str)))
}

/// The one node that a thread may run on.
fn node_of(observation: &Observation, thread: &ThreadFacts) -> Option<u32> {
    let cpus = thread.cpus.as_ref().filter(|cpus| !cpus.is_empty())?;
    let holds = |own: &whylate_base::CpuSet| cpus.iter().all(|cpu| own.contains(cpu));
    observation.nodes.iter().find(|(_, own)| holds(own)).map(|(&node, _)| node)
}

const WHY: &str = "each access that misses the cache crosses to the other node: it takes longer, by an amount that depends on what \
     else uses the link";
