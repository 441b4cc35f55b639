//! `cargo xtask release`: everything that users download, by one command, and the same bytes each time.
//!
//! ```text
//! program.rs   static programs, without paths of this machine
//! stage.rs     what a package installs: program, pages, completions, units   ─> plain.rs    .tar.gz
//!                                                                            ├> deb.rs      .deb
//!                                                                            ├> rpm.rs      .rpm, by rpmbuild
//!                                                                            └> image.rs    OCI image
//! archive.rs   tar and gzip whose bytes depend on the content alone
//! notices.rs    the licences of the crates in the program
//! sbom.rs, notes.rs, recipes.rs, checksums.rs   beside them
//! twice.rs, trial.rs                            whether it is reproducible, and installs in a clean Debian
//! ```

mod archive;
mod checksums;
mod deb;
mod facts;
mod image;
mod instant;
mod notes;
mod notices;
mod plain;
mod program;
mod recipes;
mod rpm;
mod sbom;
mod stage;
mod trial;
mod twice;
mod work;

use crate::outcome::StepOutcome;
use crate::root;
use anyhow::{Context, Result, bail};
use clap::Args;
use facts::ReleaseFacts;
use instant::BuildInstant;
use program::{MACHINES, Machine};
use stage::Stage;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use work::emptied;

/// `cargo xtask release`
#[derive(Args)]
pub(crate) struct Release {
    /// The machines: x86_64, arm64 [default: both]
    machines: Vec<String>,
    /// Where the artefacts go; what is there is replaced [default: target/dist]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The packages' maintainer, as in `NAME <ADDRESS>`
    #[arg(long, value_name = "NAME", default_value = "whylate developers")]
    maintainer: String,
    /// Also with changes that are not committed
    #[arg(long)]
    allow_dirty: bool,
    /// Then make everything a second time in another directory, and compare each byte
    #[arg(long)]
    twice: bool,
    /// Then install, use, remove and purge each .deb in a clean Debian root, and run the program in a guest with BusyBox
    /// alone; needs root, mmdebstrap, QEMU and a network
    #[arg(long = "try")]
    trial: bool,
}

impl Release {
    /// Makes the artefacts; `false` if one could not be made or failed a trial.
    pub(crate) fn run(&self, root: &Path) -> Result<bool> {
        let mut chosen: Vec<&'static Machine> = Vec::new();
        for name in &self.machines {
            match MACHINES.iter().find(|machine| machine.name == name) {
                Some(machine) => chosen.push(machine),
                None => bail!("`{name}` is not a machine: write x86_64, arm64"),
            }
        }
        if chosen.is_empty() {
            chosen = MACHINES.iter().collect();
        }
        if !self.allow_dirty {
            clean(root)?;
        }
        let output = self.output.clone().unwrap_or_else(|| root::target(root).join("dist"));
        let output = std::path::absolute(&output).context("the current directory cannot be read")?;
        let facts = ReleaseFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            maintainer: self.maintainer.clone(),
            instant: BuildInstant::of(root)?,
            work: output.with_extension("work"),
            output,
        };
        for directory in [&facts.output, &facts.work] {
            emptied(directory)?;
        }
        let mut steps = make(root, &facts, &chosen)?;
        if self.twice {
            steps.push(("second build".to_owned(), twice::compare(root, &facts, &self.machines)));
        }
        if self.trial {
            for machine in &chosen {
                let name = format!("trial of the .deb for {}", machine.debian);
                steps.push((name, trial::run(&facts, machine)));
            }
            if chosen.iter().any(|machine| machine.name == "x86_64") {
                let program = facts.work.join("x86_64/usr/bin/whylate");
                steps.push(("first run in a minimal root".to_owned(), trial::minimal::run(&facts, &program)));
            }
        }
        fs::remove_dir_all(&facts.work).with_context(|| format!("cannot remove {}", facts.work.display()))?;
        Ok(summary(&facts, &steps))
    }
}

/// Makes every artefact; those that this machine lacks a tool for are skipped.
fn make(
    root: &Path,
    facts: &ReleaseFacts,
    chosen: &[&'static Machine],
) -> Result<Vec<(String, StepOutcome)>> {
    let mut steps = Vec::new();
    let native = program::native()?;
    let generator = native.build(root)?;
    let mut stages = Vec::new();
    for machine in chosen {
        let program = if machine.name == native.name { generator.clone() } else { machine.build(root)? };
        let stage = Stage::make(root, facts, machine, &program, &generator)?;
        steps.push((plain::name(facts, machine), done(plain::make(facts, &stage))));
        steps.push((deb::name(facts, machine), done(deb::make(root, facts, &stage))));
        steps.push((rpm::name(facts, machine), rpm::make(root, facts, &stage)));
        stages.push(stage);
    }
    steps.push((image::name(facts), done(image::make(facts, &stages))));
    steps.push((sbom::name(facts), done(sbom::make(root, facts, chosen))));
    steps.push((notes::NAME.to_owned(), done(notes::make(root, facts))));
    if chosen.len() == MACHINES.len() {
        steps.push((recipes::yocto_name(facts), done(recipes::make(root, facts))));
    }
    steps.push((checksums::NAME.to_owned(), done(checksums::make(facts))));
    Ok(steps)
}

fn done(result: Result<()>) -> StepOutcome {
    match result {
        Ok(()) => StepOutcome::Passed,
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

/// Prints what was made; `false` if a step failed.
fn summary(facts: &ReleaseFacts, steps: &[(String, StepOutcome)]) -> bool {
    println!("\nxtask: summary: {}", facts.output.display());
    for (name, outcome) in steps {
        let size = fs::metadata(facts.output.join(name)).map(|file| format!("{} bytes", file.len()));
        match outcome {
            StepOutcome::Passed => println!("  {name:<40} ok {}", size.unwrap_or_default()),
            StepOutcome::Skipped(why) => println!("  {name:<40} skipped: {why}"),
            StepOutcome::Failed(why) => println!("  {name:<40} FAILED: {why}"),
        }
    }
    !steps.iter().any(|(_, outcome)| matches!(outcome, StepOutcome::Failed(_)))
}

/// A release is what is committed.
fn clean(root: &Path) -> Result<()> {
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(root).output();
    let status = status.context("git cannot be started, to see what is committed: pass --allow-dirty")?;
    if !status.status.success() || !status.stdout.is_empty() {
        bail!("the tree has changes that are not committed: commit them, or pass --allow-dirty");
    }
    Ok(())
}
