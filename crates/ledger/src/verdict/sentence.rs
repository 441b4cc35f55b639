//! The words of a verdict: one sentence that an engineer can act on, and the evidence's lines.

use super::expirer;
use super::start::at_job_before;
use crate::causes::Cause;
use crate::causes::info::{ChargedTime, LateActivation};
use crate::charge::notes::{
    TimerCallbacks, VerdictNote, asked, carrier, executed, goes_on, grace_period, is_boosted, is_called,
    let_go_in, own_priority, protected_by_fork, shown, slept_in, stopped_by, takes_turns, write_protected,
};
use crate::growth::Growth;
use crate::model::{Activation, Culprit, OnCpu, Segment, Verdict, thread_name};
use crate::stats::{Stats, lock_owner};
use crate::timeline::Timeline;
use crate::timeline::housekeeping::records_traces;
use crate::timeline::thread::Thread;
use std::collections::HashMap;
use whylate_base::{Confidence, Cpu, CpuSet, Ns, Priority, SchedClass};
use whylate_events::Kind;

/// Other time than the thread's own is worth a word where it is more than this part of the response.
const RATHER_MUCH: i64 = 4;

/// One segment as evidence.
pub(crate) fn segment(segment: &Segment, activation: &Activation, notes: &[VerdictNote]) -> String {
    let info = segment.cause.info();
    (info.details.evidence)(&ChargedTime {
        code: info.code,
        length: segment.length(),
        culprit: segment.by.as_ref().map(|by| shown(notes, by)),
        lock_owner: segment.owner.filter(|_| segment.owner != segment.by).map(|owner| shown(notes, &owner)),
        is_sure: segment.confidence > Confidence::Low,
        running: running_in(activation, segment),
        expirer: expirer::until(notes, segment.end).map(|expirer| expirer.to_string()),
    })
}

/// True of a thread that still waited for the CPU, or slept in the middle of its work, when the trace ended.
fn ends_waiting(timeline: &Timeline, activation: &Activation) -> bool {
    let Some(last) = activation.ledger.last() else { return false };
    let is_open = activation.done.is_none()
        && activation.running.is_none_or(|running| running < activation.end)
        && matches!(
            last.cause,
            Cause::HigherPriorityTask
                | Cause::EqualPriorityTask
                | Cause::FairQueue
                | Cause::OtherTask
                | Cause::BlockIo
        );
    let sleeps = || activation.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo).count();
    let is_woken = || timeline.threads.get(activation.tid).is_some_and(|thread| thread.waking.is_some());
    is_open && !(last.cause == Cause::BlockIo && (sleeps() > 1 || is_woken()))
}

/// What a timer interrupt ran, in words.
pub(crate) fn timers(timers: &TimerCallbacks) -> String {
    let TimerCallbacks { count, time, most: (function, times, spent), armed_by, .. } = timers;
    let function = if function.is_empty() { "one function" } else { function.as_str() };
    let armed = match armed_by {
        Some((tid, comm, armed)) => format!(", {armed} of them armed by {comm}:{tid}"),
        None => String::new(),
    };
    let expired = if *count == 1 { "1 timer".to_owned() } else { format!("{count} timers") };
    format!("{expired} expired in it and ran for {time}; {function} ran {times} times for {spent}{armed}")
}

/// The thread that had the CPU for nearly all of a segment: one that had it for a moment is not what was there meanwhile.
fn running_in(activation: &Activation, segment: &Segment) -> Option<String> {
    /// In tenths.
    const NEARLY_ALL: i64 = 9;
    let track = activation.tracks.iter().find(|track| track.cpu == segment.cpu)?;
    let mut times: Vec<(Culprit, Ns)> = Vec::new();
    for slice in &track.slices {
        let time = slice.end.min(segment.end).since(slice.start.max(segment.start));
        let OnCpu::Task { tid, comm, priority } = slice.on_cpu else { continue };
        let task = Culprit::Task { tid, comm, priority };
        match times.iter_mut().find(|(one, _)| *one == task) {
            Some((_, sum)) => *sum += time,
            None => times.push((task, time)),
        }
    }
    let (task, time) = times.into_iter().max_by_key(|(_, time)| *time)?;
    let is_most = time.0.saturating_mul(10) >= segment.length().0.saturating_mul(NEARLY_ALL);
    is_most.then(|| task.to_string())
}

/// What a sentence needs beyond the verdict itself.
pub(crate) struct Circumstances<'a> {
    /// The cause of the time, where the verdict is starvation.
    pub(crate) underlying: Cause,
    /// Where most of that time was spent: the thread may have run on another CPU.
    pub(crate) cpu: Cpu,
    /// Nothing made it late.
    pub(crate) on_time: bool,
    /// A delay of some length that was a small part of that, by its cause.
    pub(crate) beside_work: Option<(Cause, Ns)>,
    pub(crate) usual_work: Ns,
    /// Threads that it woke itself, and that run before it, had the CPU for most of it.
    pub(crate) mostly_called: bool,
    /// The deadline that it missed, where its usual work alone is longer.
    pub(crate) work_misses: Option<Ns>,
    pub(crate) notes: &'a [VerdictNote],
    /// The priority of the late thread in that time.
    pub(crate) late_priority: Priority,
    /// What raised the softirq that is the culprit.
    pub(crate) raised_by: Option<&'a Culprit>,
    /// The system calls in which it waited for a device, and how long.
    pub(crate) device_calls: &'a [(&'static str, Ns)],
    /// Its response grows from one activation to the next.
    pub(crate) growth: Option<Growth>,
}

/// Of an activation that is in time: most of it had threads that run before it, and that it had woken itself.
fn called_first(activation: &Activation, notes: &[VerdictNote], late_thread: &str) -> String {
    let is_of = |segment: &&Segment| segment.cause.culprit_runs_first() && is_called(notes, segment.by);
    let mut times: HashMap<Culprit, Ns> = HashMap::new();
    for segment in activation.ledger.iter().filter(is_of) {
        segment.by.into_iter().for_each(|by| *times.entry(by).or_default() += segment.length());
    }
    let most = times.iter().max_by_key(|&(by, time)| (*time, by.to_string()));
    let named = most.map_or_else(String::new, |(by, _)| by.to_string());
    let others = match times.len() {
        ..=1 => String::new(),
        2 => " and one other".to_owned(),
        n => format!(" and {} others", n - 1),
    };
    let (all, response): (Ns, Ns) = (times.values().copied().sum(), activation.response());
    format!(
        "nothing delayed {late_thread} beyond the usual: for {all} of {response} threads ran before it that it had \
         woken itself, {named}{others}"
    )
}

/// Why the activation was late, in one sentence.
pub(crate) fn why(
    timeline: &Timeline,
    stats: &Stats,
    activation: &Activation,
    verdict: &Verdict,
    circumstances: &Circumstances<'_>,
) -> String {
    let Circumstances {
        underlying,
        cpu,
        on_time,
        beside_work,
        usual_work,
        mostly_called,
        work_misses,
        notes,
        late_priority,
        raised_by,
        device_calls,
        growth,
    } = *circumstances;
    let name = match activation.comm.is_empty() {
        true => thread_name(&activation.comm, activation.tid),
        false => activation.comm.to_string(),
    };
    let thread = timeline.threads.get(activation.tid);
    let shown_priority = thread.map_or(late_priority, |thread| as_shown(thread, late_priority));
    let late_thread = format!("{name} ({shown_priority})");
    let (charged, response) = (verdict.charged, verdict.judged);
    if on_time {
        if response == Ns::ZERO {
            return format!("the recording shows no time of {late_thread} here");
        }
        if mostly_called {
            return called_first(activation, notes, &late_thread);
        }
        if activation.running.is_none() {
            let cause = verdict.cause.code();
            return format!(
                "the recording has no run of {late_thread} from then on: {charged} of {response} was {cause}"
            );
        }
        if verdict.cause == Cause::Unexplained {
            return format!("{late_thread} was hardly late: {charged} of {response} is not explained");
        }
        if let Some(by) = verdict.by.filter(|_| verdict.cause.culprit_runs_first()) {
            return format!(
                "nothing delayed {late_thread} notably: {by} ran before it, for {charged} of {response}"
            );
        }
        let what = match verdict.cause.info().details.name_on_time {
            // Others came behind the one that woke it.
            _ if verdict.cause == Cause::Irq && !goes_on_from_due(activation, verdict) => "hard interrupts",
            name => name.unwrap_or(verdict.cause.code()),
        };
        let usual = match stats.show_usual() {
            true => ", about as usual",
            false if timeline.is_text && works_on(activation, verdict) => "; when it is done is not shown",
            false => "",
        };
        let took = format!("{charged} of {response} was {what}{usual}");
        if let Some((cause, time)) = beside_work.filter(|_| !stats.show_usual()) {
            return format!(
                "nothing is known to have delayed {late_thread} notably: {took}, and {time} was {cause}; it has too few activations \
                 ({}) to show what is usual",
                stats.activations
            );
        }
        return match activation.latency().filter(|&latency| latency > charged && !stats.show_usual()) {
            Some(latency) => {
                format!("nothing delayed {late_thread} notably: it ran {latency} after it was due; {took}")
            }
            // Beside work that is as usual, so is the rest.
            None if stats.show_usual() && (response - charged).0.saturating_mul(RATHER_MUCH) > response.0 => {
                format!("nothing delayed {late_thread} beyond the usual: {took}")
            }
            None => format!("nothing delayed {late_thread}: {took}"),
        };
    }
    if let Some(waited) = waited_unexplained(activation, verdict) {
        return format!(
            "{late_thread} was runnable and waited for a CPU, for {waited} of {response}{}: the recording does not show why",
            waited_elsewhere(activation)
        );
    }
    let bandwidth = timeline.bandwidth.at(activation.due);
    let of_verdict = |segment: &&Segment| (segment.cause, segment.by) == (verdict.cause, verdict.by);
    let lock_owner = lock_owner(activation.ledger.iter().filter(of_verdict));
    verdict.cause.why(&LateActivation {
        name,
        thread: late_thread,
        cpu,
        was_realtime: late_priority.is_realtime(),
        priority: late_priority,
        is_deadline: late_priority.class() == SchedClass::Deadline,
        charged,
        response,
        culprit: verdict.by.as_ref(),
        culprit_own: verdict.by.and_then(|by| own_priority(notes, &by)),
        namesakes: namesakes(activation, verdict),
        raised_by,
        carrier: carrier(notes),
        lock_owner,
        owner_own: lock_owner.and_then(|owner| own_priority(notes, owner)),
        asked: asked(notes, verdict.by),
        slept_in: slept_in(notes, underlying, charged),
        device_calls,
        writeback: notes.contains(&VerdictNote::Writeback),
        work_item: let_go_in(notes, verdict.by),
        executed: executed(notes, verdict.by),
        goes_on: goes_on(notes, verdict.by),
        grace_period: grace_period(notes, charged),
        write_protected: write_protected(notes),
        forked: protected_by_fork(notes),
        stopped_by: stopped_by(notes),
        is_traced: notes.contains(&VerdictNote::Traced),
        called: is_called(notes, verdict.by),
        takes_turns: takes_turns(notes, verdict.by),
        inherited_priority: verdict.by.as_ref().is_some_and(|by| is_boosted(notes, by)),
        waits_to_end: ends_waiting(timeline, activation),
        is_whole: activation.is_whole(),
        growth,
        at_job_before: at_job_before(activation, verdict.charged),
        usual_work,
        work_misses,
        rt_runtime: bandwidth.limit(),
        rt_period: bandwidth.period,
        is_guest: timeline.hypervisor,
        shows_page_faults: timeline.recorded.contains(Kind::PageFault),
        is_sure: verdict.confidence > Confidence::Low,
        starved_because: underlying.info().details.starves.unwrap_or_default(),
    })
}

/// How many threads of the culprit's name had time of the verdict's cause, and how much.
fn namesakes(activation: &Activation, verdict: &Verdict) -> (usize, Ns) {
    let name_of = |by: Option<Culprit>| match by {
        Some(Culprit::Task { comm, .. }) => Some(comm),
        _ => None,
    };
    let is_alike =
        |segment: &&Segment| segment.cause == verdict.cause && name_of(segment.by) == name_of(verdict.by);
    let mut threads: HashMap<Option<Culprit>, Ns> = HashMap::new();
    for segment in activation.ledger.iter().filter(is_alike) {
        *threads.entry(segment.by).or_default() += segment.length();
    }
    (threads.len(), threads.into_values().sum())
}

/// Where most of the unexplained time lies between the wake-up and the run: all of it that does.
fn waited_unexplained(activation: &Activation, verdict: &Verdict) -> Option<Ns> {
    let (woken, running) = (activation.woken?, activation.running?);
    let within = |segment: &Segment| segment.end.min(running).since(segment.start.max(woken));
    let unexplained = activation.ledger.iter().filter(|segment| segment.cause == Cause::Unexplained);
    let waited: Ns = unexplained.map(within).sum();
    (verdict.cause == Cause::Unexplained
        && waited.0.saturating_mul(10) >= verdict.charged.0.saturating_mul(9))
    .then_some(waited)
}

/// `, 8.00 ms of it for another CPU, before it was moved to CPU 2`: the rows of `timehist -P` do not name the other one.
fn waited_elsewhere(activation: &Activation) -> String {
    let unknown = activation.ledger.iter().filter(|segment| segment.cpu == Cpu::UNKNOWN);
    match unknown.map(Segment::length).sum() {
        Ns::ZERO => String::new(),
        time => format!(", {time} of it for another CPU, before it was moved to CPU {}", activation.cpu),
    }
}

/// A priority of a thread as it may be shown: what the thread is taken for where no event shows any is no news.
pub(crate) fn as_shown(thread: &Thread, priority: Priority) -> Priority {
    let is_guess = thread.shown_priority().is_none() && priority == Priority::DEFAULT;
    if is_guess { Priority::UNKNOWN } else { priority }
}

/// True where the time that is judged has only a part of the thread's work, which goes on behind the recording.
fn works_on(activation: &Activation, verdict: &Verdict) -> bool {
    let own = |segment: &Segment| segment.cause == Cause::OwnWork;
    let runs = verdict.cause == Cause::OwnWork || activation.ledger.last().is_some_and(own);
    activation.done.is_none()
        && runs
        && activation.running.is_none_or(|running| activation.due + verdict.judged > running)
}

/// True where the charged time goes on without a break from when the thread was due: it is of one thing, which woke it.
fn goes_on_from_due(activation: &Activation, verdict: &Verdict) -> bool {
    let mut at = activation.due;
    activation.ledger.iter().filter(|segment| (segment.cause, segment.by) == (verdict.cause, verdict.by)).all(
        |segment| {
            let follows = segment.start == at;
            at = segment.end;
            follows
        },
    )
}

/// CPUs that were idle through a wait on another.
pub(crate) fn idle_elsewhere(idle: &CpuSet) -> String {
    match idle.len() {
        1 => format!("CPU {idle}, which the thread may use, was idle all that time"),
        _ => format!("CPUs {idle}, which the thread may use, were idle all that time"),
    }
}

/// What is to be known of a culprit that records traces.
pub(crate) fn recorder(by: &Culprit) -> Option<String> {
    let Culprit::Task { comm, .. } = by else { return None };
    let is_one = records_traces(comm.as_str());
    is_one.then(|| format!("{comm} records traces: without the recording it would not have been in the way"))
}

/// Why a handler that took long is in doubt.
pub(crate) fn may_be_stolen(standstills: u32) -> String {
    format!(
        "the CPUs of this guest stood still {standstills} times in the recording: the hypervisor may have had this time as well"
    )
}
