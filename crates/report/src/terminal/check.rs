//! The answers about a machine: gravest first, then what nobody can tell, then what is well.

use super::layout::Page;
use super::paint::Ink;
use crate::words;
use whylate_base::Severity;
use whylate_checks::{Answer, Answered, CannotTell, Fix, Report, Status};

/// How much evidence is shown of one answer; JSON has all of it.
const PROOFS: usize = 6;

pub(super) fn write(page: &mut Page, report: &Report) {
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let failed = report.answers.iter().filter(|answer| answer.failed() && answer.severity() == severity);
        for answered in failed {
            if let Ok(answer) = &answered.verdict {
                failure(page, answered, answer);
            }
        }
    }
    let unknown =
        report.answers.iter().filter_map(|answered| Some((answered, answered.verdict.as_ref().err()?)));
    section(page, ("Cannot tell", Ink::Yellow), unknown, |page, (answered, unknown)| {
        cannot_tell(page, answered, unknown);
    });
    for (title, ink, status) in
        [("As it should be", Ink::Green, Status::Pass), ("Does not apply", Ink::Faint, Status::NotApplicable)]
    {
        let of = |answered: &&Answered| answered.verdict.as_ref().is_ok_and(|answer| answer.status == status);
        section(page, (title, ink), report.answers.iter().filter(of), |page, answered| {
            if let Ok(answer) = &answered.verdict {
                labelled(page, answered, &answer.what);
            }
        });
    }
    footer(page, report);
}

/// A heading and its entries; nothing where there is no entry.
fn section<T>(
    page: &mut Page,
    heading: (&str, Ink),
    entries: impl Iterator<Item = T>,
    write: impl Fn(&mut Page, T),
) {
    for (i, entry) in entries.enumerate() {
        if i == 0 {
            page.gap();
            page.line(&[heading]);
        }
        write(page, entry);
    }
}

fn failure(page: &mut Page, answered: &Answered, answer: &Answer) {
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
}

fn way_out(page: &mut Page, label: &str, fix: &Fix) {
    let reboot = if fix.reboot { " (needs a reboot)" } else { "" };
    let lines = [
        ("", fix.runtime.as_ref().map(|command| words::clean(command))),
        ("lasting: ", fix.boot.as_ref().map(|setting| format!("{}{reboot}", words::clean(setting)))),
        ("risk: ", fix.risk.as_ref().map(|risk| words::clean(risk))),
    ];
    let mut first = true;
    for (name, text) in lines {
        let Some(text) = text else { continue };
        let name = if first { "" } else { name };
        let label = if first { (label, Ink::Green) } else { ("      ", Ink::Plain) };
        page.labelled(2, label, &format!("{name}{text}"), if first { Ink::Plain } else { Ink::Faint });
        first = false;
    }
}

fn cannot_tell(page: &mut Page, answered: &Answered, unknown: &CannotTell) {
    labelled(page, answered, &format!("{}: {}", unknown.path, unknown.why));
}

fn labelled(page: &mut Page, answered: &Answered, text: &str) {
    let label = format!("{}: ", answered.rule.code);
    page.led(2, (&label, Ink::Faint), &words::clean(text), Ink::Plain);
}

/// The totals, and what was asked of which machine.
fn footer(page: &mut Page, report: &Report) {
    let count = |status| {
        let of = |answered: &&Answered| answered.verdict.as_ref().is_ok_and(|answer| answer.status == status);
        report.answers.iter().filter(of).count()
    };
    let unknown = report.answers.iter().filter(|answered| answered.verdict.is_err()).count();
    let mut facts = vec![
        format!("profile {}", report.ask.profile),
        format!("{} failed", count(Status::Fail)),
        format!("{unknown} cannot tell"),
        format!("{} passed", count(Status::Pass)),
        format!("{} do not apply", count(Status::NotApplicable)),
    ];
    let machine = &report.machine;
    facts.extend(machine.release.as_ref().map(|release| format!("Linux {}", words::clean(release))));
    facts.extend(machine.cpus.as_ref().map(|cpus| format!("CPUs {cpus}")));
    facts.extend(machine.model.as_ref().map(|model| words::clean(model)));
    page.gap();
    page.facts(&facts);
    page.paragraph(0, "whylate check --explain CODE says more of each", Ink::Faint);
}
