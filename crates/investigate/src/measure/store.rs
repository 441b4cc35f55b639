//! What a run writes to disk while it goes on: the windows of its spikes, each a trace.dat, and a journal.
//!
//! Files appear complete under their names or not at all, so what is there after a SIGKILL can be read. They are not
//! synced: that would have the run wait for the device, and only a machine that goes down could tell the difference.

use super::spike::Saved;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use whylate_probes::Spike;
use whylate_sys::{OutputError, OutputFile};

/// The journal's name in its directory.
pub const JOURNAL: &str = "run.json";
/// How many bytes of windows are on disk at most.
const MAX_BYTES: u64 = 256 << 20;

/// Why nothing can be kept in a directory.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not there and cannot be made, or cannot be written to.
    #[error("cannot keep the run in {}: give a directory that can be written to", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has the journal of another run.
    #[error("cannot keep the run in {}: it holds an earlier run ({JOURNAL}); give a new directory", path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },
}

/// A directory for one run.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    windows: Vec<Stored>,
    max_bytes: u64,
    /// How often something was not saved, and why the first time.
    failed: u64,
    failure: Option<String>,
    /// Windows that had to go for later ones.
    let_go: u64,
}

#[derive(Debug)]
struct Stored {
    spike: Spike,
    saved: Saved,
}

impl Store {
    /// Makes the directory where it is not there.
    ///
    /// # Errors
    /// [`StoreError`]: it cannot be written to, or has another run's journal.
    pub fn create(directory: &Path) -> Result<Store, StoreError> {
        let path = directory.to_owned();
        let made = std::fs::create_dir_all(directory).and_then(|()| directory.join(JOURNAL).try_exists());
        match made {
            Ok(false) => {}
            Ok(true) => return Err(StoreError::Taken { path }),
            Err(source) => return Err(StoreError::Directory { path, source }),
        }
        // That it can be written to is known by trying only.
        if let Err(source) = tempfile::tempfile_in(directory) {
            return Err(StoreError::Directory { path, source });
        }
        Ok(Store {
            directory: path,
            windows: Vec::new(),
            max_bytes: MAX_BYTES,
            failed: 0,
            failure: None,
            let_go: 0,
        })
    }

    /// The same with another bound on the bytes of all windows.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Store {
        Store { max_bytes, ..self }
    }

    /// Saves a spike's window. Where there is no room, windows of less late ones go first; its own is not saved where
    /// there is none less late. A window that is saved already is replaced, if there is room.
    pub fn save(&mut self, spike: &Spike, image: &[u8]) {
        let at = self.windows.iter().position(|stored| stored.spike == *spike);
        let earlier = at.map(|at| self.windows.swap_remove(at));
        if !self.save_new(spike, image) {
            self.windows.extend(earlier);
        }
    }

    fn save_new(&mut self, spike: &Spike, image: &[u8]) -> bool {
        let mut bytes: u64 = self.windows.iter().map(|stored| stored.saved.bytes).sum();
        let own = image.len() as u64;
        while bytes + own > self.max_bytes {
            let least = self.windows.iter().min_by_key(|stored| stored.spike.latency());
            let Some(least) = least.filter(|least| least.spike.latency() < spike.latency()) else {
                self.let_go += 1;
                return false;
            };
            let (least, freed) = (least.spike, least.saved.bytes);
            self.forget(&least);
            self.let_go += 1;
            bytes -= freed;
        }
        let name = format!(
            "cpu{}-{}us-at-{}.{:09}.dat",
            spike.cpu,
            spike.latency().0 / 1_000,
            spike.due.0 / 1_000_000_000,
            spike.due.0 % 1_000_000_000
        );
        let written = self.write(&name, image, whylate_ftrace::dat::write::MODE);
        if written {
            self.windows.push(Stored { spike: *spike, saved: Saved { name, bytes: own } });
        }
        written
    }

    /// Removes a spike's window, where it has one.
    pub fn forget(&mut self, spike: &Spike) {
        if let Some(at) = self.windows.iter().position(|stored| stored.spike == *spike) {
            let stored = self.windows.swap_remove(at);
            // A user may have taken it away already.
            let _ = std::fs::remove_file(self.directory.join(stored.saved.name));
        }
    }

    /// Replaces the journal.
    pub fn journal(&mut self, document: &[u8]) {
        self.write(JOURNAL, document, 0o666);
    }

    /// The file with a spike's window.
    pub fn saved(&self, spike: &Spike) -> Option<&Saved> {
        self.windows.iter().find(|stored| stored.spike == *spike).map(|stored| &stored.saved)
    }

    /// What went wrong, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(failure) = &self.failure {
            let times = match self.failed {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            };
            notes.push(format!("saving failed {times}; the first time: {failure}"));
        }
        if self.let_go > 0 {
            notes.push(format!(
                "the traces of {} less late wake-ups were not kept: all together may take {} MiB",
                self.let_go,
                self.max_bytes >> 20
            ));
        }
        notes
    }

    /// The first failure, until it is taken; a run reports it at once.
    pub fn first_failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn write(&mut self, name: &str, bytes: &[u8], mode: u32) -> bool {
        let path = self.directory.join(name);
        let write = || {
            let io = |source| OutputError::Io { path: path.clone(), source };
            let mut file = OutputFile::create(&path, mode)?;
            file.file().write_all(bytes).map_err(io)?;
            file.keep()
        };
        match write() {
            Ok(_) => true,
            Err(error) => {
                self.failed += 1;
                let why = match &error {
                    OutputError::Io { path, source } => format!("{}: {source}", path.display()),
                    error => error.to_string(),
                };
                self.failure.get_or_insert(why);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Cpu, Ns, Tid};

    fn spike(due: i64, latency: i64) -> Spike {
        Spike { cpu: Cpu(0), tid: Tid(1), due: Ns(due), woken: Ns(due + latency) }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn the_least_late_goes_first() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::create(place.path()).expect("a store").with_max_bytes(250);
        for (due, latency) in [(1, 30_000), (2, 10_000), (3, 20_000), (4, 5_000)] {
            store.save(&spike(due, latency), &[0; 100]);
        }
        assert_eq!(names(place.path()), ["cpu0-20us-at-0.000000003.dat", "cpu0-30us-at-0.000000001.dat"]);
        assert_eq!(store.saved(&spike(2, 10_000)), None);
        assert_eq!(store.notes().len(), 1, "{:?}", store.notes());
        store.forget(&spike(3, 20_000));
        assert_eq!(names(place.path()).len(), 1);
    }

    #[test]
    fn a_journal_is_replaced_and_no_other_runs() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("new/run");
        let mut store = Store::create(&path).expect("a store");
        store.journal(b"a longer first one");
        store.journal(b"second");
        assert_eq!(std::fs::read(path.join(JOURNAL)).expect("the journal"), b"second");
        assert_eq!(names(&path), [JOURNAL]);
        assert!(matches!(Store::create(&path), Err(StoreError::Taken { .. })));
        let file = place.path().join("file");
        std::fs::write(&file, "").expect("a file");
        assert!(matches!(Store::create(&file), Err(StoreError::Directory { .. })));
    }

    #[test]
    fn what_cannot_be_saved_is_said_once_and_the_run_goes_on() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("run");
        let mut store = Store::create(&path).expect("a store");
        std::fs::remove_dir(&path).expect("removed");
        (1..=3).for_each(|due| store.save(&spike(due, 10), &[0; 10]));
        store.journal(b"{}");
        let notes = store.notes();
        assert!(matches!(&notes[..], [note] if note.starts_with("saving failed 4 times")), "{notes:?}");
        std::fs::create_dir(&path).expect("there again");
        store.save(&spike(9, 10), &[0; 10]);
        assert_eq!(store.saved(&spike(9, 10)).map(|saved| saved.bytes), Some(10));
    }
}
