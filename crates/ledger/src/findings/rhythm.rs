//! Whether something recurs evenly.

use whylate_base::Ns;

/// The distance between recurring instants, if they recur evenly: the median, when all are within a tenth of it.
pub(super) fn rhythm(starts: &[Ns]) -> Option<Ns> {
    let mut distances: Vec<Ns> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort();
    let median = *distances.get(distances.len() / 2)?;
    let even = distances
        .iter()
        .all(|distance| (*distance - median).0.unsigned_abs().saturating_mul(10) <= median.0.unsigned_abs());
    even.then_some(median)
}
