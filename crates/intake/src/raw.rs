//! Raw ring-buffer pages: a directory with what was copied out of a machine's tracefs.
//!
//! ```text
//! DIR/per_cpu/cpuN/trace_pipe_raw    the pages, as they were read
//! DIR/events/SYSTEM/EVENT/format     how events are laid out; must be there
//! DIR/events/header_page             how pages are; else a 64-bit kernel's usual ones are assumed
//! DIR/trace_clock, saved_cmdlines    the clock, threads' names
//! DIR/kallsyms                       functions' names (/proc/kallsyms)
//! DIR/instances/NAME/...             the same of each trace instance
//! ```

use crate::ctf;
use crate::error::OpenError;
use crate::seekable::ReadAt;
use crate::with_info::WithInfo;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whylate_base::Cpu;
use whylate_events::{Damage, EventSource, KindSet, TraceInfo};
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::dat::{CpuData, RawBuffer, RawDump, TraceFile};
use whylate_ftrace::format::{EventFormat, EventFormats, HeaderPage};
use whylate_ftrace::page::PageLayout;

/// No format, clock or list of names is larger.
const LARGEST_TEXT: u64 = 16 << 20;
/// No kernel supports more (`CONFIG_NR_CPUS`).
const MOST_CPUS: u32 = 8192;
/// An event's id has 16 bits.
const MOST_FORMATS: usize = 65_536;

/// Opens a directory of raw pages.
pub(crate) fn open(path: &Path, wanted: KindSet) -> Result<Box<dyn EventSource>, OpenError> {
    let mut found = Found::default();
    found.buffer(path, String::new());
    for (name, directory) in directories(&path.join("instances")) {
        found.buffer(&directory, name);
    }
    let refused =
        |what: &str, advice| OpenError::RawDump { path: path.to_owned(), what: what.into(), advice };
    if found.buffers.is_empty() {
        return Err(match found.damage.first() {
            Some(damage) => refused(&damage.what, "have it made readable, or run with sudo"),
            None if ctf::is_within(path) => {
                let (name, what, advice) = (path.display().to_string(), ctf::DIRECTORY, ctf::ADVICE);
                OpenError::NotRead { name, what, advice }
            }
            None => OpenError::Directory { path: path.to_owned() },
        });
    }
    if found.buffers.iter().flat_map(|buffer| &buffer.cpus).all(|data| data.size == 0) {
        return Err(refused(
            "every per_cpu/cpu*/trace_pipe_raw in it has a size of 0",
            "read them from tracefs with `dd iflag=nonblock bs=1M`, as `cp` takes nothing from such files; \
             to trace the running machine, use `whylate record`",
        ));
    }
    found.formats(&path.join("events"));
    if found.formats.is_empty() {
        return Err(refused(
            "it has raw pages, and no events/*/*/format to read them with",
            "copy these from the same kernel's /sys/kernel/tracing",
        ));
    }
    let header_page = match text(&path.join("events/header_page")) {
        Some(text) => HeaderPage::parse(&text),
        None => None,
    };
    if header_page.is_none() {
        let what = "events/header_page is not there or not understood: pages are taken to be of 4096 bytes, \
                    of a 64-bit kernel";
        found.damage.push(Damage::whole(what));
    }
    let kallsyms = found.joined.add(&path.join("kallsyms"), "kallsyms".into()).ok().flatten();
    let dump = RawDump {
        endian: found.endian(header_page),
        header_page,
        formats: found.formats,
        comms: text(&path.join("saved_cmdlines")).unwrap_or_default().into_bytes(),
        kallsyms,
        buffers: found.buffers,
        damage: found.damage,
    };
    let files: Vec<_> = found.joined.files.iter().map(|file| (file.start, file.name.clone())).collect();
    let events = TraceFile::from_raw(Arc::new(found.joined), dump).events(wanted);
    Ok(Box::new(WithInfo::new(events, move |info: &mut TraceInfo| by_file(info, &files))))
}

/// What of the directory was found.
#[derive(Default)]
struct Found {
    joined: Joined,
    buffers: Vec<RawBuffer>,
    formats: EventFormats,
    damage: Vec<Damage>,
}

impl Found {
    /// Adds the buffer whose files are below `path`, if there is one.
    fn buffer(&mut self, path: &Path, name: String) {
        let mut cpus = Vec::new();
        for (directory, place) in directories(&path.join("per_cpu")) {
            let number = directory.strip_prefix("cpu").and_then(|number| number.parse().ok());
            let Some(cpu) = number.filter(|&cpu| cpu < MOST_CPUS) else { continue };
            let shown = match name.as_str() {
                "" => format!("per_cpu/{directory}/trace_pipe_raw"),
                name => format!("instances/{name}/per_cpu/{directory}/trace_pipe_raw"),
            };
            match self.joined.add(&place.join("trace_pipe_raw"), shown.clone()) {
                Ok(Some((offset, size))) => cpus.push(CpuData { cpu: Cpu(cpu), offset, size }),
                Ok(None) => {}
                Err(error) => self.damage.push(Damage::whole(format!("{shown} cannot be read: {error}"))),
            }
        }
        if !cpus.is_empty() {
            cpus.sort_by_key(|data| data.cpu);
            let clock = text(&path.join("trace_clock")).unwrap_or_default();
            self.buffers.push(RawBuffer { name, clock, cpus });
        }
    }

    fn formats(&mut self, events: &Path) {
        for (system, directory) in directories(events) {
            for (event, directory) in directories(&directory) {
                let Some(text) = text(&directory.join("format")) else { continue };
                match EventFormat::parse(&system, &text) {
                    Some(format) if self.formats.len() < MOST_FORMATS => self.formats.insert(format),
                    Some(_) => {}
                    None => self.damage.push(Damage::whole(format!(
                        "events/{system}/{event}/format was not understood: skipped"
                    ))),
                }
            }
        }
    }

    /// Pages have no mark of their byte order: only one makes sense of their lengths.
    fn endian(&self, header: Option<HeaderPage>) -> Endian {
        let long_size = header.map_or(8, |header| header.commit_size);
        let longest = header.map_or(1 << 16, |header| header.data_size as u64);
        let sense = |endian: Endian| {
            let pages = self.buffers.iter().flat_map(|buffer| &buffer.cpus);
            pages
                .filter(|data| {
                    let mut start = [0; 16];
                    let got = crate::seekable::read_full(&self.joined, &mut start, data.offset);
                    let commit = endian.long(&start, 8, long_size).unwrap_or(u64::MAX);
                    // Two flags stand above the length (`RB_MISSED_EVENTS`, `RB_MISSED_STORED`).
                    got.is_ok_and(|got| got == 16) && commit & !(0b11 << 30) <= longest
                })
                .count()
        };
        if sense(Endian::Big) > sense(Endian::Little) { Endian::Big } else { Endian::Little }
    }
}

/// The directories in one, by name, in order; none where it cannot be read.
fn directories(path: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.path().is_dir());
    let mut found: Vec<_> =
        directories.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect();
    found.sort();
    found
}

fn text(path: &Path) -> Option<String> {
    // Not a pipe or device, which could be waited for forever.
    path.is_file().then_some(())?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST_TEXT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Many files as one, each at an offset of its own.
#[derive(Default)]
struct Joined {
    files: Vec<JoinedFile>,
    size: u64,
}

struct JoinedFile {
    start: u64,
    size: u64,
    file: File,
    /// Its path, below the directory.
    name: String,
}

impl Joined {
    /// Adds a file; its offset and size. `None` where there is none.
    fn add(&mut self, path: &Path, name: String) -> io::Result<Option<(u64, u64)>> {
        if !path.is_file() {
            return Ok(None);
        }
        let file = File::open(path)?;
        let (start, size) = (self.size, file.metadata()?.len());
        self.files.push(JoinedFile { start, size, file, name });
        self.size = start.saturating_add(size);
        Ok(Some((start, size)))
    }
}

impl ReadAt for Joined {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let after = self.files.partition_point(|file| file.start.saturating_add(file.size) <= offset);
        let Some(part) = self.files.get(after) else { return Ok(0) };
        let within = offset - part.start;
        let most = usize::try_from(part.size - within).unwrap_or(usize::MAX).min(buffer.len());
        part.file.read_at(buffer.get_mut(..most).unwrap_or_default(), within)
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// Tells of each damage which of the joined files it is in; `files` are where each begins, with its name.
fn by_file(info: &mut TraceInfo, files: &[(u64, String)]) {
    for damage in &mut info.damage {
        let Some(offset) = damage.offset else { continue };
        let after = files.partition_point(|(start, _)| *start <= offset);
        if let Some((start, name)) = after.checked_sub(1).and_then(|index| files.get(index)) {
            damage.offset = Some(offset - start);
            damage.what = format!("{name}: {}", damage.what);
        }
    }
}

/// True when bytes begin with a ring-buffer page that makes sense from end to end.
pub(crate) fn looks_like_pages(start: &[u8]) -> bool {
    [Endian::Little, Endian::Big].into_iter().any(|endian| {
        [8, 4].into_iter().any(|long_size| {
            let layout = PageLayout::of_long_size(endian, long_size);
            let Some(mut cursor) = layout.open(start) else { return false };
            // Above the length and its two flags, `commit` is empty; or it has their sign all through, for the
            // kernel adds the flags as an `int` (`RB_MISSED_EVENTS`, kernel/trace/ring_buffer.c).
            let commit = endian.long(start, 8, long_size).unwrap_or(u64::MAX);
            let commit = if commit >> 31 == (1 << 33) - 1 { commit & 0x7fff_ffff } else { commit };
            if commit & !(0b11 << 30) > 1 << 16 || cursor.timestamp() > i64::MAX as u64 {
                return false;
            }
            let mut records = 0;
            while let Some(record) = cursor.next(start) {
                // The common fields alone are 8 bytes.
                if record.bytes.len() < 8 {
                    return false;
                }
                records += 1;
            }
            records > 0 && cursor.damage().is_none()
        })
    })
}
