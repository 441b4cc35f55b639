//! A proof for a terminal: the verdict, both states, what else changed, and the rounds.

use super::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_prove::{ProveReport, ProveVerdict};

/// A proof as text. Ends with a line break.
pub(super) fn render(report: &ProveReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let ink = match report.verdict {
        ProveVerdict::Better => Ink::Green,
        ProveVerdict::Worse => Ink::Red,
        ProveVerdict::NoDifference | ProveVerdict::Refused => Ink::Strong,
    };
    page.paragraph(0, &words::clean(&facts::verdict(report)), ink);
    list(&mut page, "", &report.why);
    list(&mut page, "Change", &facts::changes(report));
    page.gap();
    let heading =
        |names: &[&'static str]| names.iter().map(|name| Cell::new(*name, Ink::Faint)).collect::<Vec<_>>();
    let mut rows = vec![[vec![Cell::new("", Ink::Faint)], heading(&facts::STATES)].concat()];
    for (name, cells) in facts::states(report) {
        rows.push([Cell::new(name, Ink::Strong)].into_iter().chain(cells.map(Cell::from)).collect());
    }
    page.table(0, &aligns(facts::STATES.len() + 1, 1), &rows);
    list(&mut page, "Side effects", &report.side_effects.iter().map(facts::side_effect).collect::<Vec<_>>());
    page.gap();
    page.paragraph(0, &words::clean(&facts::keeping(report)), Ink::Plain);
    page.gap();
    let mut rows = vec![heading(&facts::ROUNDS)];
    rows.extend(report.rounds.iter().map(|round| facts::round(round).map(Cell::from).to_vec()));
    page.table(0, &aligns(facts::ROUNDS.len(), 2), &rows);
    list(&mut page, "Notes", &report.notes);
    page.gap();
    page.facts(&facts::about(report).iter().map(|fact| words::clean(fact)).collect::<Vec<_>>());
    page.finish()
}

fn aligns(columns: usize, left: usize) -> Vec<Align> {
    (0..columns).map(|at| if at < left { Align::Left } else { Align::Right }).collect()
}

fn list(page: &mut Page, heading: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    if !heading.is_empty() {
        page.gap();
        page.line(&[(heading, Ink::Strong)]);
    }
    for sentence in sentences {
        page.labelled(2, ("- ", Ink::Faint), &words::clean(sentence), Ink::Plain);
    }
}
