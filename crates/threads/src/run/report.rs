//! What would be done, or was: step by step.

use super::refusal::Refusal;

/// The steps in their order, and what is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// In the order in which they are made.
    pub steps: Vec<RunStep>,
    /// What the kernel, or this program, refuses.
    pub refused: Vec<Refusal>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// What is done: `SCHED_FIFO priority 50`.
    pub step: String,
    /// Whether it can be done, or was; `None`: cannot tell.
    pub ok: Option<bool>,
    /// What shows it.
    pub reason: Option<String>,
}

impl RunStep {
    /// A step that can be done, or was.
    pub(super) fn done(step: impl Into<String>, reason: impl Into<String>) -> RunStep {
        RunStep { step: step.into(), ok: Some(true), reason: Some(reason.into()) }
    }

    /// A step that is refused.
    pub(super) fn refused(step: impl Into<String>, reason: impl Into<String>) -> RunStep {
        RunStep { step: step.into(), ok: Some(false), reason: Some(reason.into()) }
    }

    /// A step of which it is not known whether it can be done.
    pub(super) fn unknown(step: impl Into<String>, reason: impl Into<String>) -> RunStep {
        RunStep { step: step.into(), ok: None, reason: Some(reason.into()) }
    }
}

impl RunReport {
    /// Adds a refusal with its step.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.steps.push(RunStep::refused(&refusal.what, refusal.summary()));
        self.refused.push(refusal);
    }
}
