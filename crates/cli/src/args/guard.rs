//! The arguments of `whylate guard`.

use super::values::{file_to_write, percent, positive_duration, some_cpus};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns};
use whylate_threads::guard::{BoostOptions, GuardOptions, ThresholdRule};

/// `whylate guard`
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// A thread that is runnable and has not run for this long starves; at least 2s
    #[arg(short, long, value_name = "DURATION", default_value = "20s", value_parser = positive_duration)]
    threshold: Ns,
    /// Another threshold for threads of a name, such as 'kworker*=5s' (repeatable; the first that fits counts)
    #[arg(long, value_name = "THREAD=DURATION")]
    threshold_of: Vec<ThresholdRule>,
    /// Watch only threads of this id or name, in which `*` matches any text (repeatable)
    #[arg(long, value_name = "THREAD", value_parser = NonEmptyStringValueParser::new())]
    only: Vec<String>,
    /// Do not watch threads of this id or name (repeatable)
    #[arg(long, value_name = "THREAD", value_parser = NonEmptyStringValueParser::new())]
    except: Vec<String>,
    /// CPU time that a starving thread is lent in each --period
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = positive_duration)]
    runtime: Ns,
    /// The period of the lent reservation
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = positive_duration)]
    period: Ns,
    /// Restore a thread after this time at the latest
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = positive_duration)]
    longest: Ns,
    /// The share of a CPU that all boosts on it may have together
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    share: f64,
    /// Report starving threads, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// End when every thread that starved at the start was found and helped
    #[arg(long)]
    once: bool,
    /// End after this time; default: at a signal
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<Ns>,
    /// The guard's own CPUs; default: the housekeeping CPUs
    #[arg(long, value_name = "CPUS", value_parser = some_cpus)]
    cpus: Option<CpuSet>,
    /// Write each event as a JSON object in a line (schema whylate.guard/1)
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the counts in this file, for Prometheus' textfile collector
    #[arg(long, value_name = "FILE", value_parser = file_to_write())]
    pub(crate) metrics: Option<PathBuf>,
    /// Print a hardened systemd unit that guards with these options
    #[arg(long)]
    pub(crate) print_unit: bool,
}

impl GuardArgs {
    pub(crate) fn options(&self, watchdog: Vec<OsString>) -> GuardOptions {
        GuardOptions {
            threshold: self.threshold,
            thresholds: self.threshold_of.clone(),
            only: self.only.clone(),
            except: self.except.clone(),
            boost: BoostOptions {
                runtime: self.runtime,
                period: self.period,
                longest: self.longest,
                share: self.share / 100.0,
            },
            dry_run: self.dry_run,
            once: self.once,
            duration: self.duration,
            cpus: self.cpus.clone(),
            watchdog,
        }
    }
}

/// `whylate guard-watchdog`
#[derive(Debug, Args)]
pub(crate) struct GuardWatchdogArgs {
    /// The guard's journal
    #[arg(value_name = "FILE")]
    pub(crate) journal: PathBuf,
    /// Its own CPUs
    #[arg(value_name = "CPUS", value_parser = some_cpus)]
    pub(crate) cpus: Option<CpuSet>,
}
