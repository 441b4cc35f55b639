//! Positioned reads, so that each CPU's reader goes through the file on its own.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that can be read at any offset by several readers at once: a file, or memory.
pub trait ReadAt: Send + Sync {
    /// Reads some bytes at `offset`; 0 at the end. See `pread(2)`.
    ///
    /// # Errors
    /// The system's error; the caller knows the file's name.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// How many bytes there are.
    fn size(&self) -> u64;
}

/// Reads until the buffer is full or the bytes end.
pub(super) fn read_full(source: &dyn ReadAt, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match source.read_at(&mut buffer[done..], offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// An open file, with the size it had then.
pub(super) struct FileSource {
    file: File,
    size: u64,
}

impl FileSource {
    pub(super) fn new(file: File) -> io::Result<FileSource> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(FileSource { size: metadata.len(), file })
    }
}

impl ReadAt for FileSource {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, buffer, offset)
    }

    fn size(&self) -> u64 {
        self.size
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn size(&self) -> u64 {
        self.len() as u64
    }
}
