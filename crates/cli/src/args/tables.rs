//! `whylate tables`

use super::values::positive_duration;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_ledger::{Options, Select};
use whylate_tables::{DateSource, MachineSource, TableOptions};

/// `whylate tables`
#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    /// Recordings, measurements (ours, and those that `compare` reads), documents of check, doctor and explain --json,
    /// snapshots and bundles
    #[arg(value_name = "INPUT", required_unless_present = "list")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Read the names of further inputs from this file, one a line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) list: Option<PathBuf>,
    /// The directory of the tables; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Explain this thread of recordings, by name or id (repeatable); default: every real-time thread except kernel threads
    #[arg(short, long = "task", value_name = "COMM|TID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tasks: Vec<String>,
    /// Keep also the activations that miss this response time, such as 500us, up to 1,000 of each thread
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) deadline: Option<Ns>,
    /// How many of each thread's worst activations to keep
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) worst: u16,
    /// Keep every activation with its ledger; those beyond the worst have no verdict
    #[arg(long)]
    pub(crate) all: bool,
    /// The name of the machine of all inputs [default: as far as the inputs have one]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "machine_from_directory")]
    pub(crate) machine: Option<String>,
    /// Name the machine of an input by the directory that the input is in
    #[arg(long)]
    pub(crate) machine_from_directory: bool,
    /// Replace the names of machines by a hash that is stable in this directory, and leave out the names of files
    #[arg(long)]
    pub(crate) hide_names: bool,
    /// The day of inputs that have none: YYYY-MM-DD, or `mtime` for the day of their last change
    #[arg(long, value_name = "DAY")]
    pub(crate) date: Option<DateSource>,
    /// Replace the rows of inputs that are there already
    #[arg(long)]
    pub(crate) replace: bool,
}

impl TablesArgs {
    /// What is imported and as what; `key` hides names.
    pub(crate) fn options(&self, key: Option<Vec<u8>>) -> TableOptions {
        TableOptions {
            explain: Options {
                tasks: self.tasks.iter().map(|task| Select::parse(task)).collect(),
                deadline: self.deadline,
                worst: usize::from(self.worst),
                ..Options::default()
            },
            all: self.all,
            machine: match &self.machine {
                Some(name) => MachineSource::Name(name.clone()),
                None if self.machine_from_directory => MachineSource::Directory,
                None => MachineSource::Content,
            },
            hide_names: key,
            date: self.date.clone().unwrap_or_default(),
        }
    }
}
