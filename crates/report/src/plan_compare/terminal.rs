//! A comparison of settings as text: a table for each heading; a row that is too wide for it stands below its name.

use super::facts::{self, Labels};
use super::rows::{Block, Row, Section, sections};
use super::view::PlanComparison;
use crate::terminal::Style;
use crate::terminal::layout::{Page, columns, cut};
use crate::terminal::paint::Ink;
use whylate_tuning::Agreement;

/// A comparison of settings as text. Ends with a line break.
pub fn render(view: &PlanComparison<'_>, style: &Style) -> String {
    let comparison = view.comparison;
    let labels = Labels::of(comparison);
    let mut page = Page::new(style);
    page.paragraph(0, &facts::title(comparison, &labels), Ink::Strong);
    for line in facts::about(comparison, &labels) {
        page.paragraph(2, &line, Ink::Faint);
    }
    let differ = |agreement| agreement != Agreement::Same;
    sections(&comparison.settings, &labels, differ).iter().for_each(|one| section(&mut page, one, &labels));
    page.gap();
    match (facts::same(comparison), view.all) {
        (Some(same), true) => {
            page.line(&[(&format!("{same}:"), Ink::Strong)]);
            let same = sections(&comparison.settings, &labels, |agreement| agreement == Agreement::Same);
            same.iter().for_each(|one| section(&mut page, one, &labels));
        }
        (Some(same), false) => page.paragraph(0, &format!("{same}; --all lists them"), Ink::Faint),
        (None, _) => {}
    }
    for (title, skipped) in facts::not_compared(comparison, &labels) {
        page.gap();
        page.line(&[(&title, Ink::Faint)]);
        skipped.iter().for_each(|(what, why)| page.paragraph(2, &format!("{what}: {why}"), Ink::Plain));
    }
    page.finish()
}

/// Widths of the columns: the name, and each cell.
struct Widths {
    name: usize,
    cells: [usize; 3],
}

impl Widths {
    /// As wide as the rows that fit need it.
    fn of(section: &Section, labels: &Labels, page: &Page) -> Widths {
        // Two columns before the name, two between columns; each value has a fifth.
        let room = page.width().saturating_sub(8);
        let most = Widths { name: room - room / 5 * 3, cells: [room / 5; 3] };
        let rows: Vec<&Row> =
            section.blocks.iter().flat_map(|block| &block.rows).filter(|row| most.fits(row)).collect();
        let widest = |at: usize| {
            let cells = rows.iter().map(|row| columns(&row.cells[at]));
            cells.chain([columns(labels.each()[at])]).max().unwrap_or(0).min(most.cells[at])
        };
        let names = rows.iter().map(|row| columns(&row.name)).max().unwrap_or(0);
        Widths { name: names.max(columns(section.title)).min(most.name), cells: [0, 1, 2].map(widest) }
    }

    fn fits(&self, row: &Row) -> bool {
        columns(&row.name) <= self.name
            && row.cells.iter().zip(self.cells).all(|(cell, width)| columns(cell) <= width)
    }
}

fn section(page: &mut Page, section: &Section, labels: &Labels) {
    let widths = Widths::of(section, labels, page);
    page.gap();
    let heading = labels.each().map(|label| (label.to_owned(), Ink::Faint));
    // Long titles are never cut: they begin the line, before the name's own indent.
    table_line(page, 0, (section.title, Ink::Cyan), &heading, &Widths { name: widths.name + 2, ..widths });
    section.blocks.iter().for_each(|one| block(page, one, (&widths, labels)));
}

fn block(page: &mut Page, block: &Block, (widths, labels): (&Widths, &Labels)) {
    for row in &block.rows {
        let ink = match row.agreement {
            Agreement::Different => Ink::Strong,
            Agreement::CannotTell => Ink::Yellow,
            Agreement::Same => Ink::Plain,
        };
        if widths.fits(row) {
            let [a, b, here] = row.cells.clone();
            let cells = [(a, ink), (b, ink), (here, Ink::Plain)];
            table_line(page, 2, (&row.name, Ink::Plain), &cells, widths);
            continue;
        }
        page.paragraph(2, &row.name, Ink::Plain);
        let cells = labels.each().into_iter().zip(&row.cells).map(|(label, cell)| format!("{label}: {cell}"));
        page.paragraph(6, &cells.collect::<Vec<_>>().join(" · "), ink);
    }
    block.reasons.iter().for_each(|line| page.paragraph(6, line, Ink::Faint));
}

fn table_line(
    page: &mut Page,
    indent: usize,
    (name, ink): (&str, Ink),
    cells: &[(String, Ink); 3],
    widths: &Widths,
) {
    let padded =
        |text: &str, width: usize| format!("{text}{}  ", " ".repeat(width.saturating_sub(columns(text))));
    let indent = " ".repeat(indent);
    let name = padded(&cut(name, widths.name), widths.name);
    let cells: Vec<(String, Ink)> = cells
        .iter()
        .zip(widths.cells)
        .map(|((text, ink), width)| (padded(&cut(text, width), width), *ink))
        .collect();
    let mut pieces = vec![(indent.as_str(), Ink::Plain), (name.as_str(), ink)];
    pieces.extend(cells.iter().map(|(text, ink)| (text.as_str(), *ink)));
    page.line(&pieces);
}
