//! The threads of a trace in which no real-time thread was active: which of them the user may mean.
//!
//! Most likely meant first: the command that `whylate record` ran, with what it started; threads of other programs; those of
//! recorders; the kernel's own. Each of these by its worst latency, or its longest wait for a CPU where no wake-ups are recorded.
//! A program of which no lateness is seen comes behind the kernel's own real-time threads of which one is, and its others that
//! starve or were far later: there is nothing to explain of it. Where no program has an activation that was seen from its beginning, nor
//! waited as long as a thread of the kernel that has one, those that have one come first.
//!
//! A trace does not show whether a thread is the kernel's own: its name does, or kthreadd forked it, and neither is
//! believed of a thread that made a system call.

use crate::model::{Candidate, CandidateKind, Candidates, is_stand_in};
use crate::options::Options;
use crate::timeline::Timeline;
use crate::timeline::housekeeping::{is_of_kernel, records_traces};
use crate::timeline::thread::Thread;
use std::cmp::Reverse;
use whylate_base::{Ns, Priority, Tid};
use whylate_events::Kind;

/// How many are listed.
const LISTED: usize = 10;
/// On a busy CPU a thread of the kernel without a real-time priority waits for milliseconds.
const STARVED: Ns = Ns::from_ms(10);
/// A real-time thread that starts within this time is not late.
const SOON: Ns = Ns::from_us(20);
/// A wait this many times as long as any that is explained may be what the trace was recorded for.
const FAR_LONGER: i64 = 20;
/// A real-time thread of the kernel that waits for so long, and so many times as long as any that is explained, is late.
const LATE_OF_KERNEL: Ns = Ns::from_us(200);
const LONGER_OF_KERNEL: i64 = 4;
/// Beside candidates that were chosen by their latency, a wait of so long, and so many times as long as their latest start, is named.
const LONG_WAIT: Ns = Ns::from_ms(1);
const LONGER_THAN_CHOSEN: i64 = 2;
/// The second thread of each boot (`rest_init`, `init/main.c`) forks all others of the kernel's own.
const KTHREADD: Tid = Tid(2);
/// Of a thread that was started by a longer row of others it is not known which command started it all.
const MOST_ANCESTORS: usize = 64;
/// The candidates; `None` where the trace does not show which thread ran, or no thread.
pub(crate) fn of(timeline: &Timeline, options: &Options) -> Option<Candidates> {
    if !timeline.seen.contains(Kind::Switch) {
        return None;
    }
    // What stands for a thread that the text does not name is none.
    let is_none = |thread: &Thread| is_stand_in(thread.tid) && thread.comm().is_empty();
    let threads = || timeline.threads.iter().filter(|thread| !thread.tid.is_idle() && !is_none(thread));
    let is_realtime = |thread: &&Thread| thread.ever_realtime;
    let active = threads().filter(|thread| thread.tally.activations > 0);
    let mut all: Vec<Candidate> = active.map(|thread| candidate(timeline, thread)).collect();
    // Without wake-ups it is not known when a thread was due.
    let shows_wakeups = timeline.seen.contains(Kind::Waking) || timeline.seen.contains(Kind::Wakeup);
    if !shows_wakeups {
        all.iter_mut().for_each(|one| one.latency = None);
    }
    if all.is_empty() {
        return None;
    }
    let starves = starving(&all, shows_wakeups);
    let kernel_first = shows_wakeups && only_kernel_is_seen(&all, starves);
    all.sort_by_key(|one| {
        let late = lateness(one, shows_wakeups);
        let is_behind = kernel_first && late.is_none();
        (is_behind, Likely::of(one, late, starves), Reverse(late), Reverse(one.activations), one.tid)
    });
    let more = all.len().saturating_sub(LISTED) as u64;
    all.truncate(LISTED);
    let shown = |thread: &Thread| thread.shown_priority().is_some_and(|shown| shown != Priority::UNKNOWN);
    let idle = threads().filter(is_realtime).filter(|thread| options.selects(thread));
    Some(Candidates {
        shows_policies: threads().any(shown),
        shows_wakeups,
        kernel_realtime: threads().filter(is_realtime).any(Thread::is_housekeeping),
        idle_realtime: idle.map(|thread| (thread.tid, thread.comm())).collect(),
        threads: all,
        more,
    })
}

/// True where no program has an activation that was seen from its beginning, nor waited longer than a thread of the kernel was late that
/// has one: of the programs there is nothing to explain.
fn only_kernel_is_seen(all: &[Candidate], starves: Ns) -> bool {
    let (of_kernel, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| Likely::of(one, one.latency, starves) >= Likely::Recorder);
    let latest = of_kernel.iter().filter_map(|one| one.latency).max();
    let is_unseen = |one: &&Candidate| {
        one.kind != CandidateKind::Command
            && one.latency.is_none()
            && one.wait.is_none_or(|wait| Some(wait) < latest)
    };
    latest.is_some() && others.iter().all(is_unseen)
}

/// True of a thread with a number of its own: neither an idle one nor what stands for others.
fn is_of_one_thread(thread: &Thread) -> bool {
    !thread.tid.is_idle() && !is_stand_in(thread.tid)
}

/// The thread that waited longest for a CPU, of those that sleep: that others wait is no news.
pub(crate) fn longest_wait(timeline: &Timeline) -> Option<Candidate> {
    let counts = |thread: &&Thread| {
        is_of_one_thread(thread) && thread.tally.latency.is_some() && thread.tally.wait >= LONG_WAIT
    };
    let all = timeline.threads.iter().filter(counts).map(|thread| candidate(timeline, thread));
    all.filter(|one| one.kind != CandidateKind::Recorder).max_by_key(|one| (one.wait, Reverse(one.tid)))
}

/// True of a wait that is far longer than `latest`, what a chosen candidate was late at most.
pub(crate) fn is_far_longer(candidate: &Candidate, latest: Ns) -> bool {
    candidate.wait.is_some_and(|wait| wait.0 / LONGER_THAN_CHOSEN >= latest.0)
}

/// Of the threads that are not explained, the one that waited longest for a CPU; `None` where that is not far longer than `latest`, what an
/// explained one was late at most. Threads of programs count, and those of the kernel that come before the `first` of those explained: on an
/// interrupt's thread others wait.
pub(crate) fn waits_beside(timeline: &Timeline, latest: Ns, first: Option<Priority>) -> Option<Candidate> {
    let waits = |thread: &Thread, least: Ns, longer: i64| {
        thread.tally.wait >= least && thread.tally.wait.0 / longer >= latest.0
    };
    let may_count = |thread: &&Thread| {
        is_of_one_thread(thread)
            && thread.tally.activations > 0
            && waits(thread, LATE_OF_KERNEL, LONGER_OF_KERNEL)
    };
    let goes_first = |thread: &Thread| first.is_some_and(|first| thread.priority().outranks(first));
    let counts = |(thread, one): &(&Thread, Candidate)| match one.kind {
        CandidateKind::Command | CandidateKind::Program => waits(thread, STARVED, FAR_LONGER),
        _ => thread.ever_realtime && goes_first(thread),
    };
    let all = timeline.threads.iter().filter(may_count).map(|thread| (thread, candidate(timeline, thread)));
    let all = all.filter(counts).map(|(_, one)| one);
    all.max_by_key(|one| (one.wait, Reverse(one.tid)))
}

/// How likely a candidate is meant, the most likely first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likely {
    Command,
    LateProgram,
    LateOfKernel,
    Program,
    Recorder,
    Kernel,
}

impl Likely {
    /// `starves`: from what lateness on a thread of the kernel starves that has no real-time priority.
    fn of(candidate: &Candidate, late: Option<Ns>, starves: Ns) -> Likely {
        let is_late = late.is_some_and(|late| late > Ns::ZERO);
        let starves = late.is_some_and(|late| late >= starves);
        match candidate.kind {
            CandidateKind::Command => Likely::Command,
            CandidateKind::Program if is_late => Likely::LateProgram,
            CandidateKind::Program => Likely::Program,
            CandidateKind::Recorder => Likely::Recorder,
            CandidateKind::Kernel if is_late && candidate.priority.is_realtime() || starves => {
                Likely::LateOfKernel
            }
            CandidateKind::Kernel => Likely::Kernel,
        }
    }
}

/// True of a candidate to be explained where the `first` one is: of its rank, or a program or ahead of one like it.
pub(crate) fn goes_with(candidates: &Candidates, candidate: &Candidate, first: &Candidate) -> bool {
    let up_to_programs = Likely::LateProgram..=Likely::Program;
    let starves = starving(&candidates.threads, candidates.shows_wakeups);
    let likely = |one| Likely::of(one, lateness(one, candidates.shows_wakeups), starves);
    let are_of_kernel = first.kind == CandidateKind::Kernel && candidate.kind == CandidateKind::Kernel;
    if are_of_kernel && first.latency.is_some() && candidate.latency.is_none() {
        return false;
    }
    let (first, own) = (likely(first), likely(candidate));
    own == first || up_to_programs.contains(&first) && up_to_programs.contains(&own)
}

/// From what lateness on a thread of the kernel starves that has no real-time priority: where all of the kernel's real-time threads
/// started soon, one that waited far longer does.
fn starving(all: &[Candidate], shows_wakeups: bool) -> Ns {
    let of_kernel = all.iter().filter(|one| one.kind == CandidateKind::Kernel && one.priority.is_realtime());
    let latest =
        of_kernel.filter_map(|one| lateness(one, shows_wakeups)).filter(|late| *late > Ns::ZERO).max();
    latest.filter(|latest| *latest <= SOON).map_or(STARVED, |latest| Ns(latest.0 * FAR_LONGER))
}

/// How late one was. Without wake-ups its waits show that; with them, those of a thread that never sleeps are no news.
fn lateness(candidate: &Candidate, shows_wakeups: bool) -> Option<Ns> {
    if shows_wakeups { candidate.latency } else { candidate.wait }
}

fn candidate(timeline: &Timeline, thread: &Thread) -> Candidate {
    let is_program = thread.has_executed || thread.syscalls_recorded;
    let kind = match thread.comm().as_str() {
        _ if is_of_command(timeline, thread) => CandidateKind::Command,
        comm if records_traces(comm) => CandidateKind::Recorder,
        comm if !is_program && (thread.forked_by == Some(KTHREADD) || is_of_kernel(comm)) => {
            CandidateKind::Kernel
        }
        _ => CandidateKind::Program,
    };
    Candidate {
        tid: thread.tid,
        comm: thread.comm(),
        policy: thread.policy(),
        priority: thread.shown_priority().map_or(Priority::UNKNOWN, |_| thread.own_priority()),
        activations: thread.tally.activations,
        latency: thread.tally.latency,
        wait: Some(thread.tally.wait).filter(|&wait| wait > Ns::ZERO),
        kind,
        is_explained: false,
    }
}

/// True of the command that was recorded, and of what it started.
fn is_of_command(timeline: &Timeline, thread: &Thread) -> bool {
    let parent = |thread: &&Thread| timeline.threads.get(thread.forked_by?);
    let line = std::iter::successors(Some(thread), parent).take(MOST_ANCESTORS);
    line.into_iter().any(|thread| thread.is_command)
}
