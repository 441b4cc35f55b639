//! The time from a timer's expiry to its callback in a thread of the kernel: on PREEMPT_RT `ktimers/N` runs it.

use super::attribution::Charge;
use super::charger::Charger;
use super::notes::VerdictNote;
use crate::causes::Cause;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Cpu, Ns};

impl Charger<'_> {
    /// Charges up to `to` a time in which a timer had expired and the `expirer`, which runs its callback, had yet to be
    /// woken and to get the CPU.
    pub(super) fn late_timer_in_thread(&mut self, cpu: Cpu, expirer: &Thread, to: Ns) {
        for stay in expirer.history.between(self.at, to) {
            let end = stay.to;
            match stay.state {
                State::Queued(on) => {
                    let thread = self.task(expirer.tid, expirer.priority_at(stay.from), stay.from);
                    self.notes.push(VerdictNote::Expirer { thread, until: end });
                    self.waiting(expirer, on, end);
                }
                State::Running(on) => self.expirer_runs(on, end),
                State::Blocked { .. } | State::Unknown => self.late_timer(cpu, end),
            }
        }
    }

    /// The thread that runs expired timers had the CPU, and was at others first.
    fn expirer_runs(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return self.unseen(to) };
        for (from, end, slice) in timeline.between(self.at, to) {
            let dispatch = Charge::to(Cause::Dispatch, None, Confidence::High);
            let charge = self.interruption((from, end, slice)).unwrap_or(dispatch);
            self.charge(end, charge);
        }
    }
}
