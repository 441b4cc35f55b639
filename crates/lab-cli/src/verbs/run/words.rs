//! Runs and totals as text.

use std::fmt::Write;
use std::sync::Arc;
use whylate_lab_cli::matrix::{End, RunResult};
use whylate_lab_cli::scenario::Scenario;
use whylate_lab_cli::score::{Row, Score};

/// The scenarios, one line each.
pub(super) fn list(scenarios: &[Arc<Scenario>]) -> String {
    let widest = scenarios.iter().map(|scenario| scenario.name.len()).max().unwrap_or(0);
    let line = |scenario: &Arc<Scenario>| {
        let kernels = match scenario.kernels.as_slice() {
            [every] if every == "*" => String::new(),
            kernels => format!(" ({})", kernels.join(", ")),
        };
        format!("{:<widest$}  {}{kernels}\n", scenario.name, scenario.title)
    };
    scenarios.iter().map(line).collect()
}

/// One run, as it ends.
pub(in crate::verbs) fn line(result: &RunResult, number: usize, of: usize) -> String {
    let sweep = if result.sweep.is_empty() { String::new() } else { format!(" {}", result.sweep.join(" ")) };
    let answer = match (result.said.is_empty(), result.end) {
        (_, End::NoRun) => result.notes.first().cloned().unwrap_or_default(),
        (true, _) => "no culprit named".to_owned(),
        (false, _) => result.said.clone(),
    };
    let mut line = format!(
        "{number:>4}/{of} {:<12} {}{sweep} on {} seed {}: {} late; {answer} [{:.1} s]",
        result.end.word(),
        result.scenario,
        result.kernel,
        result.seed,
        result.late_jobs,
        result.seconds
    );
    let notes = if result.end == End::NoRun { 1 } else { 0 };
    for note in result.notes.iter().skip(notes) {
        // Writing to a String cannot fail.
        let _ = write!(line, "\n          note: {note}");
    }
    line
}

/// The totals.
pub(in crate::verbs) fn tables(score: &Score) -> String {
    let mut rows: Vec<&Row> = score.by_cause.iter().collect();
    rows.push(&score.total);
    let mut text = table("cause", &rows);
    if score.by_kernel.len() > 1 {
        text.push('\n');
        text.push_str(&table("kernel", &score.by_kernel.iter().collect::<Vec<_>>()));
    }
    text
}

fn table(what: &str, rows: &[&Row]) -> String {
    let widest = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(what.len());
    let mut text = format!(
        "{what:<widest$} {:>5} {:>6} {:>6} {:>8} {:>6} {:>12} {:>12} {:>13} {:>7}\n",
        "runs", "right", "cause", "culprit", "WRONG", "unexplained", "not provoked", "late unexpl.", "no run"
    );
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<widest$} {:>5} {:>6} {:>6} {:>8} {:>6} {:>12} {:>12} {:>11.2} % {:>7}",
            row.name,
            row.runs,
            row.right,
            row.causes_right,
            row.culprits_right,
            row.wrong,
            row.unexplained,
            row.not_provoked,
            row.unexplained_share() * 100.0,
            row.no_run
        );
    }
    text
}
