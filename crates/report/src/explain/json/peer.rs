//! The side of another machine in JSON.

use super::actors::{By, by};
use super::confidence::{Confidence, confidence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_ledger as ledger;

/// A recording of another machine, joined by packets that both saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// The name of its file.
    pub file: String,
    /// The trace clock of its recording; null where the file does not name it.
    pub clock: Option<String>,
    /// Its kernel; null where the file does not name it.
    pub kernel_release: Option<String>,
    /// The peer's time less this machine's, in the middle of what both recordings cover.
    pub offset_ns: i64,
    /// How much faster the peer's clock is, in billionths.
    pub drift_ppb: i64,
    /// No instant is off by more than this.
    pub error_ns: i64,
    /// Packets to the peer that both saw.
    pub sent: u64,
    /// Packets from the peer that both saw.
    pub received: u64,
    /// Where the part of this recording begins that the peer's covers.
    pub start_ns: i64,
    /// Where it ends.
    pub end_ns: i64,
    /// How many packets were answered.
    pub round_trips: u64,
    /// The median round trip; null without one.
    pub round_trip_p50_ns: Option<i64>,
    /// The 99th percentile.
    pub round_trip_p99_ns: Option<i64>,
    /// The longest.
    pub round_trip_max_ns: Option<i64>,
    /// The longest round trips, those of which the peer has the longest part, and those that took longest from where the sender was
    /// due; the longest first.
    pub worst: Vec<RoundTrip>,
}

/// A packet and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrip {
    /// The thread that sent the packet.
    pub tid: i32,
    /// Its name.
    pub comm: String,
    /// When it did.
    pub sent_ns: i64,
    /// When the answer was received.
    pub received_ns: i64,
    /// The way, in time order and without gaps.
    pub hops: Vec<PeerHop>,
}

/// A part of a round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerHop {
    /// Where: `own` (a thread of this machine), `network`, `peer` (a thread of the peer).
    pub place: String,
    /// The thread; null of the network.
    pub tid: Option<i32>,
    /// Its name.
    pub comm: Option<String>,
    /// Where it begins, in this machine's time.
    pub start_ns: i64,
    /// Where it ends.
    pub end_ns: i64,
    /// What it usually takes.
    pub usually_ns: i64,
    /// What it is charged to, the most first; empty of the network.
    pub charges: Vec<PeerCharge>,
    /// How sure the first of them is.
    pub confidence: Confidence,
}

/// A part of a hop's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerCharge {
    /// The cause code, by the ledger of the hop's machine.
    pub cause: String,
    /// The culprit there; null where there is none.
    pub by: Option<By>,
    /// How long.
    pub ns: i64,
}

pub(super) fn peer(peer: &ledger::PeerRecording) -> Peer {
    let time = |of: fn(&ledger::Spread) -> whylate_base::Ns| peer.times.as_ref().map(|spread| of(spread).0);
    Peer {
        file: peer.file.clone(),
        clock: peer.trace.clock.clone(),
        kernel_release: peer.trace.kernel_release.clone(),
        offset_ns: peer.join.offset.0,
        drift_ppb: peer.join.drift_ppb,
        error_ns: peer.join.error.0,
        sent: peer.join.sent,
        received: peer.join.received,
        start_ns: peer.join.covered.0.0,
        end_ns: peer.join.covered.1.0,
        round_trips: peer.round_trips,
        round_trip_p50_ns: time(|spread| spread.p50),
        round_trip_p99_ns: time(|spread| spread.p99),
        round_trip_max_ns: time(|spread| spread.max),
        worst: peer.worst.iter().map(round_trip).collect(),
    }
}

fn round_trip(trip: &ledger::RoundTrip) -> RoundTrip {
    RoundTrip {
        tid: trip.thread.0.0,
        comm: trip.thread.1.to_string(),
        sent_ns: trip.sent.0,
        received_ns: trip.received.0,
        hops: trip.hops.iter().map(hop).collect(),
    }
}

fn hop(hop: &ledger::PeerHop) -> PeerHop {
    PeerHop {
        place: hop.place.name().to_owned(),
        tid: hop.thread.map(|(tid, _)| tid.0),
        comm: hop.thread.map(|(_, comm)| comm.to_string()),
        start_ns: hop.start.0,
        end_ns: hop.end.0,
        usually_ns: hop.usually.0,
        charges: (hop.charges.iter())
            .map(|&(cause, culprit, time)| PeerCharge {
                cause: cause.code().to_owned(),
                by: culprit.map(by),
                ns: time.0,
            })
            .collect(),
        confidence: confidence(hop.confidence),
    }
}
