//! The figures that the reference guide of Red Hat Enterprise Linux for Real Time 7 gives for 10 million readings, and
//! what they would be here.

use crate::bench::{BenchRow, PublishedTime};
use whylate_base::Ns;

/// The group of the clock sources' rows.
pub(super) const SOURCES: &str = "clock source";

const READINGS: u64 = 10_000_000;

/// Section 15.1.1: source, and elapsed, user and system time in milliseconds.
const PUBLISHED: [(&str, i64, i64, i64); 3] =
    [("tsc", 601, 592, 2), ("hpet", 12_263, 12_197, 1), ("acpi_pm", 24_461, 504, 23_776)];
/// Section 15.2.4, with the TSC.
const COARSE: (i64, i64, i64) = (120, 118, 1);

/// The name of a clock source's row.
pub(super) fn row_of_source(source: &str) -> String {
    format!("{SOURCES} {source}")
}

/// The figures beside those of `rows`.
pub(super) fn compared(rows: &[BenchRow], coarse: &str) -> Vec<PublishedTime> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let time = |name: &str, (elapsed, user, system): (i64, i64, i64), row: Option<&BenchRow>| PublishedTime {
        name: name.to_owned(),
        work: "10,000,000 readings".to_owned(),
        published: Ns::from_ms(elapsed),
        published_split: Some((Ns::from_ms(user), Ns::from_ms(system))),
        here: row.map(|row| row.per_operation.mean.times(READINGS)),
        here_split: row.and_then(split),
    };
    let mut times: Vec<PublishedTime> = PUBLISHED
        .iter()
        .map(|&(name, elapsed, user, system)| time(name, (elapsed, user, system), row(&row_of_source(name))))
        .collect();
    times.push(time("CLOCK_MONOTONIC_COARSE", COARSE, row(coarse)));
    times
}

/// User and system time of all readings.
fn split(row: &BenchRow) -> Option<(Ns, Ns)> {
    let share = row.clock.as_ref()?.system_share?;
    let all = row.per_operation.mean.times(READINGS);
    let system = Ns((all.0 as f64 * share).round() as i64);
    Some((all - system, system))
}
