//! Where systemd has its units, and whether it runs.

use crate::files::{FileEntry, Files};
use crate::staged::StageError;

/// Where systemd shows that it runs (sd_booted(3)).
pub const RUNNING: &str = "/run/systemd/system";

/// The directories of units, those that count first (systemd.unit(5)).
pub const UNIT_DIRECTORIES: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Whether systemd runs on that machine.
///
/// # Errors
/// If that cannot be read.
pub fn runs_systemd(files: &dyn Files) -> Result<bool, StageError> {
    Ok(matches!(files.entry(RUNNING)?, FileEntry::Directory { .. }))
}

/// The name of a unit's file: an instance of a template has the template's.
pub fn unit_file(unit: &str) -> String {
    match (unit.split_once('@'), unit.rsplit_once('.')) {
        (Some((template, _)), Some((_, kind))) => format!("{template}@.{kind}"),
        _ => unit.to_owned(),
    }
}
