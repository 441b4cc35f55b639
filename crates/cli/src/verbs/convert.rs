//! `whylate convert`

mod input;
mod summary;
mod tables;

use self::input::{Input, ledger_options};
use self::summary::summarize;
use super::explain::check_joined;
use crate::args::{ConvertArgs, ConvertFormat};
use crate::atomic_file::AtomicFile;
use crate::exit_status::ExitStatus;
use crate::output::spare;
use anyhow::{Context, Result, bail};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use whylate_base::Ns;
use whylate_events::{EventSource, Kind, KindSet};
use whylate_export::perfetto::{OtherMachine, PacketPart};
use whylate_export::{Cut, Written, dat, json_lines, perfetto, text};
use whylate_investigate::peer::{LinedUp, TripPart, line_up};
use whylate_ledger::{ChainOptions, Options};

/// What is shown of another machine's recording.
const SHOWN_OF_PEER: KindSet = KindSet::of(&[Kind::Switch, Kind::Irq, Kind::Vector, Kind::Softirq]);
/// Bytes gathered before the output is written to.
const GATHERED: usize = 256 << 10;

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitStatus> {
    let to_stdout = args.output.as_os_str() == "-";
    let format = match args.format.or_else(|| ConvertFormat::of_file(&args.output)) {
        Some(format) => format,
        None if to_stdout => ConvertFormat::Text,
        None => bail!("the name {} has no known ending: give a format with --format", args.output.display()),
    };
    args.scope.check()?;
    let peer = peer(args, format)?;
    if to_stdout { stdout(args, format, peer.as_ref()) } else { file(args, format, peer.as_ref()) }
}

/// To standard output, as it comes.
fn stdout(args: &ConvertArgs, format: ConvertFormat, peer: Option<&LinedUp>) -> Result<ExitStatus> {
    if !is_streamed(format) {
        bail!("this format cannot be written to standard output: give the name of a file");
    }
    let stdout = io::stdout().lock();
    if format == ConvertFormat::Perfetto && stdout.is_terminal() {
        bail!("a Perfetto trace is not for a terminal: give the name of a file, or redirect the output");
    }
    let mut input = Input::open(&args.input, format)?;
    let mut out = BufWriter::with_capacity(GATHERED, stdout);
    let written = match stream(&mut input, args, format, peer, &mut out) {
        // The reader closed the pipe: it wants no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitStatus::Done),
        written => written.context("cannot write to standard output")?,
    };
    summarize("standard output", None, args, format, &written, &input);
    Ok(ExitStatus::Done)
}

/// To a file, which is there when it is complete.
fn file(args: &ConvertArgs, format: ConvertFormat, peer: Option<&LinedUp>) -> Result<ExitStatus> {
    spare(&args.input, &args.output)?;
    if format == ConvertFormat::Parquet {
        return tables::run(args);
    }
    let name = args.output.display().to_string();
    let cannot = || format!("cannot write {name}");
    // First of all: a wait for input can be interrupted.
    let mode = if format == ConvertFormat::Dat { whylate_ftrace::dat::write::MODE } else { 0o666 };
    let mut part = AtomicFile::interruptible(&args.output, mode)?;
    let mut input = Input::open(&args.input, format)?;
    let directory = part.directory().to_owned();
    let mut out = BufWriter::with_capacity(GATHERED, part.file());
    let written = match format {
        ConvertFormat::Dat => dat(&mut input, &args.cut(), &directory, &mut out),
        _ => stream(&mut input, args, format, peer, &mut out),
    };
    let written = written.with_context(cannot)?;
    out.flush().with_context(cannot)?;
    drop(out);
    let bytes = part.keep()?;
    summarize(&name, Some(bytes), args, format, &written, &input);
    Ok(ExitStatus::Done)
}

/// Perfetto, with the other machine's tracks where there is one.
fn beside(
    source: &mut dyn EventSource,
    peer: Option<(&Path, &LinedUp)>,
    cut: &Cut,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let Some((file, lined_up)) = peer else {
        return perfetto::write(source, cut, options, out).map(|(written, _)| written);
    };
    let mut theirs = whylate_intake::open(file, SHOWN_OF_PEER).map_err(io::Error::other)?;
    let part = |part: TripPart| PacketPart { start: part.start, end: part.end, thread: part.thread };
    let packets: Vec<[PacketPart; 3]> = lined_up.trips.iter().map(|trip| trip.map(part)).collect();
    let to_own = |at: Ns| lined_up.to_own(at);
    let other =
        OtherMachine { source: &mut *theirs, to_own: &to_own, error: lined_up.error(), packets: &packets };
    perfetto::write_beside(source, cut, options, Some(other), out).map(|(written, _)| written)
}

/// The other machine's recording in the time of this one; `None`: there is none.
fn peer(args: &ConvertArgs, format: ConvertFormat) -> Result<Option<LinedUp>> {
    let Some(peer) = &args.peer else { return Ok(None) };
    if format != ConvertFormat::Perfetto {
        bail!("--peer: only Perfetto traces show two machines: give OUT a name with .perfetto-trace");
    }
    check_joined("--peer", Some(peer), &args.input)?;
    Ok(Some(line_up(&args.input, peer)?))
}

fn is_streamed(format: ConvertFormat) -> bool {
    matches!(format, ConvertFormat::Perfetto | ConvertFormat::Text | ConvertFormat::Jsonl)
}

fn stream(
    input: &mut Input,
    args: &ConvertArgs,
    format: ConvertFormat,
    peer: Option<&LinedUp>,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let cut = args.cut();
    match (format, input) {
        (ConvertFormat::Text, Input::Recorded(file)) => text::write_recorded(file, &cut, out),
        (ConvertFormat::Text, Input::Typed(source)) => text::write(source, &cut, out),
        (ConvertFormat::Perfetto, Input::Typed(source)) => {
            let options = Options { chains: Some(ChainOptions::default()), ..ledger_options(args) };
            beside(source, args.peer.as_deref().zip(peer), &cut, &options, out)
        }
        (_, Input::Typed(source)) => json_lines::write(source, &cut, out),
        (_, Input::Recorded(file)) => json_lines::write(&mut file.events(KindSet::ALL), &cut, out),
    }
}

fn dat(
    input: &mut Input,
    cut: &Cut,
    directory: &Path,
    out: &mut (impl Write + io::Seek),
) -> io::Result<Written> {
    // The pages of each CPU of each buffer wait in a file of their own.
    whylate_sys::raise_open_files();
    match input {
        Input::Recorded(file) => dat::copy(file, cut, directory, out),
        Input::Typed(source) => dat::write(source, cut, directory, out),
    }
}
