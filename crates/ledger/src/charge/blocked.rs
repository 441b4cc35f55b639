//! The time a thread slept in the middle of its work: a lock, a device, a driver's delay, a page.
//!
//! A lock's time is charged to what its owner did. The thread that wakes a waiter is the one that releases the lock,
//! so the owner's life is followed backwards through the wait, and through the owner's own waits.

use super::attribution::Charge;
use super::charger::Charger;
use super::notes::{VerdictNote, let_go_in};
use super::precedence::{Contender, Relation};
use super::queue::ORDINARY_DISPATCH;
use crate::causes::Cause;
use crate::model::Culprit;
use crate::timeline::housekeeping::{does_requests, is_kernel_handler, is_kworker, is_of_kernel};
use crate::timeline::running::Running;
use crate::timeline::sleeps::{Asked, Wait};
use crate::timeline::states::State;
use crate::timeline::stops::stop_name;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Evidence, Ns, Tid};
use whylate_events::BlockedReason;

/// A chain of owners longer than this is a cycle.
const LONGEST_CHAIN: usize = 16;
/// From a wake-up until the thread is on a runqueue, on another CPU as well.
pub(super) const LONGEST_WAKE_UP: Ns = Ns::from_us(200);
/// What a shorter sleep was in is no evidence.
const NOTABLE_SLEEP: Ns = Ns::from_us(100);

impl<'t> Charger<'t> {
    /// Charges up to `to` a sleep that was ended by `waker`.
    pub(super) fn blocked(&mut self, wait: Wait, waker: Option<Tid>, to: Ns) {
        self.note_stack(to);
        let slept_in = self.victim.slept_in.reason(self.at);
        let slept_in = slept_in.filter(|(ended, _)| {
            *ended <= to + LONGEST_WAKE_UP && matches!(wait, Wait::Io | Wait::Uninterruptible)
        });
        let handled = self.late_handler(self.victim, wait, waker, to);
        let until = handled.map_or(to, |(_, since)| since);
        if matches!(wait, Wait::Io | Wait::Uninterruptible) {
            self.before_own_item(until);
        }
        match slept_in {
            Some((_, reason)) => self.slept_in(&reason, until),
            None => self.asleep(wait, waker, until),
        }
        if let Some((handler, _)) = handled {
            self.behind_handler(handler, to);
        }
    }

    /// The kernel's thread that handled the interrupt or the softirq of a device or a timer, by which the sleep of a thread ended, and
    /// since when it was to: where it waited for a CPU for longer than usual.
    pub(super) fn late_handler(
        &self,
        sleeper: &Thread,
        wait: Wait,
        waker: Option<Tid>,
        to: Ns,
    ) -> Option<(&'t Thread, Ns)> {
        let waker = waker.filter(|_| matches!(wait, Wait::Io | Wait::KernelTimer))?;
        let timeline = self.timeline;
        let handler =
            timeline.threads.get(waker).filter(|thread| is_kernel_handler(thread.comm_at(to).as_str()))?;
        let stays = handler.history.between(self.at, to);
        let asleep =
            stays.iter().rposition(|stay| !matches!(stay.state, State::Queued(_) | State::Running(_)));
        let (_, awake) = stays.split_at(asleep.map_or(0, |last| last + 1));
        let queued = awake.iter().filter(|stay| matches!(stay.state, State::Queued(_)));
        let waited: Ns = queued.map(|stay| stay.to - stay.from).sum();
        // It may have been woken for another device or timer, before.
        let done = sleeper.slept_in.done_since(self.at).filter(|(ended, _)| *ended <= to + LONGEST_WAKE_UP);
        let since = done.map_or(Ns::ZERO, |(_, since)| since).max(awake.first()?.from);
        (waited > ORDINARY_DISPATCH && since < to).then_some((handler, since))
    }

    pub(super) fn asleep(&mut self, wait: Wait, waker: Option<Tid>, to: Ns) {
        let by_stack = self.victim.slept_in.stack(self.at).is_some();
        let wait = match wait {
            Wait::Io if !by_stack && self.sleeps_on() => Wait::Uninterruptible,
            _ => wait,
        };
        match wait {
            Wait::Lock { owner } => {
                let owner = waker.or(owner);
                if self.is_of_kernel(owner, to) {
                    self.note_kernel_lock(self.at, to);
                }
                self.note_other_lock(to);
                self.follow(owner, to, 0);
            }
            Wait::TimedLock { owner } => {
                let text = format!("its own timeout ended the wait, after {}", to - self.at);
                self.notes.push(VerdictNote::Note(Evidence::at(self.at, self.cpu, text)));
                self.note_other_lock(to);
                // Who had it until then is known by other waits alone.
                self.at_most(Confidence::Medium, |charger| charger.follow(Some(owner), to, 0));
            }
            Wait::KernelLock { owner } => {
                self.note_kernel_lock(self.at, to);
                // Only who woke it shows an owner from the start: it may have been another thing that the waker owed.
                let most = if owner.is_some() { Confidence::Medium } else { Confidence::High };
                self.at_most(most, |charger| charger.follow(waker.or(owner), to, 0));
            }
            Wait::Semaphore { owner: Some((owner, confidence)) } => {
                self.note_other_lock(to);
                // It may have been a message that the other thread owed.
                self.at_most(confidence, |charger| charger.follow(Some(owner), to, 0));
            }
            Wait::Answer { from, asked } => {
                // Of a device, the kernel's thread that takes the answer is the last that had to run for it.
                let last = waker.filter(|_| asked == Asked::Device);
                self.note_answer((from, asked), last.unwrap_or(from), to);
                self.own_wait(wait, Some(from), to);
            }
            Wait::Reply { .. } => {
                if let Some(from) = waker {
                    self.note_reply(from, to);
                }
                self.own_wait(wait, waker, to);
            }
            Wait::Child => {
                if let Some(child) = waker {
                    self.note_child(child, to);
                }
                self.own_wait(wait, waker, to);
            }
            Wait::Output | Wait::Handler => self.own_wait(wait, waker, to),
            Wait::Work => self.behind_work(waker, to),
            Wait::Io | Wait::Uninterruptible if self.does_its_requests(waker, to) => {
                // It may have done others of them before.
                self.at_most(Confidence::Medium, |charger| charger.behind_requests(waker, to));
            }
            Wait::Io | Wait::Uninterruptible if self.is_behind_kworker(waker, to) => {
                // Which item it did for the thread is not recorded.
                self.at_most(Confidence::Medium, |charger| charger.behind_work(waker, to));
            }
            Wait::Io if by_stack => self.charge(to, Charge::to(Cause::BlockIo, None, Confidence::High)),
            Wait::Io => {
                let confidence = if self.note_kworker(waker) { Confidence::Low } else { Confidence::Medium };
                self.charge(to, Charge::to(Cause::BlockIo, None, confidence));
            }
            // Most such sleeps are for a device.
            Wait::Uninterruptible => self.charge(to, Charge::to(Cause::BlockIo, None, Confidence::Low)),
            Wait::KernelTimer => self.charge(to, Charge::to(Cause::KernelSleep, None, Confidence::Medium)),
            Wait::Fault => {
                // Without system calls a read right after a fault looks like that fault's own.
                let confidence =
                    if self.victim.syscalls_recorded { Confidence::High } else { Confidence::Medium };
                self.charge(to, Charge::to(Cause::PageFault, None, confidence));
            }
            Wait::Stopped { by, signal, traced, .. } => {
                self.notes.extend(signal.and_then(stop_name).map(VerdictNote::StoppedBy));
                let by = by.or(waker.filter(|_| traced));
                if traced && !self.notes.contains(&VerdictNote::Traced) {
                    self.notes.push(VerdictNote::Traced);
                }
                if let Some(tracer) = by.filter(|_| traced) {
                    self.note_tracer(tracer, to);
                }
                let by = by.and_then(|by| self.thread_at(by, self.at));
                self.charge(to, Charge::to(Cause::Stopped, by, Confidence::High));
            }
            Wait::Migration => self.charge(to, Charge::to(Cause::Migration, None, Confidence::High)),
            Wait::GracePeriod => self.grace_period(waker, to),
            Wait::Period | Wait::Input | Wait::Ring | Wait::Semaphore { owner: None } | Wait::Unsure => {
                self.charge(to, Charge::unexplained())
            }
        }
    }

    /// Notes of a wait up to `to` that it is for a lock which is no mutex.
    fn note_other_lock(&mut self, to: Ns) {
        let waits = &self.open.marks().other_locks;
        let Some(wait) = waits.iter().find(|wait| (self.at..to).contains(&wait.at)) else { return };
        let behind = wait.behind.and_then(|tid| self.thread_at(tid, wait.at));
        let note = VerdictNote::OtherLock { from: self.at, to, kind: wait.kind, behind };
        self.notes.push(note);
    }

    /// Notes in which function a sleep began, where a stack shows it.
    fn note_stack(&mut self, to: Ns) {
        let stack = self.victim.slept_in.stack(self.at).filter(|_| to - self.at >= NOTABLE_SLEEP);
        let Some((stack, (_, function))) = stack.and_then(|stack| Some((stack, stack.shows?))) else {
            return;
        };
        let called = match stack.caller.is_empty() {
            true => String::new(),
            false => format!(", called from {}", stack.caller),
        };
        let text = format!("slept for {} in {function}{called} (its stack)", to - self.at);
        self.notes.push(VerdictNote::Note(Evidence::at(self.at, self.cpu, text)));
    }

    /// Notes the kworker that ended a sleep where its work items are not recorded, and there is one: it may have ended a request, or
    /// held what the thread waited for.
    fn note_kworker(&mut self, waker: Option<Tid>) -> bool {
        let waker = waker.filter(|_| !self.timeline.shows_items());
        let Some(kworker) = waker.and_then(|tid| self.timeline.threads.get(tid)) else { return false };
        let is_one = is_kworker(kworker.comm_at(self.at).as_str());
        if is_one {
            let by = self.task(kworker.tid, kworker.priority_at(self.at), self.at);
            self.notes.push(VerdictNote::Note(Evidence::at(
                self.at,
                self.cpu,
                format!("{by} ended this sleep"),
            )));
        }
        is_one
    }

    /// True where the trace ends in the sleep: what would have woken the thread is not known.
    fn sleeps_on(&self) -> bool {
        let is_last = self.victim.since().is_some_and(|since| since <= self.at);
        self.timeline.is_over && is_last && matches!(self.victim.state(), State::Blocked { .. })
    }

    /// True of a thread of the kernel: its locks are the kernel's.
    fn is_of_kernel(&self, tid: Option<Tid>, at: Ns) -> bool {
        let thread = tid.and_then(|tid| self.timeline.threads.get(tid));
        thread.is_some_and(|thread| is_of_kernel(thread.comm_at(at).as_str()))
    }

    /// True where a thread of a file system or a driver ended a sleep, and most of what it did in there was seen.
    fn does_its_requests(&self, waker: Option<Tid>, to: Ns) -> bool {
        let by = waker.and_then(|tid| self.timeline.threads.get(tid));
        by.filter(|by| does_requests(by.comm_at(to).as_str())).is_some_and(|by| {
            let unseen = by.history.time_in(self.at, to, |state| state == State::Unknown);
            unseen.0.saturating_mul(2) < (to - self.at).0
        })
    }

    /// True where the kworker that ended a sleep was runnable for most of it, and had no CPU: no device took that time. What
    /// kworkers do is not recorded, or else it shows whose work item it was.
    fn is_behind_kworker(&self, waker: Option<Tid>, to: Ns) -> bool {
        let waker = waker.filter(|_| !self.timeline.shows_items());
        let kworker = waker.and_then(|tid| self.timeline.threads.get(tid));
        kworker.filter(|kworker| is_kworker(kworker.comm_at(to).as_str())).is_some_and(|kworker| {
            let queued = kworker.history.time_queued(self.at, to);
            queued.0.saturating_mul(2) >= (to - self.at).0
        })
    }

    /// Charges up to `to` an uninterruptible sleep of which the kernel traced what it was in.
    fn slept_in(&mut self, sleep: &BlockedReason, to: Ns) {
        let what = match sleep.io_wait {
            true => "for input or output",
            false => "and for no input or output",
        };
        if !sleep.caller.is_empty() && to - self.at >= NOTABLE_SLEEP {
            let text =
                format!("slept for {} in {}, {what} (sched_blocked_reason)", to - self.at, sleep.caller);
            self.notes.push(VerdictNote::Note(Evidence::at(self.at, self.cpu, text)));
        }
        let charge = match sleep.io_wait {
            true => Charge::to(Cause::BlockIo, None, Confidence::High),
            false => Charge::unexplained(),
        };
        self.charge(to, charge);
    }

    /// Charges up to `to` a sleep that the thread's own call asked for: between two markers of it, or to write to another thread.
    pub(super) fn own_wait(&mut self, wait: Wait, waker: Option<Tid>, to: Ns) {
        if wait == (Wait::Reply { timed_out: true }) {
            let text = "until the timeout of that call: what it waited for had not come".to_owned();
            self.notes.push(VerdictNote::Note(Evidence::at(self.at, self.cpu, text)));
        }
        let by = waker.and_then(|tid| self.timeline.threads.get(tid));
        // As it was called when it did so: a new thread has the name of the one that creates it, and its priority, until it sets another.
        let by = by.map(|waker| {
            let stays = waker.history.between(self.at, to);
            let longest = stays.iter().max_by_key(|stay| stay.to - stay.from);
            let (from, until) = longest.map_or((self.at, to), |stay| (stay.from, stay.to));
            self.task(waker.tid, Self::priority_in(waker, from, until), to)
        });
        self.note_work_item(by, to);
        let confidence = if matches!(
            wait,
            Wait::Unsure | Wait::Output | Wait::Reply { .. } | Wait::Handler | Wait::Answer { .. }
        ) {
            Confidence::Medium
        } else {
            Confidence::High
        };
        self.charge(to, Charge::to(Cause::OwnWait, by, confidence));
    }

    /// Notes the work item in which a kworker ends a sleep of the thread at `to`, and which thread had queued that.
    fn note_work_item(&mut self, by: Option<Culprit>, to: Ns) {
        let Some(Culprit::Task { tid: kworker, comm, .. }) = by else { return };
        if !is_kworker(comm.as_str()) || let_go_in(&self.notes, by).is_some() {
            return;
        }
        let Some(run) = self.timeline.item_runs.at(kworker, to) else { return };
        let function = self.timeline.origins.names.name(run.function);
        let queued_by = run.queued_by.filter(|tid| *tid != self.victim.tid);
        let queued_by = queued_by.and_then(|tid| self.thread_at(tid, run.from));
        if !function.is_empty() {
            self.notes.push(VerdictNote::LetGoIn { kworker, function, queued_by });
        }
    }

    /// Charges up to `to` a wait for a lock to what its owner did.
    fn follow(&mut self, owner: Option<Tid>, to: Ns, depth: usize) {
        let known = owner.filter(|_| depth < LONGEST_CHAIN).and_then(|tid| self.timeline.threads.get(tid));
        // What was not there yet held no lock: it may have come to end what kept the thread, as fsfreeze(8) does.
        let was_there = |owner: &&Thread| owner.lifetime.began.is_none_or(|began| began <= self.at);
        let Some(owner) = known.filter(|owner| owner.tid != self.victim.tid).filter(was_there) else {
            return self.charge(to, Charge::to(Cause::LockWait, None, Confidence::Low));
        };
        self.note_killed_owner(owner, to);
        for stay in owner.history.between(self.at, to) {
            let end = stay.to;
            let held_by = self.task(owner.tid, owner.priority_at(stay.from), stay.from);
            let held = |confidence| Charge {
                cause: Cause::LockWait,
                by: Some(held_by),
                owner: Some(held_by),
                confidence,
            };
            match stay.state {
                State::Running(cpu) => self.owner_runs(owner, cpu, end, held(Confidence::High)),
                State::Queued(cpu) => {
                    let victim = Contender::at(self.victim, stay.from);
                    self.note_boosted(Some(held_by));
                    let before = self.fence();
                    self.waiting(owner, cpu, end);
                    for segment in &mut self.segments[before..] {
                        (segment.cause, segment.by) =
                            owner_waits(segment.cause, segment.by, held_by, &victim);
                        segment.owner = Some(held_by);
                    }
                    self.fence();
                }
                State::Blocked {
                    wait: Wait::Lock { owner: next } | Wait::KernelLock { owner: next },
                    waker,
                } => {
                    self.follow(waker.or(next), end, depth + 1);
                }
                State::Blocked {
                    wait: Wait::TimedLock { owner: next } | Wait::Semaphore { owner: Some((next, _)) },
                    ..
                } => {
                    self.follow(Some(next), end, depth + 1);
                }
                State::Blocked { wait, waker } => {
                    self.note_sleep_of_owner(held_by, wait, waker, end);
                    self.charge(end, held(Confidence::Medium));
                }
                State::Unknown if self.timeline.losses.any_between(None, stay.from, end) => self.unseen(end),
                // It woke the waiter in the end.
                State::Unknown => self.charge(end, held(Confidence::Low)),
            }
        }
    }

    /// Notes that the owner of a lock was killed before `to`: the kernel gives its robust locks back as it ends, for which it needs a
    /// CPU.
    fn note_killed_owner(&mut self, owner: &Thread, to: Ns) {
        let Some(at) = self.timeline.process_ends.killed(owner.tid, to) else { return };
        let by = self.task(owner.tid, owner.priority_at(at), at);
        let text = format!("{by} was killed (SIGKILL): it lets its locks go as it ends");
        let note = VerdictNote::Note(Evidence::at(at, self.cpu, text));
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Notes that the owner of a lock sleeps up to `to`, and what for, where its wait shows that.
    fn note_sleep_of_owner(&mut self, owner: Culprit, wait: Wait, waker: Option<Tid>, to: Ns) {
        let slept = to - self.at;
        let waker = waker.and_then(|tid| self.timeline.threads.get(tid));
        let woken =
            || waker.map(|by| format!(", until {} woke it", self.task(by.tid, by.priority_at(to), to)));
        let what = match wait {
            Wait::Period => ", until a timer of its own expired".to_owned(),
            Wait::Io | Wait::Fault => ", for a device".to_owned(),
            Wait::Input | Wait::Output | Wait::Reply { .. } | Wait::Answer { .. } => {
                ", for another thread".to_owned()
            }
            Wait::Child => ", for a child".to_owned(),
            Wait::Stopped { by, .. } => {
                let by = by.and_then(|by| self.thread_at(by, self.at)).map(|by| format!(" by {by}"));
                format!(", stopped{}", by.unwrap_or_default())
            }
            _ => woken().unwrap_or_default(),
        };
        if slept >= NOTABLE_SLEEP {
            let text = format!("{owner} slept for {slept} with the lock{what}");
            self.notes.push(VerdictNote::Note(Evidence::at(self.at, self.cpu, text)));
            self.notes.push(VerdictNote::OwnerSlept(slept));
        }
    }

    /// The owner had a CPU: it worked, unless it was interrupted.
    fn owner_runs(&mut self, owner: &Thread, cpu: whylate_base::Cpu, to: Ns, held: Charge) {
        self.cpu = cpu;
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return self.charge(to, held) };
        for (from, end, slice) in timeline.between(self.at, to) {
            let charge = match slice.running {
                Running::Task(tid, prio) if tid == owner.tid => {
                    self.but_for_thefts(cpu, (from, end), (tid, prio), held);
                    held
                }
                _ => self.interruption((from, end, slice)).unwrap_or(held),
            };
            self.charge(end, charge);
        }
    }
}

/// What a `victim` is charged for a wait of its lock's owner: a thread that is not ahead of the victim has no right
/// to delay it. That is the inversion. Among three threads of one priority there is none, and none where the victim itself would take
/// turns with the thread in the middle: with inheritance the owner would wait as long.
fn owner_waits(
    cause: Cause,
    by: Option<Culprit>,
    owner: Culprit,
    victim: &Contender,
) -> (Cause, Option<Culprit>) {
    let relation = |by: &Culprit| Contender::of(by).map(|runner| Relation::of(victim, &runner));
    let ahead = |by: &Culprit| relation(by).is_none_or(Relation::preempts);
    match (cause, by) {
        (Cause::EqualPriorityTask, Some(by)) if relation(&by) == Some(Relation::EqualPriority) => {
            (cause, Some(by))
        }
        (Cause::FairQueue, Some(by)) if relation(&by) == Some(Relation::Fair) => (cause, Some(by)),
        (
            Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::FairQueue
            | Cause::PinnedBeforePriority,
            Some(by),
        ) if !ahead(&by) => (Cause::LockInversion, Some(by)),
        (Cause::Dispatch | Cause::PreemptionDisabled | Cause::IdleExit | Cause::FairQueue, _) => {
            (Cause::LockWait, Some(owner))
        }
        // It is the owner that was stopped, and not the thread that waits for it.
        (Cause::CgroupQuota | Cause::TimeLimit, None) => (cause, Some(owner)),
        _ => (cause, by),
    }
}
