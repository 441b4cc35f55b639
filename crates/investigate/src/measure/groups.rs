//! Similar spikes put together: the same cause, by the same culprit.

use super::spike::{ExplainedSpike, NotExplained};
use super::steady_name::steady_name;
use std::collections::BTreeSet;
use whylate_base::Ns;
use whylate_ledger::{Activation, Cause};
use whylate_stats::{Rhythm, rhythm};

/// The most groups; what comes after them is counted as of other causes.
const MOST_GROUPS: usize = 64;
/// Of a group so many instants are remembered, the last ones: as many as a rhythm is looked for in.
const MOST_TIMES: usize = 512;

/// Spikes of one cause and culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct SpikeGroup {
    /// What made them late; `None`: not explained, or of still other causes than have a group of their own.
    pub cause: Option<Cause>,
    /// The culprit, by a name that is the same each time: without thread ids; `None`: none, or not known.
    pub culprit: Option<String>,
    /// How many there were, listed or not.
    pub count: u64,
    /// The latest of them.
    pub worst: Ns,
    /// When the first of them was due, on CLOCK_MONOTONIC.
    pub first: Ns,
    /// When the last of them was.
    pub last: Ns,
    /// The rhythm that their due instants keep, of many the last ones.
    pub rhythm: Option<Rhythm>,
}

/// All groups so far, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(Vec<Group>);

#[derive(Clone, Debug)]
struct Group {
    totals: SpikeGroup,
    /// The last ones, without a hole: those that are counted late may be from long before.
    times: BTreeSet<Ns>,
    /// All up to here are forgotten.
    forgotten: Option<Ns>,
}

impl Groups {
    /// Counts a spike under what is known of it.
    pub(super) fn add(&mut self, due: Ns, latency: Ns, answer: Result<&Activation, &NotExplained>) {
        let verdict = answer.ok().map(|activation| &activation.verdict);
        let mut cause = verdict.map(|verdict| verdict.cause);
        let mut culprit = verdict.and_then(|verdict| verdict.by.as_ref()).map(steady_name);
        let is_known = |group: &Group| group.totals.cause == cause && group.totals.culprit == culprit;
        if self.0.len() >= MOST_GROUPS && !self.0.iter().any(is_known) {
            (cause, culprit) = (None, None);
        }
        let at =
            self.0.iter().position(|group| group.totals.cause == cause && group.totals.culprit == culprit);
        let at = at.unwrap_or_else(|| {
            let totals =
                SpikeGroup { cause, culprit, count: 0, worst: latency, first: due, last: due, rhythm: None };
            self.0.push(Group { totals, times: BTreeSet::new(), forgotten: None });
            self.0.len() - 1
        });
        let Group { totals, times, forgotten } = &mut self.0[at];
        totals.count += 1;
        totals.worst = totals.worst.max(latency);
        totals.first = totals.first.min(due);
        totals.last = totals.last.max(due);
        if forgotten.is_none_or(|upto| due > upto) {
            times.insert(due);
        }
        if times.len() > MOST_TIMES {
            *forgotten = times.pop_first();
        }
    }

    /// The same with these as well.
    pub(super) fn with<'a>(&self, spikes: impl IntoIterator<Item = &'a ExplainedSpike>) -> Groups {
        let mut all = self.clone();
        spikes
            .into_iter()
            .for_each(|spike| all.add(spike.measured.due, spike.latency(), spike.answer.as_ref()));
        all
    }

    /// The groups for the report: explained ones first, then by the number of spikes.
    pub(super) fn totals(&self, rhythms: &mut Rhythms) -> Vec<SpikeGroup> {
        let mut all: Vec<SpikeGroup> = self.0.iter().map(|group| rhythms.of(group)).collect();
        all.sort_by_key(|group| (group.cause.is_none(), std::cmp::Reverse((group.count, group.worst))));
        all
    }
}

/// The rhythms that were found, so that they need not be looked for each time a journal is written: that takes
/// milliseconds for each group.
#[derive(Debug, Default)]
pub(super) struct Rhythms(Vec<SpikeGroup>);

impl Rhythms {
    /// The group with its rhythm: the known one, until a quarter more spikes have come.
    fn of(&mut self, group: &Group) -> SpikeGroup {
        let is_own =
            |known: &SpikeGroup| known.cause == group.totals.cause && known.culprit == group.totals.culprit;
        let at = self.0.iter().position(is_own);
        if let Some(known) = at.map(|at| &self.0[at])
            && group.totals.count < known.count + known.count.div_ceil(4)
        {
            return SpikeGroup { rhythm: known.rhythm, ..group.totals.clone() };
        }
        let times: Vec<Ns> = group.times.iter().copied().collect();
        let totals = SpikeGroup { rhythm: rhythm(&times), ..group.totals.clone() };
        match at {
            Some(at) => self.0[at] = totals.clone(),
            None => self.0.push(totals.clone()),
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_all_are_counted() {
        let mut groups = Groups::default();
        (0..10_000).for_each(|at| groups.add(Ns::from_ms(at), Ns(at), Err(&NotExplained::NotFound)));
        let totals = groups.totals(&mut Rhythms::default());
        assert_eq!((totals.len(), totals[0].count, totals[0].worst), (1, 10_000, Ns(9_999)));
        assert_eq!((totals[0].first, totals[0].last), (Ns::ZERO, Ns::from_ms(9_999)));
        assert!(totals[0].rhythm.is_some_and(|rhythm| rhythm.period == Ns::from_ms(1)), "{totals:?}");
        assert_eq!(groups.0[0].times.len(), MOST_TIMES);
    }
}
