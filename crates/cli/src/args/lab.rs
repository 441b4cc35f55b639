//! The command line of `whylate lab`.

use super::{Selection, file_to_write, positive_duration};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_lab::scenario::Time;

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// List the kernels, fetch them, remove them
    ///
    /// Kernels come from a Debian mirror, the one of this machine's apt sources; elsewhere set
    /// WHYLATE_LAB_MIRROR to the address of one. They are unpacked into a cache, and nothing is installed.
    Kernels(KernelsArgs),
    /// Run a program in a guest, recorded and explained
    ///
    /// The program may be static or dynamic: its libraries are brought along. It runs in a directory of
    /// its own, as root; the files it writes there come back, with the recording, its output and the console.
    /// Exit codes are those of `whylate explain`; with --no-record 0 if the program ended with 0, otherwise 2.
    Exec(ExecArgs),
    /// Run scenarios of known faults on real kernels, and judge the explanations
    ///
    /// Each scenario provokes one fault in a guest and knows the right answer. A line tells of each run as
    /// it ends; a table sums them up. Exit codes: 0 all answers are right; 1 some are not; 2 some did not run.
    Run(crate::verbs::lab::run::RunArgs),
    /// Boot a machine with a disk and a distribution, and run commands there
    ///
    /// The disk is made once for each kernel series, from Debian's packages, and kept in the cache; that takes two
    /// minutes, root, and mmdebstrap. GRUB on the disk boots it. Commands are run by a shell, one
    /// after the other, as root; `reboot` and
    /// `power-cut` between them are not commands, but happen to the machine.
    Disk(DiskArgs),
    /// Tune a machine with a disk, reboot it, verify, roll back, reboot: is all as it was?
    ///
    /// The machine's state (files, values of the kernel, threads, units) is taken before and after and compared.
    /// With --kill-at and --power-cut, `apply` dies in the middle, or the whole machine does. With
    /// --parity, the profile is applied by TuneD as well, on another machine.
    ///
    /// Exit codes: 0 all is right; 1 something is not; 2 could not do it.
    Tuning(TuningArgs),
    /// Print the state of this machine: everything tuning may change, as JSON
    #[command(hide = true)]
    State,
    /// What the guest runs as its init, or as a service of the one it has
    #[command(hide = true)]
    Guest {
        /// As a service
        #[arg(long)]
        service: bool,
    },
}

/// `whylate lab kernels`
#[derive(Debug, Args)]
pub(crate) struct KernelsArgs {
    /// Fetch these kernels, or `all`; one that is cached is replaced by the newest of its series
    #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "remove")]
    pub(crate) fetch: Vec<String>,
    /// Remove these kernels from the cache, or `all`
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) remove: Vec<String>,
    /// Write JSON to standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// `whylate lab disk`
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
    /// End a boot after this time on this machine
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = positive_duration)]
    pub(crate) limit: Ns,
    /// What is done: commands, and `reboot` or `power-cut` between them
    #[arg(required = true, value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
}

/// `whylate lab tuning`
#[derive(Debug, Args)]
pub(crate) struct TuningArgs {
    /// The kernel, by a name of `whylate lab kernels`; the distribution is the one that has it (repeatable)
    #[arg(short, long = "kernel", value_name = "NAME", default_values = ["6.1-rt", "6.12-rt"])]
    pub(crate) kernels: Vec<String>,
    /// The profile (repeatable)
    #[arg(long = "profile", value_name = "NAME", default_value = "realtime")]
    pub(crate) profiles: Vec<String>,
    /// The CPUs to isolate, of four
    #[arg(long, value_name = "LIST", default_value = "2-3")]
    pub(crate) isolated: String,
    /// A value for a variable of the profile (repeatable)
    #[arg(long = "set", value_name = "VAR=VALUE")]
    pub(crate) set: Vec<String>,
    /// Allow what a plan is refused for (repeatable)
    #[arg(long, value_name = "CODE")]
    pub(crate) allow: Vec<String>,
    /// Measure for so many seconds before and after
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["kill_at", "power_cut", "parity"])]
    pub(crate) measure: Option<u32>,
    /// `apply` kills itself at each of these steps; instead of the story
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) kill_at: Vec<u32>,
    /// The machine loses its power at each of these steps; instead of the story
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) power_cut: Vec<u32>,
    /// Compare with TuneD, and write parity.md into the directory of --output; instead of the story
    #[arg(long, conflicts_with_all = ["kill_at", "power_cut"])]
    pub(crate) parity: bool,
    /// Boot nothing: compare what an earlier run with --parity has left in the directory of --output
    #[arg(long, requires = "parity")]
    pub(crate) no_run: bool,
    /// Where the machines' disks and all that came back of them go, one directory each
    #[arg(short, long, value_name = "DIR", default_value = "whylate-lab")]
    pub(crate) output: PathBuf,
    /// End a boot after this time on this machine
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = positive_duration)]
    pub(crate) limit: Ns,
    /// Write JSON to standard output: every finding
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which guest.
#[derive(Debug, Args)]
pub(crate) struct GuestArgs {
    /// The kernel: a name of `whylate lab kernels`, fetched if need be, or a bzImage (vmlinuz)
    #[arg(short, long, value_name = "NAME|PATH")]
    pub(crate) kernel: String,
    /// The kernel's modules, for a bzImage: what is /lib/modules/RELEASE where it is installed
    #[arg(long, value_name = "DIR")]
    pub(crate) modules: Option<PathBuf>,
    /// How many CPUs the guest has
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) cpus: u32,
    /// Who keeps the guest's time
    #[arg(long, value_name = "TIME", default_value = "virtual")]
    pub(crate) time: GuestTime,
    /// Kernel parameters, such as "isolcpus=1 nohz_full=1" (repeatable)
    #[arg(long, value_name = "PARAMETERS", allow_hyphen_values = true)]
    pub(crate) append: Vec<String>,
    /// The guest's memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 768, value_parser = clap::value_parser!(u32).range(256..=65_536))]
    pub(crate) memory: u32,
    /// End the guest after this time on this machine
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = positive_duration)]
    pub(crate) limit: Ns,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GuestTime {
    /// The emulator counts instructions, 2 ns each: what this machine does meanwhile does not show
    Virtual,
    /// This machine's clock: its noise is time stolen from the guest
    Free,
}

impl From<GuestTime> for Time {
    fn from(time: GuestTime) -> Time {
        match time {
            GuestTime::Virtual => Time::Virtual,
            GuestTime::Free => Time::Free,
        }
    }
}

/// `whylate lab exec`
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Put this directory's files where the program runs; PROGRAM is then one of them
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Put this file or directory where the program runs, or at GUEST (repeatable)
    #[arg(long = "file", value_name = "HOST[:GUEST]")]
    pub(crate) files: Vec<String>,
    /// Run this program beside PROGRAM, from before it begins; arguments are split at blanks (repeatable)
    #[arg(long, value_name = "PROGRAM ARGS", allow_hyphen_values = true)]
    pub(crate) with: Vec<String>,
    /// Write VALUE to PATH in the guest first, such as a sysctl's file in /proc/sys (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Do not record: run the program only, and print what it prints
    #[arg(long)]
    pub(crate) no_record: bool,
    /// Where the files go that come back
    #[arg(short, long, value_name = "DIR", default_value = "whylate-lab")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write JSON to standard output
    #[arg(long, conflicts_with = "no_record")]
    pub(crate) json: bool,
    /// Also write the report as one self-contained HTML file
    #[arg(long, value_name = "REPORT.html", conflicts_with = "no_record", value_parser = file_to_write())]
    pub(crate) report: Option<PathBuf>,
    /// The program to run, and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<String>,
}
