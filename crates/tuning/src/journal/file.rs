//! A journal on its disk: each record is there before anything is done about it.

use super::{
    JournalEntry, JournalError, JournalRecord, PlannedAction, PlannedStep, SessionKind, Status, StoredState,
    Timestamp, line,
};
use crate::fault::FaultInjector;
use crate::{ApplyStep, Plan, StepAction, TargetState};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use whylate_bootloader::{FileState, LONGEST_FILE};

/// Room that is taken beforehand for a session's records: so much, and so much a step.
const ROOM: (u64, u64) = (16 << 10, 1 << 10);

/// One apply's journal, to be written on.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    file: File,
    length: u64,
    blobs: u64,
    faults: FaultInjector,
    entry: JournalEntry,
}

impl Journal {
    /// A new one, with its plan.
    pub(crate) fn create(
        parent: &Path,
        id: u64,
        plan: &Plan,
        faults: FaultInjector,
    ) -> Result<Journal, JournalError> {
        let directory = parent.join(id.to_string());
        let make = |path: &Path, mode: u32| {
            fs::DirBuilder::new()
                .mode(mode)
                .create(path)
                .map_err(|error| JournalError::io("make", path, error))
        };
        pass(&faults, &directory)?;
        make(&directory, 0o700)?;
        pass(&faults, &directory)?;
        make(&directory.join("blobs"), 0o700)?;
        let path = directory.join("plan.json");
        let text = serde_json::to_vec_pretty(plan)
            .map_err(|error| JournalError::io("write", &path, io::Error::other(error)))?;
        write_new(&path, &text, &faults)?;
        write_new(&directory.join("journal.jsonl"), b"", &faults)?;
        sync_directory(&directory)?;
        sync_directory(parent)?;
        pass(&faults, &directory)?;
        Journal::open(parent, id, faults)
    }

    /// One that is there, to go on with it; what is left of a record that was cut off is removed.
    pub(crate) fn open(parent: &Path, id: u64, faults: FaultInjector) -> Result<Journal, JournalError> {
        let (entry, length) = load(parent, id)?;
        let directory = parent.join(id.to_string());
        let path = directory.join("journal.jsonl");
        pass(&faults, &path)?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .or_else(|error| match error.kind() {
                // A rollback need not be written down: it works on a disk that has become read-only, too.
                io::ErrorKind::ReadOnlyFilesystem => File::open(&path).map_err(|_| error),
                _ => Err(error),
            })
            .and_then(|file| {
                if file.metadata()?.len() > length {
                    file.set_len(length)?;
                    file.sync_all()?;
                }
                Ok(file)
            })
            .map_err(|error| JournalError::io("write", &path, error))?;
        let blobs = numbers(&directory.join("blobs"))?.last().copied().unwrap_or(0);
        Ok(Journal { directory, file, length, blobs, faults, entry })
    }

    /// Its content up to now.
    pub fn entry(&self) -> &JournalEntry {
        &self.entry
    }

    /// Begins a session, with room for its records on the disk.
    ///
    /// # Errors
    /// If it cannot be written: then nothing must be done.
    pub fn begin(
        &mut self,
        kind: SessionKind,
        boot_id: Option<String>,
        at: Timestamp,
        steps: Vec<PlannedStep>,
    ) -> Result<(), JournalError> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let count = steps.len() as u64;
        let record = JournalRecord::Session { kind, boot_id, at, version, steps };
        let line = self.line(&record)?;
        // On a full disk a rollback has still to be possible: its records can be done without, an apply's cannot.
        if kind != SessionKind::Rollback {
            self.reserve(line.len() as u64 + ROOM.0 + ROOM.1 * count)?;
        }
        self.write(record, &line, true)
    }

    /// A plan's step as a record can hold it: its file is kept as a blob.
    ///
    /// # Errors
    /// If the blob cannot be written.
    pub fn planned(&mut self, step: &ApplyStep) -> Result<PlannedStep, JournalError> {
        let then = match &step.action {
            StepAction::Set(state) => PlannedAction::Set(self.keep(state)?),
            StepAction::Make(command) => PlannedAction::Make(command.clone()),
        };
        Ok(PlannedStep {
            target: step.target.clone(),
            then,
            notify: step.notify.clone(),
            settings: step.settings.clone(),
            optional: step.optional,
        })
    }

    /// Writes a record. With `at_once` it is on the disk when this returns; else with the next one that is.
    ///
    /// # Errors
    /// If it is not.
    pub fn append(&mut self, record: JournalRecord, at_once: bool) -> Result<(), JournalError> {
        let line = self.line(&record)?;
        self.write(record, &line, at_once)
    }

    /// The same; where it cannot be written the record counts in memory alone, and the reason is given back.
    pub(crate) fn append_or_note(&mut self, record: JournalRecord, at_once: bool) -> Option<JournalError> {
        let error = self.append(record.clone(), at_once).err()?;
        // It fits as the one before did: both are made by the same session.
        let _ = self.entry.take(record);
        Some(error)
    }

    /// A state as a record can hold it; a file's content is on the disk when this returns.
    ///
    /// # Errors
    /// If it is not.
    pub fn keep(&mut self, state: &TargetState) -> Result<StoredState, JournalError> {
        Ok(match state {
            TargetState::Absent => StoredState::Absent,
            TargetState::Value(value) => StoredState::Value { value: value.clone() },
            TargetState::Link { target } => StoredState::Link { target: target.clone() },
            &TargetState::Directory { mode, uid, gid } => StoredState::Directory { mode, uid, gid },
            TargetState::File(FileState { content, mode, uid, gid }) => {
                let directory = self.directory.join("blobs");
                let blob = self.blobs + 1;
                write_new(&directory.join(blob.to_string()), content, &self.faults)?;
                sync_directory(&directory)?;
                self.blobs = blob;
                StoredState::File { blob, length: content.len() as u64, mode: *mode, uid: *uid, gid: *gid }
            }
        })
    }

    /// The state that was kept.
    ///
    /// # Errors
    /// If its blob cannot be read, or is not whole.
    pub fn state(&self, kept: &StoredState) -> Result<TargetState, JournalError> {
        state(&self.directory, kept)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("journal.jsonl")
    }

    fn line(&self, record: &JournalRecord) -> Result<Vec<u8>, JournalError> {
        line::encode(record).map_err(|error| JournalError::io("write", self.path(), io::Error::other(error)))
    }

    fn write(&mut self, record: JournalRecord, line: &[u8], at_once: bool) -> Result<(), JournalError> {
        let path = self.path();
        pass(&self.faults, &path)?;
        if let Err(error) = self.file.write_all(line) {
            // Half a record, on a full disk: readers drop it, and the next record must not follow on its line.
            if self.faults.check().is_ok() {
                let _ = self.file.set_len(self.length);
            }
            // Of a file that could be opened for reading alone.
            let is_read_only = error.raw_os_error() == Some(Errno::BADF.raw_os_error());
            let error = if is_read_only { Errno::ROFS.into() } else { error };
            return Err(JournalError::io("write", path, error));
        }
        pass(&self.faults, &path)?;
        if at_once {
            self.file.sync_data().map_err(|error| JournalError::io("write", &path, error))?;
            pass(&self.faults, &path)?;
        }
        self.length += line.len() as u64;
        self.entry.take(record).map_err(|why| JournalError::Damaged { path, line: 0, why })
    }

    /// Takes room on the disk, so that no record after the first fails for want of it. A file system that cannot do
    /// so is no reason not to go on.
    fn reserve(&self, bytes: u64) -> Result<(), JournalError> {
        pass(&self.faults, &self.path())?;
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.length, bytes) {
            Err(error @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) => {
                Err(JournalError::io("write", self.path(), error))
            }
            _ => Ok(()),
        }
    }
}

/// What a journal has, and how many bytes of it are whole records.
///
/// Damage before a rollback that put everything back is of no account: nothing of the apply is in effect.
pub(crate) fn load(parent: &Path, id: u64) -> Result<(JournalEntry, u64), JournalError> {
    let directory = parent.join(id.to_string());
    if !directory.is_dir() {
        return Err(JournalError::NoSuch { id });
    }
    let plan = read(&directory.join("plan.json"))?;
    // One that is cut off belongs to an apply that never began.
    let plan = plan.and_then(|text| serde_json::from_slice(&text).ok());
    let path = directory.join("journal.jsonl");
    let text = read(&path)?.unwrap_or_default();
    let mut entry = JournalEntry { id, plan, ..JournalEntry::default() };
    let (mut whole, mut read_to) = (0, 0);
    // Lines that do not count, and why. What follows the last whole record was not acted upon, and is no damage.
    let (mut unread, mut damage) = (Vec::new(), Vec::new());
    let mut rollback = 0;
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        read_to += line.len() as u64;
        match line::decode(line) {
            Ok(record) => {
                if matches!(record, JournalRecord::Session { kind: SessionKind::Rollback, .. }) {
                    rollback = number;
                }
                damage.append(&mut unread);
                // After lines that cannot be read others may not fit.
                if let Err(why) = entry.take(record)
                    && damage.is_empty()
                {
                    damage.push((number, why));
                }
                whole = read_to;
            }
            Err(why) => unread.push((number, why)),
        }
    }
    // What is left of a first record that was cut off has no end of its line: this had one, and others may have followed it.
    if whole == 0
        && text.contains(&b'\n')
        && let Some((line, why)) = unread.into_iter().next()
    {
        return Err(JournalError::Damaged { path, line: line + 1, why });
    }
    let is_undone = entry.status() == Status::RolledBack
        && damage.last().is_none_or(|&(line, _): &(usize, String)| line <= rollback);
    match damage.into_iter().next() {
        Some((line, why)) if !is_undone => Err(JournalError::Damaged { path, line: line + 1, why }),
        _ => Ok((entry, whole)),
    }
}

/// The state that was kept, from a journal's directory.
pub(crate) fn state(directory: &Path, kept: &StoredState) -> Result<TargetState, JournalError> {
    Ok(match kept {
        StoredState::Absent => TargetState::Absent,
        StoredState::Value { value } => TargetState::Value(value.clone()),
        StoredState::Link { target } => TargetState::Link { target: target.clone() },
        &StoredState::Directory { mode, uid, gid } => TargetState::Directory { mode, uid, gid },
        &StoredState::File { blob, length, mode, uid, gid } => {
            let path = directory.join("blobs").join(blob.to_string());
            let content = read(&path)?.filter(|content| content.len() as u64 == length).ok_or_else(|| {
                JournalError::io("read", &path, io::Error::other("its length is not that of the saved file"))
            })?;
            TargetState::File(FileState { content, mode, uid, gid })
        }
    })
}

/// The numbers that name files in a directory, in order; none where there is no directory.
pub(crate) fn numbers(directory: &Path) -> Result<Vec<u64>, JournalError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io("read", directory, error)),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| JournalError::io("read", directory, error))?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Makes what is in a directory last.
pub(crate) fn sync_directory(path: &Path) -> Result<(), JournalError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| JournalError::io("write", path, error))
}

fn pass(faults: &FaultInjector, path: &Path) -> Result<(), JournalError> {
    faults.check().map_err(|error| JournalError::io("write", path, error))
}

/// Writes a file that is not there yet, and its bytes onto the disk.
fn write_new(path: &Path, bytes: &[u8], faults: &FaultInjector) -> Result<(), JournalError> {
    pass(faults, path)?;
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| JournalError::io("write", path, error))?;
    pass(faults, path)
}

/// The whole of a file; `None` where there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, JournalError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > LONGEST_FILE {
            true => Err(io::Error::other(format!("longer than {} MiB", LONGEST_FILE >> 20))),
            false => Ok(bytes),
        }
    };
    match read() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(JournalError::io("read", path, error)),
    }
}
