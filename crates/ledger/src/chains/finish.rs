//! At the end of a trace: which chains are reported, and what made the worst of each late.

use super::paths::Path;
use super::pattern::matches;
use super::tracker::Tracker;
use crate::causes::Cause;
use crate::model::{Chain, ChainElement, ChainInstance, ChainVerdict, Chains, Spread, UnknownHop};
use crate::timeline::Timeline;
use crate::timeline::thread::Thread;
use std::cmp::Reverse;
use whylate_base::Ns;

/// Chains that are listed where none is chosen.
const MOST_LISTED: usize = 10;
/// Fewer instances than this are no chain, unless it is chosen.
pub(super) const FEWEST: u64 = 3;
/// A hop that took less than this beyond the usual made nothing late.
const NOTABLE: Ns = Ns::from_us(20);
/// The names that are offered for one that the trace does not have.
const NEAREST: usize = 3;

impl Tracker {
    /// The answer, once the trace is over. Where none is chosen, chains with threads that are explained come before others,
    /// and alone where there are some: on a busy machine most chains are no matter of deadlines.
    pub(crate) fn finish_all(self, timeline: &Timeline, explains: impl Fn(&Thread) -> bool) -> Chains {
        let unknown = self.unknown(timeline);
        let chosen = self.options().chosen.clone();
        let mut found: Vec<(bool, Chain)> = Vec::new();
        for ((choice, path), kept) in self.paths.by_key {
            if choice.is_none() && (kept.count < FEWEST || !has_threads(&path)) {
                continue;
            }
            let has_explained = path.iter().any(|element| match element {
                ChainElement::Thread { tid, .. } => timeline.threads.get(*tid).is_some_and(&explains),
                _ => false,
            });
            let chosen = choice.and_then(|index| chosen.get(index)).map(ToString::to_string);
            if let Some(chain) = chain(path, kept, chosen) {
                found.push((has_explained || choice.is_some(), chain));
            }
        }
        found.sort_by_cached_key(|(first, chain)| (!first, Reverse(chain.latency.max), chain.names()));
        let all = found.len();
        if found.first().is_some_and(|(first, _)| *first) {
            found.retain(|(first, _)| *first);
        }
        let more = (all - found.len().min(MOST_LISTED)) as u64;
        let found: Vec<Chain> = found.into_iter().take(MOST_LISTED).map(|(_, chain)| chain).collect();
        let is_answered =
            |pattern: &String| found.iter().any(|chain| chain.chosen.as_deref() == Some(pattern.as_str()));
        let patterns = chosen.iter().map(ToString::to_string);
        let unmatched = patterns.filter(|pattern| !is_answered(pattern)).collect();
        Chains { found, more: more + self.paths.left_out, unmatched, unknown }
    }

    /// The hops of the choices that nothing in the trace is called by.
    fn unknown(&self, timeline: &Timeline) -> Vec<UnknownHop> {
        let threads = timeline
            .threads
            .iter()
            .map(|thread| ChainElement::Thread { tid: thread.tid, comm: thread.comm() });
        let irqs = timeline.irqs.iter().map(|(irq, name)| ChainElement::Irq { irq, name });
        let names = timeline
            .origins
            .names
            .all()
            .filter(|name| !self.callbacks.contains(name))
            .flat_map(|name| [ChainElement::Packet { dev: name }, ChainElement::Work { function: name }]);
        let callbacks = self.callbacks.iter().map(|&name| ChainElement::Callback { name });
        let softirqs = (0..10).map(|vec| ChainElement::Softirq { vec });
        let known: Vec<ChainElement> = [ChainElement::Timer]
            .into_iter()
            .chain(threads)
            .chain(irqs)
            .chain(names)
            .chain(callbacks)
            .chain(softirqs)
            .collect();
        let hops = self.options().chosen.iter().flat_map(|pattern| pattern.hops());
        let unknown = hops.filter(|hop| !known.iter().any(|element| matches(hop, element)));
        unknown.map(|hop| UnknownHop { hop: hop.clone(), nearest: nearest(hop, &known) }).collect()
    }
}

/// A chain of one thread is an activation.
fn has_threads(path: &[ChainElement]) -> bool {
    let threads = path.iter().filter(|element| matches!(element, ChainElement::Thread { .. })).count();
    threads >= 2 || !matches!(path.first(), Some(ChainElement::Timer | ChainElement::Thread { .. }))
}

pub(super) fn chain(path: Vec<ChainElement>, kept: Path, chosen: Option<String>) -> Option<Chain> {
    let latency: Spread = kept.latency.spread()?;
    let usual: Vec<Ns> = kept.hops.iter().map(|hop| hop.percentile(0.5).unwrap_or(Ns::ZERO)).collect();
    let period = kept.period();
    let worst = kept.worst.into_iter().map(|instance| {
        let verdict = verdict(&instance, &usual).filter(|_| kept.count >= FEWEST);
        ChainInstance { verdict, ..instance }
    });
    let worst = worst.collect();
    Some(Chain { path, chosen, count: kept.count, period, latency, late: kept.late, usual, worst })
}

/// The hop that took longest beyond the usual, and what most of that is charged to.
fn verdict(instance: &ChainInstance, usual: &[Ns]) -> Option<ChainVerdict> {
    // Between two machines the clocks may be off at both ends of what is usual.
    let excess = |(index, usual): (usize, &Ns)| {
        instance.hops.get(index).map(|hop| (hop.length() - *usual - hop.error - hop.error, index, *usual))
    };
    let (excess, index, usual) = usual
        .iter()
        .enumerate()
        .filter_map(excess)
        .max_by_key(|(excess, index, _)| (*excess, Reverse(*index)))?;
    if excess < NOTABLE {
        return None;
    }
    let hop = instance.hops.get(index)?;
    // What a thread always does made nothing late.
    let weight = |cause: Cause, time: Ns| if cause == Cause::OwnWork { time.since(usual) } else { time };
    let charges = hop.charges();
    let (cause, by, charged) =
        charges.iter().copied().max_by_key(|&(cause, _, time)| (weight(cause, time), Reverse(cause)))?;
    let excess = excess + hop.error + hop.error;
    let what = match by {
        Some(by) => format!("{cause} by {by}"),
        None => cause.to_string(),
    };
    let why = format!(
        "the hop {} -> {} took {}, usually {usual}: {charged} of it is {what}",
        hop.from,
        hop.to,
        hop.length()
    );
    Some(ChainVerdict { hop: index, excess, cause, by, charged, why })
}

/// The names that take the fewest changes of letters.
pub(super) fn nearest(hop: &str, known: &[ChainElement]) -> Vec<String> {
    let mut names: Vec<String> = known.iter().map(ToString::to_string).collect();
    names.sort();
    names.dedup();
    names.sort_by_cached_key(|name| {
        (!name.contains(hop) && !hop.contains(name.as_str()), distance(hop, name))
    });
    names.truncate(NEAREST);
    names
}

/// Levenshtein's: letters to insert, to take away or to change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut before = row.first().copied().unwrap_or(0);
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, cb) in b.iter().enumerate() {
            let (left, above) = (row.get(j).copied().unwrap_or(0), row.get(j + 1).copied().unwrap_or(0));
            let cost = (before + usize::from(ca != *cb)).min(left + 1).min(above + 1);
            before = above;
            if let Some(cell) = row.get_mut(j + 1) {
                *cell = cost;
            }
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Tid;

    #[test]
    fn the_nearest_names_are_offered() {
        let thread = |comm: &str| ChainElement::Thread { tid: Tid(1), comm: comm.into() };
        let known = [
            thread("control"),
            thread("ctl"),
            thread("bash"),
            ChainElement::Irq { irq: Some(4), name: "eth0".into() },
        ];
        assert_eq!(nearest("ctrl", &known)[0], "ctl");
        assert_eq!(nearest("irq:eth1", &known)[0], "irq:eth0");
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
    }
}
