//! The package in a clean Debian root, without Rust: installed, used, removed, purged, and nothing left.

pub(super) mod minimal;

use super::deb;
use super::facts::ReleaseFacts;
use super::program::Machine;
use crate::debian_root::{Architecture, DebianRoot};
use crate::outcome::StepOutcome;
use anyhow::{Context, Result, bail};
use std::fs;

/// What is run in the root, with the exit codes that are right.
///
/// A root has neither systemd nor tracefs, and its machine may lack what PREEMPT_RT has: `check` may find that (1), and may be
/// unable to tell (3).
const STEPS: [(&str, &[i32]); 9] = [
    ("dpkg --install /whylate.deb", &[0]),
    ("whylate --version", &[0]),
    ("test \"$(whylate --version)\" = \"whylate $(dpkg-query -W -f '${Version}' whylate)\"", &[0]),
    ("dpkg --verify whylate && bash -n /usr/share/bash-completion/completions/whylate", &[0]),
    (
        "whylate check > /tmp/check.txt; code=$?; tail -n 3 /tmp/check.txt; rm /tmp/check.txt; exit $code",
        &[0, 1, 3],
    ),
    (
        "timeout 60 whylate measure -d 2s > /tmp/m.txt; code=$?; head -n 6 /tmp/m.txt; rm /tmp/m.txt; exit $code",
        &[0, 1],
    ),
    ("whylate plan --list > /dev/null", &[0]),
    ("dpkg --remove whylate", &[0]),
    ("dpkg --purge whylate", &[0]),
];

/// Tries the package of a machine.
pub(super) fn run(facts: &ReleaseFacts, machine: &Machine) -> StepOutcome {
    let architecture = Architecture { uname: machine.uname, debian: machine.debian };
    let root = match DebianRoot::make(&facts.work.join(format!("root-{}", machine.debian)), architecture, &[])
    {
        Ok(root) => root,
        Err(why) => return StepOutcome::Skipped(why),
    };
    match tried(facts, machine, &root) {
        Ok(()) => StepOutcome::Passed,
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

fn tried(facts: &ReleaseFacts, machine: &Machine, root: &DebianRoot) -> Result<()> {
    let package = facts.output.join(deb::name(facts, machine));
    let inside = root.path().join("whylate.deb");
    let before = root.files()?;
    fs::copy(&package, &inside).with_context(|| format!("cannot copy {}", package.display()))?;
    for (script, right) in STEPS.into_iter().chain([(APPLIED, &[0][..])]) {
        println!("xtask: {}: {}", machine.debian, script.trim_end());
        let code = root.run(script)?;
        if !code.is_some_and(|code| right.contains(&code)) {
            bail!("`{script}` ended with {code:?}, expected {right:?}");
        }
    }
    fs::remove_file(&inside).with_context(|| format!("cannot remove {}", inside.display()))?;
    let after = root.files()?;
    let left: Vec<_> = after.difference(&before).chain(before.difference(&after)).cloned().collect();
    if !left.is_empty() {
        bail!("left behind, or changed: {}", left.join(", "));
    }
    Ok(())
}

/// While settings are in effect the package stays, and it goes after the rollback. The setting is one of the network
/// namespace, which the script has for itself.
const APPLIED: &str = "set -e\n\
    dpkg --install /whylate.deb > /dev/null\n\
    printf 'summary = \"trial\"\\n[sysctl]\\nnet.ipv4.ip_default_ttl = 65\\n' > /tmp/trial.toml\n\
    whylate apply --profile /tmp/trial.toml --yes --allow container\n\
    rm /tmp/trial.toml\n\
    if dpkg --remove whylate; then echo 'removed although settings are in effect' >&2; exit 9; fi\n\
    whylate rollback\n\
    dpkg --purge whylate\n";
