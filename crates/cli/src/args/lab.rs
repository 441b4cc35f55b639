//! The command line of `whylate lab`.

use super::selection::Selection;
use super::values::{file_to_write, positive_duration};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_lab::{Arch, TimeSource};

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// List the kernels, fetch them, remove them
    ///
    /// Kernels come from a Debian mirror, the one of this machine's apt sources; elsewhere set
    /// WHYLATE_LAB_MIRROR to the address of one. They are unpacked into a cache, and nothing is installed.
    Kernels(KernelsArgs),
    /// Run a program in a guest, recorded and explained
    ///
    /// The program may be static or dynamic: its libraries are brought along, for a script its interpreter, for Python
    /// its library, for a shell the programs that the script names. What a program loads by itself, such as plug-ins and
    /// modules of other packages, comes with --file and --dir. It runs in a directory of its own, as root; the files it
    /// writes there come back, with the recording, its output and the console. Its exit code is reported first.
    /// A program for another architecture must be static, or its libraries be those of Debian's cross compiler. `/whylate` is
    /// the guest's own whylate: `-- /whylate check` checks the guest.
    /// Exit codes are those of `whylate explain`, with --prove those of `whylate prove`, and 2 if it was interrupted at --limit; with --no-record 0 if the program
    /// ended with 0, otherwise 2.
    Exec(Box<ExecArgs>),
    /// The guest's init
    #[command(hide = true)]
    Guest,
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
    /// Kernels for guests of this architecture: x86_64 or arm64 [default: this machine's]
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<Arch>,
    /// Write JSON to standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which guest.
#[derive(Debug, Args)]
pub(crate) struct GuestArgs {
    /// The kernel: a name of `whylate lab kernels`, fetched if need be, or an image (vmlinuz: a bzImage of x86, an Image of
    /// arm64)
    #[arg(short, long, value_name = "NAME|PATH")]
    pub(crate) kernel: String,
    /// The guest's architecture: x86_64 or arm64 [default: that of the image, otherwise this machine's]
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<Arch>,
    /// The whylate of the guest, built for its architecture [default: this program; for another architecture one beside it:
    /// whylate-arm64, or where cargo puts it, ../aarch64-unknown-linux-musl/release/whylate]
    #[arg(long, value_name = "FILE")]
    pub(crate) whylate: Option<PathBuf>,
    /// The kernel's modules, for an image: what is /lib/modules/RELEASE where it is installed
    #[arg(long, value_name = "DIR")]
    pub(crate) modules: Option<PathBuf>,
    /// How many CPUs the guest has
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) cpus: u32,
    /// Which clock the guest's time follows [default: virtual; free with --host-too and --peer]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<GuestTime>,
    /// Kernel parameters, such as "isolcpus=1 nohz_full=1" (repeatable)
    #[arg(long, value_name = "PARAMETERS", allow_hyphen_values = true)]
    pub(crate) append: Vec<String>,
    /// The guest's memory, in MiB; where its files need more, it has more, and a note says so
    #[arg(long, value_name = "MIB", default_value_t = 768, value_parser = clap::value_parser!(u32).range(256..=65_536))]
    pub(crate) memory: u32,
    /// Interrupt the programs after this time on this machine (SIGINT), and end the guest 30 s later
    #[arg(long, value_name = "DURATION", default_value = "120s", value_parser = positive_duration)]
    pub(crate) limit: Ns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuestTime {
    /// The emulator counts instructions, 2 ns each: what this machine does meanwhile does not show
    Virtual,
    /// This machine's clock: its noise is time stolen from the guest
    Free,
}

impl From<GuestTime> for TimeSource {
    fn from(time: GuestTime) -> TimeSource {
        match time {
            GuestTime::Virtual => TimeSource::Virtual,
            GuestTime::Free => TimeSource::Free,
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
    /// The recorder's ring buffer per CPU, in KiB; larger loses fewer events [default: as `whylate record`]
    #[arg(long, value_name = "KIB", conflicts_with = "no_record", value_parser = clap::value_parser!(u64).range(64..=4_194_304))]
    pub(crate) buffer: Option<u64>,
    /// Record this machine as well while the guest runs, into host.dat beside the guest's trace.dat, and explain both together
    ///
    /// Stolen time is then explained by what this machine did with the threads of the guest's CPUs. It needs root and tracefs
    /// here, and a guest in this machine's time.
    #[arg(long, conflicts_with = "no_record")]
    pub(crate) host_too: bool,
    /// Boot a second guest with this program, and a network between both: PROGRAM's guest has the address 10.0.2.1, the peer
    /// 10.0.2.2; arguments are split at blanks
    ///
    /// Both have the same kernel, files and settings, and both are recorded. Their programs begin once both have their
    /// addresses; when PROGRAM has ended, the peer's program is interrupted (SIGINT). What comes back from the peer goes to the
    /// directory `peer` of that of --output, and both recordings are explained together, as `whylate explain --peer` does.
    #[arg(long, value_name = "PROGRAM ARGS", allow_hyphen_values = true, conflicts_with_all = ["host_too", "prove", "no_record"])]
    pub(crate) peer: Option<String>,
    /// Run this program beside that of the peer, as --with does beside PROGRAM (repeatable)
    #[arg(long, value_name = "PROGRAM ARGS", allow_hyphen_values = true, requires = "peer")]
    pub(crate) peer_with: Vec<String>,
    /// Do not record: run the program only, and print what it prints
    #[arg(long)]
    pub(crate) no_record: bool,
    /// Prove a change in the guest, as `whylate prove` does on this machine, instead of recording: its options in one
    /// argument, such as "--from explain.json" or "--set ctl.priority=70 --task ctl --round 1s", split at blanks
    ///
    /// PROGRAM is the command of each round: started anew each time, and ended with it. The report is that of `whylate prove`,
    /// and so are the exit codes. A file that `--output` among the options names comes back among the guest's files.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, conflicts_with_all = ["no_record", "host_too", "buffer", "report", "tasks", "deadline", "worst"])]
    pub(crate) prove: Option<String>,
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
