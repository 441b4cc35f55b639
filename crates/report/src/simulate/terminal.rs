//! A simulation for a terminal: the tasks, findings, the worst activations, what was taken for granted.

use super::{facts, proposal, replay, sweep, worst_case};
use crate::explain::terminal::{activation, trace};
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_simulate::propose::Proposal;
use whylate_simulate::sweep::Sweep;
use whylate_simulate::worst_case::WorstCase;
use whylate_simulate::{ReplayReport, SimulationReport};

/// How many tasks have their worst activation in full: the late ones, and else the first.
const IN_FULL: usize = 3;

/// A simulation as text. Ends with a line break.
pub(super) fn render(report: &SimulationReport, style: &Style) -> String {
    let mut page = Page::new(style);
    if let Some(of) = &report.proposal {
        proposed(&mut page, of);
    }
    match &report.replay {
        Some(of) => replayed(&mut page, of, report.sweep.as_ref()),
        None => {
            if let Some(of) = &report.sweep {
                swept(&mut page, of);
            }
            tasks(&mut page, report);
        }
    }
    for worst in &report.worst_cases {
        composed(&mut page, worst);
    }
    let late = report.tasks.iter().filter(|task| task.tally.missed > 0);
    for task in late.take(IN_FULL) {
        if let Some(worst) = facts::worst(report, task) {
            page.gap();
            page.line(&[(&words::clean(&task.name), Ink::Strong)]);
            activation::write(&mut page, "worst  ", worst);
        }
    }
    trace::findings(&mut page, &report.findings);
    list(&mut page, "Without a bound", &facts::without_bound(report));
    list(&mut page, "Assumptions", &report.assumptions);
    page.gap();
    page.facts(&facts::about(report));
    page.finish()
}

/// A proposal; what follows is of a run with it.
fn proposed(page: &mut Page, of: &Proposal) {
    page.line(&[(proposal::HEADING, Ink::Strong)]);
    page.paragraph(2, &words::clean(&proposal::sentence(of)), Ink::Strong);
    let heading = ["task"].into_iter().chain(proposal::COLUMNS).map(|name| Cell::new(name, Ink::Faint));
    let mut rows: Vec<Vec<Cell>> = vec![heading.collect()];
    for task in &of.tasks {
        let name = Cell::new(words::clean(&task.name), Ink::Strong);
        rows.push([name].into_iter().chain(proposal::cells(task).map(Cell::from)).collect());
    }
    let mut aligns = vec![Align::Right; proposal::COLUMNS.len() + 1];
    aligns[0] = Align::Left;
    page.table(2, &aligns, &rows);
    if let Some(worse) = proposal::worse(of) {
        page.paragraph(2, &words::clean(&worse), Ink::Plain);
    }
    page.gap();
}

/// The tasks of a task set.
fn tasks(page: &mut Page, report: &SimulationReport) {
    let heading = facts::COLUMNS.iter().map(|name| Cell::new(*name, Ink::Faint));
    let mut rows: Vec<Vec<Cell>> = vec![[Cell::new("task", Ink::Faint)].into_iter().chain(heading).collect()];
    for task in &report.tasks {
        let cells = facts::cells(report, task).map(Cell::from);
        let name = Cell::new(words::clean(&task.name), Ink::Strong);
        rows.push([name].into_iter().chain(cells).collect());
    }
    let mut aligns = vec![Align::Right; facts::COLUMNS.len() + 1];
    aligns[0] = Align::Left;
    aligns[1] = Align::Left;
    aligns[facts::COLUMNS.len()] = Align::Left;
    page.table(0, &aligns, &rows);
}

/// A recording: how far the replay is from it, then what the changes do.
fn replayed(page: &mut Page, of: &ReplayReport, swept_by: Option<&Sweep>) {
    page.paragraph(0, &replay::error(of), Ink::Strong);
    if let Some(losses) = replay::losses(of) {
        page.paragraph(0, &losses, Ink::Plain);
    }
    page.gap();
    if let Some(sweep) = swept_by {
        swept(page, sweep);
    }
    let columns = replay::columns(of);
    let heading = columns.iter().map(|name| Cell::new(*name, Ink::Faint));
    let mut rows: Vec<Vec<Cell>> =
        vec![[Cell::new("thread", Ink::Faint)].into_iter().chain(heading).collect()];
    for thread in &of.threads {
        let name =
            Cell::new(words::clean(&thread.name), if thread.chosen { Ink::Strong } else { Ink::Plain });
        rows.push([name].into_iter().chain(replay::cells(of, thread).map(Cell::from)).collect());
    }
    let mut aligns = vec![Align::Right; columns.len() + 1];
    aligns[0] = Align::Left;
    page.table(0, &aligns, &rows);
    if let Some(unlisted) = replay::unlisted(of) {
        page.line(&[(&unlisted, Ink::Faint)]);
    }
    if !of.changes.is_empty() {
        list(page, &format!("With {}", of.changes.join(" ")), &replay::sentences(of));
    }
}

/// A sweep: its combinations, grouped; what follows is about the worst one.
fn swept(page: &mut Page, of: &Sweep) {
    page.line(&[(&sweep::heading(of), Ink::Strong)]);
    for sentence in sweep::sentences(of) {
        page.paragraph(2, &words::clean(&sentence), Ink::Plain);
    }
    let table = sweep::table(of);
    let mut rows: Vec<Vec<Cell>> = vec![table.head.iter().map(|name| Cell::new(name, Ink::Faint)).collect()];
    rows.extend(table.rows.into_iter().map(|row| row.into_iter().map(Cell::from).collect()));
    let mut aligns = vec![Align::Right; table.head.len()];
    aligns[..of.keys.len()].fill(Align::Left);
    if let Some(last) = aligns.last_mut() {
        *last = Align::Left;
    }
    page.table(2, &aligns, &rows);
    page.gap();
    if let Some((worst, _)) = of.ends {
        page.line(&[(
            &format!("Worst combination: {}", words::clean(&sweep::changes(of, worst))),
            Ink::Strong,
        )]);
    }
}

/// A worst case: what adds up to it.
fn composed(page: &mut Page, worst: &WorstCase) {
    page.gap();
    page.line(&[(&worst_case::heading(worst), Ink::Strong)]);
    page.paragraph(2, &words::clean(&worst_case::sentence(worst)), Ink::Strong);
    if !worst.contributors.is_empty() {
        let heading =
            ["cause"].into_iter().chain(worst_case::COLUMNS).map(|name| Cell::new(name, Ink::Faint));
        let mut rows: Vec<Vec<Cell>> = vec![heading.collect()];
        for part in &worst.contributors {
            let cause = Cell::new(part.cause.code(), Ink::Plain);
            let cells = worst_case::cells(worst, part).map(Cell::from);
            rows.push([cause].into_iter().chain(cells).collect());
        }
        let mut aligns = vec![Align::Right; worst_case::COLUMNS.len() + 1];
        (aligns[0], aligns[1]) = (Align::Left, Align::Left);
        page.table(2, &aligns, &rows);
    }
    for sentence in worst_case::first(worst).iter().chain(&worst_case::claim(worst)) {
        page.paragraph(2, &words::clean(sentence), Ink::Plain);
    }
    for assumption in &worst.assumptions {
        page.labelled(2, ("- ", Ink::Faint), &words::clean(assumption), Ink::Faint);
    }
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
