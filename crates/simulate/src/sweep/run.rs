//! All combinations, each run once.

use super::axis::{MOST_COMBINATIONS, SweepAxis};
use super::combination::{Combination, Sweep};
use super::groups;
use super::outcome::{SweepOutcome, ThreadOutcome, compare, run};
use super::subject::SweepSubject;
use crate::change::{ChangeError, ReplayChange, ThreadChange, WrittenChange};
use crate::report::SimulationReport;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use thiserror::Error;
use whylate_base::Ns;

/// More outcomes of threads are not kept.
const MOST_OUTCOMES: usize = 1_000_000;
/// More threads of ours do not help: each has its own copy of the model.
const MOST_WORKERS: usize = 16;

/// Why nothing is swept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SweepError {
    /// A change that cannot be made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Too much to do.
    #[error(
        "--sweep: {0} combinations; at most {MOST_COMBINATIONS} are run: take larger steps, or sweep fewer settings at once"
    )]
    TooManyCombinations(u128),
    /// Too much to keep.
    #[error("--sweep: {0} combinations of {1} threads are too many: choose threads by --task")]
    TooManyThreads(usize, usize),
    /// A setting twice.
    #[error("--sweep {0}: it is given twice: list all its values in one option")]
    Twice(String),
    /// No thread.
    #[error("--sweep: no real-time thread was active: choose others with --task")]
    NoThread,
}

/// Runs all combinations of the values of `axes`, after the changes of `set`; `stop` ends it early. With the worst
/// combination in full.
///
/// # Errors
/// [`SweepError`]
pub fn sweep(
    subject: SweepSubject<'_>,
    names: &[String],
    set: &[WrittenChange],
    axes: &[SweepAxis],
    stop: &AtomicBool,
) -> Result<SimulationReport, SweepError> {
    for (at, axis) in axes.iter().enumerate() {
        if axes[..at].iter().any(|other| other.key == axis.key) {
            return Err(SweepError::Twice(axis.key.clone()));
        }
    }
    let mut notes = Vec::new();
    let axes: Vec<SweepAxis> = axes.iter().map(|axis| phases(axis, subject, &mut notes)).collect();
    let product = axes.iter().map(|axis| axis.values.len() as u128).product::<u128>();
    if product > MOST_COMBINATIONS as u128 {
        return Err(SweepError::TooManyCombinations(product));
    }
    let chosen = subject.chosen(names)?;
    if chosen.is_empty() {
        return Err(SweepError::NoThread);
    }
    let count = product as usize;
    if count.saturating_mul(chosen.len()) > MOST_OUTCOMES {
        return Err(SweepError::TooManyThreads(count, chosen.len()));
    }
    let as_is = subject.changed(set, &chosen)?;
    let before = run(&as_is, subject.length(), subject.seed());
    let changes_of = |at: usize| -> Vec<WrittenChange> {
        let picked =
            indices(&axes, at).into_iter().zip(&axes).map(|(index, axis)| axis.changes[index].clone());
        set.iter().cloned().chain(picked).collect()
    };
    let one = |at: usize| match subject.changed(&changes_of(at), &chosen) {
        Ok(model) => Ok(compare(&run(&model, subject.length(), subject.seed()), &before, &chosen)),
        Err(error) => Err(error),
    };
    let mut outcomes = in_parallel(count, stop, &one);
    if outcomes.iter().all(|outcome| matches!(outcome, Some(Err(_))))
        && let Some(Some(Err(first))) = outcomes.first_mut().map(Option::take)
    {
        return Err(first.into());
    }
    let combinations: Vec<Combination> = outcomes
        .into_iter()
        .enumerate()
        .map(|(at, outcome)| Combination {
            values: indices(&axes, at)
                .iter()
                .zip(&axes)
                .map(|(&index, axis)| axis.values[index].clone())
                .collect(),
            outcome: outcome.map(|done| done.map_err(|error| error.wrong)),
        })
        .collect();
    let deadlines: Vec<Option<Ns>> = chosen.iter().map(|&task| as_is.tasks[task].deadline).collect();
    let as_is_outcome = compare(&before, &before, &chosen);
    let ranking = ranking(&combinations, &deadlines, &as_is_outcome);
    let ends = ranking.first().zip(ranking.last()).map(|(&(_, _, worst), last)| {
        let as_good = ranking.iter().find(|one| one.0 == last.0 && one.1 == last.1);
        (worst, as_good.unwrap_or(last).2)
    });
    let ranking: Vec<usize> = ranking.into_iter().map(|(_, _, at)| at).collect();
    let groups = groups::of(&combinations, &ranking);
    let shown = ends.map_or_else(|| set.to_vec(), |(worst, _)| changes_of(worst));
    let mut report = subject.report(&shown, names)?;
    let all: Vec<String> = as_is.tasks.iter().map(|task| task.name.clone()).collect();
    report.sweep = Some(Sweep {
        keys: axes.iter().map(|axis| axis.key.clone()).collect(),
        threads: chosen.iter().map(|&task| all[task].clone()).collect(),
        deadlines,
        names: all,
        as_is: as_is_outcome,
        combinations,
        groups,
        ends,
        notes,
    });
    Ok(report)
}

/// Which value of each axis a combination has; the last one changes first.
fn indices(axes: &[SweepAxis], at: usize) -> Vec<usize> {
    let mut rest = at;
    let mut all: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let index = rest % axis.values.len().max(1);
            rest /= axis.values.len().max(1);
            index
        })
        .collect();
    all.reverse();
    all
}

/// Offsets that are a whole number of periods apart are one phase.
fn phases(axis: &SweepAxis, subject: SweepSubject<'_>, notes: &mut Vec<String>) -> SweepAxis {
    let offset = |change: &WrittenChange| match &change.change {
        ReplayChange::Thread { target, what: ThreadChange::Offset(offset) } => {
            Some((target.clone(), *offset))
        }
        _ => None,
    };
    let Some(period) = axis.changes.first().and_then(offset).and_then(|(target, _)| subject.period(&target))
    else {
        return axis.clone();
    };
    let mut kept = SweepAxis { changes: Vec::new(), values: Vec::new(), ..axis.clone() };
    let mut seen: Vec<i64> = Vec::new();
    for (change, value) in axis.changes.iter().zip(&axis.values) {
        let phase = offset(change).map_or(0, |(_, offset)| offset.0.rem_euclid(period.0));
        if !seen.contains(&phase) {
            seen.push(phase);
            kept.changes.push(change.clone());
            kept.values.push(value.clone());
        }
    }
    let left_out = axis.values.len() - kept.values.len();
    if left_out > 0 {
        notes.push(format!(
            "{}: {left_out} of {} values left out, a whole number of periods ({period}) after others: the same phase",
            axis.key,
            axis.values.len()
        ));
    }
    kept
}

/// The combinations that were run, worst first: by missed deadlines, then by the longest response as a share of the deadline,
/// or else of the response as it is.
fn ranking(
    combinations: &[Combination],
    deadlines: &[Option<Ns>],
    as_is: &SweepOutcome,
) -> Vec<(u64, f64, usize)> {
    let share = |(at, thread): (usize, &ThreadOutcome)| {
        let reference = deadlines[at].unwrap_or_else(|| as_is.threads[at].longest());
        thread.longest().0 as f64 / reference.0.max(1) as f64
    };
    let mut all: Vec<(u64, f64, usize)> = combinations
        .iter()
        .enumerate()
        .filter_map(|(at, combination)| {
            let outcome = combination.outcome.as_ref()?.as_ref().ok()?;
            let most = outcome.threads.iter().enumerate().map(share).fold(0.0, f64::max);
            Some((combination.missed(), most, at))
        })
        .collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    all
}

/// Runs each, on as many CPUs as there are; the order of the results does not depend on that.
fn in_parallel<T: Send>(
    count: usize,
    stop: &AtomicBool,
    one: &(impl Fn(usize) -> T + Sync),
) -> Vec<Option<T>> {
    let available = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                break;
            }
            done.push((at, one(at)));
        }
        done
    };
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..available.min(MOST_WORKERS).min(count)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(at, result)| results[at] = Some(result)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results
}
