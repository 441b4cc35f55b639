//! For a terminal: the answer first, then what shows it, then what to do.

mod activation;
mod applied;
mod check;
mod compare;
mod history;
mod layout;
mod long_run;
mod measure;
mod paint;
mod plan;
mod section;
mod tasks;
mod trace;
mod verified;

use crate::Compared;
use layout::Page;
use whylate_checks::Report;
use whylate_investigate::measure::MeasureReport;
use whylate_ledger::Explanation;
use whylate_tuning::{Entry, Line, Plan, Verified};

/// How to write for a terminal. Nothing is asked of the terminal itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// How many columns there are; below 60 lines may be longer than this.
    pub width: usize,
}

impl Default for Style {
    /// No colours, 100 columns: what a file or a pipe gets.
    fn default() -> Self {
        Style { color: false, width: 100 }
    }
}

/// An explanation as text: each thread with its worst activation, the findings, and what
/// could not be told. Ends with a line break.
pub fn explanation(explanation: &Explanation, style: &Style) -> String {
    let mut page = Page::new(style);
    tasks::write(&mut page, explanation);
    explanation.sections.iter().for_each(|one| section::write(&mut page, one));
    trace::findings(&mut page, &explanation.findings);
    trace::no_finding(&mut page, explanation);
    trace::limits(&mut page, explanation);
    trace::footer(&mut page, explanation);
    page.finish()
}

/// A measurement as text: the distribution of each CPU, the worst wake-ups and why, and
/// what the numbers lack. Ends with a line break.
pub fn measurement(report: &MeasureReport, style: &Style) -> String {
    let mut page = Page::new(style);
    measure::write(&mut page, report);
    page.finish()
}

/// Runs side by side as text: better or worse and why, what moved, causes, settings, gates and claims. Ends with a line
/// break.
pub fn compared(compared: &Compared, style: &Style) -> String {
    let mut page = Page::new(style);
    compare::write(&mut page, compared);
    page.finish()
}

/// What tuning would change as text: now -> then with reasons, who is against it, and what was left alone. Ends with
/// a line break.
pub fn planned(plan: &Plan, style: &Style) -> String {
    let mut page = Page::new(style);
    plan::write(&mut page, plan);
    page.finish()
}

/// The answers about a machine as text: what failed by severity, what nobody can tell, and what is as it
/// should be in one line each. Ends with a line break.
pub fn checked(report: &Report, style: &Style) -> String {
    let mut page = Page::new(style);
    check::write(&mut page, report);
    page.finish()
}

/// What was done about some applies as text: how each stands, what failed or was left and why, and what to do next.
/// Ends with a line break.
pub fn applied(entries: &[Entry], style: &Style) -> String {
    let mut page = Page::new(style);
    applied::write(&mut page, entries);
    page.finish()
}

/// Whether a machine is as it was made, as text. Ends with a line break.
pub fn verified(verified: &Verified, style: &Style) -> String {
    let mut page = Page::new(style);
    verified::write(&mut page, verified);
    page.finish()
}

/// What was applied when, as text, last first. Ends with a line break.
pub fn history(lines: &[Line], style: &Style) -> String {
    let mut page = Page::new(style);
    history::write(&mut page, lines);
    page.finish()
}
