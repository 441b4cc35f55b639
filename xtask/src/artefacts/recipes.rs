//! Recipes for embedded systems: a Yocto recipe and a Buildroot package, which install the release's static programs.

use super::archive::{self, StagedFile};
use super::checksums::sha256;
use super::facts::ReleaseFacts;
use super::plain;
use super::program::MACHINES;
use super::work::write;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The templates of Buildroot's package.
const BUILDROOT: [&str; 3] = ["Config.in", "whylate.hash", "whylate.mk"];

/// The name of the Yocto recipe.
pub(super) fn yocto_name(facts: &ReleaseFacts) -> String {
    format!("whylate_{}.bb", facts.version)
}

/// Writes both, with the checksums of the archives that were made.
pub(super) fn make(root: &Path, facts: &ReleaseFacts) -> Result<()> {
    let packaging = root.join("packaging");
    let mut values = vec![("@VERSION@".to_owned(), facts.version.clone())];
    for machine in &MACHINES {
        let sum = sha256(&facts.output.join(plain::name(facts, machine)))?;
        values.push((format!("@SHA256_{}@", machine.uname), sum));
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        values.push((format!("@SHA256_{licence}@"), sha256(&root.join(licence))?));
    }
    values.push(("@SHA256_copyright@".to_owned(), sha256(&packaging.join("copyright"))?));
    let filled = |path: &Path| {
        let mut text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        for (name, value) in &values {
            text = text.replace(name, value);
        }
        let open = ["@VERSION@", "@SHA256_"].iter().any(|mark| text.contains(mark));
        anyhow::ensure!(!open, "{} has a value that is not filled in", path.display());
        Ok(text.into_bytes())
    };
    write(&facts.output.join(yocto_name(facts)), &filled(&packaging.join("yocto/whylate.bb"))?)?;
    let mut files = Vec::new();
    for name in BUILDROOT {
        let content = filled(&packaging.join("buildroot").join(name))?;
        files.push(StagedFile { path: format!("package/whylate/{name}"), mode: 0o644, content });
    }
    let archive = archive::gzip(&archive::tar(&files, "", facts.instant.0)?)?;
    write(&facts.output.join(format!("whylate-{}-buildroot.tar.gz", facts.version)), &archive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;
    use std::io::Write;
    use std::process::{Command, Stdio};
    use whylate_testing::Need;

    /// What a program makes of a text on its standard input; none, reported as a skip, without it.
    fn piped(program: &str, arguments: &[&str], text: &str) -> Option<String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            whylate_testing::skip(Need::Program, format_args!("{program} is not installed"));
            return None;
        };
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it is read");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{program}: {text}");
        Some(String::from_utf8(output.stdout).expect("UTF-8"))
    }

    #[test]
    fn buildroot_downloads_what_the_release_makes() {
        let packaging = root::find().expect("the root").join("packaging");
        let package = fs::read_to_string(packaging.join("buildroot/whylate.mk")).expect("the package");
        let sums = fs::read_to_string(packaging.join("buildroot/whylate.hash")).expect("the sums");
        for machine in &MACHINES {
            let choice = if machine.uname == "aarch64" { "BR2_aarch64 = y" } else { "BR2_x86_64 = y" };
            let text = format!("{choice}\n{package}\nall:\n\t@echo $(WHYLATE_SITE)/$(WHYLATE_SOURCE)\n");
            let Some(address) = piped("make", &["-f", "-"], &text.replace("@VERSION@", "1.2.3")) else {
                return;
            };
            let name = format!("whylate-1.2.3-{}-linux-musl.tar.gz", machine.uname);
            let whole = format!("https://github.com/whylate/whylate/releases/download/v1.2.3/{name}");
            assert_eq!(address.trim_end(), whole);
            assert!(sums.replace("@VERSION@", "1.2.3").contains(&name), "{sums}");
        }
    }

    /// The scripts look for these words in `whylate history --json`.
    #[test]
    fn what_keeps_the_package_is_in_the_schema_of_the_history() {
        let root = root::find().expect("the root");
        let schema = fs::read_to_string(root.join("docs/schema/whylate.history-1.json")).expect("the schema");
        for script in ["packaging/debian/prerm", "packaging/rpm/whylate.spec"] {
            let text = fs::read_to_string(root.join(script)).expect(script);
            let line = text.lines().find(|line| line.contains("grep -Eq")).expect(script);
            let words: Vec<&str> = line.split(|c: char| !c.is_ascii_lowercase() && c != '-').collect();
            for word in ["standing", "applied", "stopped", "failed", "interrupted", "partly-back"] {
                assert!(words.contains(&word), "{script}: {word}");
                assert!(schema.contains(&format!("\"{word}\"")), "{word}");
            }
        }
    }

    #[test]
    fn shells_read_the_scripts() {
        let packaging = root::find().expect("the root").join("packaging");
        for script in ["debian/postinst", "debian/prerm", "debian/postrm", "ci/rt-test.sh"] {
            let text = fs::read_to_string(packaging.join(script)).expect(script);
            assert!(text.starts_with("#!/bin/sh\n"), "{script}");
            piped("sh", &["-n"], &text);
        }
    }
}
