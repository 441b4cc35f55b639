//! `cargo xtask cross`: the programs for other machines. A target that this machine cannot build for is skipped, with the
//! reason.

use crate::outcome::{StepOutcome, outcome};
use crate::{root, tools};
use anyhow::{Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs for users and for the lab's guests.
const PACKAGES: [&str; 2] = ["whylate", "whylate-inject"];

/// A target, and what building for it needs beside Rust: the zstd library is C.
#[derive(Debug)]
pub(crate) struct CrossTarget {
    /// As of `rustc --target`.
    pub(crate) triple: &'static str,
    /// The name for users; several targets may share it.
    short: &'static str,
    /// The C compiler, and the Debian packages that have it.
    compiler: &'static str,
    package: &'static str,
    /// What links; the C compiler by default. Rust brings a linker and the start files of musl along.
    linker: Option<&'static str>,
}

const fn target(
    triple: &'static str,
    short: &'static str,
    compiler: &'static str,
    package: &'static str,
    linker: Option<&'static str>,
) -> CrossTarget {
    CrossTarget { triple, short, compiler, package, linker }
}

/// Static programs come first: they run on any target.
pub(crate) const TARGETS: [CrossTarget; 5] = [
    target(
        "aarch64-unknown-linux-musl",
        "arm64",
        "aarch64-linux-gnu-gcc",
        "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
        Some("rust-lld"),
    ),
    target(
        "aarch64-unknown-linux-gnu",
        "arm64-gnu",
        "aarch64-linux-gnu-gcc",
        "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
        None,
    ),
    target("x86_64-unknown-linux-musl", "x86_64", "gcc", "gcc libc6-dev", Some("rust-lld")),
    target(
        "riscv64gc-unknown-linux-gnu",
        "riscv64",
        "riscv64-linux-gnu-gcc",
        "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
        None,
    ),
    target(
        "armv7-unknown-linux-gnueabihf",
        "armv7",
        "arm-linux-gnueabihf-gcc",
        "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross",
        None,
    ),
];

/// `cargo xtask cross`
#[derive(Args)]
pub(crate) struct Cross {
    /// Targets: arm64 (static), arm64-gnu, x86_64 (static), riscv64, armv7, or as rustc names them
    /// [default: all]
    targets: Vec<String>,
    /// Only check that everything compiles
    #[arg(long, conflicts_with = "release")]
    check: bool,
    /// With the optimisations of a release
    #[arg(long)]
    release: bool,
}

impl Cross {
    /// Builds for each target; `false` if one failed.
    pub(crate) fn run(&self, root: &Path) -> Result<bool> {
        let mut chosen = Vec::new();
        for name in &self.targets {
            let Some(target) = find(name) else {
                let known: Vec<&str> = TARGETS.iter().map(|target| target.short).collect();
                bail!("`{name}` is not a target: write {}", known.join(", "));
            };
            chosen.push(target);
        }
        if chosen.is_empty() {
            chosen = TARGETS.iter().collect();
        }
        let profile = match (self.check, self.release) {
            (true, _) => Profile::Check,
            (_, true) => Profile::Release,
            _ => Profile::Guest,
        };
        let outcomes: Vec<_> =
            chosen.iter().map(|target| (target, target.build(root, profile, &PACKAGES))).collect();
        println!("\nxtask: summary");
        let mut good = true;
        for (target, outcome) in outcomes {
            let place = target.directory(root, profile);
            match outcome {
                StepOutcome::Passed if profile == Profile::Check => println!("  {:<32} ok", target.triple),
                StepOutcome::Passed => println!("  {:<32} ok: {}", target.triple, place.display()),
                StepOutcome::Skipped(why) => println!("  {:<32} skipped: {why}", target.triple),
                StepOutcome::Failed(why) => {
                    good = false;
                    println!("  {:<32} FAILED: {why}", target.triple);
                }
            }
        }
        Ok(good)
    }
}

/// How to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Not at all: `cargo check`.
    Check,
    /// As `cargo build` does: for answers alone, not for speed.
    Debug,
    /// Small and soon built, for the lab's guests.
    Guest,
    /// As users get it.
    Release,
}

impl Profile {
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Profile::Check => &["check"],
            Profile::Debug => &["build"],
            Profile::Guest => &["build", "--profile", "guest"],
            Profile::Release => &["build", "--release"],
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Profile::Check | Profile::Debug => "debug",
            Profile::Guest => "guest",
            Profile::Release => "release",
        }
    }
}

/// The target of that name.
pub(crate) fn find(name: &str) -> Option<&'static CrossTarget> {
    TARGETS.iter().find(|target| target.short == name || target.triple == name)
}

impl CrossTarget {
    /// Where the programs of a build lie.
    pub(crate) fn directory(&self, root: &Path, profile: Profile) -> PathBuf {
        root::target(root).join(self.triple).join(profile.directory())
    }

    /// Builds packages.
    pub(crate) fn build(&self, root: &Path, profile: Profile, packages: &[&str]) -> StepOutcome {
        match self.cargo(root) {
            Err(why) => StepOutcome::Skipped(why),
            Ok(mut command) => {
                let packages = packages.iter().flat_map(|package| ["--package", package]);
                outcome(command.args(profile.arguments()).arg("--locked").args(packages))
            }
        }
    }

    /// A cargo that builds for it, by environment alone: a subcommand may follow. Installs what that needs, where it may.
    ///
    /// # Errors
    /// What keeps this machine from building for it.
    pub(crate) fn cargo(&self, root: &Path) -> Result<Command, String> {
        let mut command = root::cargo(root);
        command.envs(self.environment()?);
        Ok(command)
    }

    /// What makes a cargo, or a program that starts one, build for it. Installs what that needs, where it may.
    ///
    /// # Errors
    /// What keeps this machine from building for it.
    pub(crate) fn environment(&self) -> Result<[(String, &'static str); 3], String> {
        if let Some(why) = self.missing() {
            return Err(why);
        }
        let lower = self.triple.replace('-', "_");
        let linker = format!("CARGO_TARGET_{}_LINKER", lower.to_uppercase());
        Ok([
            ("CARGO_BUILD_TARGET".to_owned(), self.triple),
            (format!("CC_{lower}"), self.compiler),
            (linker, self.linker.unwrap_or(self.compiler)),
        ])
    }

    /// What keeps this machine from building for it.
    fn missing(&self) -> Option<String> {
        let mut packages = self.package.split(' ');
        let package = packages.next().unwrap_or_default();
        if !tools::found(self.compiler) {
            packages.chain([package]).for_each(|package| {
                tools::provided(self.compiler, package);
            });
        }
        if !tools::found(self.compiler) {
            return Some(format!("no {}: apt-get install {}", self.compiler, self.package));
        }
        let installed = || {
            let output = Command::new("rustup").args(["target", "list", "--installed"]).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).lines().any(|line| line == self.triple))
        };
        match installed() {
            Some(true) => None,
            Some(false) => {
                // Standard output carries the summary.
                let added = Command::new("rustup")
                    .args(["target", "add", self.triple])
                    .stdout(Stdio::null())
                    .status();
                let added = added.is_ok_and(|status| status.success());
                (!added).then(|| format!("rustup cannot add the target: rustup target add {}", self.triple))
            }
            // A Rust of a distribution: it has the target, or the build names what is missing.
            None => {
                let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
                let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim().to_owned());
                let there = sysroot.join("lib/rustlib").join(self.triple).is_dir();
                (!there).then(|| {
                    format!("this Rust has no target {}, and there is no rustup to add it", self.triple)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names_of_their_own() {
        for target in &TARGETS {
            for name in [target.short, target.triple] {
                assert_eq!(find(name).expect(name).triple, target.triple);
            }
        }
        assert!(find("mips").is_none());
    }
}
