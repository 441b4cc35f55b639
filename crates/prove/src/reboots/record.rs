//! What a proof across reboots keeps on the disk: enough to go on in a process that knows nothing else.

use super::rounds::KeptRound;
use serde::{Deserialize, Serialize};
use whylate_profiles::DesiredState;

/// The version of the file.
const VERSION: u32 = 1;

/// A proof across reboots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RebootProof {
    /// Of the file: another one is not read.
    pub version: u32,
    /// The command line of `whylate prove`, without the program.
    pub arguments: Vec<String>,
    /// The directory in which it was called.
    pub directory: String,
    /// The kernel parameters.
    pub desired: DesiredState,
    /// Each of them, before and after.
    pub change: Vec<KeptChange>,
    /// The machine may be rebooted without a question.
    pub may_reboot: bool,
    /// The most rounds.
    pub most_rounds: usize,
    /// In how many boots a round was begun.
    pub boots: usize,
    /// The boot in which the last round was measured.
    pub measured_in: Option<String>,
    /// The apply that installed the unit.
    pub unit: Option<u64>,
    /// The apply of the parameters, where they are in the boot loader's configuration.
    pub applied: Option<u64>,
    /// What comes next.
    pub phase: RebootPhase,
    /// What was measured.
    pub rounds: Vec<KeptRound>,
    /// Checks that fail without the change, and those that fail only with it: code and title.
    pub checks: Option<Vec<(String, String)>>,
    /// See `checks`.
    pub newly_failed: Vec<(String, String)>,
    /// For the report.
    pub notes: Vec<String>,
    /// When it began, in seconds of the wall clock.
    pub began: i64,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptChange {
    /// Its name.
    pub name: String,
    /// Its value without the change; `None`: it is not given.
    pub now: Option<String>,
    /// Its value with it.
    pub then: Option<String>,
    /// Why it is made, where that is known.
    pub why: Option<String>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RebootPhase {
    /// A round in a boot, with the change or without it.
    Measure {
        /// With it.
        with_change: bool,
    },
    /// The boot loader's configuration is being changed.
    Change {
        /// The parameters are being put there, and not taken away.
        to_change: bool,
    },
    /// The old parameters are being put back, for good.
    Restore {
        /// Why.
        why: String,
        /// It has a verdict.
        is_done: bool,
    },
    /// Nothing more.
    Ended {
        /// Why.
        why: String,
        /// It has a verdict.
        is_done: bool,
    },
}

impl RebootProof {
    /// One that has not begun.
    pub(crate) fn new(
        arguments: Vec<String>,
        directory: String,
        desired: DesiredState,
        change: Vec<KeptChange>,
    ) -> RebootProof {
        RebootProof {
            version: VERSION,
            arguments,
            directory,
            desired,
            change,
            may_reboot: false,
            most_rounds: 0,
            boots: 0,
            measured_in: None,
            unit: None,
            applied: None,
            phase: RebootPhase::Measure { with_change: false },
            rounds: Vec::new(),
            checks: None,
            newly_failed: Vec::new(),
            notes: Vec::new(),
            began: 0,
        }
    }

    /// True for a file of this version.
    pub(crate) fn is_readable(&self) -> bool {
        self.version == VERSION
    }

    /// The applies that it has made, and that are in effect.
    pub fn own_applies(&self) -> Vec<u64> {
        self.unit.into_iter().chain(self.applied).collect()
    }

    /// How far it is, in a sentence.
    pub fn status(&self) -> String {
        let rounds = format!(
            "{} of at most {} rounds measured, in {} boots",
            self.rounds.len(),
            self.most_rounds,
            self.boots
        );
        match &self.phase {
            RebootPhase::Measure { with_change } => {
                let which = if *with_change { "with" } else { "without" };
                format!("{rounds}; the next round is measured after a reboot, {which} the change")
            }
            RebootPhase::Change { .. } => format!(
                "{rounds}; the boot loader is being configured: if that was cut short, the next boot puts the old parameters back, and \
                 so does `whylate prove --abandon`"
            ),
            RebootPhase::Restore { why, .. } => format!(
                "{rounds}; {why}: the old parameters are being put back; if that was cut short, run `whylate prove --abandon`"
            ),
            RebootPhase::Ended { why, is_done: true } => format!("{rounds}; it has ended: {why}"),
            RebootPhase::Ended { why, is_done: false } => {
                format!("{rounds}; it has ended without a verdict: {why}; the old parameters are put back")
            }
        }
    }

    /// Nothing is left to be done.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, RebootPhase::Ended { .. })
    }
}
