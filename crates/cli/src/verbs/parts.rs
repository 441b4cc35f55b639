//! `--cpus` of `compare` and `plot`: each measurement by groups of CPUs.

use anyhow::{Result, anyhow};
use whylate_base::CpuSet;
use whylate_investigate::compare::Prepared;

/// Each run once for each group, those of one run next to each other; without groups the runs as they are.
pub(super) fn of_cpus(runs: Vec<Prepared>, groups: &[CpuSet]) -> Result<Vec<Prepared>> {
    if groups.is_empty() {
        return Ok(runs);
    }
    let part = |prepared: &Prepared, cpus: &CpuSet| {
        let mut run = prepared.run.of_cpus(cpus).map_err(|why| {
            anyhow!("{}: no samples of CPUs {cpus} can be chosen: {why}; change --cpus", prepared.run.label)
        })?;
        run.label = format!("{}, CPUs {cpus}", run.label);
        Ok(Prepared::of(run))
    };
    runs.iter().flat_map(|run| groups.iter().map(move |cpus| part(run, cpus))).collect()
}

/// What is compared with what among the parts: each part with the same one of the other run; of runs without a pair the first part
/// with each other.
pub(super) fn pairs(runs: usize, pairs: &[(usize, usize)], groups: usize) -> Vec<(usize, usize)> {
    match (pairs, groups) {
        (_, 0) => pairs.to_vec(),
        ([], _) => {
            let firsts = (0..runs).map(|run| run * groups);
            firsts.flat_map(|first| (1..groups).map(move |other| (first, first + other))).collect()
        }
        _ => {
            let part = |&(before, after): &(usize, usize)| {
                (0..groups).map(move |group| (before * groups + group, after * groups + group))
            };
            pairs.iter().flat_map(part).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_is_compared_with_like() {
        assert_eq!(pairs(3, &[(0, 1), (0, 2)], 0), [(0, 1), (0, 2)]);
        assert_eq!(pairs(2, &[(0, 1)], 1), [(0, 1)]);
        assert_eq!(pairs(3, &[(0, 1), (0, 2)], 2), [(0, 2), (1, 3), (0, 4), (1, 5)]);
        assert_eq!(pairs(1, &[], 3), [(0, 1), (0, 2)]);
        assert_eq!(pairs(1, &[], 1), []);
        assert_eq!(pairs(2, &[], 2), [(0, 1), (2, 3)]);
    }
}
