//! Two groups: which quantiles differ from machine to machine by more than chance.

use super::members::MachineGroup;
use crate::compare::difference::notable;
use crate::compare::verdict::{Evidence, RunVerdict};
use whylate_base::Ns;
use whylate_stats::compare::Larger;
use whylate_stats::several::Signs;

/// The quantiles that are tested.
const QUANTILES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 0.99999];
/// From this one on it is the tail.
const TAIL: f64 = 0.99;
/// What chance does more often than this, after the correction, shows nothing.
pub const SURE_OF_ALL: f64 = 0.05;
/// Machines that the test of Mann and Whitney needs of each group.
const EACH: usize = 8;

/// A group beside the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPair {
    /// The place of the baseline.
    pub before: usize,
    /// The place of the other group.
    pub after: usize,
    /// What was tested.
    pub tests: Vec<GroupTest>,
    /// What could not be tested, and why.
    pub untested: Vec<Untested>,
    /// What else the machines of the two groups differ in: it may be the reason as well.
    pub confounded: Vec<(&'static str, Vec<String>, Vec<String>)>,
    /// Whether the group is worse.
    pub verdict: RunVerdict,
}

/// A quantile, tested.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTest {
    /// The share of samples below it.
    pub q: f64,
    /// The median of the machines of the baseline that were taken.
    pub before: Ns,
    /// The median of the machines of the group.
    pub after: Ns,
    /// The median of the machines' differences; of different machines the difference of the medians. Positive is later.
    pub shift: Ns,
    /// Which test.
    pub kind: GroupTestKind,
    /// How likely chance makes such a difference.
    pub p: f64,
    /// The same, corrected for the number of tests.
    pub corrected: f64,
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupTestKind {
    /// Machines that are in both groups, each with itself: the sign test.
    Same(Signs),
    /// Different machines: Mann and Whitney.
    Different {
        /// Machines of the baseline.
        before: usize,
        /// Machines of the group.
        after: usize,
        /// The share of pairs in which the group's machine is later.
        share: f64,
    },
}

/// A quantile that could not be tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Untested {
    /// The share of samples below it.
    pub q: f64,
    /// Machines of the baseline with enough samples.
    pub before: usize,
    /// Machines of the group with enough samples.
    pub after: usize,
    /// Machines with enough samples in both.
    pub both: usize,
}

impl Untested {
    /// As many machines are needed: of each group, or in both.
    pub const NEEDED: (usize, usize) = (EACH, Signs::NEEDED);
}

/// Tests a group beside the baseline; without the correction, and so without a verdict.
pub(super) fn compared(groups: &[MachineGroup], before: usize, after: usize) -> GroupPair {
    let (own, other) = (&groups[before], &groups[after]);
    let mut pair = GroupPair {
        before,
        after,
        tests: Vec::new(),
        untested: Vec::new(),
        confounded: confounded(own, other),
        verdict: RunVerdict::CannotTell,
    };
    for q in QUANTILES {
        match test(own, other, q) {
            Ok(test) => pair.tests.push(test),
            Err(untested) => pair.untested.push(untested),
        }
    }
    pair
}

fn test(own: &MachineGroup, other: &MachineGroup, q: f64) -> Result<GroupTest, Untested> {
    let of = |group: &MachineGroup| -> Vec<Ns> {
        group.machines.values().filter_map(|machine| machine.all.tail(q)).collect()
    };
    let both: Vec<(Ns, Ns)> = (own.machines.iter())
        .filter_map(|(name, machine)| machine.all.tail(q).zip(other.machines.get(name)?.all.tail(q)))
        .collect();
    // Which test is made depends on the machines, and not on what they show.
    if let Some(signs) = Signs::of(&both) {
        let median_of = |part: fn(&(Ns, Ns)) -> Ns| median(both.iter().map(part).collect());
        return Ok(GroupTest {
            q,
            before: median_of(|pair| pair.0),
            after: median_of(|pair| pair.1),
            shift: median_of(|pair| pair.1 - pair.0),
            kind: GroupTestKind::Same(signs),
            p: signs.p,
            corrected: 1.0,
        });
    }
    let (a, b) = (of(own), of(other));
    let untested = Untested { q, before: a.len(), after: b.len(), both: both.len() };
    if a.len() < EACH || b.len() < EACH {
        return Err(untested);
    }
    // All the same: there is nothing that chance would have to explain.
    let larger = Larger::of_values(&a, &b).unwrap_or(Larger { share: 0.5, p: 1.0 });
    let kind = GroupTestKind::Different { before: a.len(), after: b.len(), share: larger.share };
    let (before, after) = (median(a), median(b));
    Ok(GroupTest { q, before, after, shift: after - before, kind, p: larger.p, corrected: 1.0 })
}

/// The lower one of an even number.
fn median(mut values: Vec<Ns>) -> Ns {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(Ns::ZERO)
}

/// Facts of which the groups have different values. Where the machines are the same, it is what was changed on them.
fn confounded(own: &MachineGroup, other: &MachineGroup) -> Vec<(&'static str, Vec<String>, Vec<String>)> {
    let differing = own.facts.iter().filter_map(|(name, values)| {
        let others = other.facts.get(name)?;
        (values != others)
            .then(|| (*name, values.iter().cloned().collect(), others.iter().cloned().collect()))
    });
    differing.collect()
}

impl GroupTest {
    /// True where chance is no explanation, and the difference is large enough to matter.
    pub fn is_shown(&self) -> bool {
        self.corrected < SURE_OF_ALL && notable(self.before, self.before + self.shift)
    }
}

impl GroupPair {
    /// Concludes, after the correction. Where nothing is shown and no quantile of the tail could be tested, nothing is known.
    pub(super) fn judge(&mut self) {
        let mut evidence = Evidence::default();
        for test in self.tests.iter().filter(|test| test.is_shown()) {
            evidence.add(test.shift > Ns::ZERO);
        }
        let knows_tail = self.tests.iter().any(|test| test.q >= TAIL);
        self.verdict = match evidence.verdict() {
            RunVerdict::Same | RunVerdict::Better if !knows_tail => RunVerdict::CannotTell,
            verdict => verdict,
        };
    }
}
