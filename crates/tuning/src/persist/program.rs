//! The program that the units run. As root at every boot: so it must be where only root can change it, and
//! where it stays. One that is run from a home or build directory is copied.

use super::error::PersistError;
use super::names::PROGRAM_COPY;
use crate::{System, Target, TargetState};
use std::path::Path;
use whylate_bootloader::{StagedEdits, parent};

/// Where programs are installed for all.
const INSTALLED: [&str; 6] = ["/usr/", "/opt/", "/bin/", "/sbin/", "/nix/store/", "/gnu/store/"];

/// The path for `ExecStart=`.
pub(super) fn place(
    staged: &mut StagedEdits<'_>,
    system: &dyn System,
    program: &Path,
) -> Result<String, PersistError> {
    if let Some(path) = program.to_str().filter(|path| is_fit(system, path)) {
        return Ok(path.to_owned());
    }
    // The running one, though its file may have been replaced or removed since.
    let running = Path::new("/proc/self/exe");
    let from = if std::env::current_exe().is_ok_and(|own| own == program) { running } else { program };
    let content = std::fs::read(from).map_err(|error| PersistError::NoProgram {
        path: program.display().to_string(),
        why: error.to_string(),
    })?;
    staged.write_bytes(PROGRAM_COPY, content, 0o755)?;
    Ok(PROGRAM_COPY.to_owned())
}

/// Whether a program may be run by root at every boot: installed, and for root alone to change, as are all
/// directories above it.
fn is_fit(system: &dyn System, path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    if !INSTALLED.iter().any(|prefix| path.starts_with(prefix)) || !path.chars().all(plain) {
        return false;
    }
    let for_root = |uid: u32, mode: u32| uid == 0 && mode & 0o022 == 0;
    let file = system.read(&Target::File { path: path.to_owned() });
    if !matches!(file, Ok(TargetState::File(file)) if for_root(file.uid, file.mode) && file.mode & 0o100 != 0)
    {
        return false;
    }
    let mut directory = parent(path);
    while directory != "/" {
        match system.read(&Target::Directory { path: directory.to_owned() }) {
            Ok(TargetState::Directory { mode, uid, .. }) if for_root(uid, mode) => {}
            _ => return false,
        }
        directory = parent(directory);
    }
    true
}
