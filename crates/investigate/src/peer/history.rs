//! The activations of some threads of a recording, as far as round trips need them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use whylate_base::{Comm, Confidence, Ns, Tid};
use whylate_intake::OpenError;
use whylate_ledger::{
    Activation, Cause, Culprit, Options, Segment, Select, Trigger, WANTED, confidence_of, explain_each,
};

/// What a time is charged to, the most first.
pub(super) type Charges = Vec<(Cause, Option<Culprit>, Ns)>;

/// The activations of threads.
#[derive(Debug, Default)]
pub(super) struct History {
    threads: BTreeMap<Tid, Vec<Seen>>,
    /// That of [`whylate_ledger::Explanation`].
    stands_still: bool,
}

/// One activation.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) comm: Comm,
    pub(super) due: Ns,
    pub(super) woken: Ns,
    pub(super) end: Ns,
    pub(super) trigger: Trigger,
    /// Of those in a window alone.
    ledger: Vec<Segment>,
}

impl History {
    /// Reads a recording: the activations of `threads`, with their ledgers in `windows`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(
        recording: &Path,
        threads: &BTreeSet<Tid>,
        windows: &[(Ns, Ns)],
    ) -> Result<History, OpenError> {
        let mut history = History::default();
        if threads.is_empty() {
            return Ok(history);
        }
        let source = whylate_intake::open(recording, WANTED)?;
        let tasks = threads.iter().map(|&tid| Select::Tid(tid)).collect();
        let options = Options { tasks, worst: 1, every_segment: true, ..Options::default() };
        let explanation = explain_each(source, &options, &mut |activation: &Activation| {
            let Activation { comm, due, end, trigger, .. } = *activation;
            let woken = activation.woken.unwrap_or(due);
            let is_needed = windows.iter().any(|&(from, to)| due < to && end > from);
            let ledger = if is_needed { activation.ledger.clone() } else { Vec::new() };
            history.threads.entry(activation.tid).or_default().push(Seen {
                comm,
                due,
                woken,
                end,
                trigger,
                ledger,
            });
        });
        history.stands_still = explanation.stands_still;
        history.threads.values_mut().for_each(|all| all.sort_by_key(|seen| seen.due));
        Ok(history)
    }

    /// A thread with the name that it had in the activation in which it did something at `at`.
    pub(super) fn thread(&self, tid: Tid, at: Ns) -> (Tid, Comm) {
        (tid, self.at(tid, at).map(|seen| seen.comm).unwrap_or_default())
    }

    /// What a part of one of its activations is charged to, the most first, and how sure the first one is. What is outside of the
    /// activation is unexplained.
    pub(super) fn charges(&self, seen: &Seen, from: Ns, to: Ns) -> (Charges, Confidence) {
        let charges = seen.charges(from, to);
        let most = charges.first().map(|&(cause, by, _)| (cause, by));
        let of_most: Vec<Segment> =
            seen.segments(from, to).filter(|segment| Some((segment.cause, segment.by)) == most).collect();
        (charges, confidence_of(of_most.iter(), self.stands_still))
    }

    /// The activation of a thread in which it does something at `at`.
    pub(super) fn at(&self, tid: Tid, at: Ns) -> Option<&Seen> {
        let all = self.threads.get(&tid)?;
        // Of those that are due by then the last whose end is not before.
        let due = all.partition_point(|seen| seen.due <= at);
        all[..due].iter().rev().take(2).find(|seen| seen.end >= at)
    }
}

impl Seen {
    /// The segments of its ledger in a part of it.
    pub(super) fn segments(&self, from: Ns, to: Ns) -> impl Iterator<Item = Segment> {
        let cut = move |segment: &Segment| {
            let (start, end) = (segment.start.max(from), segment.end.min(to));
            (end > start).then_some(Segment { start, end, ..*segment })
        };
        self.ledger.iter().filter_map(cut)
    }

    /// What a part of it is charged to; what is outside of it is unexplained.
    fn charges(&self, from: Ns, to: Ns) -> Charges {
        let mut sums: HashMap<(Cause, Option<Culprit>), Ns> = HashMap::new();
        for segment in self.segments(from, to) {
            *sums.entry((segment.cause, segment.by)).or_default() += segment.length();
        }
        let known: Ns = sums.values().copied().sum();
        if to - from > known {
            *sums.entry((Cause::Unexplained, None)).or_default() += to - from - known;
        }
        let mut charges: Charges = sums.into_iter().map(|((cause, by), time)| (cause, by, time)).collect();
        charges.sort_by_key(|&(cause, _, time)| (std::cmp::Reverse(time), cause));
        charges
    }
}
