//! Where in the programs time went: what sampled call stacks show of an activation.

use whylate_base::{SourceLocation, Tid};
use whylate_events::StackId;

/// What a stack shows of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlaceRole {
    /// The late thread spent its time here.
    Ran,
    /// The late thread touched the page here.
    Faulted,
    /// The late thread blocked here.
    Blocked,
    /// The lock's owner released it here.
    Released,
    /// The lock's owner was here meanwhile, running or switched out.
    OwnerWas,
    /// The lock's owner touched a page here meanwhile.
    OwnerFaulted,
    /// The culprit spent its time here.
    CulpritRan,
}

impl PlaceRole {
    /// The role as the heading of a stack.
    pub fn title(self) -> &'static str {
        match self {
            PlaceRole::Ran => "its own work",
            PlaceRole::Faulted => "the page fault",
            PlaceRole::Blocked => "where it blocked",
            PlaceRole::Released => "the owner's release",
            PlaceRole::OwnerWas => "the owner meanwhile",
            PlaceRole::OwnerFaulted => "the owner's page fault",
            PlaceRole::CulpritRan => "the culprit's work",
        }
    }
}

/// A place of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The segment, an index into the activation's ledger.
    pub segment: usize,
    /// What it shows.
    pub role: PlaceRole,
    /// The thread whose stack it is.
    pub tid: Tid,
    /// The stack, in the recording's.
    pub stack: StackId,
    /// The program's own line of it.
    pub location: SourceLocation,
    /// How many samples of the activation show this line.
    pub samples: usize,
}
