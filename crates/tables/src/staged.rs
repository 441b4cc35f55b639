//! The files of an import before they are in place: a locked directory, and the tables in it.

use crate::batch::Batch;
use crate::error::TablesError;
use crate::rows::Sink;
use crate::schema::{TABLES, Table};
use crate::staged_files::StagedFiles;
use crate::writer_thread::WriterThread;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed with its content, at the latest by the next import.
pub(crate) struct Guard {
    pub(crate) directory: PathBuf,
    _lock: File,
}

impl Guard {
    /// A directory of this process, locked.
    fn new(staging: &Path) -> Result<Guard, TablesError> {
        const ATTEMPTS: usize = 10;
        let mut failure = None;
        for _ in 0..ATTEMPTS {
            let number = IMPORTS.fetch_add(1, Ordering::Relaxed);
            let directory = staging.join(format!("{}-{number}", std::process::id()));
            // A killed process may have had the same id.
            let _ = fs::remove_dir_all(&directory);
            make_directories(&directory)?;
            let lock = File::create(directory.join("lock"));
            let locked = lock
                .and_then(|lock| Ok(flock(&lock, FlockOperation::NonBlockingLockExclusive).map(|()| lock)?));
            match locked {
                Ok(lock) if directory.exists() => return Ok(Guard { directory, _lock: lock }),
                // Another process took it for abandoned, before it was locked.
                Ok(_) => {}
                Err(error) => failure = Some(TablesError::Write { path: directory, error }),
            }
        }
        let error = io::Error::other("other imports remove each new directory");
        Err(failure.unwrap_or(TablesError::Write { path: staging.to_owned(), error }))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn make_directories(path: &Path) -> Result<(), TablesError> {
    fs::create_dir_all(path).map_err(|error| TablesError::Write { path: path.to_owned(), error })
}

static IMPORTS: AtomicU32 = AtomicU32::new(0);

/// The files of an import that are not in place yet. A table without rows has none.
pub(crate) struct Staged {
    // Fields are dropped in this order: the thread has ended before its directory is removed.
    writer: Writer,
    guard: Guard,
    waiting: Vec<Batch>,
    rows: u64,
}

/// Who writes the files.
enum Writer {
    /// This thread: an import of few rows ends without another.
    Own(StagedFiles),
    Thread(WriterThread),
}

/// The same, complete.
pub(crate) struct Complete {
    pub(crate) files: Vec<(&'static Table, PathBuf)>,
    pub(crate) rows: u64,
    pub(crate) guard: Guard,
}

impl Staged {
    pub(crate) fn new(staging: &Path) -> Result<Staged, TablesError> {
        let guard = Guard::new(staging)?;
        Ok(Staged {
            writer: Writer::Own(StagedFiles::new(guard.directory.clone())),
            guard,
            waiting: TABLES.iter().map(Batch::new).collect(),
            rows: 0,
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.guard.directory
    }

    /// Completes the files: they are on the disk then.
    pub(crate) fn finish(self) -> Result<Complete, TablesError> {
        let Staged { writer, guard, waiting, mut rows } = self;
        let mut files = match writer {
            Writer::Own(files) => files,
            Writer::Thread(thread) => thread
                .finish()
                .map_err(|error| TablesError::Write { path: guard.directory.clone(), error })?,
        };
        let mut complete = Vec::new();
        for (at, (table, batch)) in TABLES.iter().zip(&waiting).enumerate() {
            let path = files.path(table);
            rows += batch.rows() as u64;
            let written = files.write(at, batch).and_then(|()| files.finish(at));
            if written.map_err(|error| TablesError::Write { path: path.clone(), error })? {
                complete.push((table, path));
            }
        }
        Ok(Complete { files: complete, rows, guard })
    }
}

/// Rows of a group: what is held in memory.
const GROUP: usize = 1 << 16;

impl Sink for Staged {
    fn batch(&mut self, table: &str) -> &mut Batch {
        let at = TABLES.iter().position(|one| one.name == table).unwrap_or_default();
        &mut self.waiting[at]
    }

    fn relieve(&mut self) -> io::Result<()> {
        for (at, batch) in self.waiting.iter_mut().enumerate() {
            if batch.rows() < GROUP {
                continue;
            }
            let batch = batch.take();
            self.rows += batch.rows() as u64;
            if let Writer::Own(files) = &mut self.writer {
                self.writer = Writer::Thread(WriterThread::start(files.take())?);
            }
            if let Writer::Thread(thread) = &mut self.writer {
                thread.write(at, batch)?;
            }
        }
        Ok(())
    }
}
