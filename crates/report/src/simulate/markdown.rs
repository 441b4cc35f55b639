//! A simulation as Markdown, for an issue.

use super::facts;
use crate::markdown::escape;
use whylate_simulate::SimulationReport;

/// A simulation as Markdown. Ends with a line break.
pub(super) fn render(report: &SimulationReport) -> String {
    let head = facts::COLUMNS.join(" | ");
    let mut text = format!(
        "# whylate simulate\n\n{}\n\n| task | {head} |\n|---|{}\n",
        escape(&facts::about(report).join(" · ")),
        "---|".repeat(facts::COLUMNS.len())
    );
    for task in &report.tasks {
        let cells = facts::cells(report, task).map(|cell| escape(&cell));
        text += &format!("| {} | {} |\n", escape(&task.name), cells.join(" | "));
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

fn list(heading: &str, sentences: &[String]) -> String {
    let lines: String = sentences.iter().map(|sentence| format!("- {sentence}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n## {heading}\n\n{lines}") }
}
