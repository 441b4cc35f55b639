//! The time from a timer's expiry to its interrupt.

use super::precedence::Contender;
use super::{Charge, Charger, Remark};
use crate::causes::Cause;
use crate::cpus::{CpuTimeline, LateTimer, Who, Witness};
use crate::recent::partition_from_end;
use crate::threads::{State, Thread};
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};

/// Timer hardware and interrupt entry take some microseconds; nobody did anything.
const ORDINARY: Ns = Ns::from_us(10);
/// Shorter thefts drown in the noise of timer hardware.
const NOTABLE_THEFT: Ns = Ns::from_us(50);
/// No idle state takes longer to leave (the deepest of cpuidle's tables are a few hundred microseconds).
const LONGEST_IDLE_EXIT: Ns = Ns::from_ms(1);

impl Charger<'_> {
    /// Charges up to `to` a time in which a timer had expired on `cpu` and its callback had not
    /// yet woken the thread.
    pub(super) fn late_timer(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.engine.cpus.get(cpu) else { return self.unseen(to) };
        for (from, end, stretch) in timeline.between(self.at, to) {
            let charge = match stretch.who {
                Who::Idle => self.late_from_idle(cpu, from, end),
                // Stopping all CPUs is the stopper's work (`kernel/stop_machine.c`): nobody took them away.
                Who::Task(tid, prio)
                    if Contender::of(&self.task(tid, prio)).is_some_and(|task| task.is_stopper()) =>
                {
                    Charge::to(Cause::StopTask, Some(self.task(tid, prio)), Confidence::High)
                }
                Who::Task(tid, prio) => {
                    self.kept_from_interrupt(cpu, from, end, tid, prio).unwrap_or_else(|| {
                        let confidence =
                            if end - from <= ORDINARY { Confidence::High } else { Confidence::Low };
                        Charge::to(Cause::TimerLate, None, confidence)
                    })
                }
                _ => self.interruption((from, end, stretch)).unwrap_or_else(Charge::unexplained),
            };
            self.charge(end, charge);
        }
    }

    /// The same where the callback ran in a thread of the kernel, which had to be woken and to get the CPU.
    pub(super) fn late_timer_in_thread(&mut self, cpu: Cpu, expirer: &Thread, to: Ns) {
        for (_, end, span) in expirer.between(self.at, to) {
            match span.state {
                State::Queued(on) => {
                    let thread = self.task(expirer.tid, span.prio);
                    self.remarks.push(Remark::Expirer { thread, until: end });
                    self.waiting(expirer, span.prio, on, end);
                }
                State::Running(on) => self.expirer_runs(on, end),
                State::Blocked { .. } | State::Unknown => self.late_timer(cpu, end),
            }
        }
    }

    /// The thread that runs expired timers had the CPU, and was at others first.
    fn expirer_runs(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.engine.cpus.get(cpu) else { return self.unseen(to) };
        for (from, end, stretch) in timeline.between(self.at, to) {
            let dispatch = Charge::to(Cause::Dispatch, None, Confidence::High);
            let charge = self.interruption((from, end, stretch)).unwrap_or(dispatch);
            self.charge(end, charge);
        }
    }

    /// An idle CPU was slow to react in `from..to`.
    pub(super) fn late_from_idle(&self, cpu: Cpu, from: Ns, to: Ns) -> Charge {
        if self.others_were_late(cpu, from, to) {
            Charge::to(Cause::Stolen, None, Confidence::High)
        } else if to - from > LONGEST_IDLE_EXIT {
            Charge::to(Cause::Stolen, None, Confidence::Medium)
        } else {
            Charge::to(Cause::IdleExit, None, Confidence::High)
        }
    }

    /// A thread ran on `cpu` in `from..to` while an interrupt was due: it had interrupts disabled,
    /// or the CPU was taken from all of the kernel. `None` when the recording cannot tell.
    pub(super) fn kept_from_interrupt(
        &self,
        cpu: Cpu,
        from: Ns,
        to: Ns,
        tid: Tid,
        prio: Priority,
    ) -> Option<Charge> {
        if to - from <= ORDINARY {
            return None;
        }
        if self.others_were_late(cpu, from, to) {
            return Some(Charge::to(Cause::Stolen, None, Confidence::High));
        }
        let timeline = self.engine.cpus.get(cpu)?;
        let disabled = |confidence| Charge::to(Cause::IrqsDisabled, Some(self.task(tid, prio)), confidence);
        let first = partition_from_end(&timeline.witnesses, |witness| witness.at < from);
        let witnesses = timeline.witnesses.range(first..).take_while(|witness| witness.at <= to);
        let mut witnesses = witnesses.filter(|witness| witness.tid == tid);
        if shows_irqs_off(&mut witnesses, from, to) {
            return Some(disabled(Confidence::High));
        }
        let late = late_timers(timeline, from, to).find(|late| covers_half(late, from, to))?;
        match late.in_kernel {
            // User code cannot disable interrupts.
            Some(false) => Some(Charge::to(Cause::Stolen, None, Confidence::Medium)),
            Some(true) => Some(disabled(self.unwitnessed())),
            None => None,
        }
    }

    /// True when a timer of another CPU was late at the same time and for about as long: then the
    /// whole machine stood still.
    fn others_were_late(&self, cpu: Cpu, from: Ns, to: Ns) -> bool {
        let others = self.engine.cpus.iter().filter(|(other, _)| *other != cpu);
        to - from > ORDINARY
            && others
                .flat_map(|(_, timeline)| late_timers(timeline, from, to))
                .any(|late| covers_half(late, from, to) && lasts_as_long(late, from, to))
    }
}

/// The late timers of a CPU that were pending in some of `from..to`. They are kept in the order in
/// which they were handled.
pub(super) fn late_timers(timeline: &CpuTimeline, from: Ns, to: Ns) -> impl Iterator<Item = &LateTimer> {
    let first = partition_from_end(&timeline.late_timers, |late| late.handled <= from);
    timeline.late_timers.range(first..).filter(move |late| late.due < to)
}

/// Those of them that were late enough to tell of a theft.
pub(super) fn notably_late(timeline: &CpuTimeline, from: Ns, to: Ns) -> impl Iterator<Item = &LateTimer> {
    late_timers(timeline, from, to).filter(|late| late.handled - late.due >= NOTABLE_THEFT)
}

/// True when all sightings are with interrupts off, and half of `from..to` or more lies between the
/// first and the last: the way into a switch shows them, too, but only for a moment.
pub(super) fn shows_irqs_off<'w>(witnesses: impl Iterator<Item = &'w Witness>, from: Ns, to: Ns) -> bool {
    let mut witnesses = witnesses.peekable();
    let Some(first) = witnesses.peek().map(|witness| witness.at) else { return false };
    let mut last = first;
    for witness in witnesses {
        if !witness.irqs_off {
            return false;
        }
        last = witness.at;
    }
    (last - first).0.saturating_mul(2) >= (to - from).0
}

/// True when the other CPU's lateness was mostly within `from..to`, too: a timer that was late for
/// much longer was late for a reason of its own.
fn lasts_as_long(late: &LateTimer, from: Ns, to: Ns) -> bool {
    overlap(late, from, to).0.saturating_mul(2) >= (late.handled - late.due).0
}

fn covers_half(late: &LateTimer, from: Ns, to: Ns) -> bool {
    overlap(late, from, to).0.saturating_mul(2) >= (to - from).0
}

fn overlap(late: &LateTimer, from: Ns, to: Ns) -> Ns {
    to.min(late.handled).since(from.max(late.due))
}
