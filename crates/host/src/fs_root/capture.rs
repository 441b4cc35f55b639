//! Recorded reads of a machine: files, lists of names, links, and failures.

use super::source::Source;
use crate::Why;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of read at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryKind {
    File,
    Directory,
    Link,
    /// The ids of the processes that have the file open.
    Holders,
}

/// The captured files of a machine, each with its content or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The content of a directory is its names, of holders their ids, line by line.
    entries: BTreeMap<(String, EntryKind), Result<Vec<u8>, Why>>,
    /// Why there is nothing else.
    others: Why,
}

impl Capture {
    /// Nothing at all, for this reason.
    pub(super) fn refusing(others: Why) -> Capture {
        Capture { entries: BTreeMap::new(), others }
    }

    /// These files and the directories they are in; nothing else exists.
    pub(super) fn of_files(files: &[(&str, &str)]) -> Capture {
        let mut capture = Capture::refusing(Why::Missing);
        let mut directories: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut holders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, text) in files {
            capture.insert(path, EntryKind::File, Ok(text.as_bytes().to_vec()));
            // A link in /proc/PID/fd: the text is its target.
            if let Some((pid, _)) = path.strip_prefix("/proc/").and_then(|rest| rest.split_once("/fd/")) {
                holders.entry(text).or_default().insert(pid);
            }
            let mut path = *path;
            while let Some((directory, name)) = path.rsplit_once('/') {
                directories.entry(directory).or_default().insert(name);
                path = directory;
            }
        }
        for (directory, names) in directories {
            let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
            let directory = if directory.is_empty() { "/" } else { directory };
            capture.insert(directory, EntryKind::Directory, Ok(names.join("\n").into_bytes()));
        }
        for (path, pids) in holders {
            let pids: Vec<&str> = pids.into_iter().collect();
            capture.insert(path, EntryKind::Holders, Ok(pids.join("\n").into_bytes()));
        }
        capture
    }

    pub(super) fn insert(&mut self, path: &str, kind: EntryKind, value: Result<Vec<u8>, Why>) {
        self.entries.insert((path.to_owned(), kind), value);
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, EntryKind, &Result<Vec<u8>, Why>)> {
        self.entries.iter().map(|((path, kind), value)| (path.as_str(), *kind, value))
    }

    /// Every path that was read, with the number of bytes or the failure.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Result<usize, &Why>)> {
        self.entries().map(|(path, _, value)| (path, value.as_ref().map(Vec::len)))
    }

    /// The same, every text changed by `change`.
    #[must_use]
    pub fn changed(mut self, change: impl Fn(&str) -> String) -> Capture {
        for ((_, kind), value) in &mut self.entries {
            // A file that is not text is the compressed kernel configuration.
            if let (EntryKind::File, Ok(bytes)) = (kind, value)
                && let Ok(text) = std::str::from_utf8(bytes)
            {
                *bytes = change(text).into_bytes();
            }
        }
        self
    }

    fn get(&self, path: &str, kind: EntryKind) -> Result<&Vec<u8>, Why> {
        match self.entries.get(&(path.to_owned(), kind)) {
            Some(value) => value.as_ref().map_err(Clone::clone),
            None => Err(self.others.clone()),
        }
    }
}

impl Source for Capture {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why> {
        let bytes = self.get(path, EntryKind::File)?;
        Ok(bytes[..bytes.len().min(limit)].to_vec())
    }

    fn list(&self, path: &str) -> Result<Vec<String>, Why> {
        let names = self.get(path, EntryKind::Directory)?;
        Ok(String::from_utf8_lossy(names).lines().map(str::to_owned).collect())
    }

    fn link(&self, path: &str) -> Result<String, Why> {
        let target = self.get(path, EntryKind::Link)?;
        Ok(String::from_utf8_lossy(target).into_owned())
    }

    fn holders(&self, path: &str) -> Result<Vec<i32>, Why> {
        let pids = self.get(path, EntryKind::Holders)?;
        Ok(String::from_utf8_lossy(pids).lines().filter_map(|pid| pid.parse().ok()).collect())
    }
}
