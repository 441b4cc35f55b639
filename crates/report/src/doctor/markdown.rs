//! The mistakes of a program as Markdown.

use super::facts;
use crate::markdown::{code, escape};
use crate::words;
use whylate_investigate::doctor::{DoctorFinding, DoctorReport, ThreadReport};

/// How many threads are shown; JSON has all of them.
const THREADS: usize = 20;
/// How many system calls of each.
const CALLS: usize = 2;

/// The mistakes as Markdown. Ends with a line break.
pub fn render(report: &DoctorReport) -> String {
    let mut text = format!("# whylate doctor: {}\n\n", facts::title(report));
    text += &format!("{}\n", facts::observed(report).join(" · "));
    if let Some(sentence) = facts::nothing(report) {
        text += &format!("\n{}\n", escape(sentence));
    }
    for finding in &report.findings {
        text += &one(finding);
    }
    if !report.unseen.is_empty() {
        text += "\n## Not seen\n\n";
        for sentence in &report.unseen {
            text += &format!("- {}\n", escape(sentence));
        }
    }
    if !report.threads.is_empty() {
        text += &threads(&report.threads);
    }
    text
}

fn one(finding: &DoctorFinding) -> String {
    let mut text = format!("\n### {}: {}\n\n", finding.severity, escape(&finding.title));
    if let Some((label, place)) = facts::place(finding) {
        text += &format!("{label}: {}\n\n", code(&place.replace('`', "")));
    }
    if let Some(other) = facts::other(finding) {
        text += &format!("other: {}\n\n", code(&other.replace('`', "")));
    }
    text += &format!("{} ({})\n", escape(&finding.why), code(finding.code));
    if !finding.fix.is_empty() {
        text += "\nFix:\n\n";
        for (i, fix) in finding.fix.iter().enumerate() {
            text += &format!("{}. {}\n", i + 1, escape(&fix.text));
        }
    }
    text
}

fn threads(threads: &[ThreadReport]) -> String {
    let heading = ["thread", "policy", "CPUs"].into_iter().chain(facts::COUNTS).chain(["longest calls"]);
    let mut text = format!("\n## Threads\n\n| {} |\n", heading.collect::<Vec<_>>().join(" | "));
    text += &format!("|---|---|---|{}---|\n", "---:|".repeat(facts::COUNTS.len()));
    for thread in threads.iter().take(THREADS) {
        let calls: Vec<String> = thread.calls.iter().take(CALLS).map(facts::call).collect();
        let of_thread = [
            escape(&words::thread(&thread.comm, thread.tid)),
            facts::scheduling(thread),
            thread.cpus.as_ref().map(ToString::to_string).unwrap_or_default(),
        ];
        let cells = of_thread.into_iter().chain(facts::counts(thread)).chain([escape(&calls.join(", "))]);
        text += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    if threads.len() > THREADS {
        text += &format!("\nand {} more\n", threads.len() - THREADS);
    }
    text
}
