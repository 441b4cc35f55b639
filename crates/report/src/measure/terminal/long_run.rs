//! Of a measurement: spikes by cause, the loads, what lies beyond what was seen.

use crate::measure::facts;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::{claims, words};
use whylate_investigate::measure::{Claimed, MeasureReport};
use whylate_stats::ClaimStatus;

/// How many groups have a row.
const ROWS: usize = 10;

/// Which loads ran, and which did not to the end.
pub(crate) fn loads(page: &mut Page, report: &MeasureReport) {
    for (text, died) in report.loads.iter().map(facts::load) {
        page.labelled(0, ("load: ", Ink::Faint), &text, Ink::Plain);
        if let Some(died) = died {
            page.labelled(2, ("died: ", Ink::Yellow), &died, Ink::Plain);
        }
    }
}

/// Spikes by cause.
pub(crate) fn groups(page: &mut Page, report: &MeasureReport) {
    let groups = facts::groups(report);
    if groups.is_empty() {
        return;
    }
    let mut rows = vec![facts::GROUP.map(|name| Cell::new(name, Ink::Faint)).to_vec()];
    for group in groups.iter().take(ROWS) {
        let mut row = facts::group(group).map(Cell::from).to_vec();
        row[0] = Cell::new(words::count(group.count), Ink::Strong);
        rows.push(row);
    }
    let mut aligns = [Align::Right; 6];
    aligns[5] = Align::Left;
    page.gap();
    page.table(0, &aligns, &rows);
    let left = groups.len().saturating_sub(ROWS) as u64;
    if left > 0 {
        page.line(&[(&format!("and {}", words::plural(left, "more cause")), Ink::Faint)]);
    }
}

/// What the samples support beyond themselves, and whether the claim holds.
pub(crate) fn beyond(page: &mut Page, report: &MeasureReport) {
    let Some(beyond) = &report.tail else { return };
    page.gap();
    if let Some(claimed) = &beyond.claim {
        claim(page, "claim", claimed);
    }
    for (fit, text) in facts::beyond(report, beyond) {
        page.labelled(0, (&format!("extrapolation, {fit}: "), Ink::Faint), &text, Ink::Plain);
    }
}

/// A claim, of whose run, and what it rests on.
pub(crate) fn claim(page: &mut Page, label: &str, claimed: &Claimed) {
    let ink = match claimed.answer {
        ClaimStatus::Measured => Ink::Green,
        ClaimStatus::Fitted | ClaimStatus::NeedsAssumption | ClaimStatus::NotYet => Ink::Yellow,
        ClaimStatus::Contradicted => Ink::Red,
    };
    for (at, sentence) in claims::sentences(claimed).iter().enumerate() {
        match at {
            0 => page.paragraph(0, &format!("{label}: {sentence}"), ink),
            _ => page.labelled(2, ("- ", Ink::Faint), sentence, Ink::Plain),
        }
    }
}
