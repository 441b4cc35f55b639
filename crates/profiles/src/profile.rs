//! whylate's own profiles: readable TOML with reasons, which may extend each other and leave CPUs open.
//!
//! ```text
//! name or path ──> source   files, directories, built in; those that are extended first
//!                   └> document   node (TOML with lines), entry (sections, options), variables
//!                       └> resolve   condition over facts, sets over topology (one grammar), text with ${...} ──> DesiredState
//! ```
//!
//! The format is described for users in docs/profiles.md.

mod built_in;
mod condition;
mod document;
mod entry;
mod error;
mod facts;
mod grammar;
mod keys;
mod node;
mod options;
mod resolve;
mod sets;
mod source;
mod text;
mod topology;
mod value;
mod variables;

pub use built_in::{BuiltIn, built_in};
pub use error::{Location, ProfileError};
pub use source::ProfileInfo;

use crate::{DesiredSetting, DesiredState, Selector};
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_host::Snapshot;

/// All profiles that can be had by name, by name; of several with the same the one that counts: that of the first
/// directory which has it, then the built-in one. A directory that cannot be read has none.
pub fn list(directories: &[PathBuf]) -> Vec<ProfileInfo> {
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
) -> Result<DesiredState, ProfileError> {
    let chain = source::Chain::load(name_or_path, directories)?;
    resolve::resolve(name_or_path, chain, given, snapshot)
}

/// The names of the variables of a profile and of those that it extends; `name_or_path` as for [`load`].
///
/// # Errors
/// If there is no such profile, it cannot be read, or something in it is wrong.
pub fn variable_names(name_or_path: &str, directories: &[PathBuf]) -> Result<Vec<String>, ProfileError> {
    let chain = source::Chain::load(name_or_path, directories)?;
    let documents = chain.documents.iter().map(|(_, document)| document);
    let mut names: Vec<String> =
        documents.flat_map(|document| document.variables.iter().map(|own| own.name.clone())).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// What built-in profiles select on a machine with these CPUs, each with the reasons of the first profile that has it,
/// and no value. What depends on a variable other than CPUs is not among it: threads by the user's pattern.
pub fn built_in_settings(cpus: &CpuSet) -> Vec<DesiredSetting> {
    let mut settings: Vec<DesiredSetting> = Vec::new();
    for entry in source::built_in_documents().flat_map(|document| document.entries) {
        let selectors = match &entry.selector {
            Selector::Tunable { path } => {
                text::for_each(path, cpus).into_iter().map(|path| Selector::Tunable { path }).collect()
            }
            other => vec![other.clone()],
        };
        for selector in selectors {
            if !settings.iter().any(|own| own.selector == selector) {
                let reasons = entry.options.reasons.clone();
                let origin = format!("built-in profiles [{}]", entry.section);
                settings.push(DesiredSetting { selector, value: None, reasons, origin, optional: true });
            }
        }
    }
    settings
}

/// The files of the kernel that built-in profiles may set, of any of these CPUs; each may be a pattern.
pub fn files(cpus: &CpuSet) -> impl Iterator<Item = String> {
    source::built_in_documents().flat_map(|document| document.entries).flat_map(|entry| {
        match entry.selector {
            Selector::Tunable { path } => text::for_each(&path, cpus),
            _ => Vec::new(),
        }
    })
}
