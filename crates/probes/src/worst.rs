//! Is this sample among the worst so far? Decided in the measuring thread, without memory
//! of its own making.

use whylate_base::Ns;

/// The most samples that can be kept.
pub(crate) const MAX: usize = 64;

/// The `n` worst samples so far, by value.
pub(crate) struct Worst {
    kept: [Ns; MAX],
    n: usize,
    used: usize,
}

impl Worst {
    /// Keeps `n`, at most [`MAX`].
    pub(crate) fn new(n: usize) -> Self {
        Worst { kept: [Ns::ZERO; MAX], n: n.min(MAX), used: 0 }
    }

    /// True when `latency` is among the `n` worst so far. A tie with the least of them is not.
    pub(crate) fn admits(&mut self, latency: Ns) -> bool {
        if self.used < self.n {
            self.kept[self.used] = latency;
            self.used += 1;
            return true;
        }
        match self.kept[..self.used].iter_mut().min() {
            Some(least) if latency > *least => {
                *least = latency;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn none_are_kept_when_none_are_asked_for() {
        assert!(!Worst::new(0).admits(Ns::MAX));
    }

    proptest! {
        #[test]
        fn the_worst_of_all_are_always_admitted(
            samples in prop::collection::vec(0i64..1_000, 0..200),
            n in 1usize..=8,
        ) {
            let mut worst = Worst::new(n);
            let mut admitted: Vec<i64> = samples.iter().copied().filter(|&s| worst.admits(Ns(s))).collect();
            admitted.sort_unstable_by(|a, b| b.cmp(a));
            admitted.truncate(n);
            let mut sorted = samples;
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            sorted.truncate(n);
            prop_assert_eq!(admitted, sorted);
        }
    }
}
