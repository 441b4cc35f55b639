//! What any event shows by its context: the thread that has the CPU. And what a loss takes away.

use super::Engine;
use super::interrupts::LONGEST_SILENCE;
use crate::model::is_stand_in;
use crate::timeline::activations::{Begin, Open};
use crate::timeline::cpus::{IrqsOffSample, Leaving};
use crate::timeline::housekeeping::runs_softirqs;
use crate::timeline::losses::Loss;
use crate::timeline::standing::ReschedSample;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Cpu, Ns, Policy, Priority, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, Fact, Kind, KindSet, leads_to_idle};

/// From the event of a switch to the switch itself it is some microseconds, more where a stack is saved.
const LONGEST_SWITCH: Ns = Ns::from_ms(1);
/// The same where an event does not show that interrupts are off: a later one may be of the thread when it is back.
const LONGEST_SWITCH_UNFLAGGED: Ns = Ns::from_us(50);

/// Flags that show more than which thread is current.
const TELLING: ContextFlags =
    ContextFlags(ContextFlags::NMI.0 | ContextFlags::HARDIRQ.0 | ContextFlags::NEED_RESCHED.0);

/// True of an event on the way from `sched_switch` to the next thread: a stack trace, a flush of the TLB, a synthetic
/// event. It still has the thread before as its context. Interrupts are off there, and there are no system calls,
/// wake-ups or interrupts.
fn is_of_switch(leaving: &Leaving, at: Ns, event: &Event) -> bool {
    let Context { tid, flags, .. } = event.context;
    let possible = matches!(
        event.kind,
        EventKind::Other
            | EventKind::StackFrame { .. }
            | EventKind::Function { .. }
            | EventKind::FunctionEntry { .. }
            | EventKind::FunctionExit { .. }
            | EventKind::HrtimerStart(_)
            | EventKind::HrtimerCancel { .. }
            | EventKind::ContentionBegin { .. }
            | EventKind::ContentionEnd { .. }
            | EventKind::Noise(_)
            | EventKind::CpuCall(_)
            | EventKind::CpuFrequency { .. }
            | EventKind::Nmi { .. }
    );
    let in_interrupt = flags.in_interrupt() && !flags.contains(ContextFlags::NMI);
    let longest = if flags.irqs_off() { LONGEST_SWITCH } else { LONGEST_SWITCH_UNFLAGGED };
    possible
        && leaving.tid == tid
        && at - leaving.since <= longest
        && !in_interrupt
        && (flags.irqs_off() || !leaving.shows_irqs_off)
}

/// True of an event that only the kernel makes in a thread's context: in no system call, it is still at the thread's fault. At its end an
/// interrupt wakes the threads that run softirqs, upon any code (`invoke_softirq()`, `kernel/softirq.c`).
fn is_of_kernel(kind: &EventKind) -> bool {
    match kind {
        EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => !runs_softirqs(wake.comm.as_str()),
        EventKind::Work(_) | EventKind::ContentionBegin { .. } | EventKind::ContentionEnd { .. } => true,
        _ => false,
    }
}

/// True of an event without flags that does not happen in an interrupt.
fn is_outside_interrupts(event: &Event) -> bool {
    event.context.is_unknown()
        && matches!(
            event.kind,
            EventKind::Switch(_)
                | EventKind::SyscallEnter(_)
                | EventKind::SyscallExit(_)
                | EventKind::PageFault(_)
        )
}

/// True of a thread that runs on a CPU or is queued there.
fn is_on(thread: &Thread, cpu: Cpu) -> bool {
    matches!(thread.state(), State::Running(on) | State::Queued(on) if on == cpu)
}

impl Engine<'_> {
    /// The idle task is on its way to sleep.
    pub(super) fn idle_function(&mut self, at: Ns, event: &Event, name: &str) {
        let Context { tid, flags, .. } = event.context;
        if tid.is_idle()
            && !flags.in_interrupt()
            && leads_to_idle(name)
            && let Some(cpu) = self.timeline.cpus.get_mut(event.cpu)
        {
            cpu.idle_function = Some(at);
        }
    }

    /// Takes in the current thread. Where another one was expected, a switch was not seen: the thread is taken to
    /// have the CPU from here.
    #[inline(always)] // At each event, from one place.
    pub(super) fn sight(&mut self, at: Ns, event: &Event) {
        if self.timeline.is_text && matches!(event.kind, EventKind::Switch(_)) {
            self.may_lack_exit(at, event.cpu);
        }
        let Some(mut cpu) = self.timeline.cpus.get_mut(event.cpu) else { return };
        if event.context.flags.contains(ContextFlags::BYSTANDER) {
            return;
        }
        let last = cpu.last_event.replace(at).unwrap_or(at);
        if cpu.firing.is_some() && is_outside_interrupts(event) {
            cpu.leave_timer(last);
        }
        // Most events are of the thread that the CPU is known to run, outside of interrupts and soon after the last one.
        let is_plain = !event.context.flags.intersects(TELLING)
            && !cpu.in_hardirq
            && cpu.in_handler_since.is_none()
            && cpu.faulting.is_none()
            && cpu.current() == Some(event.context.tid)
            && !event.context.tid.is_idle()
            && at - last <= LONGEST_SILENCE
            && self.scheduler_clock.is_known();
        if is_plain {
            cpu.leaving = None;
            return;
        }
        self.timeline.contexts.note(event);
        if !event.context.flags.contains(ContextFlags::NMI) {
            cpu.in_handler_since = match event.context.flags.in_interrupt() {
                true if cpu.current().is_none() => Some(at),
                true => cpu.in_handler_since,
                false => None,
            };
            let was_in_hardirq = cpu.in_hardirq;
            cpu.in_hardirq = event.context.flags.contains(ContextFlags::HARDIRQ);
            if was_in_hardirq && !cpu.in_hardirq && !event.context.is_unknown() {
                cpu.shows_ends = true;
                cpu.leave_timer(last);
            }
        }
        if self.scheduler_clock.steps(at, at - last) {
            self.timeline.bandwidth.counts_finely();
        }
        if at - last > LONGEST_SILENCE {
            let in_wakeup = self.ends_wakeup(event);
            self.note_silence(last, at, event.cpu, in_wakeup);
            let Some(again) = self.timeline.cpus.get_mut(event.cpu) else { return };
            cpu = again;
        }
        // An interrupt comes upon the fault, which goes on after it.
        if let Some(tid) = cpu.faulting.take_if(|_| !event.context.flags.in_interrupt()) {
            let is_fault = matches!(event.kind, EventKind::PageFault(_));
            let thread = self.timeline.threads.get_mut(tid);
            let goes_on = event.context.tid == tid
                && thread.syscalls_recorded
                && thread.syscall.is_none()
                && is_of_kernel(&event.kind);
            if let Some(open) = &mut thread.open {
                match goes_on {
                    true => open.still_in_fault(at),
                    false => open.after_fault(at, is_fault),
                }
            }
            if goes_on {
                cpu.faulting = Some(tid);
            }
        }
        let context = event.context;
        let is_current = cpu.current() == Some(context.tid);
        if is_current {
            cpu.leaving = None;
        } else if let Some(leaving) = cpu.leaving.filter(|leaving| is_of_switch(leaving, at, event)) {
            cpu.note_switch(leaving.since, at);
            return;
        }
        if context.flags.contains(ContextFlags::NEED_RESCHED) && !context.flags.in_interrupt() {
            // The scheduler's own events always have interrupts off, and show nothing of the thread.
            let of_scheduler = matches!(
                event.kind,
                EventKind::Switch(_)
                    | EventKind::Waking(_)
                    | EventKind::Wakeup { .. }
                    | EventKind::Migrate { .. }
                    | EventKind::PiSetprio { .. }
                    | EventKind::BlockedReason(_)
            );
            if !of_scheduler {
                let irqs_off = context.flags.irqs_off();
                cpu.irqs_off_samples.push_back(IrqsOffSample { at, tid: context.tid, irqs_off });
            }
        }
        if context.flags.contains(ContextFlags::NEED_RESCHED) && context.flags.in_interrupt() {
            let others = ContextFlags::SOFTIRQ | ContextFlags::SOFTIRQS_OFF | ContextFlags::NMI;
            let is_preemptible = context.preempt_depth == Some(0) && !context.flags.intersects(others);
            let item = || self.timeline.origins.function_of(context.tid);
            let item = is_preemptible.then(item).flatten();
            let entered = cpu.interrupt().map_or(at, |frame| frame.start);
            let sample = ReschedSample { at, entered, tid: context.tid, is_preemptible, item };
            cpu.resched_in_interrupts.push_back(sample);
        }
        // Settling down to sleep again, or stopping its tick for it (an event of no type here). One that is to yield leaves its loop.
        let settles = matches!(event.kind, EventKind::CpuIdle { state: Some(_) } | EventKind::Other)
            && !context.flags.contains(ContextFlags::NEED_RESCHED);
        if settles && context.tid.is_idle() && cpu.interrupt().is_none() {
            cpu.idle_signs.push_back(at);
        }
        if !is_current {
            self.appear(at, last, event.cpu, context.tid);
        }
    }

    /// A thread is found on a CPU without having been seen to get there. What the CPU ran since its `last` event
    /// before is not known.
    pub(super) fn appear(&mut self, at: Ns, last: Ns, cpu: Cpu, tid: Tid) {
        let Some(timeline) = self.timeline.cpus.get_mut(cpu) else { return };
        let before = timeline.current();
        if let Some(before) = before {
            // Where the text itself leaves open which thread came, its switch away is no other one.
            timeline.unseen_switches += u64::from(!is_stand_in(before));
            timeline.unseen_until = Some(at);
            timeline.lose_sight(last);
        }
        let thread = self.timeline.threads.get_mut(tid);
        // The wake-up that it is about to take over may be the first to show one, or that none is known.
        let woken_as = thread.waking.filter(|_| thread.shown_priority().is_none()).map(|waking| waking.prio);
        timeline.sight(at, tid, woken_as.unwrap_or_else(|| thread.priority()));
        if !tid.is_idle() {
            self.may_have_come(before.map(|_| last), cpu, tid);
            self.found(at, cpu, tid);
        }
        if let Some(before) = before.filter(|before| !before.is_idle()) {
            let thread = self.timeline.threads.get_mut(before);
            if thread.state() == State::Running(cpu) {
                thread.enter(last, State::Unknown);
            }
        }
    }

    /// A thread that was last seen on a CPU has left it, and that was not seen.
    pub(super) fn vanish(&mut self, at: Ns, on: Cpu, tid: Tid) {
        // Threads that the recording cannot name have one id: on two CPUs they are two.
        let Some(cpu) = self.timeline.cpus.get_mut(on).filter(|_| !is_stand_in(tid)) else { return };
        let last = cpu.last_event.unwrap_or(at);
        if cpu.current() == Some(tid) {
            cpu.unseen_switches += 1;
            cpu.unseen_until = Some(at);
            cpu.lose_sight(last);
        }
        self.timeline.threads.get_mut(tid).enter(last, State::Unknown);
    }

    /// A thread that was queued on a CPU is on another one, and no migration was recorded: it may not have been there
    /// when the CPU seemed to pass it over.
    fn was_not_passed_over(&mut self, on: Cpu, tid: Tid) {
        let window = self.timeline.windows.open_on(on).filter(|window| window.passed_over == tid);
        if let Some(start) = window.map(|window| window.start) {
            self.timeline.close_window(on, start);
        }
    }

    /// A thread that waited on another CPU is found on this one, of which the switch to it was not recorded: it may have run
    /// here for as long as nothing is known of this CPU, since its `last` event.
    fn may_have_come(&mut self, last: Option<Ns>, cpu: Cpu, tid: Tid) {
        let thread = self.timeline.threads.get_mut(tid);
        let State::Queued(on) = thread.state() else { return };
        let Some(since) = thread.since().filter(|_| on != cpu) else { return };
        thread.enter(last.map_or(since, |last| last.max(since)), State::Unknown);
        self.was_not_passed_over(on, tid);
    }

    /// A thread runs, and how it came to was not seen.
    pub(super) fn found(&mut self, at: Ns, cpu: Cpu, tid: Tid) {
        let mut thread = self.timeline.threads.get_mut(tid);
        if let State::Running(on) | State::Queued(on) = thread.state()
            && on != cpu
        {
            match thread.state() {
                State::Running(_) => self.vanish(at, on, tid),
                _ => self.was_not_passed_over(on, tid),
            }
            thread = self.timeline.threads.get_mut(tid);
        }
        if thread.waits_unseen() {
            self.wake_unseen(at, cpu, tid);
            thread = self.timeline.threads.get_mut(tid);
        }
        if thread.state() != State::Running(cpu) {
            thread.enter(at, State::Running(cpu));
        }
        // One that has exited may be preempted on its way off the CPU (`do_exit()`, `kernel/exit.c`).
        if (thread.is_marked || thread.lifetime.is_over(at)) && thread.open.is_none() {
            return;
        }
        let open = thread.open.get_or_insert_with(|| Open::new(Begin::TraceStart, at, at));
        open.running.get_or_insert(at);
        open.cpu.get_or_insert(cpu);
        open.ran_on.get_or_insert(cpu);
    }

    /// Events were lost on a CPU up to `at`, of a buffer whose last event before was at `since`. Events of another buffer may
    /// have shown threads meanwhile, but not the switches between them.
    pub(super) fn lost(&mut self, at: Ns, cpu: Cpu, since: Option<Ns>, is_cut: bool) {
        let Some(timeline) = self.timeline.cpus.get_mut(cpu) else { return };
        // A buffer that went round has lost what was before its first event. A text that is cut there shows no other events of that CPU.
        let begins = timeline.last_event.is_none() && !(is_cut && self.timeline.is_text);
        let from = timeline.lose(at);
        let from = self.timeline.first.filter(|_| begins).unwrap_or(from);
        timeline.last_event = Some(at);
        timeline.faulting = None;
        self.timeline.origins.lose(cpu);
        self.timeline.losses.add(Loss { cpu, from: since.map_or(from, |since| since.min(from)), to: at });
        self.timeline.close_window(cpu, from);
        for tid in self.timeline.threads.active_ids(|thread| is_on(thread, cpu)) {
            let woken = self.timeline.threads.get(tid).and_then(Thread::since);
            match woken.filter(|_| begins) {
                // It may have run there since, and slept again.
                Some(woken) => self.leave_sight(woken, tid),
                None => self.timeline.threads.get_mut(tid).lose(from),
            }
        }
    }

    /// Counts a loss that is in the part of the trace that is asked for.
    pub(super) fn count_loss(&mut self, at: Ns, cpu: Cpu, since: Option<Ns>, count: Option<u64>) {
        let Some(scope) = self.scope.as_ref().filter(|scope| scope.has_cpu(cpu)) else { return };
        let last = self.timeline.cpus.get(cpu).and_then(|timeline| timeline.last_event);
        if scope.overlaps(since.or(last).unwrap_or(at), at) {
            self.timeline.losses.asked_for.losses += 1;
            self.timeline.losses.asked_for.events += count.unwrap_or(0);
        }
    }

    /// True when a buffer without switches lost events after `since`, and another of the same CPU did not.
    pub(super) fn others_went_on(&self, cpu: Cpu, since: Ns, kinds: KindSet) -> bool {
        let last = self.timeline.cpus.get(cpu).and_then(|timeline| timeline.last_event);
        !kinds.is_empty() && !kinds.contains(Kind::Switch) && last.is_some_and(|last| last > since)
    }

    /// The buffer with system calls and page faults lost events in `from..at`; the scheduler's did not.
    pub(super) fn partly_lost(&mut self, from: Ns, at: Ns, cpu: Cpu) {
        let Some(timeline) = self.timeline.cpus.get_mut(cpu) else { return };
        timeline.faulting = None;
        self.timeline.losses.add_partial(Loss { cpu, from, to: at });
        for tid in self.timeline.threads.active_ids(|thread| is_on(thread, cpu)) {
            let thread = self.timeline.threads.get_mut(tid);
            thread.syscall = None;
            thread.contending = None;
        }
    }

    /// Takes in a fact that the recording carries as a marker of the thread `of`.
    pub(super) fn fact(&mut self, at: Ns, of: Tid, text: &str) {
        match Fact::parse(text) {
            Some(Fact::Policy { tid, policy, priority, comm }) => {
                let thread = self.timeline.threads.get_mut(tid);
                thread.set_policy(at, policy);
                if thread.comm().is_empty() {
                    thread.assume_name(comm);
                }
                let prio = match policy {
                    Policy::Deadline => Some(Priority(-1)),
                    Policy::Fifo | Policy::Rr => Some(Priority::realtime(priority as i32)),
                    _ => None,
                };
                if let Some(prio) = prio {
                    thread.set_priority(at, prio);
                }
            }
            Some(Fact::RtRuntimeUs(us)) => self.timeline.bandwidth.set_runtime_us(at, us),
            Some(Fact::RtPeriodUs(us)) if us > 0 => {
                self.timeline.bandwidth.set_period(at, Ns::from_us(us));
            }
            Some(Fact::RtGroupSched(on)) => self.timeline.bandwidth.set_group_sched(at, on),
            Some(Fact::FairServerNs(ns)) => self.timeline.bandwidth.set_fair_server(at, ns),
            Some(Fact::Hypervisor(on)) => self.timeline.hypervisor = Some(on),
            Some(Fact::Affinity { tid, cpus }) => self.timeline.threads.get_mut(tid).affinity.recorded(cpus),
            Some(Fact::Workload { tid }) => self.timeline.threads.get_mut(tid).is_command = true,
            Some(Fact::RecordedCpus(cpus)) => {
                let recorded = self.timeline.recorded_cpus.get_or_insert_default();
                cpus.iter().for_each(|cpu| recorded.insert(cpu));
            }
            Some(Fact::TaintedModule { name, taints }) => self.timeline.foreign_modules.add(name, taints),
            Some(Fact::Callback { name }) => self.callback(at, of, name),
            Some(Fact::Isolated(_) | Fact::RtPeriodUs(_) | Fact::PreemptRt(_)) | None => {}
        }
    }
}
