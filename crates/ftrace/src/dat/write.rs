//! Writes trace.dat version 7: metadata compressed, ring-buffer pages as the kernel gave them.
//!
//! ```text
//! magic, version, page size, "zstd"  ── offset of the options ─┐
//! headers │ ftrace formats │ event formats │ symbols │ ...     │   sections, zstd
//! options <────────────────────────────────────────────────────┘   where everything is
//! strings                                                          the sections' names
//! buffer: pages of CPU 0 │ pages of CPU 1 │ ...                    page-aligned, as they are
//! stacks, where there are some                                     found by the file's last bytes
//! ```
//!
//! The pages follow all that describes them, so a file that is cut loses pages, and the stacks, and nothing else.
//! The format is `trace-cmd.dat.v7(5)` of trace-cmd. Its readers walk the sections from
//! the front as well, so they follow each other without gaps.

mod section;

use super::{options as option, stacks};
use rustix::fs::FallocateFlags;
use section::{Out, Section, first_page};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use whylate_base::Cpu;
use whylate_events::Stacks;
use whylate_sys::{OutputError, OutputFile};

/// The description of the kernel that wrote the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Bytes of a ring-buffer page.
    pub page_size: usize,
    /// The text of `events/header_page`.
    pub header_page: String,
    /// The text of `events/header_event`.
    pub header_event: String,
    /// The `format` texts of the group `ftrace`, which is always recorded.
    pub ftrace_formats: Vec<String>,
    /// The formats of the events that were switched on, those of a group next to each other.
    pub event_formats: Vec<EventFormat>,
    /// Functions, in the form of `/proc/kallsyms`.
    pub kernel_symbols: Option<String>,
    /// The text of `printk_formats`.
    pub printk_formats: Option<String>,
    /// Lines of `TID NAME`, the form of `saved_cmdlines`.
    pub thread_names: String,
    /// The text of `trace_clock`: all clocks, the chosen one in brackets.
    pub clock: String,
    /// System, host name, release and machine, as `uname -snrm` prints them.
    pub uname: String,
    /// How many CPUs the machine has.
    pub cpus: u32,
    /// The call stacks that were sampled beside the events.
    pub stacks: Option<Arc<Stacks>>,
}

/// An event's format with the group it belongs to, which the text does not name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// `sched`, `irq` ...
    pub group: String,
    /// The text of the event's `format` file.
    pub text: String,
}

/// The pages of one tracing instance.
#[derive(Debug)]
pub struct Buffer<'a> {
    /// Empty for the main buffer, which comes first; readers show the others' names.
    pub name: &'a str,
    /// The clock its events are stamped with (`mono`, `local` ...).
    pub clock: &'a str,
    /// Every CPU that was recorded, also those without pages.
    pub cpus: Vec<CpuPages<'a>>,
}

/// One CPU's part of a [`Buffer`].
#[derive(Debug)]
pub struct CpuPages<'a> {
    /// Whose pages they are.
    pub cpu: Cpu,
    /// The pages, oldest first.
    pub pages: Pages<'a>,
    /// The text of `per_cpu/cpuN/stats`, empty if there is none.
    pub stats: &'a str,
}

/// Where pages lie before they are in the file. Each is `page_size` long.
#[derive(Debug)]
pub enum Pages<'a> {
    /// In memory, in order.
    Memory(Vec<&'a [u8]>),
    /// The first `bytes` of a file; the kernel copies them (or shares the blocks).
    File {
        /// Where they are.
        file: &'a File,
        /// How many there are.
        bytes: u64,
    },
    /// The same of a file that no one needs afterwards: its blocks are freed as they are copied (where the file system
    /// can, `fallocate(2)`), so that the disk need not hold both.
    Spool {
        /// Where they are.
        file: &'a File,
        /// How many there are.
        bytes: u64,
    },
}

/// So much of a [`Pages::Spool`] is copied before it is freed.
const FREED_AT_ONCE: u64 = 1 << 20;

impl Pages<'_> {
    /// Bytes of all pages.
    pub fn bytes(&self) -> u64 {
        match self {
            Pages::Memory(pages) => pages.iter().map(|page| page.len() as u64).sum(),
            Pages::File { bytes, .. } | Pages::Spool { bytes, .. } => *bytes,
        }
    }
}

/// The permissions of a new trace.dat: it has the addresses of kernel symbols, which `kptr_restrict` hides from others.
pub const MODE: u32 = 0o600;

/// Writes a trace.dat to `path` and returns its size in bytes. It is written under another
/// name in the same directory and renamed when it is complete, so what was at `path`
/// stays until then, and a half file never lies there. It has the permissions of what it replaces,
/// and a new one [`MODE`].
///
/// # Errors
/// [`OutputError`], naming the path.
pub fn write_file(
    path: &Path,
    description: &Description,
    buffers: &[Buffer<'_>],
) -> Result<u64, OutputError> {
    let mut file = OutputFile::create(path, MODE)?;
    write(file.file(), description, buffers)
        .map_err(|source| OutputError::Io { path: path.to_owned(), source })?;
    file.keep()
}

/// Writes a trace.dat to `out`, which must be empty and at its start, and returns its size
/// in bytes.
///
/// # Errors
/// What `out` or a file of pages answers; [`io::ErrorKind::InvalidInput`] when a page is not
/// `page_size` long or a text too long for the format (4 GiB).
pub fn write<W: Write + Seek>(out: W, description: &Description, buffers: &[Buffer<'_>]) -> io::Result<u64> {
    let page_size = u32::try_from(description.page_size).ok().filter(|&size| size > 0);
    let page_size = page_size.ok_or_else(|| invalid("the page size does not fit".to_owned()))?;
    let mut out = Out::start(out, page_size)?;
    let mut options = Options::default();
    for section in description_sections(description)? {
        options.number(section.id, out.section(&section)?);
    }
    let uname = (option::UNAME, description.uname.as_str());
    let version = (option::VERSION, concat!("whylate ", env!("CARGO_PKG_VERSION")));
    for (id, text) in [(option::TRACECLOCK, description.clock.as_str()), uname, version] {
        options.text(id, text);
    }
    options.data(option::CPUCOUNT, &description.cpus.to_ne_bytes());
    for buffer in buffers {
        for cpu in buffer.cpus.iter().filter(|cpu| !cpu.stats.is_empty()) {
            let name = if buffer.name.is_empty() { "" } else { "Buffer: " };
            let end = if buffer.name.is_empty() { "" } else { "\n" };
            options
                .text(option::CPUSTAT, &format!("{name}{}{end}CPU: {}\n{}", buffer.name, cpu.cpu, cpu.stats));
        }
    }
    // The length of the index does not depend on where the pages are.
    let length = options.bytes.len() + places(buffers, page_size, 0)?.len();
    let first = out.after_index(length);
    options.bytes.extend(places(buffers, page_size, first)?);
    out.index(&options.bytes)?;
    debug_assert_eq!(out.at(), first, "the index is as long as was reckoned");
    for buffer in buffers {
        write_pages(&mut out, buffer)?;
    }
    if let Some(stacks) = &description.stacks {
        out.stacks(&stacks::encode(stacks)?)?;
    }
    out.finish()
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The options section's data: number, size and data of each option.
#[derive(Default)]
struct Options {
    bytes: Vec<u8>,
}

impl Options {
    fn data(&mut self, id: u16, data: &[u8]) {
        self.bytes.extend(id.to_ne_bytes());
        // All data is made here and in kibibytes; a text is cut below.
        self.bytes.extend((data.len() as u32).to_ne_bytes());
        self.bytes.extend(data);
    }

    fn number(&mut self, id: u16, number: u64) {
        self.data(id, &number.to_ne_bytes());
    }

    /// A text with its closing NUL, cut at 64 KiB and at a NUL inside.
    fn text(&mut self, id: u16, text: &str) {
        let bytes = text.as_bytes();
        let end = bytes.iter().take(1 << 16).position(|&b| b == 0).unwrap_or(bytes.len().min(1 << 16));
        self.data(id, &[&bytes[..end], b"\0"].concat());
    }
}

fn description_sections(description: &Description) -> io::Result<Vec<Section>> {
    let mut headers = Vec::new();
    for (name, text) in
        [("header_page", &description.header_page), ("header_event", &description.header_event)]
    {
        headers.extend(name.as_bytes());
        headers.push(0);
        sized64(&mut headers, text);
    }
    let mut ftrace = Vec::new();
    ftrace.extend((description.ftrace_formats.len() as u32).to_ne_bytes());
    description.ftrace_formats.iter().for_each(|text| sized64(&mut ftrace, text));

    let groups: Vec<_> = description.event_formats.chunk_by(|a, b| a.group == b.group).collect();
    let mut events = (groups.len() as u32).to_ne_bytes().to_vec();
    for group in groups {
        events.extend(group.first().map(|format| format.group.as_bytes()).unwrap_or_default());
        events.push(0);
        events.extend((group.len() as u32).to_ne_bytes());
        group.iter().for_each(|format| sized64(&mut events, &format.text));
    }
    let mut sections = vec![
        Section { id: option::HEADER_INFO, name: "headers", data: headers },
        Section { id: option::FTRACE_EVENTS, name: "ftrace events", data: ftrace },
        Section { id: option::EVENT_FORMATS, name: "events format", data: events },
    ];
    if let Some(symbols) = &description.kernel_symbols {
        sections.push(Section { id: option::KALLSYMS, name: "kallsyms", data: sized32(symbols)? });
    }
    if let Some(formats) = &description.printk_formats {
        sections.push(Section { id: option::PRINTK, name: "printk", data: sized32(formats)? });
    }
    let mut names = Vec::new();
    sized64(&mut names, &description.thread_names);
    sections.push(Section { id: option::CMDLINES, name: "command lines", data: names });
    Ok(sections)
}

fn sized64(data: &mut Vec<u8>, text: &str) {
    data.extend((text.len() as u64).to_ne_bytes());
    data.extend(text.as_bytes());
}

fn sized32(text: &str) -> io::Result<Vec<u8>> {
    let size = u32::try_from(text.len()).map_err(|_| invalid("a text of 4 GiB and more".to_owned()))?;
    Ok([&size.to_ne_bytes(), text.as_bytes()].concat())
}

/// The options that show where each buffer's pages are, the last of all, if the first
/// buffer's section begins at `section`.
fn places(buffers: &[Buffer<'_>], page_size: u32, mut section: u64) -> io::Result<Vec<u8>> {
    let mut options = Options::default();
    for buffer in buffers {
        let mut data = section.to_ne_bytes().to_vec();
        for text in [buffer.name, buffer.clock] {
            data.extend(text.bytes().filter(|&b| b != 0));
            data.push(0);
        }
        data.extend(page_size.to_ne_bytes());
        data.extend((buffer.cpus.len() as u32).to_ne_bytes());
        let mut at = first_page(section, page_size);
        for cpu in &buffer.cpus {
            let bytes = cpu.pages.bytes();
            if !bytes.is_multiple_of(u64::from(page_size)) {
                return Err(invalid(format!(
                    "CPU {}: {bytes} bytes are not whole pages of {page_size}",
                    cpu.cpu
                )));
            }
            data.extend(cpu.cpu.0.to_ne_bytes());
            data.extend(at.to_ne_bytes());
            data.extend(bytes.to_ne_bytes());
            at += bytes;
        }
        options.data(option::BUFFER, &data);
        section = at;
    }
    options.number(option::DONE, 0);
    Ok(options.bytes)
}

/// Writes a buffer's section, at the offsets of [`places`].
fn write_pages<W: Write + Seek>(out: &mut Out<W>, buffer: &Buffer<'_>) -> io::Result<()> {
    out.pages_section(option::BUFFER, buffer.cpus.iter().map(|cpu| cpu.pages.bytes()).sum())?;
    for cpu in &buffer.cpus {
        match &cpu.pages {
            Pages::Memory(pages) => pages.iter().try_for_each(|page| out.raw(page))?,
            Pages::File { file, bytes } => {
                let mut file = *file;
                file.rewind()?;
                out.copy(file.take(*bytes), *bytes)?;
            }
            Pages::Spool { file, bytes } => {
                let mut file = *file;
                file.rewind()?;
                let mut at = 0;
                while at < *bytes {
                    let part = FREED_AT_ONCE.min(bytes - at);
                    out.copy(file.take(part), part)?;
                    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                    // Without it the disk must hold both.
                    let _ = rustix::fs::fallocate(file, flags, at, part);
                    at += part;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
