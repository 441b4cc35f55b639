//! Estimates of the tail beyond the samples, and whether a claim holds: the fits of `whylate_stats` over all CPUs.

use super::claimed::{Claimed, Wanted};
use crate::compare::Prepared;
use whylate_stats::{Blocks, FitRefusal, Level, unseen_at_most};

/// The probabilities that levels are given for.
pub const RARE: [f64; 2] = [1e-6, 1e-9];

/// Which latencies the samples predict beyond themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct TailEstimate {
    /// By the samples beyond a threshold (generalised Pareto), for each of [`RARE`] in order; or why not.
    pub by_tail: Result<Vec<Option<Level>>, FitRefusal>,
    /// By the largest of each stretch of time (generalised extreme value).
    pub by_blocks: Result<Vec<Option<Level>>, FitRefusal>,
    /// A cause that never struck may strike with this probability (95 %), and no fit shows it.
    pub unseen_at_most: f64,
    /// What was claimed.
    pub claim: Option<Claimed>,
}

impl TailEstimate {
    /// Of a run's samples.
    pub fn of(run: &Prepared, wanted: Option<Wanted>) -> TailEstimate {
        let blocks = match &run.all.maxima {
            Some(maxima) => Blocks::fit(maxima, run.all.histogram.count()),
            None => Err(FitRefusal::TooFew { what: "stretches of time", have: 0, needed: 1 }),
        };
        TailEstimate {
            by_tail: run.together().tail().map(|tail| RARE.map(|p| tail.level(p)).to_vec()),
            by_blocks: blocks.map(|blocks| RARE.map(|p| blocks.level(p)).to_vec()),
            unseen_at_most: unseen_at_most(run.all.histogram.count()),
            claim: wanted.map(|wanted| Claimed::of(run, wanted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;
    use whylate_stats::{Measured, Run};

    #[test]
    fn a_tail_that_is_of_one_kind_is_fitted() {
        let mut random = fastrand::Rng::with_seed(7);
        let samples = (0..200_000).map(|_| Ns((2_000.0 - 1_000.0 * (1.0 - random.f64()).ln()) as i64));
        let threads = vec![Measured { histogram: samples.collect(), ..Measured::default() }];
        let tail = TailEstimate::of(&Prepared::of(Run { threads, ..Run::default() }), None);
        let levels = tail.by_tail.expect("a fit");
        // -1000 ln 1e-9, and what is under it.
        assert!(
            levels[1].is_some_and(|level| (Ns(18_000)..Ns(29_000)).contains(&level.estimate)),
            "{levels:?}"
        );
        assert!(tail.by_blocks.is_err(), "no maxima are known");
    }
}
