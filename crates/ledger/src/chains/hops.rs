//! The hops of one chain, and their ledgers.

use super::node::Node;
use crate::causes::Cause;
use crate::charge;
use crate::model::chain::element_names;
use crate::model::{ChainElement, Hop, Segment};
use crate::timeline::Timeline;
use crate::timeline::links::HandOff;
use whylate_base::{Confidence, Cpu, Ns};

/// Where hops begin and end, and what each is, without its ledger.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopSpan {
    pub(super) start: Ns,
    pub(super) end: Ns,
    kind: &'static str,
    /// The node whose time it is, by index.
    node: usize,
}

/// Where the hops of a chain begin and end; they tile it.
pub(super) fn hop_spans(nodes: &[&Node], sent: Option<ChainElement>) -> Vec<HopSpan> {
    let mut hop_spans = Vec::new();
    let mut at = nodes.first().map_or(Ns::ZERO, |node| node.open.due);
    for (index, node) in nodes.iter().enumerate() {
        if let Some(via) = node.via {
            let end = node.open.waking.clamp(at, node.handed.max(at));
            hop_spans.push(HopSpan { start: at, end, kind: kind_of(via), node: index });
            at = end;
        }
        if let Some((called, _)) = node.callback {
            let end = called.clamp(at, node.handed.max(at));
            hop_spans.push(HopSpan { start: at, end, kind: HandOff::Call.code(), node: index });
            at = end;
        }
        let end = node.handed.max(at);
        let is_last = index + 1 == nodes.len();
        let kind = if is_last && sent.is_none() { "done" } else { node.by.code() };
        hop_spans.push(HopSpan { start: at, end, kind, node: index });
        at = end;
    }
    hop_spans
}

fn kind_of(via: ChainElement) -> &'static str {
    match via {
        ChainElement::Timer => "timer",
        ChainElement::Irq { .. } => "irq",
        ChainElement::Softirq { .. } => "softirq",
        ChainElement::Packet { .. } => HandOff::Packet.code(),
        ChainElement::Work { .. } => HandOff::Work.code(),
        ChainElement::Thread { .. }
        | ChainElement::Callback { .. }
        | ChainElement::Network
        | ChainElement::PeerIrq { .. }
        | ChainElement::PeerSoftirq { .. }
        | ChainElement::PeerThread { .. } => HandOff::Wake.code(),
    }
}

/// The hops with their ledgers, from the element `first` on.
pub(super) fn hops(
    timeline: &Timeline,
    nodes: &[&Node],
    path: &[ChainElement],
    hop_spans: &[HopSpan],
    first: usize,
) -> Vec<Hop> {
    let names = element_names(path.get(first..).unwrap_or_default());
    let mut ledgers: Vec<Option<Vec<Segment>>> = vec![None; nodes.len()];
    let mut hops = Vec::new();
    for (index, span) in hop_spans.iter().enumerate().skip(first) {
        let Some(node) = nodes.get(span.node) else { continue };
        let Some(slot) = ledgers.get_mut(span.node) else { continue };
        let ledger = slot.get_or_insert_with(|| ledger(timeline, node));
        let name = |index: usize| names.get(index).cloned();
        hops.push(Hop {
            from: name(index - first).unwrap_or_default(),
            to: name(index + 1 - first).unwrap_or_else(|| "done".to_owned()),
            kind: span.kind,
            start: span.start,
            end: span.end,
            thread: (node.tid, comm(node)),
            ledger: part(ledger, span.start, span.end, node.open.cpu.unwrap_or_default()),
            error: Ns::ZERO,
        });
    }
    hops
}

fn comm(node: &Node) -> whylate_base::Comm {
    match node.element {
        ChainElement::Thread { comm, .. } => comm,
        _ => whylate_base::Comm::default(),
    }
}

/// The ledger of a node's activation, up to where it let the next one go on.
fn ledger(timeline: &Timeline, node: &Node) -> Vec<Segment> {
    match timeline.threads.get(node.tid) {
        Some(thread) if node.handed > node.open.due => {
            charge::ledger(timeline, thread, &node.open, node.handed).0
        }
        _ => Vec::new(),
    }
}

/// The part of a ledger in `from..to`; what it does not cover is unexplained.
fn part(ledger: &[Segment], from: Ns, to: Ns, cpu: Cpu) -> Vec<Segment> {
    let unexplained = |start: Ns, end: Ns| Segment {
        cause: Cause::Unexplained,
        start,
        end,
        cpu,
        by: None,
        owner: None,
        confidence: Confidence::Low,
    };
    let mut part: Vec<Segment> = Vec::new();
    let mut at = from;
    for segment in ledger {
        let (start, end) = (segment.start.max(at), segment.end.min(to));
        if start >= end {
            continue;
        }
        if start > at {
            part.push(unexplained(at, start));
        }
        part.push(Segment { start, end, ..*segment });
        at = end;
    }
    if at < to {
        part.push(unexplained(at, to));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_of_a_ledger_tiles_what_is_asked_for(lengths in prop::collection::vec(1i64..50, 0..10), from in 0i64..100, length in 0i64..200) {
            let mut at = Ns(30);
            let ledger: Vec<Segment> = lengths.iter().map(|&length| {
                let start = at;
                at += Ns(length);
                Segment { cause: Cause::OwnWork, start, end: at, cpu: Cpu(0), by: None, owner: None, confidence: Confidence::High }
            }).collect();
            let (from, to) = (Ns(from), Ns(from + length));
            let part = part(&ledger, from, to, Cpu(0));
            prop_assert!(charge::tiles(&part, from, to));
        }
    }
}
