//! The time from a timer's expiry to its callback in a thread of the kernel: on PREEMPT_RT `ktimers/N` runs it.

use super::attribution::Charge;
use super::charger::Charger;
use super::notes::VerdictNote;
use crate::causes::Cause;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Cpu, Ns, Tid};

impl<'t> Charger<'t> {
    /// Charges up to `to` a time in which a timer had expired and the `expirer`, which runs its callback, had yet to be
    /// woken and to get the CPU.
    pub(super) fn late_timer_in_thread(&mut self, cpu: Cpu, expirer: &'t Thread, to: Ns) {
        for stay in expirer.history.between(self.at, to) {
            let end = stay.to;
            match stay.state {
                State::Queued(on) => {
                    self.note_expirer(expirer, stay.from, end);
                    self.waiting(expirer, on, end);
                }
                State::Running(on) => self.expirer_runs(on, end),
                State::Blocked {
                    wait: wait @ (Wait::Lock { owner } | Wait::KernelLock { owner }),
                    waker,
                } if waker.or(owner).is_some() => {
                    self.note_expirer(expirer, stay.from, end);
                    self.expirer_blocked(expirer, (wait, waker), end);
                }
                State::Blocked { .. } | State::Unknown => self.late_timer(cpu, end),
            }
        }
    }

    fn note_expirer(&mut self, expirer: &Thread, at: Ns, until: Ns) {
        let thread = self.task(expirer.tid, expirer.priority_at(at), at);
        self.notes.push(VerdictNote::Expirer { thread, until });
    }

    /// Charges up to `to` a time in which the thread that runs expired timers slept for a lock of the kernel. Most often that is the one
    /// for code with softirqs disabled, which it takes before it runs any (`softirq_ctrl.lock`, `kernel/softirq.c`). It is the one
    /// that waits, by its priority.
    fn expirer_blocked(&mut self, expirer: &'t Thread, (wait, waker): (Wait, Option<Tid>), to: Ns) {
        self.note_kernel_lock(self.at, to);
        let late = std::mem::replace(&mut self.victim, expirer);
        self.asleep(wait, waker, to);
        self.victim = late;
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
