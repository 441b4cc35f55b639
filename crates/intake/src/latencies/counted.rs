//! One thread's counts in equal classes, as most tools keep them.

use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured};

/// What a tool counts in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    is: Ns,
}

impl Unit {
    pub(super) const NS: Unit = Unit { name: "ns", is: Ns(1) };
    pub(super) const US: Unit = Unit { name: "us", is: Ns::from_us(1) };
    pub(super) const MS: Unit = Unit { name: "ms", is: Ns::from_ms(1) };
}

/// A thread's counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) cpu: Option<Cpu>,
    pub(super) name: String,
    /// The lower end of each class in units, and how many samples it holds.
    pub(super) classes: Vec<(u64, u64)>,
    /// How many units wide a class is; 0 is read as 1.
    pub(super) width: u64,
    /// Minimum and maximum are rounded down to multiples of so many units; 0 is read as 1.
    pub(super) rounding: u64,
    /// The maximum is the upper end of its class instead.
    pub(super) is_max_upper: bool,
    /// Samples beyond the last class.
    pub(super) overflow: u64,
    /// Where the last class of the file ends, in units, also where it is empty.
    pub(super) limit: u64,
    /// How many samples the classes hold by the file's own sum, with or without the overflow.
    pub(super) total: Option<u64>,
    /// That sum is without the overflow.
    pub(super) is_total_of_classes: bool,
    /// In units, where they are given.
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    /// In units.
    pub(super) mean: Option<f64>,
    /// The tool cuts the mean to whole units: that of the classes is closer, where they hold all samples.
    pub(super) is_mean_cut: bool,
    /// The overflow is the largest sample alone: how many others there were is not in the file.
    pub(super) is_largest_only: bool,
    /// As of [`Measured::is_stage`].
    pub(super) is_stage: bool,
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
        self.is_max_upper = true;
        self
    }

    /// Where lines of the histogram were left out, as mails do to be short, the tool's own minimum, mean and maximum are
    /// all that is known: returns how many samples the classes held, and of how many.
    pub(super) fn without_cut_classes(&mut self) -> Option<(u64, u64)> {
        let (held, beyond) = (self.held(), self.overflow);
        let all = |total: u64| total.saturating_add(if self.is_total_of_classes { beyond } else { 0 });
        let is_cut =
            |total: &u64| *total != held.saturating_add(beyond) && all(*total) > held.saturating_add(beyond);
        let total = self.total.filter(is_cut)?;
        // Of a table that was left out as a whole nothing contradicts the lines below it.
        let is_known = self.classes.is_empty() || self.min.is_some() && self.mean.is_some();
        (self.max.is_some() && is_known).then_some(())?;
        let all = all(total);
        self.classes.clear();
        (self.overflow, self.total) = (all, None);
        Some((held, total))
    }

    pub(super) fn has_samples(&self) -> bool {
        self.overflow > 0 || self.held() > 0
    }

    pub(super) fn width(&self) -> u64 {
        self.width.max(1)
    }

    /// The least maximum that is not of the last class.
    pub(super) fn beyond(&self, last: u64) -> u64 {
        last.saturating_add(self.width()).saturating_add(u64::from(self.is_max_upper))
    }

    /// How many samples the classes hold.
    pub(super) fn held(&self) -> u64 {
        self.classes.iter().map(|class| class.1).fold(0, u64::saturating_add)
    }

    /// Of classes that are `width` units wide: class `n` holds latencies from `n` units to just below `n + width`. Without
    /// samples there is nothing.
    pub(super) fn measured(mut self, unit: Unit) -> Option<Measured> {
        let (width, unit) = (self.width(), unit.is.0.max(1) as u64);
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
        let first = self.classes.first().map(|class| class.0);
        let last = self.classes.last().map(|class| class.0);
        // A maximum in no class is a sample that the file did not count.
        if last.zip(self.max).is_some_and(|(last, max)| max >= self.beyond(last)) {
            self.overflow = self.overflow.max(1);
        }
        let samples = self.held().saturating_add(self.overflow);
        // With samples beyond the classes only the tool itself knows how late the latest was.
        let max = self.max.or(if self.overflow == 0 { last } else { None }).max(last);
        // A single sample is least, mean and most at once.
        let single = max.filter(|_| samples == 1 && !self.is_largest_only);
        let least = self.min.or(first).or(single);
        let min = least.or(max)?;
        let is_summed = self.is_mean_cut && self.overflow == 0 && last.is_some();
        let mean = self.mean.filter(|_| !is_summed).or(single.map(|single| single as f64));
        // Samples beyond the classes have no sum of their own: the mean is known where they are so few that it does not matter.
        let beyond =
            self.overflow as f64 * max.zip(last).map_or(f64::INFINITY, |(max, last)| (max - last) as f64);
        let has_mean = mean.is_some() || self.overflow == 0 || beyond < width as f64 * samples as f64;
        let own_sum = || self.classes.iter().map(|&(class, count)| class as f64 * count as f64).sum::<f64>();
        let sum = mean.map_or_else(own_sum, |mean| mean * samples as f64) * unit as f64;
        let bucket = |&(class, count): &(u64, u64)| {
            let from = ns(class);
            Bucket { from, upto: Ns(ns(class.saturating_add(width)).0 - 1).max(from), count }
        };
        let exact = Exact {
            overflow: self.overflow,
            sum: sum.max(0.0) as u64,
            min: ns(min),
            // Without a maximum in the file it is that of the last class, which may hold the minimum as well.
            max: ns(max.unwrap_or(min).max(min)),
        };
        let histogram = Histogram::new(self.classes.iter().map(bucket), exact)
            .rounded_down_to(if self.is_max_upper { Ns(1) } else { ns(self.rounding.max(1)) })
            .with_limit(ns(self.limit));
        let histogram = if least.is_some() { histogram } else { histogram.without_min() };
        let histogram = if has_mean { histogram } else { histogram.without_mean() };
        (samples > 0).then_some(Measured {
            cpu: self.cpu,
            name: self.name,
            histogram,
            maxima: None,
            missed: None,
            is_stage: self.is_stage,
        })
    }
}
