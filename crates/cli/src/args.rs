//! The command line.

mod bench;
mod bundle;
mod compare;
mod convert;
mod doctor;
mod explain;
mod guard;
mod hold;
mod lab;
mod markers;
mod measure;
mod output;
mod plan;
mod probe;
mod prove;
mod ps;
mod record;
mod run;
mod scope;
mod selection;
mod shell;
mod simulate;
mod tables;
mod tuning;
mod values;
mod watch;

pub(crate) use bench::BenchArgs;
pub(crate) use bundle::BundleArgs;
pub(crate) use compare::{CompareArgs, FailOnWorse, PlotArgs, PlotKind};
pub(crate) use convert::{ConvertArgs, ConvertFormat};
pub(crate) use doctor::DoctorArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use guard::{GuardArgs, GuardWatchdogArgs};
pub(crate) use hold::HoldArgs;
pub(crate) use lab::{ExecArgs, GuestArgs, GuestTime, KernelsArgs, LabVerb};
pub(crate) use measure::{Export, LoadArgs, LoadWorkerArgs, MeasureArgs, ProbeArgs};
pub(crate) use output::OutputArgs;
pub(crate) use plan::{PlanArgs, Wanted};
pub(crate) use prove::{ProveArgs, ProveWatchdogArgs};
pub(crate) use ps::PsArgs;
pub(crate) use record::RecordArgs;
pub(crate) use run::RunArgs;
pub(crate) use selection::Selection;
pub(crate) use shell::{CompletionsArgs, ManPagesArgs, Shell, visible};
pub(crate) use simulate::SimulateArgs;
pub(crate) use tables::TablesArgs;
pub(crate) use tuning::{ApplyArgs, ConfirmArgs, HistoryArgs, OnFailure, Place, RollbackArgs, VerifyArgs};
pub(crate) use values::FailOn;
pub(crate) use watch::WatchArgs;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use output::{file_of, format_of};
use std::ffi::OsString;
use std::path::PathBuf;
use values::{file_to_write, some_cpus};
use whylate_base::CpuSet;
use whylate_checks::Profile;
use whylate_report::check::Checked;

/// Finds out why a real-time Linux task is late.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "Exit codes: 0 nothing found, or done; 1 findings at or above --fail-on; \
    2 could not do it (usage, I/O, permission); 3 cannot tell.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Explain why the real-time threads of a trace were late
    ///
    /// Reads trace.dat (v6, v7), perf.data, Perfetto traces, text (tracefs `trace`, `trace-cmd report`,
    /// `perf script`, `perf sched timehist`, latency tracers such as wakeup_rt, rtla), any of them in gzip or zstd, and directories
    /// with copies of per_cpu/cpu*/trace_pipe_raw. Charges every nanosecond of every late activation to a
    /// cause.
    ///
    /// In a trace without a real-time thread it lists the threads to choose from with --task, and explains the first three.
    ///
    /// --from, --to and --cpu select the activations that are in progress in that time and run on those CPUs (or wait for
    /// them, if they never run), and the findings about these. What was so before is known all the same.
    ///
    /// Exit codes: 0 no finding at or above --fail-on; 1 findings; 2 could not do it (usage,
    /// an unreadable file, a part of the trace that does not exist); 3 cannot tell: no thread of --task was active, the trace
    /// lacks events that any answer needs, or no thread was chosen and none is real-time, unless there are findings.
    Explain(ExplainArgs),
    /// Convert a trace, or a part of it, to another format
    ///
    /// Reads the same files as `explain`, and writes Perfetto (with the explanation as additional tracks),
    /// trace.dat, text, or JSON lines. --from, --to, --cpu, --task and --event select a part of the trace.
    Convert(ConvertArgs),
    /// Find the real-time mistakes of a program, with their lines, without a rebuild
    ///
    /// Starts a command, or observes a process (--pid), and examines what its real-time threads do after their start-up:
    /// page faults, system calls, locks, priorities, clocks. As root it sees all of that; without root it sees page faults
    /// and /proc of one's own programs, and the report lists what it could not see.
    ///
    /// Exit codes: 0 no finding at or above --fail-on; 1 findings; 2 could not do it; 3 cannot tell, where no thread is
    /// real-time.
    Doctor(DoctorArgs),
    /// Start a program with its policy, CPUs and memory, in the order that cannot hang
    ///
    /// Sets priority before affinity, reads back what became so, and becomes the program: exit code, signals and terminal
    /// are the program's own. Where the kernel refuses, it names the gate, what shows it, and the fix; then nothing is
    /// started.
    ///
    /// With --pid or --task it changes threads that run already: all of them, or none.
    ///
    /// Exit codes: those of the program; 125 this program failed, and nothing was changed; 126 the program cannot be
    /// executed; 127 there is no such program. With --dry-run 0 everything would succeed; 125 something is refused.
    Run(Box<RunArgs>),
    /// List real-time threads and interrupts, with what they do and what they wait for
    ///
    /// Shows policy, priority, CPUs, run-queue wait, switches, page faults and locked memory of each real-time thread, and
    /// marks what is rarely intended. Rates are of two samples, --interval apart. Without root it cannot tell what the
    /// threads of other users are blocked on. In --live: arrows scroll, < and > select the column that sorts, r reverses it,
    /// / filters, i shows interrupts, a shows all threads, q ends.
    ///
    /// Exit codes: 0 done; 2 could not do it, or no thread has the name of --task; 3 cannot tell: the threads could not be read.
    Ps(PsArgs),
    /// Watch for starving threads, report what has their CPU, and lend them a bounded share of it
    ///
    /// A thread starves if it is runnable and does not run, because a thread of higher priority never sleeps. It is lent a
    /// SCHED_DEADLINE reservation until it sleeps, and then has its own policy again, also if the guard is killed.
    /// Needs root, except with --dry-run.
    ///
    /// Exit codes: 0 done, ended by a signal or --duration; 1 with --once: threads starved; 2 could not do it; 3 cannot tell:
    /// the kernel does not report CPU times.
    Guard(GuardArgs),
    /// Restore what a guard has lent when it is killed
    #[command(hide = true)]
    GuardWatchdog(GuardWatchdogArgs),
    /// Record a trace of this machine, or of a command on it
    ///
    /// Records scheduling, interrupts, timers, and the system calls and page faults of the recorded
    /// threads into a trace.dat, which trace-cmd and KernelShark open as well. Uses a separate trace instance,
    /// and removes it at the end. Needs root, or access to tracefs.
    Record(RecordArgs),
    /// Measure the wake-up latency of this machine, and explain the worst wake-ups
    ///
    /// Runs one timer thread per CPU as cyclictest does, reports the distribution of its wake-up latencies, and explains
    /// the worst wake-ups from a trace of the same time. Other probes (--probe) spin, wake each other, or keep
    /// SCHED_DEADLINE periods. Works without root with fewer features; the report shows what is missing.
    ///
    /// Accepts cyclictest's short options: a number without a unit has cyclictest's meaning.
    ///
    /// Exit codes: 0 no finding at or above --fail-on, and the claim holds; 1 findings, samples of --threshold or more, or a
    /// claim that does not hold; 2 could not do it (usage, permission, a file of -o or --export that cannot be written);
    /// 3 cannot tell: nothing was measured, or the samples neither support the claim nor contradict it.
    Measure(Box<MeasureArgs>),
    /// Watch threads for months: keep, explain and group each late activation
    ///
    /// Records all the time into overwriting ring buffers. An activation is late beyond --deadline; without one beyond the
    /// thread's period, inferred from its timers; without a period far beyond its own history. Each late activation is
    /// reported as it comes, with --keep with its trace; at the end, all are grouped by thread, cause and culprit.
    /// Threads may start later, and restart. Bounds on CPU time, memory and disk hold whatever happens. Needs root, or access
    /// to tracefs.
    ///
    /// SIGHUP reads --config again; an invalid file is reported, and the old one stays. `explain DIR` and `compare DIR DIR`
    /// open what --keep has kept.
    ///
    /// Exit codes: 0 nothing was late; 1 something was; 2 could not do it; 3 cannot tell: no activation of a watched thread
    /// was seen.
    Watch(Box<WatchArgs>),
    /// Compare measurements: which is better or worse by more than chance, and what changed
    ///
    /// Reads documents of `measure --json` and the files of other tools; or two documents of `bench --json`, whose rows it
    /// compares.
    ///
    /// Exit codes: 0 same or better, and every gate is met; 1 worse, or a gate is missed; 2 could not do it; 3 cannot tell.
    Compare(CompareArgs),
    /// Measure what clocks, sockets, memory or threads cost on this machine
    ///
    /// Reports the distribution of the time per operation, and what it means. Works without root; what needs root is skipped
    /// and reported. As root, `bench clock` makes each clock source the current one for a time, and restores the one
    /// before; after kill -9 the next bench restores it.
    ///
    /// Exit codes: 0 done; 1 the machine has a fault (a clock that went backwards); 2 could not do it; 3 cannot tell: nothing
    /// was measured.
    Bench(BenchArgs),
    /// Predict what a task set will do on a kernel, or a change to a recording, by a model of the scheduler
    ///
    /// Reads tasks with their periods, CPU times, policies, CPUs and locks, and simulates them: response times, misses, and
    /// for each late activation the cause, as `explain` reports it of a recording. Where theory has one, a bound on the
    /// response time is shown beside the worst that was seen. Throttling and the fair server are those of --kernel.
    ///
    /// Given a recording, replays the jobs of its threads, and shows first how far that is from the recording; then with
    /// the changes of --set, --remove and --scale, each thread before and after.
    ///
    /// Exit codes: 0 no finding at or above --fail-on; 1 findings, such as missed deadlines; 2 could not do it: the task set
    /// is wrong, the kernel would not admit it, or a change cannot be made; 3 cannot tell: no thread to show.
    Simulate(SimulateArgs),
    /// Plot measurements as SVG
    ///
    /// Latency histograms, latency CCDFs (with the fitted tail, or the reason why there is none), the maximum over time,
    /// and the shift of quantiles.
    Plot(PlotArgs),
    /// Add what recordings, measurements and checks of many machines show to Parquet tables
    ///
    /// Writes DIR/TABLE/date=DAY/machine=NAME/RUN.parquet for DuckDB, Spark, pandas and others, and prints the top causes of
    /// what was added. An input is added once, whatever its name; an import that is killed can be repeated. Of a recording,
    /// the worst activations of each thread are kept whole, and the sums of all of them. docs/tables.md lists the columns.
    ///
    /// Exit codes: 0 done; 2 an input could not be read or written, all others are in the tables.
    Tables(TablesArgs),
    /// Put a program into a real kernel in QEMU, with no real-time hardware at hand
    ///
    /// Boots a kernel in QEMU's software emulation, in about ten seconds and without root. A
    /// guest's time is the emulator's own (virtual): the host's noise does not show in it.
    #[command(subcommand)]
    Lab(LabVerb),
    /// Check whether a machine is ready for real-time work
    ///
    /// Reads /proc, /sys, /boot and configuration files, changes nothing and starts no program. A value that
    /// cannot be read is reported as "cannot tell", never as a pass; root can read more.
    Check(CheckArgs),
    /// Write all that `check` reads into a file, to check the machine elsewhere
    ///
    /// The file has no command line or environment of a process, no password, and no serial number; --list shows every
    /// path.
    Snapshot(SnapshotArgs),
    /// Write one file for a report of a latency problem: machine, check, recording, measurements
    ///
    /// Takes a snapshot of this machine, checks it, records it (or COMMAND) and explains the recording, measures it, and writes
    /// all of that into one archive, without the host's name and addresses. `explain`, `check --root` and `compare` open the
    /// archive; so does tar. What could not be done, such as recording without root, is listed with the reason.
    ///
    /// Exit codes: 0 done; 2 could not do it; 3 a part is missing.
    Bundle(BundleArgs),
    /// Hold a request in /dev/cpu_dma_latency until a signal ends it
    #[command(hide = true)]
    HoldLatency(HoldArgs),
    /// Run as a load of `measure --load` until standard input ends
    #[command(hide = true)]
    LoadWorker(LoadWorkerArgs),
    /// Show what tuning would change on a machine, and why: now -> then, setting by setting
    ///
    /// Reads the machine and a profile, whylate's own or one of TuneD's, and changes nothing. What could not be read is
    /// left alone. The order is stable, so that plans can be compared and reviewed.
    ///
    /// Exit codes: 0 nothing to change; 1 changes; 2 could not do it; 3 cannot tell.
    Plan(PlanArgs),
    /// Make the changes of a plan, each written down before it is made
    ///
    /// Shows the plan, asks, and does nothing where the machine is not as it was when the plan was made. A step that
    /// fails stops it: go on with --resume, or undo it with `whylate rollback`.
    ///
    /// Exit codes: 0 done; 1 refused, or the plan does not fit any more; 2 could not do it.
    Apply(ApplyArgs),
    /// Keep what was applied with --revert-after
    ///
    /// Exit codes: 0 confirmed; 1 nothing waits for it, or it was undone; 2 could not do it.
    Confirm(ConfirmArgs),
    /// Check that the applied settings are still in place, and show what changed them where that is known
    ///
    /// Exit codes: 0 as applied; 1 drift; 2 could not do it; 3 cannot tell.
    Verify(VerifyArgs),
    /// Prove that a change helps: measure before and after in alternation, with the change rolled back each time
    ///
    /// The change is a fix that `explain`, `check` or `doctor` advises (--from), a profile, or settings (--set). What it is to
    /// improve are the responses of threads (--task), the real-time threads of a command, or a probe. Rounds before and after
    /// take turns until all samples and whole rounds agree on a verdict, or a bound is reached: better, worse, no difference
    /// shown, or refused with the reason. Looks at side effects as well: other real-time threads, a command's run time, checks
    /// that fail only with the change, and new causes.
    ///
    /// The change is rolled back after each round by the journal that `whylate apply` uses, also at an error or a signal; after
    /// kill -9 a second process does it. Kernel parameters are measured with --across-reboots, one round in each boot. Needs root.
    ///
    /// Exit codes: 0 better, without a side effect; 1 worse, no difference shown, or a side effect; 2 could not do it; 3 cannot
    /// tell: refused.
    Prove(Box<ProveArgs>),
    /// Roll back the change of a proof that is killed
    #[command(hide = true)]
    ProveWatchdog(ProveWatchdogArgs),
    /// Go on with a proof across reboots, after a boot
    #[command(hide = true)]
    ProveResume,
    /// Undo what was applied: exact old values, files byte for byte
    ///
    /// Undoes the last apply that is in effect. A setting that another program has changed since is reported and left
    /// unchanged.
    ///
    /// Exit codes: 0 all undone; 1 a setting was left, because another program changed it; 2 could not do it.
    Rollback(RollbackArgs),
    /// Show what was applied when, and what became of it
    History(HistoryArgs),
    /// Print completions of this command line for a shell
    ///
    /// bash: whylate completions bash > ~/.local/share/bash-completion/completions/whylate
    ///
    /// zsh: whylate completions zsh > ~/.zfunc/_whylate, where fpath has ~/.zfunc
    ///
    /// fish: whylate completions fish > ~/.config/fish/completions/whylate.fish
    ///
    /// Exit codes: 0 done; 2 could not do it.
    Completions(CompletionsArgs),
    /// Write a man page for each verb into a directory
    ///
    /// Exit codes: 0 done; 2 could not do it.
    ManPages(ManPagesArgs),
}

/// `whylate check`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Checked<'_>>), mut_arg("output", file_of::<Checked<'_>>))]
pub(crate) struct CheckArgs {
    /// The purpose of the machine: realtime, cpu-partitioning, realtime-virtual-host, realtime-virtual-guest,
    /// audio, robotics
    #[arg(long, value_name = "PROFILE", default_value = "realtime")]
    pub(crate) profile: Profile,
    /// The CPUs for real-time threads, such as 2-3; default: all online
    #[arg(short, long, value_name = "LIST", value_parser = some_cpus)]
    pub(crate) cpus: Option<CpuSet>,
    /// The real-time priority of your threads, 1 to 99
    #[arg(short, long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) priority: Option<u32>,
    /// The user that runs them
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Another machine: a file of `whylate snapshot`, a directory with its root, an unpacked sosreport
    #[arg(long, value_name = "DIR|FILE", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
    /// Exit with 1 when a rule of at least this severity fails, with 3 when its result is unknown
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
    /// Check only these rules, independent of the profile
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Skip these rules
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print the page of a rule, such as rt-throttling, and exit; `list` prints all codes
    #[arg(long, value_name = "CODE")]
    pub(crate) explain: Option<String>,
}

/// `whylate snapshot`
#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// The file to write, a zstd-compressed tar
    #[arg(short, long, value_name = "FILE", value_parser = file_to_write(), required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the host's name, hardware addresses, UUIDs and IPv4 addresses
    #[arg(long)]
    pub(crate) redact: bool,
    /// Print every path that is read, with its size or the reason why it cannot be read
    #[arg(long)]
    pub(crate) list: bool,
    /// Another machine than this one: a directory with its root, or a file of this verb
    #[arg(long, value_name = "DIR|FILE", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
}

impl Cli {
    /// The whole command line, as completions and man pages describe it.
    pub(crate) fn definition() -> clap::Command {
        Cli::command()
    }

    /// The command line of this process; what is wrong with it ends the process as clap does.
    pub(crate) fn read() -> Cli {
        let arguments: Vec<OsString> = measure::in_our_words(std::env::args_os().collect());
        let arguments = run::with_file(arguments).unwrap_or_else(|why| {
            crate::output::message!("whylate: {why}");
            std::process::exit(crate::exit_status::NOT_STARTED.into())
        });
        Cli::check(&arguments).unwrap_or_else(|error| {
            // A program that starts others keeps clear of their exit codes, as env(1) does.
            if error.use_stderr() && arguments.get(1).is_some_and(|verb| verb == "run") {
                let _ = error.print();
                std::process::exit(crate::exit_status::NOT_STARTED.into());
            }
            error.exit()
        })
    }

    fn check(arguments: &[OsString]) -> Result<Cli, clap::Error> {
        let cli = Cli::try_parse_from(arguments)?;
        // To clap it is the same whether nothing follows `--` or there is none: but then the
        // whole machine would be recorded, until Ctrl-C.
        let promised = arguments.last().is_some_and(|last| last == "--");
        let missing = |message| Err(Cli::command().error(ErrorKind::MissingRequiredArgument, message));
        match &cli.verb {
            Verb::Record(record) if promised && record.command.is_empty() => {
                missing("a COMMAND must follow `--`; leave `--` out to record the whole machine")
            }
            Verb::Run(run) if run.command.is_empty() && run.needs_command() => missing(
                "which program? a COMMAND must follow `--`; or choose running threads with --pid or --task",
            ),
            Verb::Doctor(doctor) if promised && doctor.command.is_empty() => {
                missing("a COMMAND must follow `--`")
            }
            Verb::Watch(watch) if promised && watch.command.is_empty() => {
                missing("a COMMAND must follow `--`")
            }
            _ => Ok(cli),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The command lines of published measurements, with the name of the program replaced.
    #[test]
    fn command_lines_of_cyclictest_are_accepted() {
        for options in [
            "--mlockall --smp --priority=80 --interval=200 --distance=0 -D 15m -H 400 --histfile=cyclictest.log",
            "--mlockall --smp --priority=80 --interval=200 --distance=0 -D 60s",
            "--mlockall --smp --priority=80",
            "--mlockall --smp",
            "-m -Sp90 -i200 -h400 -q --histfile out.txt",
        ] {
            let words = ["whylate", "measure"].into_iter().chain(options.split(' '));
            let arguments = measure::in_our_words(words.map(OsString::from).collect());
            let cli = Cli::check(&arguments).unwrap_or_else(|error| panic!("{options}: {error}"));
            let Verb::Measure(args) = cli.verb else { panic!("{options}") };
            assert!(args.probe.probe().is_ok(), "{options}");
        }
    }

    #[test]
    fn a_command_must_follow_two_dashes() {
        let check = |arguments: &str| {
            let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
            Cli::check(&arguments).map(drop).map_err(|error| error.kind())
        };
        assert_eq!(check("whylate record --"), Err(ErrorKind::MissingRequiredArgument));
        assert_eq!(check("whylate record -d 1s --explain --"), Err(ErrorKind::MissingRequiredArgument));
        for good in
            ["whylate record", "whylate record -- true", "whylate record -- true --", "whylate record -- --"]
        {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }
}
