//! The package for Debian and its relatives (deb(5)), written without dpkg: any machine makes the same bytes.

use super::archive::{StagedFile, gzip, tar};
use super::facts::ReleaseFacts;
use super::program::Machine;
use super::stage::Stage;
use super::work::write;
use crate::outcome::output_of;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// The package's name.
pub(super) fn name(facts: &ReleaseFacts, machine: &Machine) -> String {
    format!("whylate_{}_{}.deb", facts.version, machine.debian)
}

/// Writes the package.
pub(super) fn make(root: &Path, facts: &ReleaseFacts, stage: &Stage) -> Result<()> {
    let files = stage.for_debian();
    let mut control = Vec::new();
    let mut add = |path: &str, mode: u32, content: Vec<u8>| {
        control.push(StagedFile { path: path.to_owned(), mode, content });
    };
    add("control", 0o644, fields(facts, stage.machine, &files).into_bytes());
    let paths = files.iter().map(|file| &file.path);
    add("md5sums", 0o644, output_of(Command::new("md5sum").args(paths).current_dir(&stage.directory))?);
    for script in SCRIPTS {
        let path = root.join("packaging/debian").join(script);
        add(script, 0o755, fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    let seconds = facts.instant.0;
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&control, "", seconds)?)?),
        ("data.tar.gz", gzip(&tar(&files, "", seconds)?)?),
    ];
    write(&facts.output.join(name(facts, stage.machine)), &ar(&members, seconds))
}

/// The package's description, for dpkg and apt.
fn fields(facts: &ReleaseFacts, machine: &Machine, files: &[StagedFile]) -> String {
    let kib: usize = files.iter().map(|file| file.content.len().div_ceil(1024)).sum();
    format!(
        "Package: whylate\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: {}\n\
         Installed-Size: {kib}\n\
         Suggests: qemu-system-x86, qemu-system-arm\n\
         Section: utils\n\
         Priority: optional\n\
         Homepage: https://github.com/whylate/whylate\n\
         Description: finds out why a real-time Linux task is late\n \
         whylate records scheduling, interrupts and timers, and charges every\n \
         nanosecond between the time a thread was due and the time it was done\n \
         to a named cause, with the culprit, the evidence and a fix. It also\n \
         measures wake-up latency, checks whether a machine is ready for\n \
         real-time work, tunes it, and undoes that exactly.\n",
        facts.version, machine.debian, facts.maintainer
    )
}

/// The archive of ar(5).
fn ar(members: &[(&str, Vec<u8>)], seconds: u64) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let header =
            format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", content.len());
        out.extend(header.as_bytes());
        out.extend(content);
        if content.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_headers_of_60_bytes_and_begin_at_even_offsets() {
        let archive =
            ar(&[("debian-binary", b"2.0".to_vec()), ("data.tar.gz", b"xy".to_vec())], 1_700_000_000);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 2);
        let first = "debian-binary   1700000000  0     0     100644  3         `\n2.0\n";
        assert_eq!(&archive[8..72], first.as_bytes());
        assert!(archive[72..].starts_with(b"data.tar.gz "));
    }
}
