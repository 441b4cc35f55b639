//! An explanation for a terminal: the answer first, then what shows it, then what to do.

pub(crate) mod activation;
mod candidates;
mod chains;
mod peer;
mod section;
mod tasks;
pub(crate) mod trace;

use crate::terminal::Style;
use crate::terminal::layout::Page;
use whylate_ledger::Explanation;

/// An explanation as text: each thread with its worst activation, the findings, and what
/// is unknown. Ends with a line break.
pub fn render(explanation: &Explanation, style: &Style) -> String {
    let mut page = Page::new(style);
    candidates::write(&mut page, explanation);
    chains::write(&mut page, explanation);
    tasks::write(&mut page, explanation);
    explanation.sections.iter().for_each(|one| section::write(&mut page, one));
    trace::findings(&mut page, &explanation.findings);
    trace::closing(&mut page, explanation);
    trace::host(&mut page, explanation);
    peer::write(&mut page, explanation);
    trace::limits(&mut page, explanation);
    trace::stacks(&mut page, explanation);
    trace::footer(&mut page, explanation);
    page.finish()
}
