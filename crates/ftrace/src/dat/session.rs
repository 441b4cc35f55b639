//! Which files were recorded together: a host's and its guests'.

use whylate_base::{Cpu, Tid};

/// How files of one recording session belong together: a host's and its guests'
/// (`trace-cmd record -A`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The id of this file's recording.
    pub id: Option<u64>,
    /// Of a guest's file: the id of its host's recording, whose times its events have.
    pub host: Option<u64>,
    /// Of a host's file: the guests that were recorded with it.
    pub guests: Vec<Guest>,
}

/// A guest that was recorded together with its host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guest {
    /// Its name.
    pub name: String,
    /// The id of its own file's recording.
    pub id: u64,
    /// The host's thread that runs each of its CPUs.
    pub cpus: Vec<(Cpu, Tid)>,
}
