//! The section of `docs/accuracy.md` on two machines, whose scenarios are run apart: both guests run in the host's time.

use super::page;
use super::sections::{ARM64, PEERS as HEADING, PROGRAMS};
use super::summary::Summary;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// What the names of these scenarios begin with.
const PREFIX: &str = "peer-";

const ABOUT: &str = "A cyclic master and its slave in two guests on a network, each recorded; the fault is on one of both machines.\n\
     `whylate explain OWN --peer PEER` must name machine, cause and culprit of each late round trip. Both guests run in the host's\n\
     time, beside whatever else the host does: the frames carry whether a fault was at work, so that the label has for each late job\n\
     whether one touched it. A job that none touched was delayed by the host: an accusation of a thread with more than low\n\
     confidence is a wrong one there, and any other answer is *set aside*, as is `stolen` of a job that a fault touched.";

/// Their names.
///
/// # Errors
/// When the directory of scenarios cannot be read.
pub(super) fn names(root: &Path) -> Result<Vec<String>> {
    let directory = root.join("crates/lab-cli/scenarios");
    let entries =
        std::fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let name =
        |name: String| name.strip_suffix(".toml").filter(|name| name.starts_with(PREFIX)).map(str::to_owned);
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| name(entry.file_name().into_string().ok()?)).collect();
    names.sort();
    if names.is_empty() {
        bail!("no scenario {PREFIX}* in {}", directory.display());
    }
    Ok(names)
}

/// The page with the section of this run.
pub(super) fn page(old: &str, summary: &Summary, day: &str) -> String {
    let (before, after) = parts(old);
    let section = page::section(HEADING, "--peers", ABOUT, summary, day);
    format!("{}\n{section}{after}", before.trim_end())
}

/// What is before this section, and what is after it.
fn parts(old: &str) -> (&str, &str) {
    let end = [ARM64, PROGRAMS].iter().filter_map(|heading| old.find(heading)).min().unwrap_or(old.len());
    let (before, after) = old.split_at(end);
    (before.split(HEADING).next().unwrap_or_default(), after)
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::document;
    use super::*;

    #[test]
    fn the_other_sections_stay() {
        let summary = Summary::of(&document()).expect("results");
        let old = format!("# Accuracy\n\nScenarios.\n{HEADING}\nold\n{ARM64}\narm\n{PROGRAMS}\nprograms\n");
        let new = page(&old, &summary, "2026-01-02");
        for part in ["Scenarios.", "--peers --seeds 1`", "| irq |", "arm\n", "programs\n"] {
            assert!(new.contains(part), "{part} in {new}");
        }
        assert!(!new.contains("old\n"));
        let again = super::super::programs::kept(&new, "# Accuracy\n\nNew scenarios.\n");
        assert!(again.contains("2026-01-02") && again.contains("arm\n"), "{again}");
    }

    #[test]
    fn the_scenarios_are_those_of_two_machines() {
        let names = names(&crate::root::find().expect("the tree")).expect("scenarios");
        assert!(names.contains(&"peer-nothing".to_owned()), "{names:?}");
    }
}
