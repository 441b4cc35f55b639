//! What was applied when, and what became of it: last first.

use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_profiles::Skipped;
use whylate_tuning::{HistoryEntry, SessionKind, SessionOutcome, Status};

/// What was applied when, as text, last first. Ends with a line break.
pub fn render(lines: &[HistoryEntry], style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, lines);
    text.finish()
}

fn write(page: &mut Page, lines: &[HistoryEntry]) {
    if lines.is_empty() {
        page.paragraph(0, "nothing has been applied on this machine", Ink::Plain);
    }
    for line in lines.iter().rev() {
        page.gap();
        let name = match &line.profile {
            Some(profile) => format!("{} {}: ", line.id, words::clean(profile)),
            None => format!("{}: ", line.id),
        };
        match line.status {
            Some(status) => {
                let ink = match status {
                    Status::Applied => Ink::Green,
                    Status::Empty | Status::RolledBack => Ink::Faint,
                    _ => Ink::Yellow,
                };
                let settings = format!(", {}", words::plural(line.changes, "setting"));
                page.line(&[(&name, Ink::Strong), (status.words(), ink), (&settings, Ink::Plain)]);
            }
            None => {
                let why = line.unreadable.as_deref().unwrap_or_default();
                page.led(0, (&name, Ink::Strong), &words::clean(why), Ink::Red);
            }
        }
        for part in &line.sessions {
            let what = match part.kind {
                SessionKind::Apply => "apply",
                SessionKind::Resume => "resume",
                SessionKind::Boot => "boot",
                SessionKind::Rollback => "rollback",
            };
            let how = match (part.outcome, part.kind) {
                (Some(SessionOutcome::Complete), _) => "complete",
                (Some(SessionOutcome::Stopped), _) => "stopped",
                // What another program has changed since was left.
                (Some(SessionOutcome::Failed), SessionKind::Rollback) => "in part",
                (Some(SessionOutcome::Failed), _) => "failed",
                (None, _) => "interrupted, or still running",
            };
            let steps = match part.steps {
                0 => String::new(),
                all => format!(", {} of {all} steps", part.made),
            };
            page.paragraph(2, &format!("{}  {what}: {how}{steps}", part.at), Ink::Plain);
            if let Some(Skipped { what, why }) = &part.failed {
                page.paragraph(4, &words::clean(&reason(what, why)), Ink::Red);
            }
            if let more @ 1.. = part.failures.saturating_sub(1) {
                page.paragraph(4, &format!("and {more} more that failed"), Ink::Red);
            }
            for Skipped { what, why } in &part.skipped {
                page.paragraph(4, &words::clean(&format!("skipped: {}", reason(what, why))), Ink::Faint);
            }
        }
        for Skipped { what, why } in &line.left {
            page.paragraph(4, &words::clean(&format!("left: {}", reason(what, why))), Ink::Yellow);
        }
        if let Some(until) = line.unconfirmed_until {
            page.paragraph(2, &format!("undone at {until} unless confirmed: whylate confirm"), Ink::Yellow);
        }
    }
}

/// An error names what it is about by itself.
fn reason(what: &str, why: &str) -> String {
    if why.contains(what) { why.to_owned() } else { format!("{what}: {why}") }
}
