//! The cells of a bench's tables, which all its formats share.

use crate::words;
use whylate_probes::bench::{BenchReport, BenchRow, ClockFacts, PublishedTime};

/// The columns of every row.
pub(super) const COSTS: [&str; 4] = ["p50", "p99", "max", "samples"];
/// The further columns of clocks.
const CLOCK: [&str; 4] = ["read by", "resolution", "seen", "backwards"];
/// The further column of messages.
const SENDING: [&str; 1] = ["sent"];
/// The columns of published figures.
const PUBLISHED: [&str; 6] = ["published", "user", "system", "here", "user", "system"];

/// `whylate bench clock`.
pub(super) fn title(report: &BenchReport) -> String {
    format!("whylate bench {}", report.kind)
}

/// The numbers of [`COSTS`].
pub(super) fn costs(row: &BenchRow) -> [String; 4] {
    let per = &row.per_operation;
    let samples = words::count(row.samples.count());
    [
        per.p50.to_string(),
        per.p99.map_or_else(|| "-".to_owned(), |p99| p99.to_string()),
        per.max.to_string(),
        match row.operations {
            1 => samples,
            operations => format!("{samples} x {}", words::count(operations.into())),
        },
    ]
}

/// The further columns of a group's rows.
pub(super) fn further(rows: &[&BenchRow]) -> &'static [&'static str] {
    if rows.iter().any(|row| row.clock.is_some()) {
        &CLOCK
    } else if rows.iter().any(|row| row.sending.is_some()) {
        &SENDING
    } else {
        &[]
    }
}

/// The cells of [`further`].
pub(super) fn further_cells(row: &BenchRow) -> Vec<String> {
    let clock = row.clock.iter().flat_map(clock);
    clock.chain(row.sending.iter().map(|sending| sending.p50.to_string())).collect()
}

/// The cells of [`CLOCK`].
fn clock(facts: &ClockFacts) -> [String; 4] {
    let backwards = match facts.readings {
        0 => "-".to_owned(),
        _ => words::count(facts.steps_backwards),
    };
    [
        match facts.makes_system_call {
            Some(true) => "system call",
            Some(false) => "vDSO",
            None => "cannot tell",
        }
        .to_owned(),
        words::known(facts.resolution_claimed),
        words::known(facts.resolution_seen),
        backwards,
    ]
}

/// The columns of published figures; without user and system time where the text has none.
pub(super) fn published_heading(report: &BenchReport) -> Vec<String> {
    shown(report, PUBLISHED.map(str::to_owned))
}

/// The cells of [`published_heading`].
pub(super) fn published(report: &BenchReport, time: &PublishedTime) -> Vec<String> {
    let split = |split: Option<(whylate_base::Ns, whylate_base::Ns)>| {
        (words::known(split.map(|(user, _)| user)), words::known(split.map(|(_, system)| system)))
    };
    let ((user, system), (user_here, system_here)) = (split(time.published_split), split(time.here_split));
    shown(report, [time.published.to_string(), user, system, words::known(time.here), user_here, system_here])
}

fn shown(report: &BenchReport, cells: [String; 6]) -> Vec<String> {
    let is_split = report.published.iter().any(|time| time.published_split.is_some());
    let cells = cells.into_iter().enumerate();
    cells.filter(|(at, _)| is_split || at % 3 == 0).map(|(_, text)| text).collect()
}

/// The groups in the order of their first rows, each with its rows.
pub(super) fn groups(report: &BenchReport) -> Vec<(&str, Vec<&BenchRow>)> {
    let mut groups: Vec<(&str, Vec<&BenchRow>)> = Vec::new();
    for row in &report.rows {
        match groups.iter_mut().find(|(name, _)| *name == row.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((&row.group, vec![row])),
        }
    }
    groups
}

/// What was not measured; what has the same reason is together.
pub(super) fn skipped(report: &BenchReport) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &report.skipped {
        match reasons.iter_mut().find(|(reason, _)| *reason == row.reason) {
            Some((_, names)) => names.push(&row.name),
            None => reasons.push((&row.reason, vec![&row.name])),
        }
    }
    reasons.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}
