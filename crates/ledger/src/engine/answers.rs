//! Requests that a thread makes in its period, and the answers that it sleeps for.
//!
//! No event shows what a message asks for. What shows is who set off whom: the thread wakes a server in its period, and that, or
//! another one that it woke in turn, wakes the thread. Such an answer is part of the period. Programs that wake each other in turn
//! work in parts, each of which is an activation; so the wait is charged to the period only where it took a notable part of that.
//!
//! Who answers does not always show: a device, another machine, or a thread that was not set off, as the message was lost or held back.
//! A thread that sleeps from period to period, and waits for input in between, waits for a reply.
//!
//! The kernel leaves some calls and page faults to programs: it wakes the program's thread in there, and sleeps until that has answered.
//! Such a sleep is part of the work in any case, and shows itself by the wake-up. A filter's is outside of all calls: it decides before the
//! call begins (`__secure_computing()`, `kernel/seccomp.c`, before `trace_sys_enter()` in `kernel/entry/common.c`).

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::timeline::activations::{Begin, Errand, Open, WakeCause};
use crate::timeline::housekeeping::is_kworker;
use crate::timeline::sleeps::{Asked, Wait};
use crate::timeline::thread::Thread;
use crate::timeline::waking::Waking;
use whylate_base::{Ns, Tid};
use whylate_events::Kind;

/// A shorter wait is an exchange between two threads that work in turn.
const NOTABLE: Ns = Ns::from_us(100);
/// So is one below this part of the period, which leaves nearly all of it as it was.
const PART_OF_PERIOD: i64 = 8;

/// What a thread slept for that asked in its period.
#[derive(Clone, Copy)]
struct Answer {
    from: Tid,
    /// When that period was due.
    period: Ns,
}

impl Engine<'_> {
    /// What a thread has slept for that slept for `wait` as far as its own call shows, by what wakes it at `at`; and the period that
    /// goes on with it, by when that was due.
    pub(super) fn waited_for(&mut self, at: Ns, tid: Tid, wait: Wait, waking: &Waking) -> (Wait, Option<Ns>) {
        let refined = self.slept_for(tid, wait, waking.cause);
        self.note_step(at, tid, refined, waking);
        if let (Wait::Lock { .. } | Wait::Semaphore { owner: Some(_) }, Some(waker)) =
            (refined, waking.cause.waker())
        {
            self.note_woken_with_all(tid, waker);
        }
        let thread = self.timeline.threads.get_mut(tid);
        if matches!(refined, Wait::Input) {
            let call = SyscallTable::call_of(self.syscalls, thread);
            thread.pacing.periods.cycles.serves |= call.is_some_and(|(call, table)| table.accepts(call));
            if matches!(waking.cause, WakeCause::Timer { .. }) {
                thread.pacing.periods.note_timeout(at);
            }
        }
        thread.pacing.periods.cycles.slept(refined, at - thread.since().unwrap_or(at));
        if let Some(served) = self.served(at, tid, (wait, refined), waking) {
            return (served, None);
        }
        if let Some(answer) = self.answer(tid, refined, waking) {
            let asked = Wait::Answer { from: answer.from, asked: Asked::Message };
            let is_late = self.is_late_answer(at, tid, answer.period);
            return (if is_late { asked } else { refined }, Some(answer.period));
        }
        match self.reply(at, tid, refined, waking) {
            Some(period) if self.is_late_answer(at, tid, period) => {
                let timed_out = matches!(waking.cause, WakeCause::Timer { .. });
                (Wait::Reply { timed_out }, Some(period))
            }
            period => (refined, period),
        }
    }

    /// The period in which a thread waits for input, in another call than that by which it sleeps until the next one, and its sleeps
    /// are its pauses. Its own timeout ends only a wait that has another purpose. A packet that had come for most of that time was
    /// late on this machine, and has causes of its own.
    fn reply(&self, at: Ns, tid: Tid, wait: Wait, waking: &Waking) -> Option<Ns> {
        let thread = self.timeline.threads.get(tid).filter(|_| matches!(wait, Wait::Input))?;
        let slept = at - thread.since()?;
        let had_come = waking.origin.is_some_and(|origin| (at - origin.since).0.saturating_mul(2) >= slept.0);
        // In a chain, and of a way to another machine and back, the reply is a hop: it ends one activation and begins the next.
        let is_hop = self.timeline.links.is_some() || self.keeps_every_segment();
        if is_hop || had_come && slept >= NOTABLE {
            return None;
        }
        let cycles = &thread.pacing.periods.cycles;
        let in_the_middle = match waking.cause {
            WakeCause::Timer { .. } => cycles.sleep_mostly(),
            _ => cycles.await_replies(),
        };
        thread.open.as_ref()?.period.filter(|_| in_the_middle)
    }

    /// The same of a call or a page fault that the kernel left to a program: the thread that ended the sleep was woken in there.
    fn served(&mut self, at: Ns, tid: Tid, (wait, refined): (Wait, Wait), waking: &Waking) -> Option<Wait> {
        if let Some(by_device) = self.served_device(at, tid, refined, waking) {
            return Some(by_device);
        }
        let asked = match (wait, refined) {
            (Wait::Fault, Wait::Fault) => Asked::Fault,
            (Wait::Io | Wait::Output, Wait::Output) => Asked::Call,
            // Neither calls nor locks were recorded: it may be a lock of the kernel, too.
            (Wait::Io, Wait::KernelLock { owner: Some(_) }) => Asked::Call,
            (Wait::Unsure, Wait::Unsure) => Asked::Filter,
            _ => return None,
        };
        let from = waking.cause.waker().filter(|&by| by != tid)?;
        let threads = &self.timeline.threads;
        let (thread, peer) = (threads.get(tid)?, threads.get(from)?);
        let call = SyscallTable::call_of(self.syscalls, thread);
        // Room in a pipe is no answer.
        let is_room = wait == Wait::Output && !call.is_some_and(|(call, table)| table.works_on_files(call));
        if is_room || peer.is_of_kernel() {
            return None;
        }
        let asked_at = thread.since()?;
        let entered = match asked {
            // A page fault that is not recorded looks alike.
            Asked::Filter if !self.timeline.seen.contains(Kind::PageFault) => return None,
            Asked::Filter => thread.crossings.outside_since()?.max(thread.history.awake_before()?),
            _ if thread.syscalls_recorded => thread.crossings.inside_since?,
            _ => thread.history.awake_before()?,
        };
        let woken_in_there = |open: &Open| {
            let is_its_errand = open.errand.is_some_and(|errand| errand.of == tid && errand.since >= entered);
            is_its_errand || open.begin == Begin::Woken(WakeCause::Thread(tid)) && open.waking >= entered
        };
        if peer.open.as_ref().is_some_and(woken_in_there) {
            self.timeline.threads.get_mut(tid).pacing.periods.note_answer(from);
        } else if !thread.pacing.periods.is_answered_by(from) {
            return None;
        }
        (at - asked_at >= NOTABLE).then_some(Wait::Answer { from, asked })
    }

    /// The same of a request to a block device that is a program: the thread woke that in its call, and a thread of the kernel that
    /// the program woke in turn took the answer (`nbd_send_cmd()`, `recv_work()`, `drivers/block/nbd.c`).
    fn served_device(&self, at: Ns, tid: Tid, wait: Wait, waking: &Waking) -> Option<Wait> {
        if !matches!(wait, Wait::Io | Wait::Fault) {
            return None;
        }
        let threads = &self.timeline.threads;
        let (thread, taker) = (threads.get(tid)?, threads.get(waking.cause.waker()?)?);
        let (set_off, server) = thread.crossings.woken_inside()?;
        let is_of_program = |of: Tid| threads.get(of).is_some_and(|of| !of.is_of_kernel());
        if !is_kworker(taker.comm().as_str()) || !is_of_program(server) || thread.since()? < set_off {
            return None;
        }
        let open = taker.open.as_ref()?;
        let Begin::Woken(cause) = open.begin else { return None };
        let answers = cause.waker().or_else(|| open.origin.as_ref()?.by).filter(|&by| is_of_program(by))?;
        let is_its_errand = open.errand.is_some_and(|errand| errand.of == tid && errand.since >= set_off);
        let is_its_answer = open.waking >= set_off && (is_its_errand || answers == server);
        let is_long = at - thread.since()? >= NOTABLE;
        (is_its_answer && is_long).then_some(Wait::Answer { from: server, asked: Asked::Device })
    }

    /// For whom the thread works that this wake-up sets off.
    pub(super) fn errand(&self, tid: Tid, waking: &Waking) -> Option<Errand> {
        let waker = self.timeline.threads.get(sender(tid, waking)?)?;
        let open = waker.open.as_ref()?;
        let has_periods = || waker.pacing.periods.are_by_sleeps() || waker.pacing.periods.are_by_timeouts();
        let errand = match open.period.filter(|_| has_periods()) {
            Some(_) => Errand { of: waker.tid, since: waking.at },
            None => open.errand?,
        };
        Some(errand).filter(|errand| errand.of != tid)
    }

    /// The answer that this wake-up is, at the end of a wait for a message: of a thread that works for this one, or that has
    /// answered it in other periods (a server that was busy is not woken by a request).
    fn answer(&mut self, tid: Tid, wait: Wait, waking: &Waking) -> Option<Answer> {
        if !matches!(wait, Wait::Input | Wait::Semaphore { owner: None }) {
            return None;
        }
        let threads = &self.timeline.threads;
        // An event loop waits for its next timer and for messages in the same call; what it waits for by a futex is in the middle.
        let is_in_loop = |thread: &Thread| {
            thread.pacing.periods.are_by_timeouts() && matches!(wait, Wait::Semaphore { .. })
        };
        let thread =
            threads.get(tid).filter(|thread| thread.pacing.periods.are_by_sleeps() || is_in_loop(thread))?;
        let period = thread.open.as_ref()?.period?;
        let from = sender(tid, waking)?;
        let peer = threads.get(from).filter(|peer| !peer.is_housekeeping())?;
        let errand = peer.open.as_ref().and_then(|open| open.errand);
        let set_off = errand.is_some_and(|errand| errand.of == tid && errand.since >= period);
        if set_off {
            self.timeline.threads.get_mut(tid).pacing.periods.note_answer(from);
        } else if !thread.pacing.periods.is_answered_by(from) {
            return None;
        }
        Some(Answer { from, period })
    }

    /// True of a wait for an answer that came at `at`, where it took a notable part of the period, or all that was left of it.
    pub(super) fn is_late_answer(&self, at: Ns, tid: Tid, period: Ns) -> bool {
        let Some(thread) = self.timeline.threads.get(tid) else { return false };
        let Some((usual, asked)) = thread.pacing.periods.usual().zip(thread.since()) else { return false };
        let is_long = at - asked >= NOTABLE && (at - asked).0.saturating_mul(PART_OF_PERIOD) >= usual.0;
        is_long || at - period >= usual
    }
}

/// The other thread that woke this one, or sent the packet that did.
fn sender(tid: Tid, waking: &Waking) -> Option<Tid> {
    let by = waking.cause.waker().or_else(|| waking.origin.as_ref()?.by);
    by.filter(|&by| by != tid)
}
