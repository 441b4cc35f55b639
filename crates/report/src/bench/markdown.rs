//! A bench as Markdown, for an issue.

use super::facts;
use crate::markdown::escape;
use whylate_base::Severity;
use whylate_probes::bench::{BenchReport, BenchRow};

/// A bench as Markdown. Ends with a line break.
pub fn render(report: &BenchReport) -> String {
    let interrupted = if report.interrupted { " · interrupted" } else { "" };
    let mut text = format!("# {}\n\n{}{interrupted}\n", facts::title(report), report.elapsed);
    for verdict in &report.verdict {
        let label = match verdict.severity {
            Severity::Error => "**error:** ",
            Severity::Warning => "**warning:** ",
            Severity::Info => "",
        };
        text += &format!("\n- {label}{}", escape(&verdict.text));
    }
    text += "\n";
    for (group, rows) in facts::groups(report) {
        text += &table(group, &rows);
    }
    text += &published(report);
    text += &list("Skipped", &facts::skipped(report));
    text += &list("Notes", &report.notes);
    text
}

fn table(group: &str, rows: &[&BenchRow]) -> String {
    let further = facts::further(rows);
    let head: Vec<&str> = facts::COSTS.iter().chain(further).copied().collect();
    let mut text =
        format!("\n## {}\n\n| | {} |\n|---|{}\n", escape(group), head.join(" | "), "--:|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = facts::costs(row)
            .into_iter()
            .chain(facts::further_cells(row))
            .map(|cell| escape(&cell))
            .collect();
        text += &format!("| {} | {} |\n", escape(&row.name), cells.join(" | "));
    }
    text
}

fn published(report: &BenchReport) -> String {
    let Some(first) = report.published.first() else { return String::new() };
    let head = facts::published_heading(report);
    let mut text =
        format!("\n## {}\n\n| | {} |\n|---|{}\n", first.work, head.join(" | "), "--:|".repeat(head.len()));
    for time in &report.published {
        text += &format!("| {} | {} |\n", escape(&time.name), facts::published(report, time).join(" | "));
    }
    text
}

fn list(heading: &str, sentences: &[String]) -> String {
    let lines: String = sentences.iter().map(|sentence| format!("- {}\n", escape(sentence))).collect();
    if lines.is_empty() { lines } else { format!("\n## {heading}\n\n{lines}") }
}
