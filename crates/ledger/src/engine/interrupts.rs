//! Interrupts and timers: entries, exits, expiries and how late they were.

use super::Engine;
use super::faults::LONGEST_FAULT;
use super::syscall_table::SyscallTable;
use crate::model::culprit::irq_of_thread;
use crate::model::irq_kind::IrqKind;
use crate::timeline::activations::WakeCause;
use crate::timeline::armed::is_own_timer;
use crate::timeline::clocks::Reading;
use crate::timeline::cpus::Frame;
use crate::timeline::housekeeping::is_kernel_handler;
use crate::timeline::irqs::IrqId;
use crate::timeline::lengths::Lengths;
use crate::timeline::running::Running;
use crate::timeline::silences::{LONG_SILENCE, LONG_SILENCE_OF_GUEST, Silence};
use crate::timeline::sleeps::Wait;
use crate::timeline::slew::Expired;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::timers::{ArmedTimer, Callback, Firing, LateTimer};
use crate::timeline::waking::Waking;
use whylate_base::{Cpu, CpuSet, Ns, SchedClass, Tid};
use whylate_events::{ContextFlags, Event, EventKind, HrtimerExpiry, HrtimerStart, Kind, Symbol};

/// A timer is late when its interrupt began this long after its expiry; hardware is never exact.
const LATE: Ns = Ns::from_us(20);
/// CLOCK_MONOTONIC and the others that are decades away from it.
const SAME_CLOCK: Ns = Ns::from_secs(1);
/// Two readings of one clock in two interrupts are nearer than this.
const FAR_APART: Ns = Ns::from_secs(3600);
/// An interrupt that began longer ago than this has done other work before it looked at its timers.
const LONGEST_ENTRY: Ns = Ns::from_us(20);
/// An interrupt that was shorter until a timer's callback began read the timers' clock just before that.
const AT_ONCE: Ns = Ns::from_us(100);

/// A wait without a timeout arms a timer as well, in some kernels (`KTIME_MAX`).
const NEVER: Ns = Ns(i64::MAX);

/// Silence in a handler is an exception if it takes so many times as long as the handler usually does in all.
const MANY_TIMES_THE_USUAL: i64 = 20;

/// A busy CPU has a tick at least each 10 ms (`CONFIG_HZ`), which is seen where interrupts are.
const LONGER_THAN_A_TICK: Ns = Ns::from_ms(10);

/// Between its timers' callbacks, which are traced, the timer interrupt has some microseconds of work.
pub(super) const LONGEST_SILENCE: Ns = Ns::from_us(100);

impl Engine<'_> {
    /// Notes that an interrupt or a softirq did nothing from `last` on, for longer than it ever does: the CPU was taken
    /// from it. So it was from a thread on the way into its sleep, and `in_wakeup`.
    #[cold]
    pub(super) fn note_silence(&mut self, last: Ns, at: Ns, cpu: Cpu, in_wakeup: bool) {
        if self.may_lack_ticks(last, at, cpu) {
            return;
        }
        let is_text = self.timeline.is_text;
        let stands_still = self.timeline.stands_still();
        let Some(timeline) = self.timeline.cpus.get_mut(cpu) else { return };
        timeline.without_events = Some((last, at));
        if is_text && timeline.switches == 0 && at - last >= LONGER_THAN_A_TICK {
            timeline.unshown.push_back((last, at));
        }
        if at - last >= LONG_SILENCE && !timeline.records_ends {
            timeline.leave_timer(last);
        }
        if timeline.idle_function == Some(last) {
            timeline.sleeps.push_back((last, at));
        }
        let guest = self.timeline.hypervisor == Some(true);
        let may_be_guest = self.timeline.hypervisor != Some(false);
        let long = if may_be_guest { LONG_SILENCE_OF_GUEST } else { LONG_SILENCE };
        let in_wakeup = in_wakeup && guest && at - last >= long;
        let exceptional = |usual: Lengths| {
            at - last >= long && usual.are_shorter_than(Ns((at - last).0 / MANY_TIMES_THE_USUAL))
        };
        let current =
            timeline.current().filter(|_| timeline.interrupt().is_none() && at - last >= LONG_SILENCE);
        if let Some(tid) = current {
            if works_like_a_handler(self.timeline.threads.get_mut(tid), last, exceptional) {
                timeline.fall_silent(Silence { from: last, to: at, is_sure: false, in_wakeup });
            }
            if let Some(returned) = self.is_silent_in_sleep(tid)
                && let Some(timeline) = self.timeline.cpus.get_mut(cpu)
            {
                match returned {
                    true => timeline.idle_ways.goes_to_sleep((last, at, tid)),
                    false => timeline.idle_ways.may_return((last, at, tid)),
                }
            }
            return;
        }
        let handler = timeline.interrupt().map(|frame| frame.running);
        // Only where callbacks are seen is what is not seen no work: without hrtimers the tick is not traced.
        let traced = timeline.callbacks.back();
        let is_tick =
            |callback: &Callback| stands_still && at - last >= LONG_SILENCE && is_tick(callback.function);
        let only_wakes = |callback| {
            timeline.firing.is_none() || only_wakes(callback, at - last, guest) || is_tick(callback)
        };
        let is_own_timer = |id: IrqId| self.timeline.irqs.kind(id) == IrqKind::OwnTimer;
        let in_own_timer = matches!(handler, Some(Running::Irq(id)) if is_own_timer(id));
        let no_work = in_own_timer && traced.is_some_and(only_wakes);
        // Where callbacks are not traced, one may have had the CPU as well as the host.
        let in_doubt = in_own_timer && traced.is_none() && guest && at - last >= LONG_SILENCE;
        if (no_work || in_wakeup) && at - last >= LONG_SILENCE {
            self.timeline.standstills += 1;
        }
        let unusual = match handler {
            Some(Running::Irq(id)) => exceptional(self.timeline.irqs.usual(id)),
            Some(Running::Softirq(vec)) => {
                self.timeline.softirqs.usual(vec).is_some_and(|usual| exceptional(*usual))
            }
            _ => false,
        };
        if no_work || unusual || in_wakeup || in_doubt {
            let is_sure = no_work || ((unusual || in_wakeup) && (guest || at - last >= LONG_SILENCE));
            timeline.fall_silent(Silence { from: last, to: at, is_sure, in_wakeup });
        }
    }

    /// True of an event that ends a wake-up which began on its CPU: from `sched_waking` to `sched_wakeup` interrupts are disabled
    /// (`try_to_wake_up()`, `kernel/sched/core.c`). It waits for locks that other CPUs hold for a moment, and has no other work.
    pub(super) fn ends_wakeup(&self, event: &Event) -> bool {
        let EventKind::Wakeup { wake, .. } = &event.kind else { return false };
        let waking = self.timeline.threads.get(wake.tid).and_then(|thread| thread.waking);
        waking.is_some_and(|waking| waking.on == Some(event.cpu))
    }

    /// No event happened on the CPU of `tid` for long. Where it was in a call that sleeps, and had nothing to do but to leave the CPU, or to
    /// return from the call: whether it had returned from the sleep before.
    fn is_silent_in_sleep(&mut self, tid: Tid) -> Option<bool> {
        let thread = self.timeline.threads.get_mut(tid);
        let call = SyscallTable::call_of(self.syscalls, thread);
        let sleeps = call.is_some_and(|(call, table)| table.is_sleep(call.nr));
        let open = thread.open.as_ref().filter(|_| sleeps)?;
        self.timeline.standstills += 1;
        Some(open.returned)
    }

    /// Notes how long a handler took that ended on a CPU at `at`.
    fn handled(&mut self, at: Ns, on: Cpu, handler: Frame) {
        let length = at - handler.start;
        match handler.running {
            Running::Irq(id) => self.timeline.irqs.took(id, length),
            Running::Softirq(vec) => {
                let run = self.timeline.origins.softirq_on(on, vec);
                let by = run.and_then(|run| run.raise).map(|raise| raise.by);
                self.timeline.softirqs.took(on, vec, length, by);
            }
            _ => {}
        }
    }

    /// `nmi_handler`: a handler has run for `delta` (`nmi_handle`, `arch/x86/kernel/nmi.c`). Nothing else is traced on its
    /// CPU meanwhile.
    #[cold]
    pub(super) fn nmi(&mut self, at: Ns, on: Cpu, delta: Ns) {
        let Some(cpu) = self.timeline.cpus.get_mut(on) else { return };
        let last = cpu.last_event.unwrap_or(at);
        let began = (at - delta).clamp(last.min(at), at);
        // The time that it took is not a silence of what it interrupted.
        cpu.last_event = Some(at);
        if began - last > LONGEST_SILENCE {
            self.note_silence(last, began, on, false);
        }
        if let Some(cpu) = self.timeline.cpus.get_mut(on)
            && began < at
        {
            cpu.nmi(began, at);
        }
    }

    pub(super) fn interrupt(&mut self, at: Ns, event: &Event) {
        let Some(cpu) = self.timeline.cpus.get_mut(event.cpu) else { return };
        let origins = &mut self.timeline.origins;
        let mut enter = |running| {
            cpu.enter(at, running, false);
            None
        };
        let ended = match event.kind {
            EventKind::IrqEntry { irq, name } => {
                let id = self.timeline.irqs.id(Some(irq), name);
                if !self.timeline.seen.contains(Kind::Switch) {
                    self.timeline.recurring.interrupt(at, event.cpu, id);
                }
                // What comes upon its own thread is done in the same go: that thread was woken for one before.
                let comm = self.timeline.threads.get(event.context.tid).map(|thread| thread.comm());
                let comm = comm.filter(|comm| comm.as_bytes().starts_with(b"irq/"));
                let is_upon_own =
                    comm.is_some_and(|comm| irq_of_thread(comm.as_str()).is_some_and(|(own, _)| own == irq));
                if !is_upon_own {
                    origins.handler(id, at, event.cpu);
                }
                enter(Running::Irq(id))
            }
            EventKind::VectorEntry { name } => enter(Running::Irq(self.timeline.irqs.id(None, name))),
            EventKind::SoftirqEntry { vec } => {
                origins.softirq_begins(event.cpu, vec);
                if !self.timeline.seen.contains(Kind::Switch) {
                    self.timeline.pending.begins(at, event.cpu, vec, event.context.tid);
                }
                enter(Running::Softirq(vec))
            }
            EventKind::IrqExit { irq } => {
                let irqs = &self.timeline.irqs;
                cpu.exit(at, |running| matches!(running, Running::Irq(id) if irqs.get(id).0 == Some(irq)))
            }
            EventKind::VectorExit { name } => {
                let id = self.timeline.irqs.id(None, name);
                cpu.exit(at, |running| running == Running::Irq(id))
            }
            EventKind::SoftirqExit { vec } => {
                origins.softirq_ends(event.cpu, vec, event.context.tid);
                cpu.exit(at, |running| running == Running::Softirq(vec))
            }
            _ => None,
        };
        match ended {
            Some(handler) => self.handled(at, event.cpu, handler),
            None => self.ends_unseen(at, event),
        }
    }

    /// A handler ends, and its entry was not seen. Where all events of the CPU show that it was in an interrupt, it had the CPU
    /// since the first of them.
    fn ends_unseen(&mut self, at: Ns, event: &Event) {
        let Some(cpu) = self.timeline.cpus.get_mut(event.cpu) else { return };
        if cpu.in_handler_since.is_none() {
            return;
        }
        let irqs = &mut self.timeline.irqs;
        let handler = match event.kind {
            EventKind::IrqExit { irq } => Running::Irq(irqs.of_line(irq)),
            EventKind::VectorExit { name } => Running::Irq(irqs.id(None, name)),
            EventKind::SoftirqExit { vec } => Running::Softirq(vec),
            _ => return,
        };
        cpu.exit_unseen(at, handler);
        // Below an interrupt there may be a softirq.
        let goes_on =
            event.context.flags.contains(ContextFlags::SOFTIRQ) && matches!(handler, Running::Irq(_));
        cpu.in_handler_since = Some(at).filter(|_| goes_on);
    }

    /// A timer was started.
    pub(super) fn arm(&mut self, at: Ns, event: &Event, start: &HrtimerStart) {
        let in_interrupt = event.context.flags.in_interrupt()
            || self.timeline.cpus.get(event.cpu).is_some_and(|cpu| cpu.interrupt().is_some());
        let by = Some(event.context.tid).filter(|tid| !in_interrupt && !tid.is_idle());
        let armed = ArmedTimer { softexpires: start.softexpires, expires: start.expires, armed: at, by };
        if let Some(before) = self.timeline.timers.arm(start.hrtimer, armed) {
            self.is_removed(at, event.cpu, &before);
        }
        if self.timeline.is_text && is_tick(start.function) {
            self.note_tick(at, event.cpu, (start.hrtimer, start.expires));
        }
        let Some(tid) = by.filter(|_| start.softexpires < NEVER) else { return };
        if ends_sleep(start.function) {
            self.sleeps(at, tid, start.softexpires);
        } else if is_own_timer(start.function) && self.is_asked_for(at) {
            let timer = (start.hrtimer, start.function);
            self.timeline.threads.get_mut(tid).own_timers.program(timer, at, start.softexpires);
        }
    }

    /// A timer was stopped.
    pub(super) fn cancel(&mut self, at: Ns, on: Cpu, hrtimer: u64) {
        if let Some(cpu) = self.timeline.cpus.get_mut(on) {
            cpu.tick.take_if(|tick| tick.hrtimer == hrtimer);
        }
        if let Some(armed) = self.timeline.timers.disarm(hrtimer) {
            self.is_removed(at, on, &armed);
        }
    }

    /// A timer that has not expired is taken off the queue of a CPU: the hardware is programmed for the next one.
    fn is_removed(&mut self, at: Ns, on: Cpu, armed: &ArmedTimer) {
        let Some(cpu) = self.timeline.cpus.get_mut(on).filter(|_| armed.expires < NEVER) else { return };
        let is_near = (at - armed.expires).0.unsigned_abs() < SAME_CLOCK.0.unsigned_abs();
        let offset = if is_near { Ns::ZERO } else { self.timeline.timer_clocks.of(armed.expires, at) };
        cpu.slew.removes(at, armed.expires + offset);
    }

    /// When a timer is due that is armed at `at`, by the clock of the trace as far as it is known.
    pub(super) fn on_trace_clock(&self, expires: Ns, at: Ns) -> Ns {
        let offset = if self.monotonic { Ns::ZERO } else { self.timeline.timer_clocks.of(expires, at) };
        expires + offset
    }

    /// A thread programs a sleep. Where a program was started to sleep once, as a shell starts sleep(1), it is the sleep
    /// of the thread that waits for its end.
    fn sleeps(&mut self, at: Ns, tid: Tid, expires: Ns) {
        let is_asked_for = self.is_asked_for(at);
        let instant = self.on_trace_clock(expires, at);
        let thread = self.timeline.threads.get_mut(tid);
        thread.crossings.sleeps_until(instant);
        // It goes on with a sleep in which it was stopped.
        if let Some(sleep) = &mut thread.stopped_in_sleep {
            sleep.over = Some(instant).filter(|over| *over <= at);
        }
        if is_asked_for {
            thread.pacing.program(at, expires);
            let call = SyscallTable::call_of(self.syscalls, thread);
            let until = call.and_then(|(call, table)| table.sleeps_relative(call)) == Some(false);
            if until && self.monotonic {
                thread.due_instants.program(at, expires);
            }
        }
        let Some(waiter) = thread.started_by.take().filter(|_| thread.has_executed) else { return };
        let parent = self.timeline.threads.get_mut(waiter);
        if is_asked_for && matches!(parent.state(), State::Blocked { .. }) {
            parent.pacing.program(at, expires);
            self.timeline.threads.get_mut(tid).pacing.is_for(waiter);
        }
    }

    /// A timer's callback begins.
    pub(super) fn fire(&mut self, at: Ns, on: Cpu, expiry: &HrtimerExpiry) {
        self.timeline.quota.fire(at, expiry);
        let in_kernel = self.in_kernel(at, on);
        let Some(cpu) = self.timeline.cpus.get_mut(on) else { return };
        let in_softirq = matches!(cpu.interrupt().map(|frame| frame.running), Some(Running::Softirq(_)));
        // The interrupt reads the timers' clock when it begins, once for all it then finds expired.
        let interrupt = cpu.hard_interrupt().filter(|_| !in_softirq);
        let began = interrupt.map_or(at, |frame| frame.start);
        let first_of_interrupt = cpu.timers_read.is_none_or(|(now, _)| now != expiry.now);
        if first_of_interrupt {
            cpu.timers_read_before = cpu.timers_read.replace((expiry.now, at));
        }
        let offset = match (self.monotonic, first_of_interrupt) {
            (true, _) if (at - expiry.now).0.unsigned_abs() < SAME_CLOCK.0.unsigned_abs() => Ns::ZERO,
            (steady, true) => {
                let reading = match interrupt.is_some() && at - began < AT_ONCE {
                    true if steady => Reading::AtSteadily,
                    true => Reading::At,
                    false => Reading::Before,
                };
                self.timeline.timer_clocks.pair(expiry.now, began.max(at - LONGEST_ENTRY), reading)
            }
            (_, false) => self.timeline.timer_clocks.of(expiry.now, at),
        };
        let on_trace_clock = |expires: Ns| (expires + offset).min(at);
        let read = on_trace_clock(expiry.now);
        cpu.slew.looks(read);
        let armed = self.timeline.timers.disarm(expiry.hrtimer);
        // Which thread a tick hits, to arm the next one, is chance.
        let armed_by = armed.and_then(|armed| armed.by).filter(|_| !is_of_scheduler(expiry.function));
        if let Some(ArmedTimer { softexpires, by: Some(by), .. }) =
            armed.filter(|_| ends_sleep(expiry.function))
            && let Some(waiter) = self.timeline.threads.get_mut(by).pacing.expire(softexpires)
        {
            self.timeline.threads.get_mut(waiter).pacing.expire(softexpires);
        }
        if let Some(ArmedTimer { softexpires, by: Some(by), .. }) = armed
            && is_own_timer(expiry.function)
        {
            let timer = (expiry.hrtimer, expiry.function);
            self.timeline.threads.get_mut(by).own_timers.expire(timer, at, softexpires);
        }
        let armed = armed.filter(|armed| {
            // The interrupt before ran all that had expired by then. What it left had not, so this
            // timer was armed again, and that was not recorded.
            !cpu.timers_read_before.is_some_and(|(now, read)| {
                let same_clock = (expiry.now - now).0.unsigned_abs() < FAR_APART.0.unsigned_abs();
                same_clock && !in_softirq && armed.armed < read && armed.expires < now
            })
        });
        // Where events were lost since, a timer that seems late may have been cancelled or have fired there, and have
        // been armed again; one that is on time is still the same.
        // So it is with the timer of a thread that may have been on a CPU that was not recorded, and where the events of few threads are.
        let (losses, threads) = (&self.timeline.losses, &self.timeline.threads);
        let recorded_cpus = self.timeline.recorded_cpus.as_ref();
        let is_chosen = self.timeline.contexts.may_be_chosen();
        let lost = |armed: &ArmedTimer| {
            let within = |recorded: &CpuSet| {
                let owner = armed.by.and_then(|tid| threads.get(tid));
                owner.is_none_or(|owner| owner.affinity.stays_within(armed.armed, at, recorded))
            };
            is_chosen || losses.any_between(None, armed.armed, at) || !recorded_cpus.is_none_or(within)
        };
        let armed = armed
            .filter(|armed| read - on_trace_clock(armed.expires).max(armed.armed) < LATE || !lost(armed));
        let (due, hard_due) = match armed {
            Some(armed) => {
                let (due, hard_due) = (on_trace_clock(armed.softexpires), on_trace_clock(armed.expires));
                // A timer that was armed for the past fires at once: that is not lateness.
                let could_fire = hard_due.max(armed.armed);
                let late = expiry.now - armed.expires;
                let timer = Expired { armed: armed.armed, due: hard_due, late };
                let slew = match in_softirq {
                    true => None,
                    false => cpu.slew.expires(timer, self.timeline.clock_adjusted),
                };
                if slew.is_some() {
                    cpu.are_slewed(read, slew);
                }
                if read - could_fire >= LATE && !in_softirq {
                    let silence =
                        cpu.without_events.filter(|(from, to)| *from < could_fire && could_fire <= *to);
                    let silent_since = silence.map_or(could_fire, |(from, _)| from);
                    let late = LateTimer { due: could_fire, handled: read, silent_since, in_kernel, slew };
                    cpu.late_timers.push_back(late);
                    // User code cannot disable interrupts.
                    if in_kernel == Some(false) && slew.is_none() && read - could_fire >= LONG_SILENCE {
                        self.timeline.standstills += 1;
                    }
                }
                (due, hard_due.max(due))
            }
            None => (read, read),
        };
        if cpu.interrupt().is_none() {
            let id = self.timeline.irqs.stand_in();
            cpu.enter(at, Running::Irq(id), true);
        }
        cpu.firing = Some(Firing { due, hard_due });
        cpu.callbacks.push_back(Callback { start: at, end: None, function: expiry.function, armed_by });
        if let Some(tid) = armed_by.filter(|_| expiry.function.as_str().starts_with("dl_task_timer")) {
            self.replenish(at, tid, due, WakeCause::Timer { cpu: on, hard_due, expirer: None });
        }
    }

    /// The timer with which a SCHED_DEADLINE thread waits for its next period expires: it is put on its runqueue, and no
    /// event shows that (`dl_task_timer`, `kernel/sched/deadline.c`).
    fn replenish(&mut self, at: Ns, tid: Tid, due: Ns, cause: WakeCause) {
        let thread = self.timeline.threads.get_mut(tid);
        let (comm, prio) = (thread.comm(), thread.priority());
        let waits = matches!(thread.state(), State::Blocked { wait: Wait::Period, .. });
        // A server's timer has the same callback.
        if waits && prio.class() == SchedClass::Deadline {
            thread.waking = Some(Waking { due: due.min(at), cause, ..Waking::unseen(at, comm, prio) });
        }
    }

    /// Whether the thread on a CPU is in the kernel now; `None` when its system calls are not recorded, and after a page
    /// fault, the end of which is not traced: the kernel disables interrupts where it takes many pages at once.
    fn in_kernel(&self, at: Ns, cpu: Cpu) -> Option<bool> {
        let current = self.timeline.cpus.get(cpu)?.current()?;
        let thread = self.timeline.threads.get(current)?;
        if thread.is_housekeeping() {
            Some(true)
        } else if thread.faulting.is_some_and(|fault| at - fault <= LONGEST_FAULT) {
            None
        } else {
            thread.syscalls_recorded.then_some(thread.syscall.is_some())
        }
    }
}

/// True of the callback of a timer that ends a sleep, as far as the recording shows callbacks.
fn ends_sleep(function: Symbol) -> bool {
    function.is_empty() || function.as_str().starts_with("hrtimer_wakeup")
}

/// True of a callback that cannot take as long as `silence`: all that `hrtimer_wakeup` (`kernel/time/hrtimer.c`) does is to
/// wake a thread. On hardware it may have to wait for the lock of a runqueue.
fn only_wakes(callback: &Callback, silence: Ns, guest: bool) -> bool {
    (guest || silence >= LONG_SILENCE) && callback.function.as_str().starts_with("hrtimer_wakeup")
}

/// True of the callback of a CPU's own tick (`kernel/time/tick-sched.c`): it counts time, in some microseconds.
fn is_tick(function: Symbol) -> bool {
    const CALLBACKS: [&str; 2] = ["tick_sched_timer", "tick_nohz_handler"];
    CALLBACKS.iter().any(|begin| function.as_str().starts_with(begin))
}

/// True of the timers with which the scheduler looks after a CPU, in whatever thread they are armed: the tick, and that of HRTICK
/// (`kernel/sched/core.c`).
fn is_of_scheduler(function: Symbol) -> bool {
    is_tick(function) || function.as_str().starts_with("hrtick")
}

/// True of an interrupt's or NAPI's thread, or one that runs softirqs, whose time on the CPU up to `now` is an exception among
/// its latest ones.
fn works_like_a_handler(thread: &Thread, now: Ns, is_exception: impl Fn(Lengths) -> bool) -> bool {
    let comm = thread.comm();
    if !is_kernel_handler(comm.as_str()) {
        return false;
    }
    let mut usual = Lengths::default();
    thread.history.runs_before(now).for_each(|run| usual.add(run));
    is_exception(usual)
}
