//! The roles of a run's threads, and which of them this process plays.

use serde::{Deserialize, Serialize};

/// What a thread is in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// It is made late.
    Victim,
    /// It makes it late.
    Culprit,
    /// It is involved, and must not be named the culprit.
    Bystander,
}

/// Which threads of the run belong to this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessShare {
    /// All of them.
    Everyone,
    /// All but the victim, which is another process.
    AllButVictim,
    /// The victim.
    VictimOnly,
}

impl ProcessShare {
    /// Whether a thread of that part is started by this process.
    pub(crate) fn starts(self, part: Role) -> bool {
        match self {
            ProcessShare::Everyone => true,
            ProcessShare::AllButVictim => part != Role::Victim,
            ProcessShare::VictimOnly => part == Role::Victim,
        }
    }
}
