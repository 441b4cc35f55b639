//! What `explain`, `record --explain` and the lab explain of a recording.

use super::markers::MarkerArgs;
use super::values::{FailOn, positive_duration};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use whylate_base::Ns;
use whylate_ledger::{Options, Select};

/// What to explain of a trace.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Explain this thread, by name or id (repeatable); default: every real-time thread
    /// except kernel threads
    #[arg(short, long = "task", value_name = "COMM|TID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tasks: Vec<String>,
    /// The response time that must not be exceeded, such as 500us
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) deadline: Option<Ns>,
    #[command(flatten)]
    pub(crate) markers: MarkerArgs,
    /// How many of each thread's worst activations to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) worst: u16,
    /// Exit with 1 when there is a finding of at least this severity
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
}

impl Selection {
    pub(crate) fn options(&self) -> Options {
        Options {
            tasks: self.tasks.iter().map(|task| Select::parse(task)).collect(),
            deadline: self.deadline,
            worst: usize::from(self.worst),
            markers: self.markers.markers(),
            ..Options::default()
        }
    }
}
