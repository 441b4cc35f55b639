//! What it costs to read the time, how fine it is, and how late timers are.

mod published;
mod reading;
mod source;
mod timer;
mod verdict;

use super::case::{Case, timed};
use super::report::{BenchReport, BenchRow, SkippedRow};
use super::rounds::{self, Outcome};
use super::{BenchError, BenchKind, ClockFacts};
use published::SOURCES;
use source::ClockSources;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::{CpuSet, Ns};
use whylate_sys::{Clock, PosixClock, now, thread_usage};

const CLOCKS: &str = "clock";
/// The time that the facts of one clock take.
const FACTS: Ns = Ns::from_ms(200);

/// Restores the clock source that a killed bench has left changed; gives its name.
///
/// # Errors
/// When it cannot be read or restored, or another bench is at work.
pub fn restore_left() -> Result<Option<String>, BenchError> {
    ClockSources::of_machine().restore_left()
}

/// Measures for about `time`, or until `stop`. The threads that compare readings run on `cpus`.
///
/// # Errors
/// When the clock source could not be restored: what was measured is then worth less than that message.
pub(super) fn measure(cpus: &CpuSet, time: Ns, stop: &AtomicBool) -> Result<BenchReport, BenchError> {
    let start = now(Clock::Monotonic);
    let sources = ClockSources::of_machine();
    let (current, available) = (sources.current().ok(), sources.available().unwrap_or_default());
    let mut outcome = Outcome::default();
    // A short bench has no more of it than half.
    let facts = Ns(FACTS.0 * (available.len() + PosixClock::ALL.len()) as i64);
    let time = Ns((time - facts).0.max(time.0 / 2));
    each_source(&sources, &available, Ns(time.0 * 3 / 10), cpus, stop, &mut outcome)?;
    clocks(Ns(time.0 / 2), cpus, stop, &mut outcome);
    match timer::cases() {
        Ok(cases) => outcome.add(rounds::run(cases, Ns(time.0 / 5), stop)),
        Err(error) => outcome.skip("timer", &error),
    }
    Ok(BenchReport {
        kind: BenchKind::Clock,
        elapsed: now(Clock::Monotonic) - start,
        interrupted: stop.load(Acquire),
        verdict: verdict::verdict(&outcome.rows, current.as_deref()),
        published: published::compared(&outcome.rows, PosixClock::MONOTONIC_COARSE.name()),
        rows: outcome.rows,
        skipped: outcome.skipped,
        notes: vec![
            "The seen resolution is the smallest step between two readings, so it is never less than their cost.".to_owned(),
        ],
    })
}

/// Each clock source while it is the current one; without root only the current one.
fn each_source(
    sources: &ClockSources,
    available: &[String],
    time: Ns,
    cpus: &CpuSet,
    stop: &AtomicBool,
    outcome: &mut Outcome,
) -> Result<(), BenchError> {
    if available.is_empty() {
        let reason = format!("cannot read the clock sources in {}", source::directory().display());
        outcome.skipped.push(SkippedRow { name: SOURCES.to_owned(), reason });
        return Ok(());
    }
    let current = sources.current()?;
    let slice = Ns(time.0 / available.len() as i64);
    let mut switched =
        match sources.borrow() {
            Ok(switched) => Some(switched),
            Err(error) => {
                let others = available.iter().filter(|source| **source != current);
                let reason = |error: &BenchError| format!("{error}; changing the clock source needs root");
                outcome.skipped.extend(others.map(|source| SkippedRow {
                    name: published::row_of_source(source),
                    reason: reason(&error),
                }));
                None
            }
        };
    for source in available {
        if stop.load(Acquire) {
            break;
        }
        let change = match &mut switched {
            Some(switched) => switched.to(source),
            None if *source == current => Ok(()),
            None => continue,
        };
        let name = published::row_of_source(source);
        match change {
            Ok(()) => outcome.add(cost_of_readings(SOURCES, &name, PosixClock::MONOTONIC, slice, cpus, stop)),
            Err(error) => outcome.skip(&name, &error),
        }
    }
    switched.map_or(Ok(()), source::Switched::restore)
}

/// Every clock, with the current source.
fn clocks(time: Ns, cpus: &CpuSet, stop: &AtomicBool, outcome: &mut Outcome) {
    let cases = PosixClock::ALL.map(|clock| case(CLOCKS, clock.name(), clock)).into();
    let mut measured = rounds::run(cases, time, stop);
    for row in &mut measured.rows {
        let clock = PosixClock::ALL.into_iter().find(|clock| clock.name() == row.name);
        row.clock = clock.and_then(|clock| facts_of(clock, row, cpus, stop));
    }
    outcome.add(measured);
}

/// One clock alone.
fn cost_of_readings(
    group: &'static str,
    name: &str,
    clock: PosixClock,
    time: Ns,
    cpus: &CpuSet,
    stop: &AtomicBool,
) -> Outcome {
    let mut measured = rounds::run(vec![case(group, name, clock)], time, stop);
    for row in &mut measured.rows {
        row.clock = facts_of(clock, row, cpus, stop);
    }
    measured
}

fn facts_of(clock: PosixClock, row: &BenchRow, cpus: &CpuSet, stop: &AtomicBool) -> Option<ClockFacts> {
    let facts = reading::facts(clock, cpus, stop).ok()?;
    Some(ClockFacts { system_share: system_share(clock, row.operations), ..facts })
}

fn case<'a>(group: &'static str, name: &str, clock: PosixClock) -> Case<'a> {
    Case::new(group, name, move |readings| timed(|| clock.read_repeatedly(readings)))
}

/// The share of CPU time that readings spend in the kernel, of 100 ms of them. The kernel may count user and system time by
/// ticks, so less would show nothing.
fn system_share(clock: PosixClock, readings: u32) -> Option<f64> {
    let before = thread_usage().ok()?;
    let until = now(Clock::Monotonic) + Ns::from_ms(100);
    while now(Clock::Monotonic) < until {
        clock.read_repeatedly(readings).ok()?;
    }
    let after = thread_usage().ok()?;
    let (user, system) = ((after.user - before.user).0 as f64, (after.system - before.system).0 as f64);
    (user + system > 0.0).then(|| system / (user + system))
}
