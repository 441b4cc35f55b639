//! The time from a timer's expiry to its interrupt.

use super::attribution::Charge;
use super::charger::Charger;
use super::overdue::ORDINARY;
use crate::causes::Cause;
use crate::timeline::running::Running;
use whylate_base::{Confidence, Cpu, Ns};

impl Charger<'_> {
    /// Charges up to `to` a time in which a timer had expired on `cpu` and its callback had not
    /// yet woken the thread.
    pub(super) fn late_timer(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return self.unseen(to) };
        for (from, end, slice) in timeline.between(self.at, to) {
            let is_interrupted = !matches!(slice.running, Running::Idle | Running::Task(..));
            if let Some(charge) = self.slewed(cpu, from, end).filter(|_| !is_interrupted) {
                self.charge(end, charge);
                continue;
            }
            let charge = match slice.running {
                Running::Idle => self.late_from_idle(cpu, from, end),
                // Stopping all CPUs is the stopper's work (`kernel/stop_machine.c`): no hypervisor took them away.
                Running::Task(tid, prio) => {
                    let stops = self.is_stopper(from, (tid, prio));
                    match stops && !self.is_lone_stopper(cpu, (from, end), (tid, prio)) {
                        true => {
                            Charge::to(Cause::StopTask, Some(self.task(tid, prio, from)), Confidence::High)
                        }
                        false => self.kept_from_interrupt(cpu, from, end, tid, prio).unwrap_or_else(|| {
                            let confidence =
                                if end - from <= ORDINARY { Confidence::High } else { Confidence::Low };
                            Charge::to(Cause::TimerLate, None, confidence)
                        }),
                    }
                }
                _ => self.interruption((from, end, slice)).unwrap_or_else(Charge::unexplained),
            };
            self.charge(end, charge);
        }
    }
}
