//! The programs that tests and builds call: found, or installed where that is allowed.

use std::env;
use std::fmt;
use std::process::{Command, Stdio};

/// A program and what goes without it. Displayed, it names both, and how to get it.
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

const TOOLS: [Tool; 9] = [
    Tool {
        program: "gcc",
        package: "gcc libc6-dev",
        without: "the zstd library is compiled from C: nothing builds",
    },
    Tool {
        program: "trace-cmd",
        package: "trace-cmd",
        without: "the tests that compare our decoder and our recordings with trace-cmd's are skipped",
    },
    Tool {
        program: "chromium",
        package: "chromium",
        without: "the tests that load a report in a browser are skipped",
    },
    Tool {
        program: "qemu-system-x86_64",
        package: "qemu-system-x86",
        without: "the step `lab`, which boots real kernels, is skipped",
    },
    Tool { program: "jq", package: "jq", without: "the tests of the script for CI servers are skipped" },
    Tool { program: "zsh", package: "zsh", without: "the test that zsh reads its completions is skipped" },
    Tool { program: "fish", package: "fish", without: "the test that fish reads its completions is skipped" },
    Tool { program: "man", package: "man-db", without: "the test that formats the man pages is skipped" },
    Tool {
        program: "make",
        package: "make",
        without: "the test that reads the Buildroot package is skipped",
    },
];

/// Whether `program` is an executable in `PATH`.
pub(crate) fn found(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// What is missing after all that may be installed is installed, and whether it could have been.
pub(crate) struct Provided {
    pub(crate) missing: Vec<&'static Tool>,
    /// As root, with apt and its servers: what a test misses then, a machine like this one can have.
    pub(crate) installs: bool,
}

/// Installs what the tests use and this machine lacks, where that is allowed.
pub(crate) fn provide() -> Provided {
    let may_install = rustix::process::geteuid().is_root() && found("apt-get");
    if missing().is_empty() || !may_install {
        return Provided { missing: missing(), installs: missing().is_empty() };
    }
    let updated = apt_get(&["update"]);
    // One by one: a package that cannot be had must not keep the others out.
    for tool in missing() {
        install(tool.package.split(' '));
    }
    Provided { missing: missing(), installs: updated }
}

/// Whether `program` is there; installs the Debian package that has it, where it is not and that is allowed.
pub(crate) fn provided(program: &str, package: &'static str) -> bool {
    if !found(program) && rustix::process::geteuid().is_root() && found("apt-get") {
        install([package]);
    }
    found(program)
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
