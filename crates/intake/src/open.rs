//! Tells a file's format by its first bytes and opens it.

use crate::text;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use whylate_events::{EventSource, KindSet};

/// Enough to tell every format, and to see whether something is text at all.
const SNIFFED: u64 = 64 * 1024;

/// How every trace.dat begins (trace-cmd.dat(5)).
const TRACE_DAT: &[u8] = b"\x17\x08\x44tracing";

const READS: &str = "whylate reads trace.dat (trace-cmd record), the tracefs `trace` file, \
     the output of `trace-cmd report`, and latency tracers such as wakeup_rt";

/// Formats that are known by their first bytes and not read, with what to do instead.
const NOT_READ: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "gzip-compressed", "decompress it first: gunzip"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed", "decompress it first: unzstd"),
    (b"\xfd7zXZ\0", "xz-compressed", "decompress it first: unxz"),
    (b"BZh", "bzip2-compressed", "decompress it first: bunzip2"),
    (b"PERFILE2", "a perf.data file", "record with `whylate record` or `trace-cmd record` instead"),
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
    #[error("{}: is a directory; give a trace file, such as the trace.dat in it", .path.display())]
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
    /// A trace.dat that comes through a pipe.
    #[error("{name} is a trace.dat that cannot be read back and forth; save it to a file and give its path")]
    NotSeekable {
        /// The path, or `standard input`.
        name: String,
    },
    /// Neither text nor any known format.
    #[error("{name} is neither a trace.dat nor text; {READS}")]
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
/// A text trace is read whole; what in it is no trace is damage in its info.
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
        return Err(OpenError::Directory { path: path.to_owned() });
    }
    let name = path.display().to_string();
    let start = sniff(&mut file, &name)?;
    if start.starts_with(TRACE_DAT) {
        if !metadata.is_file() {
            return Err(OpenError::NotSeekable { name });
        }
        return Ok(Box::new(whylate_ftrace::dat::TraceFile::open(path)?.events(wanted)));
    }
    text_source(start, file, name, wanted)
}

/// Reads a text trace from standard input, as [`open`] would from a file.
///
/// # Errors
/// [`OpenError`], as for [`open`]; a trace.dat needs a file.
pub fn open_stdin(wanted: KindSet) -> Result<Box<dyn EventSource>, OpenError> {
    from_reader(io::stdin().lock(), "standard input", wanted)
}

/// Reads a text trace from `reader`; `name` says in errors what it is.
///
/// # Errors
/// [`OpenError`], as for [`open`]; a trace.dat needs a file.
pub fn from_reader(
    mut reader: impl Read,
    name: &str,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    let start = sniff(&mut reader, name)?;
    if start.starts_with(TRACE_DAT) {
        return Err(OpenError::NotSeekable { name: name.to_owned() });
    }
    text_source(start, reader, name.to_owned(), wanted)
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
    mut rest: impl Read,
    name: String,
    wanted: KindSet,
) -> Result<Box<dyn EventSource>, OpenError> {
    if let Some(&(_, what, advice)) = NOT_READ.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(OpenError::NotRead { name, what, advice });
    }
    // A file whose writer crashed may end in zeros, so they do not make it binary by themselves.
    let text = start.iter().take_while(|&&byte| byte != 0).count();
    if start.get(text..).is_some_and(|tail| tail.iter().any(|&byte| byte != 0)) {
        return Err(OpenError::Binary { name });
    }
    let mut bytes = start;
    if let Err(source) = rest.read_to_end(&mut bytes) {
        return Err(OpenError::Io { name, source });
    }
    match text::read(&bytes, wanted) {
        Ok(source) => Ok(Box::new(source)),
        Err(text::NoEvents { .. }) if std::str::from_utf8(&bytes).is_err() || text == 0 => {
            Err(OpenError::Binary { name })
        }
        Err(text::NoEvents { lines }) => Err(OpenError::NoEvents { name, lines }),
    }
}
