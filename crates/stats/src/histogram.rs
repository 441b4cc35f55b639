//! Latencies, counted in buckets whose width grows with the latency.
//!
//! Buckets are those of [`MeasuredLayout`]. A histogram that another program
//! made keeps its own buckets.
//!
//! One convention holds for all numbers: they are rounded down. A percentile is the lower end of its bucket (at most 0.1 %
//! too low), as the minimum and the maximum of a tool that counts in whole microseconds are the lower ends of theirs.
//! Where the difference decides, [`Bounds`] has both ends.

use crate::MeasuredLayout;
use whylate_base::Ns;

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest latency that belongs to it.
    pub from: Ns,
    /// The largest.
    pub upto: Ns,
    /// How many samples it holds.
    pub count: u64,
}

/// The ends between which a number lies, both included: of samples in buckets no more is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// It is at least this.
    pub least: Ns,
    /// It is at most this.
    pub most: Ns,
}

/// A distribution of latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<Bucket>,
    overflow: u64,
    count: u64,
    sum: u64,
    min: Ns,
    max: Ns,
    /// Minimum and maximum were rounded down to a multiple of it.
    unit: Ns,
    /// No sample of the overflow is below it.
    limit: Ns,
    /// Summed up, these buckets overlapped: their samples are in the overflow.
    overlap: Option<Box<Overlap>>,
    /// The program did not print the least.
    has_no_min: bool,
    /// Nor the mean, and it does not follow from the buckets.
    has_no_mean: bool,
    /// Later samples may be missing.
    has_open_end: bool,
}

/// Buckets that overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overlap {
    /// From here on no sample is in a bucket.
    from: Ns,
    buckets: Vec<Bucket>,
}

/// What is known of a distribution beside its buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact {
    /// Samples that are in no bucket.
    pub overflow: u64,
    /// The sum of all samples, in nanoseconds.
    pub sum: u64,
    /// The least.
    pub min: Ns,
    /// The most.
    pub max: Ns,
}

impl Histogram {
    /// Of buckets in ascending order that do not overlap; empty ones are left out.
    pub fn new(buckets: impl IntoIterator<Item = Bucket>, exact: Exact) -> Histogram {
        let buckets: Vec<Bucket> = buckets.into_iter().filter(|bucket| bucket.count > 0).collect();
        // A file may have any number: counts saturate.
        let count = buckets.iter().map(|bucket| bucket.count).fold(exact.overflow, u64::saturating_add);
        let Exact { overflow, sum, min, max } = exact;
        let limit = buckets.last().map_or(min, |last| Ns(last.upto.0.saturating_add(1)));
        Histogram { buckets, count, overflow, sum, min, max, unit: Ns(1), limit, ..Histogram::default() }
    }

    /// The same of a program that rounds minimum, maximum and each sample of the mean down to a multiple of `unit`.
    #[must_use]
    pub fn rounded_down_to(self, unit: Ns) -> Histogram {
        Histogram { unit: unit.max(Ns(1)), ..self }
    }

    /// The same of a program that counts as overflow what is at least `limit`: more than its buckets that are not empty show.
    #[must_use]
    pub fn with_limit(self, limit: Ns) -> Histogram {
        // Without a bucket, it is the least sample so far.
        let own = self.buckets.last().map_or(Ns::ZERO, |_| self.limit);
        Histogram { limit: own.max(limit), ..self }
    }

    /// The same of a program that does not print the least: any sample in no bucket may be it.
    #[must_use]
    pub fn without_min(self) -> Histogram {
        let limit = self.buckets.first().map_or(Ns::ZERO, |_| self.limit);
        Histogram { min: Ns::ZERO, limit, has_no_min: true, ..self }
    }

    /// The same of a program that does not print the mean, where buckets do not hold all samples.
    #[must_use]
    pub fn without_mean(self) -> Histogram {
        Histogram { sum: 0, has_no_mean: true, ..self }
    }

    /// The same of a file that may lack samples later than all of these.
    #[must_use]
    pub fn with_open_end(self) -> Histogram {
        Histogram { has_open_end: true, ..self }
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least; `None` without samples, or where it is not known.
    pub fn min(&self) -> Option<Ns> {
        (self.count > 0 && !self.has_no_min).then_some(self.min)
    }

    /// The ends of the least; `None` without samples, or where it is not known.
    pub fn min_bounds(&self) -> Option<Bounds> {
        self.min().map(|min| Bounds { least: min, most: self.upto(min).min(self.upto(self.max)) })
    }

    /// The most; `None` without samples.
    pub fn max(&self) -> Option<Ns> {
        (self.count > 0).then_some(self.max)
    }

    /// The ends of the most, up to [`Ns::MAX`] where later samples may be missing; `None` without samples.
    pub fn max_bounds(&self) -> Option<Bounds> {
        let most = |max| if self.has_open_end { Ns::MAX } else { self.upto(max) };
        self.max().map(|max| Bounds { least: max, most: most(max) })
    }

    /// The mean; `None` without samples, or where it is not known.
    pub fn mean(&self) -> Option<Ns> {
        let sum = (!self.has_no_mean).then_some(self.sum)?;
        let half = self.count / 2;
        sum.saturating_add(half)
            .checked_div(self.count)
            .map(|mean| Ns(i64::try_from(mean).unwrap_or(i64::MAX)))
    }

    /// The ends of the mean; `None` without samples, or where it is not known. Of samples that were rounded down it is too low
    /// by less than the widest bucket.
    pub fn mean_bounds(&self) -> Option<Bounds> {
        let widest = self
            .buckets
            .iter()
            .map(|bucket| bucket.upto.0.saturating_sub(bucket.from.0).saturating_add(1))
            .max();
        let width = if self.unit > Ns(1) { widest.unwrap_or(1).max(self.unit.0) } else { 1 };
        self.mean().map(|mean| Bounds { least: mean, most: Ns(mean.0.saturating_add(width - 1)) })
    }

    /// The sum of all samples, in nanoseconds; 0 where the mean is not known.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The median; `None` also where it lies beyond the buckets, of which only the maximum is known.
    pub fn median(&self) -> Option<Ns> {
        let beyond = self.count.div_ceil(2) > self.count - self.overflow;
        self.percentile(0.5).filter(|_| !beyond)
    }

    /// The latency that the share `q` (0 to 1) of the samples did not exceed: the nearest-rank percentile, rounded down by
    /// less than a bucket's width. `None` without samples.
    pub fn percentile(&self, q: f64) -> Option<Ns> {
        self.percentile_bounds(q).map(|bounds| bounds.least)
    }

    /// The ends of a [`percentile`](Self::percentile).
    pub fn percentile_bounds(&self, q: f64) -> Option<Bounds> {
        self.ranked((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64)
    }

    /// The ends of the sample of a rank, counted from 1 at the least; a rank beyond either end is that end's.
    pub fn ranked(&self, rank: u64) -> Option<Bounds> {
        let rank = rank.clamp(1, self.count.max(1));
        if rank >= self.count {
            return self.max_bounds();
        }
        let mut seen = 0;
        let bucket = self.buckets.iter().find(|bucket| {
            seen = bucket.count.saturating_add(seen);
            seen >= rank
        });
        let most = self.upto(self.max);
        // A rank beyond the buckets lies in the overflow, of which only the maximum is known.
        let (from, upto) = bucket.map_or((self.limit(), most), |bucket| (bucket.from, bucket.upto));
        Some(Bounds { least: from.max(self.min).min(most), most: upto.min(most) })
    }

    /// The [`percentile`](Self::percentile), where there are samples beyond it: 100 are needed
    /// for the 99th, 10,000 for the 99.99th. With fewer it would be the maximum by another name; and so it would be
    /// where the rank is that of a sample in no bucket.
    pub fn tail(&self, q: f64) -> Option<Ns> {
        self.tail_bounds(q).map(|bounds| bounds.least)
    }

    /// The ends of a [`tail`](Self::tail).
    pub fn tail_bounds(&self, q: f64) -> Option<Bounds> {
        let rank = (q * self.count as f64).ceil();
        (rank < self.count as f64 && rank <= (self.count - self.overflow) as f64)
            .then(|| self.percentile_bounds(q))
            .flatten()
    }

    /// How many samples are above a latency. Of a bucket that it lies in, all are counted but the latency is its last.
    pub fn beyond(&self, latency: Ns) -> u64 {
        let from = self.buckets.partition_point(|bucket| bucket.upto <= latency);
        let overflow = if self.upto(self.max) > latency { self.unbounded() } else { 0 };
        let loose = self.overlapping().iter().filter(|bucket| bucket.upto > latency);
        self.buckets[from..]
            .iter()
            .chain(loose)
            .map(|bucket| bucket.count)
            .fold(overflow, u64::saturating_add)
    }

    /// How many samples are surely above a latency: of a bucket that it lies in, none but the maximum.
    pub fn surely_beyond(&self, latency: Ns) -> u64 {
        let from = self.buckets.partition_point(|bucket| bucket.from <= latency);
        let overflow = if self.limit() > latency { self.unbounded() } else { 0 };
        let loose = self.overlapping().iter().filter(|bucket| bucket.from > latency);
        let each = self.buckets[from..].iter().chain(loose).map(|bucket| bucket.count);
        each.fold(overflow, u64::saturating_add).max(u64::from(self.count > 0 && self.max > latency))
    }

    fn overlapping(&self) -> &[Bucket] {
        self.overlap.as_ref().map_or(&[], |overlap| &overlap.buckets)
    }

    /// Samples of which no more is known than that they are in the overflow.
    fn unbounded(&self) -> u64 {
        let bounded = self.overlapping().iter().map(|bucket| bucket.count).fold(0, u64::saturating_add);
        self.overflow.saturating_sub(bounded)
    }

    /// The least that a sample in no bucket can be.
    pub fn limit(&self) -> Ns {
        if self.buckets.is_empty() { self.limit.max(self.min) } else { self.limit }
    }

    /// The most that was rounded down to `latency`.
    fn upto(&self, latency: Ns) -> Ns {
        Ns(latency.0.saturating_add((self.unit.0 - 1).max(0)))
    }

    /// Samples too large for any bucket (over 17 s): in count, mean and maximum only.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Adds another distribution's samples: all CPUs together. Both should have the same buckets: where two overlap and do not
    /// end alike, the sum of their samples is that of no bucket. These samples and all later ones are then in none, and only
    /// how many of them are beyond a latency is known.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        self.limit = match (self.overflow, other.overflow) {
            (0, 0) => self.limit.max(other.limit),
            (0, _) => other.limit,
            (_, 0) => self.limit,
            _ => self.limit.min(other.limit),
        };
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_by_key(|bucket| bucket.upto);
        self.buckets.dedup_by(|later, earlier| {
            let same = later.upto == earlier.upto;
            if same {
                earlier.count = earlier.count.saturating_add(later.count);
                earlier.from = earlier.from.min(later.from);
            }
            same
        });
        self.overflow = self.overflow.saturating_add(other.overflow);
        self.leave_overlapping(other.overlap.as_deref());
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.has_no_min |= other.has_no_min;
        self.has_no_mean |= other.has_no_mean;
        self.has_open_end |= other.has_open_end;
        self.unit = self.unit.max(other.unit);
    }

    /// Takes the samples of the first buckets that overlap, and of all later ones, out of their buckets: in another sum they
    /// would have to be anywhere from there on.
    fn leave_overlapping(&mut self, other: Option<&Overlap>) {
        let overlap = |pair: &[Bucket]| pair[1].from <= pair[0].upto;
        let own = self.overlap.take();
        let before = [own.as_deref(), other].into_iter().flatten();
        let mut from = before.clone().map(|one| one.from).min();
        if self.buckets.windows(2).any(overlap) {
            self.buckets.sort_by_key(|bucket| bucket.from);
            let first = self.buckets.windows(2).find(|pair| overlap(pair)).map(|pair| pair[0].from);
            from = [from, first].into_iter().flatten().min();
        }
        let Some(mut from) = from else { return };
        let mut buckets: Vec<Bucket> = before.flat_map(|one| one.buckets.iter().copied()).collect();
        let first = self.buckets.partition_point(|bucket| bucket.upto < from);
        for bucket in self.buckets.drain(first..) {
            self.overflow = self.overflow.saturating_add(bucket.count);
            from = from.min(bucket.from);
            buckets.push(bucket);
        }
        self.limit = self.limit.min(from);
        self.overlap = Some(Box::new(Overlap { from, buckets }));
    }
}

/// Latencies measured elsewhere; a negative one counts as zero.
impl FromIterator<Ns> for Histogram {
    fn from_iter<I: IntoIterator<Item = Ns>>(latencies: I) -> Self {
        let mut counts = std::collections::BTreeMap::<usize, u64>::new();
        let mut exact = Exact { min: Ns(i64::MAX), ..Exact::default() };
        for latency in latencies {
            let latency = latency.max(Ns::ZERO);
            match MeasuredLayout::bucket_of(latency) {
                Some(bucket) => *counts.entry(bucket).or_default() += 1,
                None => exact.overflow += 1,
            }
            exact.sum = exact.sum.saturating_add(latency.0 as u64);
            (exact.min, exact.max) = (exact.min.min(latency), exact.max.max(latency));
        }
        let bucket =
            |(at, count)| Bucket { from: MeasuredLayout::lower(at), upto: MeasuredLayout::upper(at), count };
        Histogram::new(counts.into_iter().map(bucket), exact).with_limit(MeasuredLayout::LIMIT)
    }
}

#[cfg(test)]
mod tests;
