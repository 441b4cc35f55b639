//! Where the journals are, and that one program at a time adds to them.
//!
//! What is in them is written to the machine by a rollback, as root: so the directory is this user's alone. With the
//! right to read the lock another user could hold it (flock(2)), and nothing would be undone any more.

use crate::fault::FaultInjector;
use crate::journal::{self, Journal, JournalEntry, JournalError, StoredState};
use crate::{Plan, TargetState};
use rustix::fs::{FlockOperation, Mode, OFlags, ResolveFlags};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Below a machine's root.
const PARTS: [&str; 4] = ["var", "lib", "whylate", "tuning"];
/// How often a lock is tried that another program has.
const LOCK_PACE: Duration = Duration::from_millis(100);

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

/// The journals of a machine.
#[derive(Debug, Default)]
pub struct ReadableJournals {
    /// Those that can be read, first to last.
    pub entries: Vec<JournalEntry>,
    /// The numbers of the others, and why not.
    pub unreadable: Vec<(u64, JournalError)>,
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
    /// If another program has it, nothing can be written there, or another user can ([`JournalError::Unsafe`]).
    pub fn lock(&self, holder: &str) -> Result<StoreLock, JournalError> {
        self.take_lock(holder, FlockOperation::NonBlockingLockExclusive)
    }

    /// The same; waits so long at most for the program that has it.
    ///
    /// # Errors
    /// As [`JournalStore::lock`].
    pub fn lock_within(&self, holder: &str, limit: Duration) -> Result<StoreLock, JournalError> {
        let begun = Instant::now();
        loop {
            match self.lock(holder) {
                Err(JournalError::Locked { .. }) if begun.elapsed() < limit => {
                    std::thread::sleep(LOCK_PACE.min(limit));
                }
                result => return result,
            }
        }
    }

    /// The same; waits for the program that has it.
    ///
    /// # Errors
    /// If nothing can be written there, or another user can.
    pub fn wait_for_lock(&self, holder: &str) -> Result<StoreLock, JournalError> {
        self.take_lock(holder, FlockOperation::LockExclusive)
    }

    fn take_lock(&self, holder: &str, operation: FlockOperation) -> Result<StoreLock, JournalError> {
        make_directories(&self.directory)?;
        self.check_owner()?;
        // Closed to other users' eyes; on a read-only disk it stays as it is.
        let _ = fs::set_permissions(&self.directory, Permissions::from_mode(0o700));
        let path = self.directory.join("lock");
        let cannot = |error: io::Error| JournalError::io("write", &path, error);
        let nofollow = OFlags::NOFOLLOW.bits().cast_signed();
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(nofollow)
            .open(&path);
        let mut file = match open {
            // A program that can open it can lock it: a rollback need not write to a disk that has become read-only.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                File::open(&path).map_err(|_| cannot(error))?
            }
            open => open.map_err(cannot)?,
        };
        // One of an earlier version may be readable; on a read-only disk it stays so.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
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

    /// Refuses a directory that another user owns or can write to: it could say anything of the machine. One that is
    /// not there passes.
    fn check_owner(&self) -> Result<(), JournalError> {
        let user = rustix::process::geteuid().as_raw();
        for path in [self.directory.parent(), Some(&*self.directory)].into_iter().flatten() {
            let there = match fs::metadata(path) {
                Ok(there) => there,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(JournalError::io("read", path, error)),
            };
            let why = if ![0, user].contains(&there.uid()) {
                format!("it belongs to user {}", there.uid())
            } else if there.mode() & 0o022 != 0 {
                format!("other users may write to it (mode {:04o})", there.mode() & 0o7777)
            } else {
                continue;
            };
            return Err(JournalError::Unsafe { path: path.to_owned(), why });
        }
        Ok(())
    }

    /// The numbers of all journals, first to last.
    ///
    /// # Errors
    /// If the directory cannot be read, or another user can write to it ([`JournalError::Unsafe`]).
    pub fn ids(&self) -> Result<Vec<u64>, JournalError> {
        self.check_owner()?;
        journal::numbers(&self.directory)
    }

    /// The number that the next apply gets.
    ///
    /// # Errors
    /// As [`JournalStore::ids`].
    pub fn next_id(&self) -> Result<u64, JournalError> {
        Ok(self.ids()?.last().map_or(1, |last| last.saturating_add(1)))
    }

    /// What a journal has.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn load(&self, id: u64) -> Result<JournalEntry, JournalError> {
        journal::load(&self.directory, id).map(|(entry, _)| entry)
    }

    /// What the journals state, first to last, and why not where one cannot be read: that one must not keep the others
    /// from being acted upon.
    ///
    /// # Errors
    /// As [`JournalStore::ids`].
    pub fn readable(&self) -> Result<ReadableJournals, JournalError> {
        let mut journals = ReadableJournals::default();
        for id in self.ids()? {
            match self.load(id) {
                Ok(entry) => journals.entries.push(entry),
                Err(error) => journals.unreadable.push((id, error)),
            }
        }
        Ok(journals)
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
                // Made by its path, what a link leads to would be the running machine's.
                if let [link, ..] = missing
                    && rustix::fs::readlinkat(&fd, *link, Vec::new()).is_ok()
                {
                    let at = path.display();
                    let why = format!(
                        "{link} in {at} is a link to what is not there within it: make that directory first"
                    );
                    return Err(io::Error::new(io::ErrorKind::NotFound, why));
                }
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
    // The umask may allow more than is good for a directory of root's.
    match DirBuilder::new().mode(0o755).create(path) {
        Ok(()) => path.parent().map_or(Ok(()), journal::sync_directory),
        // Another program has made it just now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(JournalError::io("make", path, error)),
    }
}
