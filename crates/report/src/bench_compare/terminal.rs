//! The differences of two benches for a terminal.

use super::facts::{HEADING, cells, missing, summary};
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_probes::bench::{BenchAnswer, BenchComparison};

/// The differences as text. Ends with a line break.
pub fn render(comparison: &BenchComparison, style: &Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(0, &summary(comparison), Ink::Strong);
    let mut rows = vec![HEADING.map(|name| Cell::new(name, Ink::Faint)).to_vec()];
    rows.extend(comparison.differences.iter().map(|difference| {
        let ink = match difference.answer {
            BenchAnswer::Slower => Ink::Red,
            BenchAnswer::Faster => Ink::Green,
            BenchAnswer::Noise | BenchAnswer::CannotTell => Ink::Plain,
        };
        let cells = cells(difference).map(|text| words::clean(&text));
        cells.into_iter().map(|text| Cell::new(text, ink)).collect()
    }));
    page.gap();
    page.table(0, &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left], &rows);
    page.gap();
    for sentence in missing(comparison) {
        page.paragraph(0, &words::clean(&sentence), Ink::Plain);
    }
    page.finish()
}
