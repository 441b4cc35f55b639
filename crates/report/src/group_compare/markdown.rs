//! Groups side by side as Markdown, for the comment of a CI system.

use super::compared::ComparedGroups;
use super::facts;
use crate::markdown::{escape, in_table};
use std::fmt::Write;

/// Groups side by side as Markdown. Ends with a line break.
pub fn render(report: &ComparedGroups) -> String {
    let comparison = &report.comparison;
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| in_table(&escape(cell))).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = format!("# whylate compare: {}\n", escape(&facts::title(report)));
    for pair in &comparison.pairs {
        let _ = write!(text, "\n## {}\n\n", escape(&facts::verdict(report, pair)));
        if !pair.tests.is_empty() {
            let _ = write!(text, "| {} |\n|---|--:|--:|--:|---|--:|--:|\n", facts::TESTS.join(" | "));
            pair.tests.iter().for_each(|test| text += &row(&facts::test(test)));
            text.push('\n');
        }
        facts::notes(pair).iter().for_each(|note| text += &format!("- {}\n", escape(note)));
    }
    if !comparison.gates.is_empty() {
        text += "\n## Gates\n\n";
    }
    for gated in &comparison.gates {
        let (word, sentence, is_met) = facts::gate(report, gated);
        let word = if is_met == Some(true) { word.to_owned() } else { format!("**{word}**") };
        let _ = writeln!(text, "- {word}: {}", escape(&sentence));
    }
    let _ = write!(text, "\n## Groups\n\n| {} |\n|---|--:|--:|--:|\n", facts::GROUPS.join(" | "));
    for (at, group) in comparison.groups.iter().enumerate() {
        text += &row(&facts::group(report, at, group));
    }
    for sentence in facts::certainty(report).iter().chain(&report.left_out) {
        let _ = write!(text, "\n{}\n", escape(sentence));
    }
    text
}
