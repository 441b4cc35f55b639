//! What a guard watches, and what it lends.

use crate::select::{self, ThreadName};
use std::ffi::OsString;
use std::str::FromStr;
use whylate_base::{CpuSet, Ns, parse_duration};

/// The shortest threshold. The scheduler's sum of a running thread grows at each tick, and on a CPU without ticks (`nohz_full=`)
/// once a second (`sched_tick_remote()`, kernel/sched/core.c): within less a running thread could seem to wait.
pub(super) const SHORTEST: Ns = Ns(2_000_000_000);

/// A guard's options.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardOptions {
    /// A thread that is runnable for this long and has not run starves; at least 2 s.
    pub threshold: Ns,
    /// Other thresholds for threads of some names; the first that fits counts.
    pub thresholds: Vec<ThresholdRule>,
    /// Only threads with one of these names or ids are helped; empty: all.
    pub only: Vec<String>,
    /// Threads with one of these names or ids are not helped.
    pub except: Vec<String>,
    /// What a starving thread is lent.
    pub boost: BoostOptions,
    /// Report starving threads, and change nothing.
    pub dry_run: bool,
    /// End after the first starving threads are helped, or when none starved for as long as the threshold.
    pub once: bool,
    /// End after this time.
    pub duration: Option<Ns>,
    /// The guard's own CPUs; `None`: the housekeeping CPUs.
    pub cpus: Option<CpuSet>,
    /// The command of the watchdog, which calls [`watch`](super::watch) with the journal's path and, if it follows, the
    /// list of CPUs.
    pub watchdog: Vec<OsString>,
}

/// What a starving thread is lent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostOptions {
    /// CPU time of each period.
    pub runtime: Ns,
    /// The period.
    pub period: Ns,
    /// For no longer than this.
    pub longest: Ns,
    /// The share of a CPU that all boosts on it may have together, 0 to 1.
    pub share: f64,
}

impl Default for BoostOptions {
    fn default() -> BoostOptions {
        BoostOptions {
            runtime: Ns(1_000_000),
            period: Ns(1_000_000_000),
            longest: Ns(3_000_000_000),
            share: 0.05,
        }
    }
}

impl BoostOptions {
    /// The share of a CPU that one boost has.
    pub(super) fn each(&self) -> f64 {
        self.runtime.0 as f64 / self.period.0.max(1) as f64
    }

    /// Why these values cannot be used.
    pub fn refusal(&self) -> Option<String> {
        // sched(7): the kernel refuses runtimes below 1024 ns, and periods beyond its limits (sched_dl_period_max_us).
        if self.runtime < Ns(1_024) || self.runtime > self.period {
            return Some(format!(
                "the runtime is {} and the period {}: the runtime must be at least 1024 ns and no more than the period",
                self.runtime, self.period
            ));
        }
        (self.each() > self.share).then(|| {
            format!(
                "one boost has {:.3} % of a CPU, and all boosts may have {:.3} %: raise --share, or lower --runtime",
                self.each() * 100.0,
                self.share * 100.0
            )
        })
    }
}

/// A threshold of the threads of a name: `kworker*=5s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdRule {
    /// The name, in which `*` stands for anything, or an id.
    pub pattern: String,
    /// Their threshold.
    pub threshold: Ns,
}

impl FromStr for ThresholdRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ThresholdRule, String> {
        let (pattern, threshold) = text
            .rsplit_once('=')
            .ok_or_else(|| "expected PATTERN=DURATION, such as kworker*=5s".to_owned())?;
        let threshold = parse_duration(threshold).map_err(|error| error.to_string())?;
        if pattern.is_empty() {
            return Err("expected a name before the `=`".to_owned());
        }
        Ok(ThresholdRule { pattern: pattern.to_owned(), threshold: checked_threshold(threshold)? })
    }
}

/// A threshold that a guard can keep.
pub(super) fn checked_threshold(threshold: Ns) -> Result<Ns, String> {
    match threshold < SHORTEST {
        true => Err(format!(
            "a threshold of {threshold} is too short: the kernel updates the CPU time of a thread that runs alone once a \
             second, so at least {SHORTEST} are needed"
        )),
        false => Ok(threshold),
    }
}

impl GuardOptions {
    /// Why these options cannot be used.
    pub fn refusal(&self) -> Option<String> {
        checked_threshold(self.threshold).err().or_else(|| self.boost.refusal())
    }

    /// The threshold of a thread.
    pub(super) fn threshold_of(&self, thread: &ThreadName) -> Ns {
        let rule = self.thresholds.iter().find(|rule| select::is_meant(thread, &rule.pattern));
        rule.map_or(self.threshold, |rule| rule.threshold)
    }

    /// The shortest threshold of all.
    pub(super) fn shortest_threshold(&self) -> Ns {
        self.thresholds.iter().map(|rule| rule.threshold).fold(self.threshold, Ns::min)
    }

    /// Whether a thread is to be helped.
    pub(super) fn is_helped(&self, thread: &ThreadName) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| select::is_meant(thread, pattern));
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.except)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Tid;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let options = GuardOptions {
            threshold: Ns(20_000_000_000),
            thresholds: ["kworker/1*=5s", "kworker*=10s"].map(|rule| rule.parse().expect("a rule")).to_vec(),
            only: vec!["k*".to_owned()],
            except: vec!["7".to_owned()],
            boost: BoostOptions::default(),
            dry_run: false,
            once: false,
            duration: None,
            cpus: None,
            watchdog: Vec::new(),
        };
        let named = |tid, comm: &str| ThreadName { pid: Tid(tid), tid: Tid(tid), comm: comm.to_owned() };
        assert_eq!(options.threshold_of(&named(1, "kworker/1:0")), Ns(5_000_000_000));
        assert_eq!(options.threshold_of(&named(1, "kworker/2:0")), Ns(10_000_000_000));
        assert_eq!(options.threshold_of(&named(1, "bash")), Ns(20_000_000_000));
        assert_eq!(options.shortest_threshold(), Ns(5_000_000_000));
        assert!(options.is_helped(&named(1, "kworker/2:0")));
        assert!(!options.is_helped(&named(7, "kworker/2:0")) && !options.is_helped(&named(1, "bash")));
        assert_eq!(options.refusal(), None);
    }

    #[test]
    fn values_that_cannot_be_kept_are_refused() {
        for text in ["x", "=5s", "a=0.5s", "a=x"] {
            assert!(text.parse::<ThresholdRule>().is_err(), "{text}");
        }
        let boost = BoostOptions::default();
        assert_eq!(boost.refusal(), None);
        assert!(BoostOptions { runtime: Ns(2_000_000_000), ..boost }.refusal().is_some());
        assert!(BoostOptions { runtime: Ns(100), ..boost }.refusal().is_some());
        let words = BoostOptions { share: 0.0005, ..boost }.refusal().expect("too small a share");
        assert!(words.contains("--share"), "{words}");
    }
}
