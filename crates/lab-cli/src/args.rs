//! The command line.

mod cases;
mod disk;
mod fixes;
mod limit;
mod mistakes;
mod predict;
mod programs;
mod run;
mod tuning;

pub(crate) use disk::DiskArgs;
pub(crate) use fixes::FixesArgs;
pub(crate) use mistakes::MistakesArgs;
pub(crate) use predict::PredictArgs;
pub(crate) use programs::ProgramsArgs;
pub(crate) use run::RunArgs;
pub(crate) use tuning::TuningArgs;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// The test rig of whylate: known faults on real kernels, and trials of tuning.
///
/// The program under test is `whylate` in the directory of this one. Guests boot in QEMU; `whylate lab kernels` fetches
/// kernels.
#[derive(Debug, Parser)]
#[command(name = "whylate-lab", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run scenarios of known faults on real kernels, and judge the explanations
    ///
    /// Each scenario provokes one fault in a guest and lists the right answers. One line reports each run when it
    /// ends; a table sums them up. Exit codes: 0 all answers are right; 1 some are wrong; 2 some runs failed.
    Run(RunArgs),
    /// Run programs of Debian that are late, or healthy, on real kernels, and judge the explanations
    ///
    /// Each case is a shell script with a label: the right causes and culprits, and how the truth is checked without
    /// the analysis. The programs are unpacked once, from Debian's packages, and kept in the cache; that takes a minute
    /// and mmdebstrap. trace-cmd gives a second reading of the recordings. Exit codes: as of `run`.
    Programs(ProgramsArgs),
    /// Run small programs with one real-time mistake each, and their clean twins, under `whylate doctor`, and judge it
    ///
    /// A comment in the source marks the faulty line. Each program first runs alone and checks its own mistake; where that
    /// does not take place, the run is not judged. The programs run on this machine, one after the other, and need root,
    /// gcc, g++, rustc and python3. Exit codes: as of `run`.
    Mistakes(MistakesArgs),
    /// Run scenarios, follow the first advice of each explanation, and run them again: is the lateness gone?
    ///
    /// The advice is followed as a user does: `whylate apply --from` in the guest, before the first job is due; kernel
    /// parameters at the next boot. Where only a change of the program is advised, the scenario's mended twin runs
    /// (`mended` in its file). Exit codes: 0 all lateness is gone; 1 some is not; 2 some runs failed.
    Fixes(FixesArgs),
    /// Run scenarios before and after a change, and hold what `whylate simulate` predicts against the recording after it
    ///
    /// The prediction is made from the recording before the change. The changes are data: crates/lab-cli/predictions.toml. Exit
    /// codes: 0 every longest response goes where it is predicted to go; 1 some do not; 2 some runs failed.
    Predict(PredictArgs),
    /// Boot a machine with a disk and a distribution, and run commands there
    ///
    /// The disk is made once for each kernel series, from Debian's packages, and kept in the cache; that takes two
    /// minutes, root, and mmdebstrap. GRUB on the disk boots it. A shell runs the commands one after the other,
    /// as root. Between them, `reboot` reboots the machine and `power-cut` cuts its power.
    Disk(DiskArgs),
    /// Tune a machine with a disk, reboot it, verify, roll back, reboot, and compare it with its state before
    ///
    /// The machine's state (files, values of the kernel, threads, units) is read before and after and compared. With
    /// --kill-at, `apply` is killed before one of its changes; with --power-cut, the machine loses its power then.
    /// With --parity, TuneD applies the profile as well, on another machine.
    ///
    /// Exit codes: 0 all checks passed; 1 some failed; 2 the trial could not run.
    Tuning(TuningArgs),
    /// Print the state of this machine as JSON: everything that tuning may change
    #[command(hide = true)]
    State,
    /// Run the job of a machine with a disk, as its service
    #[command(hide = true)]
    Guest,
    /// Run a program, and kill it just before its Nth change to a file, a thread, or another program's start
    ///
    /// Exit codes: the program's own; 128 + 9 if it was killed.
    #[command(hide = true)]
    KillAt {
        /// Which change, counted from 1
        #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        at: u64,
        /// The program, and its arguments
        #[arg(last = true, required = true, value_name = "PROGRAM")]
        command: Vec<OsString>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
