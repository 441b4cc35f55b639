//! What a thread waits for: by its call as it goes to sleep, and by what wakes it.

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::model::irq_kind::is_timer;
use crate::timeline::activations::{Begin, WakeCause};
use crate::timeline::housekeeping::{does_requests, handles_interrupts, polls_network, serves_rcu};
use crate::timeline::irqs::IrqId;
use crate::timeline::origins::{HRTIMER, NET_RX, NET_TX, RCU, TIMER};
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::{Event, Kind, Symbol, TaskState};

/// A thread that faults and sleeps within this time sleeps because of the fault.
const FAULT_LEADS_TO_SLEEP: Ns = Ns::from_ms(1);

impl Engine<'_> {
    /// What a thread has slept for, by what woke it. Only that shows a period that a timeout of io_uring ends.
    #[inline]
    pub(super) fn slept_for(&mut self, tid: Tid, seemed: Wait, cause: WakeCause) -> Wait {
        let wait = self.refined(tid, seemed, cause);
        if matches!((seemed, wait), (Wait::Ring, Wait::Period)) {
            let thread = self.timeline.threads.get_mut(tid);
            thread.pacing.periods.note_wait(thread.since().unwrap_or_default(), wait);
        }
        match wait {
            Wait::Lock { owner: None } => self.handed_over(tid, cause),
            _ => wait,
        }
    }

    /// The same, by the sleep alone. A sleep on a device that another program's thread ended was a wait
    /// for what that thread held, or for what it does for others (FUSE). So is a wait for a semaphore in the middle of a period, where the thread seldom waits
    /// for one, or lets others go on by the same futex: what waits for messages does so in each activation, and only
    /// waits (`futexes`).
    #[inline]
    fn refined(&self, tid: Tid, wait: Wait, cause: WakeCause) -> Wait {
        match wait {
            Wait::Io if self.shows_its_sleep(tid) => wait,
            Wait::Semaphore { .. } | Wait::Io | Wait::Unsure => self.refined_by_cause(tid, wait, cause),
            Wait::Lock { owner: None } if self.is_own_timeout(cause) => self.timed_lock(tid).unwrap_or(wait),
            Wait::Ring => self.refined_by_ring(tid, cause),
            Wait::KernelLock { .. } if self.contends_percpu(tid) && self.ends_grace_period(cause) => {
                Wait::GracePeriod
            }
            // Whether that thread let it go, or an interrupt upon it did, does not show.
            Wait::KernelLock { owner: None } => match cause {
                WakeCause::Upon(_) if self.contends_percpu(tid) => Wait::Uninterruptible,
                WakeCause::Upon(waker) => Wait::KernelLock { owner: Some(waker) },
                _ => wait,
            },
            _ => wait,
        }
    }

    /// True of a thread that sleeps, and whose stack shows what for.
    fn shows_its_sleep(&self, tid: Tid) -> bool {
        let thread = self.timeline.threads.get(tid);
        thread
            .is_some_and(|thread| thread.since().is_some_and(|since| thread.slept_in.stack(since).is_some()))
    }

    /// What a thread slept for in io_uring_enter(2). Its own timeout, a request like others or that of the call, ends its period; a
    /// packet and another program's thread bring a message. The rest is left to devices, and to io_uring's own workers.
    #[cold]
    fn refined_by_ring(&self, tid: Tid, cause: WakeCause) -> Wait {
        let is_message = |waker: Tid| {
            let waker = self.timeline.threads.get(waker);
            waker.is_some_and(|waker| {
                polls_network(waker.comm().as_str()) || !waker.is_housekeeping() && !works_for_ring(waker)
            })
        };
        match cause {
            WakeCause::Timer { cpu, .. } => {
                let fired = self.timeline.cpus.get(cpu).and_then(|cpu| cpu.callbacks.back());
                match fired.is_none_or(|fired| ends_ring_wait(fired.function)) {
                    true => Wait::Period,
                    false => Wait::Io,
                }
            }
            WakeCause::Softirq(HRTIMER) => Wait::Period,
            WakeCause::Irq(id) if self.is_timer(id) => Wait::Period,
            WakeCause::Softirq(NET_RX | NET_TX) => Wait::Input,
            WakeCause::Thread(waker) if is_message(waker) => Wait::Input,
            WakeCause::Unseen | WakeCause::Upon(_) => Wait::Unsure,
            _ => self.refined_by_cause(tid, Wait::Io, cause),
        }
    }

    fn refined_by_cause(&self, tid: Tid, wait: Wait, cause: WakeCause) -> Wait {
        match (wait, cause) {
            (Wait::Semaphore { .. }, WakeCause::Thread(waker) | WakeCause::Upon(waker)) => {
                self.taken_for_a_lock(tid, wait, waker)
            }
            (Wait::Io, WakeCause::Thread(waker)) if self.waited_for_child(tid, waker) => Wait::Child,
            (Wait::Io, WakeCause::Thread(waker)) => {
                let origins = &self.timeline.origins;
                // It queued the item itself, or the device did when it was done.
                let since = self.timeline.threads.get(tid).and_then(Thread::since);
                let does_work_for_it = || {
                    origins
                        .work_of(waker)
                        .is_some_and(|work| work.by == Some(tid) || Some(work.since) >= since)
                };
                let waker_is = self.timeline.threads.get(waker);
                match waker_is.map(|waker| waker.comm()) {
                    // Its own requests, done by a thread of the file system or the driver.
                    Some(comm) if does_requests(comm.as_str()) => wait,
                    _ if self.shows_contention() && self.may_end_request(tid, waker) => wait,
                    // A thread that waits for a lock shows it, where that is recorded.
                    _ if waker_is.is_some_and(|waker| !waker.is_housekeeping()) => {
                        match self.shows_contention() {
                            true => Wait::Output,
                            false => Wait::KernelLock { owner: Some(waker) },
                        }
                    }
                    _ if self.ends_grace_period(cause) => Wait::GracePeriod,
                    _ if origins.ends_flush(waker) || does_work_for_it() => Wait::Work,
                    Some(_) if waker_is.is_some_and(expires_timers) => Wait::KernelTimer,
                    _ => wait,
                }
            }
            (Wait::Io, WakeCause::Timer { cpu, .. }) => {
                let fired = self.timeline.cpus.get(cpu).and_then(|cpu| cpu.callbacks.back());
                match fired.map(|callback| callback.function) {
                    Some(function) if function.as_str().starts_with("hrtimer_wakeup") => Wait::KernelTimer,
                    // A driver completes its requests so.
                    Some(function) if !function.is_empty() => wait,
                    _ => Wait::Uninterruptible,
                }
            }
            (Wait::Io, WakeCause::Softirq(TIMER | HRTIMER)) => Wait::KernelTimer,
            (Wait::Io, WakeCause::Softirq(RCU)) => Wait::GracePeriod,
            (Wait::Io, WakeCause::Irq(id)) if self.is_timer(id) => Wait::KernelTimer,
            (Wait::Io, WakeCause::Unseen | WakeCause::Upon(_)) => Wait::Uninterruptible,
            (Wait::Unsure, WakeCause::Thread(waker) | WakeCause::Upon(waker))
                if self.had_its_priority(tid, waker) =>
            {
                Wait::Semaphore { owner: Some((waker, Confidence::Medium)) }
            }
            (Wait::Unsure, WakeCause::Softirq(TIMER)) if self.sleeps_in_kernel(tid) => Wait::KernelTimer,
            // What it asked of a device by ioctl(2), as tcdrain(3) does, it needs in its period.
            (Wait::Unsure, WakeCause::Irq(id)) if !self.is_timer(id) && self.sleeps_in_kernel(tid) => {
                Wait::Io
            }
            (Wait::Unsure, WakeCause::Thread(waker))
                if self
                    .timeline
                    .threads
                    .get(waker)
                    .is_some_and(|waker| handles_interrupts(waker.comm().as_str()))
                    && self.sleeps_in_kernel(tid) =>
            {
                Wait::Io
            }
            (Wait::Unsure, WakeCause::Thread(waker))
                if self.timeline.threads.get(waker).is_some_and(expires_timers)
                    && self.sleeps_in_kernel(tid) =>
            {
                Wait::KernelTimer
            }
            _ => wait,
        }
    }

    /// True where what wakes a thread is RCU itself: it holds nothing. A grace period that is to be short, and one of SRCU, end in a work item
    /// (`wait_rcu_exp_gp()`, `kernel/rcu/tree_exp.h`; `srcu_invoke_callbacks()`, `kernel/rcu/srcutree.c`).
    fn ends_grace_period(&self, cause: WakeCause) -> bool {
        const ITEMS: [&str; 2] = ["wait_rcu_exp_gp", "srcu_invoke_callbacks"];
        match cause {
            WakeCause::Softirq(RCU) => true,
            WakeCause::Thread(waker) => {
                let item = self.timeline.origins.function_of(waker);
                let waker = self.timeline.threads.get(waker);
                waker.is_some_and(|waker| serves_rcu(waker.comm().as_str()))
                    || item
                        .is_some_and(|function| ITEMS.iter().any(|item| function.as_str().starts_with(item)))
            }
            _ => false,
        }
    }

    /// True of a thread that contends for a lock whose writer waits for a grace period.
    fn contends_percpu(&self, tid: Tid) -> bool {
        let contending = self.timeline.threads.get(tid).and_then(|thread| thread.contending);
        contending.is_some_and(|contention| contention.is_percpu)
    }

    /// True of what ends a sleep at a time that its own call has set.
    fn is_own_timeout(&self, cause: WakeCause) -> bool {
        match cause {
            WakeCause::Timer { .. } => true,
            WakeCause::Irq(id) => self.is_timer(id),
            _ => false,
        }
    }

    fn is_timer(&self, id: IrqId) -> bool {
        is_timer(self.timeline.irqs.get(id).1.as_str())
    }

    /// True where a thread with periods of its own slept in the work of one, in a call that waits for nothing by design, as
    /// ioctl(2): `msleep_interruptible()` in a driver (`kernel/time/sleep_timeout.c`).
    fn sleeps_in_kernel(&self, tid: Tid) -> bool {
        let Some(thread) = self.timeline.threads.get(tid) else { return false };
        let unknown = SyscallTable::call_of(self.syscalls, thread)
            .is_some_and(|(call, table)| table.wait(call, TaskState::Interruptible) == Wait::Unsure);
        unknown && is_in_period(thread) && thread.pacing.periods.are_by_sleeps()
    }

    /// A function of the stack behind an event. Behind the switch of a thread that goes to sleep uninterruptibly it shows what for.
    #[cold]
    pub(super) fn sleeps_in(&mut self, event: &Event, function: Symbol) {
        let leaving = self.timeline.cpus.get(event.cpu).and_then(|cpu| cpu.leaving);
        let Some(leaving) = leaving.filter(|leaving| leaving.tid == event.context.tid) else { return };
        let thread = self.timeline.threads.get_mut(leaving.tid);
        let asleep =
            matches!(thread.state(), State::Blocked { wait, .. } if wait != Wait::Unsure && wait.continues());
        let Some(since) = thread.since().filter(|since| asleep && *since == leaving.since) else { return };
        if let Some(wait) = thread.slept_in.frame(since, function)
            && matches!(thread.state(), State::Blocked { wait: Wait::Io | Wait::Uninterruptible, .. })
        {
            thread.history.correct(State::Blocked { wait, waker: None });
        }
    }

    /// True where a thread that waits for a kernel's lock shows it.
    fn shows_contention(&self) -> bool {
        self.records_contention || self.timeline.seen.contains(Kind::Contention)
    }

    /// True where a thread slept in a call that writes data, and the thread that woke it was not seen to be one of a program: a
    /// driver's own thread has done the write (`delay_bio`, `drivers/md/dm-delay.c`). To read a file is different: a program
    /// that serves it (FUSE) ends that sleep, too.
    fn may_end_request(&self, tid: Tid, waker: Tid) -> bool {
        const KTHREADD: Tid = Tid(2);
        let Some(thread) = self.timeline.threads.get(tid) else { return false };
        let call = SyscallTable::call_of(self.syscalls, thread);
        let writes = call.is_some_and(|(call, table)| table.writes_data(call));
        writes
            && self.timeline.threads.get(waker).is_some_and(|waker| {
                let is_forked = waker.forked_by.is_some_and(|parent| parent != KTHREADD);
                !waker.is_housekeeping() && !waker.syscalls_recorded && !waker.has_executed && !is_forked
            })
    }

    /// True where a thread waited in the call by which it started a child: without the flags of that call, for the child itself.
    fn waited_for_child(&self, tid: Tid, waker: Tid) -> bool {
        let Some(thread) = self.timeline.threads.get(tid) else { return false };
        let Some((call, table)) = SyscallTable::call_of(self.syscalls, thread) else { return false };
        let is_child = || self.timeline.threads.get(waker).is_some_and(|waker| waker.forked_by == Some(tid));
        table.waits_for_child(call).unwrap_or_else(is_child)
    }
}

/// What a thread waits for that goes to sleep now.
pub(super) fn why_asleep(
    table: Option<&SyscallTable>,
    at: Ns,
    thread: &Thread,
    lent_priority_to: Option<Tid>,
    state: TaskState,
) -> Wait {
    let deep = state == TaskState::Uninterruptible;
    if thread.contending.is_some_and(|contention| deep || !contention.is_semaphore) {
        let by_futex = thread
            .syscall
            .as_ref()
            .zip(table)
            .is_some_and(|(call, table)| table.is_futex(call) || table.waits_on(call).is_some());
        return match by_futex {
            true => Wait::Lock { owner: None },
            false => Wait::KernelLock { owner: None },
        };
    }
    if let Some(owner) = lent_priority_to {
        return Wait::Lock { owner: Some(owner) };
    }
    if let (Some(call), Some(table)) = (&thread.syscall, table) {
        return match table.wait(call, state) {
            // A program serves the file system (FUSE). To open a FIFO is to wait for its other end, and may be a thread's period.
            Wait::Output if table.works_on_files(call) => {
                match is_in_period(thread) && thread.pacing.periods.are_by_sleeps() {
                    true => Wait::Output,
                    false => Wait::Unsure,
                }
            }
            // A program whose periods are those in which another one reads waits for the next one here.
            Wait::Output if !(is_in_period(thread) && thread.pacing.periods.writes_in_periods()) => {
                Wait::Input
            }
            // What it has asked of a device in its period, it needs in its period.
            Wait::Input if table.awaits_requests(call) && is_in_period(thread) => Wait::Io,
            Wait::Input if table.awaits_ring(call) && is_in_period(thread) => Wait::Ring,
            // So it does what a child does for it. A shell's loop waits for `sleep`: its periods are that child's.
            Wait::Input
                if table.awaits_child(call)
                    && is_in_period(thread)
                    && thread.pacing.periods.are_by_sleeps() =>
            {
                Wait::Child
            }
            Wait::Semaphore { owner: None } | Wait::Input | Wait::Unsure
                if thread.crossings.is_in_handler() =>
            {
                Wait::Handler
            }
            wait => wait,
        };
    }
    let faulted = thread
        .faulting
        .is_some_and(|fault| thread.syscalls_recorded || (deep && at - fault < FAULT_LEADS_TO_SLEEP));
    match (faulted, deep) {
        (true, _) => Wait::Fault,
        (false, true) => Wait::Io,
        (false, false) => Wait::Unsure,
    }
}

/// True of the callbacks with which io_uring's timeouts and the timeouts of its waits expire (`io_uring/timeout.c`,
/// `io_uring/io_uring.c`); not of `io_link_timeout_fn`, by which a request to a device has taken too long.
fn ends_ring_wait(callback: Symbol) -> bool {
    const CALLBACKS: [&str; 3] = ["hrtimer_wakeup", "io_timeout_fn", "io_cqring_"];
    callback.is_empty() || CALLBACKS.iter().any(|begin| callback.as_str().starts_with(begin))
}

/// True of the threads in which io_uring does requests (`io_uring/io-wq.c`, `io_uring/sqpoll.c`).
fn works_for_ring(thread: &Thread) -> bool {
    thread.comm().as_str().starts_with("iou-")
}

/// True of the threads of PREEMPT_RT in which timers expire.
fn expires_timers(thread: &Thread) -> bool {
    thread.comm().as_str().starts_with("ktimer")
}

/// True in the work after a timer of the thread's own.
fn is_in_period(thread: &Thread) -> bool {
    thread.open.as_ref().is_some_and(|open| matches!(open.begin, Begin::Woken(WakeCause::Timer { .. })))
}
