//! A wait on a busy CPU while another one, which the thread may use, was idle.

use super::charger::Charger;
use super::notes::VerdictNote;
use super::queue::Queue;
use crate::timeline::running::Running;
use whylate_base::{Confidence, Cpu, CpuSet, Ns};
use whylate_events::Kind;

/// To find an idle CPU and move a thread there takes an interrupt on each, and some locks.
pub(super) const LONGEST_MOVE: Ns = Ns::from_us(200);
/// An idle CPU still handles interrupts: this share of the time at most, in 1/n.
const INTERRUPTS: i64 = 4;

impl Charger<'_> {
    /// The CPUs that the waiter may use and that were idle through all of its wait, with how sure that is: the surest ones.
    pub(super) fn idle_elsewhere(&self, queue: &Queue<'_>) -> Option<(CpuSet, Confidence)> {
        if queue.to - queue.from < LONGEST_MOVE {
            return None;
        }
        // Where changes were not recorded, it may have been bound to others at the time.
        let changes_seen = self.timeline.seen.contains(Kind::Syscall);
        let allowed = queue.waiter.affinity.cpus(queue.from, queue.to);
        let others = allowed.filter(|(cpu, recorded)| *cpu != queue.cpu && (*recorded || changes_seen));
        let idle: Vec<(Cpu, bool)> =
            others.filter(|(cpu, _)| self.is_idle(*cpu, queue.from, queue.to)).collect();
        let of =
            |sure: bool| idle.iter().filter(|(_, recorded)| *recorded == sure).map(|(cpu, _)| *cpu).collect();
        let (recorded, used): (CpuSet, CpuSet) = (of(true), of(false));
        let surest =
            if recorded.is_empty() { (used, Confidence::Medium) } else { (recorded, Confidence::High) };
        Some(surest).filter(|(cpus, _)| !cpus.is_empty())
    }

    /// Remarks once for the same CPUs.
    pub(super) fn remark_idle(&mut self, at: Ns, on: Cpu, idle: &CpuSet) {
        let same = |note: &VerdictNote| matches!(note, VerdictNote::Idle { on: o, idle: i, .. } if *o == on && i == idle);
        if !self.notes.iter().any(same) {
            self.notes.push(VerdictNote::Idle { at, on, idle: idle.clone() });
        }
    }

    fn is_idle(&self, cpu: Cpu, from: Ns, to: Ns) -> bool {
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return false };
        let mut interrupted = Ns::ZERO;
        for (start, end, slice) in timeline.between(from, to) {
            match slice.running {
                Running::Idle => {}
                Running::Irq(_) | Running::Softirq(_) | Running::Nmi => interrupted += end - start,
                Running::Task(..) | Running::Unknown => return false,
            }
        }
        interrupted.0.saturating_mul(INTERRUPTS) <= (to - from).0
    }
}
