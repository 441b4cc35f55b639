//! What the report is about, where the user left it open or asked for a part: the threads to choose from, the part.

use crate::explain::facts;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_ledger::{Candidates, Explanation};

pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    if let Some(scope) = facts::scope(explanation) {
        page.paragraph(0, &scope, Ink::Faint);
        page.gap();
    }
    if let Some(candidates) = &explanation.candidates {
        sentences_and_table(page, candidates);
    }
}

fn sentences_and_table(page: &mut Page, candidates: &Candidates) {
    let [why, what, how] = facts::candidates(candidates);
    page.paragraph(0, &format!("{why} {what}"), Ink::Strong);
    page.paragraph(0, &how, Ink::Plain);
    page.gap();
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut rows =
        vec![["", "candidate", "policy", "activations", "max latency", "max wait"].map(faint).to_vec()];
    for candidate in &candidates.threads {
        let ink = if candidate.is_explained { Ink::Strong } else { Ink::Plain };
        rows.push(vec![
            faint(if candidate.is_explained { ">" } else { "" }),
            Cell::new(words::thread(&candidate.comm, candidate.tid), ink),
            words::scheduling(candidate.policy, candidate.priority).into(),
            words::count(candidate.activations).into(),
            words::known(candidate.latency).into(),
            words::known(candidate.wait).into(),
        ]);
    }
    page.table(0, &[Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right], &rows);
    page.gap();
}
