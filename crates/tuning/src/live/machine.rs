//! A machine by its files.

use crate::fault::FaultInjector;
use crate::{Target, TargetError};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use whylate_host::{FsRoot, HostError};

/// A machine by its files.
#[derive(Debug)]
pub struct LiveSystem {
    pub(super) path: PathBuf,
    root: OwnedFd,
    /// It is the machine this runs on.
    pub(super) here: bool,
    pub(super) faults: FaultInjector,
}

impl LiveSystem {
    /// The machine with this root; `/` is this one.
    ///
    /// # Errors
    /// If there is no such directory, or it holds no root.
    pub fn open(path: &Path) -> Result<LiveSystem, HostError> {
        LiveSystem::open_with(path, FaultInjector::none())
    }

    /// The same with faults.
    ///
    /// # Errors
    /// As [`LiveSystem::open`].
    #[cfg(feature = "fault-injection")]
    pub fn with_faults(path: &Path, faults: FaultInjector) -> Result<LiveSystem, HostError> {
        LiveSystem::open_with(path, faults)
    }

    fn open_with(path: &Path, faults: FaultInjector) -> Result<LiveSystem, HostError> {
        let cannot = |error: io::Error| HostError::Open { path: path.to_owned(), error };
        let path = path.canonicalize().map_err(cannot)?;
        if !path.is_dir() {
            return Err(cannot(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        FsRoot::open(&path)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| cannot(error.into()))?;
        Ok(LiveSystem { here: path == Path::new("/"), path, root, faults })
    }

    /// True of the machine this runs on.
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// Where its root is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a path as the machine would: links of a directory's lead within it. The links of a process in /proc
    /// (`root`, `cwd`, `fd`) are not followed: they lead to any file.
    pub(super) fn at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        if self.here {
            let opened = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS);
            return match opened {
                // Before Linux 5.6. Plans refuse such paths there as well.
                Err(Errno::NOSYS) => rustix::fs::open(path, flags, Mode::empty()),
                opened => opened,
            };
        }
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "." } else { path };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve)
    }

    /// Of the running machine only.
    pub(super) fn only_here(&self, tried: &'static str, target: &Target) -> Result<(), TargetError> {
        match self.here {
            true => Ok(()),
            false => {
                let why = format!(
                    "it exists only on a running machine, and {} is a directory",
                    self.path.display()
                );
                Err(TargetError::new(tried, target, why).gone())
            }
        }
    }
}

impl LiveSystem {
    pub(super) fn pass(
        &self,
        tried: &'static str,
        target: impl std::fmt::Display,
    ) -> Result<(), TargetError> {
        self.faults.check().map_err(|error| TargetError::new(tried, target, error))
    }

    /// Does something that is one call of the kernel.
    pub(super) fn passing(
        &self,
        target: &Target,
        set: impl FnOnce() -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        self.pass("set", target)?;
        set()?;
        self.pass("set", target)
    }
}
