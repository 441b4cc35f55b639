//! whylate's own profiles: readable TOML with reasons, which may extend each other and leave CPUs open.
//!
//! ```text
//! name or path ──> source   files, directories, built in; those that are extended first
//!                   └> document   node (TOML with lines), entry (sections), variables, condition
//!                       └> resolve   expression over topology, text with ${...} ──> Wishes
//! ```
//!
//! The format is described for users in docs/profiles.md.

mod condition;
mod document;
mod entry;
mod error;
mod expression;
mod node;
mod resolve;
mod source;
mod text;
mod topology;
mod variables;

pub use error::{Place, ProfileError};

use crate::{Aim, Wishes};
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_host::Snapshot;

/// A profile that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, such as `realtime`.
    pub name: &'static str,
    /// What it is for, in one line; the same as its text says.
    pub summary: &'static str,
    /// The profile itself.
    pub text: &'static str,
}

/// A profile that can be had by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it is for, as it says; or what is wrong with it.
    pub summary: Result<String, ProfileError>,
    /// Its file; `None`: it is built in.
    pub path: Option<PathBuf>,
}

/// The built-in profiles.
pub fn built_in() -> &'static [BuiltIn] {
    const ALL: &[BuiltIn] = &[
        BuiltIn {
            name: "realtime",
            summary: "Threads with deadlines on CPUs of their own, on a PREEMPT_RT kernel",
            text: include_str!("../profiles/realtime.toml"),
        },
        BuiltIn {
            name: "cpu-partitioning",
            summary: "CPUs for threads that poll without end (packet processing), on any kernel",
            text: include_str!("../profiles/cpu-partitioning.toml"),
        },
        BuiltIn {
            name: "realtime-virtual-host",
            summary: "A host whose guests have deadlines: a CPU for each virtual CPU",
            text: include_str!("../profiles/realtime-virtual-host.toml"),
        },
        BuiltIn {
            name: "realtime-virtual-guest",
            summary: "A guest with deadlines, on a host that is prepared for it",
            text: include_str!("../profiles/realtime-virtual-guest.toml"),
        },
        BuiltIn {
            name: "audio",
            summary: "Audio with small buffers on a desktop or laptop",
            text: include_str!("../profiles/audio.toml"),
        },
        BuiltIn {
            name: "robotics",
            summary: "Robots and machine control: threads with deadlines beside a desktop or middleware",
            text: include_str!("../profiles/robotics.toml"),
        },
    ];
    ALL
}

/// All profiles that can be had by name, by name; of several with the same the one that counts: that of the first
/// directory which has it, then the built-in one. A directory that cannot be read has none.
pub fn list(directories: &[PathBuf]) -> Vec<Listed> {
    source::list(directories)
}

/// What a profile asks of a machine. `name_or_path` is a path if it has a `/` or ends in `.toml`; a name is looked
/// for in `directories`, first to last, then among the built-in ones. `given` are values for its variables.
///
/// # Errors
/// If there is no such profile, it cannot be read, something in it or in a given value is wrong, or a variable
/// that it cannot do without has no value. A CPU that is not there, and a set that turns out empty, are errors.
pub fn load(
    name_or_path: &str,
    given: &[(String, String)],
    snapshot: &Snapshot,
    directories: &[PathBuf],
) -> Result<Wishes, ProfileError> {
    let chain = source::Chain::load(name_or_path, directories)?;
    resolve::resolve(name_or_path, chain, given, snapshot)
}

/// The files of the kernel that built-in profiles may set, of any of these CPUs; each may be a pattern.
pub(crate) fn files(cpus: &CpuSet) -> impl Iterator<Item = String> {
    source::built_in_documents().flat_map(|document| document.entries).flat_map(|entry| match entry.aim {
        Aim::Knob { path } => text::for_each(&path, cpus),
        _ => Vec::new(),
    })
}
