//! Files that appear complete, or not at all.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;
use whylate_ftrace::dat::write::{check_output, keep_mode};

/// Writes a file: its old content stays until the new one is complete. A device or a pipe takes the content as it comes.
/// Returns how many bytes the file has.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    let cannot = || format!("cannot write {}", path.display());
    if is_device(path) {
        let mut file = BufWriter::new(File::options().write(true).open(path).with_context(cannot)?);
        content(&mut file).and_then(|()| Ok(file.flush()?)).with_context(cannot)?;
        return Ok(0);
    }
    let mut file = AtomicFile::new(path)?;
    let mut out = BufWriter::new(file.file());
    content(&mut out).and_then(|()| Ok(out.flush()?)).with_context(cannot)?;
    drop(out);
    file.keep()
}

/// Refuses a file that could not be written at the end, before the work for it begins.
pub(crate) fn check(path: &Path) -> Result<()> {
    if !is_device(path) {
        check_output(path)?;
    }
    Ok(())
}

/// A device or a pipe cannot be renamed into place.
fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// A file with another name in the same directory, renamed at the end, with the permissions of the file that it replaces.
/// It is removed when it is dropped; one of [`interruptible`](AtomicFile::interruptible) also when SIGINT, SIGTERM or
/// SIGHUP ends the run.
pub(crate) struct AtomicFile {
    file: NamedTempFile,
    target: PathBuf,
}

impl AtomicFile {
    /// For a file at `path` that takes long to write.
    pub(crate) fn interruptible(path: &Path) -> Result<AtomicFile> {
        // A signal that comes meanwhile waits for this, and so finds the file.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if unfinished.is_empty() {
            watch()?;
        }
        let file = AtomicFile::new(path)?;
        unfinished.push(file.file.path().to_owned());
        Ok(file)
    }

    /// For a file that is written at once: a signal has its usual effect.
    fn new(path: &Path) -> Result<AtomicFile> {
        let directory = check_output(path)?;
        let cannot = || format!("cannot write {}", path.display());
        // The umask still applies, as for any file a program makes.
        let permissions = std::fs::Permissions::from_mode(0o666);
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".whylate-").suffix(".part").permissions(permissions);
        let file = builder.tempfile_in(directory).with_context(cannot)?;
        keep_mode(file.as_file(), path).with_context(cannot)?;
        // A link is written through.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(AtomicFile { file, target })
    }

    /// The file to write.
    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The directory that it is in.
    pub(crate) fn directory(&self) -> PathBuf {
        self.file.path().parent().unwrap_or(Path::new(".")).to_owned()
    }

    /// Renames it to its name; returns how many bytes it has.
    pub(crate) fn keep(self) -> Result<u64> {
        let cannot = || format!("cannot write {}", self.target.display());
        let bytes = self.file.as_file().metadata().with_context(cannot)?.len();
        self.file.persist(&self.target).map_err(|error| error.error).with_context(cannot)?;
        Ok(bytes)
    }
}

/// The files to remove when a signal ends the run.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the run at a signal, and removes unfinished files. The run itself may wait for more of a pipe, and so cannot do it.
fn watch() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot install signal handlers")?;
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // A file that has its name by now stays.
                let _ = std::fs::remove_file(path);
            }
            std::process::exit(128 + signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).context("cannot start a thread")?;
    Ok(())
}
