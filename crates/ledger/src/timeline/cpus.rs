//! What each CPU ran at each instant: a thread, and the interrupts on top.
//!
//! ```text
//! slices:  | task 7 | irq 10 | softirq 1 | task 7 | idle ...
//!                       <-- stack -->          ^ switched
//! ```

use super::idle_ways::IdleWays;
use super::per_cpu::PerCpu;
use super::recent::{drop_while, forget_before, partition_from_end};
use super::running::Running;
use super::silences::{Silence, Silences};
use super::slew::{ONE_INTERRUPT, Slew, SlewJudge};
use super::slices::{CpuSlice, Slices, idle_back_to};
use super::standing::ReschedSample;
use super::timers::{Callback, Firing, LateTimer, Tick};
use super::usage::{Usage, UsageBlocks};
use std::collections::VecDeque;
use whylate_base::{Ns, Priority, Tid};

/// An interrupt that has been entered and not yet left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) start: Ns,
    pub(crate) running: Running,
    /// It was opened by a timer's callback, for want of an event of the interrupt around it.
    by_timer: bool,
}

/// A sighting, outside of interrupts, of a thread that should yield and could not: were interrupts off?
#[derive(Clone, Copy, Debug)]
pub(crate) struct IrqsOffSample {
    pub(crate) at: Ns,
    pub(crate) tid: Tid,
    pub(crate) irqs_off: bool,
}

/// A thread that the scheduler has switched away from. Until the registers are switched as well, events still have it
/// as their context (`context_switch`, `kernel/sched/core.c`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) tid: Tid,
    pub(crate) since: Ns,
    /// The recording shows that interrupts are off there.
    pub(crate) shows_irqs_off: bool,
}

/// One CPU.
#[derive(Default)]
pub(crate) struct CpuTimeline {
    pub(crate) slices: VecDeque<CpuSlice>,
    usage: UsageBlocks,
    stack: Vec<Frame>,
    /// The thread below the interrupts.
    current: Option<(Tid, Priority)>,
    /// The thread that the last switch took off, until another event shows the next one.
    pub(crate) leaving: Option<Leaving>,
    pub(crate) last_event: Option<Ns>,
    pub(crate) firing: Option<Firing>,
    /// The last event showed by its flags that it happened in a hard interrupt.
    pub(crate) in_hardirq: bool,
    /// Its first event, or the first after a loss, if that and all since were in an interrupt or softirq: since then it has run a
    /// handler whose entry was not seen.
    pub(crate) in_handler_since: Option<Ns>,
    /// The end of a timer's callback was seen here: it is recorded.
    pub(crate) records_ends: bool,
    /// Or the flags of events show it.
    pub(crate) shows_ends: bool,
    /// Since the last loss a hard interrupt was seen from its beginning to its end.
    pub(crate) shows_interrupts_whole: bool,
    pub(crate) late_timers: VecDeque<LateTimer>,
    pub(crate) tick: Option<Tick>,
    pub(crate) slew: SlewJudge,
    pub(crate) callbacks: VecDeque<Callback>,
    pub(crate) irqs_off_samples: VecDeque<IrqsOffSample>,
    /// When events inside of interrupts showed that the thread below should yield.
    pub(crate) resched_in_interrupts: VecDeque<ReschedSample>,
    /// The clock reading of the last timer interrupt, which its timers share, and when it was taken.
    pub(crate) timers_read: Option<(Ns, Ns)>,
    /// The same of the timer interrupt before.
    pub(crate) timers_read_before: Option<(Ns, Ns)>,
    /// How often the scheduler's switch was seen, and how often only its result.
    pub(crate) switches: u64,
    pub(crate) unseen_switches: u64,
    /// Until when such a switch happened at the latest: what was so before may have changed unseen.
    pub(crate) unseen_until: Option<Ns>,
    /// When the idle task was seen to settle down again, outside of interrupts.
    pub(crate) idle_signs: VecDeque<Ns>,
    /// Switches that took notably long, from the event to the last one on the way.
    pub(crate) slow_switches: VecDeque<(Ns, Ns)>,
    /// The thread whose page fault was the last event here.
    pub(crate) faulting: Option<Tid>,
    /// Times in which nothing happened inside of an interrupt that has nothing long to do.
    pub(crate) silences: Silences,
    /// When the idle task was last seen in a function behind which it sleeps.
    pub(crate) idle_function: Option<Ns>,
    /// Times in which no event happened behind such a function.
    pub(crate) sleeps: VecDeque<(Ns, Ns)>,
    /// Long times between two rows of a text that had shown no switch of this CPU.
    pub(crate) unshown: VecDeque<(Ns, Ns)>,
    pub(crate) idle_ways: IdleWays,
    /// Threads from which the CPU switched away for ever, with their priorities, and when. The next thread then frees what they leave
    /// (`finish_task_switch`, `kernel/sched/core.c`).
    pub(crate) deaths: VecDeque<(Ns, Tid, Priority)>,
    /// The last time in which no event happened here, where it was long.
    pub(crate) without_events: Option<(Ns, Ns)>,
    /// When the last time ended in which it passed over runnable real-time threads.
    pub(crate) passed_over_until: Option<Ns>,
    /// Real-time threads that were preempted here, the last one last; some may have gone since.
    pub(crate) preempted: Vec<Tid>,
}

/// A switch takes some microseconds; one of this length is worth a charge of its own.
const SLOW_SWITCH: Ns = Ns::from_us(10);

impl CpuTimeline {
    /// The thread below the interrupts, if it is known.
    pub(crate) fn current(&self) -> Option<Tid> {
        self.current.map(|(tid, _)| tid)
    }

    /// The interrupt on top, if one is running.
    pub(crate) fn interrupt(&self) -> Option<Frame> {
        self.stack.last().copied()
    }

    /// True of a slice of an interrupt or a softirq whose end was not seen so far.
    pub(crate) fn is_open(&self, slice: &CpuSlice) -> bool {
        self.stack.iter().any(|frame| frame.running == slice.running && frame.start <= slice.start)
    }

    /// The outermost hard interrupt that is running.
    pub(crate) fn hard_interrupt(&self) -> Option<Frame> {
        self.stack.iter().find(|frame| matches!(frame.running, Running::Irq(_))).copied()
    }

    /// The same of those that a recording shows themselves.
    pub(crate) fn recorded_interrupt(&self) -> Option<Frame> {
        let is_recorded = |frame: &&Frame| matches!(frame.running, Running::Irq(_)) && !frame.by_timer;
        self.stack.iter().find(is_recorded).copied()
    }

    fn push(&mut self, start: Ns, running: Running, switched: bool) {
        let start = self.slices.back().map_or(start, |last| last.start.max(start));
        self.slices.push_back(CpuSlice { start, running, switched });
        self.usage.follow(&self.slices);
    }

    fn top(&self) -> Running {
        match (self.stack.last(), self.current) {
            (Some(frame), _) => frame.running,
            (None, Some((tid, prio))) => Running::thread(tid, prio),
            (None, None) => Running::Unknown,
        }
    }

    /// The scheduler switched to a thread. Nothing is left of interrupts: a switch never happens inside one.
    pub(crate) fn switch(&mut self, at: Ns, next: Tid, prio: Priority) {
        self.stack.clear();
        self.in_handler_since = None;
        self.firing = None;
        self.switches += 1;
        self.current = Some((next, prio));
        self.push(at, Running::thread(next, prio), true);
    }

    /// A thread is seen to have the CPU, by an event that is not a switch.
    pub(crate) fn sight(&mut self, at: Ns, tid: Tid, prio: Priority) {
        self.current = Some((tid, prio));
        if self.stack.is_empty() {
            self.push(at, Running::thread(tid, prio), false);
        }
    }

    /// What the CPU ran is not known from `since` on: a switch was not seen.
    pub(crate) fn lose_sight(&mut self, since: Ns) {
        self.current = None;
        if self.stack.is_empty() {
            self.push(since, Running::Unknown, false);
        }
    }

    /// An interrupt began.
    pub(crate) fn enter(&mut self, at: Ns, running: Running, by_timer: bool) {
        self.stack.push(Frame { start: at, running, by_timer });
        self.push(at, running, false);
    }

    /// An interrupt ended; one whose beginning was not seen is ignored, and `None`.
    pub(crate) fn exit(&mut self, at: Ns, is_it: impl Fn(Running) -> bool) -> Option<Frame> {
        let depth = self.stack.iter().rposition(|frame| is_it(frame.running))?;
        let ended = self.stack[depth];
        self.shows_interrupts_whole |= matches!(ended.running, Running::Irq(_)) && !ended.by_timer;
        self.stack.truncate(depth);
        let top = self.top();
        self.push(at, top, false);
        Some(ended)
    }

    /// A handler ended at `at` that began before the first event here.
    pub(crate) fn exit_unseen(&mut self, at: Ns, handler: Running) {
        let Some(since) = self.in_handler_since.filter(|_| self.stack.is_empty()) else { return };
        for (index, slice) in self.slices.iter_mut().enumerate().rev() {
            if slice.start < since {
                break;
            }
            // What is there already ran on top of it.
            if !matches!(slice.running, Running::Irq(_) | Running::Softirq(_) | Running::Nmi) {
                slice.running = handler;
                self.usage.invalidate(index);
            }
        }
        let top = self.top();
        self.push(at, top, false);
    }

    /// A non-maskable interrupt's handler ran in `from..to`, on top of whatever there was.
    pub(crate) fn nmi(&mut self, from: Ns, to: Ns) {
        let below = self.top();
        self.push(from, Running::Nmi, false);
        self.push(to, below, false);
    }

    /// Nothing happened in the interrupt that is running in this time.
    pub(crate) fn fall_silent(&mut self, silence: Silence) {
        let running = self.top();
        self.push(silence.from, running, false);
        self.push(silence.to, running, false);
        self.silences.add(silence);
    }

    /// A timer's callback ended: so did the interrupt that stood for it.
    pub(crate) fn exit_timer(&mut self, at: Ns) {
        self.records_ends = true;
        self.shows_ends = true;
        self.end_timer(at);
    }

    fn end_timer(&mut self, at: Ns) {
        if self.firing.take().is_some()
            && let Some(callback) = self.callbacks.back_mut()
        {
            callback.end = Some(at);
        }
        if self.stack.last().is_some_and(|frame| frame.by_timer) {
            self.stack.pop();
            let top = self.top();
            self.push(at, top, false);
        }
    }

    /// The interrupt that stood for a timer's callback is over, as a later event shows, and its end is not recorded: after
    /// its last event, at `last`, it is not known to have gone on.
    pub(crate) fn leave_timer(&mut self, last: Ns) {
        if self.stack.last().is_some_and(|frame| frame.by_timer) {
            self.end_timer(last);
        }
    }

    /// Nothing is known of the CPU from its last event until `until`, when events begin again.
    /// Returns where the unknown begins.
    pub(crate) fn lose(&mut self, until: Ns) -> Ns {
        let from = self.last_event.unwrap_or(until);
        self.shows_interrupts_whole = false;
        self.stack.clear();
        self.in_handler_since = None;
        self.firing = None;
        self.current = None;
        self.leaving = None;
        self.push(from, Running::Unknown, false);
        from
    }

    /// What the CPU ran in `from..to`: clipped, in order, without gaps.
    pub(crate) fn between(&self, from: Ns, to: Ns) -> Slices<'_> {
        Slices::of(&self.slices, from, to)
    }

    /// For how long of `from..to` it was idle.
    pub(crate) fn idle_time(&self, from: Ns, to: Ns) -> Ns {
        let idle = self.between(from, to).filter(|(.., slice)| slice.running == Running::Idle);
        idle.map(|(start, end, _)| end - start).sum()
    }

    /// Real-time use in `from..to`.
    pub(super) fn realtime_use(&self, from: Ns, to: Ns) -> Usage {
        let mut usage = Usage::default();
        let mut slices = self.between(from, to);
        let ends_in_time = |behind: usize| self.slices.get(behind).is_some_and(|slice| slice.start <= to);
        loop {
            let whole =
                slices.at_start_of().and_then(|index| self.usage.append_to(&mut usage, index, ends_in_time));
            match whole {
                Some(behind) => slices.skip_to(behind),
                None => match slices.next() {
                    Some(clip) => usage.add(clip),
                    None => return usage,
                },
            }
        }
    }

    /// Up to a switch at `at` it was idle since then, where nothing is known of it.
    pub(crate) fn was_idle_since(&mut self, since: Ns, at: Ns) {
        if let Some(index) = idle_back_to(&mut self.slices, since, at) {
            self.usage.invalidate(index);
        }
    }

    /// What ran as `old` since the last switch, but not before `from`, was `new`.
    pub(crate) fn correct(&mut self, from: Ns, old: Running, new: Running) {
        for (index, slice) in self.slices.iter_mut().enumerate().rev() {
            if slice.start < from {
                break;
            }
            if slice.running == old {
                slice.running = new;
                self.usage.invalidate(index);
            }
            if slice.switched {
                break;
            }
        }
    }

    /// What priority a thread, known to have had this one, has had here since `from` no event showed, up to now.
    pub(crate) fn forget_priority(&mut self, from: Ns, tid: Tid, known: Priority) {
        self.correct(from, Running::Task(tid, known), Running::Task(tid, Priority::UNKNOWN));
    }

    /// Notes an event `at` which the CPU was still on the way to the thread of the switch at `since`.
    pub(crate) fn note_switch(&mut self, since: Ns, at: Ns) {
        if at - since < SLOW_SWITCH {
            return;
        }
        match self.slow_switches.back_mut().filter(|last| last.0 == since) {
            Some(last) => last.1 = at,
            None => self.slow_switches.push_back((since, at)),
        }
    }

    /// True when an event in `from..to`, both excluded, showed that the current thread should yield.
    pub(crate) fn shows_resched(&self, from: Ns, to: Ns) -> bool {
        let within = |at: Ns| from < at && at < to;
        let first = partition_from_end(&self.irqs_off_samples, |sample| sample.at <= from);
        self.irqs_off_samples.get(first).is_some_and(|sample| within(sample.at))
            || self.was_interrupted(from, to)
    }

    /// True when the current thread was to yield, and an event in `from..to`, both excluded, was in an interrupt.
    pub(crate) fn was_interrupted(&self, from: Ns, to: Ns) -> bool {
        let first = partition_from_end(&self.resched_in_interrupts, |sample| sample.at <= from);
        self.resched_in_interrupts.get(first).is_some_and(|sample| sample.at < to)
    }

    /// True where the recording has no event of it.
    pub(crate) fn is_unseen(&self) -> bool {
        self.last_event.is_none()
    }

    /// The last of the timers that an interrupt finds expired shows that its clock is slewed.
    pub(crate) fn are_slewed(&mut self, read: Ns, slew: Option<Slew>) {
        let of_interrupt =
            self.late_timers.iter_mut().rev().take_while(|late| read - late.handled <= ONE_INTERRUPT);
        of_interrupt.for_each(|late| late.slew = slew);
    }

    /// How much of its past it holds.
    pub(crate) fn held(&self) -> usize {
        self.slices.len()
            + self.late_timers.len()
            + self.callbacks.len()
            + self.irqs_off_samples.len()
            + self.resched_in_interrupts.len()
            + self.idle_signs.len()
            + self.slow_switches.len()
            + self.silences.held()
            + self.sleeps.len()
            + self.unshown.len()
            + self.idle_ways.held()
            + self.deaths.len()
    }

    /// Forgets what ended before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        let held = self.slices.len();
        forget_before(&mut self.slices, |slice| slice.start <= horizon);
        self.usage.forget(held - self.slices.len());
        drop_while(&mut self.late_timers, |late| late.handled < horizon);
        self.silences.forget(horizon);
        drop_while(&mut self.sleeps, |sleep| sleep.1 < horizon);
        drop_while(&mut self.unshown, |unshown| unshown.1 < horizon);
        self.idle_ways.forget(horizon);
        drop_while(&mut self.deaths, |death| death.0 < horizon);
        drop_while(&mut self.callbacks, |callback| callback.start < horizon);
        drop_while(&mut self.slow_switches, |switch| switch.1 < horizon);
        drop_while(&mut self.idle_signs, |sign| *sign < horizon);
        drop_while(&mut self.irqs_off_samples, |sample| sample.at < horizon);
        drop_while(&mut self.resched_in_interrupts, |sample| sample.at < horizon);
    }
}

/// All CPUs of a trace.
pub(crate) type Cpus = PerCpu<CpuTimeline>;

#[cfg(test)]
mod tests;
