//! The programs that tests and builds call: found, or installed where that is allowed.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program and what goes without it. Displayed, it says so, and how to get it.
pub(crate) struct Tool {
    pub(crate) program: &'static str,
    /// The Debian packages that have it.
    package: &'static str,
    without: &'static str,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {}: {}; apt-get install {}, as root", self.program, self.without, self.package)
    }
}

const TOOLS: [Tool; 3] = [
    Tool {
        program: "gcc",
        package: "gcc libc6-dev",
        without: "the zstd library is compiled from C: nothing builds",
    },
    Tool {
        program: "trace-cmd",
        package: "trace-cmd",
        without: "the tests that compare our decoder and our recordings with trace-cmd's skip themselves",
    },
    Tool {
        program: "qemu-system-x86_64",
        package: "qemu-system-x86",
        without: "the step `lab`, which boots real kernels, is skipped",
    },
];

/// Whether `program` is an executable in `PATH`.
pub(crate) fn found(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Installs what the tests use and this machine lacks, where that is allowed; returns what is still missing.
pub(crate) fn provide() -> Vec<&'static Tool> {
    let missing = missing();
    if missing.is_empty() || !rustix::process::geteuid().is_root() || !found("apt-get") {
        return missing;
    }
    install(missing.iter().flat_map(|tool| tool.package.split(' ')));
    self::missing()
}

/// Whether `program` is there; installs the Debian package that has it, where it is not and that is allowed.
pub(crate) fn provided(program: &str, package: &'static str) -> bool {
    if !found(program) && rustix::process::geteuid().is_root() && found("apt-get") {
        install([package]);
    }
    found(program)
}

/// What this machine does not let the live tests do, one line each; they skip themselves.
pub(crate) fn limits() -> Vec<&'static str> {
    let mut limits = Vec::new();
    if !rustix::process::geteuid().is_root() {
        limits.push("not root: the tests that record or use real-time priorities skip themselves");
    } else if !Path::new("/sys/kernel/tracing").is_dir() && !Path::new("/sys/kernel/debug").is_dir() {
        limits.push("this kernel has no tracefs: the tests that record skip themselves");
    }
    limits
}

fn missing() -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| !found(tool.program)).collect()
}

/// A fresh Debian has no package lists, so a failed install is tried again after `apt-get update`.
/// What failed is seen by what is still missing afterwards.
fn install(packages: impl IntoIterator<Item = &'static str>) {
    let install: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(packages).collect();
    if !apt_get(&install) && apt_get(&["update"]) {
        apt_get(&install);
    }
}

fn apt_get(arguments: &[&str]) -> bool {
    eprintln!("xtask: apt-get {}", arguments.join(" "));
    let limits = ["-qq", "-oAcquire::Retries=1", "-oAcquire::http::Timeout=30", "-oDPkg::Lock::Timeout=120"];
    Command::new("apt-get")
        .args(limits)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        // Standard output carries the tests' own lines.
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn a_program_is_found_by_its_name_alone() {
        assert!(found("sh"));
        assert!(!found("no-such-program-anywhere"));
    }
}
