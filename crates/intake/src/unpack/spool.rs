//! A stream that needs random access, kept in an unlinked temporary file: nothing is left of it, even if this
//! process is killed.

use crate::error::OpenError;
use crate::seekable::{RandomFile, ReadAt};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Left free on the disk for other programs.
const RESERVE: u64 = 256 << 20;
/// How often the free space is checked.
const LOOK_EVERY: u64 = 16 << 20;

/// Where large temporary files go: `$TMPDIR`, else `/var/tmp`, since `/tmp` may be memory
/// (file-hierarchy(7)).
fn directory() -> PathBuf {
    let asked = std::env::var_os("TMPDIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let usual = || Some(PathBuf::from("/var/tmp")).filter(|path| path.is_dir());
    asked.or_else(usual).unwrap_or_else(std::env::temp_dir)
}

/// Keeps all of `stream`; errors use `name` for it.
pub(crate) fn spool(stream: &mut dyn Read, name: &str) -> Result<Arc<dyn ReadAt>, OpenError> {
    let mut spool = Spool::new(name)?;
    spool.take(stream)?;
    spool.finish()
}

/// A temporary file that is being filled.
pub(crate) struct Spool {
    file: File,
    name: String,
    directory: PathBuf,
    pub(crate) written: u64,
    look_at: u64,
    free: fn(&File) -> u64,
}

/// How much a user may still write to the file's disk.
fn free(file: &File) -> u64 {
    // Where the system does not report it, a write to a full disk fails.
    rustix::fs::fstatvfs(file).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

impl Spool {
    /// An empty one; errors use `name` for it.
    pub(crate) fn new(name: &str) -> Result<Spool, OpenError> {
        let directory = directory();
        let name = name.to_owned();
        match tempfile::tempfile_in(&directory) {
            Ok(file) => Ok(Spool { file, name, directory, written: 0, look_at: 0, free }),
            Err(source) => Err(OpenError::Spool { name, directory, source }),
        }
    }

    /// Adds all of `stream`.
    pub(crate) fn take(&mut self, stream: &mut dyn Read) -> Result<(), OpenError> {
        let mut buffer = vec![0; 256 << 10];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => self.write(buffer.get(..count).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(OpenError::Io { name: self.name.clone(), source }),
            }
        }
    }

    /// Adds some bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), OpenError> {
        if self.written >= self.look_at {
            if (self.free)(&self.file) < RESERVE {
                return Err(self.full());
            }
            self.look_at = self.written + LOOK_EVERY;
        }
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.written += bytes.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(self.full()),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn full(&self) -> OpenError {
        let (name, directory) = (self.name.clone(), self.directory.clone());
        OpenError::SpoolFull { name, directory, bytes: self.written }
    }

    fn failed(&self, source: io::Error) -> OpenError {
        OpenError::Spool { name: self.name.clone(), directory: self.directory.clone(), source }
    }

    /// What it holds, to be read from its beginning.
    pub(crate) fn rewound(self) -> Result<File, OpenError> {
        let mut file = self.file.try_clone().map_err(|source| self.failed(source))?;
        file.rewind().map_err(|source| self.failed(source))?;
        Ok(file)
    }

    /// What it holds, to be read at any offset.
    pub(crate) fn finish(self) -> Result<Arc<dyn ReadAt>, OpenError> {
        let file = self.file.try_clone().and_then(RandomFile::new).map_err(|source| self.failed(source))?;
        Ok(Arc::new(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_fill_the_disk_is_refused_in_time() {
        let mut spool = Spool::new("a bomb").unwrap_or_else(|error| panic!("{error}"));
        spool.free = |file| (RESERVE + (40 << 20)).saturating_sub(file.metadata().map_or(0, |m| m.len()));
        let error = spool.take(&mut io::repeat(7)).err();
        let Some(OpenError::SpoolFull { bytes, .. }) = error else { panic!("{error:?}") };
        assert!((40 << 20..=(40 << 20) + LOOK_EVERY).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_fits_is_there_to_be_read() {
        let content: Vec<u8> = (0..700_000u32).map(|n| (n % 251) as u8).collect();
        let spooled = spool(&mut &content[..], "it").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spooled.size(), content.len() as u64);
        let mut some = [0; 10];
        assert_eq!(crate::seekable::read_full(&*spooled, &mut some, 699_995).expect("read"), 5);
        assert_eq!(some[..5], content[699_995..]);
    }
}
