//! A file whose code is to be probed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The whole path of a program or library that the kernel takes for a probe; else the reason why it does not.
pub(crate) fn checked(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    })?;
    let mut magic = [0; 4];
    let read = File::open(&path).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_err() || magic != *b"\x7fELF" {
        return Err("it is no ELF program or library, or cannot be read".to_owned());
    }
    if path.to_string_lossy().contains(char::is_whitespace) {
        return Err("the kernel takes no path with a blank for a probe: use a link to it".to_owned());
    }
    Ok(path)
}
