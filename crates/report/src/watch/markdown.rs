//! The summary of a watch as Markdown.

use super::facts;
use crate::markdown::{code, escape};
use crate::words;
use whylate_investigate::watch::WatchReport;

/// How many windows are listed; JSON has all of them.
const WINDOWS: usize = 50;

/// A watch as Markdown. Ends with a line break.
pub fn render(report: &WatchReport) -> String {
    let mut text =
        format!("# whylate watch: {}\n\n{}\n", facts::title(report), facts::facts(report).join(" · "));
    if !report.groups.is_empty() {
        text +=
            &format!("\n## Groups\n\n| {} |\n|---:|---:|---|---|---:|---|---|\n", facts::GROUP.join(" | "));
        for group in &report.groups {
            text += &format!("| {} |\n", facts::group(group).map(|cell| escape(&cell)).join(" | "));
        }
    }
    if !report.threads.is_empty() {
        let head: Vec<&str> = ["thread", "activations"].into_iter().chain(words::DISTRIBUTION).collect();
        text +=
            &format!("\n## Responses\n\n| {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(head.len() - 1));
        for thread in &report.threads {
            let numbers = words::distribution(&thread.response).map(|number| escape(&number)).join(" | ");
            text += &format!("| {} | {numbers} |\n", escape(&words::clean(&thread.name)));
        }
    }
    if !report.kept.is_empty() {
        text += "\n## Windows\n\n";
        for window in report.kept.iter().rev().take(WINDOWS) {
            let name = words::clean(&window.name).replace('`', "");
            text += &format!("- {}: {}\n", code(&name), escape(&words::clean(&window.why)));
        }
    }
    text += "\n## Cost and limits\n\n";
    for sentence in facts::cost(report).iter().chain(&report.notes) {
        text += &format!("- {}\n", escape(&words::clean(sentence)));
    }
    text
}
