//! The small symbol table that Fedora and Red Hat leave in stripped programs: `.gnu_debugdata`, an ELF file compressed with
//! XZ that has the names of the functions that are not exported (manual of GDB, "MiniDebugInfo").

use crate::elf::Section;
use crate::image;
use crate::plain_file;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The largest such table; that of a browser has some 5 MB.
const MOST_BYTES: usize = 64 << 20;

/// The table of the file at `path`, as a file in memory.
///
/// # Errors
/// Where it cannot be read, or is no XZ stream.
pub(crate) fn open(path: &Path, section: Section) -> io::Result<File> {
    let packed = image::read(&plain_file::open(path)?, section)?;
    unpack(&packed)
}

fn unpack(packed: &[u8]) -> io::Result<File> {
    let file = File::from(memfd_create("symbols", MemfdFlags::CLOEXEC)?);
    let mut limited = Limited { file, room: MOST_BYTES };
    let unpacked = lzma_rs::xz_decompress(&mut &*packed, &mut limited);
    unpacked.map_err(|error| io::Error::other(format!("{error:?}")))?;
    Ok(limited.file)
}

/// Takes only so many bytes.
struct Limited {
    file: File,
    room: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::FileExt;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        lzma_rs::xz_compress(&mut &*bytes, &mut packed).expect("memory");
        packed
    }

    #[test]
    fn a_table_comes_back_as_a_file() {
        let file = unpack(&packed(b"\x7fELF and more")).expect("a stream");
        let mut back = [0; 13];
        file.read_exact_at(&mut back, 0).expect("readable");
        assert_eq!(&back, b"\x7fELF and more");
        assert!(unpack(b"no stream").is_err());
        let mut full = Limited { file, room: 5 };
        assert!(full.write_all(&[0; 5]).is_ok() && full.write_all(&[0]).is_err());
    }

    proptest! {
        #[test]
        fn damaged_streams_are_survived(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9)) {
            let mut stream = packed(&[7; 3000]);
            for (at, byte) in damage {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
            let _ = unpack(&stream);
        }
    }
}
