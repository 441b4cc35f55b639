//! A simulation as Markdown, for an issue.

use super::{facts, proposal, replay, sweep, worst_case};
use crate::markdown::escape;
use whylate_simulate::SimulationReport;
use whylate_simulate::sweep::Sweep;

/// A simulation as Markdown. Ends with a line break.
pub(super) fn render(report: &SimulationReport) -> String {
    let mut text = format!("# whylate simulate\n\n{}\n", escape(&facts::about(report).join(" · ")));
    if let Some(of) = &report.proposal {
        text += &format!("\n## {}\n\n{}\n", proposal::HEADING, escape(&proposal::sentence(of)));
        let rows = of.tasks.iter().map(|task| (task.name.as_str(), proposal::cells(task)));
        text += &table("task", proposal::COLUMNS, rows);
        text += &proposal::worse(of).map_or_else(String::new, |worse| format!("\n{}\n", escape(&worse)));
    }
    match &report.replay {
        Some(of) => {
            text += &format!("\n{}\n", escape(&replay::error(of)));
            text += &replay::losses(of).map_or_else(String::new, |losses| format!("\n{}\n", escape(&losses)));
            text += &report.sweep.as_ref().map_or_else(String::new, swept);
            let rows = of.threads.iter().map(|thread| (thread.name.as_str(), replay::cells(of, thread)));
            text += &table("thread", replay::columns(of), rows);
            text += &replay::unlisted(of).map_or_else(String::new, |more| format!("\n{}\n", escape(&more)));
            let sentences: Vec<String> = replay::sentences(of).iter().map(|one| escape(one)).collect();
            text += &list(&format!("With {}", escape(&of.changes.join(" "))), &sentences);
        }
        None => {
            text += &report.sweep.as_ref().map_or_else(String::new, swept);
            let rows = report.tasks.iter().map(|task| (task.name.as_str(), facts::cells(report, task)));
            text += &table("task", facts::COLUMNS, rows);
        }
    }
    for worst in &report.worst_cases {
        text += &format!(
            "\n## {}\n\n{}\n",
            escape(&worst_case::heading(worst)),
            escape(&worst_case::sentence(worst))
        );
        if !worst.contributors.is_empty() {
            let rows =
                worst.contributors.iter().map(|part| (part.cause.code(), worst_case::cells(worst, part)));
            text += &table("cause", worst_case::COLUMNS, rows);
        }
        for sentence in worst_case::first(worst).iter().chain(&worst_case::claim(worst)) {
            text += &format!("\n{}\n", escape(sentence));
        }
        text += "\n";
        for assumption in &worst.assumptions {
            text += &format!("- {}\n", escape(assumption));
        }
    }
    let findings: Vec<String> = report
        .findings
        .iter()
        .map(|finding| format!("**{}** `{}`: {}", finding.severity, finding.code, escape(&finding.title)))
        .collect();
    text += &list("Findings", &findings);
    let escaped = |sentences: &[String]| sentences.iter().map(|one| escape(one)).collect::<Vec<_>>();
    text += &list("Without a bound", &escaped(&facts::without_bound(report)));
    text += &list("Assumptions", &escaped(&report.assumptions));
    text
}

/// A sweep: its combinations, grouped; what follows is about the worst one.
fn swept(of: &Sweep) -> String {
    let mut text = format!("\n## {}\n", escape(&sweep::heading(of)));
    for sentence in sweep::sentences(of) {
        text += &format!("\n{}\n", escape(&sentence));
    }
    let table = sweep::table(of);
    let line = |cells: &[String]| {
        let escaped: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("| {} |\n", escaped.join(" | "))
    };
    text += &format!("\n{}|{}\n", line(&table.head), "---|".repeat(table.head.len()));
    table.rows.iter().for_each(|row| text += &line(row));
    if let Some((worst, _)) = of.ends {
        text += &format!("\n## Worst combination: {}\n", escape(&sweep::changes(of, worst)));
    }
    text
}

fn table<'a, const N: usize>(
    first: &str,
    columns: [&str; N],
    rows: impl Iterator<Item = (&'a str, [String; N])>,
) -> String {
    let mut text =
        format!("\n| {first} | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for (name, cells) in rows {
        text += &format!("| {} | {} |\n", escape(name), cells.map(|cell| escape(&cell)).join(" | "));
    }
    text
}

fn list(heading: &str, sentences: &[String]) -> String {
    let lines: String = sentences.iter().map(|sentence| format!("- {sentence}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n## {heading}\n\n{lines}") }
}
