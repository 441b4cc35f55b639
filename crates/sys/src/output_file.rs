//! Files that a program writes for its user: each appears complete or not at all, and never where the kernel would not
//! let a shell's `>` write.
//!
//! The directory is held open: its entry is looked at, written beside and replaced (`renameat(2)`) without resolving the
//! path again. A link at the last name is followed as the kernel follows it with `fs.protected_symlinks`, and an existing
//! file is taken as with `fs.protected_regular` and `fs.protected_fifos`, whatever these are set to
//! (`Documentation/admin-guide/sysctl/fs.rst`): in a sticky directory that others may write to, only what belongs to this
//! user or to the directory's owner.

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, PROC_SUPER_MAGIC, Stat, Uid};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// As many links as the kernel follows (`path_resolution(7)`).
const MAX_LINKS: usize = 40;
/// Attempts at a name that is free: names are 64 random bits.
const NAMES: usize = 16;

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// There is a pipe at the path, and no program has it open for reading.
    #[error("cannot write {}: no program reads this pipe; start its reader first", path.display())]
    NoReader {
        /// The requested path.
        path: PathBuf,
    },
    /// There is something at the path that must not be replaced by a file.
    #[error("cannot write {}: it is not a regular file", path.display())]
    NotAFile {
        /// The requested path.
        path: PathBuf,
    },
    /// There is a directory at the path.
    #[error("cannot write {}: it is a directory; give the name of a file in it", path.display())]
    Directory {
        /// The requested path.
        path: PathBuf,
    },
    /// There is a file at the path that this user may not write.
    #[error(
        "cannot write {}: the file that is there is read-only (mode {mode:04o}); give another name, or make it \
         writable (chmod u+w)",
        path.display()
    )]
    ReadOnly {
        /// The requested path.
        path: PathBuf,
        /// The file's permissions.
        mode: u32,
    },
    /// The root of many small systems is mounted so.
    #[error(
        "cannot write {}: the file system is mounted read-only; give a file elsewhere with -o, such as on a tmpfs (mount -t \
         tmpfs tmp /tmp)",
        path.display()
    )]
    ReadOnlyFileSystem {
        /// The requested path.
        path: PathBuf,
    },
    /// In a directory that all may write to, another user has put something at the path.
    #[error(
        "cannot write {}: user {uid} has put {what} there, in a directory that other users may write to: to write \
         through it could overwrite any file; give another name, or remove it",
        path.display()
    )]
    Foreign {
        /// The requested path.
        path: PathBuf,
        /// `a symbolic link`, `a file`.
        what: &'static str,
        /// The owner.
        uid: u32,
    },
    /// The file, or its directory, could not be written.
    #[error("cannot write {}", path.display())]
    Io {
        /// The requested path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Where an output goes: an entry of a directory that is held open.
#[derive(Debug)]
pub struct OutputPlace {
    asked: PathBuf,
    directory: OwnedFd,
    directory_path: PathBuf,
    name: OsString,
    there: Option<Stat>,
    /// A link of procfs leads to what this process has open: it can be opened, but not read as a path.
    is_magic: bool,
}

impl OutputPlace {
    /// Follows links, and refuses what cannot or must not be written. Writes nothing.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn find(path: &Path) -> Result<OutputPlace, OutputError> {
        let io = |error: Errno| OutputError::Io { path: path.to_owned(), source: error.into() };
        let mut place = OutputPlace::entry(CWD.as_fd(), Path::new(""), path, path)?;
        for _ in 0..MAX_LINKS {
            place.refuse_foreign()?;
            if place.kind() != Some(FileType::Symlink) {
                place.refuse_unfit()?;
                return Ok(place);
            }
            if place.leads_to_open_file().map_err(io)? {
                place.is_magic = true;
                return Ok(place);
            }
            let target = rustix::fs::readlinkat(&place.directory, &place.name, Vec::new()).map_err(io)?;
            let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
            place = OutputPlace::entry(place.directory.as_fd(), &place.directory_path, &target, path)?;
        }
        Err(io(Errno::LOOP))
    }

    /// The entry of a path that begins in a directory.
    fn entry(
        from: impl AsFd,
        from_path: &Path,
        path: &Path,
        asked: &Path,
    ) -> Result<OutputPlace, OutputError> {
        let io = |error: Errno| OutputError::Io { path: asked.to_owned(), source: error.into() };
        if path.as_os_str().is_empty() {
            return Err(io(Errno::NOENT));
        }
        let name = path.file_name().filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"));
        let Some(name) = name else { return Err(OutputError::Directory { path: asked.to_owned() }) };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(from, parent, flags, Mode::empty()).map_err(io)?;
        let there = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(io(error)),
        };
        Ok(OutputPlace {
            asked: asked.to_owned(),
            directory,
            directory_path: from_path.join(parent),
            name: name.to_owned(),
            there,
            is_magic: false,
        })
    }

    fn kind(&self) -> Option<FileType> {
        self.there.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode))
    }

    /// The rules of `may_follow_link` and `may_create_in_sticky` (fs/namei.c).
    fn refuse_foreign(&self) -> Result<(), OutputError> {
        let Some(there) = &self.there else { return Ok(()) };
        let (what, others) = match FileType::from_raw_mode(there.st_mode) {
            FileType::Symlink => ("a symbolic link", 0o002),
            FileType::RegularFile => ("a file", 0o022),
            FileType::Fifo => ("a pipe", 0o022),
            _ => return Ok(()),
        };
        let directory = rustix::fs::fstat(&self.directory)
            .map_err(|error| OutputError::Io { path: self.asked.clone(), source: error.into() })?;
        match is_foreign(&directory, there, others, rustix::process::geteuid().as_raw()) {
            true => Err(OutputError::Foreign { path: self.asked.clone(), what, uid: there.st_uid }),
            false => Ok(()),
        }
    }

    fn refuse_unfit(&self) -> Result<(), OutputError> {
        let Some(there) = &self.there else { return Ok(()) };
        let path = self.asked.clone();
        match FileType::from_raw_mode(there.st_mode) {
            FileType::Directory => Err(OutputError::Directory { path }),
            // To replace a file only takes the right to its directory; but a read-only file is meant to stay.
            FileType::RegularFile => match self.open(OFlags::NOFOLLOW | OFlags::NONBLOCK) {
                Ok(_) => Ok(()),
                Err(Errno::ACCESS) => Err(OutputError::ReadOnly { path, mode: there.st_mode & 0o7777 }),
                Err(error) => Err(OutputError::Io { path, source: error.into() }),
            },
            _ => Ok(()),
        }
    }

    /// Of `/dev/stdout`, which leads to a pipe or a terminal, the link's text is no path (`proc_pid_fd(5)`).
    fn leads_to_open_file(&self) -> Result<bool, Errno> {
        if rustix::fs::fstatfs(&self.directory)?.f_type != PROC_SUPER_MAGIC {
            return Ok(false);
        }
        let stat = rustix::fs::statat(&self.directory, &self.name, AtFlags::empty())?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(!matches!(kind, FileType::RegularFile | FileType::Directory))
    }

    fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())
    }

    /// True of a device, a pipe or a terminal: it takes content as it comes, and cannot be replaced.
    pub fn is_stream(&self) -> bool {
        self.is_magic || !matches!(self.kind(), None | Some(FileType::RegularFile))
    }

    /// Opens what is a [stream](OutputPlace::is_stream). A pipe that no program reads is an error: to wait for one (fifo(7)) would
    /// outlast the signals that end a run.
    ///
    /// # Errors
    /// [`OutputError`]; also where it has become a file meanwhile.
    pub fn open_stream(&self) -> Result<File, OutputError> {
        let io = |error: Errno| OutputError::Io { path: self.asked.clone(), source: error.into() };
        let nofollow = if self.is_magic { OFlags::empty() } else { OFlags::NOFOLLOW };
        let file = self.open(nofollow | OFlags::NONBLOCK).map_err(|error| match error {
            Errno::NXIO if self.kind() == Some(FileType::Fifo) => {
                OutputError::NoReader { path: self.asked.clone() }
            }
            error => io(error),
        })?;
        let flags = rustix::fs::fcntl_getfl(&file).map_err(io)?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(io)?;
        match FileType::from_raw_mode(rustix::fs::fstat(&file).map_err(io)?.st_mode) {
            FileType::RegularFile => Err(OutputError::NotAFile { path: self.asked.clone() }),
            _ => Ok(File::from(file)),
        }
    }

    /// Begins the file. A new one gets this `mode`, less the umask; one that replaces another has the permissions of
    /// that, and its owner where this user may give files away.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn create(self, mode: u32) -> Result<OutputFile, OutputError> {
        if self.is_stream() {
            return Err(OutputError::NotAFile { path: self.asked });
        }
        let io = |source: io::Error| OutputError::Io { path: self.asked.clone(), source };
        // What replaces a file for its owner's eyes is never open to others, not even while it is written.
        let first = Mode::from_raw_mode(if self.there.is_some() { 0o600 } else { mode });
        let (name, file) = new_part(&self.directory, first).map_err(|source| match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => OutputError::ReadOnlyFileSystem { path: self.asked.clone() },
            _ => io(source),
        })?;
        let part = OutputPart { directory: self.directory, name };
        let output = OutputFile {
            file,
            part: Arc::new(part),
            asked: self.asked.clone(),
            directory_path: self.directory_path,
            name: self.name,
        };
        if let Some(there) = &self.there {
            output.keep_owner(there).map_err(|error| io(error.into()))?;
        }
        Ok(output)
    }
}

/// Whether something in a directory belongs to neither this user nor the directory's owner, where the directory is
/// sticky and `others` may write to it.
fn is_foreign(directory: &Stat, there: &Stat, others: u32, user: u32) -> bool {
    let shared = directory.st_mode & 0o1000 != 0 && directory.st_mode & others != 0;
    shared && there.st_uid != user && there.st_uid != directory.st_uid
}

/// A file with a name that nothing has.
fn new_part(directory: &OwnedFd, mode: Mode) -> io::Result<(OsString, File)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..NAMES {
        let name = format!(".whylate-{:016x}.part", RandomState::new().build_hasher().finish());
        match rustix::fs::openat(directory, &name, flags, mode) {
            Ok(file) => return Ok((name.into(), File::from(file))),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// A file that is being written under another name of its directory. Dropping it removes it.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    part: Arc<OutputPart>,
    asked: PathBuf,
    directory_path: PathBuf,
    name: OsString,
}

impl OutputFile {
    /// [`OutputPlace::find`] and [`OutputPlace::create`].
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn create(path: &Path, mode: u32) -> Result<OutputFile, OutputError> {
        OutputPlace::find(path)?.create(mode)
    }

    fn keep_owner(&self, there: &Stat) -> Result<(), Errno> {
        let own = rustix::fs::fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid) {
            let (uid, gid) = (Uid::from_raw(there.st_uid), Gid::from_raw(there.st_gid));
            // A group alone can be given to a file by any of its members.
            let _ = rustix::fs::fchown(&self.file, Some(uid), Some(gid))
                .or_else(|_| rustix::fs::fchown(&self.file, None, Some(gid)));
        }
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(there.st_mode & 0o777))
    }

    /// The file to write, also to read.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// The path of its directory, for files that are needed on the way.
    pub fn directory(&self) -> &Path {
        &self.directory_path
    }

    /// Checks that a file can be made at `path`, or replaced, and returns the directory it will be in: before the work
    /// for it begins rather than after it.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn check(path: &Path) -> Result<PathBuf, OutputError> {
        OutputFile::create(path, 0o600).map(|file| file.directory_path.clone())
    }

    /// What is to be removed if the process ends; gone when this is.
    pub fn part(&self) -> Weak<OutputPart> {
        Arc::downgrade(&self.part)
    }

    /// Renames it to its name; returns how many bytes it has.
    ///
    /// # Errors
    /// [`OutputError::Io`].
    pub fn keep(self) -> Result<u64, OutputError> {
        let io = |source: io::Error| OutputError::Io { path: self.asked.clone(), source };
        let bytes = self.file.metadata().map_err(io)?.len();
        let part = &self.part;
        rustix::fs::renameat(&part.directory, &part.name, &part.directory, &self.name)
            .map_err(|error| io(error.into()))?;
        Ok(bytes)
    }
}

/// The name of an unfinished file.
#[derive(Debug)]
pub struct OutputPart {
    directory: OwnedFd,
    name: OsString,
}

impl OutputPart {
    /// Removes it, unless it has its final name by now.
    pub fn remove(&self) {
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

impl Drop for OutputPart {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests;
