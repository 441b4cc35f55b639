//! Switches and migrations: what moves a thread from state to state, and where its activations begin and end.
//! Wake-ups are in `wakeups`, inheritance in `inheritance`.

use super::Engine;
use super::faults::LONGEST_FAULT;
use super::prev_states::state_of;
use super::settings::shows_given_priority;
use super::syscall_table::SyscallTable;
use super::waits::why_asleep;
use crate::timeline::abi::Abi;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::cpus::{CpuTimeline, Leaving};
use crate::timeline::links::Link;
use crate::timeline::origins::OriginKind;
use crate::timeline::quota::LONG_WAIT;
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::waking::Waking;
use crate::timeline::windows::{MOVED_AT_ONCE, Window};
use whylate_base::{Cpu, Ns, Priority, SchedClass, Tid};
use whylate_events::{Event, Switch, TaskState};

impl Engine<'_> {
    /// A thread is on a CPU that was not recorded: what it does from here on is not known, nor when it is done.
    pub(super) fn leave_sight(&mut self, at: Ns, tid: Tid) {
        self.end(tid, None, at);
        self.timeline.threads.get_mut(tid).enter(at, State::Unknown);
    }

    /// The scheduler chose the idle task or a thread that comes later by the rules: the threads that seem to wait on this CPU and may use
    /// CPUs that were not recorded have been taken there.
    #[cold]
    fn drop_absent(&mut self, at: Ns, cpu: Cpu, switch: &Switch) {
        let chosen = switch.next_prio;
        let comes_first = |own: Priority| {
            let is_ahead =
                own.class() < chosen.class() || own.class() == SchedClass::Realtime && own.outranks(chosen);
            switch.next_tid.is_idle() || is_ahead
        };
        let absent = |thread: &Thread| {
            thread.state() == State::Queued(cpu)
                && comes_first(thread.priority())
                && thread
                    .since()
                    .is_some_and(|since| since < at && self.timeline.may_be_out_of_sight(thread, since, at))
        };
        for tid in self.timeline.threads.active_ids(absent) {
            let since = self.timeline.threads.get(tid).and_then(Thread::since);
            self.leave_sight(since.unwrap_or(at), tid);
        }
    }

    /// An activation of a thread begins; returns that.
    pub(super) fn begin(
        &mut self,
        at: Ns,
        tid: Tid,
        cpu: Cpu,
        waking: &Waking,
        running: Option<Ns>,
    ) -> &mut Thread {
        self.note_call(tid, waking);
        let thread = self.timeline.threads.get_mut(tid);
        thread.take_over(waking);
        if thread.is_marked {
            return self.timeline.threads.get_mut(tid);
        }
        self.open(at, tid, cpu, waking, running)
    }

    /// The same, whose name and priority are known.
    pub(super) fn open(
        &mut self,
        at: Ns,
        tid: Tid,
        cpu: Cpu,
        waking: &Waking,
        running: Option<Ns>,
    ) -> &mut Thread {
        let first = self.timeline.first.unwrap_or(at);
        let thread = self.timeline.threads.get_mut(tid);
        thread.timeouts.clear();
        thread.crossings.begins();
        // A period that began before the last activation ended is late from its own beginning on,
        // but never reaches back beyond the one before.
        let mut earliest = thread.last_due.unwrap_or(first).max(first);
        let goes_on =
            matches!(thread.state(), State::Blocked { wait: Wait::Stopped { .. } | Wait::Handler, .. });
        if let Some(sleep) = thread.stopped_in_sleep.filter(|_| !goes_on) {
            thread.stopped_in_sleep = None;
            earliest = earliest.min(sleep.since);
        }
        // One packet makes a thread due once: what it is woken for again came with that (GRO), and was sent later.
        let is_again =
            |kind| matches!(kind, OriginKind::Packet { .. }) && thread.last_due == Some(waking.due);
        let due = match waking.origin.is_some_and(|origin| is_again(origin.kind)) {
            true => waking.at,
            false => waking.due,
        };
        let due = due.max(earliest).min(at);
        let began_fair = !thread.priority().is_realtime();
        // Without events of timers, its call shows what the thread slept for, and that an interrupt woke it.
        let ends_period = match waking.cause {
            WakeCause::Timer { .. } => true,
            WakeCause::Thread(_) | WakeCause::Upon(_) => false,
            _ => matches!(thread.state(), State::Blocked { wait: Wait::Period, .. }),
        };
        let errand = self.errand(tid, waking);
        self.note_begin(tid, waking);
        self.note_producer(tid, waking);
        let thread = self.timeline.threads.get_mut(tid);
        let open = thread.open.insert(Open::new(Begin::Woken(waking.cause), due, waking.at.max(due)));
        open.woken = Some(at);
        open.running = running;
        open.cpu = Some(cpu);
        open.began_fair = began_fair;
        open.awake = waking.awake();
        open.period = Some(due).filter(|_| ends_period);
        open.errand = errand;
        open.origin = waking.origin.filter(|_| due < waking.at).map(Box::new);
        thread.last_due = Some(due);
        self.link(|| Link::Began { tid });
        self.timeline.threads.get_mut(tid)
    }

    /// `sched_switch`
    pub(super) fn switch(&mut self, at: Ns, event: &Event, switch: &Switch) {
        let cpu = event.cpu;
        let read;
        let switch = match self.prev_states.read(switch) {
            prev_state if prev_state == switch.prev_state => switch,
            prev_state => {
                read = Switch { prev_state, ..*switch };
                &read
            }
        };
        if self.timeline.cpus.get(cpu).and_then(|timeline| timeline.current()) != Some(switch.prev_tid) {
            self.appear(at, at, cpu, switch.prev_tid);
        }
        if !switch.prev_tid.is_idle() {
            self.leave(at, cpu, switch);
        }
        self.watch_bandwidth(at, cpu, switch);
        if self.timeline.recorded_cpus.is_some() {
            self.drop_absent(at, cpu, switch);
        }
        if let Some(timeline) = self.timeline.cpus.get_mut(cpu) {
            if let Some(Running::Softirq(vec)) = timeline.interrupt().map(|frame| frame.running)
                && !switch.prev_tid.is_idle()
            {
                self.timeline.origins.preempted(cpu, vec, switch.prev_tid);
            }
            timeline.switch(at, switch.next_tid, switch.next_prio);
            if switch.prev_state == TaskState::Dead {
                timeline.deaths.push_back((at, switch.prev_tid, switch.prev_prio));
            }
            timeline.leaving = Some(Leaving {
                tid: switch.prev_tid,
                since: at,
                shows_irqs_off: event.context.flags.irqs_off(),
            });
        }
        if !switch.next_tid.is_idle() {
            let mut thread = self.timeline.threads.get_mut(switch.next_tid);
            thread.rename(at, switch.next_comm);
            shows_given_priority(thread, at, switch.next_prio);
            let is_same = thread.priority() == switch.next_prio && thread.inherits_from.is_none();
            if is_same || self.records_inheritance {
                thread.set_priority(at, switch.next_prio);
            } else {
                self.set_or_inherit(at, switch);
                thread = self.timeline.threads.get_mut(switch.next_tid);
            }
            // A fault in which it was preempted may go on.
            thread.faulting = thread.faulting.filter(|fault| at - *fault <= LONGEST_FAULT);
            let in_fault = std::mem::take(&mut thread.sleeps_in_fault);
            // Once it was queued here, the scheduler chose no other before it: an idle CPU was idle since then, unless it has just been
            // seen to be without the thread that it ran before.
            if switch.prev_tid.is_idle()
                && let (State::Queued(on), Some(since)) = (thread.state(), thread.since())
                && on == cpu
                && let Some(timeline) = self.timeline.cpus.get_mut(cpu)
                && timeline.unseen_until != Some(at)
            {
                timeline.was_idle_since(since, at);
            }
            if let (State::Queued(_), Some(since)) = (thread.state(), thread.since())
                && at - since >= LONG_WAIT
                && switch.next_prio.class() == SchedClass::Fair
            {
                thread.long_waits.note(at, self.timeline.quota.last_between(since, at));
            }
            self.found(at, cpu, switch.next_tid);
            if in_fault {
                // It wakes inside the fault's handler, which goes on as after the fault itself.
                self.in_fault(at, cpu, switch.next_tid, 0);
            }
        }
    }

    /// A thread leaves the CPU.
    fn leave(&mut self, at: Ns, cpu: Cpu, switch: &Switch) {
        let thread = self.timeline.threads.get_mut(switch.prev_tid);
        if let (Some(unshown), Some(asked)) = (thread.priority_unshown.take(), thread.policy_asked) {
            // It leaves in a call that gives it the priority of this switch, and not the one that a call gave it before.
            if let Some(history) = self.timeline.cpus.get_mut(cpu) {
                history.forget_priority(unshown, switch.prev_tid, thread.priority());
            }
            thread.policy_changed = Some(asked);
        }
        if !thread.is_shown_as(switch.prev_comm, switch.prev_prio) {
            let history = self.timeline.cpus.get_mut(cpu);
            let since = changed_while_running(thread, history, at, switch);
            // What a signal showed of it meanwhile is of this time, too; it may have given up its priority behind that.
            let thread = &*thread;
            let overruns = self.timeline.rt_overruns.iter_mut().rev();
            for overrun in overruns.take_while(|overrun| overrun.at >= since) {
                if overrun.tid == switch.prev_tid {
                    overrun.comm = switch.prev_comm;
                    overrun.priority = thread.own_priority_at(overrun.at);
                }
            }
        }
        if let Some(exited) = thread.open.as_ref().and_then(|open| open.exited) {
            self.end(switch.prev_tid, Some(exited), exited);
        }
        let thread = self.timeline.threads.get_mut(switch.prev_tid);
        thread.policy_changed = None;
        thread.may_be_idle = self.prev_states.may_be_idle(switch);
        let lent_priority_to = thread.lent_priority_to.take();
        match state_of(switch, lent_priority_to) {
            TaskState::Runnable if yields(self.syscalls, thread, switch) => {
                thread.enter(at, State::Blocked { wait: Wait::Period, waker: None });
            }
            TaskState::Runnable | TaskState::Preempted => {
                let call = SyscallTable::call_of(self.syscalls, thread);
                let sleeps = call.is_some_and(|(call, table)| table.is_sleep(call.nr));
                if let (Some(since), Some(open)) = (thread.since(), &mut thread.open)
                    && sleeps
                    && !open.returned
                {
                    open.sleeps_slowly_if_it_returns(since, at);
                }
                thread.enter(at, State::Queued(cpu));
            }
            TaskState::Dead => {
                thread.enter(at, State::Unknown);
                thread.ended = true;
                self.dies(at, switch.prev_tid);
                self.end(switch.prev_tid, Some(at), at);
            }
            state @ (TaskState::Stopped | TaskState::Traced) => self.stops(at, switch.prev_tid, state),
            state => {
                if let (Some(native), Some(call)) = (self.syscalls, &thread.syscall)
                    && state == TaskState::Interruptible
                    && native.shows_32_bit(call)
                {
                    thread.abi = Abi::Of32Bit;
                }
                let table = SyscallTable::of_thread(self.syscalls, thread);
                let wait = why_asleep(table, at, thread, lent_priority_to, state);
                thread.pacing.periods.note_wait(at, wait);
                let word = thread.syscall.as_ref().zip(table).and_then(|(call, table)| table.waits_on(call));
                if !wait.continues() {
                    thread.futexes.sleeps(word);
                }
                if thread.gives_up(wait, word) {
                    self.split_at_timeouts(switch.prev_tid);
                }
                let thread = self.timeline.threads.get_mut(switch.prev_tid);
                thread.enter(at, State::Blocked { wait, waker: None });
                thread.faulting = None;
                if let (Wait::Fault, Some(open)) = (wait, &mut thread.open) {
                    open.sleeps_in_fault(at);
                    thread.sleeps_in_fault = true;
                }
                self.note_other_lock(at, switch.prev_tid, word);
            }
        }
    }

    /// `sched_migrate_task`
    pub(super) fn migrate(&mut self, at: Ns, event: &Event, tid: Tid, (from, to): (Cpu, Cpu)) {
        let thread = self.timeline.threads.get_mut(tid);
        // Woken on an idle CPU, it would stay there (`select_task_rq_rt()`, `select_idle_sibling()`): it may not any more.
        let is_woken = matches!(thread.state(), State::Blocked { .. });
        if is_woken && event.cpu == from && event.context.tid.is_idle() {
            thread.affinity.change(at);
        }
        let State::Queued(from) = thread.state() else { return };
        thread.enter(at, State::Queued(to));
        let moved = |window: &&mut Window| window.passed_over == tid && at - window.start < MOVED_AT_ONCE;
        if let Some(start) = self.timeline.windows.open_on(from).filter(moved).map(|window| window.start) {
            self.timeline.close_window(from, start);
        }
        if !self.timeline.is_recorded(to) {
            self.leave_sight(at, tid);
        }
    }
}

/// A thread's name or priority is new as it leaves the CPU; returns when it was switched in.
///
/// A name is taken to be so since then. So is a priority that rises: what it rose over did not delay it. One that falls
/// does so as the thread leaves, for the scheduler looks for another thread at once (`__sched_setscheduler`,
/// `kernel/sched/syscalls.c`). Where the call that changed it was seen, it changed there.
#[cold]
fn changed_while_running(
    thread: &mut Thread,
    history: Option<&mut CpuTimeline>,
    at: Ns,
    switch: &Switch,
) -> Ns {
    let ran = matches!(thread.state(), State::Running(_));
    let since = thread.since().filter(|_| ran).unwrap_or(at);
    thread.rename(since, switch.prev_comm);
    let falls = thread.shown_priority().is_some_and(|shown| shown.outranks(switch.prev_prio));
    let otherwise = if falls { at } else { since };
    let changed = thread.policy_changed.filter(|&called| called >= since).unwrap_or(otherwise);
    let old = Running::Task(thread.tid, thread.priority());
    if let Some(history) = history {
        history.correct(changed, old, Running::Task(switch.prev_tid, switch.prev_prio));
    }
    if ran && falls && !switch.prev_prio.is_realtime() {
        thread.lifetime.stepped_down = Some(changed);
    }
    thread.set_priority(changed, switch.prev_prio);
    since
}

/// True of a SCHED_DEADLINE thread that gives up what is left of its runtime until its next period (sched_yield(2)),
/// which ends its work like a sleep. It stays runnable by name, as a thread does whose runtime is used up. Where system
/// calls were not recorded, the two look the same, and the one that accuses no thread is taken.
fn yields(native: Option<&'static SyscallTable>, thread: &Thread, switch: &Switch) -> bool {
    let called = match SyscallTable::call_of(native, thread) {
        Some((call, table)) => Some(table.yields(call)),
        _ if thread.syscalls_recorded => Some(false),
        _ => None,
    };
    let gives_way = switch.next_tid.is_idle() || switch.next_prio.class() != SchedClass::Deadline;
    switch.prev_prio.class() == SchedClass::Deadline && called.unwrap_or(gives_way)
}
