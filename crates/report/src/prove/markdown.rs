//! A proof as Markdown, for an issue or a change request.

use super::facts;
use crate::markdown::escape;
use whylate_prove::ProveReport;

/// A proof as Markdown. Ends with a line break.
pub(super) fn render(report: &ProveReport) -> String {
    let mut text = format!("# whylate prove\n\n**{}**\n", escape(&facts::verdict(report)));
    text += &list("Reasons", &report.why);
    text += &list("Change", &facts::changes(report));
    text += &format!(
        "\n## Measurement\n\n| | {} |\n|---|{}\n",
        facts::STATES.join(" | "),
        "--:|".repeat(facts::STATES.len())
    );
    for (name, cells) in facts::states(report) {
        text += &format!("| {name} | {} |\n", cells.map(|cell| escape(&cell)).join(" | "));
    }
    text += &list("Side effects", &report.side_effects.iter().map(facts::side_effect).collect::<Vec<_>>());
    text += &format!("\n{}\n", escape(&facts::keeping(report)));
    text += &format!(
        "\n## Rounds\n\n| {} |\n|{}\n",
        facts::ROUNDS.join(" | "),
        "---|".repeat(facts::ROUNDS.len())
    );
    for round in &report.rounds {
        text += &format!("| {} |\n", facts::round(round).map(|cell| escape(&cell)).join(" | "));
    }
    text += &list("Notes", &report.notes);
    text += &format!("\n{}\n", escape(&facts::about(report).join(" · ")));
    text
}

fn list(heading: &str, sentences: &[String]) -> String {
    let lines: String = sentences.iter().map(|sentence| format!("- {}\n", escape(sentence))).collect();
    if lines.is_empty() { lines } else { format!("\n## {heading}\n\n{lines}") }
}
