//! What an apply or a rollback did: how it ended, what failed or was left and why, and what to do next.

use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_tuning::{JournalEntry, RollbackResult, SessionKind, Status, StepProgress, StepRecord};

/// What was done in some applies as text: the status of each, what failed or was skipped and why, and what to do next.
/// Ends with a line break; empty without applies.
pub fn render(entries: &[JournalEntry], style: &Style) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut text = Page::new(style);
    write(&mut text, entries);
    text.finish()
}

fn write(page: &mut Page, entries: &[JournalEntry]) {
    for entry in entries {
        page.gap();
        match entry.sessions.last().map(|session| session.kind) {
            Some(SessionKind::Rollback) => undone(page, entry),
            _ => applied(page, entry),
        }
    }
}

fn heading(page: &mut Page, entry: &JournalEntry, status: &str, ink: Ink) {
    let name = match entry.profile() {
        Some(profile) => format!("apply {} ({}): ", entry.id, words::clean(profile)),
        None => format!("apply {}: ", entry.id),
    };
    page.line(&[(&name, Ink::Strong), (status, ink)]);
}

fn applied(page: &mut Page, entry: &JournalEntry) {
    let status = entry.status();
    let ink = if status == Status::Applied { Ink::Green } else { Ink::Red };
    let confirmed = if entry.confirmed.is_some() { ", and confirmed" } else { "" };
    heading(page, entry, &format!("{}{confirmed}", status.words()), ink);
    let steps = || entry.sessions.last().into_iter().flat_map(|session| &session.steps);
    let count = |is: fn(&StepProgress) -> bool| steps().filter(|taken| is(&taken.progress)).count();
    let mut facts = vec![format!("{} applied", count(|progress| *progress == StepProgress::Done))];
    for (number, what) in [
        (count(|progress| *progress == StepProgress::Already), "already set"),
        (count(|progress| *progress == StepProgress::Skipped), "skipped"),
        (count(|progress| *progress == StepProgress::Failed), "failed"),
        (count(|progress| *progress == StepProgress::Waiting), "not begun"),
    ] {
        facts.extend((number > 0).then(|| format!("{number} {what}")));
    }
    page.facts(&facts);
    for taken in steps() {
        let why = taken.why.as_deref().unwrap_or_default();
        match taken.progress {
            StepProgress::Gone => line(page, ("skipped", Ink::Faint), taken, why),
            StepProgress::Skipped => {
                line(page, ("skipped", Ink::Yellow), taken, &format!("{why} (optional setting)"));
            }
            StepProgress::Failed => line(page, ("failed", Ink::Red), taken, why),
            StepProgress::Begun => line(page, ("interrupted", Ink::Yellow), taken, "it may be done or not"),
            StepProgress::Waiting | StepProgress::Done | StepProgress::Already => {}
        }
    }
    if let Some(until) = entry.armed.filter(|_| entry.is_unconfirmed()) {
        next(page, "keep it", &format!("whylate confirm   (it is undone at {until})"));
    }
    if matches!(status, Status::Stopped | Status::Failed | Status::Interrupted) {
        next(page, "continue", "whylate apply --resume");
    }
    if entry.is_in_effect() {
        next(page, "undo it", "whylate rollback");
    }
}

fn undone(page: &mut Page, entry: &JournalEntry) {
    let status = entry.status();
    let ink = if status == Status::RolledBack { Ink::Green } else { Ink::Yellow };
    heading(page, entry, status.words(), ink);
    let steps = || entry.sessions.iter().flat_map(|session| &session.steps);
    let count = |wanted: RollbackResult| {
        steps().filter(|taken| taken.back.as_ref().is_some_and(|(back, _)| *back == wanted)).count()
    };
    let mut facts = vec![format!("{} put back", count(RollbackResult::PutBack))];
    for (number, what) in [
        (count(RollbackResult::WasBack), "already set"),
        (count(RollbackResult::Remade), "regenerated"),
        (count(RollbackResult::Rebooted), "ended with an earlier boot"),
        (count(RollbackResult::Gone), "skipped: threads and cgroups that ended"),
        (count(RollbackResult::Changed), "changed by another program, and left unchanged"),
        (count(RollbackResult::Failed), "could not be put back"),
    ] {
        facts.extend((number > 0).then(|| format!("{number} {what}")));
    }
    page.facts(&facts);
    for taken in steps() {
        match &taken.back {
            Some((RollbackResult::Changed, why)) => {
                line(page, ("left", Ink::Yellow), taken, why.as_deref().unwrap_or_default());
            }
            Some((RollbackResult::Failed, why)) => {
                line(page, ("failed", Ink::Red), taken, why.as_deref().unwrap_or_default());
            }
            Some((RollbackResult::PutBack | RollbackResult::WasBack | RollbackResult::Remade, Some(why))) => {
                line(page, ("note", Ink::Faint), taken, why);
            }
            _ => {}
        }
    }
    if count(RollbackResult::Changed) > 0 {
        next(page, "restore it anyway", &format!("whylate rollback --to {} --force", entry.id));
    }
    if status == Status::PartlyBack && count(RollbackResult::Changed) == 0 {
        next(page, "try again", "whylate rollback");
    }
}

fn line(page: &mut Page, (label, ink): (&str, Ink), taken: &StepRecord, why: &str) {
    let label = format!("{label:<7} ");
    // An error names what it is about by itself.
    let what = taken.planned.target.to_string();
    let text = if why.contains(&what) { why.to_owned() } else { format!("{what}: {why}") };
    page.labelled(2, (&label, ink), &words::clean(&text), Ink::Plain);
}

fn next(page: &mut Page, label: &str, command: &str) {
    page.labelled(2, (&format!("{label}: "), Ink::Green), command, Ink::Plain);
}
