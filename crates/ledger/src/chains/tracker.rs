//! Follows chains, step by step, as the engine notes them.

use super::ChainOptions;
use super::hops::{hop_spans, hops};
use super::node::{Node, elements};
use super::paths::Paths;
use crate::model::{ChainElement, Hop};
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::links::{HandOff, Link};
use crate::timeline::names::NameId;
use crate::timeline::origins::OriginKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use whylate_base::{Ns, Tid};
use whylate_events::Symbol;

/// A longer chain begins anew.
const LONGEST_CHAIN: usize = 16;
/// Packets and work items on their way, and wake-ups in progress, that are remembered.
const MOST_ON_THE_WAY: usize = 1 << 14;

/// The activation that a thread is in, as a part of a chain.
struct Current {
    serial: u64,
    prev: Option<Rc<Node>>,
    via: Option<ChainElement>,
    /// Where its part begins.
    from: Ns,
    /// It let another thread go on, which is where the chain continues.
    handed_over: bool,
    /// The packet that it began with.
    skb: Option<u64>,
    /// Where it goes on with another packet than it began with: its part, as an activation.
    own: Option<Open>,
    /// The callback that it began last, and when.
    callback: Option<(Ns, NameId)>,
}

/// See the module.
pub(crate) struct Tracker {
    options: ChainOptions,
    current: FxHashMap<Tid, Current>,
    wakings: FxHashMap<Tid, (Ns, Rc<Node>)>,
    packets: FxHashMap<u64, (Rc<Node>, NameId)>,
    works: FxHashMap<u64, Rc<Node>>,
    pub(super) paths: Paths,
    /// What callbacks are called.
    pub(super) callbacks: FxHashSet<Symbol>,
    serial: u64,
}

impl Tracker {
    pub(crate) fn new(options: ChainOptions) -> Tracker {
        Tracker {
            options,
            current: FxHashMap::default(),
            wakings: FxHashMap::default(),
            packets: FxHashMap::default(),
            works: FxHashMap::default(),
            paths: Paths::default(),
            callbacks: FxHashSet::default(),
            serial: 0,
        }
    }

    pub(super) fn options(&self) -> &ChainOptions {
        &self.options
    }

    /// Since when the past is needed: the chain that goes on longest began then.
    pub(crate) fn needs_since(&self) -> Option<Ns> {
        let begun = |current: &Current| {
            let mut since = current.from;
            let mut node = current.prev.as_deref();
            while let Some(one) = node {
                since = since.min(one.open.due);
                node = one.prev.as_deref();
            }
            since
        };
        self.current.values().map(begun).min()
    }

    /// Forgets chains that have not gone on since `horizon`: their threads sleep, or never do.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        self.current.retain(|_, current| current.from >= horizon);
        self.wakings.retain(|_, (at, _)| *at >= horizon);
        self.packets.retain(|_, (node, _)| node.handed >= horizon);
        self.works.retain(|_, node| node.handed >= horizon);
    }

    /// Takes in a step.
    pub(crate) fn follow(&mut self, timeline: &Timeline, link: Link) {
        match link {
            Link::Waking { tid, at, cause, by } => {
                self.wakings.remove(&tid);
                if let WakeCause::Thread(waker) | WakeCause::Upon(waker) = cause
                    && !is_housekeeping(timeline, tid)
                {
                    let node = self.node(timeline, waker, at, by);
                    if self.wakings.len() < MOST_ON_THE_WAY {
                        self.wakings.insert(tid, (at, node));
                    }
                }
            }
            Link::Began { tid } => self.began(timeline, tid),
            Link::Ended { tid, open, end, whole } => self.ended(timeline, tid, *open, end, whole),
            Link::Sent { skb, at, by, dev } => {
                let node = self.node(timeline, by, at, HandOff::Send);
                if self.packets.len() >= MOST_ON_THE_WAY {
                    self.packets.clear();
                }
                self.packets.insert(skb, (node, dev));
            }
            Link::Left { at, by, dev } => {
                let node = self.node(timeline, by, at, HandOff::Send);
                let dev = timeline.origins.names.name(dev);
                if node.via.is_some() || node.prev.is_some() {
                    self.hand_over(&node);
                    self.finish(timeline, &node, Some(ChainElement::Packet { dev }), true);
                }
            }
            Link::Read { skb, at, tid } => self.read(timeline, skb, at, tid),
            Link::Callback { tid, at, name } => {
                self.callbacks.insert(timeline.origins.names.name(name));
                if let Some(current) = self.current.get_mut(&tid) {
                    current.callback = Some((at, name));
                }
            }
            Link::Queued { work, at, by } => {
                if is_housekeeping(timeline, by) {
                    return;
                }
                let node = self.node(timeline, by, at, HandOff::Work);
                if self.works.len() >= MOST_ON_THE_WAY {
                    self.works.clear();
                }
                self.works.insert(work, node);
            }
        }
    }

    /// What a thread was at when it let another go on.
    fn node(&self, timeline: &Timeline, tid: Tid, at: Ns, by: HandOff) -> Rc<Node> {
        let thread = timeline.threads.get(tid);
        let current = self.current.get(&tid);
        let open =
            current.and_then(|current| current.own.as_ref()).or(thread.and_then(|one| one.open.as_ref()));
        let (Some(current), Some(open)) = (current, open) else {
            // What it did before is not known: the chain begins here.
            let open = Open::new(Begin::TraceStart, at, at);
            return Rc::new(self.part(timeline, tid, open, (at, by), None));
        };
        let mut open = open.clone();
        open.due = current.from.min(open.waking);
        Rc::new(self.part(timeline, tid, open, (at, by), Some(current)))
    }

    fn part(
        &self,
        timeline: &Timeline,
        tid: Tid,
        open: Open,
        (at, by): (Ns, HandOff),
        current: Option<&Current>,
    ) -> Node {
        let prev = current.and_then(|current| current.prev.clone());
        let name =
            |(began, name)| (began, ChainElement::Callback { name: timeline.origins.names.name(name) });
        Node {
            callback: current.and_then(|current| current.callback).map(name),
            via: current.and_then(|current| current.via),
            tid,
            element: ChainElement::Thread { tid, comm: timeline.comm_at(tid, at) },
            handed: at.max(open.due),
            open,
            by,
            depth: prev.as_ref().map_or(0, |prev| prev.depth) + 1,
            prev,
            serial: current.map_or(0, |current| current.serial),
        }
    }

    /// An activation begins: of what chain is it a part?
    fn began(&mut self, timeline: &Timeline, tid: Tid) {
        let waking = self.wakings.remove(&tid);
        let Some(open) = timeline.threads.get(tid).and_then(|thread| thread.open.as_ref()) else { return };
        if is_housekeeping(timeline, tid) {
            self.current.remove(&tid);
            return;
        }
        let woken_by = waking.filter(|(at, _)| *at == open.waking).map(|(_, node)| node);
        let origins = &timeline.origins;
        let mut skb = None;
        let (via, prev) = match (open.begin, open.origin.as_deref().map(|origin| origin.kind)) {
            (Begin::Woken(WakeCause::Timer { .. }), _) => (Some(ChainElement::Timer), None),
            (_, Some(OriginKind::Irq(id))) => {
                let (irq, name) = timeline.irqs.get(id);
                (Some(ChainElement::Irq { irq, name }), None)
            }
            (_, Some(OriginKind::Packet { skb: address, dev })) => {
                skb = Some(address);
                let sender = self.packets.get(&address).map(|(node, _)| node.clone());
                (Some(ChainElement::Packet { dev: origins.names.name(dev) }), sender)
            }
            (_, Some(OriginKind::Work { work, function })) => (
                Some(ChainElement::Work { function: origins.names.name(function) }),
                self.works.remove(&work),
            ),
            (_, Some(OriginKind::Softirq(vec))) | (Begin::Woken(WakeCause::Softirq(vec)), None) => {
                (Some(ChainElement::Softirq { vec }), None)
            }
            (Begin::Woken(WakeCause::Irq(id)), None) => {
                let (irq, name) = timeline.irqs.get(id);
                (irq.map(|irq| ChainElement::Irq { irq: Some(irq), name }), None)
            }
            _ => (None, woken_by),
        };
        let due = open.due;
        self.begin(timeline, tid, due, (via, prev), skb, None);
    }

    /// A thread begins its part of a chain at `due`.
    fn begin(
        &mut self,
        timeline: &Timeline,
        tid: Tid,
        due: Ns,
        (via, prev): (Option<ChainElement>, Option<Rc<Node>>),
        skb: Option<u64>,
        own: Option<Open>,
    ) {
        let prev = prev.map(|prev| {
            self.hand_over(&prev);
            let goes_round =
                prev.depth >= LONGEST_CHAIN || prev.has_step(prev.tid, tid) || returns(&prev, tid);
            if !goes_round {
                return prev;
            }
            // A round of a cycle ends here, and the next one begins with the thread that let this one go on.
            self.finish(timeline, &prev, None, true);
            Rc::new(Node {
                prev: None,
                via: prev.via,
                callback: prev.callback,
                tid: prev.tid,
                element: prev.element,
                open: prev.open.clone(),
                handed: prev.handed,
                by: prev.by,
                depth: 1,
                serial: prev.serial,
            })
        });
        self.serial += 1;
        let from = prev.as_ref().map_or(due, |prev| prev.handed);
        let serial = self.serial;
        self.current
            .insert(tid, Current { serial, prev, via, from, handed_over: false, skb, own, callback: None });
    }

    /// A thread let another go on, which did.
    fn hand_over(&mut self, node: &Node) {
        if let Some(current) = self.current.get_mut(&node.tid)
            && current.serial == node.serial
        {
            current.handed_over = true;
        }
    }

    /// An activation is over.
    fn ended(&mut self, timeline: &Timeline, tid: Tid, open: Open, end: Ns, whole: bool) {
        let Some(current) = self.current.remove(&tid).filter(|_| whole) else { return };
        let mut open = match &current.own {
            Some(own) => own.clone(),
            None => open,
        };
        open.due = current.from.min(open.waking);
        let node = self.part(timeline, tid, open, (end, HandOff::Wake), Some(&current));
        self.finish(timeline, &node, None, !current.handed_over);
    }

    /// A thread reads a packet that did not wake it: its chain goes on there.
    fn read(&mut self, timeline: &Timeline, skb: u64, at: Ns, tid: Tid) {
        let Some((sender, dev)) = self.packets.remove(&skb) else { return };
        let Some(current) = self.current.get(&tid).filter(|current| current.skb != Some(skb)) else { return };
        if sender.tid == tid {
            return;
        }
        if !current.handed_over {
            let node = self.node(timeline, tid, at, HandOff::Wake);
            self.finish(timeline, &node, None, true);
        }
        let mut own = Open::new(Begin::Woken(WakeCause::Unseen), sender.handed, at);
        own.cpu = timeline.threads.get(tid).and_then(|thread| thread.open.as_ref()).and_then(|open| open.cpu);
        let via = Some(ChainElement::Packet { dev: timeline.origins.names.name(dev) });
        self.begin(timeline, tid, sender.handed, (via, Some(sender)), Some(skb), Some(own));
    }

    /// A chain is at its end; `is_leaf`: no other thread goes on with it.
    fn finish(&mut self, timeline: &Timeline, last: &Node, sent: Option<ChainElement>, is_leaf: bool) {
        let nodes = last.path();
        let path = elements(&nodes, sent);
        let hop_spans = hop_spans(&nodes, sent);
        let chosen = &self.options.chosen;
        let parts: Vec<(Option<usize>, usize)> = match chosen.is_empty() {
            true if is_leaf && path.len() > 1 => vec![(None, 0)],
            true => Vec::new(),
            false => {
                let start = |(index, pattern): (usize, &super::ChainPattern)| {
                    Some((Some(index), pattern.start_in(&path)?))
                };
                chosen.iter().enumerate().filter_map(start).collect()
            }
        };
        for (choice, first) in parts {
            let Some(of_chain) = hop_spans.get(first..).filter(|part| !part.is_empty()) else { continue };
            let (Some(start), Some(end)) = (of_chain.first(), of_chain.last()) else { continue };
            let lengths: Vec<Ns> = of_chain.iter().map(|one| one.end - one.start).collect();
            let Some(kept) = self.paths.of((choice, path.get(first..).unwrap_or_default().to_vec())) else {
                continue;
            };
            if kept.count(start.start, &lengths, self.options.deadline) {
                let hops: Vec<Hop> = hops(timeline, &nodes, &path, &hop_spans, first);
                kept.keep(start.start, end.end, hops);
            }
        }
    }
}

/// True where the chain came by this thread already, and then by the one before: another round of it.
fn returns(prev: &Node, tid: Tid) -> bool {
    let visits = prev.path().iter().filter(|node| node.tid == tid).count();
    visits >= 2
}

fn is_housekeeping(timeline: &Timeline, tid: Tid) -> bool {
    timeline.threads.get(tid).is_some_and(|thread| thread.is_housekeeping())
}
