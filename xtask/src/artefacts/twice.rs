//! Whether a second build in another directory gives the same bytes.

use super::checksums;
use super::facts::ReleaseFacts;
use crate::outcome::StepOutcome;
use crate::outcome::output_of;
use crate::root;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes everything again from a copy of the tree, and compares.
pub(super) fn compare(root: &Path, facts: &ReleaseFacts, machines: &[String]) -> StepOutcome {
    match second(root, facts, machines) {
        Ok(differing) if differing.is_empty() => StepOutcome::Passed,
        Ok(differing) => StepOutcome::Failed(format!("other bytes: {}", differing.join(", "))),
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

fn second(root: &Path, facts: &ReleaseFacts, machines: &[String]) -> Result<Vec<String>> {
    // Of another length than the first, below another directory: a path that is left shows.
    let directory = std::env::temp_dir().join(format!("whylate-second-build-{}", std::process::id()));
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let copy = directory.join("tree");
    let result = copied(root, &copy).and_then(|()| built(&copy, facts, machines));
    let result = result.and_then(|()| {
        let sums =
            |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let ours = sums(&facts.output.join(checksums::NAME))?;
        Ok(differing(&ours, &sums(&copy.join("target/dist").join(checksums::NAME))?))
    });
    fs::remove_dir_all(&directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    result
}

/// The files that a commit of everything would have.
fn copied(root: &Path, copy: &Path) -> Result<()> {
    fs::create_dir_all(copy).with_context(|| format!("cannot create {}", copy.display()))?;
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let files = output_of(Command::new("git").args(list).current_dir(root))?;
    for path in String::from_utf8_lossy(&files).split('\0').filter(|path| !path.is_empty()) {
        let (from, to) = (root.join(path), copy.join(path));
        // A file that was removed is listed until that is committed.
        if !from.is_file() {
            continue;
        }
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
        }
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}

fn built(copy: &Path, facts: &ReleaseFacts, machines: &[String]) -> Result<()> {
    let status = root::cargo(copy)
        .args(["xtask", "release", "--allow-dirty", "--maintainer", &facts.maintainer])
        .args(machines)
        .env("SOURCE_DATE_EPOCH", facts.instant.0.to_string())
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_MANIFEST_DIR")
        .stdin(Stdio::null())
        .status()
        .context("cargo cannot be started")?;
    if !status.success() {
        bail!("the second build failed: {status}");
    }
    Ok(())
}

/// The artefacts that only one of two lists of checksums has, or has with this sum.
fn differing(ours: &str, theirs: &str) -> Vec<String> {
    let only = |in_one: &str, other: &str| {
        let lines = in_one.lines().filter(|line| !other.lines().any(|own| own == *line));
        lines.filter_map(|line| line.split_whitespace().nth(1).map(str::to_owned)).collect::<Vec<_>>()
    };
    let mut names = only(ours, theirs);
    names.extend(only(theirs, ours));
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn a_file_differs_by_its_sum_or_by_being_missing() {
        let ours = "aa  one\nbb  two\ncc  three\n";
        assert_eq!(differing(ours, ours), Vec::<String>::new());
        assert_eq!(differing(ours, "aa  one\nbc  two\ndd  four\n"), ["four", "three", "two"]);
    }
}
