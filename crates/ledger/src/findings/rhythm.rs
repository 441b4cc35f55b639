//! Whether something recurs evenly.

use whylate_base::Ns;

/// Two instants have one distance, which any two have.
const FEWEST: usize = 3;

/// The distance between recurring instants, in time order, if they recur evenly: the median, when all are within a
/// tenth of it.
pub(super) fn rhythm(starts: &[Ns]) -> Option<Ns> {
    if starts.len() < FEWEST {
        return None;
    }
    let mut distances: Vec<Ns> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort();
    let median = *distances.get(distances.len() / 2)?;
    let even = distances
        .iter()
        .all(|distance| (*distance - median).0.unsigned_abs().saturating_mul(10) <= median.0.unsigned_abs());
    even.then_some(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_even_distances_are_a_rhythm_and_one_is_none() {
        let rhythm =
            |starts: &[i64]| super::rhythm(&starts.iter().map(|&ms| Ns::from_ms(ms)).collect::<Vec<_>>());
        assert_eq!(rhythm(&[]), None);
        assert_eq!(rhythm(&[1_000, 2_000]), None);
        assert_eq!(rhythm(&[0, 1_000, 2_010]), Some(Ns::from_ms(1_010)));
        assert_eq!(rhythm(&[0, 1_000, 2_500]), None);
    }
}
