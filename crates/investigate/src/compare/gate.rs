//! Conditions on a run's numbers, for CI: `p99.99<50us,max<100us`.

use std::fmt;
use std::str::FromStr;
use whylate_base::{CpuSet, Ns, parse_duration};
use whylate_stats::{Bounds, Histogram, Measured, Run};

/// A number of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The least.
    Min,
    /// The mean.
    Mean,
    /// The latency that this share of the samples does not exceed.
    Quantile(f64),
    /// The most.
    Max,
}

/// What is asked of a run: each of its threads has to meet it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The number.
    pub statistic: Statistic,
    /// It has to be below this;
    pub bound: Ns,
    /// or equal to it.
    pub or_equal: bool,
    /// Only the threads that measured on these CPUs have to meet it; `None`: all.
    pub cpus: Option<CpuSet>,
}

/// A gate that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no gate: {why}. Write conditions such as p99.99<50us,max<=100us@2-3; there are min, mean, max and p50 to p99.9999"
)]
pub struct GateError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// How a run meets a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The gate.
    pub gate: Gate,
    /// The answer.
    pub answer: GateAnswer,
}

/// Whether a gate is met.
#[derive(Clone, Debug, PartialEq)]
pub enum GateAnswer {
    /// Every thread meets it; the worst with this, rounded down to its class.
    Met(Ns),
    /// This thread does not; it is the worst.
    Missed {
        /// Its name.
        thread: String,
        /// Its number.
        value: Ns,
    },
    /// The number is not known of some thread, or not closely enough, and the others meet it.
    CannotTell(String),
}

impl Gate {
    /// Several, separated by commas; a list of CPUs may have commas as well.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn list(text: &str) -> Result<Vec<Gate>, GateError> {
        let mut gates: Vec<String> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let continues = !part.is_empty() && !part.contains('<') && part.parse::<CpuSet>().is_ok();
            match gates.last_mut().filter(|gate| continues && gate.contains('@')) {
                Some(gate) => gate.extend([",", part]),
                None => gates.push(part.to_owned()),
            }
        }
        gates.iter().map(|gate| gate.parse()).collect()
    }

    /// Whether a run meets it.
    pub fn judge(&self, run: &Run) -> Judged {
        let answer = self.answer(run);
        Judged { gate: self.clone(), answer }
    }

    fn answer(&self, run: &Run) -> GateAnswer {
        let (mut worst, mut missed): (Option<Ns>, Option<(Ns, &str)>) = (None, None);
        let mut unknown = None;
        let threads = match &self.cpus {
            None => Ok(run.threads.iter().collect()),
            Some(cpus) => run.threads_of(cpus),
        };
        let threads: Vec<&Measured> = match threads {
            Ok(threads) => threads,
            Err(why) => return GateAnswer::CannotTell(why.to_string()),
        };
        for thread in threads {
            match self.statistic.of(&thread.histogram) {
                // The least that it can be is too much already.
                Ok(Bounds { least, .. }) if !self.holds(least) => {
                    missed = missed.max(Some((least, &thread.name)));
                }
                Ok(Bounds { least, most: Ns::MAX }) => {
                    let why = format!(
                        "{}: {} is {least} at least: later samples may be missing from the file",
                        thread.name, self.statistic
                    );
                    unknown.get_or_insert(why);
                }
                Ok(Bounds { least, most }) if !self.holds(most) => {
                    let why = format!(
                        "{}: {} was counted in classes, and lies between {least} and {most}",
                        thread.name, self.statistic
                    );
                    unknown.get_or_insert(why);
                }
                Ok(Bounds { least, .. }) => worst = worst.max(Some(least)),
                Err(why) => _ = unknown.get_or_insert(format!("{}: {why}", thread.name)),
            }
        }
        match (missed, unknown, worst) {
            (Some((value, thread)), ..) => GateAnswer::Missed { thread: thread.to_owned(), value },
            (_, Some(why), _) => GateAnswer::CannotTell(why),
            (.., Some(value)) => GateAnswer::Met(value),
            (None, None, None) => GateAnswer::CannotTell("nothing was measured".to_owned()),
        }
    }

    fn holds(&self, value: Ns) -> bool {
        value < self.bound || (self.or_equal && value == self.bound)
    }
}

impl Statistic {
    fn of(self, histogram: &Histogram) -> Result<Bounds, String> {
        let none = || match histogram.count() {
            0 => "no sample of it is in the file".to_owned(),
            _ => format!("{self} is not in the file"),
        };
        match self {
            Statistic::Min => histogram.min_bounds().ok_or_else(none),
            Statistic::Mean => histogram.mean_bounds().ok_or_else(none),
            Statistic::Max => histogram.max_bounds().ok_or_else(none),
            Statistic::Quantile(q) => histogram.tail_bounds(q).ok_or_else(|| match histogram.overflow() {
                0 => {
                    let needed = (1.0 / (1.0 - q)).ceil();
                    format!("{self} needs {needed:.0} samples at least, and there are {}", histogram.count())
                }
                overflow => format!("{self} may be among {overflow} samples off the scale"),
            }),
        }
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Gate, GateError> {
        let error = |why: &str| GateError { text: text.to_owned(), why: why.to_owned() };
        let (name, rest) = text.split_once('<').ok_or_else(|| error("it has no <"))?;
        let (rest, cpus) = match rest.split_once('@') {
            Some((rest, list)) => {
                let cpus = list.parse::<CpuSet>().map_err(|why| error(&why.to_string()))?;
                if cpus.is_empty() {
                    return Err(error("no CPU follows the @"));
                }
                (rest, Some(cpus))
            }
            None => (rest, None),
        };
        let (or_equal, bound) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        let bound = parse_duration(bound.trim()).map_err(|why| error(&why.to_string()))?;
        let statistic = match name.trim() {
            "min" => Statistic::Min,
            "mean" | "avg" => Statistic::Mean,
            "max" => Statistic::Max,
            "median" => Statistic::Quantile(0.5),
            name => {
                let percent = name.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok());
                let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
                Statistic::Quantile(percent.ok_or_else(|| error("there is no such number"))? / 100.0)
            }
        };
        Ok(Gate { statistic, bound, or_equal, cpus })
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Min => f.write_str("min"),
            Statistic::Mean => f.write_str("mean"),
            Statistic::Max => f.write_str("max"),
            Statistic::Quantile(q) => write!(f, "p{}", (q * 1e10).round() / 1e8),
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.statistic, if self.or_equal { "<=" } else { "<" }, self.bound)?;
        match &self.cpus {
            Some(cpus) => write!(f, " on CPUs {cpus}"),
            None => Ok(()),
        }
    }
}
