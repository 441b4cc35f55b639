//! Measures cases in turn, in several rounds.

use super::case::Case;
use super::sampling::{self, ClockCost, Sampling};
use super::{BenchError, BenchRow, OperationTime, PerOperation, SkippedRow};
use crate::histogram::LiveHistogram;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::Ns;
use whylate_stats::Histogram;
use whylate_sys::{Clock, now};

/// How often each case has its turn. Two measurements whose round medians do not overlap differ by chance in 1 of 126
/// comparisons (2 / (10 choose 5)).
pub const ROUNDS: usize = 5;

/// What became of cases.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) rows: Vec<BenchRow>,
    pub(super) skipped: Vec<SkippedRow>,
}

impl Outcome {
    /// Adds what became of other cases.
    pub(super) fn add(&mut self, other: Outcome) {
        self.rows.extend(other.rows);
        self.skipped.extend(other.skipped);
    }

    /// Adds a row that could not be measured.
    pub(super) fn skip(&mut self, name: &str, reason: &BenchError) {
        self.skipped.push(SkippedRow { name: name.to_owned(), reason: reason.to_string() });
    }
}

/// A case while it is measured.
struct Progress<'a> {
    case: Case<'a>,
    sampling: Sampling,
    samples: Histogram,
    round_medians: Vec<OperationTime>,
}

/// Measures all cases within about `time`, or until `stop`. A case that fails is skipped with its reason.
pub(super) fn run(cases: Vec<Case<'_>>, time: Ns, stop: &AtomicBool) -> Outcome {
    let mut outcome = Outcome::default();
    let clock = ClockCost::measure();
    let mut running = Vec::new();
    for mut case in cases {
        if stop.load(Acquire) {
            break;
        }
        match sampling::calibrate(&mut case, clock) {
            Ok(sampling) => running.push(Progress {
                case,
                sampling,
                samples: Histogram::default(),
                round_medians: Vec::new(),
            }),
            Err(error) => outcome.skip(&case.name, &error),
        }
    }
    let shares: u32 = running.iter().map(|progress| progress.case.share).sum();
    let slice = Ns(time.0 / (ROUNDS as i64 * i64::from(shares.max(1))));
    let live = LiveHistogram::new();
    for _ in 0..ROUNDS {
        running.retain_mut(|progress| match turn(progress, slice, &live, stop) {
            Ok(()) => true,
            Err(error) => {
                outcome.skip(&progress.case.name, &error);
                false
            }
        });
    }
    outcome.rows = running.into_iter().filter_map(row).collect();
    outcome
}

/// Samples of one case for its share of `slice`, one at least.
fn turn(
    progress: &mut Progress<'_>,
    slice: Ns,
    live: &LiveHistogram,
    stop: &AtomicBool,
) -> Result<(), BenchError> {
    if stop.load(Acquire) {
        return Ok(());
    }
    live.reset();
    let operations = progress.sampling.operations;
    if progress.sampling.is_short {
        // The first one after another case finds the caches cold.
        (progress.case.perform)(operations)?;
    }
    let share = Ns(slice.0 * i64::from(progress.case.share));
    let longest = progress.case.longest.map(|longest| Ns(longest.0 / ROUNDS as i64));
    let until = now(Clock::Monotonic) + longest.map_or(share, |longest| share.min(longest));
    loop {
        let took = (progress.case.perform)(operations)?;
        live.record(took - progress.sampling.clock_cost);
        if now(Clock::Monotonic) >= until || stop.load(Acquire) {
            break;
        }
    }
    let round = live.snapshot();
    progress.round_medians.extend(round.percentile(0.5).map(|median| OperationTime::of(median, operations)));
    progress.samples.merge(&round);
    Ok(())
}

fn row(progress: Progress<'_>) -> Option<BenchRow> {
    let operations = progress.sampling.operations;
    Some(BenchRow {
        per_operation: PerOperation::of(&progress.samples, operations)?,
        group: progress.case.group.to_owned(),
        name: progress.case.name,
        operations,
        samples: progress.samples,
        round_medians: progress.round_medians,
        sending: None,
        clock: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_turn_in_each_round_and_a_failure_costs_only_its_own_row() {
        let mut calls = 0;
        let cases = vec![
            // So quick that the batch is as large as it may be, whatever a reading of this machine's clock takes.
            Case::new("g", "fast", |n| Ok(Ns(i64::from(n)))).at_most(64),
            Case::new("g", "fails", |_| Err(BenchError::Unavailable("no reason".to_owned()))),
            Case::new("g", "fails later", |_| {
                calls += 1;
                if calls > 20 { Err(BenchError::Unavailable("later".to_owned())) } else { Ok(Ns(1 << 30)) }
            }),
        ];
        let outcome = run(cases, Ns::from_ms(20), &AtomicBool::new(false));
        assert_eq!(outcome.rows.len(), 1);
        let row = &outcome.rows[0];
        assert_eq!((row.name.as_str(), row.operations, row.round_medians.len()), ("fast", 64, ROUNDS));
        assert!(row.samples.count() >= ROUNDS as u64);
        let skipped: Vec<&str> = outcome.skipped.iter().map(|row| row.reason.as_str()).collect();
        assert_eq!(skipped, ["no reason", "later"]);
    }

    #[test]
    fn a_stop_keeps_what_there_is() {
        let stop = AtomicBool::new(false);
        let mut calls = 0;
        let case = Case::new("g", "one", |_| {
            calls += 1;
            stop.store(calls > 100, std::sync::atomic::Ordering::Release);
            Ok(Ns(1 << 30))
        });
        let outcome = run(vec![case], Ns::from_secs(3_600), &stop);
        assert_eq!((outcome.rows.len(), outcome.rows[0].round_medians.len()), (1, 1));
    }
}
