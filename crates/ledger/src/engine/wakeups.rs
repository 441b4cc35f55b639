//! Wake-ups: what makes them, and which sleep they end.

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::model::IrqKind;
use crate::timeline::activations::{SleptOn, WakeCause};
use crate::timeline::housekeeping::runs_softirqs;
use crate::timeline::links::Link;
use crate::timeline::origins::{Origin, OriginKind, TIMER};
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::waking::{Timeout, Waking};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, Kind, Wake};

/// A wake-up takes so long, of some microseconds, where its CPU had to wait or stood still meanwhile.
const LATE_QUEUEING: Ns = Ns::from_us(50);

impl Engine<'_> {
    /// `sched_waking`: a wake-up begins.
    pub(super) fn waking(&mut self, at: Ns, event: &Event, wake: &Wake) {
        self.may_have_slept(at, event, wake.tid);
        self.must_have_run(at, wake.tid);
        let mut waking = self.wake_of(at, event, wake);
        self.note_context(event, &waking);
        self.reach_back(wake.tid, wake.comm, &mut waking);
        self.note_napi(event, wake.tid, wake.comm, &waking);
        let thread = self.timeline.threads.get_mut(wake.tid);
        thread.was_idle_if_woken();
        if !matches!(thread.state(), State::Queued(_)) {
            thread.waking = Some(waking);
            if self.timeline.links.is_some() {
                let by = self.hand_off(waking.cause);
                self.link(|| Link::Waking { tid: wake.tid, at, cause: waking.cause, by });
            }
        }
    }

    /// `sched_wakeup`: the thread is on a runqueue.
    pub(super) fn wakeup(&mut self, at: Ns, event: &Event, wake: &Wake) {
        let thread = self.timeline.threads.get_mut(wake.tid);
        thread.was_idle_if_woken();
        let noted = thread.waking.take();
        self.may_have_slept(at, event, wake.tid);
        let waking = noted.unwrap_or_else(|| {
            let mut waking = self.wake_of(at, event, wake);
            self.note_context(event, &waking);
            self.reach_back(wake.tid, wake.comm, &mut waking);
            waking
        });
        self.woken(at, wake.tid, wake.target_cpu, &waking);
        let is_of_another = waking.on == Some(event.cpu) && event.cpu != wake.target_cpu;
        if is_of_another
            && at - waking.at >= LATE_QUEUEING
            && let Some(open) = &mut self.timeline.threads.get_mut(wake.tid).open
            && open.waking == waking.at
        {
            open.queued_late_by = Some(event.cpu);
        }
    }

    /// Whether an interrupt made the wake-up that is recorded itself. One that began before the recording, or before events were lost, is
    /// none that was left out: so one is that followed a switch.
    fn note_context(&mut self, event: &Event, waking: &Waking) {
        let Context { tid, flags, .. } = event.context;
        let shows_begin = || {
            let switched = self.timeline.cpus.get(event.cpu).is_some_and(|cpu| cpu.switches > 0);
            switched && !self.timeline.losses.any_between(Some(event.cpu), Ns::ZERO, event.ts)
        };
        if waking.cause == WakeCause::Unseen && (flags.in_interrupt() || tid.is_idle()) && shows_begin() {
            self.timeline.contexts.wakes_barely(tid);
        }
    }

    /// What the current context shows of the wake-up it makes.
    fn wake_of(&self, at: Ns, event: &Event, wake: &Wake) -> Waking {
        let Wake { comm, prio, .. } = *wake;
        let Some(cpu) = self.timeline.cpus.get(event.cpu) else {
            return Waking::unseen(at, comm, prio);
        };
        let (on, upon_idle) = (Some(event.cpu), event.context.tid.is_idle());
        let lets_go = self.lets_go_in_softirq(event, wake.tid);
        if let Some(firing) = cpu.firing.filter(|_| !lets_go) {
            let in_softirq = matches!(cpu.interrupt().map(|frame| frame.running), Some(Running::Softirq(_)));
            let current = event.context.tid;
            let expirer = Some(current).filter(|_| in_softirq && self.runs_softirqs(current));
            let cause = WakeCause::Timer { cpu: event.cpu, hard_due: firing.hard_due, expirer };
            return Waking { at, due: firing.due.min(at), cause, origin: None, on, upon_idle, comm, prio };
        }
        let interrupt = self.interrupt_that_wakes(event, comm);
        let cause = match interrupt.map(|(running, _)| running) {
            Some(Running::Irq(id)) => WakeCause::Irq(id),
            Some(Running::Softirq(vec)) => WakeCause::Softirq(vec),
            _ if lets_go => WakeCause::Thread(event.context.tid),
            _ if event.context.flags.in_interrupt() || event.context.tid.is_idle() => WakeCause::Unseen,
            _ if event.context.flags.contains(ContextFlags::BYSTANDER) => WakeCause::Unseen,
            _ if event.context.is_unknown() && !self.timeline.shows_handlers_upon(event.context.tid) => {
                WakeCause::Upon(event.context.tid)
            }
            _ => WakeCause::Thread(event.context.tid),
        };
        let mut origin = self.origin(at, event, interrupt);
        if let Some(Origin { kind: OriginKind::Softirq(TIMER), since, .. }) = &mut origin {
            // Its timeout was set as it went to sleep, and which tick it expired in does not show.
            let asleep = self.timeline.threads.get(wake.tid).and_then(Thread::since);
            *since = asleep.map_or(*since, |asleep| asleep.max(*since)).min(at);
        }
        Waking { at, due: origin.map_or(at, |origin| origin.since), cause, origin, on, upon_idle, comm, prio }
    }

    /// A thread reached the runqueue of `cpu` at `at`.
    pub(super) fn woken(&mut self, at: Ns, tid: Tid, cpu: Cpu, waking: &Waking) {
        self.woken_on(at, tid, cpu, waking);
        if !self.timeline.is_recorded(cpu) {
            self.leave_sight(at, tid);
        }
    }

    fn woken_on(&mut self, at: Ns, tid: Tid, cpu: Cpu, waking: &Waking) {
        let thread = self.timeline.threads.get_mut(tid);
        thread.note_release(at, waking.in_thread());
        match thread.state() {
            State::Blocked { wait, .. } => {
                let (wait, period) = self.waited_for(at, tid, wait, waking);
                let word = self.futex_of(tid, wait);
                let tries_again = self.timed_out(tid, word, waking.cause);
                let thread = self.timeline.threads.get_mut(tid);
                let since = thread.since().unwrap_or(at);
                let for_device = waking.of_device(wait, thread.comm());
                let waker = waking.waker(for_device).filter(|&waker| waker != tid);
                thread.history.correct(State::Blocked { wait, waker });
                // A timer that was not seen to be set is taken to be due when it is handled.
                let is_known = waking.origin.is_some() || self.timeline.seen.contains(Kind::HrtimerStart);
                if let Some(done) = waking.done_since(for_device).filter(|_| is_known) {
                    thread.slept_in.done(at, done);
                }
                if let Wait::Semaphore { owner: Some(owner) } = wait {
                    thread.gets(owner, word);
                }
                // It may have been woken for this wait on a CPU that was not recorded, and sleep for something else now.
                let certain = |thread| !self.timeline.may_be_out_of_sight(thread, since, at);
                let is_same = self.timeline.threads.get(tid).is_none_or(certain);
                let thread = self.timeline.threads.get_mut(tid);
                if thread.is_marked || (wait.continues() || tries_again) && is_same {
                    if let Some(word) = word.filter(|_| tries_again) {
                        thread.timeouts.push(Timeout { word, since, woken: at, cpu, waking: *waking });
                    }
                    if matches!(wait, Wait::Answer { .. } | Wait::Reply { .. }) {
                        self.note_call(tid, waking);
                    }
                    let thread = self.timeline.threads.get_mut(tid);
                    thread.take_over(waking);
                    thread.enter(at, State::Queued(cpu));
                } else {
                    self.split_at_timeouts(tid);
                    self.end(tid, Some(since).filter(|_| !wait.continues()), since);
                    let thread = self.begin(at, tid, cpu, waking, None);
                    thread.enter(at, State::Queued(cpu));
                    if let Some(open) = &mut thread.open {
                        open.slept_on = SleptOn::of(wait, word);
                        open.period = period.or(open.period);
                    }
                }
            }
            State::Running(_) if thread.is_marked => {}
            State::Running(on) => {
                thread.woken_on_cpu = Some(*waking);
                // A sleep whose time had come before the thread was off the CPU: it goes on at once.
                let own_timer = match waking.cause {
                    WakeCause::Timer { .. } => true,
                    WakeCause::Irq(id) => self.timeline.irqs.kind(id) == IrqKind::OwnTimer,
                    _ => false,
                };
                let sleeping = match thread.syscall {
                    Some(call) => SyscallTable::of_thread(self.syscalls, thread)
                        .is_none_or(|table| table.sleeps_relative(&call).is_some()),
                    // In no call at all it waits for a page, if for anything.
                    None => !thread.syscalls_recorded && thread.faulting.is_none(),
                };
                if own_timer && sleeping {
                    self.end(tid, Some(waking.at), waking.at);
                    self.begin(at, tid, on, waking, Some(at)).enter(at, State::Running(on));
                }
            }
            State::Queued(on) => {
                if on != cpu {
                    thread.enter(at, State::Queued(cpu));
                }
            }
            State::Unknown => {
                let since = thread.since().unwrap_or(at);
                self.end(tid, None, since);
                self.begin(at, tid, cpu, waking, None).enter(at, State::Queued(cpu));
            }
        }
    }

    /// True for the kernel's threads that do nothing but softirqs.
    pub(super) fn runs_softirqs(&self, tid: Tid) -> bool {
        let comm = self.timeline.threads.get(tid).map(|thread| thread.comm()).unwrap_or_default();
        runs_softirqs(comm.as_str())
    }

    /// A thread runs that was asleep as far as was seen: take the wake-up in now.
    pub(super) fn wake_unseen(&mut self, at: Ns, cpu: Cpu, tid: Tid) {
        let thread = self.timeline.threads.get_mut(tid);
        let unseen = Waking::unseen(at, thread.comm(), thread.priority());
        let as_it_ran = thread.woken_since();
        let noted = thread.waking.take().or(as_it_ran);
        let is_seen = noted.is_some();
        if !is_seen {
            self.timeline.unseen_wakeups += 1;
        }
        let waking = noted.unwrap_or(unseen);
        if as_it_ran.is_some() {
            self.slept_at_end(tid);
        }
        self.woken(waking.at, tid, cpu, &waking);
        let open = self.timeline.threads.get_mut(tid).open.as_mut();
        if let Some(open) = open.filter(|open| !is_seen && open.waking == at) {
            open.woken = None;
        }
    }
}
