//! Of a measurement: its phases side by side, and its deadline.

use crate::measure::facts;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_investigate::measure::{MeasureReport, PhaseShift};

/// The phases, and how the last differs from the first.
pub(super) fn phases(page: &mut Page, report: &MeasureReport) {
    if report.phases.is_empty() {
        return;
    }
    let each: Vec<(String, String)> = report.phases.iter().map(facts::phase).collect();
    let numbers: Vec<_> = report.phases.iter().map(|phase| words::distribution(&phase.histogram)).collect();
    let mut rows = vec![vec![Cell::new(facts::PHASE[0], Ink::Faint)]];
    rows[0].extend(each.iter().map(|(name, _)| Cell::new(name, Ink::Faint)));
    for (at, name) in facts::PHASE[1..].iter().chain(&words::DISTRIBUTION).enumerate() {
        let values =
            numbers.iter().filter_map(|numbers| numbers.get(at)).map(|value| Cell::from(value.clone()));
        rows.push(std::iter::once(Cell::new(*name, Ink::Faint)).chain(values).collect());
    }
    let mut aligns = vec![Align::Right; rows[0].len()];
    aligns[0] = Align::Left;
    page.gap();
    page.table(0, &aligns, &rows);
    for (_, about) in &each {
        page.labelled(0, ("- ", Ink::Faint), about, Ink::Plain);
    }
    if let Some(sentence) = report.phase_shift.as_ref().map(PhaseShift::sentence) {
        page.labelled(0, ("- ", Ink::Faint), &sentence, Ink::Plain);
    }
}

/// Whether the deadline is kept, and which approach suits it.
pub(super) fn deadline(page: &mut Page, report: &MeasureReport) {
    let Some(answer) = &report.deadline else { return };
    let (sentence, reasons) = facts::deadline(answer);
    let ink = match answer.is_kept {
        Some(true) => Ink::Green,
        Some(false) => Ink::Red,
        None => Ink::Yellow,
    };
    page.gap();
    page.paragraph(0, &sentence, ink);
    for reason in reasons {
        page.labelled(2, ("- ", Ink::Faint), reason, Ink::Plain);
    }
}
