//! Archives in the `newc` format of cpio: the kernel unpacks one as its initramfs, and the guest
//! packs its results into one.
//!
//! The format is `Documentation/driver-api/early-userspace/buffer-format.rst`: for each file a
//! header of 13 numbers in hexadecimal, the name, and the content, each padded to 4 bytes.

use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"070701";
const HEADER: usize = 110;
const TRAILER: &str = "TRAILER!!!";
/// `S_IFMT` and its values, inode(7).
const TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const CHARACTER: u32 = 0o020_000;
/// Names are read up to this length (`PATH_MAX`).
const LONGEST_NAME: u32 = 4096;

/// The type of a file in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A directory.
    Directory,
    /// A file with content.
    File,
    /// A symbolic link; its content is the target.
    Symlink,
    /// A device, a pipe, a socket.
    Other,
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchiveEntry {
    /// Its path, relative to the root.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: EntryKind,
    /// Permission bits of its mode.
    pub(crate) permissions: u32,
    /// Bytes of content.
    pub(crate) size: u32,
}

/// Writes an archive.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    out: W,
    inode: u32,
    /// Bytes written since the start, for the padding.
    at: u64,
}

impl<W: Write> Writer<W> {
    /// To `out`, which is best buffered.
    pub(crate) fn new(out: W) -> Self {
        Writer { out, inode: 0, at: 0 }
    }

    /// A directory. Parents come first: the kernel does not make them.
    pub(crate) fn directory(&mut self, name: &str, permissions: u32) -> io::Result<()> {
        self.header(name, DIRECTORY | permissions, 0, (0, 0))
    }

    /// A file with `size` bytes of `content`.
    ///
    /// # Errors
    /// Also `InvalidData` when `content` has fewer bytes than `size`, or `size` does not fit into a header.
    pub(crate) fn file(
        &mut self,
        name: &str,
        permissions: u32,
        content: impl Read,
        size: u64,
    ) -> io::Result<()> {
        let length = u32::try_from(size).map_err(|_| {
            invalid(format!("{name} has {size} bytes: an archive has room for at most 4 GiB"))
        })?;
        self.header(name, REGULAR | permissions & 0o7777, length, (0, 0))?;
        let copied = io::copy(&mut content.take(size), &mut self.out)?;
        if copied != size {
            return Err(invalid(format!("{name} became shorter while it was read")));
        }
        self.at += copied;
        self.pad()
    }

    /// A symbolic link.
    pub(crate) fn symlink(&mut self, name: &str, target: &str) -> io::Result<()> {
        let length = u32::try_from(target.len()).map_err(|_| invalid("link target too long".into()))?;
        self.header(name, SYMLINK | 0o777, length, (0, 0))?;
        self.put(target.as_bytes())?;
        self.pad()
    }

    /// A character device.
    pub(crate) fn character_device(
        &mut self,
        name: &str,
        permissions: u32,
        number: (u32, u32),
    ) -> io::Result<()> {
        self.header(name, CHARACTER | permissions, 0, number)
    }

    /// Ends the archive.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.header(TRAILER, 0, 0, (0, 0))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn header(&mut self, name: &str, mode: u32, size: u32, device: (u32, u32)) -> io::Result<()> {
        self.inode += 1;
        let name_size = name.len() + 1;
        // ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
        let numbers = [self.inode, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name_size as u32, 0];
        let mut header = Vec::with_capacity(HEADER + name_size);
        header.extend_from_slice(MAGIC);
        for number in numbers {
            write!(header, "{number:08x}")?;
        }
        header.extend_from_slice(name.as_bytes());
        header.push(0);
        self.put(&header)?;
        self.pad()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn pad(&mut self) -> io::Result<()> {
        let missing = self.at.wrapping_neg() % 4;
        self.put(&[0; 4][..missing as usize])
    }
}

/// Reads an archive from its start to its trailer.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    input: R,
    at: u64,
}

impl<R: Read> Reader<R> {
    /// From `input`, which is best buffered.
    pub(crate) fn new(input: R) -> Self {
        Reader { input, at: 0 }
    }

    /// The next file, with its content; None at the trailer.
    ///
    /// # Errors
    /// `InvalidData` where there is no header, `UnexpectedEof` where the archive is cut off.
    pub(crate) fn next(
        &mut self,
        content: impl FnOnce(&ArchiveEntry, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<Option<ArchiveEntry>> {
        let mut header = [0; HEADER];
        self.get(&mut header)?;
        if !header.starts_with(MAGIC) {
            return Err(invalid(format!("no cpio header at byte {}", self.at - HEADER as u64)));
        }
        let (mode, size, name_size) = (number(&header, 1)?, number(&header, 6)?, number(&header, 11)?);
        if name_size == 0 || name_size > LONGEST_NAME {
            return Err(invalid(format!("a name of {name_size} bytes in a cpio header")));
        }
        let mut name = vec![0; name_size as usize];
        self.get(&mut name)?;
        name.pop();
        let name = String::from_utf8(name).map_err(|_| invalid("a name that is not UTF-8".into()))?;
        self.skip_padding()?;
        if name == TRAILER {
            return Ok(None);
        }
        let kind = match mode & TYPE {
            DIRECTORY => EntryKind::Directory,
            REGULAR => EntryKind::File,
            SYMLINK => EntryKind::Symlink,
            _ => EntryKind::Other,
        };
        let entry = ArchiveEntry { name, kind, permissions: mode & 0o7777, size };
        let mut rest = (&mut self.input).take(u64::from(size));
        content(&entry, &mut rest)?;
        io::copy(&mut rest, &mut io::sink())?;
        if rest.limit() > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += u64::from(size);
        self.skip_padding()?;
        Ok(Some(entry))
    }

    fn get(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.input.read_exact(bytes)
    }

    fn skip_padding(&mut self) -> io::Result<()> {
        let missing = self.at.wrapping_neg() % 4;
        self.get(&mut [0; 4][..missing as usize])
    }
}

/// Number `index` of a header.
fn number(header: &[u8; HEADER], index: usize) -> io::Result<u32> {
    let digits =
        header.get(6 + index * 8..14 + index * 8).and_then(|digits| std::str::from_utf8(digits).ok());
    digits
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or_else(|| invalid("a cpio header with an invalid number".into()))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Files = Vec<(ArchiveEntry, Vec<u8>)>;

    fn read(archive: &[u8]) -> io::Result<Files> {
        let (mut reader, mut files) = (Reader::new(archive), Vec::new());
        loop {
            let mut bytes = Vec::new();
            match reader.next(|_, content| content.read_to_end(&mut bytes).map(drop))? {
                Some(entry) => files.push((entry, bytes)),
                None => return Ok(files),
            }
        }
    }

    #[test]
    fn a_header_is_as_the_kernel_reads_it() {
        let mut writer = Writer::new(Vec::new());
        writer.file("ab", 0o755, &b"xyz"[..], 3).expect("memory");
        let archive = writer.finish().expect("memory");
        let header = "07070100000001000081ed00000000000000000000000100000000000000030000000000000000\
                      00000000000000000000000300000000ab\0";
        // 110 + 3 bytes of name end at 113, so three of padding; then the content and one of padding.
        assert_eq!(&archive[..header.len()], header.as_bytes());
        assert_eq!(&archive[header.len()..120], b"\0\0\0xyz\0");
        assert!(archive[120..].starts_with(MAGIC));
        assert_eq!(archive.len() % 4, 0);
    }

    #[test]
    fn every_kind_comes_back() {
        let mut writer = Writer::new(Vec::new());
        writer.directory("dev", 0o755).expect("memory");
        writer.character_device("dev/console", 0o600, (5, 1)).expect("memory");
        writer.symlink("sh", "bin/busybox").expect("memory");
        let files = read(&writer.finish().expect("memory")).expect("whole");
        let kinds: Vec<_> =
            files.iter().map(|(entry, bytes)| (entry.name.as_str(), entry.kind, bytes.len())).collect();
        assert_eq!(
            kinds,
            [
                ("dev", EntryKind::Directory, 0),
                ("dev/console", EntryKind::Other, 0),
                ("sh", EntryKind::Symlink, 11)
            ]
        );
    }

    #[test]
    fn content_that_is_too_short_is_an_error() {
        let mut writer = Writer::new(Vec::new());
        assert!(writer.file("x", 0o644, &b"ab"[..], 3).is_err());
        assert!(Writer::new(Vec::new()).file("x", 0o644, io::empty(), 1 << 32).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(files in prop::collection::vec(("[a-z/]{1,300}", 0u32..0o1000, prop::collection::vec(any::<u8>(), 0..70)), 0..8)) {
            let mut writer = Writer::new(Vec::new());
            for (name, permissions, content) in &files {
                writer.file(name, *permissions, &content[..], content.len() as u64).expect("memory");
            }
            let back = read(&writer.finish().expect("memory")).expect("whole");
            let back: Vec<_> = back.into_iter().map(|(entry, bytes)| (entry.name, entry.permissions, bytes)).collect();
            prop_assert_eq!(back, files);
        }

        #[test]
        fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0usize..400) {
            let _ = read(&bytes);
            let mut writer = Writer::new(Vec::new());
            writer.file("a/b", 0o644, &b"content"[..], 7).expect("memory");
            let mut archive = writer.finish().expect("memory");
            archive.truncate(cut);
            let _ = read(&archive);
            bytes.splice(0..0, MAGIC.iter().copied());
            let _ = read(&bytes);
        }
    }
}
