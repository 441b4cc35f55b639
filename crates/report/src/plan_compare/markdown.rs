//! A comparison of settings, for review in a pull request or a ticket.

use super::facts::{self, Labels};
use super::rows::{Section, sections};
use super::view::PlanComparison;
use crate::markdown::{code, escape, in_table};
use whylate_tuning::Agreement;

/// A comparison of settings as Markdown. Ends with a line break.
pub fn render(view: &PlanComparison<'_>) -> String {
    let comparison = view.comparison;
    let labels = Labels::of(comparison);
    let mut text = format!("# whylate plan {}\n\n", escape(&facts::title(comparison, &labels)));
    for line in facts::about(comparison, &labels) {
        text += &format!("- {}\n", escape(&line));
    }
    let differ = |agreement| agreement != Agreement::Same;
    for one in sections(&comparison.settings, &labels, differ) {
        text += &section(&one, &labels, "##");
    }
    match (facts::same(comparison), view.all) {
        (Some(same), true) => {
            text += &format!("\n## {}\n", escape(&same));
            for one in sections(&comparison.settings, &labels, |agreement| agreement == Agreement::Same) {
                text += &section(&one, &labels, "###");
            }
        }
        (Some(same), false) => text += &format!("\n{}.\n", escape(&same)),
        (None, _) => {}
    }
    for (title, skipped) in facts::not_compared(comparison, &labels) {
        text += &format!("\n## {}\n\n", escape(&title));
        skipped.iter().for_each(|(what, why)| text += &format!("- {}: {}\n", escape(what), escape(why)));
    }
    text
}

fn section(section: &Section, labels: &Labels, level: &str) -> String {
    let heading = labels.each().map(escape).join(" | ");
    let mut text =
        format!("\n{level} {}\n\n| setting | {heading} | why |\n|---|---|---|---|---|\n", section.title);
    for block in &section.blocks {
        let why = block.reasons.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>");
        for row in &block.rows {
            let target = |text: &str| in_table(&code(text));
            let cells = row.cells.each_ref().map(|cell| target(cell)).join(" | ");
            text += &format!("| {} | {cells} | {} |\n", target(&row.name), why);
        }
    }
    text
}
