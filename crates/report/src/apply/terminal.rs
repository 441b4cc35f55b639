//! What an apply or a rollback did: how it ended, what failed or was left and why, and what to do next.

use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_tuning::{Back, Entry, Kind, Progress, Standing, Taken};

/// What was done in some applies as text: the status of each, what failed or was skipped and why, and what to do next.
/// Ends with a line break.
pub fn render(entries: &[Entry], style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, entries);
    text.finish()
}

fn write(page: &mut Page, entries: &[Entry]) {
    for entry in entries {
        page.gap();
        match entry.sessions.last().map(|session| session.kind) {
            Some(Kind::Rollback) => undone(page, entry),
            _ => made(page, entry),
        }
    }
}

fn heading(page: &mut Page, entry: &Entry, standing: &str, ink: Ink) {
    let name = match entry.profile() {
        Some(profile) => format!("apply {} ({}): ", entry.id, words::clean(profile)),
        None => format!("apply {}: ", entry.id),
    };
    page.line(&[(&name, Ink::Strong), (standing, ink)]);
}

fn made(page: &mut Page, entry: &Entry) {
    let standing = entry.standing();
    let ink = if standing == Standing::Applied { Ink::Green } else { Ink::Red };
    let confirmed = if entry.confirmed.is_some() { ", and confirmed" } else { "" };
    heading(page, entry, &format!("{}{confirmed}", standing.words()), ink);
    let steps = || entry.sessions.last().into_iter().flat_map(|session| &session.steps);
    let count = |is: fn(&Progress) -> bool| steps().filter(|taken| is(&taken.progress)).count();
    let mut facts = vec![format!("{} made", count(|progress| *progress == Progress::Done))];
    for (number, what) in [
        (count(|progress| *progress == Progress::Already), "were so already"),
        (count(|progress| *progress == Progress::Waiting), "not begun"),
    ] {
        facts.extend((number > 0).then(|| format!("{number} {what}")));
    }
    page.facts(&facts);
    for taken in steps() {
        match &taken.progress {
            Progress::Gone(why) => line(page, ("left", Ink::Faint), taken, why),
            Progress::Failed(why) => line(page, ("failed", Ink::Red), taken, why),
            Progress::Begun => line(page, ("cut off", Ink::Yellow), taken, "it may be made or not"),
            Progress::Waiting | Progress::Done | Progress::Already => {}
        }
    }
    if let Some(until) = entry.armed.filter(|_| entry.is_unconfirmed()) {
        next(page, "keep it", &format!("whylate confirm   (it is undone by itself at {until})"));
    }
    if matches!(standing, Standing::Stopped | Standing::Failed | Standing::Interrupted) {
        next(page, "go on", "whylate apply --resume");
    }
    if entry.is_in_effect() {
        next(page, "undo it", "whylate rollback");
    }
}

fn undone(page: &mut Page, entry: &Entry) {
    let standing = entry.standing();
    let ink = if standing == Standing::RolledBack { Ink::Green } else { Ink::Yellow };
    heading(page, entry, standing.words(), ink);
    let steps = || entry.sessions.iter().flat_map(|session| &session.steps);
    let count = |wanted: Back| {
        steps().filter(|taken| taken.back.as_ref().is_some_and(|(back, _)| *back == wanted)).count()
    };
    let mut facts = vec![format!("{} put back", count(Back::PutBack))];
    for (number, what) in [
        (count(Back::WasBack), "were so already"),
        (count(Back::Remade), "made anew"),
        (count(Back::Rebooted), "ended with an earlier boot"),
        (count(Back::Gone), "of threads and groups that ended"),
        (count(Back::Changed), "changed by somebody else, and left"),
        (count(Back::Failed), "could not be put back"),
    ] {
        facts.extend((number > 0).then(|| format!("{number} {what}")));
    }
    page.facts(&facts);
    for taken in steps() {
        match &taken.back {
            Some((Back::Changed, why)) => {
                line(page, ("left", Ink::Yellow), taken, why.as_deref().unwrap_or_default());
            }
            Some((Back::Failed, why)) => {
                line(page, ("failed", Ink::Red), taken, why.as_deref().unwrap_or_default());
            }
            Some((Back::PutBack | Back::WasBack | Back::Remade, Some(why))) => {
                line(page, ("note", Ink::Faint), taken, why);
            }
            _ => {}
        }
    }
    if count(Back::Changed) > 0 {
        next(page, "put it back all the same", &format!("whylate rollback --to {} --force", entry.id));
    }
    if standing == Standing::PartlyBack && count(Back::Changed) == 0 {
        next(page, "try again", "whylate rollback");
    }
}

fn line(page: &mut Page, (label, ink): (&str, Ink), taken: &Taken, why: &str) {
    let label = format!("{label:<7} ");
    // An error names what it is about by itself.
    let what = taken.planned.cell.to_string();
    let text = if why.contains(&what) { why.to_owned() } else { format!("{what}: {why}") };
    page.labelled(2, (&label, ink), &words::clean(&text), Ink::Plain);
}

fn next(page: &mut Page, label: &str, command: &str) {
    page.labelled(2, (&format!("{label}: "), Ink::Green), command, Ink::Plain);
}
