//! A machine by its files.

use crate::fault::FaultInjector;
use crate::{Cell, CellError};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use whylate_host::{HostError, Tree};

/// A machine by its files.
#[derive(Debug)]
pub struct Live {
    pub(super) path: PathBuf,
    root: OwnedFd,
    /// It is the machine this runs on.
    pub(super) here: bool,
    pub(super) faults: FaultInjector,
}

impl Live {
    /// The machine with this root; `/` is this one.
    ///
    /// # Errors
    /// If there is no such directory, or it holds no root.
    pub fn open(path: &Path) -> Result<Live, HostError> {
        Live::open_with(path, FaultInjector::default())
    }

    /// The same with faults.
    ///
    /// # Errors
    /// As [`Live::open`].
    #[cfg(feature = "fault-injection")]
    pub fn with_faults(path: &Path, faults: FaultInjector) -> Result<Live, HostError> {
        Live::open_with(path, faults)
    }

    fn open_with(path: &Path, faults: FaultInjector) -> Result<Live, HostError> {
        let cannot = |error: io::Error| HostError::Open { path: path.to_owned(), error };
        let path = path.canonicalize().map_err(cannot)?;
        if !path.is_dir() {
            return Err(cannot(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        Tree::open(&path)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| cannot(error.into()))?;
        Ok(Live { here: path == Path::new("/"), path, root, faults })
    }

    /// True of the machine this runs on.
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// Where its root is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a path as the machine would: links of a directory's lead within it.
    pub(super) fn at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        if self.here {
            return rustix::fs::open(path, flags, Mode::empty());
        }
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "." } else { path };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve)
    }

    /// Of the running machine only.
    pub(super) fn only_here(&self, tried: &'static str, cell: &Cell) -> Result<(), CellError> {
        match self.here {
            true => Ok(()),
            false => {
                let why = format!("it is of a running machine, and {} is a directory", self.path.display());
                Err(CellError::new(tried, cell, why).gone())
            }
        }
    }
}

impl Live {
    pub(super) fn pass(&self, tried: &'static str, cell: impl std::fmt::Display) -> Result<(), CellError> {
        self.faults.check().map_err(|error| CellError::new(tried, cell, error))
    }

    /// Does something that is one call of the kernel.
    pub(super) fn passing(
        &self,
        cell: &Cell,
        set: impl FnOnce() -> Result<(), CellError>,
    ) -> Result<(), CellError> {
        self.pass("set", cell)?;
        set()?;
        self.pass("set", cell)
    }
}
