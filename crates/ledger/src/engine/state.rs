//! What the engine is: the timeline that it keeps, and the activations that end on the way.

use super::prev_states::PrevStates;
use super::scheduler_clock::SchedulerClock;
use super::syscall_table::SyscallTable;
use crate::options::Options;
use crate::timeline::Timeline;
use crate::timeline::activations::Open;
use crate::timeline::bandwidth;
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Tid};
use whylate_events::{Kind, TraceInfo};

/// Makes a timeline from events.
pub(crate) struct Engine<'a> {
    pub(crate) timeline: Timeline,
    /// The activations that have ended since they were last taken away.
    pub(crate) ended: Vec<EndedActivation>,
    options: &'a Options,
    /// The machine's system calls; `None` of one whose numbers are not known.
    pub(super) syscalls: Option<&'static SyscallTable>,
    /// True when trace time and the kernel's monotonic time are one.
    pub(super) monotonic: bool,
    pub(super) prev_states: PrevStates,
    /// True when the recording would have the migrations of threads.
    pub(super) shows_migrations: bool,
    pub(super) scheduler_clock: SchedulerClock,
}

/// An activation that is over.
pub(crate) struct EndedActivation {
    pub(crate) tid: Tid,
    pub(crate) open: Open,
    /// When its work was done; `None` where the trace shows it only up to `end`.
    pub(crate) done: Option<Ns>,
    pub(crate) end: Ns,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(options: &'a Options, info: &TraceInfo) -> Engine<'a> {
        Engine {
            timeline: Timeline::new(info.kernel_release.as_deref().and_then(bandwidth::version)),
            ended: Vec::new(),
            options,
            syscalls: SyscallTable::of(info.machine.as_deref()),
            prev_states: PrevStates::default(),
            shows_migrations: info.recorded.is_some_and(|recorded| recorded.contains(Kind::Migrate)),
            scheduler_clock: SchedulerClock::of(info.clock.as_deref()),
            monotonic: info.clock.as_deref() == Some("mono") && !info.time_shifted,
        }
    }

    /// True when a thread's activations are explained, by what is known of it so far.
    pub(crate) fn explains(&self, thread: &Thread) -> bool {
        self.options.selects(thread)
    }

    /// The activation of `tid`, if one is in progress, ends: it was `done`, or was only seen up to `end`.
    pub(crate) fn end(&mut self, tid: Tid, done: Option<Ns>, end: Ns) {
        let Some(thread) = self.timeline.threads.get(tid) else { return };
        let Some(open) = &thread.open else { return };
        // Clocks of two CPUs may disagree: nothing of an activation lies before its due time, nor does it end
        // before what is charged of it.
        let end = end.max(open.charged_until()).max(open.running.unwrap_or(open.due));
        let done = done.map(|_| end);
        // How long a program took to start, before it made itself real-time, is no deadline's matter.
        let starts_up = open.began_fair && thread.priority().is_realtime() && thread.pinned_fair.is_none();
        let is_reported = self.explains(thread) && !(starts_up && self.options.tasks.is_empty());
        let open = self.timeline.threads.get_mut(tid).open.take().filter(|_| is_reported);
        self.ended.extend(open.map(|open| EndedActivation { tid, open, done, end }));
    }
}
