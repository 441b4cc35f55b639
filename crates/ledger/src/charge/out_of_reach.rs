//! A long wait on a busy CPU while another one was idle, on which the thread never ran, or that it may not use.

use super::charger::Charger;
use super::notes::VerdictNote;
use super::queue::Queue;
use crate::timeline::housekeeping::is_of_kernel;
use whylate_base::{Cpu, CpuSet, Ns};

/// A shorter wait is not looked at: other CPUs are idle now and then.
const LONG_WAIT: Ns = Ns::from_ms(1);

impl Charger<'_> {
    /// Notes the first CPU that was idle for most of a long wait and out of the waiter's reach.
    pub(super) fn note_out_of_reach(&mut self, queue: &Queue<'_>) {
        let &Queue { waiter, cpu, from, to, .. } = queue;
        if to - from < LONG_WAIT || waiter.tid != self.victim.tid || is_of_kernel(waiter.comm().as_str()) {
            return;
        }
        let used = waiter.affinity.used_cpus();
        let never_left = used.len() == 1 && used.contains(cpu);
        let cpus = || self.timeline.cpus.iter().map(|(other, _)| other);
        let but_for = |left: Cpu| cpus().filter(|&other| other != left).collect::<CpuSet>();
        let recorded =
            self.timeline.cpus.iter().filter(|&(other, _)| other != cpu && self.timeline.is_recorded(other));
        let idle = recorded.map(|(other, timeline)| (other, timeline.idle_time(from, to)));
        let mut mostly_idle = idle.filter(|(_, idle)| idle.0.saturating_mul(2) >= (to - from).0);
        let found = mostly_idle.find_map(|(other, idle)| {
            let bound = waiter.affinity.stays_within(from, to, &but_for(other));
            (bound || never_left).then_some(VerdictNote::OutOfReach { at: from, cpu: other, idle, bound })
        });
        self.notes.extend(found);
    }
}
