//! Files and directories on a disk: replaced as a whole, and synced before a write returns.

use super::machine::LiveSystem;
use super::words::words;
use crate::{TargetError, TargetState, Timestamp};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use whylate_bootloader::{FileState, LONGEST_FILE};

/// What a file is called while it is written: a name that no directory of drop-ins takes for one of its own.
const PART: (&str, &str) = (".", ".whylate-part");
/// Labels and access lists that belong to a file's name, whatever its content. Those of the content, such as
/// `security.ima`, are not carried over.
const CARRIED: [&str; 3] = ["security.selinux", "security.SMACK64", "system.posix_acl_access"];

impl LiveSystem {
    /// The file, link or directory at a path; the directories above it may be links.
    pub(super) fn read_file(&self, path: &str) -> Result<TargetState, TargetError> {
        let cannot = |error: io::Error| TargetError::new("read", path, words(&error));
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(TargetState::Absent),
            Err(error) => return Err(cannot(error.into())),
        };
        let stat = match rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(TargetState::Absent),
            Err(error) => return Err(cannot(error.into())),
        };
        state(&parent, name, &stat).map_err(cannot)
    }

    pub(super) fn write_file(&self, path: &str, state: &TargetState) -> Result<(), TargetError> {
        let cannot = |error: io::Error| {
            let hint = hint(&error, rustix::process::geteuid().is_root());
            TargetError::new("set", path, format!("{}{hint}", words(&error)))
        };
        let (parent, name) = self.parent(path).map_err(|error| cannot(error.into()))?;
        self.replace(&parent, name, state).map_err(cannot)?;
        self.sync(path).map_err(cannot)
    }

    /// A directory of the kernel's: there is no disk.
    pub(super) fn write_group(&self, path: &str, state: &TargetState) -> Result<(), TargetError> {
        let cannot = |error: io::Error| {
            let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::BUSY) => " processes or groups are in it",
                _ => "",
            };
            TargetError::new("set", path, format!("{}{why}", words(&error)))
        };
        let (parent, name) = self.parent(path).map_err(|error| cannot(error.into()))?;
        self.replace(&parent, name, state).map_err(cannot)
    }

    /// Removes what a write that was cut off left.
    pub(super) fn remove_part(&self, path: &str) -> Result<(), TargetError> {
        let cannot = |error: io::Error| TargetError::new("tidy", path, words(&error));
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(error) => return Err(cannot(error.into())),
        };
        // Asked first: a read-only file system refuses to remove even what is not there.
        match rustix::fs::statat(&parent, part(name), AtFlags::SYMLINK_NOFOLLOW) {
            // No write leaves a directory: this one is another program's.
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => return Ok(()),
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(cannot(error.into())),
        }
        self.pass("tidy", path)?;
        rustix::fs::unlinkat(&parent, part(name), AtFlags::empty()).map_err(|error| cannot(error.into()))?;
        self.sync(path).map_err(cannot)
    }

    /// When the content was last changed.
    pub(super) fn modified(&self, path: &str) -> Option<Timestamp> {
        let (parent, name) = self.parent(path).ok()?;
        let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Timestamp(stat.st_mtime))
    }

    /// The directory a path is in, and its last name.
    fn parent<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), Errno> {
        let (parent, name) = path.trim_end_matches('/').rsplit_once('/').ok_or(Errno::INVAL)?;
        if name.is_empty() || name == "." || name == ".." {
            return Err(Errno::INVAL);
        }
        let parent = if parent.is_empty() { "/" } else { parent };
        Ok((self.at(parent, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    fn replace(&self, parent: &OwnedFd, name: &str, state: &TargetState) -> io::Result<()> {
        let there = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let is_directory = there.as_ref().is_some_and(|stat| kind(stat) == FileType::Directory);
        self.faults.check()?;
        match state {
            TargetState::Absent if there.is_none() => {}
            TargetState::Absent => {
                let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                rustix::fs::unlinkat(parent, name, flags)?;
            }
            &TargetState::Directory { mode, uid, gid } => {
                if !is_directory {
                    rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(mode))?;
                    self.faults.check()?;
                }
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let made = rustix::fs::openat(parent, name, flags, Mode::empty())?;
                own(made.as_fd(), mode, uid, gid)?;
            }
            TargetState::Link { target } => {
                let part = self.fresh_part(parent, name)?;
                rustix::fs::symlinkat(target.as_str(), parent, &part)?;
                self.put_in_place(parent, &part, name)?;
            }
            TargetState::File(file) => {
                let part = self.fresh_part(parent, name)?;
                let written = self.write_part(parent, &part, name, file);
                if let Err(error) = written.and_then(|()| self.put_in_place(parent, &part, name)) {
                    if self.faults.check().is_ok() {
                        let _ = rustix::fs::unlinkat(parent, &part, AtFlags::empty());
                    }
                    return Err(error);
                }
            }
            TargetState::Value(_) => return Err(Errno::INVAL.into()),
        }
        self.faults.check()
    }

    /// A name for what is being written, which is free.
    fn fresh_part(&self, parent: &OwnedFd, name: &str) -> io::Result<String> {
        let part = part(name);
        match rustix::fs::unlinkat(parent, &part, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        self.faults.check()?;
        Ok(part)
    }

    fn write_part(&self, parent: &OwnedFd, part: &str, name: &str, state: &FileState) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(parent, part, flags, Mode::RUSR | Mode::WUSR)?);
        self.faults.check()?;
        file.write_all(&state.content)?;
        self.faults.check()?;
        carry_labels(parent, name, &file)?;
        own(file.as_fd(), state.mode, state.uid, state.gid)?;
        file.sync_all()?;
        self.faults.check()
    }

    fn put_in_place(&self, parent: &OwnedFd, part: &str, name: &str) -> io::Result<()> {
        rustix::fs::renameat(parent, part, parent, name)?;
        self.faults.check()
    }

    /// Makes the directory's entries last.
    fn sync(&self, path: &str) -> io::Result<()> {
        let parent = path.trim_end_matches('/').rsplit_once('/').map_or("/", |(parent, _)| parent);
        let parent = if parent.is_empty() { "/" } else { parent };
        rustix::fs::fsync(self.at(parent, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
        self.faults.check()
    }
}

fn part(name: &str) -> String {
    format!("{}{name}{}", PART.0, PART.1)
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn state(parent: &OwnedFd, name: &str, stat: &Stat) -> io::Result<TargetState> {
    let (mode, uid, gid) = (stat.st_mode & 0o7777, stat.st_uid, stat.st_gid);
    match kind(stat) {
        FileType::Directory => Ok(TargetState::Directory { mode, uid, gid }),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(parent, name, Vec::new())?;
            let target = target.into_string().map_err(|_| io::Error::other("its target is not UTF-8"))?;
            Ok(TargetState::Link { target })
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = File::from(rustix::fs::openat(parent, name, flags, Mode::empty())?);
            let mut content = Vec::new();
            file.take(LONGEST_FILE + 1).read_to_end(&mut content)?;
            if content.len() as u64 > LONGEST_FILE {
                return Err(io::Error::other(format!("longer than {} MiB", LONGEST_FILE >> 20)));
            }
            Ok(TargetState::File(FileState { content, mode, uid, gid }))
        }
        _ => Err(io::Error::other("neither a file nor a directory nor a link")),
    }
}

/// Gives owner and mode, where they differ: a file system without them (FAT) refuses even those it shows.
fn own(file: impl AsFd, mode: u32, uid: u32, gid: u32) -> io::Result<()> {
    let stat = rustix::fs::fstat(&file)?;
    if (stat.st_uid, stat.st_gid) != (uid, gid) {
        rustix::fs::fchown(&file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    // After the owner: changing that clears the set-user-id bit (chown(2)).
    if rustix::fs::fstat(&file)?.st_mode & 0o7777 != mode {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// The labels of the file that is replaced.
fn carry_labels(parent: &OwnedFd, name: &str, file: &File) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let old = match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Ok(old) => old,
        // Nothing is there, or a link.
        Err(Errno::NOENT | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for label in CARRIED {
        let mut value = Vec::with_capacity(64 << 10);
        match rustix::fs::fgetxattr(&old, label, rustix::buffer::spare_capacity(&mut value)) {
            Ok(_) => rustix::fs::fsetxattr(file, label, &value, XattrFlags::empty())?,
            Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn hint(error: &io::Error, is_root: bool) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ROFS) => ": mount it writable first",
        Some(Errno::NOSPC | Errno::DQUOT) => ": free some space first; the file is unchanged",
        Some(Errno::NOTEMPTY) => ": another program put a file into it",
        Some(Errno::BUSY) => ": something is mounted on it",
        Some(Errno::PERM | Errno::ACCESS) if !is_root => ": run as root",
        Some(Errno::PERM) => ": the file or its directory may be immutable (lsattr -d)",
        // A network file system may map root to another user, and a security module may confine it.
        Some(Errno::ACCESS) => {
            ": root is refused as well: look at the mount (NFS) and at the security module's log"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_advised_to_run_as_root() {
        for errno in [Errno::PERM, Errno::ACCESS, Errno::ROFS, Errno::BUSY] {
            let error = io::Error::from(errno);
            assert!(!hint(&error, true).contains("as root"), "{error}");
        }
        for errno in [Errno::PERM, Errno::ACCESS] {
            assert!(hint(&errno.into(), false).contains("run as root"));
        }
    }
}
