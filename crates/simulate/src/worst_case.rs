//! The worst case that has not happened yet: the most of each interference that a recording shows, at once.
//!
//! ```text
//! Recording, Watched ──┬─> sources (curve) ──────────┐
//!                      └─> what occurs once in a job ┴─> compose ─> WorstCase ─> Provocation
//! ```

mod compose;
mod curve;
mod once;
mod passed_over;
mod provoke;
mod sources;

use self::compose::{Parts, compose};
use self::once::{OncePart, once, once_sum};
use self::sources::{InterferingSource, Victim, sources};
use crate::recording::{ChargedJobs, RecordedThread, Recording, SourceKey, Watched};
use whylate_base::{AdvisedFix, CpuSet, Ns, Priority, Tid};
use whylate_ledger::Cause;
use whylate_stats::{Tail, unseen_at_most};

pub use provoke::{Provocation, ProvokedThread};

/// The probability of the fitted level that is shown beside the bound.
const RARE: f64 = 1e-6;

/// A thread's worst case.
#[derive(Clone, Debug)]
pub struct WorstCase {
    /// The thread's name.
    pub name: String,
    /// Its id.
    pub tid: Tid,
    /// Its least urgent real-time priority.
    pub priority: Priority,
    /// The CPUs it ran on.
    pub cpus: CpuSet,
    /// Its jobs that were seen whole.
    pub jobs: u64,
    /// The longest response of one.
    pub seen: Ns,
    /// When that job was due, on the trace's clock.
    pub seen_due: Ns,
    /// A response longer than any that was seen may have this probability, with 95 % confidence.
    pub longer_at_most: f64,
    /// The response that one job in a million exceeds by the fit of the tail, its upper 95 % limit; or why there is none.
    pub fitted: Result<Option<Ns>, String>,
    /// All at once; or why there is no bound.
    pub bound: Result<Ns, String>,
    /// What the bound is composed of, most first.
    pub contributors: Vec<Contributor>,
    /// The contributor to fix first, by index.
    pub first: Option<usize>,
    /// How it can be made to happen, where there is a bound.
    pub provocation: Option<Provocation>,
    /// What the bound takes for granted.
    pub assumptions: Vec<String>,
}

/// A part of the worst case.
#[derive(Clone, Debug)]
pub struct Contributor {
    /// What it is.
    pub cause: Cause,
    /// What does it, where that is one thing.
    pub by: Option<String>,
    /// Its time in the job with the longest response that was seen.
    pub in_worst_seen: Ns,
    /// Its time in the worst case.
    pub time: Ns,
    /// The bound without it, where something else can take its place in no job: `None` where there is none.
    pub bound_without: Option<Ns>,
    /// What to do about it.
    pub fix: Vec<AdvisedFix>,
}

/// The worst case of each thread that was watched.
pub fn worst_cases(recording: &Recording, watched: &Watched) -> Vec<WorstCase> {
    let threads = recording.threads.iter().enumerate();
    let one = |(at, thread): (usize, &RecordedThread)| {
        Some(worst_case(recording, watched, at, watched.charged.get(&thread.tid)?))
    };
    threads.filter_map(one).collect()
}

fn worst_case(recording: &Recording, watched: &Watched, thread: usize, charged: &ChargedJobs) -> WorstCase {
    let name = recording.model.tasks[thread].name.clone();
    let tid = recording.threads[thread].tid;
    let responses = charged.responses();
    let fitted = match Tail::fit(&responses, None) {
        Ok(tail) => Ok(tail.level(RARE).and_then(|level| level.upper)),
        Err(refusal) => Err(refusal.to_string()),
    };
    let mut found = WorstCase {
        name,
        tid,
        priority: charged.priority.unwrap_or(Priority::UNKNOWN),
        cpus: charged.cpus.clone(),
        jobs: charged.jobs,
        seen: charged.worst,
        seen_due: charged.worst_due,
        longer_at_most: unseen_at_most(charged.jobs.max(1)),
        fitted,
        bound: Err(String::new()),
        contributors: Vec::new(),
        first: None,
        provocation: None,
        assumptions: assumptions(recording, charged),
    };
    let Some(priority) = charged.priority else {
        let name = &found.name;
        found.bound = Err(format!(
            "`{name}` has no activation as a SCHED_FIFO, SCHED_RR or SCHED_DEADLINE thread: SCHED_OTHER threads take turns, and \
             no analysis bounds that"
        ));
        return found;
    };
    if charged.jobs == 0 {
        found.bound = Err(format!("no job of `{}` was seen from its beginning to its end", found.name));
        return found;
    }
    let victim = Victim { tid, priority, cpus: &charged.cpus };
    let sources = sources(recording, watched, charged, &victim);
    let once = once(recording, charged, &victim);
    let passed_over = passed_over::of(recording, watched, &victim, &sources, &once_sum(&once));
    // What was seen of throttling is a part of its bound.
    let once: Vec<OncePart> = once
        .into_iter()
        .filter(|part| !passed_over.iter().any(|(cause, _)| passed_over::is_same(*cause, part.cause)))
        .collect();
    let periodic: Vec<_> = passed_over.iter().map(|&(_, interference)| interference).collect();
    let mut dues = charged.dues.clone();
    dues.sort_unstable();
    let parts = Parts {
        once: once_sum(&once),
        sources: &sources,
        periodic: &periodic,
        dues: &dues,
        limit: recording.length,
    };
    if let Some(endless) = endless(recording, watched, &victim) {
        found.bound = Err(format!(
            "`{endless}` goes before `{}` and is in the middle of a job at the end of the recording, longer than any before: that \
             job may have no end",
            found.name
        ));
        return found;
    }
    let Some(composed) = compose(&parts, None) else {
        found.bound = Err(overload(recording, &sources, &found.name));
        return found;
    };
    found.bound = Ok(composed.response);
    let seen = |cause: Cause, key: Option<&SourceKey>| {
        let of = |((seen_cause, seen_key), _): &&((Cause, Option<SourceKey>), Ns)| match key {
            Some(key) => seen_key.as_ref() == Some(key),
            None => seen_key.is_none() && *seen_cause == cause,
        };
        charged.in_worst.iter().filter(of).map(|&(_, time)| time).sum::<Ns>()
    };
    let fix = |cause: Cause, key: Option<&SourceKey>| {
        let of = |((fixed, by), _): &&((Cause, Option<SourceKey>), Vec<AdvisedFix>)| match key {
            Some(key) => by.as_ref() == Some(key),
            None => *fixed == cause,
        };
        charged.fixes.iter().find(of).map(|(_, fix)| fix.clone()).unwrap_or_default()
    };
    for part in &once {
        let less = Parts { once: parts.once - part.time, ..parts };
        found.contributors.push(Contributor {
            cause: part.cause,
            by: part.by.clone(),
            in_worst_seen: seen(part.cause, None),
            // It occurs in each job of the busy period.
            time: Ns(part.time.0.saturating_mul(composed.jobs)),
            bound_without: compose(&less, None).map(|composed| composed.response),
            fix: fix(part.cause, None),
        });
    }
    for (at, source) in sources.iter().enumerate() {
        found.contributors.push(Contributor {
            cause: source.cause,
            by: Some(source.name.clone()),
            in_worst_seen: seen(source.cause, Some(&source.key)),
            time: source.curve.within(composed.window),
            bound_without: compose(&parts, Some(at)).map(|composed| composed.response),
            fix: fix(source.cause, Some(&source.key)),
        });
    }
    for (cause, interference) in &passed_over {
        found.contributors.push(Contributor {
            cause: *cause,
            by: None,
            in_worst_seen: seen(*cause, None),
            time: interference.within(composed.window),
            bound_without: compose(&Parts { periodic: &[], ..parts }, None).map(|composed| composed.response),
            fix: fix(*cause, None),
        });
    }
    found.contributors.retain(|contributor| contributor.time > Ns::ZERO);
    found
        .contributors
        .sort_by(|a, b| b.time.cmp(&a.time).then(a.cause.cmp(&b.cause)).then_with(|| a.by.cmp(&b.by)));
    found.first = fix_first(&found.contributors);
    found.provocation = Some(provoke::of(&found.name, &victim, &sources, &once, composed.window, &dues));
    found
}

/// The contributor without which the bound is shortest, of those that name something that can be changed.
fn fix_first(contributors: &[Contributor]) -> Option<usize> {
    let changeable = contributors.iter().enumerate().filter(|(_, one)| {
        one.cause.accuses() && !one.cause.accuses_late_thread() && one.cause != Cause::OwnWork
    });
    let by_bound = |(at, one): (usize, &Contributor)| one.bound_without.map(|without| (without, at));
    changeable.filter_map(by_bound).min().map(|(_, at)| at)
}

/// A thread that goes first, and is at the end in a job that has taken longer than any of its jobs that ended.
fn endless(recording: &Recording, watched: &Watched, victim: &Victim<'_>) -> Option<String> {
    let end = recording.start + recording.length;
    let threads = recording.threads.iter().zip(&watched.threads).enumerate();
    let mut others = threads.filter(|(_, (thread, _))| thread.tid != victim.tid);
    let found = others.find(|(_, (thread, seen))| {
        let whole = || seen.jobs.iter().filter(|job| job.is_whole);
        let longest = whole().map(|job| job.work).max().unwrap_or(Ns::ZERO);
        let last = whole().map(|job| job.due).max().unwrap_or(recording.start);
        let since = seen.slices.iter().filter(|slice| slice.start >= last && slice.end > last);
        let ran: Ns = since.clone().map(|slice| slice.end - slice.start).sum();
        let at_end = seen.slices.last().is_some_and(|slice| {
            slice.end >= end
                && victim.cpus.contains(slice.cpu)
                && sources::goes_first(slice.priority, &thread.comm, victim)
        });
        at_end && ran > Ns(longest.0.saturating_mul(2))
    });
    found.map(|(at, _)| recording.model.tasks[at].name.clone())
}

fn overload(recording: &Recording, sources: &[InterferingSource], name: &str) -> String {
    let busiest = sources.iter().max_by_key(|source| source.curve.within(recording.length));
    let Some(busiest) = busiest else {
        return format!("the responses of `{name}` grow beyond the recording");
    };
    let share = busiest.curve.within(recording.length).0 as f64 / recording.length.0.max(1) as f64;
    format!(
        "what goes before `{name}` may take its CPU for longer than the recording ({}): the busiest is {}, with {:.0} % of it",
        recording.length,
        busiest.name,
        share * 100.0
    )
}

fn assumptions(recording: &Recording, charged: &ChargedJobs) -> Vec<String> {
    let mut all = vec![
        "the worst case has no more of anything than the recording shows: longer work, more frequent interrupts or longer \
         sections without preemption exceed it"
            .to_owned(),
    ];
    if charged.cpus.len() > 1 {
        all.push(format!(
            "it ran on CPUs {}: what goes first on any of them counts as if all were one CPU",
            charged.cpus
        ));
    }
    if charged.not_realtime > 0 {
        all.push(format!(
            "{} of its activations are left out: it was not a real-time thread in them",
            charged.not_realtime
        ));
    }
    if recording.losses.events > 0 || recording.losses.unknown > Ns::ZERO {
        all.push(format!(
            "the recording lost {} events, and what had {} of CPU time is not known: the worst case may have more of it",
            recording.losses.events, recording.losses.unknown
        ));
    }
    if charged.most.get(&Cause::LockInversion).is_some_and(|(time, _)| *time > Ns::ZERO) {
        all.push(
            "the owner of a lock was kept from its CPU: nothing bounds that unless the lock inherits priorities".to_owned(),
        );
    }
    all
}
