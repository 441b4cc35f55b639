//! Recognizes a file's format by its first bytes and opens it.

use crate::error::OpenError;
use crate::pasted::{self, Decoded};
use crate::perf::{self, PerfSource};
use crate::perfetto::{self, PerfettoSource};
use crate::read_ahead::{Movable, read_ahead};
use crate::seekable::{RandomFile, ReadAt};
use crate::text::TextSource;
use crate::unpack::spool::spool;
use crate::unpack::{MOST_LAYERS, Notes, Packing, packed, unpack};
use crate::{ctf, raw, text};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use whylate_events::{EventSource, KindSet};
use whylate_ftrace::dat::{DatError, TraceFile};

/// Enough to recognize every format, and to see whether the content is text.
const SNIFFED: u64 = 64 * 1024;

/// How every trace.dat begins (trace-cmd.dat(5)).
const TRACE_DAT: &[u8] = b"\x17\x08\x44tracing";

/// Formats that are known by their first bytes and not read, with what to do instead.
const NOT_READ: &[(&[u8], &str, &str)] = &[
    (b"\xfd7zXZ\0", "xz-compressed", "decompress it first: unxz"),
    (b"BZh", "bzip2-compressed", "decompress it first: bunzip2"),
    (b"\x7fELF", "a program", "give a trace that was recorded of it"),
    (ctf::STREAM_BEGINS[0], ctf::STREAM, ctf::ADVICE),
    (ctf::STREAM_BEGINS[1], ctf::STREAM, ctf::ADVICE),
    (ctf::METADATA_BEGINS[0], ctf::METADATA, ctf::ADVICE),
    (ctf::METADATA_BEGINS[1], ctf::METADATA, ctf::ADVICE),
    (ctf::METADATA_BEGINS[2], ctf::METADATA, ctf::ADVICE),
];

/// Opens the trace at `path`, whatever its format, to yield events of the `wanted` kinds.
///
/// What in it is no trace is damage in its info. A directory is one that was copied out of tracefs:
///
/// ```sh
/// cd /sys/kernel/tracing && echo 0 > tracing_on && mkdir /tmp/dump
/// cp -r --parents events/header_page events/*/*/format trace_clock saved_cmdlines /tmp/dump
/// cp /proc/kallsyms /tmp/dump
/// for cpu in per_cpu/cpu*; do
///     mkdir -p /tmp/dump/$cpu
///     dd iflag=nonblock bs=1M if=$cpu/trace_pipe_raw of=/tmp/dump/$cpu/trace_pipe_raw
/// done
/// ```
///
/// The same below `instances/NAME`, which has no `saved_cmdlines` of its own: that of the top has the names.
/// Only the pages and `events/*/*/format` must be there.
///
/// # Errors
/// [`OpenError`], when there is nothing that could be read as a trace.
pub fn open(path: &Path, wanted: KindSet) -> Result<Box<dyn EventSource>, OpenError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => OpenError::Missing { path: path.to_owned() },
        io::ErrorKind::PermissionDenied => OpenError::Permission { path: path.to_owned() },
        _ => OpenError::Io { name: path.display().to_string(), source },
    };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return raw::open(path, wanted);
    }
    let name = path.display().to_string();
    let start = sniff(&mut file, &name)?;
    if let Some(format) = Seekable::of(&start).filter(|_| metadata.is_file()) {
        return format.open(Arc::new(RandomFile::new(file).map_err(failed)?), &name, wanted);
    }
    from_start(start, Box::new(file), &name, wanted)
}

/// Reads a trace from standard input, as [`open`] would from a file. Formats that need random
/// access, which are all except text, are kept in a temporary file.
///
/// # Errors
/// [`OpenError`], as for [`open`].
pub fn open_stdin(wanted: KindSet) -> Result<Box<dyn EventSource>, OpenError> {
    from_reader(io::stdin(), "standard input", wanted)
}

/// Reads a trace from `reader`, as [`open_stdin`] does; errors use `name` for it.
///
/// # Errors
/// [`OpenError`], as for [`open`].
pub fn from_reader(
    mut reader: impl Read + Send + 'static,
    name: &str,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    let start = sniff(&mut reader, name)?;
    from_start(start, Box::new(reader), name, wanted)
}

/// Formats that are read by offset, so they need a file.
#[derive(Clone, Copy)]
enum Seekable {
    TraceDat,
    Perf,
    Perfetto,
}

impl Seekable {
    fn of(start: &[u8]) -> Option<Seekable> {
        if start.starts_with(TRACE_DAT) {
            Some(Seekable::TraceDat)
        } else if start.starts_with(perf::MAGIC) || start.starts_with(perf::MAGIC_BIG) {
            Some(Seekable::Perf)
        } else {
            perfetto::begins(start).then_some(Seekable::Perfetto)
        }
    }

    fn open(
        self,
        source: Arc<dyn ReadAt>,
        name: &str,
        wanted: KindSet,
    ) -> Result<Box<dyn EventSource>, OpenError> {
        Ok(match self {
            Seekable::TraceDat => match TraceFile::from_source(source, Path::new(name)) {
                Ok(file) => Box::new(file.events(wanted)),
                // Recorded with a latency tracer: its text stands in place of events.
                Err(DatError::Text { text, .. }) => {
                    text_source(text.0, io::empty(), name.to_owned(), wanted)?
                }
                Err(error) => return Err(error.into()),
            },
            Seekable::Perf => read_ahead(Box::new(PerfSource::open(source, name, wanted)?)),
            Seekable::Perfetto => Box::new(PerfettoSource::open(source, name, wanted)?),
        })
    }
}

/// Opens a stream whose first bytes were read, through its layers of compression.
fn from_start(
    mut start: Vec<u8>,
    mut rest: Box<dyn Read + Send>,
    name: &str,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    let io_error = |source| OpenError::Io { name: name.to_owned(), source };
    let notes = Notes::default();
    let mut layers = Vec::new();
    while let Some(packing) = Packing::of(&start) {
        if layers.len() == MOST_LAYERS {
            return Err(OpenError::Layers { name: name.to_owned() });
        }
        layers.push(packing);
        rest = unpack(packing, Box::new(Cursor::new(start).chain(rest)), &notes).map_err(io_error)?;
        start = sniff(&mut rest, name).map_err(|error| match (error, notes.all().pop()) {
            (OpenError::Empty { name }, Some(note)) => {
                OpenError::Unpack { name, packing: packing.name(), what: note.what }
            }
            (error, _) => error,
        })?;
    }
    let source = match Seekable::of(&start) {
        Some(format) => format.open(spool(&mut Cursor::new(start).chain(rest), name)?, name, wanted)?,
        None => text_source(start, rest, name.to_owned(), wanted)?,
    };
    Ok(match layers.is_empty() {
        true => source,
        false => Box::new(packed(source, &layers, notes)),
    })
}

fn sniff(reader: &mut impl Read, name: &str) -> Result<Vec<u8>, OpenError> {
    let mut start = Vec::new();
    let read = reader.take(SNIFFED).read_to_end(&mut start);
    read.map_err(|source| OpenError::Io { name: name.to_owned(), source })?;
    if start.is_empty() {
        return Err(OpenError::Empty { name: name.to_owned() });
    }
    Ok(start)
}

fn text_source(
    start: Vec<u8>,
    rest: impl Read + Send + 'static,
    name: String,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    if let Some(&(_, what, advice)) = NOT_READ.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(OpenError::NotRead { name, what, advice });
    }
    if start.contains(&0) && raw::looks_like_pages(&start) {
        return Err(OpenError::RawAlone { name });
    }
    if has_controls(&start) {
        return Err(OpenError::Binary { name });
    }
    let is_mostly_zeros = 2 * start.iter().filter(|&&byte| byte == 0).count() > start.len();
    // What a mail's encoding hides are the lines of the text.
    let opened = match pasted::is_quoted_printable(&start) {
        true => text::open(Vec::new(), Decoded::new(Cursor::new(start).chain(rest)), wanted).map(movable),
        false => text::open(start, rest, wanted).map(movable),
    };
    match opened {
        Ok((source, true)) => Ok(source),
        Ok((source, false)) => Ok(read_ahead(source)),
        Err(text::TextError::Io(source)) => Err(OpenError::Io { name, source }),
        Err(text::TextError::NoTimes { what, advice }) => Err(OpenError::NotRead { name, what, advice }),
        Err(text::TextError::NoEvents { is_utf8, .. }) if !is_utf8 || is_mostly_zeros => {
            Err(OpenError::Binary { name })
        }
        Err(text::TextError::NoEvents { other: Some(other), lines, .. }) => Err(match other {
            text::Other::Guess { what, advice } => OpenError::LooksLike { name, lines, what, advice },
            text::Other::Stacks(_) => {
                let (what, advice) = text::STACKS;
                OpenError::LooksLike { name, lines, what, advice }
            }
            text::Other::Table { tool, advice } => OpenError::Table { name, tool, advice },
            text::Other::Known { what, advice } => OpenError::NotRead { name, what, advice },
            text::Other::Cases(cases) => {
                let (what, advice) = (cases.what(), cases.advice());
                match cases.known() {
                    Some(known) => OpenError::Cases { name, what, known, advice },
                    None => OpenError::NotRead { name, what, advice },
                }
            }
            text::Other::Figures(figures) => {
                let (what, advice) = (figures.what(), figures.advice());
                match figures.known() {
                    Some(known) => OpenError::Cases { name, what, known, advice },
                    None => OpenError::NotRead { name, what, advice },
                }
            }
            text::Other::KernelLog(log) => OpenError::KernelLog { name, log },
            text::Other::QuietLog => OpenError::QuietKernelLog { name, lines },
        }),
        Err(text::TextError::NoEvents {
            tracer: Some(tracer),
            latency,
            further,
            strange_row,
            has_lost_breaks,
            ..
        }) if is_name(&tracer) => {
            Err(OpenError::HeaderOnly { name, tracer, latency, further, strange_row, has_lost_breaks })
        }
        Err(text::TextError::NoEvents { lines, .. }) => Err(OpenError::NoEvents { name, lines }),
    }
}

/// Whether more than one byte in a hundred is one that no text has. Zeros do not count: a writer that crashed leaves them
/// at the end or between lines; nor do a terminal's escapes.
fn has_controls(start: &[u8]) -> bool {
    let is_control = |byte: &&u8| **byte < b' ' && !matches!(**byte, 0 | 0x07..=0x0d | 0x1b);
    100 * start.iter().filter(is_control).count() > start.len()
}

/// Of those that tracers have: what else a file has there is not shown.
fn is_name(tracer: &str) -> bool {
    !tracer.is_empty() && tracer.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The text's events, and whether all of it has been read.
fn movable(source: TextSource<impl Read + Send + 'static>) -> (Movable, bool) {
    let has_ended = source.has_ended();
    (Box::new(source), has_ended)
}
