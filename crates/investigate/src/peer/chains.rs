//! The chain of each round trip, across both machines: what wakes the sender, the sender, the network, what wakes the peer's
//! thread, that thread, the network, what wakes the sender again, and the sender until it sleeps.
//!
//! Hops on one machine have that machine's clock at both ends. A hop of the network begins by one clock and ends by the other's,
//! so its length is as certain as the join of the clocks.

use super::history::Seen;
use super::ways::{Both, Way};
use whylate_base::{Comm, Confidence, Cpu, Ns, Tid};
use whylate_ledger::{
    Cause, ChainElement, ChainInstance, ChainOptions, Chains, ChainsAcross, Hop, Segment, Trigger,
};

/// Chains of round trips, counted; their worst instances have no ledgers yet.
pub(super) struct TripChains {
    across: ChainsAcross,
}

impl TripChains {
    /// Of all `ways`.
    pub(super) fn of(ways: &[Way], both: Both<'_>, options: ChainOptions) -> TripChains {
        let mut across = ChainsAcross::new(options);
        for way in ways {
            if let Some((path, hops)) = instance(way, both) {
                across.count(&path, &hops);
            }
        }
        TripChains { across }
    }

    /// When the reported instances were, in this machine's time.
    pub(super) fn windows(&mut self) -> Vec<(Ns, Ns)> {
        self.across.worst_mut().map(|instance| (instance.start, instance.end)).collect()
    }

    /// The answer; `both` has the ledgers of what is reported.
    pub(super) fn finish(mut self, ways: &[Way], both: Both<'_>) -> Chains {
        for instance in self.across.worst_mut() {
            // A chosen chain may be a part of its way.
            let of_instance =
                ways.iter().find(|way| way.at[0] <= instance.start && instance.end <= way.at[5]);
            if let Some(way) = of_instance {
                charge(instance, way, both);
            }
        }
        self.across.finish()
    }
}

/// Which machine's time a hop is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Network,
    Peer,
    Last,
}

/// The path of a round trip, and its hops without ledgers. `None` where a thread's activation is not known.
fn instance(way: &Way, both: Both<'_>) -> Option<(Vec<ChainElement>, Vec<Hop>)> {
    let (Some(first), Some(last)) = both.of_own(&way.trip) else { return None };
    let peer = both.of_peer(&way.trip)?;
    let [begin, sent, at_peer, answered, arrived, end] = way.at;
    let (own_tid, peer_tid) = (way.trip.sent.tid, way.trip.answered.tid);
    let woken_there = both.join.to_own(peer.woken).clamp(at_peer, answered);
    let mut path = Vec::new();
    let mut hops: Vec<Hop> = Vec::new();
    let mut add = |element: ChainElement, kind, start, end, thread| {
        path.push(element);
        let error = if element == ChainElement::Network { both.join.error() } else { Ns::ZERO };
        hops.push(Hop {
            from: element.to_string(),
            to: String::new(),
            kind,
            start,
            end,
            thread,
            ledger: Vec::new(),
            error,
        });
    };
    let own = |comm: Comm| ChainElement::Thread { tid: own_tid, comm };
    let mut from = begin;
    if let Some((element, kind)) = waker(first.trigger) {
        let woken = first.woken.clamp(begin, sent);
        add(element, kind, begin, woken, (own_tid, first.comm));
        from = woken;
    }
    add(own(first.comm), "send", from, sent, (own_tid, first.comm));
    add(ChainElement::Network, "network", sent, at_peer, (Tid::IDLE, Comm::default()));
    from = at_peer;
    if let Some((element, kind)) = waker(peer.trigger).and_then(|(one, kind)| Some((of_peer(one)?, kind))) {
        add(element, kind, at_peer, woken_there, (peer_tid, peer.comm));
        from = woken_there;
    }
    add(
        ChainElement::PeerThread { tid: peer_tid, comm: peer.comm },
        "send",
        from,
        answered,
        (peer_tid, peer.comm),
    );
    add(ChainElement::Network, "network", answered, arrived, (Tid::IDLE, Comm::default()));
    from = arrived;
    if let Some((element, kind)) = waker(last.trigger) {
        let woken = last.woken.clamp(arrived, end);
        add(element, kind, arrived, woken, (own_tid, last.comm));
        from = woken;
    }
    add(own(last.comm), "done", from, end, (own_tid, last.comm));
    let names: Vec<String> = hops.iter().skip(1).map(|hop| hop.from.clone()).collect();
    for (hop, to) in hops.iter_mut().zip(names.into_iter().chain(["done".to_owned()])) {
        hop.to = to;
    }
    Some((path, hops))
}

/// What woke a thread, as an element before it.
fn waker(trigger: Trigger) -> Option<(ChainElement, &'static str)> {
    match trigger {
        Trigger::Timer => Some((ChainElement::Timer, "timer")),
        Trigger::Irq { irq, name } => Some((ChainElement::Irq { irq: Some(irq), name }, "irq")),
        Trigger::Softirq { vec } => Some((ChainElement::Softirq { vec }, "softirq")),
        Trigger::Thread { .. }
        | Trigger::Upon { .. }
        | Trigger::Marker
        | Trigger::Wakeup
        | Trigger::TraceStart
        | Trigger::Running => None,
    }
}

/// The same of the other machine.
fn of_peer(element: ChainElement) -> Option<ChainElement> {
    match element {
        ChainElement::Irq { irq: Some(irq), name } => Some(ChainElement::PeerIrq { irq, name }),
        ChainElement::Softirq { vec } => Some(ChainElement::PeerSoftirq { vec }),
        _ => None,
    }
}

/// Fills in the ledgers of an instance's hops.
fn charge(instance: &mut ChainInstance, way: &Way, both: Both<'_>) {
    let (first, last) = both.of_own(&way.trip);
    let peer = both.of_peer(&way.trip);
    for hop in &mut instance.hops {
        let ledger = match side(hop, way) {
            Side::First => first.map(|seen| cut(seen, hop, |at| at)),
            Side::Last => last.map(|seen| cut(seen, hop, |at| at)),
            Side::Peer => peer.map(|seen| cut(seen, hop, |at| both.join.to_own(at))),
            Side::Network => None,
        };
        hop.ledger = tiled(ledger.unwrap_or_default(), hop.start, hop.end);
    }
}

fn side(hop: &Hop, way: &Way) -> Side {
    let [_, sent, at_peer, answered, arrived, _] = way.at;
    match hop.error > Ns::ZERO || hop.thread.0 == Tid::IDLE {
        true => Side::Network,
        false if hop.end <= sent => Side::First,
        false if hop.start >= arrived => Side::Last,
        false if hop.start >= at_peer && hop.end <= answered => Side::Peer,
        false => Side::Network,
    }
}

/// The segments of an activation in a hop, in this machine's time.
fn cut(seen: &Seen, hop: &Hop, to_own: impl Fn(Ns) -> Ns) -> Vec<Segment> {
    let moved = seen.segments(seen.due, seen.end).map(|segment| Segment {
        start: to_own(segment.start).clamp(hop.start, hop.end),
        end: to_own(segment.end).clamp(hop.start, hop.end),
        ..segment
    });
    moved.filter(|segment| segment.end > segment.start).collect()
}

/// What the segments do not cover is unexplained.
fn tiled(segments: Vec<Segment>, start: Ns, end: Ns) -> Vec<Segment> {
    let unexplained = |start: Ns, end: Ns| Segment {
        cause: Cause::Unexplained,
        start,
        end,
        cpu: Cpu::default(),
        by: None,
        owner: None,
        confidence: Confidence::Low,
    };
    let mut all = Vec::with_capacity(segments.len() + 1);
    let mut at = start;
    for segment in segments {
        if segment.start > at {
            all.push(unexplained(at, segment.start));
        }
        let start = segment.start.max(at);
        if segment.end > start {
            at = segment.end;
            all.push(Segment { start, ..segment });
        }
    }
    if end > at {
        all.push(unexplained(at, end));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_is_tiled() {
        let segment = |start: i64, end: i64| Segment {
            cause: Cause::OwnWork,
            start: Ns(start),
            end: Ns(end),
            cpu: Cpu(0),
            by: None,
            owner: None,
            confidence: Confidence::High,
        };
        for segments in
            [vec![], vec![segment(2, 5)], vec![segment(0, 4), segment(3, 10)], vec![segment(0, 10)]]
        {
            let all = tiled(segments, Ns(0), Ns(10));
            assert_eq!((all[0].start, all[all.len() - 1].end), (Ns(0), Ns(10)));
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start), "{all:?}");
        }
        assert!(tiled(Vec::new(), Ns(3), Ns(3)).is_empty());
    }
}
