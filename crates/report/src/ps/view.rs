//! What is rendered.

use whylate_threads::ps::PsReport;

/// The report of `ps`, with the interrupts in its text or without.
#[derive(Clone, Copy, Debug)]
pub struct PsView<'a> {
    /// The threads and interrupts.
    pub report: &'a PsReport,
    /// Whether the text has the interrupts; JSON always has them.
    pub interrupts: bool,
}
