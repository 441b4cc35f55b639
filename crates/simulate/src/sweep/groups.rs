//! Combinations that do the same: one row for all of them.

use super::combination::{Combination, SweepGroup};
use super::outcome::SweepOutcome;
use whylate_base::Ns;

/// Groups that a combination is compared with: the last ones.
const COMPARED: usize = 50;
/// Responses that differ by less are alike: a share of them, or this.
const ALIKE_SHARE: i64 = 20;
const ALIKE: Ns = Ns::from_us(1);

/// The groups of combinations that are done, which `ranking` has worst first.
pub(super) fn of(combinations: &[Combination], ranking: &[usize]) -> Vec<SweepGroup> {
    let mut groups: Vec<SweepGroup> = Vec::new();
    for &at in ranking {
        let Some(own) = outcome(combinations, at) else { continue };
        let from = groups.len().saturating_sub(COMPARED);
        let found = groups.iter_mut().skip(from).find(|group| {
            let first = group.members.first().and_then(|&first| outcome(combinations, first));
            first.is_some_and(|first| alike(first, own))
        });
        match found {
            Some(group) => group.members.push(at),
            None => groups.push(SweepGroup { members: vec![at] }),
        }
    }
    groups.iter_mut().for_each(|group| group.members.sort_unstable());
    groups
}

fn outcome(combinations: &[Combination], at: usize) -> Option<&SweepOutcome> {
    combinations.get(at)?.outcome.as_ref()?.as_ref().ok()
}

/// Each thread's worst response is nearly the same, deadlines are missed in both or in neither, and the same others lose.
fn alike(one: &SweepOutcome, other: &SweepOutcome) -> bool {
    let near = |one: Ns, other: Ns| (one - other).0.abs() <= (one.0 / ALIKE_SHARE).max(ALIKE.0);
    let threads =
        one.threads.iter().zip(&other.threads).all(|(one, other)| {
            near(one.longest(), other.longest()) && (one.missed == 0) == (other.missed == 0)
        });
    let others = one.others.len() == other.others.len()
        && one
            .others
            .iter()
            .zip(&other.others)
            .all(|(one, other)| one.task == other.task && near(one.after, other.after));
    threads && others
}
