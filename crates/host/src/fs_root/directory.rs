//! A directory that holds another machine's root.
//!
//! Its links stay inside it: an absolute link must not lead to the machine that reads it. The kernel ensures this
//! (`openat2(2)`, RESOLVE_IN_ROOT, Linux 5.6).

use super::sos;
use super::source::{MOST_BYTES, Source, why};
use crate::{HostError, Why};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

/// A captured root.
pub(super) struct Directory {
    root: OwnedFd,
    /// Files from the command outputs of a sosreport.
    overlay: sos::Overlay,
}

impl Directory {
    pub(super) fn open(path: &Path) -> Result<Directory, HostError> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| HostError::Open { path: path.to_owned(), error: error.into() })?;
        let mut directory = Directory { root, overlay: sos::Overlay::default() };
        if directory.names("/sos_commands").is_ok() {
            directory.overlay = sos::overlay(|path| {
                let bytes = directory.file(path, MOST_BYTES).ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            });
        }
        Ok(directory)
    }

    /// Whether it looks like a root or a sosreport.
    pub(super) fn is_root(&self) -> bool {
        let any = ["/proc", "/sys", "/etc", "/boot", "/lib", "/usr", "/sos_commands", "/dev", "/var"];
        any.iter().any(|name| self.names(name).is_ok())
    }

    /// Opens a path within the root.
    fn at(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        // Anything that could block or act when it is opened is refused by its type afterwards.
        let opened = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = if flags.contains(OFlags::PATH) { flags } else { flags | opened } | OFlags::CLOEXEC;
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "." } else { path };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve)?)
    }

    /// The first `limit` bytes of a regular file.
    pub(super) fn file(&self, path: &str, limit: usize) -> io::Result<Vec<u8>> {
        let file = self.at(path, OFlags::RDONLY)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        File::from(file).take(limit as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The names in a directory, sorted.
    pub(super) fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let directory = self.at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn target(&self, path: &str) -> io::Result<String> {
        let link = self.at(path, OFlags::PATH | OFlags::NOFOLLOW)?;
        let stat = rustix::fs::statat(&link, "", AtFlags::EMPTY_PATH)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return Err(io::Error::other("not a symbolic link"));
        }
        Ok(rustix::fs::readlinkat(&link, "", Vec::new())?.to_string_lossy().into_owned())
    }
}

/// A missing file may not have been collected.
fn uncertain(error: &io::Error) -> Why {
    match why(error) {
        Why::Missing => Why::NotCollected,
        why => why,
    }
}

impl Source for Directory {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why> {
        self.file(path, limit).or_else(|error| match self.overlay.files.get(path) {
            Some(text) => Ok(text.as_bytes().iter().copied().take(limit).collect()),
            None => Err(uncertain(&error)),
        })
    }

    fn list(&self, path: &str) -> Result<Vec<String>, Why> {
        match self.overlay.directories.get(path) {
            Some(names) => names.clone().ok_or(Why::NotCollected),
            None => self.names(path).map_err(|error| uncertain(&error)),
        }
    }

    fn link(&self, path: &str) -> Result<String, Why> {
        self.target(path).map_err(|error| uncertain(&error))
    }
}
