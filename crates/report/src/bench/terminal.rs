//! A bench for a terminal: the verdict, then the tables.

use super::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Severity;
use whylate_probes::bench::{BenchReport, BenchRow};

/// A bench as text. Ends with a line break.
pub fn render(report: &BenchReport, style: &Style) -> String {
    let mut page = Page::new(style);
    for verdict in &report.verdict {
        let (label, ink) = match verdict.severity {
            Severity::Error => ("error: ", Ink::Red),
            Severity::Warning => ("warning: ", Ink::Yellow),
            Severity::Info => ("", Ink::Plain),
        };
        page.led(0, (label, ink), &words::clean(&verdict.text), Ink::Plain);
    }
    if report.rows.is_empty() {
        page.paragraph(0, "Cannot tell: nothing was measured.", Ink::Strong);
    }
    for (group, rows) in facts::groups(report) {
        table(&mut page, group, &rows);
    }
    published(&mut page, report);
    list(&mut page, "Skipped", &facts::skipped(report));
    list(&mut page, "Notes", &report.notes);
    page.gap();
    let mut about = vec![
        facts::title(report),
        report.elapsed.to_string(),
        words::plural(report.rows.len() as u64, "row"),
    ];
    if report.interrupted {
        about.push("interrupted".to_owned());
    }
    page.facts(&about);
    page.finish()
}

fn table(page: &mut Page, group: &str, rows: &[&BenchRow]) {
    let heading = facts::COSTS.iter().chain(facts::further(rows)).map(|name| Cell::new(*name, Ink::Faint));
    let mut cells = vec![[Cell::new(words::clean(group), Ink::Strong)].into_iter().chain(heading).collect()];
    for row in rows {
        let numbers = facts::costs(row).into_iter().chain(facts::further_cells(row));
        cells.push([words::clean(&row.name)].into_iter().chain(numbers).map(Cell::from).collect());
    }
    page.gap();
    page.table(0, &aligns(&cells), &cells);
}

fn published(page: &mut Page, report: &BenchReport) {
    let Some(first) = report.published.first() else { return };
    let heading = facts::published_heading(report).into_iter().map(|name| Cell::new(name, Ink::Faint));
    let mut cells = vec![[Cell::new(first.work.clone(), Ink::Strong)].into_iter().chain(heading).collect()];
    for time in &report.published {
        let numbers = facts::published(report, time);
        cells.push([words::clean(&time.name)].into_iter().chain(numbers).map(Cell::from).collect());
    }
    page.gap();
    page.table(0, &aligns(&cells), &cells);
}

/// Names to the left, numbers to the right.
fn aligns(rows: &[Vec<Cell>]) -> Vec<Align> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns).map(|at| if at == 0 { Align::Left } else { Align::Right }).collect()
}

fn list(page: &mut Page, heading: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    page.gap();
    page.line(&[(heading, Ink::Strong)]);
    for sentence in sentences {
        page.labelled(2, ("- ", Ink::Faint), &words::clean(sentence), Ink::Plain);
    }
}
