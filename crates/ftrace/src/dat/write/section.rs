//! The file's frame: its first bytes, sections that follow each other to the end, and the index.

use crate::dat::stacks::{END, SECTION};
use crate::dat::zstd_codec;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// A section's number, its description for people, and its data.
pub(super) struct Section {
    pub(super) id: u16,
    pub(super) name: &'static str,
    pub(super) data: Vec<u8>,
}

const OPTIONS: u16 = 0;
const STRINGS: u16 = 15;
/// The section flag of compressed data.
const COMPRESSED: u16 = 1;
/// Number, flags, description and size.
const SECTION_HEADER: u64 = 16;
const STRINGS_NAME: &str = "strings";
/// What trace-cmd calls a section of pages as well.
const PAGES_NAME: &str = "buffer flyrecord";
/// The file as far as it is written.
pub(super) struct Out<W> {
    inner: W,
    /// How far that is.
    at: u64,
    page_size: u32,
    /// Where the offset of the options goes, known once the descriptions are written.
    options_offset: u64,
    /// The strings section: descriptions that sections refer to by offset.
    strings: Vec<u8>,
    /// The description of sections of pages, once the strings are written.
    pages_description: u32,
}

/// Where the first page of a section that begins at `start` is: at the next page boundary.
pub(super) fn first_page(start: u64, page_size: u32) -> u64 {
    (start + SECTION_HEADER).next_multiple_of(u64::from(page_size))
}

impl<W: Write + Seek> Out<W> {
    /// Writes the first bytes.
    pub(super) fn start(inner: W, page_size: u32) -> io::Result<Out<W>> {
        let mut out =
            Out { inner, at: 0, page_size, options_offset: 0, strings: Vec::new(), pages_description: 0 };
        let mut head = b"\x17\x08\x44tracing7\0".to_vec();
        head.push(u8::from(cfg!(target_endian = "big")));
        head.push(size_of::<usize>() as u8);
        head.extend(page_size.to_ne_bytes());
        head.extend(zstd_codec::NAME.as_bytes());
        head.push(0);
        head.extend(zstd_codec::version().as_bytes());
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
        let compressed = zstd_codec::pack(&section.data)?;
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

    /// How far the file is written.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Writes the options and strings sections, which are the file's index, and points its
    /// head to them. Only sections of pages may follow.
    pub(super) fn index(&mut self, options: &[u8]) -> io::Result<()> {
        let start = self.section_header(OPTIONS, 0, "options", options.len() as u64)?;
        self.raw(options)?;
        let description = self.string(STRINGS_NAME);
        self.string(PAGES_NAME);
        let strings = std::mem::take(&mut self.strings);
        self.header(STRINGS, 0, description, strings.len() as u64)?;
        self.raw(&strings)?;
        self.pages_description = description + STRINGS_NAME.len() as u32 + 1;
        self.inner.seek(SeekFrom::Start(self.options_offset))?;
        self.inner.write_all(&start.to_ne_bytes())?;
        self.inner.seek(SeekFrom::Start(self.at))?;
        Ok(())
    }

    /// Where what follows the index will begin, if the index holds `options` bytes of options.
    pub(super) fn after_index(&self, options: usize) -> u64 {
        let names = ["options", STRINGS_NAME, PAGES_NAME].iter().map(|name| name.len() + 1).sum::<usize>();
        self.at + 2 * SECTION_HEADER + (options + self.strings.len() + names) as u64
    }

    /// Starts a section of `bytes` of pages, up to the first page.
    pub(super) fn pages_section(&mut self, id: u16, bytes: u64) -> io::Result<()> {
        let padding = first_page(self.at, self.page_size) - self.at - SECTION_HEADER;
        self.header(id, 0, self.pages_description, padding + bytes)?;
        self.raw(&vec![0; padding as usize])
    }

    /// Writes the stacks behind all pages, and the file's last bytes, by which they are found.
    pub(super) fn stacks(&mut self, text: &[u8]) -> io::Result<()> {
        let compressed = zstd_codec::pack(text)?;
        let sizes = [compressed.len(), text.len()].map(u32::try_from);
        let footer = (END.len() + 8) as u64;
        let bytes = 8 + compressed.len() as u64 + footer;
        let start = self.header(SECTION, COMPRESSED, self.pages_description, bytes)?;
        for size in sizes {
            let size = size.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "4 GiB of stacks"))?;
            self.raw(&size.to_ne_bytes())?;
        }
        self.raw(&compressed)?;
        self.raw(END)?;
        self.raw(&start.to_ne_bytes())
    }

    /// Ends the file and returns its size.
    pub(super) fn finish(mut self) -> io::Result<u64> {
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
