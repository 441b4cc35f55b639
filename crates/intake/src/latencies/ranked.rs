//! Samples of which a tool prints only some, by their rank: minimum, percentiles and maximum. Between two of them a latency
//! is known by these two alone, and behind the last percentile only the maximum is known.

use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured};

/// What a tool prints of one thread, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranked {
    pub(super) cpu: Option<Cpu>,
    pub(super) name: String,
    pub(super) samples: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    /// Each percentile, ascending: the rank that the tool computes for it, and the sample there. Tools count from 0 and leave
    /// the decimals out: it is the nearest-rank percentile, or the sample behind that where there are no decimals.
    pub(super) percentiles: Vec<(f64, u64)>,
}

/// Later is no latency: 292 years would not fit.
const LONGEST: u64 = 1 << 60;

impl Ranked {
    /// The thread; `None` without samples.
    ///
    /// # Errors
    /// If its numbers contradict each other: any of them may be the one that was changed.
    pub(super) fn measured(self) -> Result<Option<Measured>, String> {
        if self.samples == 0 {
            return Ok(None);
        }
        self.check()?;
        let sum = (self.mean * self.samples as f64).max(0.0) as u64;
        let buckets = self.buckets();
        let held = buckets.iter().map(|bucket| bucket.count).fold(0, u64::saturating_add);
        let overflow = self.samples.saturating_sub(held);
        let exact = Exact { overflow, sum, min: ns(self.min), max: ns(self.max) };
        let histogram = Histogram::new(buckets, exact);
        Ok(Some(Measured { cpu: self.cpu, name: self.name, histogram, ..Measured::default() }))
    }

    /// Refuses numbers that contradict each other. A sum that the maximum is too small for also shows sysjitter's own error:
    /// it sorts by the difference of two 64-bit numbers as an `int`, so a gap of 2^31 cycles and more (about a second) may
    /// be the maximum without being printed as such (`qsort_cmp_interruption` in sysjitter.c).
    pub(super) fn check(&self) -> Result<(), String> {
        let Ranked { name, min, max, mean, .. } = self;
        if min > max {
            return Err(contradiction(&format!(
                "the maximum of {name}, {max} ns, is below its minimum, {min} ns"
            )));
        }
        // Means are rounded to two places, or down.
        if *mean > *max as f64 + 1.0 || *mean + 1.0 < *min as f64 {
            return Err(contradiction(&format!(
                "the mean of {name}, {mean} ns, is not between its minimum, {min} ns, and its maximum, {max} ns"
            )));
        }
        let mut last = *min;
        for &(_, value) in &self.percentiles {
            if value < last || value > *max {
                return Err(contradiction(&format!(
                    "the percentiles of {name} do not ascend from its minimum, {min} ns, to its maximum, {max} ns: {value} ns \
                     comes behind {last} ns"
                )));
            }
            last = value;
        }
        Ok(())
    }

    /// A class for each sample that is printed, and one between two of them.
    fn buckets(&self) -> Vec<Bucket> {
        // A percentile that takes the last sample is the maximum by another name.
        let inner =
            self.percentiles.iter().filter(|(rank, _)| (*rank as u64).saturating_add(1) < self.samples);
        let inner = inner.map(|&(rank, value)| ((rank.ceil() as u64).max(1), value));
        let mut points: Vec<(u64, u64)> = vec![(1, self.min)];
        for point in inner {
            if points.last().is_some_and(|last| point.0 > last.0) {
                points.push(point);
            }
        }
        if self.samples == 1 {
            return vec![Bucket { from: ns(self.max), upto: ns(self.max), count: 1 }];
        }
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut add = |from: u64, upto: u64, count: u64| match buckets.last_mut() {
            Some(last) if last.upto >= ns(from) => last.count = last.count.saturating_add(count),
            _ => buckets.push(Bucket { from: ns(from), upto: ns(upto), count }),
        };
        for (at, &(rank, value)) in points.iter().enumerate() {
            add(value, value, 1);
            if let Some(&(next_rank, next)) = points.get(at + 1) {
                let (from, upto) = (value.saturating_add(1), next.saturating_sub(1));
                match from <= upto {
                    true => add(from, upto, next_rank - rank - 1),
                    false => add(value, value, next_rank - rank - 1),
                }
            }
        }
        buckets
    }
}

fn ns(value: u64) -> Ns {
    Ns(value.min(LONGEST) as i64)
}

fn contradiction(what: &str) -> String {
    format!("{what}: numbers are missing or changed")
}
