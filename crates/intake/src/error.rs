//! Why a trace could not be opened.

use crate::text::KernelLog;
use crate::unpack::MOST_LAYERS;
use std::io;
use std::path::PathBuf;
use whylate_base::Cpu;
use whylate_events::LatencyTrace;

const READS: &str = "whylate reads trace.dat (trace-cmd record), perf.data (perf sched record), Perfetto traces, \
     the tracefs `trace` file, the output of `trace-cmd report`, `perf script`, `perf sched timehist` and `rtla`, latency tracers such as \
     wakeup_rt, the tracers timerlat, osnoise and hwlat, any of them in gzip or zstd, and directories with copies \
     of per_cpu/cpu*/trace_pipe_raw";

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
        /// The system's error.
        source: io::Error,
    },
    /// The file is empty.
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
    /// gzip or zstd that could not be decompressed.
    #[error("{name} is {packing}-compressed and cannot be decompressed: {what}")]
    Unpack {
        /// The path, or `standard input`.
        name: String,
        /// gzip or zstd.
        packing: &'static str,
        /// What was wrong.
        what: String,
    },
    /// Compressed many times.
    #[error("{name} is compressed more than {MOST_LAYERS} times; decompress it first")]
    Layers {
        /// The path, or `standard input`.
        name: String,
    },
    /// A temporary file failed.
    #[error(
        "{name} needs random access through a temporary file, and that failed in {}; set another directory: TMPDIR=DIR",
        .directory.display()
    )]
    Spool {
        /// The path, or `standard input`.
        name: String,
        /// Where the temporary file was to be.
        directory: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// What must be kept in a temporary file does not fit.
    #[error(
        "{name} needs random access through a temporary file, and more than {bytes} bytes do not fit into {}; set a \
         directory with more space: TMPDIR=DIR",
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
    /// A perf.data without events that show latency.
    #[error("{name} is a perf.data that {what}; {advice}")]
    Perf {
        /// The path, or `standard input`.
        name: String,
        /// What is wrong with it.
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
        "{name} holds raw ring-buffer pages of one CPU, which cannot be read without the kernel's event formats; \
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
        /// What is wrong with it.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// Neither text nor any known format.
    #[error("{name} is not a trace of a supported format; {READS}")]
    Binary {
        /// The path, or `standard input`.
        name: String,
    },
    /// Text without an event.
    #[error("{name}: no trace event line found in its {lines} lines; {READS}")]
    NoEvents {
        /// The path, or `standard input`.
        name: String,
        /// How many lines were read.
        lines: u64,
    },
    /// Text without an event, of which one line lets one guess what it is.
    #[error("{name}: no trace event line found in its {lines} lines; it looks like {what}; {advice}")]
    LooksLike {
        /// The path, or `standard input`.
        name: String,
        /// How many lines were read.
        lines: u64,
        /// What it may be.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A tracer's header without a line below it.
    #[error(
        "{name} has the header of the tracer {tracer} and no events below it: {}",
        below_a_header(.latency.as_deref(), .further, *.strange_row, *.has_lost_breaks)
    )]
    HeaderOnly {
        /// The path, or `standard input`.
        name: String,
        /// As `current_tracer` names it.
        tracer: String,
        /// What the header reports, if the tracer is one of latencies.
        latency: Option<Box<LatencyTrace>>,
        /// What the headers behind it report.
        further: Vec<LatencyTrace>,
        /// The first line below the header that begins as a row does, in no known form.
        strange_row: Option<u64>,
        /// The lines of the text were put into one.
        has_lost_breaks: bool,
    },
    /// A list of single delays.
    #[error("{name} is {what}. Known of it: {known}; {advice}")]
    Cases {
        /// The path, or `standard input`.
        name: String,
        /// Which program printed it, and what it lacks.
        what: &'static str,
        /// The largest delay.
        known: String,
        /// What to do.
        advice: &'static str,
    },
    /// A table that another tool made of a recording.
    #[error("{name} is a table of {tool}: it has sums, and not the events that they were made of; {advice}")]
    Table {
        /// The path, or `standard input`.
        name: String,
        /// The tool.
        tool: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A log of the kernel with messages about what is late.
    #[error(
        "{name} is {}, and no trace. {log}. To see which threads ran meanwhile, record a trace as it happens: \
         `whylate record`",
        log.what()
    )]
    KernelLog {
        /// The path, or `standard input`.
        name: String,
        /// Its messages.
        log: Box<KernelLog>,
    },
    /// The kernel's log, without a message that is known to be about what is late.
    #[error(
        "{name} is a log of the kernel, and no trace. None of its {lines} lines is a message about lateness that whylate knows, such as a \
         lockup, an RCU stall, a hung task or a long interrupt. To see whether threads are late, record a trace: \
         `whylate record`"
    )]
    QuietKernelLog {
        /// The path, or `standard input`.
        name: String,
        /// How many lines were read.
        lines: u64,
    },
    /// A trace.dat that cannot be opened.
    #[error(transparent)]
    TraceDat(#[from] whylate_ftrace::dat::DatError),
}

/// What a header reports, and what may be missing below it.
fn below_a_header(
    latency: Option<&LatencyTrace>,
    further: &[LatencyTrace],
    strange_row: Option<u64>,
    has_lost_breaks: bool,
) -> String {
    let further: String = further
        .iter()
        .map(|trace| {
            format!("; a further header, of the tracer {}, reports {}", trace.tracer.name(), reported(trace))
        })
        .collect();
    match (latency, strange_row) {
        (Some(latency), _) if has_lost_breaks => format!(
            "the line breaks of the text are gone; its header reports {}{further}; give the text with its lines, as the tracefs file \
             `trace` has them",
            reported(latency)
        ),
        (Some(latency), _) => format!(
            "its header reports {}, and no line below it has the form in which the kernel prints lines: what ran meanwhile is not \
             known{further}; give the text with the lines below the header, as the tracefs file `trace` has them",
            reported(latency)
        ),
        (None, Some(line)) => format!(
            "the rows below it are in no known form, the first is line {line}; give the text as the kernel prints it, as the \
             tracefs file `trace` has it"
        ),
        (None, None) => "was tracing on when it was read (cat /sys/kernel/tracing/tracing_on), and were events enabled? A latency \
                 tracer has lines once it met a latency above its threshold (tracing_thresh)"
            .to_owned(),
    }
}

/// `37.35 ms on CPU 0, from irqentry_enter to irqentry_exit`, as far as the header has it.
fn reported(latency: &LatencyTrace) -> String {
    let mut text = latency.latency.to_string();
    if latency.cpu != Cpu::UNKNOWN {
        text.push_str(&format!(" on CPU {}", latency.cpu.0));
    }
    if let Some(task) = latency.task.as_ref().filter(|task| latency.tracer.is_wakeup() || !task.tid.is_idle())
    {
        let word = if latency.tracer.is_wakeup() { "of" } else { "in" };
        text.push_str(&format!(" {word} {}-{}", task.comm, task.tid.0));
    }
    for (word, function) in [("from", &latency.started_at), ("to", &latency.ended_at)] {
        text.extend(function.iter().map(|function| format!(" {word} {function}")));
    }
    text
}
