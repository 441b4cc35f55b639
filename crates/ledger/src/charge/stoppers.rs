//! The stopper of a CPU while an interrupt is overdue there: does it stop the machine, or does a virtual CPU itself stand still?
//!
//! To stop several CPUs their stoppers wait for each other with interrupts disabled (`multi_cpu_stop()`, `kernel/stop_machine.c`). What
//! one does for its own CPU alone, as to move a thread to another, takes microseconds.

use super::attribution::Charge;
use super::charger::Charger;
use super::overdue::LONG_OVERDUE;
use super::precedence::Contender;
use crate::causes::Cause;
use crate::timeline::cpus::CpuTimeline;
use crate::timeline::running::Running;
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};

impl Charger<'_> {
    /// True of a thread of the stop class, as it was at an instant.
    pub(super) fn is_stopper(&self, at: Ns, (tid, prio): (Tid, Priority)) -> bool {
        Contender::of(&self.task(tid, prio, at)).is_some_and(|task| task.is_stopper())
    }

    /// What kept a guest's `cpu`, where CPUs stand still again and again, for far longer than the stopper on it needs.
    pub(super) fn stopper_stands_still(
        &self,
        cpu: Cpu,
        (from, to): (Ns, Ns),
        runner: (Tid, Priority),
    ) -> Option<Charge> {
        let is_long = to - from >= LONG_OVERDUE && self.timeline.stands_still();
        (is_long && self.is_lone_stopper(cpu, (from, to), runner))
            .then(|| Charge::to(Cause::Stolen, None, Confidence::Low))
    }

    /// True of a stopper that has a guest's `cpu` in `from..to`, and stops no other: it keeps no interrupt from coming for long.
    pub(super) fn is_lone_stopper(
        &self,
        cpu: Cpu,
        (from, to): (Ns, Ns),
        (tid, prio): (Tid, Priority),
    ) -> bool {
        let stops = |timeline: &CpuTimeline| {
            timeline.between(from, to).any(|(_, _, slice)| {
                matches!(slice.running, Running::Task(tid, prio) if self.is_stopper(from, (tid, prio)))
            })
        };
        // A machine of one CPU is stopped by that one's alone.
        let mut others = self.timeline.cpus.iter().filter(|(other, _)| *other != cpu).peekable();
        self.timeline.hypervisor == Some(true)
            && self.is_stopper(from, (tid, prio))
            && others.peek().is_some()
            && !others.any(|(_, timeline)| stops(timeline))
    }
}
