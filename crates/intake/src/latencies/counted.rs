//! One thread's counts in equal classes, as most tools keep them.

use super::error::Broken;
use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

/// What a tool counts in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    name: &'static str,
    is: Ns,
}

impl Unit {
    pub(super) const NS: Unit = Unit { name: "1 ns", is: Ns(1) };
    pub(super) const US: Unit = Unit { name: "1 us", is: Ns::from_us(1) };
    pub(super) const MS: Unit = Unit { name: "1 ms", is: Ns::from_ms(1) };
}

/// Which tool measured, with which probe and unit.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) tool: &'static str,
    pub(super) probe: &'static str,
    pub(super) unit: Unit,
}

impl Source {
    /// The measurement; threads without samples are left out.
    pub(super) fn run(self, threads: impl IntoIterator<Item = Counted>) -> Result<Run, Broken> {
        let Source { tool, probe, unit } = self;
        let threads: Vec<Measured> = threads.into_iter().filter_map(|thread| thread.measured(unit)).collect();
        if threads.is_empty() {
            return Err(self.broken("there is no sample in it".to_owned()));
        }
        let notes = self.notes(&threads);
        Ok(Run { tool: tool.to_owned(), probe: probe.to_owned(), threads, notes, ..Run::default() })
    }

    /// What a reader must know of such numbers.
    fn notes(self, threads: &[Measured]) -> Vec<String> {
        let all = |of: fn(&Histogram) -> u64| {
            threads.iter().map(|thread| of(&thread.histogram)).fold(0, u64::saturating_add)
        };
        let (overflow, samples) = (all(Histogram::overflow), all(Histogram::count));
        let mut notes = vec![format!("counted in classes of {}", self.unit.name)];
        if overflow == samples {
            let remedy = match self.tool {
                "cyclictest" => ": measure with a histogram (cyclictest -h 1000)",
                _ => "",
            };
            notes = vec![format!("only minimum, mean and maximum are known{remedy}")];
        } else if overflow > 0 {
            notes.push(format!(
                "{overflow} of {samples} samples were beyond the last class: of them only the maximum is known"
            ));
        }
        notes
    }

    pub(super) fn broken(self, why: String) -> Broken {
        Broken { tool: self.tool, why }
    }

    /// Refuses what no machine has: each column costs memory.
    pub(super) fn at_most(self, threads: usize) -> Result<(), Broken> {
        match threads > MOST_THREADS {
            true => Err(self.broken(format!("it has more than {MOST_THREADS} threads"))),
            false => Ok(()),
        }
    }
}

/// A thread's counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) cpu: Option<Cpu>,
    pub(super) name: String,
    /// Latency in units, and how often.
    pub(super) classes: Vec<(u64, u64)>,
    /// Samples beyond the last class.
    pub(super) overflow: u64,
    /// In units, where they are given.
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    /// In units.
    pub(super) mean: Option<f64>,
}

/// No machine has so many CPUs: a line with more columns is no line of a histogram.
pub(super) const MOST_THREADS: usize = 1 << 16;

/// Latencies beyond this many nanoseconds are no latencies: 292 years would not fit.
const LONGEST: u64 = 1 << 60;

impl Counted {
    /// As oslat counts: its class `n` holds what took `n - 1` to just below `n` units, and its minimum is such a number
    /// too (`insert_bucket` in rt-tests' src/oslat/oslat.c). Mean and maximum stay as oslat prints them.
    pub(super) fn counted_by_upper_ends(mut self) -> Counted {
        self.classes.iter_mut().for_each(|class| class.0 = class.0.saturating_sub(1));
        self.min = self.min.map(|min| min.saturating_sub(1));
        self
    }

    /// Of classes that are `unit` wide: class `n` holds latencies from `n` units to just below `n + 1`. Without samples
    /// there is nothing.
    fn measured(mut self, unit: Unit) -> Option<Measured> {
        let unit = unit.is.0.max(1) as u64;
        let ns = |units: u64| Ns(units.saturating_mul(unit).min(LONGEST) as i64);
        self.classes.retain(|(_, count)| *count > 0);
        self.classes.sort_unstable();
        self.classes.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = earlier.1.saturating_add(later.1);
            }
            same
        });
        let counted: u64 = self.classes.iter().map(|class| class.1).fold(0, u64::saturating_add);
        let samples = counted.saturating_add(self.overflow);
        let first = self.classes.first().map(|class| class.0);
        let last = self.classes.last().map(|class| class.0);
        // With samples beyond the classes only the tool itself knows how late the latest was.
        let max = self.max.or(if self.overflow == 0 { last } else { None }).max(last);
        let min = self.min.or(first).or(max)?;
        let own_sum = || self.classes.iter().map(|&(class, count)| class as f64 * count as f64).sum::<f64>();
        let sum = self.mean.map_or_else(own_sum, |mean| mean * samples as f64) * unit as f64;
        let bucket = |&(class, count): &(u64, u64)| {
            let from = ns(class);
            Bucket { from, upto: Ns(ns(class.saturating_add(1)).0 - 1).max(from), count }
        };
        let exact = Exact {
            overflow: self.overflow,
            sum: sum.max(0.0) as u64,
            min: ns(min),
            max: ns(max.unwrap_or(min)),
        };
        let histogram = Histogram::new(self.classes.iter().map(bucket), exact);
        (samples > 0).then_some(Measured {
            cpu: self.cpu,
            name: self.name,
            histogram,
            maxima: None,
            missed: None,
        })
    }
}
