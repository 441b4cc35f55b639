//! Follows the times in which a CPU passes over runnable real-time threads, switch by switch.

use super::Engine;
use crate::model::Culprit;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::windows::{LONGEST_WAY_OFF, MOVED_AT_ONCE, Window};
use whylate_base::{Cpu, Ns, SchedClass, Tid};
use whylate_events::{Kind, Switch};

/// So many threads are preempted on one CPU at a time only where events are missing.
const MANY_PREEMPTED: usize = 64;

/// True of a real-time thread that is runnable on a CPU.
fn still_waits(thread: &Thread, cpu: Cpu) -> bool {
    thread.state() == State::Queued(cpu) && thread.priority().class() == SchedClass::Realtime
}

impl Engine<'_> {
    /// A real-time thread that was preempted on `cpu` and still waits there: the next in line. `None` where it may have
    /// been moved without an event.
    fn preempted_before(&mut self, at: Ns, cpu: Cpu) -> Option<Tid> {
        if !self.shows_migrations && !self.timeline.seen.contains(Kind::Migrate) {
            let mut cpus = self.timeline.cpus.iter();
            if cpus.any(|(other, on)| other != cpu && on.last_event.is_some()) {
                return None;
            }
        }
        let timeline = self.timeline.cpus.get_mut(cpu)?;
        let unseen_until = timeline.unseen_until;
        while let Some(&tid) = timeline.preempted.last() {
            match self
                .timeline
                .threads
                .get(tid)
                .filter(|thread| still_waits(thread, cpu))
                .and_then(Thread::since)
            {
                // One that has just been preempted may be on its way to another CPU.
                Some(since) => {
                    let thread = self.timeline.threads.get(tid)?;
                    // Behind a switch that was not seen it may have run, and gone to sleep.
                    let is_here = at - since >= MOVED_AT_ONCE
                        && unseen_until.is_none_or(|until| since > until)
                        && !self.timeline.may_be_out_of_sight(thread, since, at);
                    return Some(tid).filter(|_| is_here);
                }
                None => timeline.preempted.pop(),
            };
        }
        None
    }

    /// A thread that left the CPU to sleep, and was woken before it was off it: the next one had been chosen by then, and
    /// the switch shows the thread as runnable (`schedule`, kernel/sched.c, where `idle_balance` lets the runqueue's lock go).
    fn was_going_to_sleep(&self, at: Ns, switch: &Switch) -> bool {
        let woken = self.timeline.threads.get(switch.prev_tid).and_then(|thread| thread.woken_on_cpu);
        switch.prev_state.is_runnable() && woken.is_some_and(|woken| at - woken.at <= LONGEST_WAY_OFF)
    }

    /// Follows the times a CPU passes over runnable real-time threads.
    pub(super) fn watch_bandwidth(&mut self, at: Ns, cpu: Cpu, switch: &Switch) {
        let to_idle = switch.next_tid.is_idle();
        let next = Culprit::Task { tid: switch.next_tid, comm: switch.next_comm, priority: switch.next_prio };
        let to_low = to_idle || switch.next_prio.class() == SchedClass::Fair;
        if let Some(window) = self.timeline.windows.open_on(cpu) {
            if to_low {
                window.saw_idle |= to_idle;
                if !to_idle {
                    window.ran.get_or_insert(next);
                }
            } else if switch.next_prio.class() == SchedClass::Realtime {
                self.timeline.close_window(cpu, at);
            }
            return;
        }
        let from_realtime = switch.prev_prio.class() == SchedClass::Realtime && !switch.prev_tid.is_idle();
        if !from_realtime {
            return;
        }
        if !to_low {
            if let Some(timeline) =
                self.timeline.cpus.get_mut(cpu).filter(|_| switch.prev_state.is_runnable())
            {
                let preempted = &mut timeline.preempted;
                preempted.retain(|&tid| tid != switch.prev_tid);
                // Those that have gone are dropped before they are many.
                if preempted.len() >= MANY_PREEMPTED && preempted.len().is_power_of_two() {
                    let threads = &self.timeline.threads;
                    preempted.retain(|&tid| threads.get(tid).is_some_and(|thread| still_waits(thread, cpu)));
                }
                preempted.push(switch.prev_tid);
            }
            return;
        }
        if self.was_going_to_sleep(at, switch) {
            return;
        }
        let runnable = Some(switch.prev_tid).filter(|_| switch.prev_state.is_runnable());
        let Some(passed_over) = runnable.or_else(|| self.preempted_before(at, cpu)) else { return };
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return };
        let (user, share, over) = self.timeline.realtime_use(timeline, at);
        self.timeline.windows.open(Window {
            cpu,
            start: at,
            end: None,
            passed_over,
            saw_idle: to_idle,
            ran: (!to_idle).then_some(next),
            most_used_by: user,
            used: (share, over),
            hurt: false,
            is_cut: false,
        });
    }
}
