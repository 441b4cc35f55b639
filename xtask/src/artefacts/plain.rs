//! The plain archive of a machine's files.

use super::archive;
use super::facts::ReleaseFacts;
use super::program::Machine;
use super::stage::Stage;
use super::work::write;
use anyhow::Result;

/// The name of the plain archive.
pub(super) fn name(facts: &ReleaseFacts, machine: &Machine) -> String {
    format!("whylate-{}-{}-linux-musl.tar.gz", facts.version, machine.uname)
}

/// The plain archive: what a package installs, below a directory of the archive's name.
pub(super) fn make(facts: &ReleaseFacts, stage: &Stage) -> Result<()> {
    let name = name(facts, stage.machine);
    let top = name.trim_end_matches(".tar.gz");
    let tar = archive::tar(&stage.for_others(), &format!("{top}/"), facts.instant.0)?;
    write(&facts.output.join(&name), &archive::gzip(&tar)?)
}
