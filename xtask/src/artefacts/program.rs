//! The static programs, built so that neither the machine nor the directory shows in them.

use crate::cross::{self, Profile};
use crate::outcome::{StepOutcome, outcome};
use crate::root;
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes that a program may have.
const MOST_BYTES: u64 = 20_000_000;

/// What makes the program smaller: the command line's own crate is optimised for size, symbols go, and rust-lld makes one of
/// functions with the same instructions and lets relocations take a bit each (DT_RELR, which musl's start files know since 1.2.4).
const SMALLER: [&str; 4] =
    ["-Copt-level=s", "-Cstrip=symbols", "-Clink-arg=--icf=all", "-Clink-arg=--pack-dyn-relocs=relr"];

/// Optimisation of the whole program at once, which the ordinary build is spared: it takes several minutes on one CPU, and
/// leaves out what no other crate calls.
const WHOLE_PROGRAM: [(&str, &str); 2] =
    [("CARGO_PROFILE_RELEASE_LTO", "fat"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")];

/// A machine that packages are made for.
#[derive(Debug)]
pub(super) struct Machine {
    /// As of `cargo xtask cross`.
    pub(super) name: &'static str,
    /// As of `uname -m`, rpm and the triple.
    pub(super) uname: &'static str,
    /// As of dpkg and of OCI images.
    pub(super) debian: &'static str,
}

/// Those that packages are made for.
pub(super) const MACHINES: [Machine; 2] = [
    Machine { name: "x86_64", uname: "x86_64", debian: "amd64" },
    Machine { name: "arm64", uname: "aarch64", debian: "arm64" },
];

/// This machine: it runs the program that writes the man pages.
pub(super) fn native() -> Result<&'static Machine> {
    MACHINES.iter().find(|machine| machine.uname == env::consts::ARCH).with_context(|| {
        format!("releases are made on x86_64 or aarch64; this machine is {}", env::consts::ARCH)
    })
}

impl Machine {
    /// Builds the program; returns where it is.
    pub(super) fn build(&self, root: &Path) -> Result<PathBuf> {
        let target = cross::find(self.name).context("the target is missing in xtask/src/cross.rs")?;
        let mut cargo = match target.cargo(root) {
            Ok(cargo) => cargo,
            Err(why) => bail!("{}: {why}", target.triple),
        };
        cargo.envs(environment(root, target.triple)?).envs(WHOLE_PROGRAM);
        cargo.args(["rustc", "--release", "--locked", "--package", "whylate", "--bin", "whylate", "--"]);
        match outcome(cargo.args(SMALLER)) {
            StepOutcome::Passed => {}
            StepOutcome::Skipped(why) | StepOutcome::Failed(why) => bail!("{}: {why}", target.triple),
        }
        let program = target.directory(root, Profile::Release).join("whylate");
        let size =
            fs::metadata(&program).with_context(|| format!("cannot read {}", program.display()))?.len();
        if size > MOST_BYTES {
            bail!("{} has {size} bytes, more than {MOST_BYTES}", program.display());
        }
        Ok(program)
    }
}

/// What keeps paths of this machine out of a program: panics and debug information name files.
fn environment(root: &Path, triple: &str) -> Result<Vec<(String, String)>> {
    let mut prefixes = vec![
        (root::target(root), "/usr/src/whylate/target".to_owned()),
        (root.to_path_buf(), "/usr/src/whylate".to_owned()),
    ];
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    // A mirror has a directory of another name.
    for entry in fs::read_dir(&sources).into_iter().flatten() {
        let path = entry.with_context(|| format!("cannot list {}", sources.display()))?.path();
        prefixes.push((path, "/usr/src/cargo".to_owned()));
    }
    let mut rust = Vec::new();
    let mut c = vec!["-U_FORTIFY_SOURCE".to_owned()];
    for (from, to) in prefixes {
        let from = from.to_str().with_context(|| format!("{} is not UTF-8", from.display()))?.to_owned();
        rust.push(format!("--remap-path-prefix={from}={to}"));
        c.push(format!("-ffile-prefix-map={from}={to}"));
    }
    Ok(vec![
        ("CARGO_ENCODED_RUSTFLAGS".to_owned(), rust.join("\u{1f}")),
        // Functions of glibc's checked variants are not in musl.
        (format!("CFLAGS_{}", triple.replace('-', "_")), c.join(" ")),
        ("CARGO_INCREMENTAL".to_owned(), "0".to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_of_the_machine_is_left_to_the_compiler() {
        let root = Path::new("/somewhere/whylate");
        let environment = environment(root, "x86_64-unknown-linux-musl").expect("an environment");
        let of = |name: &str| {
            let found = environment.iter().find(|(own, _)| own == name);
            found.map(|(_, value)| value.clone()).unwrap_or_else(|| panic!("{name}"))
        };
        let option = "\u{1f}--remap-path-prefix=/somewhere/whylate=/usr/src/whylate";
        assert!(of("CARGO_ENCODED_RUSTFLAGS").contains(option));
        let c = of("CFLAGS_x86_64_unknown_linux_musl");
        assert!(c.contains("-ffile-prefix-map=/somewhere/whylate=/usr/src/whylate"), "{c}");
    }
}
