//! The roles of a run's threads, and those of this process.

use serde::{Deserialize, Serialize};

/// The role of a thread in the run.
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
    /// Whether this process starts the threads with that part.
    pub(crate) fn starts(self, part: Role) -> bool {
        match self {
            ProcessShare::Everyone => true,
            ProcessShare::AllButVictim => part != Role::Victim,
            ProcessShare::VictimOnly => part == Role::Victim,
        }
    }
}
