//! What is wrong with a task set, as its simulation shows. One file per code; the pages are in docs/findings of this crate.

mod advice;
mod deadlock;
mod missed;
mod overload;
mod starving;

use crate::model::Model;
use crate::result::TaskResult;
use whylate_base::{Finding, Ns};

/// All findings about a task set, errors first.
pub(crate) fn of(
    model: &Model,
    duration: Ns,
    tasks: &[TaskResult],
    deadlocked: &[(usize, usize)],
) -> Vec<Finding> {
    let mut all = deadlock::findings(model, deadlocked);
    all.extend(missed::findings(duration, tasks));
    all.extend(overload::findings(model));
    all.extend(starving::findings(duration, tasks));
    all
}

/// The page of a code of this crate.
pub fn finding_page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// The codes of this crate's findings.
pub fn finding_codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

const PAGES: [(&str, &str); 4] = [
    ("simulated-deadline-missed", include_str!("../docs/findings/simulated-deadline-missed.md")),
    ("deadlock", include_str!("../docs/findings/deadlock.md")),
    ("overload", include_str!("../docs/findings/overload.md")),
    ("starving", include_str!("../docs/findings/starving.md")),
];
