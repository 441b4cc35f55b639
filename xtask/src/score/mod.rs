//! `cargo xtask score`: how often is the answer right? Runs the lab's matrix with release binaries.

mod arm64;
mod bounds;
mod fixes;
mod markers;
mod mistakes;
mod page;
mod peers;
mod predict;
mod programs;
mod rig;
mod sections;
mod summary;

use crate::root;
use anyhow::{Context, Result, bail};
use clap::Args;
use rig::{build, build_for_smoke, fetched, rig};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use summary::Summary;

pub(crate) use arm64::smoke as arm64_smoke;
pub(crate) use rig::Quick;

/// Where the whole matrix' table goes.
const PAGE: &str = "docs/accuracy.md";
/// What must hold of the whole matrix, and does of the quick subset.
const LEAST_RIGHT: f64 = 0.95;
const MOST_WRONG: f64 = 0.01;

/// The kernels of the quick subset: with RT throttling, with PREEMPT_RT and a fair server, and the newest.
const QUICK_KERNELS: [&str; 3] = ["6.1", "6.12-rt", "7.2"];
/// The one that the tests of the command line boot.
const GUEST_TESTS_KERNEL: &str = "6.12-rt";

/// `cargo xtask score`
#[derive(Args)]
pub(crate) struct Score {
    /// Runs of each scenario on each kernel
    #[arg(long, default_value_t = 3)]
    seeds: u32,
    /// The quick subset only, one seed; docs/accuracy.md is left as it is
    #[arg(long)]
    quick: bool,
    /// The cases of other programs instead of the scenarios; they have no seeds
    #[arg(long, conflicts_with_all = ["quick", "jobs"])]
    programs: bool,
    /// The programs with one mistake each under `whylate doctor`, on this machine, into docs/doctor-accuracy.md
    #[arg(long, conflicts_with_all = ["quick", "jobs", "programs"])]
    mistakes: bool,
    /// Scenarios before and after their first advice, into docs/fixes.md
    #[arg(long, conflicts_with_all = ["quick", "programs", "mistakes", "arch"])]
    fixes: bool,
    /// Changes to scenarios, predicted by `whylate simulate` and made in guests, into docs/predictions.md
    #[arg(long, conflicts_with_all = ["quick", "programs", "mistakes", "arch", "fixes", "jobs", "kernels"])]
    predict: bool,
    /// The scenarios of two machines on a network, into a section of docs/accuracy.md of its own
    #[arg(long, conflicts_with_all = ["quick", "programs", "mistakes", "arch", "fixes", "predict", "jobs"])]
    peers: bool,
    /// Bounds of random task sets beside those of pyCPA and SchedCAT, into docs/simulate.md
    #[arg(long, conflicts_with_all = ["quick", "programs", "mistakes", "arch", "fixes", "predict", "jobs", "kernels", "keep", "from"])]
    bounds: bool,
    #[command(flatten)]
    bounds_options: bounds::BoundsOptions,
    /// With --fixes: only these scenarios (repeatable)
    #[arg(long = "scenario", value_name = "NAME", requires = "fixes")]
    scenarios: Vec<String>,
    /// With --mistakes: in guests of this kernel instead; with --fixes: on this kernel (repeatable: one table of all)
    #[arg(long = "kernel", value_name = "NAME", conflicts_with_all = ["programs", "arch"])]
    kernels: Vec<String>,
    /// Guests of this architecture (arm64): the scenarios on its kernels, into a section of docs/accuracy.md of its own
    #[arg(long, value_name = "ARCH", value_parser = ["arm64"], conflicts_with_all = ["programs", "mistakes"])]
    arch: Option<String>,
    /// Keep recordings and labels in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Guests side by side
    #[arg(long, value_name = "N")]
    jobs: Option<u32>,
    /// Take the results from this file (of `whylate-lab run --all --json`, `programs`, `mistakes`, `fixes` or `predict`) instead of running
    /// anything; with --mistakes and --fixes several
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "keep", "jobs", "kernels"])]
    from: Vec<PathBuf>,
}

impl Score {
    /// Runs the matrix; `false` if the answers are not right often enough.
    pub(crate) fn run(&self, root: &Path) -> Result<bool> {
        if !self.kernels.is_empty() && !self.mistakes && !self.fixes {
            bail!("--kernel is for --mistakes and --fixes: the other runs take every cached kernel");
        }
        if self.mistakes {
            return self.run_mistakes(root);
        }
        if self.fixes {
            return self.run_fixes(root);
        }
        if self.predict {
            return self.run_predict(root);
        }
        if self.bounds {
            let (table, good) = self.bounds_options.run(root, &today()?)?;
            write_page(root, bounds::PAGE, |old| bounds::page(old, &table))?;
            return Ok(good);
        }
        let document = match self.from.as_slice() {
            [file] => results(file)?,
            [] if self.arch.is_some() => arm64::run(root, &self.arguments())?,
            [] if self.peers => rig(&build(root)?, "run", &self.of_peers(root)?)?,
            [] if self.programs => rig(&build(root)?, "programs", &self.arguments())?,
            [] => rig(&build(root)?, "run", &self.arguments())?,
            _ => bail!("--from takes one file, except with --mistakes and --fixes"),
        };
        let summary = Summary::of(&document)?;
        print!("{}", summary.tables());
        for miss in summary.misses() {
            println!("{miss}");
        }
        if !self.quick {
            let page = root.join(PAGE);
            let old = std::fs::read_to_string(&page).unwrap_or_default();
            let text = match self.programs {
                _ if self.arch.is_some() => arm64::page(&old, &summary, &today()?),
                _ if self.peers => peers::page(&old, &summary, &today()?),
                true => programs::page(&old, &document, &summary, &today()?)?,
                false => programs::kept(&old, &page::markdown(&summary, &command(&summary), &today()?)),
            };
            std::fs::write(&page, text).with_context(|| format!("cannot write {}", page.display()))?;
            println!("written: {PAGE}");
        }
        Ok(good(&summary))
    }

    /// Runs the programs with mistakes, and writes their page; `false` if the answers are not right often enough.
    fn run_mistakes(&self, root: &Path) -> Result<bool> {
        let run = |kernel: &[&str]| {
            let mut arguments = self.arguments();
            arguments.extend(kernel.iter().map(|&word| word.to_owned()));
            rig(&build(root)?, "mistakes", &arguments)
        };
        let documents: Vec<Value> = match (self.from.as_slice(), self.kernels.as_slice()) {
            ([], []) => vec![run(&[])?],
            ([], kernels) => {
                kernels.iter().map(|kernel| run(&["--kernel", kernel])).collect::<Result<_>>()?
            }
            (files, _) => files.iter().map(|file| results(file)).collect::<Result<_>>()?,
        };
        write_page(root, mistakes::PAGE, |old| mistakes::page(old, &documents, &today()?))?;
        let good: Vec<bool> = documents.iter().map(mistakes::good).collect::<Result<_>>()?;
        Ok(good.into_iter().all(|good| good))
    }

    /// Runs scenarios before and after their first advice, and writes their page; `false` if it does not help often enough.
    fn run_fixes(&self, root: &Path) -> Result<bool> {
        let documents: Vec<Value> = match self.from.as_slice() {
            [] => {
                let mut arguments = match self.scenarios.as_slice() {
                    [] => vec!["--all".to_owned()],
                    names => names.to_vec(),
                };
                arguments.extend(self.kernels.iter().flat_map(|name| ["--kernel".to_owned(), name.clone()]));
                arguments.extend(self.guests());
                vec![rig(&build(root)?, "fixes", &arguments)?]
            }
            files => files.iter().map(|file| results(file)).collect::<Result<_>>()?,
        };
        write_page(root, fixes::PAGE, |old| fixes::page(old, &documents, &today()?))?;
        let good: Vec<bool> = documents.iter().map(fixes::good).collect::<Result<_>>()?;
        Ok(good.into_iter().all(|good| good))
    }

    /// Runs changes and predicts them, and writes their page; `false` if predictions are not good enough.
    fn run_predict(&self, root: &Path) -> Result<bool> {
        let document = match self.from.as_slice() {
            [] => rig(&build(root)?, "predict", &self.guests())?,
            [file] => results(file)?,
            _ => bail!("--from takes one file with --predict"),
        };
        write_page(root, predict::PAGE, |old| predict::page(old, &document, &today()?))?;
        predict::good(&document)
    }

    /// Options of all verbs that boot guests.
    fn guests(&self) -> Vec<String> {
        let jobs = self.jobs.iter().flat_map(|jobs| ["--jobs".to_owned(), jobs.to_string()]);
        let keep = self.keep.iter().flat_map(|keep| ["--keep".to_owned(), keep.display().to_string()]);
        jobs.chain(keep).collect()
    }

    /// The scenarios of two machines.
    fn of_peers(&self, root: &Path) -> Result<Vec<String>> {
        let seeds = ["--seeds".to_owned(), self.seeds.to_string()];
        Ok(peers::names(root)?.into_iter().chain(seeds).chain(self.guests()).collect())
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--all".to_owned()];
        match self.quick {
            _ if self.programs || self.mistakes => {}
            true => arguments.push("--quick".to_owned()),
            false => arguments.extend(["--seeds".to_owned(), self.seeds.to_string()]),
        }
        arguments.extend(self.guests());
        arguments
    }
}

/// Writes a page anew, made from what it was.
fn write_page(root: &Path, name: &str, made: impl FnOnce(&str) -> Result<String>) -> Result<()> {
    let page = root.join(name);
    let old = std::fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    std::fs::write(&page, made(&old)?).with_context(|| format!("cannot write {}", page.display()))?;
    println!("written: {name}");
    Ok(())
}

/// The results of an earlier run.
fn results(file: &Path) -> Result<Value> {
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// What gives these results, whoever ran it.
fn command(summary: &Summary) -> String {
    format!("cargo xtask score --seeds {}", summary.seeds.len())
}

/// The quick subset, for `cargo xtask test`.
///
/// # Errors
/// When the binaries do not build, or the lab fails.
pub(crate) fn quick(root: &Path) -> Result<Quick> {
    if !crate::tools::found("qemu-system-x86_64") {
        return Ok(Quick::Skipped("no qemu-system-x86_64".to_owned()));
    }
    let whylate = build_for_smoke(root)?;
    let names = fetched(&whylate, None, &QUICK_KERNELS)?;
    if !names.iter().any(|name| QUICK_KERNELS.contains(&name.as_str())) {
        return Ok(Quick::Skipped(format!(
            "none of the kernels {} is cached or can be fetched",
            QUICK_KERNELS.join(", ")
        )));
    }
    if names.iter().any(|name| name == GUEST_TESTS_KERNEL) && !guest_tests(root)? {
        return Ok(Quick::Ran { good: false, words: "the tests that boot guests: see above".to_owned() });
    }
    let summary = Summary::of(&rig(&whylate, "run", &["--all".to_owned(), "--quick".to_owned()])?)?;
    print!("{}", summary.tables());
    for miss in summary.misses() {
        println!("{miss}");
    }
    // Without a network these may be fewer than there should be.
    let run: Vec<&str> =
        QUICK_KERNELS.into_iter().filter(|kernel| names.iter().any(|name| name == kernel)).collect();
    Ok(Quick::Ran { good: good(&summary), words: format!("{}; on {}", summary.words(), run.join(", ")) })
}

/// The tests that boot guests themselves, and are skipped elsewhere.
fn guest_tests(root: &Path) -> Result<bool> {
    let mut tests = root::cargo(root);
    tests
        .args(["test", "--locked", "-p", "whylate", "--test", "it", "lab_guest"])
        .env("WHYLATE_TEST_LAB", "1");
    Ok(tests.status().context("cargo could not be started")?.success())
}

fn good(summary: &Summary) -> bool {
    let (runs, right, wrong) = summary.totals();
    runs > 0.0 && right >= LEAST_RIGHT * runs && wrong <= MOST_WRONG * runs
}

/// The day, as of this machine's clock and UTC.
fn today() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().context("cannot run date(1)")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_subset_needs_no_other_kernels() {
        let scenarios = root::find().expect("the tree").join("crates/lab-cli/scenarios");
        let mut seen = 0;
        for entry in std::fs::read_dir(scenarios).expect("scenarios").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a scenario");
            let Some(quick) = text.lines().find_map(|line| line.strip_prefix("quick = ")) else { continue };
            for kernel in quick.trim_matches(['[', ']']).split(", ") {
                assert!(
                    QUICK_KERNELS.contains(&kernel.trim_matches('"')),
                    "{}: {kernel}",
                    entry.path().display()
                );
                seen += 1;
            }
        }
        assert!(seen >= 10, "{seen}");
    }
}
