//! The identity of an input: a hash of its content.

use crate::error::TablesError;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use twox_hash::XxHash3_128;

/// 128 bits of the content. It tells files apart, not forgeries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(u128);

impl RunId {
    /// Of a file, or of all files of a directory with their names.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> Result<RunId, TablesError> {
        let mut hasher = XxHash3_128::new();
        take(path, &mut hasher)?;
        Ok(RunId(hasher.finish_128()))
    }

    /// Of bytes.
    pub fn of_bytes(bytes: &[u8]) -> RunId {
        RunId(XxHash3_128::oneshot(bytes))
    }

    /// A part of this input by its name, such as a measurement in a bundle.
    pub(crate) fn part(self, name: &str) -> RunId {
        let mut hasher = XxHash3_128::new();
        hasher.write(&self.0.to_le_bytes());
        hasher.write(name.as_bytes());
        RunId(hasher.finish_128())
    }
}

fn take(path: &Path, hasher: &mut XxHash3_128) -> Result<(), TablesError> {
    let cannot = |error| TablesError::Read { path: path.to_owned(), error };
    let metadata = path.metadata().map_err(cannot)?;
    if metadata.is_dir() {
        let entries = std::fs::read_dir(path).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut paths: Vec<_> = entries.map_err(cannot)?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            hasher.write(path.file_name().unwrap_or_default().as_encoded_bytes());
            hasher.write(&[0]);
            // A link may lead out of the directory, or nowhere.
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()) {
                take(&path, hasher)?;
            }
        }
        return Ok(());
    }
    if !metadata.is_file() {
        return Err(TablesError::NotAFile { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(cannot)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(cannot)?;
        if read == 0 {
            return Ok(());
        }
        hasher.write(&buffer[..read]);
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_makes_the_identity_and_no_name_does() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).expect("a file");
            RunId::of(&path).expect("read")
        };
        assert_eq!(write("a", "x"), write("b", "x"));
        assert_ne!(write("a", "x"), write("b", "y"));
        assert_eq!(write("a", "x"), RunId::of_bytes(b"x"));
        assert_ne!(RunId::of_bytes(b"x").part("m"), RunId::of_bytes(b"x").part("n"));
        assert_eq!(RunId::of_bytes(b"x").to_string().len(), 32);
    }
}
