//! What the engine is: the timeline that it keeps, and the activations that end on the way.

use super::prev_states::PrevStates;
use super::scheduler_clock::SchedulerClock;
use super::syscall_table::SyscallTable;
use crate::causes::Cause;
use crate::model::Segment;
use crate::options::Options;
use crate::scope::AppliedScope;
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open};
use crate::timeline::links::Link;
use crate::timeline::running::Running;
use crate::timeline::settings::STUCK;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Tid, release_version};
use whylate_events::{Kind, TraceInfo};

/// True of a machine, as `uname -m` names it.
fn is_x86(machine: &str) -> bool {
    matches!(machine, "x86_64" | "i686" | "i586" | "i486" | "i386")
}

/// Makes a timeline from events.
pub(crate) struct Engine<'a> {
    pub(crate) timeline: Timeline,
    /// The activations that have ended since they were last taken away.
    pub(crate) ended: Vec<EndedActivation>,
    pub(super) options: &'a Options,
    /// The part of the trace that is asked for, from the first event on; `None` where it is all of it.
    pub(crate) scope: Option<AppliedScope>,
    /// The machine's system calls; `None` of one whose numbers are not known.
    pub(super) syscalls: Option<&'static SyscallTable>,
    /// The error codes of page faults are those of x86.
    pub(super) is_x86: bool,
    /// True when trace time and the kernel's monotonic time are one.
    pub(super) monotonic: bool,
    pub(super) prev_states: PrevStates,
    /// True when the recording would have the migrations of threads.
    pub(super) shows_migrations: bool,
    /// True when the recording would have the contention of locks.
    pub(super) records_contention: bool,
    /// True when the recording has the inheritance of priorities.
    pub(super) records_inheritance: bool,
    /// True when the recording is known to be without switches.
    pub(super) records_no_switches: bool,
    pub(super) scheduler_clock: SchedulerClock,
}

/// An activation that is over.
pub(crate) struct EndedActivation {
    pub(crate) tid: Tid,
    pub(crate) open: Open,
    /// When its work was done; `None` where the trace shows it only up to `end`.
    pub(crate) done: Option<Ns>,
    pub(crate) end: Ns,
    /// True when it is in the part of the trace that is asked for.
    pub(crate) in_scope: bool,
    /// The thread executed a program in it, or became real-time, and was not stuck behind a real-time thread by its own settings; or
    /// it is part of what its program did to start.
    pub(crate) starts_program: bool,
}

impl EndedActivation {
    /// True where a thread that has run several times ends in it, or had begun to end before. What markers enclose is what the user
    /// asks about, and what runs once and ends is all that there is.
    pub(crate) fn ends_program(&self, thread: &Thread) -> bool {
        let (lifetime, due) = (&thread.lifetime, self.open.due);
        let recurs = || thread.pacing.periods.are_by_sleeps() || lifetime.has_run_several_times();
        let ends = lifetime.is_killed_by(due) || lifetime.ends_in(due, self.end) && recurs();
        ends && self.open.begin != Begin::Marked
    }
}

impl<'a> Engine<'a> {
    pub(crate) fn new(options: &'a Options, info: &TraceInfo) -> Engine<'a> {
        let mut timeline = Timeline::new(info.kernel_release.as_deref().and_then(release_version));
        timeline.is_text = info.recorded.is_none();
        Engine {
            timeline,
            ended: Vec::new(),
            options,
            scope: None,
            syscalls: SyscallTable::of(info.machine.as_deref()),
            is_x86: info.machine.as_deref().is_none_or(is_x86),
            prev_states: PrevStates::default(),
            shows_migrations: info.recorded.is_some_and(|recorded| recorded.contains(Kind::Migrate)),
            records_contention: info.recorded.is_some_and(|recorded| recorded.contains(Kind::Contention)),
            records_inheritance: info.recorded.is_some_and(|recorded| recorded.contains(Kind::PiSetprio)),
            records_no_switches: info.recorded.is_some_and(|recorded| !recorded.contains(Kind::Switch)),
            scheduler_clock: SchedulerClock::of(info.clock.as_deref()),
            monotonic: info.clock.as_deref() == Some("mono") && !info.time_shifted,
        }
    }

    /// The trace is over: it has shown the tick by which its clock counts, where that has nothing finer.
    pub(crate) fn note_clock(&mut self) {
        self.timeline.clock_tick = self.scheduler_clock.tick();
    }

    /// True when a thread's activations are explained, by what is known of it so far.
    pub(crate) fn explains(&self, thread: &Thread) -> bool {
        self.options.selects(thread)
    }

    /// Whether ledgers keep every segment where it was.
    pub(crate) fn keeps_every_segment(&self) -> bool {
        self.options.every_segment
    }

    /// The activation of `tid`, if one is in progress, ends: it was `done`, or was only seen up to `end`.
    pub(crate) fn end(&mut self, tid: Tid, done: Option<Ns>, end: Ns) {
        let goes_on_starting = self.goes_on_starting(tid);
        let Engine { timeline, ended, options, scope, syscalls, .. } = self;
        let Some(thread) = timeline.threads.get(tid) else { return };
        let Some(open) = &thread.open else { return };
        // How long a program took to start, before it made itself real-time, is no deadline's matter.
        let becomes_realtime = open.began_fair && thread.priority().is_realtime();
        let starts_program = open.begin != Begin::Marked
            && (open.executes || becomes_realtime || goes_on_starting)
            && !is_stuck_where_pinned(timeline, thread, open, end);
        let Some(thread) = timeline.threads.get_if_seen_mut(tid) else { return };
        let Some(open) = &thread.open else { return };
        let (done, end) = open.exited.map_or((done, end), |exited| (Some(exited), exited));
        // Clocks of two CPUs may disagree: nothing of an activation lies before its due time, nor does it end
        // before what is charged of it.
        let end = end.max(open.charged_until()).max(open.running.unwrap_or(open.due));
        if thread.lifetime.is_starting {
            thread.lifetime.started = Some(end);
        }
        let done = done.map(|_| end);
        if let Some(links) = &mut timeline.links {
            let open = Box::new(open.clone());
            links.push(Link::Ended { tid, open, end, whole: done.is_some() });
        }
        let is_selected = options.selects(thread) && options.counts(open.begin);
        let is_reported = is_selected && !(starts_program && becomes_realtime && options.tasks.is_empty());
        let in_scope = scope.as_ref().is_none_or(|scope| is_in_scope(scope, thread, open, end));
        if is_reported {
            let mut open = thread.open.take();
            if let (Some(calls), Some(open)) = (thread.crossings.many(), &mut open) {
                let table = SyscallTable::of_thread(*syscalls, thread);
                open.made(calls, table.and_then(|table| table.name(calls.nr)));
            }
            ended.extend(open.map(|open| EndedActivation { tid, open, done, end, in_scope, starts_program }));
            return;
        }
        if !is_selected && in_scope && options.markers.is_none() {
            // One that was lost from sight may have run since.
            let seen = thread.since().filter(|_| thread.state() == State::Unknown);
            thread.tally.count(open, seen.map_or(end, |since| since.min(end)));
        }
        thread.open = None;
    }

    /// True of an instant in the part of the trace that is asked for.
    pub(super) fn is_asked_for(&self, at: Ns) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.overlaps(at, at))
    }

    /// The first event is at `first`.
    pub(crate) fn begins(&mut self, first: Ns) {
        let scope = &self.options.scope;
        self.scope = (!scope.is_whole()).then(|| AppliedScope::of(scope, first));
    }
}

/// True where the thread waited for `STUCK` for a real-time thread, from the call by which it pinned itself to when it asked for a
/// policy.
fn is_stuck_where_pinned(timeline: &Timeline, thread: &Thread, open: &Open, end: Ns) -> bool {
    let Some(pinned) = thread.pinned_fair else { return false };
    let (from, to) = (pinned.at.max(open.due), pinned.until.map_or(end, |until| until.min(end)));
    if from >= to {
        return false;
    }
    let charged = open.checkpoint.iter().flat_map(|checkpoint| &checkpoint.ledger);
    let charged = charged.filter(|segment| segment.cause == Cause::PinnedBeforePriority);
    let waits = thread.history.between(from, to).into_iter().filter_map(|stay| match stay.state {
        State::Queued(cpu) => Some((timeline.cpus.get(cpu)?, stay)),
        _ => None,
    });
    let is_program = |tid| timeline.threads.get(tid).is_some_and(|by| !by.is_housekeeping());
    let behind = waits.flat_map(|(cpu, stay)| cpu.between(stay.from, stay.to)).filter(|(_, _, slice)| {
        matches!(slice.running, Running::Task(tid, priority) if priority.is_realtime() && is_program(tid))
    });
    let behind = behind.map(|(from, to, _)| to - from);
    charged.map(Segment::length).chain(behind).sum::<Ns>() >= STUCK
}

/// True of an activation that was in progress in the time that is asked for, and that ran on one of the CPUs, or
/// waited for one where it never ran.
fn is_in_scope(scope: &AppliedScope, thread: &Thread, open: &Open, end: Ns) -> bool {
    scope.overlaps(open.due, end)
        && (scope.cpus.is_none() || {
            let ran = |state: State| matches!(state, State::Running(cpu) if scope.has_cpu(cpu));
            let charged = open.checkpoint.iter().flat_map(|checkpoint| &checkpoint.ledger);
            open.ran_on.or(open.cpu).is_some_and(|cpu| scope.has_cpu(cpu))
                || thread.history.between(open.due, end).iter().any(|stay| ran(stay.state))
                || charged.into_iter().any(|one| one.cause == Cause::OwnWork && scope.has_cpu(one.cpu))
        })
}
