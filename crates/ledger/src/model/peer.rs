//! Another machine, whose recording was joined by packets that both saw.

use super::culprit::Culprit;
use super::segment::Spread;
use crate::causes::Cause;
use whylate_base::{Comm, Confidence, Ns, Tid};
use whylate_events::TraceInfo;

/// A recording of another machine, joined by packets that both saw.
#[derive(Clone, Debug)]
pub struct PeerRecording {
    /// The name of its file.
    pub file: String,
    /// What it is.
    pub trace: TraceInfo,
    /// How its clock was joined.
    pub join: PacketJoin,
    /// How many packets were answered by the peer.
    pub round_trips: u64,
    /// From a packet's send to the receipt of its answer, both by this machine's clock; `None` without an answer.
    pub times: Option<Spread>,
    /// The longest round trips, those of which the peer has the longest part, and those that took longest from where the sender was
    /// due; the longest first.
    pub worst: Vec<RoundTrip>,
}

/// The relation of two machines' clocks, by packets.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketJoin {
    /// The peer's time less this machine's, in the middle of what both recordings cover.
    pub offset: Ns,
    /// How much faster the peer's clock is, in billionths.
    pub drift_ppb: i64,
    /// No instant is off by more than this.
    pub error: Ns,
    /// Packets to the peer that both saw.
    pub sent: u64,
    /// Packets from it that both saw.
    pub received: u64,
    /// The part of this recording that the peer's covers, in this machine's time.
    pub covered: (Ns, Ns),
}

/// A packet, its answer, and what came before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTrip {
    /// The thread that sent the packet.
    pub thread: (Tid, Comm),
    /// When it did.
    pub sent: Ns,
    /// When the answer was received.
    pub received: Ns,
    /// The way, in time order and without gaps, in this machine's time.
    pub hops: Vec<PeerHop>,
}

impl RoundTrip {
    /// From the send to the receipt of the answer.
    pub fn time(&self) -> Ns {
        self.received.since(self.sent)
    }

    /// The hop that took most more than it usually does; `None` where it is not certain that it did: where `error`, that of
    /// the clocks, may have moved its ends so far.
    pub fn slowest(&self, error: Ns) -> Option<&PeerHop> {
        let slowest = self.hops.iter().max_by_key(|hop| hop.excess())?;
        let unsure = if slowest.place == PeerPlace::Own { Ns::ZERO } else { error + error };
        (slowest.excess() > unsure).then_some(slowest)
    }

    /// The machine of its slowest hop, and what most of the hop's excess is charged to; `None` as of [`RoundTrip::slowest`].
    pub fn verdict(&self, error: Ns) -> Option<TripVerdict> {
        let hop = self.slowest(error)?;
        let most = hop.charges.first().filter(|(.., time)| *time + *time >= hop.excess());
        Some(TripVerdict {
            place: hop.place,
            cause: most.map(|&(cause, ..)| cause),
            by: most.and_then(|&(_, by, _)| by),
            confidence: hop.confidence,
        })
    }
}

/// What made a round trip long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripVerdict {
    /// On which machine, or between both.
    pub place: PeerPlace,
    /// By the ledger of that machine; `None` of the network, or where no cause has half of the excess.
    pub cause: Option<Cause>,
    /// The culprit there, where there is one.
    pub by: Option<Culprit>,
    /// That of its hop.
    pub confidence: Confidence,
}

/// Where a packet and what it causes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerPlace {
    /// A thread of this machine.
    Own,
    /// Between both machines.
    Network,
    /// A thread of the peer.
    Peer,
}

impl PeerPlace {
    /// The stable name: `own`, `network`, `peer`.
    pub fn name(self) -> &'static str {
        match self {
            PeerPlace::Own => "own",
            PeerPlace::Network => "network",
            PeerPlace::Peer => "peer",
        }
    }
}

/// A part of a round trip.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerHop {
    /// Where.
    pub place: PeerPlace,
    /// The thread; `None` of the network.
    pub thread: Option<(Tid, Comm)>,
    /// Where it begins, in this machine's time.
    pub start: Ns,
    /// Where it ends.
    pub end: Ns,
    /// What it usually takes (the median of all round trips).
    pub usually: Ns,
    /// What it is charged to by the ledger of its machine, the most first; the sum is its length. Empty of the network.
    pub charges: Vec<(Cause, Option<Culprit>, Ns)>,
    /// How sure the first of them is; of the network it is high, as the clocks allow no error that would make it doubtful.
    pub confidence: Confidence,
}

impl PeerHop {
    /// Its length.
    pub fn time(&self) -> Ns {
        self.end.since(self.start)
    }

    /// What it took more than usual.
    pub fn excess(&self) -> Ns {
        (self.time() - self.usually).max(Ns::ZERO)
    }
}
