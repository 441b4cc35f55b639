//! The answers about a machine as Markdown.

use crate::check::answers::{Groups, facts, way_out_line};
use crate::markdown::{code, escape, in_table};
use whylate_checks::{CheckReport, CheckedRule, RuleOutcome};

/// How much evidence is shown of one answer; JSON has all of it.
const PROOFS: usize = 6;

/// The answers about a machine as Markdown. Ends with a line break.
pub fn render(report: &CheckReport) -> String {
    let groups = Groups::of(report);
    let mut text = format!("# whylate check: {}\n\n", groups.title());
    let facts: Vec<String> = facts(report).iter().map(|fact| escape(fact)).collect();
    text += &format!("{}\n", facts.join(" · "));
    if !groups.failed.is_empty() {
        text += "\n## Failed\n";
        for (answered, answer) in &groups.failed {
            text += &failure(answered, answer);
        }
    }
    if !groups.unknown.is_empty() {
        text += "\n## Cannot tell\n\n| rule | unknown value | reason |\n|---|---|---|\n";
        for (answered, unknown) in &groups.unknown {
            text += &format!(
                "| {} | {} | {} |\n",
                code(answered.rule.code),
                in_table(&code(&unknown.path)),
                escape(&unknown.why)
            );
        }
    }
    for (title, answers) in [("Passed", &groups.passed), ("Not applicable", &groups.beside)] {
        if !answers.is_empty() {
            text += &format!("\n<details><summary>{title}: {}</summary>\n\n", answers.len());
            text += "| rule | finding |\n|---|---|\n";
            for (answered, answer) in answers {
                text += &format!("| {} | {} |\n", code(answered.rule.code), escape(&answer.what));
            }
            text += "\n</details>\n";
        }
    }
    text
}

fn failure(answered: &CheckedRule, answer: &RuleOutcome) -> String {
    let mut text = format!(
        "\n### {}: {}\n\n{} ({})\n",
        answered.severity(),
        escape(&answer.what),
        escape(&answer.why),
        code(answered.rule.code)
    );
    if !answer.evidence.is_empty() {
        text += "\nEvidence:\n\n";
        for proof in answer.evidence.iter().take(PROOFS) {
            text += &format!("- {}\n", code(&format!("{} = {}", proof.path, proof.value)));
        }
        if answer.evidence.len() > PROOFS {
            text += &format!("- and {} more\n", answer.evidence.len() - PROOFS);
        }
    }
    if !answer.fixes.is_empty() {
        text += "\nFix:\n\n";
        for (i, fix) in answer.fixes.iter().enumerate() {
            text += &format!("{}. {}\n", i + 1, escape(&way_out_line(fix)));
        }
    }
    if !answer.choices.is_empty() {
        text += "\nChoice:\n\n";
        for choice in &answer.choices {
            text += &format!("- {}: {}\n", escape(&choice.name), escape(&choice.here));
        }
    }
    text
}
