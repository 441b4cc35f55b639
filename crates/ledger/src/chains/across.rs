//! Chains across two machines, put together outside from the ledgers of both: counted and judged as those of one machine are.

use super::ChainOptions;
use super::finish::{FEWEST, chain, nearest};
use super::paths::Paths;
use super::pattern::matches;
use crate::model::{Chain, ChainElement, ChainInstance, Chains, Hop, UnknownHop};
use std::cmp::Reverse;
use whylate_base::Ns;

/// The chains that two recordings show.
pub struct ChainsAcross {
    options: ChainOptions,
    paths: Paths,
    /// Of every instance.
    elements: Vec<ChainElement>,
}

impl ChainsAcross {
    /// None yet; `options` without the choices that one machine answers.
    pub fn new(options: ChainOptions) -> ChainsAcross {
        ChainsAcross { options, paths: Paths::default(), elements: Vec::new() }
    }

    /// Counts an instance: an element of `path` for each of `hops`, which need no ledgers yet.
    pub fn count(&mut self, path: &[ChainElement], hops: &[Hop]) {
        for element in path {
            if !self.elements.contains(element) {
                self.elements.push(*element);
            }
        }
        let chosen = &self.options.chosen;
        let start =
            |(index, pattern): (usize, &super::ChainPattern)| Some((Some(index), pattern.start_in(path)?));
        let parts: Vec<(Option<usize>, usize)> = match chosen.is_empty() {
            true => vec![(None, 0)],
            false => chosen.iter().enumerate().filter_map(start).collect(),
        };
        for (choice, first) in parts {
            let (Some(elements), Some(part)) = (path.get(first..), hops.get(first..)) else { continue };
            let (Some(begin), Some(end)) = (part.first(), part.last()) else { continue };
            let Some(kept) = self.paths.of((choice, elements.to_vec())) else { continue };
            let lengths: Vec<Ns> = part.iter().map(Hop::length).collect();
            if kept.count(begin.start, &lengths, self.options.deadline) {
                kept.keep(begin.start, end.end, part.to_vec());
            }
        }
    }

    /// The instances that are reported, whose hops need ledgers.
    pub fn worst_mut(&mut self) -> impl Iterator<Item = &mut ChainInstance> {
        self.paths.by_key.values_mut().flat_map(|path| &mut path.worst)
    }

    /// The answer, the worst first.
    pub fn finish(self) -> Chains {
        let ChainsAcross { options, paths, elements } = self;
        let mut found: Vec<Chain> = (paths.by_key.into_iter())
            .filter(|((choice, _), kept)| choice.is_some() || kept.count >= FEWEST)
            .filter_map(|((choice, path), kept)| {
                let chosen = choice.and_then(|index| options.chosen.get(index));
                chain(path, kept, chosen.map(ToString::to_string))
            })
            .collect();
        found.sort_by_cached_key(|chain| (Reverse(chain.latency.max), chain.names()));
        let is_answered =
            |pattern: &String| found.iter().any(|chain| chain.chosen.as_deref() == Some(pattern.as_str()));
        let unmatched =
            options.chosen.iter().map(ToString::to_string).filter(|pattern| !is_answered(pattern)).collect();
        let hops = options.chosen.iter().flat_map(|pattern| pattern.hops());
        let unknown = hops.filter(|hop| !elements.iter().any(|element| matches(hop, element)));
        let unknown = unknown.map(|hop| UnknownHop { hop: hop.clone(), nearest: nearest(hop, &elements) });
        let unknown = unknown.collect();
        Chains { more: paths.left_out, unmatched, unknown, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Cause;
    use crate::chains::ChainPattern;
    use crate::model::Segment;
    use whylate_base::{Comm, Confidence, Cpu, Tid};

    fn path() -> [ChainElement; 3] {
        let comm = Comm::from("9");
        [ChainElement::Timer, ChainElement::Network, ChainElement::PeerThread { tid: Tid(9), comm }]
    }

    fn hops(start: i64, lengths: [i64; 3]) -> Vec<Hop> {
        let mut at = Ns::from_us(start);
        let names = ["timer", "network", "peer:9", "done"];
        let hop = |(index, length): (usize, i64)| {
            let (start, end) = (at, at + Ns::from_us(length));
            at = end;
            let (cause, confidence) = (Cause::HigherPriorityTask, Confidence::High);
            let segment = Segment { cause, start, end, cpu: Cpu(0), by: None, owner: None, confidence };
            Hop {
                from: names[index].to_owned(),
                to: names[index + 1].to_owned(),
                kind: "send",
                start,
                end,
                thread: (Tid(9), Comm::default()),
                ledger: vec![segment],
                error: if index == 1 { Ns::from_us(100) } else { Ns::ZERO },
            }
        };
        lengths.into_iter().enumerate().map(hop).collect()
    }

    fn chains(pattern: Option<&str>, late: [i64; 3]) -> Chains {
        let chosen = pattern.map(|text| ChainPattern::parse(text).expect("a chain"));
        let mut across =
            ChainsAcross::new(ChainOptions { chosen: chosen.into_iter().collect(), deadline: None });
        for cycle in 0..20 {
            across.count(&path(), &hops(cycle * 10_000, if cycle == 7 { late } else { [100, 200, 300] }));
        }
        across.finish()
    }

    #[test]
    fn a_chain_across_is_counted_and_judged() {
        let found = chains(None, [100, 200, 3_300]).found;
        let [chain] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((chain.count, chain.period), (20, Some(Ns::from_ms(10))));
        let verdict = chain.worst[0].verdict.as_ref().expect("a verdict");
        assert_eq!((verdict.hop, verdict.cause), (2, Cause::HigherPriorityTask));
        assert!(verdict.why.contains("peer:9 -> done"), "{}", verdict.why);
    }

    #[test]
    fn a_hop_that_the_error_of_the_clocks_may_have_made_is_not_accused() {
        let verdict = |late| chains(None, late).found[0].worst[0].verdict.clone();
        assert_eq!(verdict([100, 390, 300]), None);
        assert_eq!(verdict([100, 700, 300]).map(|verdict| verdict.hop), Some(1));
    }

    #[test]
    fn chosen_chains_are_answered_or_refused() {
        let late = [100, 200, 3_300];
        let part = chains(Some("network -> peer:9"), late);
        assert_eq!((part.found[0].path.len(), part.unmatched.len(), part.unknown.len()), (2, 0, 0));
        let unknown = chains(Some("timer -> peer:slave"), late);
        assert_eq!((unknown.found.len(), unknown.unknown[0].hop.as_str()), (0, "peer:slave"));
        let reversed = chains(Some("peer:9 -> timer"), late);
        assert_eq!((reversed.unmatched.len(), reversed.unknown.len()), (1, 0));
    }
}
