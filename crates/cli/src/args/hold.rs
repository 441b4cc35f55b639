//! The command line of `whylate hold-latency`, which a service runs.

use clap::Args;

/// `whylate hold-latency`
#[derive(Debug, Args)]
pub(crate) struct HoldArgs {
    /// The exit latency of idle states, in microseconds, below which the kernel is asked to stay
    #[arg(value_name = "US", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) us: i32,
}
