//! Where the journals are, and that one program at a time adds to them.

use crate::fault::FaultInjector;
use crate::journal::{self, Journal, JournalEntry, JournalError, StoredState};
use crate::{Plan, TargetState};
use rustix::fs::{FlockOperation, Mode, OFlags, ResolveFlags};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Below a machine's root.
const PARTS: [&str; 4] = ["var", "lib", "whylate", "tuning"];

/// A machine's journals.
#[derive(Clone, Debug)]
pub struct JournalStore {
    directory: PathBuf,
    faults: FaultInjector,
}

/// The right to change the machine, for as long as it is kept.
#[derive(Debug)]
pub struct StoreLock {
    file: File,
}

impl Drop for StoreLock {
    /// Said, not left to closing: a child that was just forked has the file open as well until it is executed, and with
    /// it the lock (flock(2)).
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl JournalStore {
    /// The journals of the machine with this root: `/`, or a directory that holds one. Links in such a directory lead
    /// within it.
    ///
    /// # Errors
    /// If the directory cannot be looked at.
    pub fn of(root: &Path) -> Result<JournalStore, JournalError> {
        JournalStore::open_with(root, FaultInjector::none())
    }

    /// The same with faults.
    ///
    /// # Errors
    /// As [`JournalStore::of`].
    #[cfg(feature = "fault-injection")]
    pub fn with_faults(root: &Path, faults: FaultInjector) -> Result<JournalStore, JournalError> {
        JournalStore::open_with(root, faults)
    }

    fn open_with(root: &Path, faults: FaultInjector) -> Result<JournalStore, JournalError> {
        let directory = match root == Path::new("/") {
            true => root.join(PARTS.iter().collect::<PathBuf>()),
            false => within(root).map_err(|error| JournalError::io("read", root, error))?,
        };
        Ok(JournalStore { directory, faults })
    }

    /// Takes the right to change the machine.
    ///
    /// # Errors
    /// If another program has it, or nothing can be written there.
    pub fn lock(&self, holder: &str) -> Result<StoreLock, JournalError> {
        self.take_lock(holder, FlockOperation::NonBlockingLockExclusive)
    }

    /// The same; waits for the program that has it.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn wait_for_lock(&self, holder: &str) -> Result<StoreLock, JournalError> {
        self.take_lock(holder, FlockOperation::LockExclusive)
    }

    fn take_lock(&self, holder: &str, operation: FlockOperation) -> Result<StoreLock, JournalError> {
        make_directories(&self.directory)?;
        let path = self.directory.join("lock");
        let cannot = |error: io::Error| JournalError::io("write", &path, error);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = match open {
            // A program that can open it can lock it: a rollback need not write to a disk that has become read-only.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                File::open(&path).map_err(|_| cannot(error))?
            }
            open => open.map_err(cannot)?,
        };
        match rustix::io::retry_on_intr(|| rustix::fs::flock(&file, operation)) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                let read = file.take(200).read_to_string(&mut holder);
                let known = read.is_ok() && !holder.trim().is_empty();
                let holder = if known { holder.trim().to_owned() } else { "it".to_owned() };
                return Err(JournalError::Locked { holder, path });
            }
            Err(error) => return Err(cannot(error.into())),
        }
        // Only for a program that finds it taken: that it cannot be written, on a full disk, is no reason to stop.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{holder}, process {}", std::process::id()));
        Ok(StoreLock { file })
    }

    /// The numbers of all journals, first to last.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn ids(&self) -> Result<Vec<u64>, JournalError> {
        journal::numbers(&self.directory)
    }

    /// The number that the next apply gets.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn next_id(&self) -> Result<u64, JournalError> {
        Ok(self.ids()?.last().map_or(1, |last| last.saturating_add(1)))
    }

    /// What a journal says.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn load(&self, id: u64) -> Result<JournalEntry, JournalError> {
        journal::load(&self.directory, id).map(|(entry, _)| entry)
    }

    /// What all journals say, first to last; of one that cannot be read, why not.
    ///
    /// # Errors
    /// If their directory cannot be read.
    pub fn all(&self) -> Result<Vec<Result<JournalEntry, JournalError>>, JournalError> {
        Ok(self.ids()?.into_iter().map(|id| self.load(id)).collect())
    }

    /// A new journal for a plan.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(&self, _lock: &StoreLock, plan: &Plan) -> Result<Journal, JournalError> {
        Journal::create(&self.directory, self.next_id()?, plan, self.faults.clone())
    }

    /// A journal to be gone on with.
    ///
    /// # Errors
    /// If there is none, or it cannot be read or written.
    pub fn open(&self, _lock: &StoreLock, id: u64) -> Result<Journal, JournalError> {
        Journal::open(&self.directory, id, self.faults.clone())
    }

    /// The state that a journal kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn state(&self, id: u64, kept: &StoredState) -> Result<TargetState, JournalError> {
        journal::state(&self.directory.join(id.to_string()), kept)
    }
}

/// The directory of the journals within a root, following links as that machine would.
fn within(root: &Path) -> io::Result<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, flags, Mode::empty())?;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let mut there = PARTS.len();
    loop {
        let (present, missing) = PARTS.split_at(there);
        let path = Path::new(".").join(present.iter().collect::<PathBuf>());
        match rustix::fs::openat2(&root, &path, flags, Mode::empty(), resolve) {
            Ok(fd) => {
                let real = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
                return Ok(real.join(missing.iter().collect::<PathBuf>()));
            }
            Err(rustix::io::Errno::NOENT) if there > 0 => there -= 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// The directory and those above it, each on the disk.
fn make_directories(path: &Path) -> Result<(), JournalError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_directories(parent)?;
    }
    match fs::create_dir(path) {
        Ok(()) => path.parent().map_or(Ok(()), journal::sync_directory),
        // Another program has made it just now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(JournalError::io("make", path, error)),
    }
}
