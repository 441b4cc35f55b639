//! One thread's counts in equal classes, as most tools keep them.

use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured};

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

/// Latencies beyond this many nanoseconds are no latencies: 292 years would not fit.
const LONGEST: u64 = 1 << 60;

impl Counted {
    /// Of classes that are `unit` wide: class `n` holds latencies from `n` units to just below `n + 1`. Without samples
    /// there is nothing.
    pub(super) fn measured(mut self, unit: Ns) -> Option<Measured> {
        let unit = unit.0.max(1) as u64;
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
        let samples = counted.checked_add(self.overflow)?;
        let first = self.classes.first().map(|class| class.0);
        let last = self.classes.last().map(|class| class.0);
        // With samples beyond the classes only the tool itself knows how late the latest was.
        let max = self.max.or(if self.overflow == 0 { last } else { None }).max(last);
        let min = self.min.or(first).or(max)?;
        let own_sum = || self.classes.iter().map(|&(class, count)| class as f64 * count as f64).sum::<f64>();
        let sum = self.mean.map_or_else(own_sum, |mean| mean * samples as f64) * unit as f64;
        let bucket =
            |&(class, count): &(u64, u64)| Bucket { from: ns(class), upto: Ns(ns(class + 1).0 - 1), count };
        let exact = Exact {
            overflow: self.overflow,
            sum: sum.max(0.0) as u64,
            min: ns(min),
            max: ns(max.unwrap_or(min)),
        };
        let histogram = Histogram::new(self.classes.iter().map(bucket), exact);
        (samples > 0).then_some(Measured { cpu: self.cpu, name: self.name, histogram, maxima: None })
    }
}

/// What a reader must know of such numbers.
pub(super) fn notes(threads: &[Measured], unit: &str) -> Vec<String> {
    let overflow: u64 = threads.iter().map(|thread| thread.histogram.overflow()).sum();
    let samples: u64 = threads.iter().map(|thread| thread.histogram.count()).sum();
    let mut notes = vec![format!("counted in classes of {unit}")];
    if overflow == samples {
        notes = vec![
            "only minimum, mean and maximum are known: measure with a histogram (cyclictest -h 1000)"
                .to_owned(),
        ];
    } else if overflow > 0 {
        notes.push(format!(
            "{overflow} of {samples} samples were beyond the last class: of them only the maximum is known"
        ));
    }
    notes
}
