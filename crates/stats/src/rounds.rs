//! Rounds of two states in alternation: is one of them larger by more than chance? By exact ranks, with a round as the unit.
//!
//! Samples of one round depend on each other, and a machine drifts from round to round. Whole rounds are few, but nothing
//! about them is assumed except that chance might have divided them otherwise.

use whylate_base::Ns;

/// More rounds are not ranked.
const MOST: usize = 128;

/// How the rounds of one state rank among all (Wilcoxon's rank sum).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// The share of pairs of rounds in which the second state's is the larger: 0.5 for no difference.
    pub share: f64,
    /// How likely chance divides the same rounds so one-sidedly, or more, to either side.
    pub p: f64,
}

impl RankSum {
    /// Of one number for each round. `None`: one of the states has no round, all numbers are equal, or there are more than 128.
    pub fn of(before: &[Ns], after: &[Ns]) -> Option<RankSum> {
        let (n, m) = (before.len(), after.len());
        if n == 0 || m == 0 || n + m > MOST {
            return None;
        }
        let mut all: Vec<(Ns, bool)> =
            before.iter().map(|&one| (one, false)).chain(after.iter().map(|&one| (one, true))).collect();
        all.sort_unstable();
        // Doubled, so that the mean rank of equal numbers is whole.
        let (mut ranks, mut own, mut below) = (Vec::new(), 0, 0);
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            let rank = 2 * below + same.len() + 1;
            ranks.extend(same.iter().map(|_| rank));
            own += rank * same.iter().filter(|one| one.1).count();
            below += same.len();
        }
        if ranks.first() == ranks.last() {
            return None;
        }
        let ways = divisions(&ranks, m);
        let total: f64 = ways.iter().sum();
        let middle = m * (n + m + 1);
        let distance = own.abs_diff(middle);
        let as_far: f64 = ways
            .iter()
            .enumerate()
            .filter(|(sum, _)| sum.abs_diff(middle) >= distance)
            .map(|(_, ways)| ways)
            .sum();
        let u = (own as f64 - (m * (m + 1)) as f64) / 2.0;
        Some(RankSum { share: u / (n * m) as f64, p: (as_far / total).min(1.0) })
    }

    /// The smallest `p` that so many rounds of each state can show.
    pub fn least(rounds: usize) -> f64 {
        let divisions = (1..=rounds).fold(1.0, |all, k| all * (rounds + k) as f64 / k as f64);
        (2.0 / divisions).min(1.0)
    }
}

/// In how many ways `m` of the ranks have each sum.
fn divisions(ranks: &[usize], m: usize) -> Vec<f64> {
    let highest: usize = ranks.iter().rev().take(m).sum();
    let mut ways = vec![vec![0.0; highest + 1]; m + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for taken in (1..=m).rev() {
            for sum in (rank..=highest).rev() {
                let more = ways[taken - 1][sum - rank];
                ways[taken][sum] += more;
            }
        }
    }
    ways.swap_remove(m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(values: &[i64]) -> Vec<Ns> {
        values.iter().copied().map(Ns).collect()
    }

    /// Against the tables of Wilcoxon's rank sum: 4 and 4 wholly apart are 2 of 70 divisions.
    #[test]
    fn exact_numbers() {
        for (before, after, share, p) in [
            (&[1, 2, 3, 4][..], &[5, 6, 7, 8][..], 1.0, 2.0 / 70.0),
            (&[5, 6, 7, 8], &[1, 2, 3, 4], 0.0, 2.0 / 70.0),
            (&[1, 2, 3, 5], &[4, 6, 7, 8], 15.0 / 16.0, 4.0 / 70.0),
            (&[1, 2, 3], &[4, 5, 6], 1.0, 0.1),
            (&[1], &[2], 1.0, 1.0),
            (&[1, 1, 2], &[1, 2, 2], 12.0 / 18.0, 1.0),
        ] {
            let shown = RankSum::of(&ns(before), &ns(after)).expect("ranks");
            assert!(
                (shown.share - share).abs() < 1e-12 && (shown.p - p).abs() < 1e-12,
                "{before:?} {after:?}: {shown:?}"
            );
        }
        assert_eq!(RankSum::of(&ns(&[3, 3]), &ns(&[3, 3])), None);
        assert_eq!(RankSum::of(&[], &ns(&[3, 3])), None);
        assert!((RankSum::least(4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((RankSum::least(8) - 2.0 / 12_870.0).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn swapping_turns_it_round(
            before in prop::collection::vec(0i64..20, 1..12),
            after in prop::collection::vec(0i64..20, 1..12),
        ) {
            let (there, back) = (RankSum::of(&ns(&before), &ns(&after)), RankSum::of(&ns(&after), &ns(&before)));
            match (there, back) {
                (Some(there), Some(back)) => {
                    prop_assert!((there.p - back.p).abs() < 1e-9);
                    prop_assert!((there.share + back.share - 1.0).abs() < 1e-9);
                }
                (there, back) => prop_assert_eq!(there, back),
            }
        }

        /// Of rounds that do not differ at most a share of `p` shows a difference at `p`.
        #[test]
        fn chance_is_counted_right(seed in 0u64..1_000) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut drawn = || (0..5).map(|_| Ns(random.i64(0..1_000_000))).collect::<Vec<_>>();
            let shown = (0..400).filter(|_| RankSum::of(&drawn(), &drawn()).is_some_and(|sum| sum.p <= 0.1)).count();
            // 40 of 400 are expected at most; 85 are 7 standard deviations more.
            prop_assert!(shown < 85, "{}", shown);
        }
    }
}
