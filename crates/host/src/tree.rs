//! Where files come from: this machine, a directory that holds a captured root, an archive, or memory.
//!
//! The readers above know none of these apart. Whatever they ask a tree for can be noted, successes and
//! failures alike; such notes are what an archive is made of, and what answers from an archive. So a
//! captured machine gives the same readings as the machine itself, down to why something could not be read.

mod archive;
mod capture;
mod directory;
mod live;
mod refused;
mod sos;

use crate::{FromText, HostError, Reading, Why};
pub use capture::Capture;
use capture::Kind;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// Files longer than this are none that a rule reads.
const MOST_BYTES: usize = 16 << 20;

/// What is mounted, or comes with the whole machine. Where the directory is empty or absent, that a file in
/// it is absent says nothing about the machine: a container hides it, or nobody mounted it. Inner ones first.
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

/// Answers for files. Paths are absolute and have no `..`.
trait Source {
    /// The first `limit` bytes of a file.
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why>;
    /// The names in a directory, sorted.
    fn list(&self, path: &str) -> Result<Vec<String>, Why>;
    /// Where a symbolic link leads, as it is written.
    fn link(&self, path: &str) -> Result<String, Why>;
    /// The permission bits of a file. A captured one has lost them.
    fn mode(&self, _path: &str) -> Result<u32, Why> {
        Err(Why::NotCollected)
    }
    /// The processes that have a file open, by id (proc_pid_fd(5)). One that is found is found, whatever else was
    /// refused; that there is none is known only where every process could be looked at.
    fn holders(&self, path: &str) -> Result<Vec<i32>, Why> {
        let mut pids: Vec<i32> = self.list("/proc")?.iter().filter_map(|name| name.parse().ok()).collect();
        pids.sort_unstable();
        let (mut holders, mut refused) = (Vec::new(), None);
        for pid in &pids {
            let directory = format!("/proc/{pid}/fd");
            match self.list(&directory) {
                Ok(numbers) => {
                    let leads = |number: &String| self.link(&format!("{directory}/{number}"));
                    if numbers.iter().any(|number| leads(number).is_ok_and(|target| target == path)) {
                        holders.push(*pid);
                    }
                }
                // It ended meanwhile.
                Err(Why::Missing) => {}
                Err(why) => refused = Some(why),
            }
        }
        match refused {
            Some(why) if holders.is_empty() => Err(why),
            _ if pids.is_empty() => Err(Why::NotCollected),
            _ => Ok(holders),
        }
    }
}

/// A machine's files.
pub struct Tree {
    source: Box<dyn Source>,
    /// What was asked for and what came, where it is to be kept.
    notes: Option<RefCell<Capture>>,
    mounted: RefCell<HashMap<&'static str, Result<bool, Why>>>,
}

impl Tree {
    fn of(source: impl Source + 'static) -> Tree {
        Tree { source: Box::new(source), notes: None, mounted: RefCell::default() }
    }

    /// The machine this runs on.
    pub fn live() -> Tree {
        Tree::of(live::Live)
    }

    /// What `path` holds: a directory with a captured root or an unpacked sosreport, or an archive of
    /// `whylate snapshot`, told apart by content. The directory `/` is this machine.
    ///
    /// A directory does not say whether a file that is not there was absent or merely not collected; such
    /// files are [`Why::NotCollected`]. An unpacked archive of ours says it in its manifest.
    ///
    /// # Errors
    /// If it cannot be opened, or is neither.
    pub fn open(path: &Path) -> Result<Tree, HostError> {
        if path == Path::new("/") {
            return Ok(Tree::live());
        }
        let metadata =
            std::fs::metadata(path).map_err(|error| HostError::Open { path: path.to_owned(), error })?;
        if !metadata.is_dir() {
            return Ok(Tree::of(archive::read(path)?));
        }
        let directory = directory::Directory::open(path)?;
        match archive::unpacked(path, &directory)? {
            Some(capture) => Ok(Tree::of(capture)),
            None if !directory.is_root() => Err(HostError::Foreign {
                path: path.to_owned(),
                reason: "it has neither proc nor sys nor etc".to_owned(),
            }),
            None => Ok(Tree::of(directory)),
        }
    }

    /// What a capture holds.
    pub fn captured(capture: Capture) -> Tree {
        Tree::of(capture)
    }

    /// A machine made of these files and nothing else: for tests.
    ///
    /// ```
    /// let tree = whylate_host::Tree::memory(&[("/proc/sys/vm/swappiness", "60\n")]);
    /// assert_eq!(tree.value::<u64>("/proc/sys/vm/swappiness").value, Ok(60));
    /// ```
    pub fn memory(files: &[(&str, &str)]) -> Tree {
        Tree::of(Capture::of_files(files))
    }

    /// A machine that refuses every file for one reason: for tests.
    pub fn refusing(why: Why) -> Tree {
        Tree::of(Capture::refusing(why))
    }

    /// The same machine, which now refuses one file: for tests.
    #[must_use]
    pub fn refused(self, path: &str, why: Why) -> Tree {
        Tree::of(refused::Refused { others: self.source, path: path.to_owned(), why })
    }

    /// Begins to note what is asked for and what comes.
    #[must_use]
    pub fn noting(mut self) -> Tree {
        self.notes = Some(RefCell::new(Capture::refusing(Why::NotCollected)));
        self
    }

    /// What was asked for since [`Tree::noting`], and what came.
    pub fn into_notes(self) -> Capture {
        self.notes.map(RefCell::into_inner).unwrap_or_else(|| Capture::refusing(Why::NotCollected))
    }

    /// The text of a file. What is no UTF-8 is replaced.
    pub fn text(&self, path: &str) -> Reading<String> {
        self.filtered(path, str::to_owned)
    }

    /// The text of a file after `filter`; the rest is neither seen nor noted. For files of which only
    /// a part is anybody's business.
    pub fn filtered(&self, path: &str, filter: impl FnOnce(&str) -> String) -> Reading<String> {
        let value = match self.source.read(path, MOST_BYTES + 1) {
            Ok(bytes) if bytes.len() > MOST_BYTES => {
                Err(Why::Io { error: format!("longer than {} MiB", MOST_BYTES >> 20) })
            }
            read => read.map(|bytes| filter(&String::from_utf8_lossy(&bytes))),
        };
        self.note(path, Kind::File, || {
            value.as_ref().map(|text| text.clone().into_bytes()).map_err(Clone::clone)
        });
        Reading::new(path, self.explained(path, value))
    }

    /// The first bytes of a file, up to the last line that is complete: for files whose beginning says enough
    /// and whose rest costs the machine something (`/proc/cpuinfo` asks every CPU).
    pub fn beginning(&self, path: &str, limit: usize) -> Reading<String> {
        let value = self.source.read(path, limit);
        self.note(path, Kind::File, || value.clone());
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
        self.note(path, Kind::File, || value.clone());
        Reading::new(path, self.explained(path, value))
    }

    /// The value in a file.
    pub fn value<T: FromText>(&self, path: &str) -> Reading<T> {
        self.text(path).parsed()
    }

    /// The names in a directory, sorted.
    pub fn list(&self, path: &str) -> Reading<Vec<String>> {
        let value = match self.list_and_note(path) {
            // Of a mount point that is empty nothing follows either.
            Ok(names) if names.is_empty() && MOUNTS.contains(&path) => {
                Err(Why::NotMounted { at: path.to_owned() })
            }
            value => self.explained(path, value),
        };
        Reading::new(path, value)
    }

    /// The last part of where a symbolic link leads: `/sys/devices/../driver` names its driver so.
    pub fn link_name(&self, path: &str) -> Reading<String> {
        let value = self.source.link(path);
        self.note(path, Kind::Link, || value.clone().map(String::into_bytes));
        let name = value.map(|target| target.rsplit('/').next().unwrap_or_default().to_owned());
        Reading::new(path, self.explained(path, name))
    }

    /// The permission bits of a file of this machine: of some the kernel says by them that nobody may write.
    pub fn mode(&self, path: &str) -> Reading<u32> {
        Reading::new(path, self.explained(path, self.source.mode(path)))
    }

    /// The processes that have a file open. What else they have open is neither seen nor noted.
    pub fn holders(&self, path: &str) -> Reading<Vec<i32>> {
        let value = self.source.holders(path);
        self.note(path, Kind::Holders, || {
            let lines = |pids: Vec<i32>| pids.iter().map(|pid| format!("{pid}\n")).collect::<String>();
            value.clone().map(|pids| lines(pids).into_bytes())
        });
        Reading::new("/proc/*/fd", value)
    }

    fn list_and_note(&self, path: &str) -> Result<Vec<String>, Why> {
        let value = self.source.list(path);
        self.note(path, Kind::Directory, || value.clone().map(|names| names.join("\n").into_bytes()));
        value
    }

    fn note(&self, path: &str, kind: Kind, value: impl FnOnce() -> Result<Vec<u8>, Why>) {
        if let Some(notes) = &self.notes {
            notes.borrow_mut().insert(path, kind, value());
        }
    }

    /// A file's absence means something only where its file system is there.
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

/// An I/O error in our words.
fn why(error: &io::Error) -> Why {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::Missing,
        io::ErrorKind::PermissionDenied => Why::Denied,
        _ => Why::Io { error: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
