//! Chains: from a timer, an interrupt or a packet from thread to thread, as a report shows them.

use super::culprit::{Culprit, softirq_name};
use super::segment::{Segment, Spread};
use crate::causes::Cause;
use std::fmt;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Name, Symbol};

/// What the name of a callback begins with.
pub(crate) const CALLBACK: &str = "callback:";

/// Where a chain comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainElement {
    /// A timer of the thread that follows.
    Timer,
    /// A device's interrupt.
    Irq {
        /// The line.
        irq: Option<u32>,
        /// The action's name.
        name: Name,
    },
    /// A softirq.
    Softirq {
        /// Its number.
        vec: u32,
    },
    /// A packet.
    Packet {
        /// The device that handed it over.
        dev: Symbol,
    },
    /// A work item.
    Work {
        /// Its function.
        function: Symbol,
    },
    /// A thread.
    Thread {
        /// Its id.
        tid: Tid,
        /// Its name.
        comm: Comm,
    },
    /// A callback of the thread before it.
    Callback {
        /// What it is called.
        name: Symbol,
    },
    /// Between two machines.
    Network,
    /// An interrupt of the other machine.
    PeerIrq {
        /// The line there.
        irq: u32,
        /// The action's name.
        name: Name,
    },
    /// A softirq of the other machine.
    PeerSoftirq {
        /// Its number.
        vec: u32,
    },
    /// A thread of the other machine.
    PeerThread {
        /// Its id there.
        tid: Tid,
        /// Its name.
        comm: Comm,
    },
}

/// `timer`, `irq:eth0`, `softirq:NET_RX`, `net:lo`, `work:flush_to_ldisc`, `control`, `callback:/scan`; of two machines also `network`,
/// `peer:irq:eth0`, `peer:softirq:NET_RX` and `peer:slave`.
impl fmt::Display for ChainElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainElement::Timer => f.write_str("timer"),
            ChainElement::Irq { irq: Some(irq), name } if name.is_empty() => write!(f, "irq:{irq}"),
            ChainElement::Irq { name, .. } => write!(f, "irq:{name}"),
            ChainElement::Softirq { vec } => write!(f, "softirq:{}", softirq_name(*vec)),
            ChainElement::Packet { dev } => write!(f, "net:{dev}"),
            ChainElement::Work { function } => write!(f, "work:{function}"),
            ChainElement::Thread { tid, comm } if comm.is_empty() => write!(f, "{tid}"),
            ChainElement::Thread { comm, .. } => write!(f, "{comm}"),
            ChainElement::Callback { name } => write!(f, "{CALLBACK}{name}"),
            ChainElement::Network => f.write_str("network"),
            ChainElement::PeerIrq { irq, name } if name.is_empty() => write!(f, "peer:irq:{irq}"),
            ChainElement::PeerIrq { name, .. } => write!(f, "peer:irq:{name}"),
            ChainElement::PeerSoftirq { vec } => write!(f, "peer:softirq:{}", softirq_name(*vec)),
            ChainElement::PeerThread { comm, .. } => write!(f, "peer:{comm}"),
        }
    }
}

/// One path that a trace shows again and again.
#[derive(Clone, Debug)]
pub struct Chain {
    /// What it comes by, in order.
    pub path: Vec<ChainElement>,
    /// The choice that it is the answer to; `None` where it was found.
    pub chosen: Option<String>,
    /// How often it was seen from its beginning to its end.
    pub count: u64,
    /// The usual time from one beginning to the next, where there is one.
    pub period: Option<Ns>,
    /// From its beginning to its end.
    pub latency: Spread,
    /// How often that was longer than the deadline.
    pub late: u64,
    /// The median of each hop.
    pub usual: Vec<Ns>,
    /// The worst of them, worst first.
    pub worst: Vec<ChainInstance>,
}

impl Chain {
    /// The name of each element; with its id where two threads of the path have the same.
    pub fn names(&self) -> Vec<String> {
        element_names(&self.path)
    }
}

/// See [`Chain::names`].
pub(crate) fn element_names(path: &[ChainElement]) -> Vec<String> {
    let ambiguous =
        |one: &ChainElement| path.iter().any(|other| other != one && other.to_string() == one.to_string());
    let name = |element: &ChainElement| match element {
        ChainElement::Thread { tid, comm } if ambiguous(element) => format!("{comm}:{tid}"),
        element => element.to_string(),
    };
    path.iter().map(name).collect()
}

/// One time that a path was taken.
#[derive(Clone, Debug)]
pub struct ChainInstance {
    /// When it began: the timer was due, the interrupt came, the first thread was woken.
    pub start: Ns,
    /// When the last thread was done, or the packet was sent.
    pub end: Ns,
    /// Hops that tile `start..end`, in order.
    pub hops: Vec<Hop>,
    /// The hop that made it late; `None` where none took much longer than usual.
    pub verdict: Option<ChainVerdict>,
}

impl ChainInstance {
    /// From its beginning to its end.
    pub fn latency(&self) -> Ns {
        self.end - self.start
    }
}

/// From one element of a path to the next.
#[derive(Clone, Debug)]
pub struct Hop {
    /// What it begins at.
    pub from: String,
    /// What it ends at; `done` at the end of the last thread.
    pub to: String,
    /// How `from` lets `to` go on: `timer`, `irq`, `packet`, `futex`, `write` ...
    pub kind: &'static str,
    /// Where it begins.
    pub start: Ns,
    /// Where it ends.
    pub end: Ns,
    /// The thread that it is the time of: `from`, or where that is no thread, `to`.
    pub thread: (Tid, Comm),
    /// Segments that tile `start..end`.
    pub ledger: Vec<Segment>,
    /// It begins by the clock of one machine and ends by another's, and its length may be off by this; zero on one machine.
    pub error: Ns,
}

impl Hop {
    /// Its length.
    pub fn length(&self) -> Ns {
        self.end - self.start
    }

    /// The time charged to each cause and culprit, most first.
    pub fn charges(&self) -> Vec<(Cause, Option<Culprit>, Ns)> {
        let mut charges: Vec<(Cause, Option<Culprit>, Ns)> = Vec::new();
        for segment in &self.ledger {
            let key = (segment.cause, segment.by);
            match charges.iter_mut().find(|(cause, by, _)| (*cause, *by) == key) {
                Some((_, _, sum)) => *sum += segment.length(),
                None => charges.push((segment.cause, segment.by, segment.length())),
            }
        }
        charges.sort_by_key(|&(cause, _, time)| (std::cmp::Reverse(time), cause));
        charges
    }
}

/// What made one instance of a chain late.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainVerdict {
    /// The hop, by index.
    pub hop: usize,
    /// How much longer than usual it took.
    pub excess: Ns,
    /// What most of that is charged to.
    pub cause: Cause,
    /// The culprit, where there is one.
    pub by: Option<Culprit>,
    /// The time charged to cause and culprit.
    pub charged: Ns,
    /// One sentence.
    pub why: String,
}

/// The answer about chains.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// The worst first: chosen ones, or those with explained threads where there are some.
    pub found: Vec<Chain>,
    /// How many more paths there were.
    pub more: u64,
    /// Choices that no instance answers.
    pub unmatched: Vec<String>,
    /// Hops of choices that the trace does not have.
    pub unknown: Vec<UnknownHop>,
}

/// A hop of a chosen chain that the trace does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHop {
    /// As it was written.
    pub hop: String,
    /// The names in the trace that come nearest.
    pub nearest: Vec<String>,
}
