//! The command line of `whylate-lab disk`.

use super::limit::limit;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `whylate-lab disk`
#[derive(Debug, Args)]
pub(crate) struct DiskArgs {
    /// The kernel: a name of `whylate lab kernels`; the Debian release that has it is installed
    #[arg(short, long, value_name = "NAME", default_value = "6.1-rt")]
    pub(crate) kernel: String,
    /// Install this package as well; such a disk is cached separately (repeatable)
    #[arg(long = "package", value_name = "NAME")]
    pub(crate) packages: Vec<String>,
    /// The machine's disk, made if missing [default: a temporary one]
    #[arg(long, value_name = "FILE")]
    pub(crate) disk: Option<PathBuf>,
    /// Directory for the files that the commands write to /out, with one subdirectory for each boot
    #[arg(short, long, value_name = "DIR", default_value = "whylate-lab")]
    pub(crate) output: PathBuf,
    /// The program under test [default: whylate in the directory of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// End a boot after this time (of the host's clock)
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = limit)]
    pub(crate) limit: Duration,
    /// The commands to run, and `reboot` or `power-cut` between them
    #[arg(required = true, value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
}
