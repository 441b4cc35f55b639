//! `bench claims`: how many claims are carried that are false, and how many that are true, on samples whose distribution is
//! known. The samples are counted as most tools count: in classes of 1 us.

use anyhow::Result;
use clap::Args;
use whylate_base::Ns;
use whylate_stats::{Bucket, Claim, ClaimStatus, Exact, Histogram, Tail};

/// Samples of each draw: 17 minutes at 1 ms.
const SAMPLES: u64 = 1_000_000;
/// What is claimed: at most this probability,
const PROBABILITIES: [f64; 2] = [1e-7, 1e-9];
/// and this many times the true quantile. Below 1 the claim is false.
const FALSE: f64 = 0.85;
const TRUE: f64 = 1.25;

#[derive(Args)]
pub(crate) struct Claims {
    /// Draw each distribution so often
    #[arg(long, default_value_t = 4)]
    draws: u64,
    /// The seed of the first draw
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Claims {
    pub(super) fn run(&self) -> Result<()> {
        println!("{HEAD}");
        for distribution in DISTRIBUTIONS {
            println!("{}", row(distribution, self.draws, self.seed));
        }
        Ok(())
    }
}

const HEAD: &str = "| latencies | false claims | carried | with the assumption | contradicted | true claims | carried | with the \
                    assumption |\n|---|--:|--:|--:|--:|--:|--:|--:|";

/// Latencies in microseconds, by the probability that they are exceeded.
#[derive(Clone, Copy)]
struct Distribution {
    name: &'static str,
    /// The latency that is exceeded with a probability.
    quantile: fn(f64) -> f64,
    /// A second cause: how often it strikes, and by how much it is later.
    rare: Option<(f64, f64)>,
    /// True where only draws count in which the rare cause did not strike.
    is_unseen: bool,
}

impl Distribution {
    const fn single(name: &'static str, quantile: fn(f64) -> f64) -> Distribution {
        Distribution { name, quantile, rare: None, is_unseen: false }
    }
}

const DISTRIBUTIONS: [Distribution; 9] = [
    Distribution::single("exponential", exponential),
    Distribution::single("Weibull, shape 0.8", |p| 10.0 + 5.0 * (-p.ln()).powf(1.25)),
    Distribution::single("Weibull, shape 2", |p| 10.0 + 25.0 * (-p.ln()).sqrt()),
    Distribution::single("logistic", |p| 80.0 + 6.0 * ((1.0 - p) / p).ln()),
    Distribution::single("Gumbel", |p| 40.0 - 8.0 * (-(-p).ln_1p()).ln()),
    Distribution::single("Pareto, shape 0.15", |p| 10.0 + 6.0 * (p.powf(-0.15) - 1.0) / 0.15),
    Distribution {
        name: "exponential, and 1 in 1,000 is 300 us later",
        quantile: exponential,
        rare: Some((1e-3, 300.0)),
        is_unseen: false,
    },
    Distribution {
        name: "exponential, and 1 in 1,000,000 is 300 us later",
        quantile: exponential,
        rare: Some((1e-6, 300.0)),
        is_unseen: false,
    },
    Distribution {
        name: "the same, where that was never seen",
        quantile: exponential,
        rare: Some((1e-6, 300.0)),
        is_unseen: true,
    },
];

fn exponential(p: f64) -> f64 {
    20.0 - 8.0 * p.ln()
}

impl Distribution {
    /// The probability that a sample exceeds a latency.
    fn beyond(self, latency: f64) -> f64 {
        let of_body = |latency: f64| {
            // The quantile descends with the probability: halving its logarithm finds it.
            let (mut low, mut high) = (-700.0_f64, 0.0_f64);
            for _ in 0..200 {
                let middle = (low + high) / 2.0;
                if (self.quantile)(middle.exp()) > latency { low = middle } else { high = middle }
            }
            high.exp()
        };
        match self.rare {
            None => of_body(latency),
            Some((rate, later)) => (1.0 - rate) * of_body(latency) + rate * of_body(latency - later),
        }
    }

    /// The latency that is truly exceeded with probability `p`.
    fn truth(self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if self.beyond(middle) > p { low = middle } else { high = middle }
        }
        high
    }

    fn draw(self, seed: u64) -> Histogram {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut counts: Vec<u64> = Vec::new();
        for _ in 0..SAMPLES {
            let mut latency = (self.quantile)(1.0 - random.f64());
            if let Some((rate, later)) = self.rare.filter(|_| !self.is_unseen) {
                latency += if random.f64() < rate { later } else { 0.0 };
            }
            // What no measurement reaches has no class.
            let class = latency.clamp(0.0, 1e6) as usize;
            if class >= counts.len() {
                counts.resize(class + 1, 0);
            }
            counts[class] += 1;
        }
        let us = |class: usize| Ns::from_us(class as i64);
        let bucket = |(class, count): (usize, &u64)| Bucket {
            from: us(class),
            upto: Ns(us(class + 1).0 - 1),
            count: *count,
        };
        let min = counts.iter().position(|count| *count > 0).unwrap_or(0);
        let exact = Exact { overflow: 0, sum: 0, min: us(min), max: us(counts.len().saturating_sub(1)) };
        Histogram::new(counts.iter().enumerate().map(bucket), exact).rounded_down_to(Ns::from_us(1))
    }
}

/// How often claims were answered in a way.
#[derive(Default)]
struct Tally {
    claims: u32,
    carried: u32,
    assumed: u32,
    contradicted: u32,
}

impl Tally {
    fn add(&mut self, claim: &Claim) {
        self.claims += 1;
        self.carried += u32::from(claim.status(false).is_carried());
        self.assumed += u32::from(claim.status(true).is_carried());
        self.contradicted += u32::from(claim.status(false) == ClaimStatus::Contradicted);
    }
}

fn row(of: Distribution, draws: u64, seed: u64) -> String {
    let (mut wrong, mut right) = (Tally::default(), Tally::default());
    for draw in 0..draws {
        let histogram = of.draw(seed.wrapping_add(draw));
        let tail = Tail::fit(&histogram, None);
        for probability in PROBABILITIES {
            let truth = of.truth(probability);
            for (factor, tally) in [(FALSE, &mut wrong), (TRUE, &mut right)] {
                let bound = Ns((truth * factor * 1_000.0) as i64);
                tally.add(&Claim::of(&histogram, tail.as_ref().map_err(|why| *why), bound, probability));
            }
        }
    }
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        of.name,
        wrong.claims,
        wrong.carried,
        wrong.assumed,
        wrong.contradicted,
        right.claims,
        right.carried,
        right.assumed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_that_of_the_distribution() {
        let exponential = DISTRIBUTIONS[0];
        assert!((exponential.truth(1e-9) - (20.0 + 8.0 * 1e9_f64.ln())).abs() < 1e-6);
        let mixture = DISTRIBUTIONS[7];
        // Rarer than the rare cause: its own tail. More frequent: the body's.
        assert!((mixture.truth(1e-9) - (320.0 + 8.0 * 1e3_f64.ln())).abs() < 0.1);
        assert!((mixture.truth(1e-3) - exponential.truth(1e-3)).abs() < 0.1);
    }
}
