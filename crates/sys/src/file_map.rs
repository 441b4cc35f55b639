//! A read-only mapping of a file, for touching its pages.

use crate::SysError;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::os::fd::AsFd;

/// The first bytes of a file, mapped shared and read-only; unmapped when dropped.
///
/// The file may change underneath, so its content is only given out byte by byte.
#[derive(Debug)]
pub struct FileMap {
    start: *mut c_void,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read.
unsafe impl Send for FileMap {}

impl FileMap {
    /// Maps the first `length` bytes of `file`. No page is touched.
    ///
    /// Reading beyond the end of the file raises SIGBUS: `length` must not exceed its size.
    ///
    /// # Errors
    /// `EINVAL` for a length of zero, `EACCES` when the file is not open for reading,
    /// `ENODEV` when it cannot be mapped.
    ///
    /// [`mmap(2)`](https://man7.org/linux/man-pages/man2/mmap.2.html)
    pub fn new(file: impl AsFd, length: usize) -> Result<FileMap, SysError> {
        // SAFETY: the kernel chooses a free address (the hint is null, without MAP_FIXED).
        let start = unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, 0) };
        start
            .map(|start| FileMap { start, length })
            .map_err(|errno| SysError::new("mmap", format!("{length} bytes of a file"), errno.raw_os_error()))
    }

    /// The byte at `offset`, read from memory now; None beyond the mapping.
    pub fn read(&self, offset: usize) -> Option<u8> {
        // SAFETY: inside the mapping, which lives as long as self; any byte is a valid u8.
        (offset < self.length).then(|| unsafe { self.start.cast::<u8>().add(offset).read_volatile() })
    }
}

impl Drop for FileMap {
    fn drop(&mut self) {
        // SAFETY: exactly what mmap gave, and no reference into it exists.
        // It cannot fail for a mapping of its own, and a destructor cannot report it.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_file_is_read_through_its_mapping() {
        let path = std::env::current_exe().expect("this program");
        let file = File::open(&path).expect("can be read");
        let map = FileMap::new(&file, 4096).expect("can be mapped");
        assert_eq!([map.read(0), map.read(1), map.read(4096)], [Some(0x7F), Some(b'E'), None]);
        assert!(FileMap::new(&file, 0).is_err());
    }
}
