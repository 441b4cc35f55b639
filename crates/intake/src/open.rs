//! Tells a file's format by its first bytes and opens it.

use crate::perf::{self, PerfSource};
use crate::perfetto::{self, PerfettoSource};
use crate::random::{RandomFile, ReadAt};
use crate::unpack::spool::spool;
use crate::unpack::{MOST_LAYERS, Notes, Packing, packed, unpack};
use crate::{raw, text};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whylate_events::{EventSource, KindSet};
use whylate_ftrace::dat::{DatError, TraceFile};

/// Enough to tell every format, and to see whether something is text at all.
const SNIFFED: u64 = 64 * 1024;

/// How every trace.dat begins (trace-cmd.dat(5)).
const TRACE_DAT: &[u8] = b"\x17\x08\x44tracing";

const READS: &str = "whylate reads trace.dat (trace-cmd record), perf.data (perf sched record), Perfetto traces, \
     the tracefs `trace` file, the output of `trace-cmd report`, `perf script` and `rtla`, latency tracers such as \
     wakeup_rt, the tracers timerlat, osnoise and hwlat, any of them in gzip or zstd, and directories with copies \
     of per_cpu/cpu*/trace_pipe_raw";

/// Formats that are known by their first bytes and not read, with what to do instead.
const NOT_READ: &[(&[u8], &str, &str)] = &[
    (b"\xfd7zXZ\0", "xz-compressed", "decompress it first: unxz"),
    (b"BZh", "bzip2-compressed", "decompress it first: bunzip2"),
    (b"\x7fELF", "a program", "give the trace that was recorded of it"),
];

/// Why a trace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such file.
    #[error("{}: no such file", .path.display())]
    Missing {
        /// The path that was tried.
        path: PathBuf,
    },
    /// It is a directory.
    #[error(
        "{}: is a directory without per_cpu/cpu*/trace_pipe_raw; give a trace file, such as the trace.dat in it",
        .path.display()
    )]
    Directory {
        /// The path that was tried.
        path: PathBuf,
    },
    /// The file may not be read by this user.
    #[error("{}: no permission to read it; run as its owner or with sudo, or have it made readable (chmod a+r)", .path.display())]
    Permission {
        /// The path that was tried.
        path: PathBuf,
    },
    /// Reading failed.
    #[error("cannot read {name}")]
    Io {
        /// The path, or `standard input`.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{name} is empty: was the recording stopped before anything was written?")]
    Empty {
        /// The path, or `standard input`.
        name: String,
    },
    /// A format that is known and not read.
    #[error("{name} is {what}; {advice}")]
    NotRead {
        /// The path, or `standard input`.
        name: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// gzip or zstd of which nothing could be unpacked.
    #[error("{name} is {packing}-compressed and nothing of it can be unpacked: {what}")]
    Unpack {
        /// The path, or `standard input`.
        name: String,
        /// gzip or zstd.
        packing: &'static str,
        /// What was wrong.
        what: String,
    },
    /// Packed many times over.
    #[error("{name} is compressed more than {MOST_LAYERS} times over; unpack it first")]
    Layers {
        /// The path, or `standard input`.
        name: String,
    },
    /// A temporary file failed.
    #[error(
        "{name} must be kept in a temporary file to be read back and forth, and that failed in {}; \
         give another directory: TMPDIR=DIR",
        .directory.display()
    )]
    Spool {
        /// The path, or `standard input`.
        name: String,
        /// Where the temporary file was to be.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What must be kept in a temporary file does not fit.
    #[error(
        "{name} must be kept in a temporary file to be read back and forth, and more than {bytes} bytes do not fit \
         into {}; give a directory with more room: TMPDIR=DIR",
        .directory.display()
    )]
    SpoolFull {
        /// The path, or `standard input`.
        name: String,
        /// Where the temporary file was.
        directory: PathBuf,
        /// How much was written.
        bytes: u64,
    },
    /// A perf.data that tells nothing of lateness.
    #[error("{name} is a perf.data that {what}; {advice}")]
    Perf {
        /// The path, or `standard input`.
        name: String,
        /// What is the matter with it.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// A Perfetto trace without scheduling.
    #[error("{name} is a Perfetto trace without ftrace events; {advice}")]
    Perfetto {
        /// The path, or `standard input`.
        name: String,
        /// What to do.
        advice: &'static str,
    },
    /// Ring-buffer pages without what describes them.
    #[error(
        "{name} holds raw ring-buffer pages of one CPU, which mean nothing without the kernel's event formats; \
         give a directory with them in per_cpu/cpuN/trace_pipe_raw, and copies of events/header_page and events/*/*/format"
    )]
    RawAlone {
        /// The path, or `standard input`.
        name: String,
    },
    /// A copy of tracefs that lacks what is needed.
    #[error("{}: {what}; {advice}", .path.display())]
    RawDump {
        /// The directory.
        path: PathBuf,
        /// What is the matter with it.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// Neither text nor any known format.
    #[error("{name} is no trace of a known format; {READS}")]
    Binary {
        /// The path, or `standard input`.
        name: String,
    },
    /// Text without one event.
    #[error("{name}: no trace event line found in its {lines} lines; {READS}")]
    NoEvents {
        /// The path, or `standard input`.
        name: String,
        /// How many lines were looked at.
        lines: u64,
    },
    /// A trace.dat that cannot be opened.
    #[error(transparent)]
    TraceDat(#[from] whylate_ftrace::dat::DatError),
}

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
    if let Some(format) = Random::of(&start).filter(|_| metadata.is_file()) {
        return format.open(Arc::new(RandomFile::new(file).map_err(failed)?), &name, wanted);
    }
    from_start(start, Box::new(file), &name, wanted)
}

/// Reads a trace from standard input, as [`open`] would from a file. What must be read back and forth,
/// which is all but text, is kept in a temporary file meanwhile.
///
/// # Errors
/// [`OpenError`], as for [`open`].
pub fn open_stdin(wanted: KindSet) -> Result<Box<dyn EventSource>, OpenError> {
    from_reader(io::stdin().lock(), "standard input", wanted)
}

/// Reads a trace from `reader`, as [`open_stdin`] does; `name` says in errors what it is.
///
/// # Errors
/// [`OpenError`], as for [`open`].
pub fn from_reader(
    mut reader: impl Read + 'static,
    name: &str,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    let start = sniff(&mut reader, name)?;
    from_start(start, Box::new(reader), name, wanted)
}

/// Formats that are read back and forth.
#[derive(Clone, Copy)]
enum Random {
    TraceDat,
    Perf,
    Perfetto,
}

impl Random {
    fn of(start: &[u8]) -> Option<Random> {
        if start.starts_with(TRACE_DAT) {
            Some(Random::TraceDat)
        } else if start.starts_with(perf::MAGIC) || start.starts_with(perf::MAGIC_BIG) {
            Some(Random::Perf)
        } else {
            perfetto::begins(start).then_some(Random::Perfetto)
        }
    }

    fn open(
        self,
        source: Arc<dyn ReadAt>,
        name: &str,
        wanted: KindSet,
    ) -> Result<Box<dyn EventSource>, OpenError> {
        Ok(match self {
            Random::TraceDat => match TraceFile::from_source(source, Path::new(name)) {
                Ok(file) => Box::new(file.events(wanted)),
                // Recorded with a latency tracer: its text stands in place of events.
                Err(DatError::Text { text, .. }) => {
                    text_source(text.0, io::empty(), name.to_owned(), wanted)?
                }
                Err(error) => return Err(error.into()),
            },
            Random::Perf => Box::new(PerfSource::open(source, name, wanted)?),
            Random::Perfetto => Box::new(PerfettoSource::open(source, name, wanted)?),
        })
    }
}

/// Goes on with a stream whose first bytes were read, through however many layers of packing.
fn from_start(
    mut start: Vec<u8>,
    mut rest: Box<dyn Read>,
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
    let source = match Random::of(&start) {
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
    rest: impl Read + 'static,
    name: String,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    if let Some(&(_, what, advice)) = NOT_READ.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(OpenError::NotRead { name, what, advice });
    }
    // A file whose writer crashed may end in zeros, so they do not make it binary by themselves.
    let text = start.iter().take_while(|&&byte| byte != 0).count();
    if start.get(text..).is_some_and(|tail| tail.iter().any(|&byte| byte != 0)) {
        return Err(match raw::looks_like_pages(&start) {
            true => OpenError::RawAlone { name },
            false => OpenError::Binary { name },
        });
    }
    match text::open(start, rest, wanted) {
        Ok(source) => Ok(Box::new(source)),
        Err(text::TextError::Io(source)) => Err(OpenError::Io { name, source }),
        Err(text::TextError::NoEvents { is_utf8, .. }) if !is_utf8 || text == 0 => {
            Err(OpenError::Binary { name })
        }
        Err(text::TextError::NoEvents { lines, .. }) => Err(OpenError::NoEvents { name, lines }),
    }
}
