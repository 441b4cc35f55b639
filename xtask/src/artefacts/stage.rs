//! What a package installs, as files with their content.

use super::archive::{StagedFile, gzip};
use super::facts::ReleaseFacts;
use super::notices;
use super::program::Machine;
use super::work::write;
use crate::outcome::output_of;
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of one machine's package.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) machine: &'static Machine,
    files: Vec<StagedFile>,
    /// A directory with these files, for programs that take one.
    pub(super) directory: PathBuf,
}

/// Where the program is in the end, which its units name.
const PROGRAM: &str = "/usr/bin/whylate";
/// Where the unit keeps windows: systemd makes the directory.
const KEPT: &str = "/var/lib/whylate/watch";

const PAGES: &str = "usr/share/man/man1";
const DOC: &str = "usr/share/doc/whylate";
const UNITS: &str = "usr/lib/systemd/system";
/// Where Debian's zsh looks for what packages bring, and where all others do.
const ZSH_DEBIAN: &str = "usr/share/zsh/vendor-completions/";
const ZSH: &str = "usr/share/zsh/site-functions/";
/// The completions' shells and files.
const COMPLETIONS: [(&str, &str, &str); 4] = [
    ("bash", "usr/share/bash-completion/completions/", "whylate"),
    ("fish", "usr/share/fish/vendor_completions.d/", "whylate.fish"),
    ("zsh", ZSH, "_whylate"),
    ("zsh", ZSH_DEBIAN, "_whylate"),
];

/// What CI servers run.
const CI_SCRIPT: &str = "usr/share/whylate/ci/rt-test.sh";

/// Texts that are installed as they are, with their places.
const TEXTS: [(&str, &str); 4] = [
    ("README.md", "README.md"),
    ("packaging/copyright", "copyright"),
    ("packaging/sudoers.example", "examples/sudoers"),
    ("docs/example-profile.toml", "examples/profile.toml"),
];

impl Stage {
    /// Collects the files. `generator` is a whylate that runs here.
    pub(super) fn make(
        root: &Path,
        facts: &ReleaseFacts,
        machine: &'static Machine,
        program: &Path,
        generator: &Path,
    ) -> Result<Stage> {
        let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let mut files = Vec::new();
        let mut add =
            |path: String, mode: u32, content: Vec<u8>| files.push(StagedFile { path, mode, content });
        add(PROGRAM.trim_start_matches('/').to_owned(), 0o755, read(program)?);
        for (name, page) in pages(facts, generator)? {
            add(format!("{PAGES}/{name}.gz"), 0o644, gzip(&page)?);
        }
        for (shell, directory, name) in COMPLETIONS {
            let text = output_of(Command::new(generator).args(["completions", shell]))?;
            add(format!("{directory}{name}"), 0o644, text);
        }
        for (verb, arguments) in [("guard", &[][..]), ("watch", &["--keep", KEPT])] {
            let mut command = Command::new(generator);
            let unit = output_of(command.arg(verb).args(arguments).arg("--print-unit"))?;
            let unit = installed(&String::from_utf8(unit).context("a unit is not UTF-8")?, verb)?;
            add(format!("{UNITS}/whylate-{verb}.service"), 0o644, unit.into_bytes());
        }
        for (from, to) in TEXTS {
            add(format!("{DOC}/{to}"), 0o644, read(&root.join(from))?);
        }
        add(format!("{DOC}/third-party-licences.gz"), 0o644, gzip(&notices::text(root, machine)?)?);
        add(CI_SCRIPT.to_owned(), 0o755, read(&root.join("packaging/ci/rt-test.sh"))?);
        add(format!("{DOC}/changelog.gz"), 0o644, gzip(&read(&root.join("CHANGELOG.md"))?)?);
        let profiles = root.join("crates/profiles/profiles");
        let listed =
            fs::read_dir(&profiles).with_context(|| format!("cannot list {}", profiles.display()))?;
        for entry in listed {
            let entry = entry.with_context(|| format!("cannot list {}", profiles.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            add(format!("{DOC}/examples/profiles/{name}"), 0o644, read(&entry.path())?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let directory = facts.work.join(machine.name);
        for file in &files {
            let path = directory.join(&file.path);
            write(&path, &file.content)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(file.mode))
                .with_context(|| format!("cannot set the permissions of {}", path.display()))?;
        }
        Ok(Stage { machine, files, directory })
    }

    /// The files for Debian and its relatives.
    pub(super) fn for_debian(&self) -> Vec<StagedFile> {
        self.without(ZSH)
    }

    /// The files for all others.
    pub(super) fn for_others(&self) -> Vec<StagedFile> {
        self.without(ZSH_DEBIAN)
    }

    fn without(&self, directory: &str) -> Vec<StagedFile> {
        self.files.iter().filter(|file| !file.path.starts_with(directory)).cloned().collect()
    }
}

/// The man pages, by name.
fn pages(facts: &ReleaseFacts, generator: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let directory = facts.work.join("man");
    output_of(Command::new(generator).arg("man-pages").arg(&directory))?;
    let mut pages = Vec::new();
    let listed = fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in listed {
        let entry = entry.with_context(|| format!("cannot list {}", directory.display()))?;
        let page =
            fs::read(entry.path()).with_context(|| format!("cannot read {}", entry.path().display()))?;
        pages.push((entry.file_name().to_string_lossy().into_owned(), page));
    }
    pages.sort();
    Ok(pages)
}

/// The unit of the installed program: the printed one names the program that printed it.
fn installed(unit: &str, verb: &str) -> Result<String> {
    let mut found = false;
    let lines = unit.lines().map(|line| match line.strip_prefix("ExecStart=") {
        Some(command) => {
            let at = command.find(&format!(" {verb}")).unwrap_or(command.len());
            found = at < command.len();
            format!("ExecStart={PROGRAM}{}\n", &command[at..])
        }
        None => format!("{line}\n"),
    });
    let text: String = lines.collect();
    found.then_some(text).with_context(|| format!("the unit of {verb} starts another program:\n{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_installed_program() {
        let unit = "[Service]\nExecStart=\"/a b/whylate\" guard --once\nNice=5\n";
        let expected = "[Service]\nExecStart=/usr/bin/whylate guard --once\nNice=5\n";
        assert_eq!(installed(unit, "guard").expect("a unit"), expected);
        assert!(installed("[Service]\nExecStart=/bin/true\n", "guard").is_err());
    }
}
