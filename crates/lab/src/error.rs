//! What can go wrong with a guest, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no guest, or no answer of it.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file or directory of the host.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// `read`, `write`, `create`.
        doing: &'static str,
        /// Its name or path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The guest's results have no room where they were to be.
    #[error("cannot unpack the guest's results into {}{}", out.display(), kept_in(kept))]
    NotUnpacked {
        /// Where they were to be.
        out: PathBuf,
        /// The archive (cpio) that has them; `None` where it could not be kept either.
        kept: Option<PathBuf>,
        /// The cause.
        source: io::Error,
    },
    /// A program of the host that the lab needs.
    #[error("cannot run {program} ({todo})")]
    Tool {
        /// Its name.
        program: &'static str,
        /// The cause.
        source: io::Error,
        /// What to install.
        todo: &'static str,
    },
    /// No kernel of that name.
    #[error("no kernel is called `{name}`: {known}")]
    UnknownKernel {
        /// The requested name.
        name: String,
        /// The available names.
        known: String,
    },
    /// Modules were given for a kernel of the cache.
    #[error("--modules is for a kernel given as a file; {name} has modules of its own")]
    OwnModules {
        /// Its name.
        name: String,
    },
    /// A kernel could not be fetched.
    #[error("cannot fetch kernel {name}: {reason}{}", cached_too(cached))]
    Fetch {
        /// Its name or path.
        name: String,
        /// The failed step, and the reason.
        reason: String,
        /// Kernels that need no network.
        cached: Vec<String>,
    },
    /// The file is no kernel that QEMU could boot.
    #[error("{} is no Linux kernel to boot: {reason}", path.display())]
    NotAKernel {
        /// Which file.
        path: PathBuf,
        /// What is missing in it.
        reason: &'static str,
    },
    /// The kernel is for another architecture than the one that was asked for.
    #[error("{} is a kernel for {is}, and the guest is to be {asked}: leave --arch out, or give another kernel", path.display())]
    OtherArch {
        /// Which file.
        path: PathBuf,
        /// Its architecture.
        is: &'static str,
        /// The other one.
        asked: &'static str,
    },
    /// A disk with a distribution could not be made.
    #[error("cannot make the disk {name}: {reason}")]
    Disk {
        /// Its name.
        name: String,
        /// The failed step, the reason, the advice.
        reason: String,
    },
    /// A root with packages could not be made.
    #[error("cannot make the root with {packages}: {reason}")]
    Packages {
        /// The packages.
        packages: String,
        /// The failed step, the reason, the advice.
        reason: String,
    },
    /// A kernel module that is not there, or not whole.
    #[error("kernel module {name}: {reason}")]
    Module {
        /// Its name.
        name: String,
        /// The missing file, and its place.
        reason: String,
    },
    /// A program that cannot run in a guest.
    #[error("{} cannot run in the guest: {reason}", path.display())]
    Program {
        /// Of the host.
        path: PathBuf,
        /// The reason, and an alternative.
        reason: String,
    },
    /// QEMU ended before the guest had started.
    #[error("QEMU ended with {status} before the guest had started: {stderr}")]
    Qemu {
        /// Its exit status.
        status: String,
        /// Its standard error.
        stderr: String,
    },
    /// The guest ended without results.
    #[error("the guest ended without results ({reason}); its console ended with:\n{console}")]
    Died {
        /// The reason, as far as known.
        reason: String,
        /// The console's last lines.
        console: String,
    },
    /// The guest took too long.
    #[error("the guest was ended after {limit:?}, its limit; its console ended with:\n{console}")]
    Limit {
        /// The limit.
        limit: Duration,
        /// The console's last lines.
        console: String,
    },
    /// The user interrupted the run.
    #[error("stopped")]
    Stopped,
}

fn kept_in(kept: &Option<PathBuf>) -> String {
    match kept {
        Some(kept) => format!(": they are kept, to be unpacked with cpio -idu < {}", kept.display()),
        None => ", and they could not be kept elsewhere".to_owned(),
    }
}

fn cached_too(cached: &[String]) -> String {
    match cached {
        [] => String::new(),
        cached => format!("; cached, and ready without a network: {}", cached.join(", ")),
    }
}

impl LabError {
    /// A file error with its path.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LabError {
        let path = path.to_owned();
        move |source| LabError::File { doing, path, source }
    }

    /// A program that did not start.
    pub fn tool(program: &'static str, package: &'static str) -> impl FnOnce(io::Error) -> LabError {
        move |source| LabError::Tool { program, source, todo: package }
    }
}
