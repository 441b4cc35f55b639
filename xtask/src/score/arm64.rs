//! The section of `docs/accuracy.md` on guests of arm64, the run behind it, and its smoke test.

use super::page;
use super::rig::{Quick, build, build_for_smoke, fetched, rig};
use super::sections::{ARM64 as HEADING, PROGRAMS};
use super::summary::Summary;
use crate::cross::{self, CrossTarget, Profile};
use crate::outcome::StepOutcome;
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// With RT throttling, with a fair server, with PREEMPT_RT, and the newest.
const KERNELS: [&str; 4] = ["6.1", "6.12", "6.12-rt", "7.2-rt"];

const ABOUT: &str = "The same scenarios in guests of arm64 (QEMU's `virt`, a cortex-a72, one instruction each 2 ns), but for those that are\n\
     about x86 (`architectures` in their files). The programs in the guest are static, and the recordings are explained on\n\
     this machine. Page faults are recorded by a probe of whylate's own, as these kernels have no event for them.";

/// What `cargo xtask test` boots: a thread that a timer wakes, and page faults, which these kernels have no event for.
const SMOKE_KERNEL: &str = "6.12-rt";
const SMOKE: [&str; 2] = ["higher", "page-fault"];

/// The scenarios on kernels of arm64, in QEMU's `virt`.
///
/// # Errors
/// When this machine cannot build for arm64, or the lab fails.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<Value> {
    let programs = match programs(root, Profile::Release)? {
        StepOutcome::Passed => directory(root, Profile::Release)?,
        StepOutcome::Skipped(why) | StepOutcome::Failed(why) => bail!("no whylate for arm64: {why}"),
    };
    let whylate = build(root)?;
    if !has_kernels(&whylate, &KERNELS)? {
        bail!("kernels for arm64 cannot be fetched: see above");
    }
    in_guests(&whylate, &programs, &KERNELS, arguments)
}

/// One boot for `cargo xtask test`.
///
/// # Errors
/// When the programs do not build, or the lab fails.
pub(crate) fn smoke(root: &Path) -> Result<Quick> {
    if !tools::provided("qemu-system-aarch64", "qemu-system-arm") {
        return Ok(Quick::Skipped(
            "no qemu-system-aarch64: apt-get install qemu-system-arm, as root".to_owned(),
        ));
    }
    let whylate = build_for_smoke(root)?;
    if !has_kernels(&whylate, &[SMOKE_KERNEL])? {
        return Ok(Quick::Skipped(format!("the kernel {SMOKE_KERNEL} for arm64 cannot be fetched")));
    }
    match programs(root, Profile::Guest)? {
        StepOutcome::Passed => {}
        StepOutcome::Skipped(why) => return Ok(Quick::Skipped(why)),
        StepOutcome::Failed(why) => bail!("whylate does not build for arm64: {why}"),
    }
    let programs = directory(root, Profile::Guest)?;
    let scenarios = SMOKE.map(str::to_owned);
    let summary = Summary::of(&in_guests(&whylate, &programs, &[SMOKE_KERNEL], &scenarios)?)?;
    let misses = summary.misses();
    misses.iter().for_each(|miss| println!("{miss}"));
    let words = format!("{}; on {SMOKE_KERNEL} for arm64", summary.words());
    Ok(Quick::Ran { good: misses.is_empty(), words })
}

fn arm64() -> Result<&'static CrossTarget> {
    cross::find("arm64").context("no target arm64")
}

fn directory(root: &Path, profile: Profile) -> Result<PathBuf> {
    Ok(arm64()?.directory(root, profile))
}

/// The programs for the guest.
fn programs(root: &Path, profile: Profile) -> Result<StepOutcome> {
    Ok(arm64()?.build(root, profile, &["whylate", "whylate-inject"]))
}

/// Whether these kernels are cached, after those that are missing were asked for.
fn has_kernels(whylate: &Path, kernels: &[&str]) -> Result<bool> {
    let names = fetched(whylate, Some("arm64"), kernels)?;
    Ok(kernels.iter().all(|kernel| names.iter().any(|name| name == kernel)))
}

/// `whylate-lab run` with these programs on these kernels.
fn in_guests(whylate: &Path, programs: &Path, kernels: &[&str], arguments: &[String]) -> Result<Value> {
    let program = |option: &str, name: &str| [option.to_owned(), programs.join(name).display().to_string()];
    let mut all = arguments.to_vec();
    all.extend(["--arch".to_owned(), "arm64".to_owned()]);
    all.extend(kernels.iter().flat_map(|kernel| ["--kernel".to_owned(), (*kernel).to_owned()]));
    all.extend(program("--whylate", "whylate"));
    all.extend(program("--inject", "whylate-inject"));
    rig(whylate, "run", &all)
}

/// The page with the section of this run.
pub(super) fn page(old: &str, summary: &Summary, day: &str) -> String {
    let (scenarios, of_programs) = old.split_at(old.find(PROGRAMS).unwrap_or(old.len()));
    let scenarios = scenarios.split(HEADING).next().unwrap_or_default();
    let section = page::section(HEADING, "--arch arm64", ABOUT, summary, day);
    format!("{}\n{section}{of_programs}", scenarios.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::document;
    use super::*;

    #[test]
    fn the_other_sections_stay() {
        let summary = Summary::of(&document()).expect("results");
        let old = format!("# Accuracy\n\nScenarios.\n{HEADING}\nold\n{}\nprograms\n", PROGRAMS);
        let new = page(&old, &summary, "2026-01-02");
        for part in ["Scenarios.", "--arch arm64 --seeds 1`", "| irq |", "programs\n", "- wrong: irq-load"] {
            assert!(new.contains(part), "{part} in {new}");
        }
        assert!(!new.contains("old\n"));
        let order = [HEADING, PROGRAMS].map(|heading| new.find(heading).expect(heading));
        assert!(order[0] < order[1]);
        let again = super::super::programs::kept(&new, "# Accuracy\n\nNew scenarios.\n");
        assert!(
            again.contains("New scenarios.") && again.contains("2026-01-02") && again.contains("programs\n")
        );
    }
}
