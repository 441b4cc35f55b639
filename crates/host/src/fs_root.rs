//! Where files come from: this machine, a directory that holds a captured root, an archive, or memory.
//!
//! The readers do not distinguish them. A tree can record every read, with its value or its failure; an archive
//! consists of these records. A captured machine therefore gives the same readings as the machine itself, including
//! the reason for each failed read.

mod archive;
mod bounded;
mod capture;
mod directory;
mod live;
mod refused;
mod sos;
mod source;

use crate::{FromText, HostError, Reading, Why};
pub use capture::Capture;
use capture::EntryKind;
use source::{MOST_BYTES, Source};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

/// Mount points and directories of a complete machine. If such a directory is empty or absent, a missing file in
/// it proves nothing: a container hides it, or it is not mounted. Inner ones first.
const MOUNTS: [&str; 9] = [
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/fs/cgroup",
    "/sys",
    "/proc",
    "/boot",
    "/lib/modules",
    "/etc",
    "/dev",
];

/// A machine's files.
pub struct FsRoot {
    source: Box<dyn Source>,
    /// Recorded reads, if recording is on.
    notes: Option<RefCell<Capture>>,
    mounted: RefCell<HashMap<&'static str, Result<bool, Why>>>,
}

impl FsRoot {
    fn of(source: impl Source + 'static) -> FsRoot {
        FsRoot { source: Box::new(source), notes: None, mounted: RefCell::default() }
    }

    /// The machine this runs on.
    pub fn live() -> FsRoot {
        FsRoot::of(live::Live)
    }

    /// The content of `path`: a directory with a captured root or an unpacked sosreport, or an archive of
    /// `whylate snapshot`, told apart by content. The directory `/` is this machine.
    ///
    /// A directory does not show whether a missing file was absent or not collected; such files are
    /// [`Why::NotCollected`]. The manifest of an unpacked archive shows it.
    ///
    /// # Errors
    /// If it cannot be opened, or is neither.
    pub fn open(path: &Path) -> Result<FsRoot, HostError> {
        if path == Path::new("/") {
            return Ok(FsRoot::live());
        }
        let metadata =
            std::fs::metadata(path).map_err(|error| HostError::Open { path: path.to_owned(), error })?;
        if !metadata.is_dir() {
            return Ok(FsRoot::of(archive::read(path)?));
        }
        let directory = directory::Directory::open(path)?;
        match archive::unpacked(path, &directory)? {
            Some(capture) => Ok(FsRoot::of(capture)),
            None if !directory.is_root() => Err(HostError::Foreign {
                path: path.to_owned(),
                reason: "it has neither proc nor sys nor etc".to_owned(),
            }),
            None => Ok(FsRoot::of(directory)),
        }
    }

    /// The content of a capture.
    pub fn captured(capture: Capture) -> FsRoot {
        FsRoot::of(capture)
    }

    /// A machine made of these files and nothing else: for tests.
    ///
    /// ```
    /// let tree = whylate_host::FsRoot::memory(&[("/proc/sys/vm/swappiness", "60\n")]);
    /// assert_eq!(tree.value::<u64>("/proc/sys/vm/swappiness").value, Ok(60));
    /// ```
    pub fn memory(files: &[(&str, &str)]) -> FsRoot {
        FsRoot::of(Capture::of_files(files))
    }

    /// A machine that refuses every file for one reason: for tests.
    pub fn refusing(why: Why) -> FsRoot {
        FsRoot::of(Capture::refusing(why))
    }

    /// The same machine, which now refuses one file: for tests.
    #[must_use]
    pub fn refused(self, path: &str, why: Why) -> FsRoot {
        FsRoot::of(refused::Refused { others: self.source, path: path.to_owned(), why })
    }

    /// Starts to record reads.
    #[must_use]
    pub fn noting(mut self) -> FsRoot {
        self.notes = Some(RefCell::new(Capture::refusing(Why::NotCollected)));
        self
    }

    /// The reads since [`FsRoot::noting`], with their results.
    pub fn into_notes(self) -> Capture {
        self.notes.map(RefCell::into_inner).unwrap_or_else(|| Capture::refusing(Why::NotCollected))
    }

    /// The text of a file. Invalid UTF-8 is replaced.
    pub fn text(&self, path: &str) -> Reading<String> {
        self.filtered(path, str::to_owned)
    }

    /// The text of a file after `filter`; the rest is neither returned nor recorded. For files with private parts.
    pub fn filtered(&self, path: &str, filter: impl FnOnce(&str) -> String) -> Reading<String> {
        let value = match self.source.read(path, MOST_BYTES + 1) {
            Ok(bytes) if bytes.len() > MOST_BYTES => {
                Err(Why::Io { error: format!("longer than {} MiB", MOST_BYTES >> 20) })
            }
            read => read.map(|bytes| filter(&String::from_utf8_lossy(&bytes))),
        };
        self.note(path, EntryKind::File, || {
            value.as_ref().map(|text| text.clone().into_bytes()).map_err(Clone::clone)
        });
        Reading::new(path, self.explained(path, value))
    }

    /// The first bytes of a file, up to the last line that is complete: for files whose beginning is
    /// sufficient and whose rest is costly to read (`/proc/cpuinfo` queries every CPU).
    pub fn beginning(&self, path: &str, limit: usize) -> Reading<String> {
        let value = self.source.read(path, limit);
        self.note(path, EntryKind::File, || value.clone());
        let text = value.map(|mut bytes| {
            if bytes.len() >= limit {
                bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Reading::new(path, self.explained(path, text))
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Reading<Vec<u8>> {
        let value = self.source.read(path, MOST_BYTES);
        self.note(path, EntryKind::File, || value.clone());
        Reading::new(path, self.explained(path, value))
    }

    /// The value in a file.
    pub fn value<T: FromText>(&self, path: &str) -> Reading<T> {
        self.text(path).parsed()
    }

    /// The names in a directory, sorted.
    pub fn list(&self, path: &str) -> Reading<Vec<String>> {
        let value = match self.list_and_note(path) {
            // An empty mount point proves nothing either.
            Ok(names) if names.is_empty() && MOUNTS.contains(&path) => {
                Err(Why::NotMounted { at: path.to_owned() })
            }
            value => self.explained(path, value),
        };
        Reading::new(path, value)
    }

    /// The last component of a symbolic link's target, as in `/sys/devices/../driver`.
    pub fn link_name(&self, path: &str) -> Reading<String> {
        self.link_target(path).and_then(|target| Ok(target.rsplit('/').next().unwrap_or_default().to_owned()))
    }

    /// A symbolic link's target.
    pub fn link_target(&self, path: &str) -> Reading<String> {
        let value = self.source.link(path);
        self.note(path, EntryKind::Link, || value.clone().map(String::into_bytes));
        Reading::new(path, self.explained(path, value))
    }

    /// The permission bits of a file of this machine: the kernel clears the write bits of some.
    pub fn mode(&self, path: &str) -> Reading<u32> {
        Reading::new(path, self.explained(path, self.source.mode(path)))
    }

    /// The processes that have a file open. Their other open files are neither returned nor recorded.
    pub fn holders(&self, path: &str) -> Reading<Vec<i32>> {
        let value = self.source.holders(path);
        self.note(path, EntryKind::Holders, || {
            let lines = |pids: Vec<i32>| pids.iter().map(|pid| format!("{pid}\n")).collect::<String>();
            value.clone().map(|pids| lines(pids).into_bytes())
        });
        Reading::new("/proc/*/fd", value)
    }

    fn list_and_note(&self, path: &str) -> Result<Vec<String>, Why> {
        let value = self.source.list(path);
        self.note(path, EntryKind::Directory, || value.clone().map(|names| names.join("\n").into_bytes()));
        value
    }

    fn note(&self, path: &str, kind: EntryKind, value: impl FnOnce() -> Result<Vec<u8>, Why>) {
        if let Some(notes) = &self.notes {
            notes.borrow_mut().insert(path, kind, value());
        }
    }

    /// A missing file is only known to be absent if its file system is mounted.
    fn explained<T>(&self, path: &str, value: Result<T, Why>) -> Result<T, Why> {
        let Err(Why::Missing) = value else { return value };
        for mount in MOUNTS {
            let inside =
                path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if inside && path != mount {
                match self.is_mounted(mount) {
                    Ok(true) => return Err(Why::Missing),
                    Ok(false) => return Err(Why::NotMounted { at: mount.to_owned() }),
                    Err(why) => return Err(why),
                }
            }
        }
        Err(Why::Missing)
    }

    fn is_mounted(&self, mount: &'static str) -> Result<bool, Why> {
        if let Some(known) = self.mounted.borrow().get(mount) {
            return known.clone();
        }
        let found = match self.list_and_note(mount) {
            Ok(names) => Ok(!names.is_empty()),
            Err(Why::Missing) => Ok(false),
            Err(why) => Err(why),
        };
        self.mounted.borrow_mut().insert(mount, found.clone());
        found
    }
}

#[cfg(test)]
mod tests;
