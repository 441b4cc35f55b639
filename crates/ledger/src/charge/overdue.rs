//! A CPU on which an interrupt was due and did not come: were interrupts disabled, or was the CPU taken away?

use super::attribution::Charge;
use super::charger::Charger;
use super::notes::VerdictNote;
use crate::causes::Cause;
use crate::timeline::Timeline;
use crate::timeline::cpus::CpuTimeline;
use crate::timeline::recent::partition_from_end;
use crate::timeline::running::Running;
use crate::timeline::timers::LateTimer;
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};

/// Timer hardware and interrupt entry take some microseconds, by no fault.
pub(super) const ORDINARY: Ns = Ns::from_us(10);
/// Shorter thefts drown in the noise of timer hardware.
const NOTABLE_THEFT: Ns = Ns::from_us(50);
/// A softirq does not disable interrupts for so long.
const LONG_IN_SOFTIRQ: Ns = Ns::from_ms(1);
/// A guest's CPU on which a timer is overdue for so long most likely stands still, where its CPUs do so again and again.
pub(super) const LONG_OVERDUE: Ns = Ns::from_ms(1);
/// No idle state takes longer to leave (the deepest of cpuidle's tables are a few hundred microseconds).
pub(super) const LONGEST_IDLE_EXIT: Ns = Ns::from_ms(1);

/// How sure it is that an idle CPU was leaving its idle state: an interrupt's handler upon the idle task looks the same where
/// no interrupts were recorded.
pub(super) fn of_idle_exit(timeline: &Timeline) -> Confidence {
    if timeline.shows_interrupts() { Confidence::High } else { Confidence::Low }
}

impl Charger<'_> {
    /// How sure it is that a thread kept the CPU of which nothing was seen: on a guest the hypervisor may have had it, and
    /// on a machine of which that is not known, where CPUs were shown to stand still.
    pub(super) fn unobserved(&self) -> Confidence {
        match self.timeline.hypervisor {
            Some(true) => Confidence::Low,
            None if self.timeline.standstills > 0 => Confidence::Low,
            _ => Confidence::Medium,
        }
    }

    /// The same where interrupts and softirqs upon that thread would keep the CPU just so.
    pub(super) fn unobserved_below_interrupts(&self) -> Confidence {
        match self.timeline.shows_interrupts() {
            true => self.unobserved(),
            false => Confidence::Low,
        }
    }

    /// A thread that had nothing to do had `cpu` in `from..to`, and left it no sooner: on a guest the CPU itself stood still. `None`
    /// where the recording cannot tell.
    pub(super) fn on_its_way_to_sleep(&self, cpu: Cpu, from: Ns, to: Ns) -> Option<Charge> {
        // Switches were lost, and it slept.
        if self.timeline.losses.any_between(Some(cpu), from, to) {
            return Some(Charge::to(Cause::TraceLoss, None, Confidence::High));
        }
        let stolen = || Charge::to(Cause::Stolen, None, Confidence::Medium);
        self.behind_death(cpu, from).or_else(|| (self.timeline.hypervisor == Some(true)).then(stolen))
    }

    /// Charges up to `to` a time in which a thread waited for its CPU, that `running` had: where that was on its way to sleep and nothing
    /// happened, it did not keep the CPU.
    pub(super) fn charge_but_idle_ways(&mut self, running: Running, to: Ns, charge: Charge) {
        let Running::Task(tid, _) = running else { return self.charge(to, charge) };
        let timeline = self.timeline.cpus.get(self.cpu);
        let ways = timeline.into_iter().flat_map(|timeline| timeline.idle_ways.between(tid, self.at, to));
        for (begin, end) in ways.filter(|_| charge.by.is_some()).collect::<Vec<_>>() {
            let in_doubt = Charge { confidence: charge.confidence.min(self.unobserved()), ..charge };
            let idle = self.on_its_way_to_sleep(self.cpu, begin, end).unwrap_or(in_doubt);
            self.charge(begin.min(to), charge);
            self.charge(end.min(to), idle);
        }
        self.charge(to, charge);
    }

    /// An idle CPU was slow to react in `from..to`.
    pub(super) fn late_from_idle(&self, cpu: Cpu, from: Ns, to: Ns) -> Charge {
        if self.others_were_late(cpu, from, to) {
            Charge::to(Cause::Stolen, None, Confidence::High)
        } else if let Some(charge) = self.behind_death(cpu, from).filter(|_| to - from > LONGEST_IDLE_EXIT) {
            charge
        } else if self.timeline.cpus.get(cpu).is_some_and(|timeline| slept(timeline, from, to)) {
            // It was still on its way into an idle state: the state, or what the hardware does for it.
            Charge::to(Cause::IdleExit, None, Confidence::Low)
        } else if to - from > LONGEST_IDLE_EXIT {
            match self.timeline.shows_idle_cpus() {
                true => Charge::to(Cause::Stolen, None, Confidence::Medium),
                false => Charge::unexplained(),
            }
        } else {
            Charge::to(Cause::IdleExit, None, of_idle_exit(self.timeline))
        }
    }

    /// A wake-up took long that its own CPU completes, on the runqueue of another one: it waited for that one's lock, or for the
    /// thread to be switched out there (`try_to_wake_up()`, `kernel/sched/core.c`), or stood still. What ran on the
    /// other CPU was not asked to yield yet.
    pub(super) fn not_queued(&self) -> Charge {
        match self.timeline.hypervisor {
            Some(true) => Charge::to(Cause::Stolen, None, Confidence::Low),
            _ => Charge::unexplained(),
        }
    }

    /// A timer was late on `cpu` in `from..to` because the clock runs faster than the timer hardware.
    pub(super) fn slewed(&mut self, cpu: Cpu, from: Ns, to: Ns) -> Option<Charge> {
        let mut late = late_timers(self.timeline.cpus.get(cpu)?, from, to);
        let slew = late.find_map(|late| late.slew.filter(|_| covers_half(late, from, to)))?;
        self.notes.push(VerdictNote::Slewed { slew, time: to - from });
        let confidence = if slew.is_shown { Confidence::Medium } else { Confidence::Low };
        Some(Charge::to(Cause::TimerLate, None, confidence))
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
        let timeline = self.timeline.cpus.get(cpu)?;
        let disabled =
            |confidence| Charge::to(Cause::IrqsDisabled, Some(self.task(tid, prio, from)), confidence);
        if shows_irqs_off(timeline, tid, from, to) {
            return Some(disabled(Confidence::High));
        }
        let mut ways = timeline.idle_ways.between(tid, from, to);
        if let Some((begin, end)) = ways.find(|&way| is_half(way, from, to))
            && let Some(charge) = self.on_its_way_to_sleep(cpu, begin, end)
        {
            return Some(charge);
        }
        let late = late_timers(timeline, from, to).find(|late| covers_half(late, from, to))?;
        match late.in_kernel {
            // User code cannot disable interrupts.
            Some(false) => Some(Charge::to(Cause::Stolen, None, Confidence::Medium)),
            _ if self.is_lone_stopper(cpu, (from, to), (tid, prio)) => {
                Some(Charge::to(Cause::Stolen, None, Confidence::Medium))
            }
            Some(true) => {
                Some(self.behind_death(cpu, late.silent_since).unwrap_or(disabled(self.unobserved())))
            }
            // With preemption disabled alone the interrupt would have come; CPUs that stand still all the time do so here, too.
            None if self.timeline.stands_still() && late.handled - late.due >= LONG_OVERDUE => {
                Some(Charge::to(Cause::Stolen, None, Confidence::Low))
            }
            None => None,
        }
    }

    /// Of a time without events on `cpu` that began at `from`: right behind the switch away from a thread that ended, the kernel
    /// frees what that one leaves, in the context of the next thread. With much memory that takes long, on kernels that do
    /// it with interrupts disabled; nothing shows that the CPU was taken away.
    pub(super) fn behind_death(&self, cpu: Cpu, from: Ns) -> Option<Charge> {
        let deaths = &self.timeline.cpus.get(cpu)?.deaths;
        let last = partition_from_end(deaths, |death| death.0 <= from).checked_sub(1)?;
        let &(at, tid, priority) = deaths.get(last).filter(|death| from - death.0 <= ORDINARY)?;
        Some(Charge::to(Cause::IrqsDisabled, Some(self.task(tid, priority, at)), Confidence::Low))
    }

    /// A softirq ran on `cpu` in `from..to`, and for half of that time or more a timer's interrupt was due, and did not
    /// come: softirqs run with interrupts enabled.
    pub(super) fn kept_from_softirq(&self, cpu: Cpu, from: Ns, to: Ns) -> bool {
        self.timeline.cpus.get(cpu).is_some_and(|timeline| {
            late_timers(timeline, from, to)
                .any(|late| late.handled - late.due >= LONG_IN_SOFTIRQ && covers_half(late, from, to))
        })
    }

    /// True when a timer of another CPU was late at the same time and for about as long: then the
    /// whole machine stood still.
    fn others_were_late(&self, cpu: Cpu, from: Ns, to: Ns) -> bool {
        let others = self.timeline.cpus.iter().filter(|(other, _)| *other != cpu);
        to - from > ORDINARY
            && others.flat_map(|(_, timeline)| late_timers(timeline, from, to)).any(|late| {
                late.slew.is_none() && covers_half(late, from, to) && lasts_as_long(late, from, to)
            })
    }
}

/// True where the functions of a CPU show that it slept for half of `from..to` or more.
pub(super) fn slept(timeline: &CpuTimeline, from: Ns, to: Ns) -> bool {
    let within = timeline.sleeps.iter().rev().take_while(|sleep| sleep.1 > from);
    let slept: Ns = within.map(|sleep| sleep.1.min(to).since(sleep.0.max(from))).sum();
    slept.0.saturating_mul(2) >= (to - from).0
}

/// The late timers of a CPU that were pending in some of `from..to`. They are kept in the order in
/// which they were handled.
pub(super) fn late_timers(timeline: &CpuTimeline, from: Ns, to: Ns) -> impl Iterator<Item = &LateTimer> {
    let first = partition_from_end(&timeline.late_timers, |late| late.handled <= from);
    timeline.late_timers.range(first..).filter(move |late| late.due < to)
}

/// Those of them that were late enough to show a theft.
pub(super) fn notably_late(timeline: &CpuTimeline, from: Ns, to: Ns) -> impl Iterator<Item = &LateTimer> {
    let is_theft = |late: &&LateTimer| late.slew.is_none() && late.handled - late.due >= NOTABLE_THEFT;
    late_timers(timeline, from, to).filter(is_theft)
}

/// From when on it is in doubt whether a CPU worked on which a timer was late: it stood still before the timer was due
/// already, and no event shows since when. A timer is due at any instant of a theft alike, so in nine of ten cases what
/// came before it is not longer than nine times the rest; and it lies in the time without events.
pub(super) fn in_doubt_from(late: &LateTimer) -> Ns {
    let rest = late.handled - late.due;
    late.silent_since.max(late.due - Ns(rest.0.saturating_mul(9)))
}

/// True when all sightings of a thread are with interrupts off, and half of `from..to` or more lies between the first and the
/// last: the way into a switch shows them, too, but only for a moment. An interrupt in between shows that they were on again.
pub(super) fn shows_irqs_off(timeline: &CpuTimeline, tid: Tid, from: Ns, to: Ns) -> bool {
    let first = partition_from_end(&timeline.irqs_off_samples, |sample| sample.at < from);
    let samples = timeline.irqs_off_samples.range(first..).take_while(|sample| sample.at <= to);
    let mut samples = samples.filter(|sample| sample.tid == tid).peekable();
    let Some(first) = samples.peek().map(|sample| sample.at) else { return false };
    let mut last = first;
    for sample in samples {
        if !sample.irqs_off {
            return false;
        }
        last = sample.at;
    }
    (last - first).0.saturating_mul(2) >= (to - from).0 && !timeline.was_interrupted(first, last)
}

/// True when the other CPU's lateness was mostly within `from..to`, too: a timer that was late for
/// much longer was late for a reason of its own.
fn lasts_as_long(late: &LateTimer, from: Ns, to: Ns) -> bool {
    overlap((late.due, late.handled), from, to).0.saturating_mul(2) >= (late.handled - late.due).0
}

fn covers_half(late: &LateTimer, from: Ns, to: Ns) -> bool {
    is_half((late.due, late.handled), from, to)
}

fn is_half(part: (Ns, Ns), from: Ns, to: Ns) -> bool {
    overlap(part, from, to).0.saturating_mul(2) >= (to - from).0
}

fn overlap((begin, end): (Ns, Ns), from: Ns, to: Ns) -> Ns {
    to.min(end).since(from.max(begin))
}
