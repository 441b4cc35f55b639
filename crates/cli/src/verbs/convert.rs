//! `whylate convert`

use crate::args::{ConvertArgs, ConvertFormat};
use crate::atomic_file::AtomicFile;
use crate::outcome::Outcome;
use crate::output::{say, spare};
use anyhow::{Context, Result, bail};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use whylate_base::Ns;
use whylate_events::{EventSource, KindSet, TraceInfo};
use whylate_export::{Cut, Written, dat, json_lines, perfetto, text};
use whylate_ftrace::dat::TraceFile;
use whylate_ledger::Options;

/// Bytes gathered before the output is written to.
const GATHERED: usize = 256 << 10;
/// More damage than this is no longer read.
const SHOWN_DAMAGE: usize = 5;

pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome> {
    let to_stdout = args.output.as_os_str() == "-";
    let format = match args.format.or_else(|| ConvertFormat::of_file(&args.output)) {
        Some(format) => format,
        None if to_stdout => ConvertFormat::Text,
        None if !cfg!(feature = "parquet") && is_parquet(&args.output) => {
            bail!("this build of whylate cannot write Parquet: build it with --features parquet")
        }
        None => bail!("the name {} tells no format: give one with --format", args.output.display()),
    };
    if args.cut().is_backwards() {
        bail!("--to is before --from: nothing can be between them");
    }
    if to_stdout { stdout(args, format) } else { file(args, format) }
}

/// To standard output, as it comes.
fn stdout(args: &ConvertArgs, format: ConvertFormat) -> Result<Outcome> {
    if !is_streamed(format) {
        bail!("this format cannot be written to standard output: give the name of a file");
    }
    let stdout = io::stdout().lock();
    if format == ConvertFormat::Perfetto && stdout.is_terminal() {
        bail!("a Perfetto trace is not for a terminal: give the name of a file, or redirect the output");
    }
    let mut input = Input::open(&args.input, format)?;
    let mut out = BufWriter::with_capacity(GATHERED, stdout);
    let written = stream(&mut input, args, format, &mut out).context("cannot write to standard output")?;
    tell("standard output", None, args, format, &written, &input);
    Ok(Outcome::Done)
}

/// To a file, which is there when it is complete.
fn file(args: &ConvertArgs, format: ConvertFormat) -> Result<Outcome> {
    spare(&args.input, &args.output)?;
    #[cfg(feature = "parquet")]
    if format == ConvertFormat::Parquet {
        return tables::run(args);
    }
    let name = args.output.display().to_string();
    let cannot = || format!("cannot write {name}");
    // First of all: whoever waits for input can be interrupted.
    let mut part = AtomicFile::interruptible(&args.output)?;
    let mut input = Input::open(&args.input, format)?;
    let directory = part.directory();
    let mut out = BufWriter::with_capacity(GATHERED, part.file());
    let written = match format {
        ConvertFormat::Dat => dat(&mut input, &args.cut(), &directory, &mut out),
        _ => stream(&mut input, args, format, &mut out),
    };
    let written = written.with_context(cannot)?;
    out.flush().with_context(cannot)?;
    drop(out);
    let bytes = part.keep()?;
    tell(&name, Some(bytes), args, format, &written, &input);
    Ok(Outcome::Done)
}

/// Why the output has no event.
fn nothing(args: &ConvertArgs, written: &Written, info: &TraceInfo) -> String {
    let Some((first, last)) = written.span else {
        return format!("this has no events: {}", info.format);
    };
    if written.no_form > 0 {
        return "the output has no event: this format has no form for those of the trace".to_owned();
    }
    // Where reading ended with the cut, the rest is not known.
    let end = if args.to.is_some() { String::new() } else { format!(" to {}", seconds(last)) };
    let begin = seconds(first);
    format!(
        "the output has no event: none of the trace is what was asked for; it goes from {begin}{end}, {} CPUs",
        info.cpus
    )
}

/// An instant as `--from` and `--to` take it.
fn seconds(at: Ns) -> String {
    let (whole, fraction) = (at.0.div_euclid(1_000_000_000), at.0.rem_euclid(1_000_000_000));
    format!("{whole}.{fraction:09}")
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

fn is_streamed(format: ConvertFormat) -> bool {
    matches!(format, ConvertFormat::Perfetto | ConvertFormat::Text | ConvertFormat::Jsonl)
}

/// The trace as it is read.
enum Input {
    /// By its records.
    Recorded(Box<TraceFile>),
    /// By its typed events.
    Typed(Box<dyn EventSource>),
}

impl Input {
    fn open(path: &Path, format: ConvertFormat) -> Result<Input> {
        if path.as_os_str() == "-" {
            return Ok(Input::Typed(whylate_intake::open_stdin(KindSet::ALL)?));
        }
        // What comes through a pipe can be opened only once.
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        if matches!(format, ConvertFormat::Dat | ConvertFormat::Text) && is_file {
            match TraceFile::open(path) {
                Ok(file) if format == ConvertFormat::Text || dat::can_copy(&file) => {
                    return Ok(Input::Recorded(Box::new(file)));
                }
                // Whatever is wrong with it, the general reader says it best.
                _ => {}
            }
        }
        Ok(Input::Typed(whylate_intake::open(path, KindSet::ALL)?))
    }

    fn info(&self) -> &TraceInfo {
        match self {
            Input::Recorded(file) => file.info(),
            Input::Typed(source) => source.info(),
        }
    }
}

fn stream(
    input: &mut Input,
    args: &ConvertArgs,
    format: ConvertFormat,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let cut = args.cut();
    match (format, input) {
        (ConvertFormat::Text, Input::Recorded(file)) => text::write_recorded(file, &cut, out),
        (ConvertFormat::Text, Input::Typed(source)) => text::write(source, &cut, out),
        (ConvertFormat::Perfetto, Input::Typed(source)) => {
            perfetto::write(source, &cut, &explained(args), out).map(|(written, _)| written)
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

fn explained(args: &ConvertArgs) -> Options {
    Options { tasks: args.cut().tasks, worst: usize::from(args.worst), ..Options::default() }
}

/// What was done, on standard error: standard output is for answers.
fn tell(
    name: &str,
    bytes: Option<u64>,
    args: &ConvertArgs,
    format: ConvertFormat,
    written: &Written,
    input: &Input,
) {
    // Behind --to nothing is read, and so not counted.
    let mut parts = vec![match written.events == written.read || args.to.is_some() {
        true => format!("{} events", written.events),
        false => format!("{} of {} events", written.events, written.read),
    }];
    if written.activations > 0 {
        parts.push(format!("{} activations explained", written.activations));
    }
    if let Some(bytes) = bytes {
        parts.push(format!("{:.1} MB", bytes as f64 / 1e6));
    }
    say!("{name}: {}", parts.join(", "));
    if written.no_form > 0 {
        say!("note: {} events of no known type were left out", written.no_form);
    }
    if written.bare > 0 {
        say!("note: of {} events of no known type only time, CPU and thread are kept", written.bare);
    }
    if written.events == 0 {
        say!("note: {}", nothing(args, written, input.info()));
    }
    for choice in &written.unmet {
        say!("note: the trace has no event {choice}, as far as it was read");
    }
    let info = input.info();
    // Text has a latency tracer's own lines.
    let is_left_out = info.latency.is_some() && format != ConvertFormat::Text;
    if is_left_out || !info.breakdowns.is_empty() {
        say!(
            "note: what the {} measured is no event, and so not in the output: explain it as it is",
            info.format
        );
    }
    let damage = &info.damage;
    for damage in damage.iter().take(SHOWN_DAMAGE) {
        say!("note: damage {damage}");
    }
    if damage.len() > SHOWN_DAMAGE {
        say!("note: {} more damaged places", damage.len() - SHOWN_DAMAGE);
    }
}

#[cfg(feature = "parquet")]
mod tables;
