//! What a watch keeps on disk: windows, each a trace.dat, and a journal. A new watch of the same directory goes on.
//!
//! Files appear complete under their names or not at all, so what is there after a SIGKILL can be read.

use super::groups::{GroupKey, LateGroups};
use super::report::KeptWindow;
use crate::flight::FileData;
use rustix::fs::FlockOperation;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use whylate_base::Ns;
use whylate_sys::{OutputError, OutputFile};

/// The journal's name in its directory.
pub const WATCH_FILE: &str = "watch.json";
/// What a running watch has locked.
const LOCK: &str = "watch.lock";
/// The most windows, however small.
const MOST_WINDOWS: usize = 1_000;
/// Where the disk is full, so many windows may go for a new one.
const MOST_ATTEMPTS: usize = 8;

/// Why nothing can be kept in a directory.
#[derive(Debug, thiserror::Error)]
pub enum WatchStoreError {
    /// It is not there and cannot be made, or cannot be written to.
    #[error("cannot keep windows in {}: give a directory that can be written to", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another watch keeps its windows there.
    #[error("cannot keep windows in {}: another watch runs with this directory (watch.lock); give another one", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// Its journal is not one.
    #[error("cannot go on in {}: its {WATCH_FILE} cannot be read ({why}); move it away, or give a new directory", path.display())]
    Journal {
        /// The directory.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A directory with the windows of a watch.
#[derive(Debug)]
pub struct WatchStore {
    directory: PathBuf,
    /// Held for as long as the watch runs.
    _lock: File,
    windows: Vec<KeptWindow>,
    max_bytes: u64,
    failed: u64,
    failure: Option<String>,
    let_go: u64,
}

impl WatchStore {
    /// Makes the directory where it is not there, and takes it for this watch alone.
    ///
    /// # Errors
    /// [`WatchStoreError`].
    pub fn open(directory: &Path, max_bytes: u64) -> Result<WatchStore, WatchStoreError> {
        let path = directory.to_owned();
        let lock = std::fs::create_dir_all(directory).and_then(|()| {
            let mut options = File::options();
            options.create(true).truncate(false).write(true).open(directory.join(LOCK))
        });
        let lock = lock.map_err(|source| WatchStoreError::Directory { path: path.clone(), source })?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(WatchStoreError::Busy { path }),
            Err(error) => return Err(WatchStoreError::Directory { path, source: error.into() }),
        }
        Ok(WatchStore {
            directory: path,
            _lock: lock,
            windows: Vec::new(),
            max_bytes,
            failed: 0,
            failure: None,
            let_go: 0,
        })
    }

    /// The journal of an earlier watch; `None`: there was none.
    ///
    /// # Errors
    /// [`WatchStoreError::Directory`] when it cannot be read.
    pub fn journal_text(&self) -> Result<Option<Vec<u8>>, WatchStoreError> {
        match std::fs::read(self.directory.join(WATCH_FILE)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WatchStoreError::Directory { path: self.directory.clone(), source }),
        }
    }

    /// Goes on with the windows of an earlier watch; those that the user took away are forgotten. Windows that its journal
    /// does not have, because it was killed, are kept as well.
    pub fn resume(&mut self, kept: Vec<KeptWindow>) {
        let size = |name: &str| std::fs::metadata(self.directory.join(name)).ok().map(|file| file.len());
        let there = |mut window: KeptWindow| {
            // A journal is a file like others: no name in it leads out of the directory.
            let is_name = Path::new(&window.name).components().count() == 1 && window.name.ends_with(ENDING);
            window.bytes = size(&window.name).filter(|_| is_name)?;
            Some(window)
        };
        self.windows = kept.into_iter().filter_map(there).collect();
        let known: HashSet<&str> = self.windows.iter().map(|window| window.name.as_str()).collect();
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let unknown: Vec<KeptWindow> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !known.contains(name.as_str()))
            .filter_map(|name| KeptWindow::of_name(&name, size(&name)?))
            .collect();
        self.windows.extend(unknown);
        self.windows.sort_by_key(|window| window.at);
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The windows that are there, the oldest first.
    pub fn windows(&self) -> &[KeptWindow] {
        &self.windows
    }

    /// Bytes of all windows.
    pub fn bytes(&self) -> u64 {
        self.windows.iter().map(|window| window.bytes).sum()
    }

    /// Saves a window. Where there is no room, the oldest of the commonest group goes first; the last of a group goes
    /// only where every group has but one.
    ///
    /// # Errors
    /// In a sentence, why it was not saved.
    pub fn save(
        &mut self,
        window: KeptWindow,
        image: &impl FileData,
        groups: &LateGroups,
    ) -> Result<(), String> {
        let least = image.least_bytes();
        let key = window.key();
        self.make_room(least, &key, groups)?;
        for _ in 0..MOST_ATTEMPTS {
            match self.write(&window.name, image, whylate_ftrace::dat::write::MODE) {
                Ok(bytes) => {
                    // With its head it has more than was known before.
                    if let Err(why) = self.make_room(bytes, &key, groups) {
                        let _ = std::fs::remove_file(self.directory.join(&window.name));
                        return Err(why);
                    }
                    self.windows.push(KeptWindow { bytes, ..window });
                    return Ok(());
                }
                Err((io::ErrorKind::StorageFull, why)) => {
                    if !self.evict(Some(&key), groups) {
                        return Err(self.fail(why));
                    }
                }
                Err((_, why)) => return Err(self.fail(why)),
            }
        }
        Err(self.fail("the disk is full".to_owned()))
    }

    /// Lets windows go until so many bytes more are within the bounds.
    fn make_room(&mut self, bytes: u64, key: &GroupKey, groups: &LateGroups) -> Result<(), String> {
        if bytes > self.max_bytes {
            self.let_go += 1;
            return Err(format!("the window alone has {bytes} bytes, more than --max-disk"));
        }
        while self.bytes() + bytes > self.max_bytes || self.windows.len() >= MOST_WINDOWS {
            if !self.evict(Some(key), groups) {
                return Err("there is no room for it (--max-disk)".to_owned());
            }
        }
        Ok(())
    }

    fn fail(&mut self, why: String) -> String {
        self.failed += 1;
        self.failure.get_or_insert_with(|| why.clone());
        why
    }

    /// Removes the oldest window of the group that has the most; false where there is none.
    fn evict(&mut self, coming: Option<&GroupKey>, groups: &LateGroups) -> bool {
        let mut counts: HashMap<GroupKey, u64> = HashMap::new();
        for window in &self.windows {
            *counts.entry(window.key()).or_default() += 1;
        }
        if let Some(coming) = coming {
            *counts.entry(coming.clone()).or_default() += 1;
        }
        let commonness = |window: &KeptWindow| {
            let key = window.key();
            (counts.get(&key).copied().unwrap_or(0), groups.count(&key))
        };
        let most = self.windows.iter().map(commonness).max();
        let Some(at) =
            most.and_then(|most| self.windows.iter().position(|window| commonness(window) == most))
        else {
            return false;
        };
        let gone = self.windows.remove(at);
        self.let_go += 1;
        // A user may have taken it away already.
        let _ = std::fs::remove_file(self.directory.join(gone.name));
        true
    }

    /// Replaces the journal. Where the disk is full, a window goes for it.
    pub fn journal(&mut self, document: &[u8], groups: &LateGroups) {
        for _ in 0..MOST_ATTEMPTS {
            match self.write(WATCH_FILE, &document, 0o666) {
                Ok(_) => return,
                Err((io::ErrorKind::StorageFull, why)) => {
                    if !self.evict(None, groups) {
                        self.fail(why);
                        return;
                    }
                }
                Err((_, why)) => {
                    self.fail(why);
                    return;
                }
            }
        }
        self.fail("the disk is full".to_owned());
    }

    /// What went wrong, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(failure) = &self.failure {
            let times = if self.failed == 1 { "once".to_owned() } else { format!("{} times", self.failed) };
            notes.push(format!("saving failed {times}; the first time: {failure}"));
        }
        if self.let_go > 0 {
            notes.push(format!(
                "{} windows of the commonest groups made room for others: all together may take {} MiB",
                self.let_go,
                self.max_bytes >> 20
            ));
        }
        notes
    }

    /// Writes a file whole, and returns its bytes.
    fn write(&self, name: &str, data: &impl FileData, mode: u32) -> Result<u64, (io::ErrorKind, String)> {
        let path = self.directory.join(name);
        let write = || {
            let io = |source| OutputError::Io { path: path.clone(), source };
            let mut file = OutputFile::create(&path, mode)?;
            data.write(file.file()).map_err(io)?;
            file.keep()
        };
        write().map_err(|error: OutputError| match &error {
            OutputError::Io { path, source } => (source.kind(), format!("{}: {source}", path.display())),
            other => (io::ErrorKind::Other, other.to_string()),
        })
    }
}

/// How the names of windows end.
const ENDING: &str = ".dat";

impl KeptWindow {
    pub(super) fn key(&self) -> GroupKey {
        GroupKey { thread: self.thread.clone(), cause: self.cause.clone(), culprit: self.culprit.clone() }
    }

    /// The name of a file: `ctl-3120us-at-1764000000.123456789.dat`.
    pub(super) fn file_name(thread: &str, response: Ns, at: Ns) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        let thread: String = thread.chars().map(plain).collect();
        let thread = thread.trim_start_matches('.');
        let (seconds, rest) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000);
        format!("{thread}-{}us-at-{seconds}.{rest:09}{ENDING}", response.0 / 1_000)
    }

    /// What a name shows of a window that no journal has.
    fn of_name(name: &str, bytes: u64) -> Option<KeptWindow> {
        let (rest, at) = name.strip_suffix(ENDING)?.rsplit_once("us-at-")?;
        let (thread, response) = rest.rsplit_once('-')?;
        let (seconds, nanoseconds) = at.split_once('.')?;
        let at = seconds
            .parse::<i64>()
            .ok()?
            .checked_mul(1_000_000_000)?
            .checked_add(nanoseconds.parse().ok()?)?;
        Some(KeptWindow {
            name: name.to_owned(),
            bytes,
            thread: thread.to_owned(),
            cause: UNKNOWN.to_owned(),
            culprit: None,
            at: Ns(at),
            response: Ns(response.parse::<i64>().ok()?.checked_mul(1_000)?),
            why: "the watch that kept it was killed: `whylate explain` shows its cause".to_owned(),
        })
    }
}

/// The cause of a window that no journal has.
const UNKNOWN: &str = "unexplained";

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cause: &str, at: i64) -> KeptWindow {
        KeptWindow {
            name: KeptWindow::file_name(&format!("c/{cause}"), Ns::from_ms(3), Ns(at)),
            bytes: 0,
            thread: "c".to_owned(),
            cause: cause.to_owned(),
            culprit: None,
            at: Ns(at),
            response: Ns::from_ms(3),
            why: String::new(),
        }
    }

    fn groups(causes: &[&str]) -> LateGroups {
        let mut groups = LateGroups::default();
        causes.iter().for_each(|cause| groups.add(window(cause, 0).key(), Ns(0), Ns(0), Ns(1)));
        groups
    }

    #[test]
    fn the_oldest_of_the_commonest_goes_and_the_rarest_stays() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = WatchStore::open(place.path(), 350).expect("a store");
        let groups = groups(&["irq", "irq", "irq", "lock"]);
        for (cause, at) in [("lock", 1), ("irq", 2), ("irq", 3), ("irq", 4), ("irq", 5)] {
            store.save(window(cause, at), &[0; 100], &groups).expect("saved");
        }
        let kept: Vec<(&str, i64)> =
            store.windows().iter().map(|window| (window.cause.as_str(), window.at.0)).collect();
        assert_eq!(kept, [("lock", 1), ("irq", 4), ("irq", 5)]);
        assert_eq!((store.bytes(), store.notes().len()), (300, 1));
        let files = std::fs::read_dir(place.path()).expect("a directory").count();
        assert_eq!(files, 4, "and the lock");
        assert!(store.save(window("irq", 6), &[0; 400], &groups).is_err());
    }

    #[test]
    fn a_new_watch_goes_on_and_two_at_once_do_not() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = WatchStore::open(place.path(), 1_000).expect("a store");
        assert!(matches!(WatchStore::open(place.path(), 1_000), Err(WatchStoreError::Busy { .. })));
        let groups = groups(&["irq"]);
        store.save(window("irq", 1), &[0; 100], &groups).expect("saved");
        store.save(window("irq", 2), &[0; 100], &groups).expect("saved");
        store.journal(b"{}", &groups);
        let mut listed = store.windows()[..1].to_vec();
        drop(store);
        let mut store = WatchStore::open(place.path(), 1_000).expect("a store");
        assert_eq!(store.journal_text().expect("read").as_deref(), Some(b"{}".as_slice()));
        listed.push(KeptWindow { name: "../../etc/passwd".into(), ..window("irq", 9) });
        listed.push(KeptWindow { name: "gone.dat".into(), ..window("irq", 9) });
        store.resume(listed);
        let kept: Vec<(&str, i64)> =
            store.windows().iter().map(|window| (window.cause.as_str(), window.at.0)).collect();
        assert_eq!(kept, [("irq", 1), (UNKNOWN, 2)], "what the journal lacks is there, too");
        assert_eq!(store.bytes(), 200);
    }

    #[test]
    fn what_cannot_be_saved_is_reported_and_the_watch_goes_on() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("kept");
        let mut store = WatchStore::open(&path, 1_000).expect("a store");
        std::fs::remove_dir_all(&path).expect("removed");
        let groups = groups(&[]);
        assert!(store.save(window("irq", 1), &[0; 10], &groups).is_err());
        store.journal(b"{}", &groups);
        assert!(store.notes()[0].starts_with("saving failed 2 times"), "{:?}", store.notes());
        std::fs::create_dir(&path).expect("there again");
        store.save(window("irq", 1), &[0; 10], &groups).expect("saved");
    }
}
