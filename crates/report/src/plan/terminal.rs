//! What tuning would change: a line for each setting, now -> then, with the reasons below.

use crate::plan::changes::{self, Block, Row};
use crate::terminal::Style;
use crate::terminal::layout::{Page, columns};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_tuning::Plan;

/// Names that are longer stand on their own.
const WIDEST: usize = 44;

/// What tuning would change as text: now -> then with reasons, conflicts, and what stays unchanged. Ends with a line
/// break.
pub fn render(plan: &Plan, style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, plan);
    text.finish()
}

fn write(page: &mut Page, plan: &Plan) {
    page.line(&[(&changes::title(plan), Ink::Strong)]);
    for section in changes::sections(plan) {
        page.gap();
        page.line(&[(section.title, Ink::Cyan)]);
        let rows = section.blocks.iter().flat_map(|block| &block.rows);
        let names = rows.map(|row| columns(&row.name())).filter(|&name| name <= WIDEST);
        let width = names.max().unwrap_or(0);
        section.blocks.iter().for_each(|one| block(page, one, width));
    }
    pairs(page, ("Already set for the next boot", Ink::Green), &changes::not_yet(plan));
    pairs(page, ("Optional, and the kernel will refuse it", Ink::Faint), &changes::predicted(plan));
    let heading = ("Skipped", Ink::Faint);
    pairs(page, heading, &changes::by_reason(&plan.skipped));
    pairs(page, ("Not supported from the profile", Ink::Faint), &changes::by_reason(&plan.desired.skipped));
    if !plan.conflicts.is_empty() {
        page.gap();
        page.line(&[("Conflicts", Ink::Yellow)]);
    }
    for conflict in &plan.conflicts {
        let label = format!("{}: ", words::clean(&conflict.with));
        page.led(2, (&label, Ink::Strong), &words::clean(&conflict.why), Ink::Plain);
        if let Some(concerned) = changes::concerned(&conflict.settings) {
            page.paragraph(4, &concerned, Ink::Faint);
        }
        page.labelled(4, ("fix   ", Ink::Green), &words::clean(&conflict.fix), Ink::Plain);
    }
    if !plan.refusals.is_empty() {
        page.gap();
        page.line(&[("Refused", Ink::Red)]);
    }
    for refusal in &plan.refusals {
        let label = format!("{}: ", words::clean(&refusal.code));
        page.led(2, (&label, Ink::Red), &words::clean(&refusal.why), Ink::Plain);
        page.labelled(4, ("fix   ", Ink::Green), &words::clean(&refusal.fix), Ink::Plain);
    }
    page.gap();
    page.facts(&changes::facts(plan));
}

fn block(page: &mut Page, block: &Block<'_>, width: usize) {
    block.rows.iter().for_each(|one| row(page, one, width));
    page.paragraph(6, &changes::reasons(block), Ink::Faint);
}

fn row(page: &mut Page, row: &Row<'_>, width: usize) {
    let name = row.name();
    let (now, then) = row.values();
    let pad = " ".repeat(width.saturating_sub(columns(&name)) + 2);
    page.led(2, (&format!("{name}{pad}"), Ink::Plain), &format!("{now} -> {then}"), Ink::Strong);
}

/// A heading, and a paragraph for each pair.
fn pairs(page: &mut Page, heading: (&str, Ink), pairs: &[(String, String)]) {
    if pairs.is_empty() {
        return;
    }
    page.gap();
    page.line(&[heading]);
    for (first, second) in pairs {
        page.paragraph(2, &format!("{first}: {second}"), Ink::Plain);
    }
}
