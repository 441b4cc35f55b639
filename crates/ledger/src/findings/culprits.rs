//! What made threads late: the culprits of the worst activations, each summed over the whole trace. Those are the culprits
//! of their verdicts, and others that had a notable share: of two faults in the same activations, one has the verdicts.
//! A small delay that makes no thread late is no finding.

use super::kin::{self, Accused, Delay, title};
use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::causes::grace_period;
use crate::causes::info::Usual;
use crate::charge::notes::{
    VerdictNote, carrier, deferred, executed, goes_on, is_boosted, is_called, other_lock, own_priority,
    shown, stopped_by, waits_for_the_kernel,
};
use crate::costs::Cost;
use crate::model::{Activation, Culprit, IrqKind, Kin, Segment, Trigger};
use crate::stats;
use crate::verdict::{advice, expirer, priority_while};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use whylate_base::{AdvisedFix, Confidence, Evidence, Finding, Ns, Priority, SchedClass, Severity, Tid};

/// A timer interrupt of the CPU's own takes some microseconds, tens on a slow machine.
const LONG_INTERRUPT: Ns = Ns::from_us(200);
/// A delay below this, and below one part in so many of the period, leaves nearly all of the period as it was.
const MINOR: Ns = Ns::from_us(200);
/// The same of a SCHED_OTHER thread, whose turn itself comes after some milliseconds where others run
/// (`base_slice_ns`, `kernel/sched/fair.c`).
const MINOR_FAIR: Ns = Ns::from_ms(1);
const MINOR_OF_PERIOD: i64 = 50;
/// A second culprit had at least so large a part of the response.
const NOTABLE_PART: i64 = 5;
/// So many activations of a thread show how often it has one.
const MANY: u64 = 20;
/// What delayed one of them by less, and by less than one part in so many of the period, is an exception that cost little.
const LONG_ONCE: Ns = Ns::from_ms(1);
const PART_OF_PERIOD: i64 = 10;
/// A program that stops another one so often does it as a rule.
const OFTEN_STOPPED: u64 = 3;
/// Of fewer delays the longest is most by itself.
const SEVERAL: u64 = 5;
/// A longer list is not read.
const MAX_FINDINGS: usize = 8;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut culprits: HashMap<(Cause, Kin), Accused<'_>> = HashMap::new();
    for activation in subject.worst {
        let verdict = &activation.verdict;
        // Every other thread of its CPU delays a thread that never sleeps, or that starts a program.
        if !activation.is_period() {
            continue;
        }
        let sure = verdict.confidence > Confidence::Low && accusable(activation);
        let first = verdict.by.filter(|_| sure).map(|by| ((verdict.cause, by), verdict.charged));
        for ((cause, by), charged) in first.into_iter().chain(seconds(subject, activation)) {
            culprits.entry((cause, Kin::of(&by))).or_default().take_in(activation, cause, by, charged);
        }
    }
    let mut culprits: Vec<_> = culprits
        .into_iter()
        .filter_map(|((cause, _), accused)| Some((cause, accused.foremost()?, accused)))
        .collect();
    culprits.sort_by_key(|(cause, by, accused)| (Reverse(accused.most()), *cause, by.to_string()));
    culprits.truncate(MAX_FINDINGS);
    culprits.into_iter().map(|(cause, by, accused)| finding(subject, cause, by, accused)).collect()
}

/// What other threads took of an activation beside what its verdict accuses, surely and in a notable part.
fn seconds(subject: &Subject<'_>, activation: &Activation) -> Vec<((Cause, Culprit), Ns)> {
    let verdict = &activation.verdict;
    // A SCHED_OTHER thread that works for long has its turns with all others meanwhile.
    let is_its_own = verdict.cause.accuses_late_thread();
    if !verdict.cause.accuses() || is_its_own && !activation.priority.is_realtime() {
        return Vec::new();
    }
    // What it sets to work itself is a part of that.
    let is_its_helper = |by: Culprit| is_its_own && is_called(subject.notes(activation), Some(by));
    let is_second = |(cause, by): (Cause, Culprit), charged: Ns| {
        let of_group = |segment: &&Segment| (segment.cause, segment.by) == (cause, Some(by));
        !is_of_verdict(activation, cause, by)
            && !is_its_helper(by)
            && cause.has_culprit_finding()
            && cause.info().details.usual == Usual::Nothing
            && charged >= MINOR
            && charged.0.saturating_mul(NOTABLE_PART) >= activation.response().0
            && activation.ledger.iter().filter(of_group).all(|segment| segment.confidence > Confidence::Low)
    };
    let groups = stats::charged(&activation.ledger).into_iter();
    let named = groups.filter_map(|((cause, by), charged)| Some(((cause, by?), charged)));
    named.filter(|&(key, charged)| is_second(key, charged)).collect()
}

fn is_of_verdict(activation: &Activation, cause: Cause, by: Culprit) -> bool {
    (activation.verdict.cause, activation.verdict.by) == (cause, Some(by))
}

fn accusable(activation: &Activation) -> bool {
    let verdict = &activation.verdict;
    let wakes = |by: &Culprit| {
        by.irq_kind() != Some(IrqKind::Device) || by.is_irq_of_thread(activation.comm.as_str())
    };
    match (verdict.cause, &verdict.by) {
        // A timer interrupt is what wakes the thread, and so is that of an interrupt's thread; only a long one is a finding.
        (Cause::Irq, Some(by)) if wakes(by) => verdict.charged >= LONG_INTERRUPT,
        (cause, _) => cause.has_culprit_finding(),
    }
}

fn finding(subject: &Subject<'_>, cause: Cause, by: Culprit, accused: Accused<'_>) -> Finding {
    let Accused { by: in_worst, late: mut worst } = accused;
    worst.sort_by_key(|delay| Reverse(delay.charged));
    let most = worst.first().map_or(Ns::ZERO, |delay| delay.charged);
    let mut victims: Vec<Tid> = worst.iter().map(|delay| delay.activation.tid).collect();
    victims.dedup();
    victims.sort();
    victims.dedup();
    let first = worst.first().map(|delay| {
        let Activation { tid, comm, .. } = *delay.activation;
        let priority = priority_while(subject.timeline, delay.activation, (cause, Some(by)));
        Culprit::Task { tid, comm, priority }.to_string()
    });
    let first = first.unwrap_or_default();
    let whom = match victims.len() {
        1 => first.clone(),
        n => format!("{first} and {} more", n - 1),
    };
    let traced =
        worst.first().is_some_and(|delay| subject.notes(delay.activation).contains(&VerdictNote::Traced));
    let named =
        worst.first().map_or_else(|| by.to_string(), |delay| shown(subject.notes(delay.activation), &by));
    let signal = worst.first().and_then(|delay| stopped_by(subject.notes(delay.activation)));
    let signal = signal.filter(|_| cause == Cause::Stopped && !traced);
    let signal = signal.map(|name| format!("it stopped that thread ({name})"));
    let inherited = worst.first().is_some_and(|delay| is_boosted(subject.notes(delay.activation), &by));
    let kept = worst.first().and_then(|delay| kept_owner(subject, delay.activation, cause, by));
    let of_grace_period =
        worst.first().is_some_and(|delay| grace_period::ends_by(carrier(subject.notes(delay.activation))));
    let expirer = worst.first().and_then(|delay| kept_from_expiring(subject, delay.activation, cause, &by));
    // Which of them goes first is no news, as long as the deadlines are met.
    let of_deadline = |delay: &Delay<'_>| delay.activation.priority.class() == SchedClass::Deadline;
    let among_deadlines = cause == Cause::DeadlineTask && worst.iter().all(of_deadline);
    let goes_on =
        worst.first().is_some_and(|delay| goes_on(subject.notes(delay.activation), Some(by)).is_some());
    let reason = match cause.info().details.culprit_finding {
        Some(_) if let Some(kept) = &kept => kept,
        Some(_) if let Some(expirer) = &expirer => expirer,
        Some(_) if cause == Cause::HigherPriorityTask && inherited => "higher priority, inherited by a lock",
        Some(_) if cause == Cause::PreemptionDisabled && goes_on => "no preemption within the kernel",
        Some(_) if among_deadlines => "an earlier deadline",
        Some(_) if let Some(signal) = &signal => signal,
        Some(_) if cause == Cause::SoftirqDeferred && of_grace_period => {
            "the end of a grace period of RCU deferred"
        }
        Some(_) if cause == Cause::Stopped && traced => "it stopped that thread (ptrace)",
        reason => reason.unwrap_or(cause.code()),
    };
    let costs: Vec<(Culprit, &Cost)> =
        victims.iter().flat_map(|&tid| costs_of_kin(subject, tid, cause, &in_worst)).collect();
    let each: HashSet<Culprit> = costs.iter().map(|(by, _)| *by).collect();
    // What it waited for before it was real-time, or after, made no period late; nor is a helper late that the culprit set to work.
    let is_late = |delay: &&Delay<'_>| {
        let then = priority_while(subject.timeline, delay.activation, (cause, Some(by)));
        !subject.precedes_real_time(delay.activation)
            && !is_helper(subject, delay.activation, &by)
            && then.is_realtime() == delay.activation.priority.is_realtime()
    };
    let as_usual = || worst.iter().filter(is_late);
    let late_by = as_usual().map(|delay| delay.charged).max().unwrap_or(Ns::ZERO);
    let (mut times, mut total, mut most) = (0, Ns::ZERO, most);
    for (_, cost) in costs {
        times += cost.periods;
        total += cost.in_periods;
        // It may have delayed one for longer in which another cause took even more time.
        most = most.max(cost.most);
    }
    let matters = |delay: &Delay<'_>| {
        let tid = delay.activation.tid;
        let thread = subject.timeline.threads.get(tid);
        !thread.is_some_and(|thread| subject.looks_after_others(thread)) && !is_minor(subject, tid, late_by)
    };
    let missed = subject
        .options
        .deadline
        .is_some_and(|deadline| worst.iter().any(|delay| delay.activation.response() > deadline));
    let helped = worst.iter().all(|delay| is_helper(subject, delay.activation, &by));
    let own_time = helped.then(|| own_time(subject, by, &worst)).flatten();
    let called = worst.iter().all(|delay| is_called(subject.notes(delay.activation), Some(by)));
    // A user's Ctrl-Z is what that user asked for; one that looks into a program with a debugger wants it to go on.
    let seldom_stopped = cause == Cause::Stopped && !traced && times < OFTEN_STOPPED;
    let is_meant = called || among_deadlines || seldom_stopped;
    let once = times == 1 && victims.iter().all(|&tid| is_small_once(subject, tid, late_by));
    let severity = match missed || (!is_meant && !once && as_usual().any(matters)) {
        true => Severity::Warning,
        false => Severity::Info,
    };
    let work = worst.first().and_then(|delay| executed(subject.notes(delay.activation), Some(by)));
    let work = work.map(|what| Evidence::general(format!("{by} executed {what}")));
    let is_mostly_once = each.len() == 1 && times >= SEVERAL && most.0.saturating_mul(2) > total.0;
    let mostly = if is_mostly_once { ", most of it once" } else { "" };
    let end = worst.first().filter(|_| is_mostly_once);
    let end = end.and_then(|delay| end_of(subject, by, delay.activation));
    let request = called.then(|| {
        let what =
            format!("{first} set {by} to work each time: if it waits for an answer of it, that is no delay");
        Evidence::general(what)
    });
    Finding {
        code: cause.code(),
        severity,
        title: title(&named, each.len(), &whom, most, reason),
        why: match (each.len(), times) {
            _ if own_time.is_some() => format!(
                "it had set them to work itself, and threads that help it run when it lets them: what took long is its own activation; {total} in all"
            ),
            (1, 1) => format!("it delayed one activation by {total}"),
            (1, _) => format!("it delayed {times} activations by {total} in all{mostly}"),
            // One activation may have waited for several of them.
            _ => format!("they delayed activations by {total} in all"),
        },
        evidence: worst
            .iter()
            .take(3)
            .map(|&Delay { activation, charged, .. }| {
                let what = format!("{} was due, and delayed by {charged}", activation.comm);
                Evidence::at(activation.due, activation.cpu, what)
            })
            .chain(end)
            .chain(own_time.map(|own| Evidence::at(own.due, own.cpu, took(own))))
            .chain(request)
            .chain(work)
            .collect(),
        fix: match own_time {
            Some(own) => own.verdict.fix.clone(),
            None => worst.first().map(|delay| fix(subject, (cause, &by), delay)).unwrap_or_default(),
        },
    }
}

/// That the culprit ended while it delayed an activation: what a program takes to end, it takes once.
fn end_of(subject: &Subject<'_>, by: Culprit, late: &Activation) -> Option<Evidence> {
    let Culprit::Task { tid, .. } = by else { return None };
    let end = subject.timeline.threads.get(tid)?.lifetime.end?;
    let is_within = (late.due..late.end).contains(&end.began);
    is_within
        .then(|| Evidence::at(end.began, late.cpu, format!("{by} ended: its end is a part of this delay")))
}

/// What the culprits of its worst activations cost a thread, and others of the same name and priority, of which each took notably long: a
/// program that is started again and again has a new id each time.
fn costs_of_kin<'a>(
    subject: &'a Subject<'_>,
    victim: Tid,
    cause: Cause,
    in_worst: &'a HashMap<Culprit, Ns>,
) -> impl Iterator<Item = (Culprit, &'a Cost)> {
    let of_kin = |by: &Culprit| in_worst.keys().any(|one| Kin::of(one) == Kin::of(by));
    let costs = subject.stats.get(victim).into_iter().flat_map(|stats| stats.costs.iter());
    costs.filter_map(move |((of, by), cost)| {
        let by = by.filter(|_| *of == cause)?;
        let counts = in_worst.contains_key(&by) || cost.most >= kin::NOTABLE && of_kin(&by);
        counts.then_some((by, cost))
    })
}

/// The owner of a lock that a thread waited for, which the culprit kept off its CPU.
fn kept_owner(subject: &Subject<'_>, activation: &Activation, cause: Cause, by: Culprit) -> Option<String> {
    let of_group = |segment: &&Segment| (segment.cause, segment.by) == (cause, Some(by));
    let owner = stats::lock_owner(activation.ledger.iter().filter(of_group))?;
    let longest = activation.ledger.iter().filter(of_group).max_by_key(|segment| segment.length())?;
    if *owner == by || !cause.culprit_runs_first() {
        return None;
    }
    let owner = shown(subject.notes(activation), owner);
    Some(format!("it kept {owner}, which held a lock, off CPU {}", longest.cpu))
}

/// How a culprit delays a thread that goes before it: it keeps the one off the CPU that runs the thread's timer.
fn kept_from_expiring(
    subject: &Subject<'_>,
    activation: &Activation,
    cause: Cause,
    by: &Culprit,
) -> Option<String> {
    let &Culprit::Task { priority, .. } = by else { return None };
    if cause == Cause::LockWait {
        let expirer = expirer::of(subject.notes(activation), &activation.ledger, (cause, Some(*by)))?;
        return Some(format!("it held a lock for which {expirer} waited, which runs that thread's timer"));
    }
    let delays_itself = match cause {
        Cause::EqualPriorityTask => priority == activation.priority,
        _ => priority.outranks(activation.priority),
    };
    if delays_itself || !cause.culprit_runs_first() {
        return None;
    }
    subject.notes(activation).iter().find_map(|note| match note {
        VerdictNote::Expirer { thread, .. } => {
            Some(format!("it runs before {thread}, which runs that thread's timer"))
        }
        _ => None,
    })
}

/// That of the verdict, which has none for what was in time.
fn fix(subject: &Subject<'_>, (cause, by): (Cause, &Culprit), delay: &Delay<'_>) -> Vec<AdvisedFix> {
    let notes = subject.notes(delay.activation);
    let Activation { tid, comm, priority, cpu, ref verdict, ref ledger, .. } = *delay.activation;
    if is_of_verdict(delay.activation, cause, *by) && !verdict.fix.is_empty() {
        return verdict.fix.clone();
    }
    let of_group = || ledger.iter().filter(|segment| (segment.cause, segment.by) == (cause, Some(*by)));
    let longest = of_group().max_by_key(|segment| segment.length());
    let expirer = expirer::of(notes, ledger, (cause, Some(*by))).filter(|_| cause == Cause::LockWait);
    let of = Advised {
        by_own: own_priority(notes, by),
        lock_owner: stats::lock_owner(of_group()),
        priority: Some(priority),
        late: Some((tid, comm)),
        charged: delay.charged,
        is_traced: notes.contains(&VerdictNote::Traced),
        deferred: deferred(notes),
        same_process: subject.timeline.are_of_one_process(by, tid),
        is_kin: subject.timeline.are_kin(by, tid),
        inherited: subject.timeline.inherited_from(by, tid),
        brief: subject.timeline.is_brief(by).then_some(*by),
        called: is_called(notes, Some(*by)),
        goes_on: goes_on(notes, Some(*by)).is_some(),
        kernel_lock: waits_for_the_kernel(notes, of_group()),
        no_mutex: other_lock(notes, of_group()).map(|(kind, _)| kind),
        ..Advised::about(Some(by), Some(longest.map_or(cpu, |segment| segment.cpu)))
    };
    expirer.map_or_else(|| cause.advice(&of), |expirer| advice::expirer(&expirer, &of))
}

/// True of a thread that the culprit set to work, both of one process: a program whose main thread hands work to helpers of its own
/// goes on until it sleeps.
fn is_helper(subject: &Subject<'_>, activation: &Activation, by: &Culprit) -> bool {
    let Activation { tid, ref trigger, .. } = *activation;
    let of_process = |by: &Culprit| subject.timeline.are_of_one_process(by, tid);
    let Trigger::Thread { tid: waker, comm } = *trigger else { return false };
    let waker = Culprit::Task { tid: waker, comm, priority: Priority::UNKNOWN };
    of_process(by) && of_process(&waker)
}

/// The longest activation of the culprit itself in which others waited for it, where that is late by its own work.
fn own_time<'a>(subject: &'a Subject<'_>, by: Culprit, late: &[Delay<'_>]) -> Option<&'a Activation> {
    let Culprit::Task { tid, .. } = by else { return None };
    let is_meanwhile = |own: &Activation| {
        late.iter().any(|Delay { activation, .. }| activation.due < own.end && activation.end > own.due)
    };
    let worst = subject.by_thread.get(&tid)?.iter().filter(|own| own.is_period() && is_meanwhile(own));
    let longest = worst.max_by_key(|own| own.response())?;
    (longest.verdict.cause.accuses_late_thread() && !longest.verdict.fix.is_empty()).then_some(*longest)
}

fn took(own: &Activation) -> String {
    let Activation { comm, tid, ref verdict, .. } = *own;
    format!("{comm}:{tid} itself took {} ({}: {})", own.response(), verdict.cause, verdict.charged)
}

/// True of a delay that one activation of many had: small, and small beside the period. That of a thread with a timer of its own is
/// so less easily.
fn is_small_once(subject: &Subject<'_>, victim: Tid, delay: Ns) -> bool {
    let thread = subject.timeline.threads.get(victim);
    let own = thread.and_then(|thread| thread.pacing.mean_period());
    let least = if own.is_some() { MINOR } else { LONG_ONCE };
    let has_many = subject.stats.get(victim).is_some_and(|stats| stats.activations >= MANY);
    let period = own.or_else(|| mean_distance(subject, victim));
    let is_part = |period: Ns| delay.0.saturating_mul(PART_OF_PERIOD) < period.0;
    has_many && delay < least && period.is_some_and(is_part)
}

/// The mean time from one activation of a thread to the next.
fn mean_distance(subject: &Subject<'_>, tid: Tid) -> Option<Ns> {
    let activations = subject.stats.get(tid)?.activations;
    let length = subject.timeline.now - subject.timeline.first?;
    Some(Ns(length.0 / i64::try_from(activations).ok()?.max(1)))
}

/// True of a delay that is small, and small beside the period of the thread: that of its own timer, or the mean time from
/// one activation to the next. The turn of a SCHED_OTHER thread itself takes longer.
fn is_minor(subject: &Subject<'_>, victim: Tid, delay: Ns) -> bool {
    let thread = subject.timeline.threads.get(victim);
    if delay < MINOR_FAIR && thread.is_some_and(|thread| !subject.usual(thread).priority.is_realtime()) {
        return true;
    }
    let own = thread.and_then(|thread| thread.pacing.mean_period());
    let period = own.or_else(|| mean_distance(subject, victim));
    delay < MINOR && period.is_some_and(|period| delay.0.saturating_mul(MINOR_OF_PERIOD) < period.0)
}
