//! That another CPU was idle, which the thread may not use, or on which it never ran. The cause stays: the rules of the scheduler let the
//! culprit run first on the CPU that both have.

use crate::charge::notes::VerdictNote;
use crate::model::{Activation, Verdict};
use crate::timeline::Timeline;
use std::collections::BTreeMap;
use whylate_base::{AdvisedFix, Cpu, Evidence, Ns};

/// Why there is no setting.
const TO_DECIDE: &str = "which threads may use that CPU is to be decided";

/// Adds the evidence and a fix, where that CPU was idle for most of the time that is charged.
pub(super) fn add(
    timeline: &Timeline,
    activation: &Activation,
    notes: &[VerdictNote],
    verdict: &mut Verdict,
) {
    let Some(thread) = timeline.threads.get(activation.tid) else { return };
    if !verdict.cause.culprit_runs_first() {
        return;
    }
    let mut waits: BTreeMap<Cpu, (Ns, Ns, bool)> = BTreeMap::new();
    for note in notes {
        if let VerdictNote::OutOfReach { at, cpu, idle, bound } = *note {
            let (_, all, always_bound) = waits.entry(cpu).or_insert((at, Ns::ZERO, true));
            *all += idle;
            *always_bound &= bound;
        }
    }
    // It may have run there later, and where a thread ran once shows nothing.
    let recurs = thread.lifetime.has_run_several_times();
    let used = thread.affinity.used_cpus();
    let is_most = |idle: Ns| idle.0.saturating_mul(2) >= verdict.charged.0;
    let goes_on = |cpu: Cpu| {
        let last = timeline.cpus.get(cpu).and_then(|cpu| cpu.last_event);
        last.is_some_and(|last| last >= activation.end)
    };
    let mut waits = waits.into_iter().filter(|&(cpu, (_, idle, bound))| {
        is_most(idle) && (bound || recurs && !used.contains(cpu)) && goes_on(cpu)
    });
    let Some((cpu, (at, idle, bound))) = waits.next() else { return };
    let comm = activation.comm;
    let (why, keeps) = match bound {
        true => (format!("{comm} may not use it"), "its affinity keeps it from there"),
        false => (format!("{comm} never ran there"), "its affinity may keep it from there"),
    };
    verdict.evidence.push(Evidence::at(at, cpu, format!("was idle for {idle} meanwhile; {why}")));
    let text = format!("let {comm} use CPU {cpu} as well: taskset -pc CPUS TID; {keeps}");
    verdict.fix.push(AdvisedFix::by_hand(text, TO_DECIDE));
}
