//! The machine this runs on.

use super::source::{Source, why};
use crate::Why;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;

/// `/`.
pub(super) struct Live;

impl Source for Live {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why> {
        read(path, limit).map_err(|error| why(&error))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, Why> {
        names(fs::read_dir(path)).map_err(|error| why(&error))
    }

    fn link(&self, path: &str) -> Result<String, Why> {
        let target = fs::read_link(path).map_err(|error| why(&error))?;
        Ok(target.to_string_lossy().into_owned())
    }

    fn mode(&self, path: &str) -> Result<u32, Why> {
        let metadata = fs::metadata(path).map_err(|error| why(&error))?;
        Ok(metadata.permissions().mode() & 0o7777)
    }
}

/// Files of /proc and /sys have no size: they are read until they end.
fn read(path: &str, limit: usize) -> io::Result<Vec<u8>> {
    if path == "/dev/kmsg" {
        return messages(limit);
    }
    let mut file = File::open(path)?;
    // Most files of /sys are one number: one read, and one more that finds the end.
    let mut buffer = [0u8; 4096];
    let first = file.read(&mut buffer[..limit.min(4096)])?;
    let mut bytes = buffer[..first].to_vec();
    if path == "/dev/cpu_dma_latency" {
        // The file has no end: every read gives the same four bytes.
        return Ok(bytes);
    }
    if first > 0 && bytes.len() < limit {
        file.take((limit - first) as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Each read gives one message; after the last one it would wait (Documentation/ABI/testing/dev-kmsg).
fn messages(limit: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open("/dev/kmsg", flags, Mode::empty())?);
    let mut bytes = Vec::new();
    let mut message = [0u8; 8192];
    while bytes.len() < limit {
        match file.read(&mut message) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&message[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            // Overwritten while it was read: the next one is there.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(limit);
    Ok(bytes)
}

/// The names of a directory, sorted.
fn names(entries: io::Result<fs::ReadDir>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}
