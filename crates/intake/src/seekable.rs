//! Files that are read at any offset: as they lie on the disk, or spooled.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
pub(crate) use whylate_ftrace::dat::ReadAt;

/// An open file, with the size it had then.
pub(crate) struct RandomFile {
    file: File,
    size: u64,
}

impl RandomFile {
    pub(crate) fn new(file: File) -> io::Result<RandomFile> {
        Ok(RandomFile { size: file.metadata()?.len(), file })
    }
}

impl ReadAt for RandomFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, buffer, offset)
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// Reads until the buffer is full or the bytes end.
pub(crate) fn read_full(source: &dyn ReadAt, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match source.read_at(rest, offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
