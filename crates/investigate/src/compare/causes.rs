//! Which causes of late samples came and went.

use super::prepared::Prepared;
use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_stats::Late;

/// What this share of the other run's samples does not exceed is usual there.
const NEWS: f64 = 0.9999;

/// The spikes of one cause, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How many are listed.
    pub count: usize,
    /// The latest.
    pub worst: Ns,
}

/// A cause in both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseShift {
    /// Its code.
    pub cause: String,
    /// The culprit; `None`: there is none.
    pub culprit: Option<String>,
    /// Before; `None`: it was not among the listed spikes.
    pub before: Option<Seen>,
    /// After.
    pub after: Option<Seen>,
    /// True where every listed spike of the other run was explained: then "not there" means gone, or new.
    pub is_sure: bool,
    /// It is gone, or new, and its spikes were later than what is usual in the other run: a cause of what is usual comes
    /// and goes as chance lists it.
    pub is_news: bool,
}

impl CauseShift {
    /// That a cause is gone, or new, in a sentence; `None` where it is in both.
    pub fn sentence(&self) -> Option<String> {
        let name = match &self.culprit {
            Some(culprit) => format!("{culprit} ({})", self.cause),
            None => self.cause.clone(),
        };
        let seen = |seen: Seen| match seen.count {
            1 => format!("once, {}", seen.worst),
            count => format!("{count} times, up to {}", seen.worst),
        };
        let unsure = if self.is_sure { "" } else { ", as far as spikes were explained" };
        match (self.before, self.after) {
            (Some(before), None) => Some(format!("{name} is gone; it was there {}{unsure}", seen(before))),
            (None, Some(after)) => Some(format!("{name} is new: {}{unsure}", seen(after))),
            _ => None,
        }
    }
}

/// The causes of both runs' spikes, the worst first. None where either run lists no spikes, or explains none.
pub(super) fn shifts(before: &Prepared, after: &Prepared) -> Vec<CauseShift> {
    let [usual_before, usual_after] = [before, after].map(|run| run.all.histogram.percentile(NEWS));
    let (Some(before), Some(after)) = (&before.run.spikes, &after.run.spikes) else { return Vec::new() };
    // A run without a single late sample has no causes, and that is an answer.
    let has_no_explanation =
        |spikes: &[Late]| !spikes.is_empty() && spikes.iter().all(|spike| spike.cause.is_none());
    if has_no_explanation(before) || has_no_explanation(after) {
        return Vec::new();
    }
    let (own, other) = (by_cause(before), by_cause(after));
    let known = |spikes: &[Late]| spikes.iter().all(|spike| spike.cause.is_some());
    let mut all: Vec<_> =
        own.keys().chain(other.keys().filter(|key| !own.contains_key(*key))).cloned().collect();
    let worst = |key: &Key| own.get(key).map(|seen| seen.worst).max(other.get(key).map(|seen| seen.worst));
    all.sort_by_key(|key| std::cmp::Reverse(worst(key)));
    let shift = |key: Key| {
        let (before_seen, after_seen) = (own.get(&key).copied(), other.get(&key).copied());
        let (is_sure, is_news) = match (before_seen, after_seen) {
            (Some(seen), None) => (known(after), usual_after.is_none_or(|usual| seen.worst > usual)),
            (None, Some(seen)) => (known(before), usual_before.is_none_or(|usual| seen.worst > usual)),
            _ => (true, false),
        };
        CauseShift { cause: key.0, culprit: key.1, before: before_seen, after: after_seen, is_sure, is_news }
    };
    all.into_iter().map(shift).collect()
}

type Key = (String, Option<String>);

fn by_cause(spikes: &[Late]) -> BTreeMap<Key, Seen> {
    let mut all: BTreeMap<Key, Seen> = BTreeMap::new();
    for Late { latency, cause, culprit, .. } in spikes {
        let Some(cause) = cause else { continue };
        let seen = all.entry((cause.clone(), culprit.clone())).or_default();
        seen.count += 1;
        seen.worst = seen.worst.max(*latency);
    }
    all
}
