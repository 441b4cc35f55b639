//! The file's frame: its first bytes, and sections that follow each other to the end.

use std::io::{self, Read, Seek, SeekFrom, Write};

/// A section's number, its description for people, and its data.
pub(super) struct Section {
    pub(super) id: u16,
    pub(super) name: &'static str,
    pub(super) data: Vec<u8>,
}

const OPTIONS: u16 = 0;
const STRINGS: u16 = 15;
/// The section flag that says the data is compressed.
const COMPRESSED: u16 = 1;
/// Number, flags, description and size.
const SECTION_HEADER: u64 = 16;
/// 1 compresses symbols, by far the largest section, 5 times in milliseconds; higher levels
/// gain little.
const ZSTD_LEVEL: i32 = 1;

/// The file as far as it is written.
pub(super) struct Out<W> {
    inner: W,
    /// How far that is.
    at: u64,
    page_size: u32,
    /// Where the offset of the options goes, known only at the end.
    options_offset: u64,
    /// The strings section: descriptions that sections refer to by offset.
    strings: Vec<u8>,
}

impl<W: Write + Seek> Out<W> {
    /// Writes the first bytes.
    pub(super) fn start(inner: W, page_size: u32) -> io::Result<Out<W>> {
        let mut out = Out { inner, at: 0, page_size, options_offset: 0, strings: Vec::new() };
        let mut head = b"\x17\x08\x44tracing7\0".to_vec();
        head.push(u8::from(cfg!(target_endian = "big")));
        head.push(size_of::<usize>() as u8);
        head.extend(page_size.to_ne_bytes());
        head.extend(b"zstd\0");
        head.extend(zstd::zstd_safe::version_string().as_bytes());
        head.push(0);
        out.options_offset = head.len() as u64;
        head.extend(0u64.to_ne_bytes());
        out.raw(&head)?;
        Ok(out)
    }

    /// Writes bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Writes what `from` has, which must be `bytes`. Between files the kernel copies it.
    pub(super) fn copy(&mut self, mut from: impl Read, bytes: u64) -> io::Result<()> {
        let copied = io::copy(&mut from, &mut self.inner)?;
        self.at += copied;
        if copied != bytes {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{copied} of {bytes} bytes of pages"),
            ));
        }
        Ok(())
    }

    /// Writes a compressed section and returns where it starts.
    pub(super) fn section(&mut self, section: &Section) -> io::Result<u64> {
        let compressed = zstd::bulk::compress(&section.data, ZSTD_LEVEL)?;
        let too_long =
            |_| io::Error::new(io::ErrorKind::InvalidInput, format!("section {} is too long", section.name));
        let sizes = [compressed.len(), section.data.len()].map(u32::try_from);
        let start = self.section_header(section.id, COMPRESSED, section.name, compressed.len() as u64 + 8)?;
        for size in sizes {
            self.raw(&size.map_err(too_long)?.to_ne_bytes())?;
        }
        self.raw(&compressed)?;
        Ok(start)
    }

    /// Starts a section of `bytes` of pages; returns where it starts and where the pages
    /// do, at the next page boundary.
    pub(super) fn pages_section(&mut self, id: u16, name: &str, bytes: u64) -> io::Result<(u64, u64)> {
        let header_end = self.at + SECTION_HEADER;
        let first_page = header_end.next_multiple_of(u64::from(self.page_size));
        let padding = first_page - header_end;
        let start = self.section_header(id, 0, name, padding + bytes)?;
        self.raw(&vec![0; padding as usize])?;
        Ok((start, first_page))
    }

    /// Writes the options and strings sections and points the file's head to the options.
    /// Returns the file's size.
    pub(super) fn finish(mut self, options: &[u8]) -> io::Result<u64> {
        let start = self.section_header(OPTIONS, 0, "options", options.len() as u64)?;
        self.raw(options)?;
        let description = self.string("strings");
        let strings = std::mem::take(&mut self.strings);
        self.header(STRINGS, 0, description, strings.len() as u64)?;
        self.raw(&strings)?;
        self.inner.seek(SeekFrom::Start(self.options_offset))?;
        self.inner.write_all(&start.to_ne_bytes())?;
        self.inner.flush()?;
        Ok(self.at)
    }

    fn section_header(&mut self, id: u16, flags: u16, name: &str, bytes: u64) -> io::Result<u64> {
        let description = self.string(name);
        self.header(id, flags, description, bytes)
    }

    fn header(&mut self, id: u16, flags: u16, description: u32, bytes: u64) -> io::Result<u64> {
        let start = self.at;
        self.raw(&id.to_ne_bytes())?;
        self.raw(&flags.to_ne_bytes())?;
        self.raw(&description.to_ne_bytes())?;
        self.raw(&bytes.to_ne_bytes())?;
        Ok(start)
    }

    fn string(&mut self, text: &str) -> u32 {
        let id = self.strings.len() as u32;
        self.strings.extend(text.as_bytes());
        self.strings.push(0);
        id
    }
}
