//! Chains of threads on the wire.

use super::actors::{By, Spread, by, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_ledger as ledger;

/// A path from a timer, an interrupt or a packet from thread to thread, that the trace shows again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chain {
    /// What it comes by: `timer`, `irq:NAME`, `softirq:NAME`, `net:DEVICE`, `work:FUNCTION`, `callback:NAME`, or a thread's name;
    /// with its id where two threads of the path have the same.
    pub path: Vec<String>,
    /// The choice (`--chain`) that it answers; null where it was found.
    pub chosen: Option<String>,
    /// The latency of the worst instance, from its beginning to its end.
    pub latency_ns: i64,
    /// The hops of the worst instance; they tile it.
    pub hops: Vec<Hop>,
    /// How many instances were seen from beginning to end.
    pub count: u64,
    /// The usual time from one beginning to the next; null where there is none.
    pub period_ns: Option<i64>,
    /// The latencies of all instances.
    pub latencies_ns: Spread,
    /// How many instances were longer than `--chain-deadline`.
    pub late: u64,
    /// The worst instances, worst first; the first is that of `hops`.
    pub worst: Vec<ChainInstance>,
}

/// One time that a path was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChainInstance {
    /// When it began: the timer was due, the interrupt came, the packet was sent, or the first thread was woken.
    pub start_ns: i64,
    /// To the end of its last thread, or to where its packet was sent.
    pub latency_ns: i64,
    /// They tile it.
    pub hops: Vec<Hop>,
    /// What made it late; null where no hop took much longer than usual.
    pub verdict: Option<ChainVerdict>,
}

/// From one element of a path to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// The element that it begins at.
    pub from: String,
    /// The element that it ends at; `done` where the last thread was done.
    pub to: String,
    /// How `from` lets `to` go on: `timer`, `irq`, `softirq`, `packet`, `work`, `futex`, `write` (a pipe, an eventfd),
    /// `send` (a socket), `signal`, `network` (to another machine), `wake` (another call, or one that was not recorded), or `done`.
    pub kind: String,
    /// Its length.
    pub ns: i64,
    /// Its length may be off by this, as it begins by the clock of one machine and ends by another's; 0 on one machine.
    #[serde(default)]
    pub error_ns: i64,
    /// Where it begins.
    pub start_ns: i64,
    /// The median of this hop over all instances.
    pub usual_ns: i64,
    /// The thread that it is the time of.
    pub tid: i32,
    /// What it is charged to, most first; the times add up to `ns`.
    pub charges: Vec<HopCharge>,
}

/// A part of a hop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HopCharge {
    /// The cause's code.
    pub cause: String,
    /// The culprit, where there is one.
    pub by: Option<By>,
    /// The time.
    pub ns: i64,
}

/// What made one instance late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChainVerdict {
    /// The hop, by index.
    pub hop: usize,
    /// How much longer than usual it took.
    pub excess_ns: i64,
    /// The cause's code.
    pub cause: String,
    /// The culprit, where there is one.
    pub by: Option<By>,
    /// The time charged to cause and culprit.
    pub charged_ns: i64,
    /// One sentence.
    pub why: String,
}

pub(super) fn chain(chain: &ledger::Chain) -> Chain {
    let worst: Vec<ChainInstance> = chain.worst.iter().map(|one| instance(chain, one)).collect();
    let first = worst.first();
    Chain {
        path: chain.names(),
        chosen: chain.chosen.clone(),
        latency_ns: first.map_or(0, |first| first.latency_ns),
        hops: first.map(|first| first.hops.clone()).unwrap_or_default(),
        count: chain.count,
        period_ns: chain.period.map(|period| period.0),
        latencies_ns: spread(chain.latency),
        late: chain.late,
        worst,
    }
}

fn instance(chain: &ledger::Chain, instance: &ledger::ChainInstance) -> ChainInstance {
    let usual = |index: usize| chain.usual.get(index).map_or(0, |usual| usual.0);
    ChainInstance {
        start_ns: instance.start.0,
        latency_ns: instance.latency().0,
        hops: instance.hops.iter().enumerate().map(|(index, one)| hop(one, usual(index))).collect(),
        verdict: instance.verdict.as_ref().map(|verdict| ChainVerdict {
            hop: verdict.hop,
            excess_ns: verdict.excess.0,
            cause: verdict.cause.code().to_owned(),
            by: verdict.by.map(by),
            charged_ns: verdict.charged.0,
            why: verdict.why.clone(),
        }),
    }
}

fn hop(hop: &ledger::Hop, usual_ns: i64) -> Hop {
    let charge = |(cause, culprit, time): (ledger::Cause, Option<ledger::Culprit>, whylate_base::Ns)| {
        HopCharge { cause: cause.code().to_owned(), by: culprit.map(by), ns: time.0 }
    };
    Hop {
        from: hop.from.clone(),
        to: hop.to.clone(),
        kind: hop.kind.to_owned(),
        ns: hop.length().0,
        error_ns: hop.error.0,
        start_ns: hop.start.0,
        usual_ns,
        tid: hop.thread.0.0,
        charges: hop.charges().into_iter().map(charge).collect(),
    }
}
