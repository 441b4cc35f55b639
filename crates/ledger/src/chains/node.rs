//! One thread's part of a chain that is going on, and what came before it.

use crate::model::ChainElement;
use crate::timeline::activations::Open;
use crate::timeline::links::HandOff;
use std::rc::Rc;
use whylate_base::{Ns, Tid};

/// A thread that let another go on.
#[derive(Debug)]
pub(super) struct Node {
    /// The thread before.
    pub(super) prev: Option<Rc<Node>>,
    /// What came between that and this thread: a packet, a work item; or what the chain begins with.
    pub(super) via: Option<ChainElement>,
    pub(super) tid: Tid,
    pub(super) element: ChainElement,
    /// The callback that it began last before it let the next one go on, and when.
    pub(super) callback: Option<(Ns, ChainElement)>,
    /// Its activation, as it was then; due where the node before ends.
    pub(super) open: Open,
    /// When it let the next one go on, or was done.
    pub(super) handed: Ns,
    pub(super) by: HandOff,
    /// How many nodes there are up to this one.
    pub(super) depth: usize,
    /// Of the activation.
    pub(super) serial: u64,
}

impl Node {
    /// The nodes from the first one to this one.
    pub(super) fn path(&self) -> Vec<&Node> {
        let mut nodes = Vec::with_capacity(self.depth);
        let mut node = Some(self);
        while let Some(one) = node {
            nodes.push(one);
            node = one.prev.as_deref();
        }
        nodes.reverse();
        nodes
    }

    /// True where this thread was let go on by `before`'s already: the chain goes round.
    pub(super) fn has_step(&self, from: Tid, to: Tid) -> bool {
        let mut node = Some(self);
        while let Some(one) = node {
            let prev = one.prev.as_deref();
            if one.tid == to && prev.is_some_and(|prev| prev.tid == from) {
                return true;
            }
            node = prev;
        }
        false
    }
}

/// The elements that nodes come by, and behind them a packet that leaves the machine.
pub(super) fn elements(nodes: &[&Node], sent: Option<ChainElement>) -> Vec<ChainElement> {
    let of_node = |node: &&Node| {
        let callback = node.callback.map(|(_, callback)| callback);
        node.via.into_iter().chain([node.element]).chain(callback)
    };
    nodes.iter().flat_map(of_node).chain(sent).collect()
}
