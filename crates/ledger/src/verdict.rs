//! From a ledger to the answer: what made this activation late, which culprit, and what to do.

pub(crate) mod advice;
mod answer;
mod evidence;
pub(crate) mod expirer;
mod heaviest;
pub(crate) mod one_cpu;
mod out_of_reach;
mod sentence;
mod slewed;
mod spent;
mod start;
pub(crate) mod unpreempted;
mod usual;

use answer::Answer;
pub(crate) use evidence::reset_on_fork;
use sentence::Circumstances;
pub(crate) use sentence::{as_shown, segment};
use start::at_job_before;
use usual::Usually;

use crate::causes::advised::Advised;
use crate::causes::{Cause, CauseGroup};
use crate::charge::notes::{
    TimerCallbacks, VerdictNote, answerer, answerer_itself, asked, calls_slept_in, carrier, deferred,
    goes_on, grace_period, idle_cpus, is_boosted, is_called, let_go_in, other_lock, own_priority,
    owners_slept, protected_by_fork, slept_in, slewed, stopped_by, tracer, waits_for_the_kernel,
    write_protected,
};
use crate::model::{Activation, Culprit, IrqKind, Segment, Trigger, Verdict};
use crate::options::Judge;
use crate::stats::{Stats, charged as charged_by, lock_owner};
use crate::timeline::Timeline;
use crate::timeline::spent::Within;
use whylate_base::{AdvisedFix, Confidence, Evidence, Ns, Priority};
use whylate_events::{Breakdown, Kind, LeftOut, Quality, TraceInfo};

/// Runnable to the end of the trace for this long is starvation, and not a trace that ended early.
const STARVED: Ns = Ns::from_ms(100);
/// See [`may_be_stolen`].
const LONG_HANDLER: Ns = Ns::from_ms(1);
/// Segments that are listed as evidence.
const MAX_EVIDENCE: usize = 4;

/// What made `activation` late, which was to be done within `deadline`, where there is one.
pub(crate) fn of(
    timeline: &Timeline,
    stats: &Stats,
    judge: Judge,
    deadline: Option<Ns>,
    activation: &Activation,
    notes: &[VerdictNote],
) -> Verdict {
    let judged = judged(judge, activation);
    let usual_work = stats.own_work.percentile(0.5).unwrap_or(Ns::ZERO);
    let groups = charged_by(&judged);
    let usually = Usually { stats, activation, judged: &judged, notes, work: usual_work };
    // A deadline is for the end of a period.
    let deadline = deadline.filter(|_| judge == Judge::Response && activation.is_period());
    let Answer { mut cause, by, charged, on_time, beside_work, mostly_called, work_misses } =
        answer::of(&usually, &groups, timeline.is_text, deadline);
    let response: Ns = judged.iter().map(Segment::length).sum();
    let share = if response > Ns::ZERO { charged.0 as f64 / response.0 as f64 } else { 0.0 };
    let own = judged.iter().filter(|segment| (segment.cause, segment.by) == (cause, by));
    let stands_still = timeline.stands_still();
    let mut confidence = confidence_of(own.clone(), stands_still);
    if on_time && timeline.is_text && activation.done.is_none() && cause == Cause::OwnWork {
        confidence = Confidence::Low;
    }
    let losses = judged.iter().filter(|segment| segment.cause == Cause::TraceLoss);
    let lost: Ns = losses.map(Segment::length).sum();
    if cause != Cause::TraceLoss && lost > Ns::ZERO {
        confidence =
            confidence.min(if lost.0 * 4 > charged.0 { Confidence::Low } else { Confidence::Medium });
    }
    let may_be_stolen = stands_still && may_be_stolen(own);
    let mut evidence = evidence(timeline, activation, &judged, (cause, by), notes);
    evidence.extend(evidence::with_others(&groups, cause, by).filter(|_| !on_time));
    evidence.extend(may_be_stolen.then(|| Evidence::general(sentence::may_be_stolen(timeline.standstills))));
    evidence.extend(
        notes.iter().filter(|_| !on_time).filter_map(|note| evidence::noted(note, cause, by)).take(1),
    );
    evidence.extend(evidence::of_reset(timeline, activation, cause).filter(|_| !on_time));
    evidence.extend(notes.iter().filter_map(|note| match note {
        VerdictNote::Note(seen) => Some(seen.clone()),
        _ => None,
    }));
    evidence.extend(by.as_ref().and_then(sentence::recorder).filter(|_| !on_time).map(Evidence::general));
    evidence.extend(timeline.foreign_modules.named_in(&evidence));
    let underlying = cause;
    if cause.info().details.starves.is_some() && starved(activation) {
        cause = Cause::Starved;
    }
    let of_verdict = || judged.iter().filter(|segment| (segment.cause, segment.by) == (underlying, by));
    let cpu =
        of_verdict().max_by_key(|segment| segment.length()).map_or(activation.cpu, |segment| segment.cpu);
    let raised_by = by.and_then(|by| {
        timeline.raiser(&by, cpu, activation.due).or_else(|| armed_by(timeline, notes, &by, charged))
    });
    // Nothing is advised about what was in time.
    let late = timeline.threads.get(activation.tid).filter(|_| !on_time);
    let late_cpus = late.map(|thread| thread.affinity.used_cpus());
    let mut sharing: Vec<_> = groups.iter().filter(|((shared, _), _)| *shared == underlying).collect();
    sharing.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let sharing: Vec<Culprit> = sharing.into_iter().filter_map(|((_, by), _)| *by).collect();
    let late_priority = priority_while(timeline, activation, (underlying, by));
    let slept = slept_in(notes, underlying, charged);
    let other_lock = other_lock(notes, of_verdict());
    evidence.extend(
        other_lock
            .and_then(|(_, behind)| behind)
            .filter(|_| !on_time)
            .map(|waiter| Evidence::general(format!("{waiter} waited for that lock as well, since before"))),
    );
    let device_calls = calls_slept_in(notes, Cause::BlockIo, charged);
    let growth = stats.growth(activation.due);
    let advised = Advised {
        by: by.as_ref(),
        by_own: by.and_then(|by| own_priority(notes, &by)),
        priority: Some(late_priority),
        late: Some((activation.tid, activation.comm)),
        cpu: Some(cpu),
        late_cpus: late_cpus.as_ref(),
        charged,
        own_time: own_time(&activation.ledger),
        raised_by: raised_by.as_ref(),
        carrier: carrier(notes),
        idle: idle_cpus(notes),
        all_by: &sharing,
        kernel_lock: waits_for_the_kernel(notes, of_verdict()),
        no_mutex: other_lock.map(|(kind, _)| kind),
        behind_waiter: other_lock.as_ref().and_then(|(_, behind)| behind.as_ref()),
        called: is_called(notes, by),
        answerer: match underlying {
            Cause::OwnWait => answerer(notes),
            Cause::Stopped => tracer(notes),
            _ => None,
        },
        answerer_itself: answerer_itself(notes),
        asked: asked(notes, by),
        call: slept.and_then(Within::call),
        device_calls: &device_calls,
        whole_pages: notes.contains(&VerdictNote::WholePages),
        grows: growth.is_some(),
        usually_late: work_misses.is_some(),
        catches_up: at_job_before(activation, charged).is_some(),
        in_handler: matches!(slept, Some(Within::Handler { .. })),
        shows_calls: timeline.recorded.contains(Kind::Syscall),
        shows_wakings: timeline.seen.contains(Kind::Waking),
        work_item: let_go_in(notes, by),
        goes_on: goes_on(notes, by).is_some(),
        grace_period: grace_period(notes, charged),
        recorded_all: timeline.has_all_kinds(),
        write_protected: write_protected(notes).is_some(),
        forked: protected_by_fork(notes),
        is_traced: notes.contains(&VerdictNote::Traced),
        stopped_by: stopped_by(notes),
        deferred: deferred(notes).filter(|_| underlying == Cause::SoftirqDeferred),
        same_process: by.is_some_and(|by| timeline.are_of_one_process(&by, activation.tid)),
        is_kin: by.is_some_and(|by| timeline.are_kin(&by, activation.tid)),
        brief: by.filter(|by| timeline.is_brief(by)),
        memory_locked: timeline.locks_memory(activation.tid),
        inherited: by.and_then(|by| timeline.inherited_from(&by, activation.tid)),
        owner_slept: owners_slept(notes).0.saturating_mul(2) >= charged.0 && charged > Ns::ZERO,
        lock_owner: lock_owner(of_verdict()),
        in_doubt: confidence == Confidence::Low,
    };
    let mut verdict = Verdict {
        cause,
        by,
        charged,
        judged: response,
        share,
        confidence,
        why: String::new(),
        fix: if on_time { Vec::new() } else { fix(cause, &advised, notes) },
        evidence,
    };
    let circumstances = Circumstances {
        underlying,
        cpu,
        on_time,
        beside_work: beside_work.filter(|&(delayed, _)| on_time && delayed != underlying),
        usual_work,
        mostly_called,
        work_misses,
        notes,
        late_priority,
        raised_by: advised.raised_by,
        device_calls: &device_calls,
        growth,
    };
    verdict.why = sentence::why(timeline, stats, activation, &verdict, &circumstances);
    let spent = spent::most(notes, charged, usual_work);
    if let Some((within, time)) = spent.filter(|_| cause == Cause::OwnWork && !on_time) {
        verdict.why += &spent::sentence(within, time);
        verdict.fix = spent::advice(within);
    } else if let Some((within, times, time)) =
        spent::many(notes, charged, usual_work).filter(|_| cause == Cause::OwnWork && !on_time)
    {
        verdict.why += &spent::sentence_on_many(within, times, time);
        verdict.fix.push(spent::advice_on_many(within));
    }
    if let Some(slew) = slewed(notes, charged).filter(|_| cause == Cause::TimerLate && !on_time) {
        let thread = format!("{} ({late_priority})", activation.comm);
        let adjusted = timeline.clock_adjusted > Ns(i64::MIN);
        verdict.why = slewed::sentence(&thread, slew, charged, adjusted);
        verdict.fix = slewed::advice();
    }
    let delays_timer_threads = cause.info().details.delays_timer_threads;
    let expirer = || expirer::of(notes, &judged, (cause, by));
    if let Some(expirer) = delays_timer_threads.then(expirer).flatten().filter(|_| !on_time) {
        verdict.why = expirer::why(activation, (by, charged), &expirer, advised.lock_owner, notes);
        verdict.fix = advice::expirer(&expirer, &advised);
    }
    if !on_time {
        out_of_reach::add(timeline, activation, notes, &mut verdict);
    }
    verdict
}

/// The priority of the late thread in most of the time that is charged to `key`: it may have lowered it by then.
pub(crate) fn priority_while(
    timeline: &Timeline,
    activation: &Activation,
    key: (Cause, Option<Culprit>),
) -> Priority {
    let charged = activation.ledger.iter().filter(|segment| (segment.cause, segment.by) == key);
    let longest = charged.max_by_key(|segment| segment.length());
    let thread = timeline.threads.get(activation.tid);
    let then = thread.zip(longest).map(|(thread, segment)| thread.own_priority_at(segment.start));
    then.filter(|then| activation.priority.outranks(*then)).unwrap_or(activation.priority)
}

/// The thread that armed nearly all of the timers that made the CPU's own timer interrupt so long.
fn armed_by(timeline: &Timeline, notes: &[VerdictNote], by: &Culprit, charged: Ns) -> Option<Culprit> {
    /// In hundredths.
    const NEARLY_ALL: i64 = 80;
    /// The same: beside the callbacks the kernel takes each timer from its queue, which may take it as long again.
    const MUCH: i64 = 30;
    if by.irq_kind() != Some(IrqKind::OwnTimer) {
        return None;
    }
    let (tid, comm, at) = notes.iter().find_map(|note| {
        let VerdictNote::Timers(TimerCallbacks { at, time, most: (_, times, spent), armed_by, .. }) = note
        else {
            return None;
        };
        let (tid, comm, armed) = (*armed_by)?;
        let is_most = spent.0.saturating_mul(100) >= time.0.saturating_mul(NEARLY_ALL)
            && spent.0.saturating_mul(100) >= charged.0.saturating_mul(MUCH);
        (is_most && armed.saturating_mul(100) >= times.saturating_mul(NEARLY_ALL as usize))
            .then_some((tid, comm, *at))
    })?;
    let thread = timeline.threads.get(tid).filter(|_| !tid.is_idle())?;
    Some(Culprit::Task { tid, comm, priority: thread.priority_at(at) })
}

/// For how long the thread itself ran.
pub(crate) fn own_time(ledger: &[Segment]) -> Ns {
    ledger.iter().filter(|segment| segment.cause == Cause::OwnWork).map(Segment::length).sum()
}

/// How sure segments of one cause and culprit are: three quarters of their time are at least so sure, as a moment in doubt
/// leaves the rest as it is. `stands_still`: that of [`crate::Explanation`].
pub fn confidence_of<'a>(
    segments: impl Iterator<Item = &'a Segment> + Clone,
    stands_still: bool,
) -> Confidence {
    let time = |least: Confidence| -> Ns {
        segments.clone().filter(|segment| segment.confidence >= least).map(Segment::length).sum()
    };
    let charged = time(Confidence::Low);
    if charged == Ns::ZERO || (stands_still && may_be_stolen(segments.clone())) {
        return Confidence::Low;
    }
    let is_most = |&least: &Confidence| time(least).0.saturating_mul(4) >= charged.0.saturating_mul(3);
    [Confidence::High, Confidence::Medium].into_iter().find(is_most).unwrap_or(Confidence::Low)
}

/// True where a handler's time may have been stolen: on a guest whose CPUs stand still, a handler that takes very long shows
/// nothing. Most thefts begin in no handler, and so leave no other trace.
fn may_be_stolen<'a>(mut segments: impl Iterator<Item = &'a Segment>) -> bool {
    segments.any(|segment| {
        let info = segment.cause.info();
        info.group == CauseGroup::Interrupts
            // A thread that kept another one off the CPU did so by the rules of the scheduler, and the recording has its
            // switches.
            && !info.details.culprit_holds_cpu
            && segment.length() >= LONG_HANDLER
    })
}

/// What helps where a text has pieces of a recording.
pub(crate) fn between_pieces() -> AdvisedFix {
    AdvisedFix::by_hand(
        "explain each piece in a file of its own, or the whole recording".to_owned(),
        "the text lacks events",
    )
}

/// Lowers the confidence where the recording as a whole is in doubt, or lines were left out of a text within the activation.
/// Damage that only costs events does not: a gap is a loss in the stream of events, and the activations around it count it.
pub(crate) fn weigh(activation: &mut Activation, judge: Judge, trace: &TraceInfo) {
    let span = activation.due..judged_to(judge, activation);
    let verdict = &mut activation.verdict;
    let is_charged = |left_out: &&LeftOut| {
        let within = |segment: &Segment| segment.start <= left_out.at && left_out.at < segment.end;
        let of_verdict = |segment: &&Segment| (segment.cause, segment.by) == (verdict.cause, verdict.by);
        !left_out.ends_piece && activation.ledger.iter().filter(of_verdict).any(within)
    };
    let marks = || trace.left_out.iter().filter(|left_out| span.contains(&left_out.at));
    let charged = marks().find(is_charged);
    let before = verdict.confidence;
    verdict.confidence = match before {
        // Only the rows show that a thread runs on: it may have slept where they were left out.
        _ if charged.is_some() && verdict.cause == Cause::OwnWork => {
            verdict.why = format!("as far as the lines show, {}", verdict.why);
            Confidence::Low
        }
        Confidence::High if marks().next().is_some() => Confidence::Medium,
        _ if charged.is_some() => Confidence::Low,
        same => same,
    };
    if let Some(left_out) =
        charged.or(marks().next()).filter(|_| charged.is_some() || verdict.confidence < before)
    {
        let line = left_out.line;
        verdict.evidence.push(Evidence::general(match left_out.ends_piece {
            true => format!("the rows of the text are interrupted at line {line}, within this time"),
            false => {
                format!(
                    "line {line} of the text leaves lines out within this time: they may show another cause"
                )
            }
        }));
    }
    let has_pieces = trace.lost_events == 0 && trace.cuts().next().is_some();
    if verdict.cause == Cause::TraceLoss && has_pieces {
        verdict.why = format!(
            "the text does not show {} of it: its rows are interrupted, and the times do not follow on one another",
            verdict.charged
        );
        verdict.fix = vec![between_pieces()];
    }
    // Another cause may be in the lines that the file lacks.
    if trace.excerpt().is_some_and(|(printed, here)| here.saturating_mul(2) < printed) {
        verdict.confidence = verdict.confidence.min(Confidence::Medium);
    }
    // Of rtla's analysis the rest is missing: parts of it, and the total.
    let of_cut = |breakdown: &Breakdown| breakdown.is_cut && breakdown.cpu == activation.cpu;
    if activation.running.is_none() && trace.breakdowns.iter().any(of_cut) {
        verdict.confidence = Confidence::Low;
    }
    if trace.quality() == Quality::Poor {
        verdict.confidence = Confidence::Low;
    }
}

/// Nothing shows that a thread had the CPU all the time, where no switches were recorded.
pub(crate) fn without_switches(activation: &mut Activation) {
    let verdict = &mut activation.verdict;
    if matches!(verdict.cause, Cause::OwnWork | Cause::Unexplained) {
        verdict.confidence = Confidence::Low;
        verdict.why = format!(
            "cannot tell whether anything delayed {} ({}): the recording has no sched_switch, and so does not show when the \
             thread had the CPU",
            activation.comm, activation.priority
        );
    }
}

/// The end of the part that the verdict answers for.
fn judged_to(judge: Judge, activation: &Activation) -> Ns {
    match judge {
        Judge::Response => activation.end,
        Judge::Latency => activation.running.unwrap_or(activation.end),
    }
}

/// The part of the ledger that the verdict answers for.
fn judged(judge: Judge, activation: &Activation) -> Vec<Segment> {
    let end = judged_to(judge, activation);
    let before = activation.ledger.iter().filter(|segment| segment.start < end);
    before.map(|segment| Segment { end: segment.end.min(end), ..*segment }).collect()
}

/// What to do about a cause and culprit, best first.
fn fix(cause: Cause, of: &Advised<'_>, notes: &[VerdictNote]) -> Vec<AdvisedFix> {
    match of.by {
        // What programs do with their locks changes nothing about the kernel's, nor about calls that wait for something else.
        Some(by) if is_boosted(notes, by) && !of.kernel_lock && !cause.accuses_late_thread() => {
            advice::boosted()
        }
        _ => cause.advice(of),
    }
}

fn starved(activation: &Activation) -> bool {
    activation.running.is_none()
        && activation.done.is_none()
        && activation.trigger != Trigger::TraceStart
        && activation.response() >= STARVED
}

/// The longest segments that were charged to the verdict, as the trace shows them.
fn evidence(
    timeline: &Timeline,
    activation: &Activation,
    judged: &[Segment],
    (cause, by): (Cause, Option<Culprit>),
    notes: &[VerdictNote],
) -> Vec<Evidence> {
    let mut segments: Vec<&Segment> =
        judged.iter().filter(|segment| (segment.cause, segment.by) == (cause, by)).collect();
    let total = segments.len();
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.length()));
    segments.truncate(MAX_EVIDENCE);
    segments.sort_by_key(|segment| segment.start);
    let mut evidence: Vec<Evidence> = segments
        .iter()
        .map(|segment| {
            Evidence::at(segment.start, segment.cpu, sentence::segment(segment, activation, notes))
        })
        .collect();
    if total > segments.len() {
        evidence.push(Evidence::general(format!("and {} shorter intervals", total - segments.len())));
    }
    if cause.info().details.shows_bandwidth {
        evidence.extend(evidence::of_bandwidth(timeline, activation));
    }
    evidence
}
