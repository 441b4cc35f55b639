//! Files that appear complete, or not at all.

use crate::signals;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, Weak};
use whylate_sys::{OutputFile, OutputPart, OutputPlace};

/// The permissions of a new report, less the umask.
const MODE: u32 = 0o666;

/// Writes a file: its old content stays until the new one is complete. A device or a pipe takes the content as it comes.
/// Returns how many bytes the file has.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    write_as(path, MODE, content)
}

/// The same for what is the user's alone: a recording has addresses of the kernel, and what every program did.
pub(crate) fn write_private(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    write_as(path, whylate_ftrace::dat::write::MODE, content)
}

fn write_as(path: &Path, mode: u32, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    let cannot = || format!("cannot write {}", path.display());
    let place = OutputPlace::find(path)?;
    if place.is_stream() {
        let mut file = BufWriter::new(place.open_stream()?);
        content(&mut file).and_then(|()| Ok(file.flush()?)).with_context(cannot)?;
        return Ok(0);
    }
    let mut file = place.create(mode)?;
    let mut out = BufWriter::new(file.file());
    content(&mut out).and_then(|()| Ok(out.flush()?)).with_context(cannot)?;
    drop(out);
    Ok(file.keep()?)
}

/// Refuses a file that could not be written at the end, before the work for it begins.
pub(crate) fn check(path: &Path) -> Result<()> {
    let place = OutputPlace::find(path)?;
    if !place.is_stream() {
        place.create(MODE)?;
    }
    Ok(())
}

/// A file that takes long to write: it is also removed when a signal such as SIGINT ends the run.
pub(crate) struct AtomicFile(OutputFile);

impl AtomicFile {
    /// For a file at `path`; a new one has this mode, less the umask.
    pub(crate) fn interruptible(path: &Path, mode: u32) -> Result<AtomicFile> {
        // A signal that comes meanwhile waits for this, and so finds the file.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if unfinished.is_empty() {
            signals::clean_up_before_the_end(remove_unfinished)?;
        }
        let file = OutputFile::create(path, mode)?;
        unfinished.push(file.part());
        Ok(AtomicFile(file))
    }

    /// The file to write.
    pub(crate) fn file(&mut self) -> &mut File {
        self.0.file()
    }

    /// The directory that it is in.
    pub(crate) fn directory(&self) -> &Path {
        self.0.directory()
    }

    /// Renames it to its name; returns how many bytes it has.
    pub(crate) fn keep(self) -> Result<u64> {
        Ok(self.0.keep()?)
    }
}

/// The files to remove when a signal ends the run.
static UNFINISHED: Mutex<Vec<Weak<OutputPart>>> = Mutex::new(Vec::new());

fn remove_unfinished() {
    for part in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if let Some(part) = part.upgrade() {
            part.remove();
        }
    }
}
