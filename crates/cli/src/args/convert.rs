//! `whylate convert`

use super::scope::ScopeArgs;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use whylate_export::{Choice, Cut};
use whylate_ledger::Select;

/// `whylate convert`
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The trace; `-` reads it from standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file to write; `-` writes to standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write [default: by the name of OUT: .perfetto-trace or .pftrace, .dat, .txt, .jsonl, and
    /// .parquet; text to standard output]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ConvertFormat>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Keep the events in this thread's context or about it, by name or id (repeatable); the
    /// explanation covers these threads
    #[arg(short, long = "task", value_name = "COMM|TID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tasks: Vec<String>,
    /// Keep these events (repeatable): a tracepoint, such as sched_switch or sched:sched_switch, a group, such
    /// as irq_vectors, or a kind, such as syscall
    #[arg(short, long = "event", value_name = "EVENT")]
    pub(crate) events: Vec<Choice>,
    /// For Perfetto: PEER was recorded at the same time on another machine, with which IN's exchanged packets; its CPUs and the
    /// packets are tracks in IN's time
    #[arg(long, value_name = "PEER")]
    pub(crate) peer: Option<PathBuf>,
    /// For Perfetto and Parquet: how many of each thread's worst activations to include
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) worst: u16,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertFormat {
    /// For ui.perfetto.dev, with ledger and verdicts as additional tracks, and sampled call stacks
    Perfetto,
    /// trace.dat version 7, for trace-cmd and KernelShark
    Dat,
    /// As `trace-cmd report` prints it, with nanoseconds
    Text,
    /// One JSON object per line, schema whylate.events/1
    Jsonl,
    /// Tables for data frames: events, activations, segments
    Parquet,
}

impl ConvertFormat {
    /// The format that a file's name asks for; `None` where it names none.
    pub(crate) fn of_file(path: &Path) -> Option<ConvertFormat> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "perfetto-trace" | "pftrace" | "perfetto" => Some(ConvertFormat::Perfetto),
            "dat" => Some(ConvertFormat::Dat),
            "txt" => Some(ConvertFormat::Text),
            "jsonl" | "ndjson" => Some(ConvertFormat::Jsonl),
            "parquet" => Some(ConvertFormat::Parquet),
            _ => None,
        }
    }
}

impl ConvertArgs {
    /// What of the trace is kept.
    pub(crate) fn cut(&self) -> Cut {
        Cut {
            scope: self.scope.scope(),
            tasks: self.tasks.iter().map(|task| Select::parse(task)).collect(),
            events: self.events.clone(),
        }
    }
}
