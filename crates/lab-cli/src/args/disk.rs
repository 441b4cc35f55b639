//! The command line of `whylate-lab disk`.

use super::limit;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `whylate-lab disk`
#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
    /// The kernel, by a name of `whylate lab kernels`; the distribution is the one that has it
    #[arg(short, long, value_name = "NAME", default_value = "6.1-rt")]
    pub(crate) kernel: String,
    /// Install this package as well; makes a disk of its own (repeatable)
    #[arg(long = "package", value_name = "NAME")]
    pub(crate) packages: Vec<String>,
    /// The machine's disk; made if it is not there [default: one that is thrown away]
    #[arg(long, value_name = "FILE")]
    pub(crate) disk: Option<PathBuf>,
    /// Where the files go that the commands wrote to /out; each boot has a directory of its own there
    #[arg(short, long, value_name = "DIR", default_value = "whylate-lab")]
    pub(crate) output: PathBuf,
    /// The program under test [default: whylate beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// End a boot after this time on this machine
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = limit)]
    pub(crate) limit: Duration,
    /// What is done: commands, and `reboot` or `power-cut` between them
    #[arg(required = true, value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
}
