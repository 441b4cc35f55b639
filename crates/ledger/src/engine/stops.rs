//! Threads that are stopped: by a signal, or for the program that traces them.
//!
//! A signal wakes a thread that sleeps in a call, so that it can stop, and after the stop it makes its call again:
//!
//! ```text
//! S until due | woken by the sender | T .......... due ........ | woken by SIGCONT | S until due: over at once
//! ```
//!
//! From 7.0 on a sleep that is over by then does not even begin again: the call returns at once.
//!
//! (`do_signal_stop()`, `kernel/signal.c`; `-ERESTARTNOHAND` of `hrtimer_nanosleep()`, `kernel/time/hrtimer.c`)

use super::Engine;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::stops::{Sender, StopSignal, StoppedSleep};
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Tid};
use whylate_events::{Event, Signal, TaskState};

/// SIGSTOP, SIGTSTP, SIGTTIN and SIGTTOU, by their numbers on every architecture but MIPS, SPARC and PA-RISC
/// (`include/uapi/asm-generic/signal.h`).
pub(super) const STOPS: std::ops::RangeInclusive<i32> = 19..=22;
/// A thread that was woken only to stop runs for less.
const LONGEST_WAY_INTO_STOP: Ns = Ns::from_us(100);

impl Engine<'_> {
    /// `signal_generate` of a signal that stops a process.
    #[cold]
    pub(super) fn stop_signal(&mut self, event: &Event, signal: &Signal) {
        let by = event.context.tid;
        // Rows without flags do not show whether an interrupt had come upon the thread; a call of a program shows by itself.
        let is_of_program = !event.context.flags.in_interrupt()
            && !by.is_idle()
            && (signal.is_sent_by_program() || !event.context.is_unknown())
            && self.timeline.threads.get(by).is_none_or(|by| !by.is_housekeeping());
        let sender = match by == signal.tid {
            true if signal.code == Signal::SI_KERNEL => Sender::Kernel,
            true => Sender::Itself,
            false if is_of_program => Sender::Thread(by),
            false => Sender::Kernel,
        };
        self.timeline.stops.add(StopSignal { of: signal.tid, sender, signal: signal.sig });
    }

    /// A thread leaves the CPU to be stopped, as the state shows.
    #[cold]
    pub(super) fn stops(&mut self, at: Ns, tid: Tid, state: TaskState) {
        let Some(thread) = self.timeline.threads.get(tid) else { return };
        let threads = &self.timeline.threads;
        let is_kin = |of: Tid| threads.get(of).is_some_and(|of| of.is_kin_of(thread));
        let signal = self.timeline.stops.of(|of| of == tid || is_kin(of));
        let in_sleep = thread.open.as_ref().filter(|open| is_woken_to_stop(at, thread, open));
        let traced = state == TaskState::Traced;
        let in_its_sleep = in_sleep.is_some();
        // What stops a thread for its tracer is the tracer, whatever signal came before.
        let number = signal.map(|signal| signal.signal).filter(|_| !traced);
        let wait = match signal.map(|signal| signal.sender).filter(|_| !traced) {
            // By its own choice.
            Some(Sender::Itself) => Wait::Unsure,
            Some(Sender::Thread(by)) if by != tid => {
                Wait::Stopped { by: Some(by), signal: number, traced, in_sleep: in_its_sleep }
            }
            _ => Wait::Stopped { by: None, signal: number, traced, in_sleep: in_its_sleep },
        };
        let begun = in_sleep.map(|open| open.due);
        let thread = self.timeline.threads.get_mut(tid);
        if let Some(begun) = begun.filter(|_| wait != Wait::Unsure) {
            thread.stopped_in_sleep.get_or_insert(StoppedSleep { since: begun, over: None });
        }
        thread.enter(at, State::Blocked { wait, waker: None });
        thread.faulting = None;
    }
}

/// A thread that was stopped in a sleep returns from its call. Where that was over, and it has not slept since, its activation was
/// due then.
#[cold]
pub(super) fn slept_while_stopped(thread: &mut Thread) {
    let Some(StoppedSleep { since, over: Some(over) }) = thread.stopped_in_sleep else { return };
    let (State::Running(cpu), Some(open)) = (thread.state(), &mut thread.open) else { return };
    thread.stopped_in_sleep = None;
    let due = over.max(since);
    if due < open.due && open.checkpoint.is_none() {
        open.begin = Begin::Woken(WakeCause::Timer { cpu, hard_due: due, expirer: None });
        open.due = due;
        open.period = Some(due);
        thread.last_due = Some(due);
    }
}

/// True of a thread that slept, and was woken for nothing but to stop: it was in its call all the time. What wakes a thread upon an
/// idle task is an interrupt, which sends no such signal.
fn is_woken_to_stop(at: Ns, thread: &Thread, open: &Open) -> bool {
    let by_thread = open.awake.is_none()
        && matches!(open.begin, Begin::Woken(WakeCause::Thread(_) | WakeCause::Upon(_) | WakeCause::Unseen));
    let ran = thread.history.time_in(open.due, at, |state| matches!(state, State::Running(_)));
    let calls_again = thread.crossings.entered_since(open.waking);
    by_thread && !calls_again && ran < LONGEST_WAY_INTO_STOP
}
