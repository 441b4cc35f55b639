//! Questions that are asked of several machines, and several questions at once.

use crate::compare::uneven;

/// On how many machines a value became larger and smaller (the sign test).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signs {
    /// All machines.
    pub machines: u64,
    /// Machines on which the second value is the larger.
    pub larger: u64,
    /// Machines on which it is the smaller. Where both are the same, the machine is in neither.
    pub smaller: u64,
    /// How likely chance divides them so unevenly, or more.
    pub p: f64,
}

impl Signs {
    /// Of fewer pairs even a unanimous result is no better than one chance in 20.
    pub const NEEDED: usize = 6;

    /// Of both values of each machine; `None` with fewer than [`Signs::NEEDED`] of them.
    pub fn of<T: PartialOrd>(pairs: &[(T, T)]) -> Option<Signs> {
        if pairs.len() < Signs::NEEDED {
            return None;
        }
        let larger = pairs.iter().filter(|(before, after)| after > before).count() as u64;
        let smaller = pairs.iter().filter(|(before, after)| after < before).count() as u64;
        let p = if larger + smaller == 0 { 1.0 } else { uneven(larger, larger + smaller, 0.5) };
        Some(Signs { machines: pairs.len() as u64, larger, smaller, p })
    }
}

/// The probabilities of several tests, corrected as Holm does (Scandinavian Journal of Statistics 6, 1979): if the tests with a
/// corrected value below 0.05 are taken as shown, then with 95 % none of them is due to chance, however they depend on each
/// other.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut most: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        most = most.max(probabilities[at] * (probabilities.len() - rank) as f64).min(1.0);
        corrected[at] = most;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn signs_are_counted_and_ties_are_not() {
        let pairs: Vec<(i64, i64)> = (0..8).map(|at| (10, 11 + at)).chain([(5, 5)]).collect();
        // Scipy: binomtest(8, 8).pvalue = 0.0078125
        let signs = Signs::of(&pairs).expect("enough pairs");
        assert_eq!((signs.machines, signs.larger, signs.smaller), (9, 8, 0));
        assert!((signs.p - 0.0078125).abs() < 1e-12, "{signs:?}");
        assert_eq!(Signs::of(&[(1, 1); 6]).map(|signs| signs.p), Some(1.0));
        assert_eq!(Signs::of(&pairs[..5]), None);
    }

    #[test]
    fn holm_is_that_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (own, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((own - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert_eq!(holm(&[]), [0.0; 0]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn a_correction_makes_nothing_likelier_to_be_shown(p in prop::collection::vec(0.0f64..=1.0, 0..20)) {
            let corrected = holm(&p);
            prop_assert!(p.iter().zip(&corrected).all(|(before, after)| before <= after && *after <= 1.0));
        }
    }
}
