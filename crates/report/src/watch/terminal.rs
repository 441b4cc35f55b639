//! The summary of a watch for a terminal.

use super::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page, distribution};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_investigate::watch::WatchReport;

/// How many groups, threads and windows have a row.
const ROWS: usize = 20;

/// A watch as text. Ends with a line break.
pub fn render(report: &WatchReport, style: &Style) -> String {
    let mut page = Page::new(style);
    page.led(0, ("", Ink::Plain), &facts::title(report), Ink::Strong);
    page.facts(&facts::facts(report));
    groups(&mut page, report);
    threads(&mut page, report);
    windows(&mut page, report);
    page.gap();
    for sentence in facts::cost(report).iter().chain(&report.notes) {
        page.labelled(0, ("- ", Ink::Faint), &words::clean(sentence), Ink::Plain);
    }
    page.finish()
}

fn groups(page: &mut Page, report: &WatchReport) {
    if report.groups.is_empty() {
        return;
    }
    let mut rows = vec![facts::GROUP.map(|name| Cell::new(name, Ink::Faint)).to_vec()];
    for group in report.groups.iter().take(ROWS) {
        let mut row = facts::group(group).map(Cell::from).to_vec();
        row[0] = Cell::new(words::count(group.count), Ink::Strong);
        rows.push(row);
    }
    let mut aligns = [Align::Right; 7];
    (aligns[5], aligns[6]) = (Align::Left, Align::Left);
    page.gap();
    page.table(0, &aligns, &rows);
    more(page, report.groups.len(), "more group");
}

fn threads(page: &mut Page, report: &WatchReport) {
    let seen = report.threads.iter().filter(|thread| thread.response.count() > 0);
    let rows: Vec<Vec<Cell>> = seen
        .clone()
        .take(ROWS)
        .map(|thread| distribution(words::clean(&thread.name), &thread.response))
        .collect();
    if rows.is_empty() {
        return;
    }
    let names = ["response of", "activations"].into_iter().chain(words::DISTRIBUTION);
    let head: Vec<Cell> = names.map(|name| Cell::new(name, Ink::Faint)).collect();
    let mut aligns = vec![Align::Right; head.len()];
    aligns[0] = Align::Left;
    page.gap();
    page.table(0, &aligns, &std::iter::once(head).chain(rows).collect::<Vec<_>>());
    more(page, seen.clone().count(), "more thread");
    for thread in report.threads.iter().take(ROWS) {
        let judged = match thread.limit {
            Some(limit) => format!("late beyond {limit}"),
            None => "not judged: there is no deadline and no period, and the history is too short".to_owned(),
        };
        page.labelled(0, (&format!("{}: ", words::clean(&thread.name)), Ink::Faint), &judged, Ink::Plain);
    }
}

fn windows(page: &mut Page, report: &WatchReport) {
    if report.kept.is_empty() {
        return;
    }
    page.gap();
    page.line(&[(&words::plural(report.kept.len() as u64, "window"), Ink::Strong)]);
    for window in report.kept.iter().rev().take(ROWS) {
        page.labelled(
            0,
            (&format!("{}: ", words::clean(&window.name)), Ink::Faint),
            &words::clean(&window.why),
            Ink::Plain,
        );
    }
    more(page, report.kept.len(), "older window");
}

fn more(page: &mut Page, all: usize, what: &str) {
    let left = all.saturating_sub(ROWS) as u64;
    if left > 0 {
        page.line(&[(&format!("and {}", words::plural(left, what)), Ink::Faint)]);
    }
}
