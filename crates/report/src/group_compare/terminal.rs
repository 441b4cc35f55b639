//! Groups side by side for a terminal.

use super::compared::ComparedGroups;
use super::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use whylate_investigate::compare::RunVerdict;

/// Groups side by side as text. Ends with a line break.
pub fn render(report: &ComparedGroups, style: &Style) -> String {
    let comparison = &report.comparison;
    let mut page = Page::new(style);
    let cells = |cells: Vec<String>, ink: Ink| cells.into_iter().map(|text| Cell::new(text, ink)).collect();
    let heading = |names: &[&str]| cells(names.iter().map(|name| (*name).to_owned()).collect(), Ink::Faint);
    for pair in &comparison.pairs {
        let ink = match pair.verdict {
            RunVerdict::Worse => Ink::Red,
            RunVerdict::Better => Ink::Green,
            RunVerdict::Mixed | RunVerdict::Same | RunVerdict::CannotTell => Ink::Strong,
        };
        page.paragraph(0, &facts::verdict(report, pair), ink);
        if !pair.tests.is_empty() {
            let mut rows: Vec<Vec<Cell>> = vec![heading(&facts::TESTS)];
            rows.extend(pair.tests.iter().map(|test| {
                let ink = match test.is_shown() {
                    false => Ink::Plain,
                    true if test.shift.0 > 0 => Ink::Red,
                    true => Ink::Green,
                };
                cells(facts::test(test).to_vec(), ink)
            }));
            let aligns = [
                Align::Left,
                Align::Right,
                Align::Right,
                Align::Right,
                Align::Left,
                Align::Right,
                Align::Right,
            ];
            page.table(2, &aligns, &rows);
        }
        facts::notes(pair).iter().for_each(|note| page.paragraph(2, note, Ink::Plain));
        page.gap();
    }
    for gated in &comparison.gates {
        let (word, text, is_met) = facts::gate(report, gated);
        let ink = match is_met {
            Some(true) => Ink::Green,
            Some(false) => Ink::Red,
            None => Ink::Strong,
        };
        page.led(0, (&format!("{word}  "), ink), &text, Ink::Plain);
    }
    page.gap();
    let mut rows: Vec<Vec<Cell>> = vec![heading(&facts::GROUPS)];
    let groups = comparison.groups.iter().enumerate();
    rows.extend(groups.map(|(at, group)| cells(facts::group(report, at, group).to_vec(), Ink::Plain)));
    page.table(0, &[Align::Left, Align::Right, Align::Right, Align::Right], &rows);
    page.gap();
    for sentence in facts::certainty(report).iter().chain(&report.left_out) {
        page.paragraph(0, &crate::words::clean(sentence), Ink::Faint);
    }
    page.finish()
}
