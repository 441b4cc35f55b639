//! Reads tracefs's text files.

use super::TracefsError;
use std::fs::File;
use std::io::{self, Read};
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
