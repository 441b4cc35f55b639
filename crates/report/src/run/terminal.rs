//! The steps of a start for a terminal: each with what shows it, a refusal with its evidence and its fixes.

use crate::terminal::Style;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_threads::run::{Refusal, RunReport};

/// The steps as text. Ends with a line break.
pub fn render(report: &RunReport, style: &Style) -> String {
    let mut page = Page::new(style);
    for step in &report.steps {
        let (label, ink) = match step.ok {
            Some(true) => ("ok       ", Ink::Green),
            Some(false) => ("refused  ", Ink::Red),
            None => ("unknown  ", Ink::Yellow),
        };
        page.labelled(0, (label, ink), &words::clean(&step.step), Ink::Strong);
        if let Some(reason) = &step.reason {
            page.paragraph(9, &words::clean(reason), Ink::Plain);
        }
        for refusal in report.refused.iter().filter(|refusal| refusal.what == step.step) {
            details(&mut page, refusal);
        }
    }
    page.gap();
    page.facts(&[
        words::plural(report.steps.len() as u64, "step"),
        format!("{} refused", report.refused.len()),
    ]);
    page.finish()
}

fn details(page: &mut Page, refusal: &Refusal) {
    for evidence in &refusal.evidence {
        page.labelled(9, ("shown by ", Ink::Faint), &words::clean(evidence), Ink::Plain);
    }
    for (i, fix) in refusal.fix.iter().enumerate() {
        let label = if i == 0 { "fix      " } else { "or       " };
        page.labelled(9, (label, Ink::Green), &words::clean(fix), Ink::Plain);
    }
}
