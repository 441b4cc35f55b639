//! Reads and writes tracefs's text files.

use super::TracefsError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// Reads a file of tracefs. Some (`header_page`) give their text to the first read only
/// and cut it to what that asked for, so small first reads, as those of
/// `fs::read_to_string`, get a part.
pub(super) fn read(path: &Path) -> Result<String, TracefsError> {
    read_whole(path).map_err(|e| TracefsError::io("read", path, e))
}

fn read_whole(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut chunk = vec![0; 64 << 10];
    let mut bytes = Vec::new();
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => bytes.extend(chunk.iter().take(n)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a file of tracefs, in one call.
pub(super) fn write(path: &Path, value: &str) -> Result<(), TracefsError> {
    // Truncating matters for set_event_pid, where it is what empties the list.
    let file = OpenOptions::new().write(true).truncate(true).open(path);
    let mut file = file.map_err(|e| TracefsError::io("write", path, e))?;
    file.write_all(value.as_bytes()).map_err(|e| TracefsError::write(value, path, e))
}
