//! The package for Fedora, RHEL, SUSE and their relatives, by rpmbuild.

use super::facts::ReleaseFacts;
use super::program::Machine;
use super::stage::Stage;
use super::work::write;
use crate::outcome::StepOutcome;
use crate::outcome::output_of;
use crate::tools;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The package's name.
pub(super) fn name(facts: &ReleaseFacts, machine: &Machine) -> String {
    format!("whylate-{}-1.{}.rpm", facts.version, machine.uname)
}

/// Writes the package, where rpmbuild is there or may be installed.
pub(super) fn make(root: &Path, facts: &ReleaseFacts, stage: &Stage) -> StepOutcome {
    if !tools::provided("rpmbuild", "rpm") {
        return StepOutcome::Skipped("no rpmbuild: apt-get install rpm, or dnf install rpm-build".to_owned());
    }
    match build(root, facts, stage) {
        Ok(()) => StepOutcome::Passed,
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

fn build(root: &Path, facts: &ReleaseFacts, stage: &Stage) -> Result<()> {
    let template = root.join("packaging/rpm/whylate.spec");
    let template =
        fs::read_to_string(&template).with_context(|| format!("cannot read {}", template.display()))?;
    let top = facts.work.join(format!("rpm-{}", stage.machine.name));
    let spec = top.join("whylate.spec");
    write(&spec, specification(&template, facts, stage).as_bytes())?;
    let mut command = Command::new("rpmbuild");
    command.args(["-bb", "--quiet", "--target"]).arg(format!("{}-linux", stage.machine.uname));
    let top_text = top.display().to_string();
    for (macro_name, value) in [
        ("_topdir", top_text.as_str()),
        ("stage", &stage.directory.display().to_string()),
        ("_buildhost", "whylate"),
        ("use_source_date_epoch_as_buildtime", "1"),
        ("clamp_mtime_to_source_date_epoch", "1"),
        ("_build_id_links", "none"),
        ("debug_package", "%{nil}"),
        // No stripping and no compressing: the files are as they are to be.
        ("__os_install_post", "%{nil}"),
        ("_binary_payload", "w9.gzdio"),
        ("_unitdir", "/usr/lib/systemd/system"),
    ] {
        command.arg("--define").arg(format!("{macro_name} {value}"));
    }
    output_of(command.arg(&spec).env("SOURCE_DATE_EPOCH", facts.instant.0.to_string()))?;
    let name = name(facts, stage.machine);
    let made = top.join("RPMS").join(stage.machine.uname).join(&name);
    fs::copy(&made, facts.output.join(&name)).with_context(|| format!("cannot copy {}", made.display()))?;
    Ok(())
}

/// The specification with its version and its files.
fn specification(template: &str, facts: &ReleaseFacts, stage: &Stage) -> String {
    let files = stage.for_others();
    let files = files.iter().map(|file| {
        let mark = match file.path.starts_with("usr/share/doc/") {
            true => "%doc ",
            false => "",
        };
        format!("{mark}%attr({:o}, root, root) /{}\n", file.mode, file.path)
    });
    let files: String = files.collect();
    template
        .replace("@VERSION@", &facts.version)
        .replace("@PACKAGER@", &facts.maintainer)
        .replace("@FILES@\n", &files)
}
