//! Late activations of the same thread, cause and culprit, put together.

use std::collections::{BTreeSet, HashMap};
use whylate_base::Ns;
use whylate_stats::{Rhythm, rhythm};

/// The most groups; of more, those that were seen once, longest ago, are counted together as others.
const MOST: usize = 256;
/// Of a group so many instants are remembered, the last ones.
const MOST_TIMES: usize = 256;
/// The thread, and the cause, of what has no group any more.
pub(super) const OTHERS: &str = "(others)";

/// What makes a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// The thread's name.
    pub thread: String,
    /// The cause's code.
    pub cause: String,
    /// The culprit, by a name that is the same each time.
    pub culprit: Option<String>,
}

/// Late activations of one thread, cause and culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct LateGroup {
    /// The thread's name.
    pub thread: String,
    /// The cause's code.
    pub cause: String,
    /// The culprit, by a name that is the same each time; `None`: none, or not known.
    pub culprit: Option<String>,
    /// How many there were.
    pub count: u64,
    /// The longest response.
    pub worst: Ns,
    /// When the first of them was due, by CLOCK_REALTIME.
    pub first: Ns,
    /// When the last of them was.
    pub last: Ns,
    /// The rhythm of their due instants, of many the last ones.
    pub rhythm: Option<Rhythm>,
}

impl LateGroup {
    pub(super) fn key(&self) -> GroupKey {
        GroupKey { thread: self.thread.clone(), cause: self.cause.clone(), culprit: self.culprit.clone() }
    }
}

#[derive(Clone, Debug)]
struct Group {
    totals: LateGroup,
    times: BTreeSet<Ns>,
    /// The count at which the rhythm was looked for: that takes milliseconds.
    looked_at: u64,
}

/// All groups, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct LateGroups(HashMap<GroupKey, Group>);

impl LateGroups {
    /// Those of an earlier watch.
    pub(super) fn of(previous: Vec<LateGroup>) -> LateGroups {
        let group =
            |totals: LateGroup| (totals.key(), Group { totals, times: BTreeSet::new(), looked_at: 0 });
        LateGroups(previous.into_iter().take(MOST).map(group).collect())
    }

    /// Counts a late activation, due at an instant of the trace's clock, and at one of CLOCK_REALTIME.
    pub fn add(&mut self, key: GroupKey, due: Ns, at: Ns, response: Ns) {
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            self.make_room();
        }
        let group = self.group(key, at);
        let totals = &mut group.totals;
        totals.count += 1;
        totals.worst = totals.worst.max(response);
        totals.first = totals.first.min(at);
        totals.last = totals.last.max(at);
        group.times.insert(due);
        if group.times.len() > MOST_TIMES {
            group.times.pop_first();
        }
    }

    fn group(&mut self, key: GroupKey, at: Ns) -> &mut Group {
        self.0.entry(key).or_insert_with_key(|key| Group {
            totals: LateGroup {
                thread: key.thread.clone(),
                cause: key.cause.clone(),
                culprit: key.culprit.clone(),
                count: 0,
                worst: Ns::ZERO,
                first: at,
                last: at,
                rhythm: None,
            },
            times: BTreeSet::new(),
            looked_at: 0,
        })
    }

    /// Counts the half of the groups with the fewest, and oldest, as others.
    fn make_room(&mut self) {
        let others = GroupKey { thread: OTHERS.to_owned(), cause: OTHERS.to_owned(), culprit: None };
        let mut all: Vec<(u64, Ns, GroupKey)> = self
            .0
            .iter()
            .filter(|(key, _)| **key != others)
            .map(|(key, group)| (group.totals.count, group.totals.last, key.clone()))
            .collect();
        all.sort();
        for (_, _, key) in all.into_iter().take(MOST / 2) {
            let Some(Group { totals, .. }) = self.0.remove(&key) else { continue };
            let into = &mut self.group(others.clone(), totals.first).totals;
            into.count += totals.count;
            into.worst = into.worst.max(totals.worst);
            into.first = into.first.min(totals.first);
            into.last = into.last.max(totals.last);
        }
    }

    /// How many activations a group has.
    pub(super) fn count(&self, key: &GroupKey) -> u64 {
        self.0.get(key).map_or(0, |group| group.totals.count)
    }

    /// The longest response of a group; `None`: there is no such group.
    pub(super) fn worst(&self, key: &GroupKey) -> Option<Ns> {
        self.0.get(key).map(|group| group.totals.worst)
    }

    /// The groups for a report: the most frequent first.
    pub fn totals(&mut self) -> Vec<LateGroup> {
        for group in self.0.values_mut() {
            let count = group.totals.count;
            if count >= group.looked_at + group.looked_at.div_ceil(4).max(1) {
                group.looked_at = count;
                let times: Vec<Ns> = group.times.iter().copied().collect();
                group.totals.rhythm = rhythm(&times);
            }
        }
        let mut all: Vec<LateGroup> = self.0.values().map(|group| group.totals.clone()).collect();
        all.sort_by(|a, b| (b.count, b.worst).cmp(&(a.count, a.worst)).then_with(|| a.key().cmp(&b.key())));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> GroupKey {
        GroupKey { thread: "ctl".into(), cause: format!("cause-{n}"), culprit: None }
    }

    #[test]
    fn memory_is_bounded_and_all_are_counted() {
        let mut groups = LateGroups::default();
        for n in 0..10_000_usize {
            let at = Ns::from_ms(n as i64);
            groups.add(key(n), at, at, Ns(n as i64));
            groups.add(key(0), at, at, Ns(7));
        }
        let totals = groups.totals();
        assert!(totals.len() <= MOST + 1, "{}", totals.len());
        assert_eq!(totals.iter().map(|group| group.count).sum::<u64>(), 20_000);
        assert_eq!((totals[0].cause.as_str(), totals[0].count), ("cause-0", 10_001));
        assert!(totals[0].rhythm.is_some_and(|rhythm| rhythm.period == Ns::from_ms(1)));
        let again = LateGroups::of(totals.clone()).totals();
        assert_eq!(again.iter().map(|group| group.count).sum::<u64>(), 20_000);
    }
}
