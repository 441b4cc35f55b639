//! What is measured, where and how often; with the short options of cyclictest, whose bare numbers mean what they mean
//! there.

use super::cyclictest::{Either, duration_or_seconds, either, micros, some_micros};
use anyhow::{Result, bail};
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns, Policy};
use whylate_probes::{Ipc, Probe, ProbeKind, Timer, Waker, Workload};

/// How long is measured unless chosen otherwise.
const DURATION: Ns = Ns::from_secs(10);

/// Numbers without a unit are cyclictest's: microseconds, and seconds of -D.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// What to measure
    #[arg(long, value_name = "KIND", default_value = "timer")]
    probe: ProbeName,
    /// How long to measure, such as 10s, 1h or 2d; a bare number is in seconds [default: 10s]
    #[arg(short = 'D', long, value_name = "DURATION", value_parser = duration_or_seconds)]
    duration: Option<Ns>,
    /// With a unit (-d 10s): the same as --duration. A bare number (-d 500): --distance in us, as cyclictest's
    #[arg(short = 'd', value_name = "DURATION|US", value_parser = either)]
    short_d: Option<Either>,
    /// The CPUs to measure, such as 0-3,8; default: all this process may use
    #[arg(short, long, visible_short_alias = 'a', value_name = "LIST", num_args = 0..=1, value_parser = super::super::values::some_cpus)]
    cpus: Option<Option<CpuSet>>,
    /// The real-time priority of the measuring threads, 1 to 99 [default: 80; of hwlat 99, of timerlat 95]
    #[arg(short, long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=99))]
    priority: Option<u32>,
    /// Their policy: fifo, rr or other [default: fifo; of busy without -p: other]
    #[arg(long, value_name = "POLICY", value_parser = NonEmptyStringValueParser::new().try_map(|text| policy(&text)))]
    policy: Option<Policy>,
    /// The time between two wake-ups (periods, windows, breaks) of a thread; a bare number is in us
    /// [default: 1ms; of busy and hwlat 10ms]
    #[arg(short, long, value_name = "DURATION", value_parser = micros)]
    interval: Option<Ns>,
    /// How much longer the interval of each further CPU is [default: 0]
    #[arg(long, value_name = "DURATION", value_parser = some_micros)]
    distance: Option<Ns>,
    /// Explain every wake-up (gap, period, window) later than this; default: the worst few
    #[arg(long, value_name = "DURATION", value_parser = micros)]
    threshold: Option<Ns>,
    /// Measure only the first N of the CPUs; of the deadline probe, how many threads [default: all; of deadline 1]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// With a unit (-t 100us): the same as --threshold. A bare number (-t 4): --threads, as cyclictest's
    #[arg(short = 't', value_name = "DURATION|N", num_args = 0..=1, value_parser = either)]
    short_t: Option<Option<Either>>,
    /// Stop at the first wake-up later than this, and explain it; a bare number is in us
    #[arg(short, long, value_name = "DURATION", value_parser = micros, conflicts_with = "threshold")]
    breaktrace: Option<Ns>,
    /// Stop after this many wake-ups of each thread
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    loops: Option<u64>,
    /// Also print a histogram up to this many us, as cyclictest does; -h N, with a number, is the same
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "json")]
    histogram: Option<u32>,
    /// The same with an additional column for the sum of all threads
    #[arg(short = 'H', long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with_all = ["histogram", "json"])]
    histofall: Option<u32>,
    /// With --histogram or --histofall: write the histogram to this file instead of printing it, as cyclictest does
    #[arg(long, value_name = "FILE", value_parser = super::super::values::file_to_write())]
    pub(crate) histfile: Option<PathBuf>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Accepted for cyclictest compatibility; each CPU always has one thread, all of one priority
    #[arg(short = 'S', long, hide_short_help = true)]
    smp: bool,
    /// Accepted for cyclictest compatibility; memory is always locked
    #[arg(short, long, hide_short_help = true)]
    mlockall: bool,
    /// Accepted for cyclictest compatibility; threads always sleep with clock_nanosleep
    #[arg(short, long, hide_short_help = true)]
    nanosleep: bool,

    /// For the timer probe: how to sleep (nanosleep, timerfd, signal) [default: nanosleep]
    #[arg(long, value_name = "HOW")]
    timer: Option<Timer>,
    /// For the ipc probe: the mechanism that wakes a thread (pipe, eventfd, futex, pi-mutex, condvar, mq, socket, signal)
    /// [default: pipe]
    #[arg(long, value_name = "HOW")]
    ipc: Option<Ipc>,
    /// For the ipc probe: where the waking thread runs, a CPU or `same` [default: same]
    #[arg(long, value_name = "CPU")]
    waker_cpu: Option<Waker>,
    /// For the busy probe: the shortest gap that counts [default: 1us]
    #[arg(long, value_name = "DURATION", value_parser = micros)]
    gap: Option<Ns>,
    /// For the busy probe: the percentage of each interval to spin [default: 100; 90 where no CPU would be left]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    duty: Option<u8>,
    /// Measure even if that leaves little or no CPU time to other threads
    #[arg(long)]
    force: bool,
    /// For the deadline probe: the CPU time of each period, half of which the thread uses
    /// [default: a fifth of the interval]
    #[arg(long, value_name = "DURATION", value_parser = micros)]
    runtime: Option<Ns>,
    /// A latency that no wake-up may reach: reports whether it is kept, and which approach suits it (an ordinary kernel,
    /// PREEMPT_RT, or beside Linux); for the deadline probe: the deadline within each period [default: its end]
    #[arg(long, value_name = "DURATION", value_parser = micros)]
    deadline: Option<Ns>,
    /// For the hwlat probe: how long a window lasts [default: 500us]
    #[arg(long, value_name = "DURATION", value_parser = micros)]
    width: Option<Ns>,
    /// For the timerlat probe: wake a thread of this program or a kernel thread (user, kernel)
    /// [default: user where the kernel can, since 6.5]
    #[arg(long, value_name = "WHOSE")]
    timerlat: Option<Workload>,
}

/// The kinds of probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbeName {
    /// The latency of timed sleeps, as cyclictest
    Timer,
    /// The gaps of a spinning thread, and their causes, as oslat
    Busy,
    /// The time that one thread needs to wake another
    Ipc,
    /// The latency of the periods of SCHED_DEADLINE threads, and missed deadlines
    Deadline,
    /// Time that firmware or a hypervisor takes from the CPU
    Hwlat,
    /// The latencies of interrupt, thread and return from user space by the kernel's timerlat tracer, as rtla
    Timerlat,
}

impl ProbeName {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl ProbeArgs {
    /// How long to measure. With --loops alone until all threads have had theirs.
    pub(crate) fn duration(&self) -> Option<Ns> {
        let short = match self.short_d {
            Some(Either::Time(duration)) => Some(duration),
            _ => None,
        };
        self.duration.or(short).or(self.loops.is_none().then_some(DURATION))
    }

    /// How long that will be, about.
    pub(crate) fn planned(&self) -> Ns {
        let interval = self.interval();
        let loops =
            || Ns(interval.0.saturating_mul(i64::try_from(self.loops.unwrap_or(0)).unwrap_or(i64::MAX)));
        self.duration().unwrap_or_else(loops)
    }

    /// From one wake-up to the next.
    pub(crate) fn interval(&self) -> Ns {
        self.interval.unwrap_or_else(|| Probe::new(self.kind()).interval)
    }

    /// The CPUs that were named; `None`: all.
    pub(crate) fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()?.as_ref()
    }

    /// Up to how many microseconds a histogram is to be printed as cyclictest does, and whether with the sum of all
    /// threads.
    pub(crate) fn histogram(&self) -> Option<(u32, bool)> {
        self.histofall.map(|upto| (upto, true)).or(self.histogram.map(|upto| (upto, false)))
    }

    /// The probe that the options come to.
    ///
    /// # Errors
    /// An option that is another probe's.
    pub(crate) fn probe(&self) -> Result<Probe> {
        self.only_own_options()?;
        self.nothing_twice()?;
        let kind = self.kind();
        let default = Probe::new(kind);
        let chosen = self.priority.map(|_| Policy::Fifo);
        let (distance, threads) = self.bare();
        Ok(Probe {
            cpus: self.cpus().cloned(),
            threads,
            policy: self.policy.or(chosen).unwrap_or(default.policy),
            priority: self.priority.unwrap_or(default.priority),
            interval: self.interval(),
            distance,
            threshold: self.breaktrace.or(self.threshold()),
            stop_at_threshold: self.breaktrace.is_some(),
            loops: self.loops,
            force: self.force,
            ..default
        })
    }

    /// A deadline to be judged; that of the deadline probe is its own.
    pub(crate) fn judged_deadline(&self) -> Option<Ns> {
        self.deadline.filter(|_| self.probe != ProbeName::Deadline)
    }

    fn threshold(&self) -> Option<Ns> {
        match self.short_t.flatten() {
            Some(Either::Time(threshold)) => Some(threshold),
            _ => self.threshold,
        }
    }

    /// Distance and threads, by their own names or as cyclictest's bare numbers.
    fn bare(&self) -> (Ns, Option<usize>) {
        let distance = match self.short_d {
            Some(Either::Bare(us)) => Some(Ns::from_us(us.into())),
            _ => self.distance,
        };
        let threads = match self.short_t.flatten() {
            Some(Either::Bare(threads)) => usize::try_from(threads).ok(),
            _ => self.threads,
        };
        (distance.unwrap_or_default(), threads)
    }

    /// What is measured.
    pub(crate) fn kind(&self) -> ProbeKind {
        match self.probe {
            ProbeName::Timer => ProbeKind::Timer(self.timer.unwrap_or_default()),
            ProbeName::Busy => ProbeKind::Busy { gap: self.gap.unwrap_or(Ns::from_us(1)), duty: self.duty },
            ProbeName::Ipc => ProbeKind::Ipc {
                by: self.ipc.unwrap_or(Ipc::Pipe),
                waker: self.waker_cpu.unwrap_or_default(),
            },
            ProbeName::Deadline => {
                let interval = self.interval.unwrap_or(Ns::from_ms(1));
                ProbeKind::Deadline {
                    runtime: self.runtime.unwrap_or(Ns(interval.0 / 5)),
                    deadline: self.deadline,
                }
            }
            ProbeName::Hwlat => ProbeKind::Hwlat { width: self.width.unwrap_or(Ns::from_us(500)) },
            ProbeName::Timerlat => {
                ProbeKind::Timerlat(self.timerlat.unwrap_or_else(Workload::of_this_kernel))
            }
        }
    }

    /// The values of -d and -t show what they are.
    fn nothing_twice(&self) -> Result<()> {
        let (d, t) = (self.short_d, self.short_t.flatten());
        let time = |either: Option<Either>| matches!(either, Some(Either::Time(_)));
        let bare = |either: Option<Either>| matches!(either, Some(Either::Bare(_)));
        let twice = [
            ("-d with a unit", "--duration", time(d) && self.duration.is_some()),
            ("-d with a bare number", "--distance", bare(d) && self.distance.is_some()),
            ("-t with a unit", "--threshold", time(t) && self.threshold.is_some()),
            ("-t with a unit", "--breaktrace", time(t) && self.breaktrace.is_some()),
            ("-t with a bare number", "--threads", bare(t) && self.threads.is_some()),
        ];
        match twice.into_iter().find(|(.., twice)| *twice) {
            Some((short, long, _)) => bail!("{short} cannot be used with {long}: give one of them"),
            None => Ok(()),
        }
    }

    fn only_own_options(&self) -> Result<()> {
        if self.histfile.is_some() && self.histogram().is_none() {
            bail!("--histfile needs a histogram: add -h N or -H N, with N in us");
        }
        use ProbeName::{Busy, Deadline, Hwlat, Ipc, Timer, Timerlat};
        let given = [
            ("--timer", Timer, self.timer.is_some()),
            ("--ipc", Ipc, self.ipc.is_some()),
            ("--waker-cpu", Ipc, self.waker_cpu.is_some()),
            ("--gap", Busy, self.gap.is_some()),
            ("--duty", Busy, self.duty.is_some()),
            ("--runtime", Deadline, self.runtime.is_some()),
            ("--deadline", Deadline, self.deadline.is_some() && matches!(self.probe, Busy | Hwlat)),
            ("--width", Hwlat, self.width.is_some()),
            ("--timerlat", Timerlat, self.timerlat.is_some()),
        ];
        match given.into_iter().find(|&(_, of, given)| given && of != self.probe) {
            Some((option, of, _)) => bail!(
                "{option} is an option of the {of} probe, but {} is to be measured: add --probe {of}, or leave it out",
                self.probe.name(),
                of = of.name(),
            ),
            None => Ok(()),
        }
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    match text {
        "fifo" => Ok(Policy::Fifo),
        "rr" => Ok(Policy::Rr),
        "other" => Ok(Policy::Other),
        _ => Err("choose fifo, rr or other".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cyclictest::in_our_words;
    use super::*;
    use clap::Parser;
    use std::ffi::OsString;
    use whylate_base::Cpu;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        probe: ProbeArgs,
        /// Of all verbs' formats.
        #[arg(long)]
        json: bool,
    }

    fn parsed(words: &str) -> Result<ProbeArgs, clap::Error> {
        let words: Vec<OsString> =
            format!("whylate measure {words}").split_whitespace().map(Into::into).collect();
        // The verb takes the place of the program's name.
        Command::try_parse_from(in_our_words(words).into_iter().skip(1)).map(|command| command.probe)
    }

    fn probe(words: &str) -> Probe {
        parsed(words).unwrap_or_else(|error| panic!("{words}: {error}")).probe().expect(words)
    }

    #[test]
    fn cyclictests_options_mean_what_they_mean_there() {
        let args = parsed("-l100000 -m -n -Sp90 -i200 -h400 -q -d0 -a 0-1 -D 10m").expect("cyclictest's");
        let probe = args.probe().expect("a probe");
        assert_eq!((probe.priority, probe.interval, probe.loops), (90, Ns::from_us(200), Some(100_000)));
        assert_eq!((probe.distance, probe.cpus), (Ns::ZERO, "0-1".parse().ok()));
        assert_eq!(
            (args.duration(), args.histogram(), args.quiet),
            (Some(Ns::from_secs(600)), Some((400, false)), true)
        );
        let probe = self::probe("-t 2 -i 1000 -d 500 -b 80 -D 5");
        assert_eq!(
            (probe.threads, probe.interval, probe.distance),
            (Some(2), Ns::from_ms(1), Ns::from_us(500))
        );
        assert_eq!((probe.threshold, probe.stop_at_threshold), (Some(Ns::from_us(80)), true));
        assert_eq!(parsed("-H 50").expect("histofall").histogram(), Some((50, true)));
        assert_eq!(parsed("-D 10").expect("seconds").duration(), Some(Ns::from_secs(10)));
        assert_eq!(parsed("-D 2d").expect("days").duration(), Some(Ns::from_secs(172_800)));
        assert_eq!(parsed("-l 10").expect("loops").duration(), None, "until they are done");
        assert_eq!(self::probe("-a -t").cpus, None, "all of them");
    }

    #[test]
    fn a_unit_marks_a_value_as_ours() {
        let args = parsed("-d 10s -t 100us -i 2ms -c 3").expect("ours");
        let probe = args.probe().expect("a probe");
        assert_eq!((args.duration(), probe.threshold), (Some(Ns::from_secs(10)), Some(Ns::from_us(100))));
        assert_eq!((probe.interval, probe.threads, probe.distance), (Ns::from_ms(2), None, Ns::ZERO));
        assert_eq!(probe.cpus, "3".parse().ok());
        for twice in [
            "-d 10s -D 5",
            "-t 5us --threshold 7us",
            "-t 5us -b 7",
            "-t 2 --threads 3",
            "-d 5 --distance 7us",
        ] {
            assert!(parsed(twice).expect(twice).probe().is_err(), "{twice}");
        }
    }

    #[test]
    fn h_without_a_number_asks_for_help() {
        let kind = |words: &str| parsed(words).expect_err(words).kind();
        assert_eq!(kind("-h"), clap::error::ErrorKind::DisplayHelp);
        assert_eq!(kind("-h -q"), clap::error::ErrorKind::DisplayHelp);
        assert_eq!(parsed("-h 100").expect("a number").histogram(), Some((100, false)));
        assert_eq!(in_our_words(["whylate", "record", "-h", "5"].map(Into::into).to_vec())[2], "-h");
    }

    #[test]
    fn each_probe_has_its_options() {
        assert_eq!(probe("").kind, ProbeKind::Timer(Timer::Nanosleep));
        assert_eq!(probe("--timer signal").kind, ProbeKind::Timer(Timer::Signal));
        let ipc = probe("--probe ipc --ipc pi-mutex --waker-cpu 1");
        assert_eq!(ipc.kind, ProbeKind::Ipc { by: Ipc::PiMutex, waker: Waker::On(Cpu(1)) });
        let busy = probe("--probe busy --gap 500ns --duty 50");
        assert_eq!(busy.kind, ProbeKind::Busy { gap: Ns(500), duty: Some(50) });
        assert_eq!((busy.policy, probe("--probe busy -p 60").policy), (Policy::Other, Policy::Fifo));
        let deadline = probe("--probe deadline -i 4ms --deadline 2ms");
        assert_eq!(
            deadline.kind,
            ProbeKind::Deadline { runtime: Ns::from_us(800), deadline: Some(Ns::from_ms(2)) }
        );
        assert_eq!(probe("--probe hwlat").priority, 99);
        let timerlat = probe("--probe timerlat --timerlat kernel");
        assert_eq!((timerlat.kind, timerlat.priority), (ProbeKind::Timerlat(Workload::Kernel), 95));
        let judged = parsed("--deadline 500").expect("a deadline");
        assert_eq!((judged.judged_deadline(), judged.probe().is_ok()), (Some(Ns::from_us(500)), true));
        assert_eq!(parsed("--probe deadline --deadline 500").expect("a deadline").judged_deadline(), None);
        assert!(parsed("--probe busy --deadline 500").expect("parsed").probe().is_err());
        let other = parsed("--ipc futex").expect("parsed").probe().expect_err("of another probe").to_string();
        assert!(other.contains("--probe ipc"), "{other}");
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for wrong in
            ["-i 0", "-p 0", "-p 100", "-c 3-1", "--duty 0", "-h 0", "-l 0", "-b 0", "--policy batch", "-D 0"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
