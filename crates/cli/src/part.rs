//! A file that is there when it is complete, and not before.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;
use whylate_ftrace::dat::write::{check_output, keep_mode};

/// Written under another name in the same directory, renamed at the end, with the permissions of what it replaces.
/// It is gone when it is dropped, and
/// one made with [`of`](Part::of) also when SIGINT, SIGTERM or SIGHUP ends the run.
pub(crate) struct Part {
    file: NamedTempFile,
    target: PathBuf,
}

impl Part {
    /// For a file at `path`, where one may be and stays until the end.
    pub(crate) fn of(path: &Path) -> Result<Part> {
        // A signal that comes meanwhile waits for this, and so finds the file.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if unfinished.is_empty() {
            watch()?;
        }
        let part = Part::new(path)?;
        unfinished.push(part.file.path().to_owned());
        Ok(part)
    }

    /// The same for what is written at once: a signal finds its usual end.
    pub(crate) fn new(path: &Path) -> Result<Part> {
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
        Ok(Part { file, target })
    }

    /// The file to write.
    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The directory it is in.
    pub(crate) fn directory(&self) -> PathBuf {
        self.file.path().parent().unwrap_or(Path::new(".")).to_owned()
    }

    /// Gives it its name, and says how large it is.
    pub(crate) fn keep(self) -> Result<u64> {
        let cannot = || format!("cannot write {}", self.target.display());
        let bytes = self.file.as_file().metadata().with_context(cannot)?.len();
        self.file.persist(&self.target).map_err(|error| error.error).with_context(cannot)?;
        Ok(bytes)
    }
}

/// What is to go when a signal ends the run.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends the run at a signal, and unfinished files with it. It cannot wait for the run to notice: that may
/// be waiting for more of a pipe.
fn watch() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot install signal handlers")?;
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // It may have its name by now, and then stays.
                let _ = std::fs::remove_file(path);
            }
            std::process::exit(128 + signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).context("cannot start a thread")?;
    Ok(())
}
