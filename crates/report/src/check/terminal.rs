//! The answers about a machine: gravest first, then the unknown ones, then what passed.

use crate::check::answers::{self, Groups};
use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Severity;
use whylate_checks::{CheckReport, CheckedRule, Fix, RuleOutcome};

/// How much evidence is shown of one answer; JSON has all of it.
const PROOFS: usize = 6;

/// The answers about a machine as text: what failed by severity, what is unknown, and what passed in one line each.
/// Ends with a line break.
pub fn render(report: &CheckReport, style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, report);
    text.finish()
}

fn write(page: &mut Page, report: &CheckReport) {
    let groups = Groups::of(report);
    for (answered, answer) in &groups.failed {
        failure(page, answered, answer);
    }
    section(page, ("Cannot tell", Ink::Yellow), &groups.unknown, |unknown| {
        format!("{}: {}", unknown.path, unknown.why)
    });
    section(page, ("Passed", Ink::Green), &groups.passed, |answer| answer.what.clone());
    // One that passes is explained where it alone is asked for.
    if let ([], [(_, answer)], [_]) = (&groups.failed[..], &groups.passed[..], &report.answers[..]) {
        choices(page, answer);
    }
    section(page, ("Not applicable", Ink::Faint), &groups.beside, |answer| answer.what.clone());
    footer(page, report, &groups);
}

/// A heading and a line for each entry; nothing where there is no entry.
fn section<T>(
    page: &mut Page,
    heading: (&str, Ink),
    entries: &[(&CheckedRule, &T)],
    sentence: impl Fn(&T) -> String,
) {
    if entries.is_empty() {
        return;
    }
    page.gap();
    page.line(&[heading]);
    for (answered, entry) in entries {
        let label = format!("{}: ", answered.rule.code);
        page.led(2, (&label, Ink::Faint), &words::clean(&sentence(entry)), Ink::Plain);
    }
}

fn failure(page: &mut Page, answered: &CheckedRule, answer: &RuleOutcome) {
    let ink = match answered.severity() {
        Severity::Error => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Cyan,
    };
    page.gap();
    let label = format!("{}[{}]: ", answered.severity(), answered.rule.code);
    page.led(0, (&label, ink), &words::clean(&answer.what), Ink::Strong);
    page.paragraph(2, &words::clean(&answer.why), Ink::Plain);
    for (i, proof) in answer.evidence.iter().take(PROOFS).enumerate() {
        let label = if i == 0 { "seen  " } else { "      " };
        page.labelled(
            2,
            (label, Ink::Faint),
            &words::clean(&format!("{} = {}", proof.path, proof.value)),
            Ink::Plain,
        );
    }
    if answer.evidence.len() > PROOFS {
        page.paragraph(8, &format!("and {} more", answer.evidence.len() - PROOFS), Ink::Faint);
    }
    for (i, fix) in answer.fixes.iter().enumerate() {
        way_out(page, if i == 0 { "fix   " } else { "or    " }, fix);
    }
    choices(page, answer);
}

/// The ways to choose from.
fn choices(page: &mut Page, answer: &RuleOutcome) {
    for choice in &answer.choices {
        let label = format!("{}: ", words::clean(&choice.name));
        page.labelled(4, (&label, Ink::Faint), &words::clean(&choice.here), Ink::Plain);
    }
}

fn way_out(page: &mut Page, label: &str, fix: &Fix) {
    for (i, (name, text)) in answers::way_out(fix).enumerate() {
        let label = if i == 0 { (label, Ink::Green) } else { ("      ", Ink::Plain) };
        let ink = if i == 0 { Ink::Plain } else { Ink::Faint };
        page.labelled(2, label, &format!("{name}{text}"), ink);
    }
}

/// The totals, and what was asked of which machine.
fn footer(page: &mut Page, report: &CheckReport, groups: &Groups<'_>) {
    let mut facts = vec![
        format!("{} failed", groups.failed.len()),
        format!("{} cannot tell", groups.unknown.len()),
        format!("{} passed", groups.passed.len()),
        format!("{} do not apply", groups.beside.len()),
    ];
    facts.extend(answers::facts(report));
    page.gap();
    page.facts(&facts);
    page.paragraph(0, "whylate check --explain CODE explains a rule", Ink::Faint);
}
