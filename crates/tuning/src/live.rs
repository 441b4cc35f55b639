//! The machine that is really changed: this one, or a directory that holds another's root.
//!
//! In a directory the kernel's files are ordinary ones. Threads, units and control groups are the running machine's,
//! and are left alone there; no command is run.

mod files;
mod knobs;
mod threads;
mod units;

use crate::fault::FaultInjector;
use crate::{Cell, CellError, Moment, State, System};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use whylate_host::{HostError, Tree};

/// A machine by its files.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    root: OwnedFd,
    /// It is the machine this runs on.
    here: bool,
    faults: FaultInjector,
}

impl Live {
    /// The machine with this root; `/` is this one.
    ///
    /// # Errors
    /// If there is no such directory, or it holds no root.
    pub fn open(path: &Path) -> Result<Live, HostError> {
        Live::open_with(path, FaultInjector::none())
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
    fn at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
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
    fn only_here(&self, tried: &'static str, cell: &Cell) -> Result<(), CellError> {
        match self.here {
            true => Ok(()),
            false => {
                let why = format!("it is of a running machine, and {} is a directory", self.path.display());
                Err(CellError::new(tried, cell, why).gone())
            }
        }
    }
}

impl System for Live {
    fn read(&self, cell: &Cell) -> Result<State, CellError> {
        match cell {
            Cell::Knob { path } => self.read_knob(path),
            Cell::ThreadPolicy { thread } => {
                self.only_here("read", cell)?;
                threads::policy(thread).map(State::Value)
            }
            Cell::ThreadCpus { thread } => {
                self.only_here("read", cell)?;
                threads::cpus(thread).map(State::Value)
            }
            Cell::UnitActive { unit } => {
                self.only_here("read", cell)?;
                units::read(unit, &self.tree()).map(State::Value)
            }
            Cell::Group { path } => {
                self.only_here("read", cell)?;
                self.read_file(path)
            }
            Cell::File { path } | Cell::Directory { path } => self.read_file(path),
        }
    }

    fn write(&self, cell: &Cell, state: &State) -> Result<(), CellError> {
        match (cell, state) {
            (Cell::Knob { path }, State::Value(value)) => self.write_knob(path, value),
            (Cell::ThreadPolicy { thread }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || threads::set_policy(thread, value))
            }
            (Cell::ThreadCpus { thread }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || threads::set_cpus(thread, value))
            }
            (Cell::UnitActive { unit }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || units::set(unit, value, &self.tree()))
            }
            (Cell::Group { path }, State::Absent | State::Directory { .. }) => {
                self.only_here("set", cell)?;
                self.write_group(path, state)
            }
            (Cell::File { path }, State::Absent | State::File(_) | State::Link { .. })
            | (Cell::Directory { path }, State::Absent | State::Directory { .. }) => {
                self.write_file(path, state)
            }
            _ => Err(CellError::new("set", cell, format!("it cannot be `{state}`"))),
        }
    }

    fn run(&self, command: &[String]) -> Result<(), CellError> {
        let words = command.join(" ");
        if !self.here {
            let why = format!(
                "commands are of a running machine, and {} is a directory: run it there, as with chroot(8)",
                self.path.display()
            );
            return Err(CellError::new("run", words, why).gone());
        }
        self.pass("run", &words)?;
        units::run(command)?;
        self.pass("run", &words)
    }

    fn has_command(&self, name: &str) -> bool {
        self.here && units::find(name).is_some()
    }

    fn tree(&self) -> Tree {
        // It was one when this was opened; what it is now its reader says.
        Tree::open(&self.path).unwrap_or_else(|_| Tree::refusing(whylate_host::Why::NotCollected))
    }

    fn tidy(&self, cell: &Cell) -> Result<(), CellError> {
        match cell {
            Cell::File { path } => self.remove_part(path),
            _ => Ok(()),
        }
    }

    fn changed(&self, cell: &Cell) -> Option<Moment> {
        match cell {
            Cell::File { path } | Cell::Directory { path } => self.modified(path),
            _ => None,
        }
    }
}

impl Live {
    fn pass(&self, tried: &'static str, cell: impl std::fmt::Display) -> Result<(), CellError> {
        self.faults.check().map_err(|error| CellError::new(tried, cell, error))
    }

    /// Does something that is one call of the kernel.
    fn passing(&self, cell: &Cell, set: impl FnOnce() -> Result<(), CellError>) -> Result<(), CellError> {
        self.pass("set", cell)?;
        set()?;
        self.pass("set", cell)
    }
}

/// An error's name and words: `EINVAL (Invalid argument)`.
fn words(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else { return error.to_string() };
    let name = match Errno::from_raw_os_error(number) {
        Errno::INVAL => "EINVAL",
        Errno::BUSY => "EBUSY",
        Errno::PERM => "EPERM",
        Errno::ACCESS => "EACCES",
        Errno::NOENT => "ENOENT",
        Errno::NODEV => "ENODEV",
        Errno::IO => "EIO",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::NOSPC => "ENOSPC",
        Errno::ROFS => "EROFS",
        Errno::RANGE => "ERANGE",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::SRCH => "ESRCH",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        _ => return error.to_string(),
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    format!("{name} ({words})")
}
