//! Estimates beyond the samples: fits of the tail, and the reasons not to trust one.
//!
//! Two independent fits: the samples above a high threshold (generalised Pareto), and the largest of
//! each stretch of time (generalised extreme value). Either is meaningful only for data that are of one kind, do not
//! change, and do not come in clusters; everything else is a [`FitRefusal`].

mod gev;
mod goodness;
mod pareto;
mod refusal;

use crate::{Histogram, Maxima, trend};
pub use gev::Gev;
pub use pareto::Pareto;
pub use refusal::FitRefusal;
use whylate_base::Ns;

/// Samples beyond a threshold, tried from many to few: the higher the threshold, the better the theory holds.
const EXCESSES: [u64; 5] = [400, 250, 150, 90, 50];
/// At most this share of all samples is a tail.
const LARGEST_SHARE: f64 = 0.1;
/// With fewer different buckets the tail was counted, not measured.
const FEWEST_BUCKETS: usize = 10;
/// And where the lowest bucket makes them so many times as many.
const MOST_HELD: u64 = 20;
/// Blocks that a fit needs at least, and the most it is given: neighbours are put together.
const FEWEST_BLOCKS: usize = 40;
const MOST_BLOCKS: usize = 400;
/// Samples that a block needs at least for its largest to be an extreme.
const SAMPLES_OF_BLOCK: u64 = 100;
/// A fit is refused where its own data lie as far from it in less than this share of draws.
const WORST_FIT: f64 = 0.1;
/// Draws for that.
const DRAWS: usize = 99;
/// Largest values that a fit of the rest gives less often than this are of another kind.
const OUTLIER: f64 = 1e-5;
/// Tails heavier than this have no variance: their end cannot be estimated.
const HEAVIEST: f64 = 0.5;
/// Where it ends more abruptly than this, the theory of the likelihood does not hold (Smith, Biometrika 72, 1985).
const MOST_ABRUPT: f64 = -0.5;
/// Excesses are in clusters where they fall into less than this share of the blocks that chance would put them in.
const CLUSTERED: f64 = 0.5;
/// A trend counts below this probability, and above this share of the median over the whole time.
const TREND: f64 = 1e-3;
const TREND_SHARE: f64 = 0.1;

/// A fit of the samples beyond a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// What the samples lie beyond.
    pub threshold: Ns,
    /// How many do.
    pub excesses: usize,
    /// Of how many in all.
    pub samples: u64,
    /// How they lie.
    pub pareto: Pareto,
    /// The goodness of fit: in what share of draws from the fitted distribution the draws lie as far from their own fit.
    pub p_value: f64,
    beyond: Vec<f64>,
    threshold_at: f64,
}

/// A fit of the largest of each block.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// How long a block lasts.
    pub length: Ns,
    /// How many there are.
    pub blocks: usize,
    /// How many samples a block has.
    pub samples_per_block: f64,
    /// How the maxima lie.
    pub gev: Gev,
    /// The goodness of fit: in what share of draws from the fitted distribution the draws lie as far from their own fit.
    pub p_value: f64,
    maxima: Vec<f64>,
}

/// A latency that is exceeded with some probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The most likely one.
    pub estimate: Ns,
    /// The largest that the data allow, with a confidence of 95 %; `None`: they allow any.
    pub upper: Option<Ns>,
}

impl Tail {
    /// Fits the samples of `histogram` beyond the lowest threshold from which on they lie as they should. The maxima of
    /// the same time, where they are known, show clusters and trends.
    ///
    /// # Errors
    /// Why no fit would mean anything.
    pub fn fit(histogram: &Histogram, maxima: Option<&Maxima>) -> Result<Tail, FitRefusal> {
        let samples = histogram.count();
        let most = (samples as f64 * LARGEST_SHARE) as u64;
        let fewest = EXCESSES[EXCESSES.len() - 1];
        if most < fewest {
            let needed = (fewest as f64 / LARGEST_SHARE).ceil() as u64;
            return Err(FitRefusal::TooFew { what: "samples", have: samples, needed });
        }
        if histogram.overflow() > 0 {
            return Err(FitRefusal::OffScale { samples: histogram.overflow() });
        }
        if let Some(maxima) = maxima {
            refuse_trend(maxima)?;
        }
        let mut worst = None;
        for count in EXCESSES.into_iter().filter(|count| *count <= most) {
            let (threshold_at, beyond) = match excesses(histogram, count) {
                Ok(excesses) => excesses,
                Err(values) => {
                    worst.get_or_insert(FitRefusal::TooCoarse { values });
                    continue;
                }
            };
            let threshold = Ns(threshold_at.floor() as i64);
            if let Some(maxima) = maxima {
                refuse_clusters(maxima, threshold, beyond.len())?;
            }
            let Some(pareto) = Pareto::fit(&beyond) else { continue };
            if pareto.shape < MOST_ABRUPT {
                worst = Some(FitRefusal::TooAbrupt { shape: pareto.shape });
                continue;
            }
            if has_outlier(&beyond, |rest| {
                Pareto::fit(rest).map(|fit| move |largest| fit.endless().beyond(largest))
            }) {
                worst = Some(FitRefusal::Outlier { largest: histogram.max().unwrap_or_default() });
                continue;
            }
            let draw = |uniform| pareto.draw(uniform);
            let p_value = as_far(beyond.len(), pareto.distance(&beyond), draw, |drawn| {
                Some(Pareto::fit(drawn)?.distance(drawn))
            });
            if p_value < WORST_FIT {
                worst = Some(FitRefusal::NoFit { what: "samples beyond any threshold", p: p_value });
                continue;
            }
            if pareto.shape > HEAVIEST {
                return Err(FitRefusal::TooHeavy { shape: pareto.shape });
            }
            return Ok(Tail {
                threshold,
                excesses: beyond.len(),
                samples,
                pareto,
                p_value,
                beyond,
                threshold_at,
            });
        }
        Err(worst.unwrap_or(FitRefusal::TooCoarse { values: 1 }))
    }

    /// The latency that a sample exceeds with probability `p`; `None` where that is not beyond the threshold.
    pub fn level(&self, p: f64) -> Option<Level> {
        let own = self.own_share(p)?;
        let of = |excess: f64| Ns((self.threshold_at + excess).ceil().min(i64::MAX as f64) as i64);
        Some(Level {
            estimate: of(self.pareto.exceeded_with(own)),
            upper: self.pareto.upper(&self.beyond, own).map(of),
        })
    }

    /// The probability that a sample exceeds `latency`.
    pub fn beyond(&self, latency: Ns) -> f64 {
        self.pareto.beyond((latency.0 as f64 - self.threshold_at).max(0.0)) * self.excesses as f64
            / self.samples as f64
    }

    /// Of those beyond the threshold, the share that all samples' `p` is.
    fn own_share(&self, p: f64) -> Option<f64> {
        let own = p * self.samples as f64 / self.excesses as f64;
        (own < 1.0 && own > 0.0).then_some(own)
    }
}

impl Blocks {
    /// Fits the maxima of blocks, as long as is needed for `samples` in all.
    ///
    /// # Errors
    /// Why no fit would mean anything.
    pub fn fit(maxima: &Maxima, samples: u64) -> Result<Blocks, FitRefusal> {
        refuse_trend(maxima)?;
        let mut maxima = maxima.clone();
        let per_block = |maxima: &Maxima| samples as f64 / maxima.blocks().len().max(1) as f64;
        while maxima.complete().len() > MOST_BLOCKS
            || (per_block(&maxima) < SAMPLES_OF_BLOCK as f64 && maxima.blocks().len() > 1)
        {
            maxima = maxima.coarser(Ns(maxima.length().0 * 2));
        }
        let mut sorted: Vec<f64> = maxima.complete().iter().map(|largest| largest.0 as f64).collect();
        if sorted.len() < FEWEST_BLOCKS {
            let needed =
                (FEWEST_BLOCKS as f64 * per_block(&maxima).max(SAMPLES_OF_BLOCK as f64)).ceil() as u64;
            return Err(FitRefusal::TooFew {
                what: "samples",
                have: samples,
                needed: needed.max(samples + 1),
            });
        }
        let order = sorted.clone();
        sorted.sort_by(f64::total_cmp);
        let different = sorted.chunk_by(|a, b| a == b).count();
        if different < FEWEST_BUCKETS {
            return Err(FitRefusal::TooCoarse { values: different });
        }
        let gev = Gev::fit(&sorted).ok_or(FitRefusal::NoFit { what: "maxima", p: 0.0 })?;
        if has_outlier(&sorted, |rest| Gev::fit(rest).map(|fit| move |largest| fit.endless().beyond(largest)))
        {
            return Err(FitRefusal::Outlier {
                largest: Ns(sorted.last().copied().unwrap_or_default() as i64),
            });
        }
        if gev.shape < MOST_ABRUPT {
            return Err(FitRefusal::TooAbrupt { shape: gev.shape });
        }
        let draw = |uniform| gev.draw(uniform);
        let p_value =
            as_far(sorted.len(), gev.distance(&sorted), draw, |drawn| Some(Gev::fit(drawn)?.distance(drawn)));
        if p_value < WORST_FIT {
            return Err(FitRefusal::NoFit { what: "maxima", p: p_value });
        }
        if gev.shape > HEAVIEST {
            return Err(FitRefusal::TooHeavy { shape: gev.shape });
        }
        let (length, blocks) = (maxima.length(), order.len());
        Ok(Blocks { length, blocks, samples_per_block: per_block(&maxima), gev, p_value, maxima: sorted })
    }

    /// The latency that a sample exceeds with probability `p`.
    pub fn level(&self, p: f64) -> Option<Level> {
        // A block is spared where each of its samples is.
        let own = -(self.samples_per_block * (-p).ln_1p()).exp_m1();
        let of = |latency: f64| Ns(latency.ceil().min(i64::MAX as f64) as i64);
        (own > 0.0 && own < 1.0).then(|| Level {
            estimate: of(self.gev.exceeded_with(own)),
            upper: self.gev.upper(&self.maxima, own).map(of),
        })
    }
}

/// The `count` largest samples or a few more, as a threshold and the distances beyond it, ascending. Those of a bucket
/// are spread evenly over it: ties would be taken for a bad fit. `Err`: they are from too few buckets, so many; or most
/// are from one, which may hold all of a night's.
fn excesses(histogram: &Histogram, count: u64) -> Result<(f64, Vec<f64>), usize> {
    let buckets = histogram.buckets();
    let mut held = 0_u64;
    let first = buckets.iter().rposition(|bucket| {
        held = held.saturating_add(bucket.count);
        held >= count
    });
    let own = &buckets[first.unwrap_or(0)..];
    if own.len() < FEWEST_BUCKETS || held > count.saturating_mul(MOST_HELD) {
        return Err(own.len());
    }
    let threshold = own.first().map_or(0.0, |bucket| bucket.from.0 as f64 - 0.5);
    let max = histogram.max().unwrap_or_default().0 as f64;
    let spread = own.iter().flat_map(|bucket| {
        let (from, upto) = (bucket.from.0 as f64 - 0.5, (bucket.upto.0 as f64 + 0.5).min(max + 0.5));
        let width = (upto - from) / bucket.count as f64;
        (0..bucket.count).map(move |at| from + (at as f64 + 0.5) * width - threshold)
    });
    let mut beyond: Vec<f64> = spread.collect();
    if let Some(last) = beyond.last_mut() {
        *last = max - threshold;
    }
    beyond.sort_by(f64::total_cmp);
    Ok((threshold, beyond))
}

fn refuse_trend(maxima: &Maxima) -> Result<(), FitRefusal> {
    let series: Vec<f64> = maxima.complete().iter().map(|largest| largest.0 as f64).collect();
    let mut sorted = series.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    match trend(&series) {
        Some(found)
            if found.p < TREND && (found.slope * series.len() as f64).abs() > TREND_SHARE * median =>
        {
            let hour = 3_600e9 / maxima.length().0 as f64;
            Err(FitRefusal::Trend { per_hour: Ns((found.slope * hour) as i64) })
        }
        _ => Ok(()),
    }
}

fn refuse_clusters(maxima: &Maxima, threshold: Ns, excesses: usize) -> Result<(), FitRefusal> {
    let blocks = maxima.blocks().len() as f64;
    let hit = maxima.blocks().iter().flatten().filter(|largest| **largest > threshold).count();
    let by_chance = blocks * (1.0 - (1.0 - 1.0 / blocks.max(1.0)).powf(excesses as f64));
    match by_chance >= 10.0 && (hit as f64) < CLUSTERED * by_chance {
        true => Err(FitRefusal::Clustered { excesses, blocks: hit, length: maxima.length() }),
        false => Ok(()),
    }
}

/// Whether the largest one, two or three of sorted values are of another kind than the rest: by a fit of the rest alone,
/// as a fit of all makes room for them. Where the rest's tail seems to end, that is not taken for sure.
fn has_outlier<B: Fn(f64) -> f64>(sorted: &[f64], fit: impl Fn(&[f64]) -> Option<B>) -> bool {
    (1..=3).any(|few: usize| {
        let Some(at) = sorted.len().checked_sub(few) else { return false };
        let Some(beyond) = fit(&sorted[..at]) else { return false };
        let all = sorted.len() as u64;
        1.0 - crate::normal::binomial_at_most(few as u64 - 1, all, beyond(sorted[at])) < OUTLIER
    })
}

/// In what share of draws their distance from their own fit is as large as `distance`.
fn as_far(
    count: usize,
    distance: f64,
    draw: impl Fn(f64) -> f64,
    own_distance: impl Fn(&[f64]) -> Option<f64>,
) -> f64 {
    // The same draws each time: the same data get the same answer.
    let mut random = fastrand::Rng::with_seed(0x6c61_7465);
    let mut drawn = vec![0.0; count];
    let mut as_far = 0;
    for _ in 0..DRAWS {
        drawn.iter_mut().for_each(|value| *value = draw(random.f64()));
        drawn.sort_by(f64::total_cmp);
        as_far += usize::from(own_distance(&drawn).is_none_or(|own| own >= distance));
    }
    (as_far + 1) as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests;
