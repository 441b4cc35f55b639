//! What is kept of a thread over the whole trace: its distributions, sums, and worst activations.

use crate::causes::Cause;
use crate::charge::notes::VerdictNote;
use crate::costs::Costs;
use crate::growth::Growth;
use crate::identities::Identities;
use crate::model::{Activation, Culprit, Segment};
use crate::spread::Distribution;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use whylate_base::{Ns, Tid};

/// Fewer activations than this do not show what is usual.
const ENOUGH: u64 = 5;

/// The worst activations of a thread that findings are made from, however many are shown.
pub(crate) const FOR_FINDINGS: usize = 10;

/// Threads that are listed. No user reads more, and each may keep a dozen pages.
const MOST_LISTED: usize = 1_000;

/// How bad an activation is: one that was seen from its beginning, and starts no program, before any other, then by
/// response.
pub(crate) type Rank = (bool, Ns);

/// The sums of the threads that are explained; of very many, of those with the worst activations.
#[derive(Default)]
pub(crate) struct StatsByThread {
    listed: FxHashMap<Tid, Box<Stats>>,
    /// Threads of which activations were left out, all or the first ones.
    left_out: FxHashSet<Tid>,
    /// The best of the worst activations of those that were left out. Another thread is listed from a worse one on.
    bound: Option<Rank>,
}

impl StatsByThread {
    /// Of a thread that is listed.
    pub(crate) fn get(&self, tid: Tid) -> Option<&Stats> {
        self.listed.get(&tid).map(Box::as_ref)
    }

    /// Of a thread that had an activation of this rank; `None` where it is left out.
    pub(crate) fn of(&mut self, tid: Tid, rank: Rank) -> Option<&mut Stats> {
        let stats = match self.listed.entry(tid) {
            Entry::Occupied(stats) => stats.into_mut(),
            Entry::Vacant(_) if self.bound.is_some_and(|bound| rank <= bound) => {
                self.left_out.insert(tid);
                return None;
            }
            Entry::Vacant(place) => place.insert(Box::default()),
        };
        stats.rank = stats.rank.max(rank);
        Some(stats)
    }

    /// A thread's activations so far were none.
    pub(crate) fn remove(&mut self, tid: Tid) {
        self.listed.remove(&tid);
    }

    /// Takes the sums of the threads away that `is_over` holds for; returns these.
    pub(crate) fn remove_all(&mut self, is_over: impl Fn(Tid) -> bool) -> Vec<Tid> {
        let over: Vec<Tid> = self.listed.keys().copied().filter(|&tid| is_over(tid)).collect();
        for tid in &over {
            self.listed.remove(tid);
        }
        over
    }

    /// True when so many threads are listed that it is time to leave some out.
    pub(crate) fn is_full(&self) -> bool {
        self.listed.len() > 2 * MOST_LISTED
    }

    /// Leaves out all threads but those with the worst activations; returns those that are left out now.
    pub(crate) fn leave_out(&mut self) -> Vec<Tid> {
        if self.listed.len() <= MOST_LISTED {
            return Vec::new();
        }
        let mut ranks: Vec<(Rank, Tid)> = self.listed.iter().map(|(&tid, stats)| (stats.rank, tid)).collect();
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        let over = ranks.split_off(MOST_LISTED);
        self.bound = self.bound.max(over.first().map(|&(rank, _)| rank));
        for (_, tid) in &over {
            self.listed.remove(tid);
            self.left_out.insert(*tid);
        }
        over.into_iter().map(|(_, tid)| tid).collect()
    }

    /// How many threads are not listed though they are explained.
    pub(crate) fn unlisted(&self) -> u64 {
        self.left_out.iter().filter(|tid| !self.listed.contains_key(tid)).count() as u64
    }
}

/// One thread's sums.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) activations: u64,
    /// Of the worst activation.
    rank: Rank,
    pub(crate) identities: Identities,
    pub(crate) latency: Distribution,
    pub(crate) response: Distribution,
    pub(crate) own_work: Distribution,
    causes: Causes,
    /// What each cause and culprit cost over all activations.
    pub(crate) costs: Costs,
    /// The longest time that was stolen at once: how long, and when.
    pub(crate) longest_theft: (Ns, Ns),
    /// Activations whose response exceeded the deadline.
    pub(crate) missed: u64,
    /// The worst activations, worst response first; no verdict yet.
    pub(crate) worst: Vec<Kept>,
}

/// The time of each cause, by its place in [`Cause::ALL`].
struct Causes([Ns; Cause::ALL.len()]);

// Not derived: std has it for arrays of up to 32 elements, and a cause more must not touch this file.
impl Default for Causes {
    fn default() -> Causes {
        Causes([Ns::ZERO; Cause::ALL.len()])
    }
}

/// An activation that is kept, with what its verdict will want to know.
pub(crate) struct Kept {
    pub(crate) activation: Activation,
    pub(crate) notes: Vec<VerdictNote>,
    /// Its place among the activations of its thread, from 1.
    pub(crate) number: u64,
}

/// An activation as the distributions see it.
pub(crate) struct Times {
    pub(crate) latency: Option<Ns>,
    pub(crate) response: Ns,
    /// It was seen from its beginning to its end.
    pub(crate) whole: bool,
    /// It is the start or the end of a program: what that cost is no measure of the thread's periods.
    pub(crate) is_start_or_end: bool,
}

/// A cause and culprit, with the time charged to them.
pub(crate) type Charged = ((Cause, Option<Culprit>), Ns);

/// Sums by cause and culprit, in the order in which they first appear. A ledger names few
/// culprits: a list is faster than a table, and is in order.
pub(crate) fn charged(segments: &[Segment]) -> Vec<Charged> {
    let mut sums: Vec<Charged> = Vec::new();
    for segment in segments {
        let key = (segment.cause, segment.by);
        match sums.iter_mut().find(|(sum, _)| *sum == key) {
            Some((_, time)) => *time += segment.length(),
            None => sums.push((key, segment.length())),
        }
    }
    sums
}

/// The owner of the lock for which most of the time of these segments passed; `None` where most was no wait for one.
pub(crate) fn lock_owner<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<&'a Culprit> {
    let mut sums: Vec<(Option<&Culprit>, Ns)> = Vec::new();
    for segment in segments {
        let owner = segment.owner.as_ref();
        match sums.iter_mut().find(|(sum, _)| *sum == owner) {
            Some((_, time)) => *time += segment.length(),
            None => sums.push((owner, segment.length())),
        }
    }
    sums.into_iter().max_by_key(|(_, time)| *time)?.0
}

impl Stats {
    /// True of enough activations to show what is usual for the thread.
    pub(crate) fn show_usual(&self) -> bool {
        self.activations >= ENOUGH
    }

    /// Takes in an activation whose ledger is made.
    pub(crate) fn count(&mut self, times: &Times, ledger: &[Segment], deadline: Option<Ns>) {
        self.activations += 1;
        if let Some(latency) = times.latency {
            self.latency.record(latency);
        }
        if times.whole {
            self.response.record(times.response);
        }
        if deadline.is_some_and(|deadline| times.response > deadline) {
            self.missed += 1;
        }
        let mut own = Ns::ZERO;
        for segment in ledger {
            let length = segment.length();
            self.causes.0[segment.cause as usize] += length;
            if segment.cause == Cause::OwnWork {
                own += length;
            } else {
                let key = (segment.cause, segment.by);
                let of_period = !times.is_start_or_end;
                self.costs.add(key, self.activations, length, segment.confidence, of_period);
            }
            if segment.cause == Cause::Stolen && length > self.longest_theft.0 {
                self.longest_theft = (length, segment.start);
            }
        }
        if times.whole {
            self.own_work.record(own);
        }
        self.costs.bound();
    }

    /// Keeps an activation if it is among the worst. The worst start or end of a program has the last place.
    pub(crate) fn keep(&mut self, kept: Kept, keep: usize) {
        let badness = badness(&kept.activation);
        let rank = self.worst.partition_point(|kept| self::badness(&kept.activation) >= badness);
        self.worst.insert(rank, kept);
        if self.worst.len() > keep {
            let last = self.worst.len() - 1;
            let periods = self.worst.partition_point(|kept| !kept.activation.is_start_or_end());
            let has_one = periods == last && keep > 1;
            self.worst.remove(if has_one { last - 1 } else { last });
        }
    }

    /// The worst activations that are kept, as if only so many were.
    pub(crate) fn worst_few(&self, count: usize) -> impl Iterator<Item = &Kept> {
        let periods = self.worst.partition_point(|kept| !kept.activation.is_start_or_end());
        let exception = self.worst.get(periods).filter(|_| count > 1 && periods >= count);
        self.worst.iter().take(count - usize::from(exception.is_some())).chain(exception)
    }

    /// The growth of the response, where the worst activations are the last ones and nearly in order. `due`: it is of one of them.
    pub(crate) fn growth(&self, due: Ns) -> Option<Growth> {
        /// So few may be so by chance.
        const ENOUGH: usize = 6;
        /// Of the pairs that follow on one another, and of the activations after the last one and between them.
        const EXCEPTIONS: usize = 2;
        let mut worst: Vec<&Kept> = self.worst_few(FOR_FINDINGS).collect();
        worst.retain(|kept| kept.activation.is_period() && kept.activation.is_whole());
        worst.sort_by_key(|kept| kept.number);
        let (first, last) = (worst.first()?, worst.last()?);
        let follow = self.activations - first.number < (worst.len() + EXCEPTIONS) as u64;
        let falls =
            worst.windows(2).filter(|pair| pair[0].activation.response() >= pair[1].activation.response());
        let grows =
            falls.count() < EXCEPTIONS && worst.len() >= ENOUGH && self.activations > 2 * worst.len() as u64;
        let is_one = worst.iter().any(|kept| kept.activation.due == due);
        (follow && grows && is_one).then(|| Growth {
            count: worst.len(),
            from: first.activation.response(),
            to: last.activation.response(),
        })
    }

    /// What was charged to each cause that there was.
    pub(crate) fn causes(&self) -> impl Iterator<Item = (Cause, Ns)> {
        Cause::ALL.into_iter().zip(self.causes.0).filter(|(_, time)| *time > Ns::ZERO)
    }

    /// True when an activation of this response would be kept.
    pub(crate) fn would_keep(&self, is_start_or_end: bool, response: Ns, keep: usize) -> bool {
        let mut alike = self.worst.iter().rev().map(|kept| &kept.activation);
        let rival = alike.find(|activation| activation.is_start_or_end() == is_start_or_end);
        self.worst.len() < keep
            || rival.map_or(!is_start_or_end || keep > 1, |rival| response > rival.response())
    }
}

/// How many activations of a thread are kept where so many are to be shown; none where none is.
pub(crate) fn kept_of(shown: usize) -> usize {
    if shown == 0 { 0 } else { shown.max(FOR_FINDINGS) }
}

/// How bad an activation is, of one thread: the start and the end of a program are the least news.
fn badness(activation: &Activation) -> (bool, Ns) {
    (!activation.is_start_or_end(), activation.response())
}

/// How bad an activation is.
pub(crate) fn rank(activation: &Activation) -> Rank {
    (activation.is_period(), activation.response())
}
