//! A chosen chain, such as `irq:eth1 -> rx -> ctl -> net:eth0`.

use crate::model::ChainElement;
use crate::model::chain::CALLBACK;
use std::fmt;
use whylate_base::{Comm, Tid, glob};

/// Between two machines.
const NETWORK: &str = "network";
/// What the names of another machine's elements begin with.
const OF_PEER: &str = "peer:";

/// A chain by the names of some of its elements, in their order. There may be others in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPattern {
    hops: Vec<String>,
}

/// Why an expression is no chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainPatternError {
    /// It has fewer than two hops.
    TooShort,
    /// There is nothing before or behind an arrow.
    EmptyHop,
}

impl fmt::Display for ChainPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChainPatternError::TooShort => {
                "a chain has two hops or more, with arrows between them, such as 'timer -> control'"
            }
            ChainPatternError::EmptyHop => "there is nothing on one side of an arrow",
        })
    }
}

impl std::error::Error for ChainPatternError {}

impl ChainPattern {
    /// Parses `a -> b -> c`.
    ///
    /// # Errors
    /// [`ChainPatternError`]
    pub fn parse(text: &str) -> Result<ChainPattern, ChainPatternError> {
        let hops: Vec<String> =
            text.replace('→', "->").split("->").map(|hop| hop.trim().to_owned()).collect();
        match hops.as_slice() {
            [] | [_] => Err(ChainPatternError::TooShort),
            hops if hops.iter().any(String::is_empty) => Err(ChainPatternError::EmptyHop),
            _ => Ok(ChainPattern { hops }),
        }
    }

    /// The first hop that only two machines have: `network`, or one of `peer:`.
    pub fn peer_hop(&self) -> Option<&str> {
        let is_across = |hop: &&String| *hop == NETWORK || hop.starts_with(OF_PEER);
        self.hops.iter().find(is_across).map(String::as_str)
    }

    /// Its hops, as they were written.
    pub(crate) fn hops(&self) -> &[String] {
        &self.hops
    }

    /// Where the chain begins that ends with the last element of `path`: as late as the pattern allows. `None` where it
    /// does not match.
    pub(super) fn start_in(&self, path: &[ChainElement]) -> Option<usize> {
        let mut from_end = path.iter().enumerate().rev();
        let (last, others) = self.hops.split_last()?;
        let (mut start, element) = from_end.next()?;
        if !matches(last, element) {
            return None;
        }
        for hop in others.iter().rev() {
            (start, _) = from_end.find(|(_, element)| matches(hop, element))?;
        }
        Some(start)
    }
}

/// `a -> b -> c`
impl fmt::Display for ChainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hops.join(" -> "))
    }
}

/// True where a written hop means this element: `timer`, `irq:NAME`, `irq:LINE`, `softirq:NAME`, `net:DEV`,
/// `work:FUNCTION`, `callback:NAME`, or the name or id of a thread; a name may have wildcards.
pub(super) fn matches(hop: &str, element: &ChainElement) -> bool {
    let is = |prefix: &str, name: &str| hop.strip_prefix(prefix).is_some_and(|pattern| glob(pattern, name));
    match element {
        ChainElement::Timer => hop == "timer",
        ChainElement::Irq { irq, name } => {
            is("irq:", name.as_str()) || irq.is_some_and(|irq| is("irq:", &irq.to_string()))
        }
        ChainElement::Softirq { .. } => glob(hop, &element.to_string()),
        ChainElement::Packet { dev } => is("net:", dev.as_str()),
        ChainElement::Work { function } => is("work:", function.as_str()),
        ChainElement::Thread { tid, comm } => is_thread(hop, *tid, comm),
        ChainElement::Callback { name } => is(CALLBACK, name.as_str()),
        ChainElement::Network => hop == NETWORK,
        ChainElement::PeerIrq { irq, name } => {
            is("peer:irq:", name.as_str()) || is("peer:irq:", &irq.to_string())
        }
        ChainElement::PeerSoftirq { .. } => glob(hop, &element.to_string()),
        ChainElement::PeerThread { tid, comm } => {
            hop.strip_prefix(OF_PEER).is_some_and(|hop| is_thread(hop, *tid, comm))
        }
    }
}

fn is_thread(hop: &str, tid: Tid, comm: &Comm) -> bool {
    glob(hop, comm.as_str())
        || hop == tid.to_string()
        || (comm.as_str().len() == 15 && hop.starts_with(comm.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: i32, comm: &str) -> ChainElement {
        ChainElement::Thread { tid: Tid(tid), comm: comm.into() }
    }

    #[test]
    fn a_chain_has_hops_between_arrows() {
        let parsed = ChainPattern::parse(" irq:eth1->rx → ctl ").expect("a chain");
        assert_eq!(parsed.to_string(), "irq:eth1 -> rx -> ctl");
        assert_eq!(ChainPattern::parse("rx"), Err(ChainPatternError::TooShort));
        assert_eq!(ChainPattern::parse(""), Err(ChainPatternError::TooShort));
        assert_eq!(ChainPattern::parse("rx -> -> b"), Err(ChainPatternError::EmptyHop));
    }

    #[test]
    fn a_pattern_matches_from_the_end_and_skips_what_it_does_not_name() {
        let eth = ChainElement::Irq { irq: Some(27), name: "eth1".into() };
        let path =
            [ChainElement::Timer, thread(1, "a"), eth, thread(2, "rx-0"), thread(3, "b"), thread(4, "ctl")];
        let start = |pattern: &str| ChainPattern::parse(pattern).expect("a chain").start_in(&path);
        for (pattern, expected) in [
            ("irq:eth1 -> rx-* -> ctl", Some(2)),
            ("irq:27 -> ctl", Some(2)),
            ("timer -> a -> 4", Some(0)),
            ("b -> ctl", Some(4)),
            ("irq:eth1 -> rx-0", None),
            ("ctl -> b", None),
            ("net:eth1 -> ctl", None),
        ] {
            assert_eq!(start(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn elements_of_the_other_machine_have_names_of_their_own() {
        let path = [
            ChainElement::Timer,
            thread(1, "slave"),
            ChainElement::Network,
            ChainElement::PeerIrq { irq: 25, name: "virtio0".into() },
            ChainElement::PeerThread { tid: Tid(9), comm: "slave".into() },
            ChainElement::Network,
            thread(1, "slave"),
        ];
        let parsed = |pattern: &str| ChainPattern::parse(pattern).expect("a chain");
        for (pattern, expected) in [
            ("peer:irq:virtio* -> peer:slave -> slave", Some(3)),
            ("peer:9 -> network -> slave", Some(4)),
            ("timer -> slave", Some(0)),
            ("peer:1 -> slave", None),
        ] {
            assert_eq!(parsed(pattern).start_in(&path), expected, "{pattern}");
        }
        assert_eq!(parsed("timer -> peer:9").peer_hop(), Some("peer:9"));
        assert_eq!(parsed("timer -> peers").peer_hop(), None);
    }
}
