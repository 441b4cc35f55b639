//! Rows that a text leaves out without a mark. What cannot be shows them: people cut what seems of no use to them, and programs lose
//! what they do not count.

use super::Engine;
use crate::timeline::clocks::TICKS;
use crate::timeline::states::State;
use crate::timeline::timers::Tick;
use whylate_base::{Cpu, Ns, Tid};

/// The stamps of two CPUs differ by less.
const NO_SKEW: Ns = Ns::from_ms(1);
/// An interrupt takes less, as a rule: the rows are missing in the last time without events.
const LONGEST_INTERRUPT: Ns = Ns::from_ms(1);

/// An interrupt comes so soon where nothing keeps it back.
const IN_TIME: Ns = Ns::from_us(10);

impl Engine<'_> {
    /// A thread that waits for its CPU is woken, which none is that has not run since it was (`ttwu_state_match()`,
    /// `kernel/sched/core.c`): it did run, and slept again.
    #[inline]
    pub(super) fn must_have_run(&mut self, at: Ns, tid: Tid) {
        let Some(thread) = self.timeline.threads.get(tid) else { return };
        let (State::Queued(on), Some(since)) = (thread.state(), thread.since()) else { return };
        let has_not_run =
            thread.open.as_ref().is_some_and(|open| open.running.is_none() && open.woken.is_some());
        if has_not_run && !thread.is_marked && at - since >= NO_SKEW {
            self.ran_unseen(at, since, on, tid);
        }
    }

    #[cold]
    fn ran_unseen(&mut self, at: Ns, since: Ns, on: Cpu, tid: Tid) {
        if let Some(cpu) = self.timeline.cpus.get_mut(on) {
            cpu.unseen_switches += 1;
            cpu.unseen_until = Some(at);
        }
        self.timeline.threads.get_mut(tid).enter(since, State::Unknown);
        self.timeline.close_window(on, since);
        self.slept_at_end(tid);
    }

    /// A hard interrupt ends on a CPU that shows both ends of them, and its beginning is missing.
    pub(super) fn may_lack_entry(&mut self, at: Ns, on: Cpu) {
        let Some(cpu) = self.timeline.cpus.get(on) else { return };
        let Some(last) = cpu.last_event.filter(|_| cpu.shows_interrupts_whole) else { return };
        if self.timeline.is_text && cpu.recorded_interrupt().is_none() {
            let gap = cpu.without_events.filter(|&(_, to)| at - to <= LONGEST_INTERRUPT);
            self.lacks_rows(gap.map_or(last, |(from, _)| from.min(last)), at, on);
        }
    }

    /// A timer's callback ends in an interrupt that runs none, on a CPU that shows both ends of them: the interrupt is another one.
    pub(super) fn may_lack_callback(&mut self, at: Ns, on: Cpu) {
        let Some(cpu) = self.timeline.cpus.get(on) else { return };
        let is_lone = cpu.records_ends && cpu.firing.is_none() && cpu.recorded_interrupt().is_some();
        if let Some(last) = cpu.last_event.filter(|_| self.timeline.is_text && is_lone) {
            self.lacks_rows(last, at, on);
        }
    }

    /// In a text a CPU that shows both ends of its interrupts switches to another thread within one: the end is missing.
    #[inline]
    pub(super) fn may_lack_exit(&mut self, at: Ns, on: Cpu) {
        let Some(cpu) = self.timeline.cpus.get(on) else { return };
        if let Some(interrupt) = cpu.recorded_interrupt().filter(|_| cpu.shows_interrupts_whole) {
            self.lacks_rows(interrupt.start, at, on);
        }
    }

    /// A CPU's tick is started.
    pub(super) fn note_tick(&mut self, at: Ns, on: Cpu, (hrtimer, expires): (u64, Ns)) {
        let due = self.on_trace_clock(expires, at);
        let Some(cpu) = self.timeline.cpus.get_mut(on) else { return };
        let period = TICKS.into_iter().rev().find(|&tick| due - at <= tick);
        let longest = cpu.tick.map(|tick| tick.period).max(period);
        cpu.tick = longest.map(|period| Tick { hrtimer, due, period });
    }

    /// No event happened on a busy CPU in `last..at`, where ticks were due, and the first one is in time for another tick: those between
    /// are missing. A tick that was held back comes as soon as it can, and not in time for the next one.
    pub(super) fn may_lack_ticks(&mut self, last: Ns, at: Ns, on: Cpu) -> bool {
        let busy = self.timeline.cpus.get(on).filter(|cpu| cpu.current().is_some_and(|tid| !tid.is_idle()));
        let Some(Tick { due, period, .. }) = busy.and_then(|cpu| cpu.tick) else { return false };
        let is_missing =
            self.timeline.is_text && last < due && at - due >= period && (at - due).0 % period.0 <= IN_TIME.0;
        if is_missing {
            self.lacks_rows(last, at, on);
        }
        is_missing
    }

    #[cold]
    fn lacks_rows(&mut self, from: Ns, to: Ns, cpu: Cpu) {
        self.count_loss(to, cpu, Some(from), None);
        if let Some(cpu) = self.timeline.cpus.get_mut(cpu) {
            cpu.last_event = Some(from);
        }
        self.lost(to, cpu, Some(from), false);
    }
}
