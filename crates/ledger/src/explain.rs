//! The one call: events in, explanation out.

use crate::assemble::{Assembler, Each};
use crate::candidates;
use crate::causes::{Cause, CauseGroup};
use crate::findings::{self, Subject};
use crate::identities::Identity;
use crate::model::{Activation, Candidate, Explanation, Missing, TaskSummary, by_thread};
use crate::mutexes;
use crate::options::{Markers, Options, Select};
use crate::places::Samples;
use crate::profiles;
use crate::stats::{FOR_FINDINGS, Stats};
use crate::timeline::Timeline;
use crate::timeline::thread::Thread;
use crate::tracers::handlers::Handlers;
use crate::tracers::{self, Tracers};
use crate::verdict;
use std::cmp::Reverse;
use std::collections::HashSet;
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};
use whylate_events::{Event, EventSource, Kind, KindSet};

/// How many candidates are explained.
const EXPLAINED: usize = 3;

/// Explains every activation of the selected threads of a trace.
pub fn explain(source: impl EventSource, options: &Options) -> Explanation {
    explain_all(source, options, None)
}

/// Explains a trace as [`explain`] does, and hands over every activation as it ends: charged, without a verdict (what is
/// usual is known at the end only) and without what the CPUs did. Nothing of it is kept, so that memory stays bounded.
pub fn explain_each(
    source: impl EventSource,
    options: &Options,
    each: &mut dyn FnMut(&Activation),
) -> Explanation {
    explain_all(source, options, Some(each))
}

fn explain_all(mut source: impl EventSource, options: &Options, mut each: Option<Each<'_>>) -> Explanation {
    let asked = options;
    let mut options = tracers::options(asked, source.info());
    options.markers = options.markers.or_else(|| source.info().probed.map(Markers::of_probes));
    let options = &options;
    let each: Option<Each<'_>> = match &mut each {
        Some(each) => Some(&mut **each),
        None => None,
    };
    let mut assembler = Assembler::new(options, source.info(), each);
    let mut tracers = Tracers::new(source.info());
    for (tid, comm) in source.comms() {
        assembler.timeline_mut().threads.get_mut(tid).assume_name(comm);
    }
    let mut apply = |events: &[Event]| {
        for event in events {
            let kind = event.kind.kind();
            if !tracers.is_over() {
                assembler.apply(event, kind);
            }
            tracers.see(&mut assembler, event, kind);
        }
    };
    let mut handlers = Handlers::of(source.info().latency.as_ref());
    loop {
        let batch = source.next_batch();
        if batch.is_empty() {
            break;
        }
        let mut rest = batch;
        while let (Some(held), [event, behind @ ..]) = (&mut handlers, rest) {
            if held.hold(event) {
                rest = behind;
            } else {
                // There are more than a tracer keeps.
                handlers.take().into_iter().for_each(|held| apply(&held.untouched()));
            }
        }
        apply(rest);
    }
    handlers.into_iter().for_each(|held| apply(&held.revealed()));
    // A stream may know more names at its end than at its beginning. Those of very many that were forgotten stay so.
    let some_are_forgotten = assembler.timeline().threads.has_forgotten();
    for (tid, comm) in source.comms() {
        let threads = &mut assembler.timeline_mut().threads;
        if some_are_forgotten && threads.get(tid).is_none() {
            continue;
        }
        let thread = threads.get_mut(tid);
        if thread.comm().is_empty() {
            thread.assume_name(comm);
        }
    }
    let trace = source.info().clone();
    assembler.complete_scope();
    tracers.finish(&mut assembler, &trace);
    assembler.end();
    tracers.complete(&mut assembler);
    let chains = assembler.finish_chains();
    let recorded = assembler.timeline().seen.union(trace.recorded.unwrap_or(KindSet::NONE));
    assembler.timeline_mut().recorded = recorded;
    assembler.leave_out();
    let timeline = assembler.timeline();
    let shown =
        || timeline.threads.iter().filter(|thread| !thread.tid.is_idle()).filter_map(Thread::shown_priority);
    let is_unranked = shown().next().is_some() && shown().all(|shown| shown == Priority::UNKNOWN);
    let mut missing = missing(recorded, asked.chains.is_some());
    missing.extend(is_unranked.then_some(UNRANKED));
    missing.extend(timeline.contexts.are_chosen().then_some(OF_FEW_THREADS));

    let reported =
        || timeline.threads.iter().filter_map(|thread| Some((thread, assembler.stats.get(thread.tid)?)));
    let mut tasks: Vec<TaskSummary> =
        reported().map(|(thread, stats)| summary(timeline, thread, stats)).collect();
    // A SCHED_OTHER thread beside real-time ones looks after them: what it does matters to no deadline.
    let explains_realtime = tasks.iter().any(|task| task.priority.is_realtime());
    let beside = |task: &&TaskSummary| explains_realtime && !task.priority.is_realtime();
    let beside: HashSet<Tid> = tasks.iter().filter(beside).map(|task| task.tid).collect();
    let mut activations: Vec<Activation> = Vec::new();
    for (thread, stats) in reported() {
        let deadline = options.deadline.filter(|_| !beside.contains(&thread.tid));
        for kept in &stats.worst {
            let mut activation = kept.activation.clone();
            if !recorded.contains(Kind::PageFault) {
                doubt_own_work(&mut activation);
            }
            let usual = assembler.usual(thread.tid).unwrap_or(stats);
            activation.verdict =
                verdict::of(timeline, usual, options.judge, deadline, &activation, &kept.notes);
            verdict::weigh(&mut activation, options.judge, &trace);
            activations.push(activation);
        }
    }
    let rank = |activation: &Activation| {
        (!activation.is_period(), beside.contains(&activation.tid), Reverse(activation.response()))
    };
    verdict::unpreempted::add_to_verdicts(&mut activations);
    activations.sort_by_key(|activation| (rank(activation), activation.due, activation.tid));
    let samples = trace.stacks.as_deref().map(Samples::new);
    for activation in activations.iter_mut() {
        let Some(samples) = &samples else { break };
        activation.places = samples.places(activation);
        let comm = |tid| timeline.threads.get(tid).map(Thread::comm).unwrap_or_default();
        mutexes::add_to_verdict(&samples.stacks().mutexes, activation, comm);
        samples.add_to_verdict(activation);
    }
    // What is found does not depend on how many are shown.
    let few = |count: usize| -> HashSet<(Tid, Ns)> {
        let stats = timeline.threads.iter().filter_map(|thread| assembler.stats.get(thread.tid));
        let kept = stats.flat_map(|stats| stats.worst_few(count)).map(|kept| &kept.activation);
        kept.map(|activation| (activation.tid, activation.due)).collect()
    };
    let (found_in, shown) = (few(FOR_FINDINGS), few(options.worst));
    let is_in =
        |few: &HashSet<(Tid, Ns)>, activation: &Activation| few.contains(&(activation.tid, activation.due));
    let judged: Vec<&Activation> =
        activations.iter().filter(|activation| is_in(&found_in, activation)).collect();
    let judged_by_thread = by_thread(judged.iter().copied());
    let by_thread = by_thread(activations.iter().filter(|activation| is_in(&shown, activation)));
    let profile = |task: &TaskSummary| {
        let worst = by_thread.get(&task.tid).map(Vec::as_slice).unwrap_or_default();
        profiles::of(samples.as_ref()?, task.tid, worst, task.activations, assembler.scope())
    };
    // A program that ran once and did its own work is no news beside threads that have periods.
    let recurs = tasks.iter().any(|task| task.activations > 1);
    let is_job = |task: &TaskSummary, worst: &Activation| {
        let cause = worst.verdict.cause;
        let own = cause.group() == CauseGroup::OwnProgram || cause == Cause::PageFault;
        recurs && task.activations == 1 && own
    };
    let rank_of = |task: &TaskSummary| {
        let worst = by_thread.get(&task.tid).and_then(|all| all.first());
        worst.map_or((true, (true, true, Reverse(Ns::ZERO))), |worst| (is_job(task, worst), rank(worst)))
    };
    tasks.sort_by_cached_key(|task| (rank_of(task), task.tid));
    let mut findings = findings::all(&Subject {
        timeline,
        stats: &assembler.stats,
        options,
        trace: &trace,
        beside: &beside,
        worst: &judged,
        by_thread: &judged_by_thread,
        calls: tracers.calls(),
        noises: tracers.noises(),
        scope: assembler.scope(),
    });
    let deadline = asked.chains.as_ref().and_then(|asked| asked.deadline);
    if let (Some(chains), Some(deadline)) = (&chains, deadline) {
        findings::add(&mut findings, findings::of_chains(chains, deadline));
    }
    let scope = assembler.scope().cloned().map(|mut scope| {
        let with_events = timeline.cpus.iter().filter(|(_, cpu)| cpu.last_event.is_some());
        let analysed = trace.breakdowns.iter().map(|one| one.cpu).filter(|&cpu| cpu != Cpu::UNKNOWN);
        scope.compare(trace.span, &with_events.map(|(cpu, _)| cpu).chain(analysed).collect(), trace.cpus);
        scope
    });
    let profiles = tasks.iter().filter_map(profile).collect();
    drop(samples);
    activations.retain(|activation| is_in(&shown, activation));
    let mut explanation = Explanation {
        trace,
        tasks,
        unlisted: assembler.stats.unlisted(),
        activations,
        sections: Vec::new(),
        profiles,
        findings,
        missing,
        chains,
        candidates: None,
        waits_beside: None,
        scope,
        stands_still: timeline.stands_still(),
        host: None,
        peer: None,
    };
    tracers.add_to(timeline, asked, &mut explanation);
    if explanation.lacks_switches() {
        explanation.activations.iter_mut().for_each(verdict::without_switches);
    }
    let Explanation { activations, findings, trace, .. } = &mut explanation;
    verdict::one_cpu::drop_moves(timeline, trace, activations.iter_mut(), findings);
    let is_open = asked.tasks.is_empty()
        && options.markers.is_none()
        && !explanation.concludes()
        && asked.chains.is_none();
    if is_open && !timeline.threads.iter().any(|thread| assembler.usual(thread.tid).is_some()) {
        explanation.candidates = candidates::of(timeline, asked);
    }
    if explanation.candidates.is_some() {
        explanation.waits_beside = candidates::longest_wait(timeline);
    }
    if asked.tasks.is_empty() && explanation.candidates.is_none() {
        let latest =
            explanation.tasks.iter().filter_map(|task| task.latency).map(|latency| latency.max).max();
        let first = explanation.tasks.iter().map(|task| task.priority).min();
        explanation.waits_beside = candidates::waits_beside(timeline, latest.unwrap_or(Ns::ZERO), first);
    }
    explanation
}

/// Explains a trace as [`explain`] does. Where no thread is asked for and no real-time thread was active, explains the
/// worst few candidates instead, without the deadline: it is of the thread that the
/// user means, and these are whylate's choice.
///
/// `again` opens the trace once more; `None` where it cannot be read twice: then the candidates are only named.
///
/// # Errors
/// Those of `again`.
pub fn explain_any<S: EventSource, E>(
    source: S,
    options: &Options,
    again: impl FnOnce() -> Result<Option<S>, E>,
) -> Result<Explanation, E> {
    let mut first = explain(source, options);
    let Some(candidates) = &first.candidates else { return Ok(first) };
    let longest_wait = first.waits_beside.take();
    let first_one = candidates.threads.first();
    let goes_along = |one: &&Candidate| {
        first_one.is_some_and(|first_one| candidates::goes_with(candidates, one, first_one))
    };
    let likely = candidates.threads.iter().filter(goes_along);
    let tasks: Vec<Select> = likely.take(EXPLAINED).map(|candidate| Select::Tid(candidate.tid)).collect();
    let Some(source) = again()? else { return Ok(first) };
    let mut second = explain(source, &Options { tasks, deadline: None, ..options.clone() });
    second.candidates = first.candidates.map(|mut candidates| {
        for candidate in &mut candidates.threads {
            candidate.is_explained = second.tasks.iter().any(|task| task.tid == candidate.tid);
        }
        candidates
    });
    let latest = second.tasks.iter().filter_map(|task| task.latency).map(|latency| latency.max).max();
    second.waits_beside = longest_wait.filter(|one| {
        let is_explained = second.tasks.iter().any(|task| task.tid == one.tid);
        !is_explained && candidates::is_far_longer(one, latest.unwrap_or(Ns::ZERO))
    });
    Ok(second)
}

fn summary(timeline: &Timeline, thread: &Thread, stats: &Stats) -> TaskSummary {
    let mut causes: Vec<(Cause, Ns)> = stats.causes().collect();
    causes.sort_by_key(|&(cause, time)| (Reverse(time), cause));
    let Identity { comm, policy, priority } =
        stats.identities.usual().unwrap_or_else(|| thread.identity_at(timeline.now));
    let priority = verdict::as_shown(thread, priority);
    TaskSummary {
        tid: thread.tid,
        comm,
        policy,
        priority,
        activations: stats.activations,
        latency: stats.latency.spread(),
        response: stats.response.spread(),
        causes,
    }
}

/// Without page faults, what a thread ran for may have been their handling.
pub(crate) fn doubt_own_work(activation: &mut Activation) {
    for segment in activation.ledger.iter_mut().filter(|segment| segment.cause == Cause::OwnWork) {
        segment.confidence = segment.confidence.min(Confidence::Medium);
    }
}

/// Switches without priorities, as rows of `perf sched timehist` have them.
const UNRANKED: Missing = Missing {
    kind: Kind::Switch,
    cannot_tell: "which of two threads comes first: these events are without the threads' priorities",
    is_partial: true,
};

/// Events of some threads only.
const OF_FEW_THREADS: Missing = Missing {
    kind: Kind::Other,
    cannot_tell: "what other threads, the idle task and interrupts upon them did: the events of few threads were recorded; \
                  record without such a filter (trace-cmd record -P, set_event_pid)",
    is_partial: true,
};

/// What the ledger needs and the trace neither has nor reports as recorded.
fn missing(recorded: KindSet, chains: bool) -> Vec<Missing> {
    let needs = [
        (Kind::Switch, "which thread had the CPU, and so what delayed a thread"),
        (Kind::Waking, "when a thread should have been able to run, before it was on a runqueue"),
        (Kind::Wakeup, "when and on which CPU a thread was put on a runqueue"),
        (Kind::HrtimerExpire, "how late a timer's interrupt came after its expiry"),
        (Kind::HrtimerStart, "when a timer was due to expire"),
        (
            Kind::Irq,
            "time taken by hard interrupt handlers: it is charged to the thread that they interrupted",
        ),
        (Kind::Softirq, "time taken by softirqs: it is charged to the thread that they interrupted"),
        (Kind::PageFault, "time taken by page faults: it is charged to the thread's own work"),
        (Kind::Syscall, "whether a sleep waits for the next period, for input or for a lock"),
    ];
    let of_chains = [
        (Kind::Packet, "which thread sent the packet that let another go on"),
        (Kind::Work, "which thread or interrupt queued the work item that let another go on"),
    ];
    needs
        .into_iter()
        .chain(of_chains.into_iter().filter(|_| chains))
        .filter(|(kind, _)| !recorded.contains(*kind))
        .map(|(kind, cannot_tell)| Missing::all_of(kind, cannot_tell))
        .collect()
}
