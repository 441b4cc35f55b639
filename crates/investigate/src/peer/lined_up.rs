//! Two machines in one time base, for exports.

use super::history::History;
use super::join::Join;
use super::ways::{Both, Way};
use super::{Joined, PeerJoinError};
use std::path::Path;
use whylate_base::{Comm, Ns, Tid};

/// Another machine's recording in this one's time, with the packets that went there and back.
#[derive(Debug)]
pub struct LinedUp {
    join: Join,
    /// Of each packet that was answered its sender's part, the peer's, and that of the thread that got the answer; in order.
    pub trips: Vec<[TripPart; 3]>,
}

/// A part of a round trip, in this machine's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripPart {
    /// Where it begins.
    pub start: Ns,
    /// Where it ends: the next packet is sent, or the thread sleeps.
    pub end: Ns,
    /// The thread, of its own machine.
    pub thread: (Tid, Comm),
}

impl LinedUp {
    /// This machine's time of an instant of the peer's.
    pub fn to_own(&self, peer: Ns) -> Ns {
        self.join.to_own(peer)
    }

    /// No instant is off by more than this.
    pub fn error(&self) -> Ns {
        self.join.error()
    }
}

/// Joins the clocks of two recordings.
///
/// # Errors
/// As of [`join_peer`](super::join_peer).
pub fn line_up(own: &Path, peer: &Path) -> Result<LinedUp, PeerJoinError> {
    let Joined { join, trips, .. } = Joined::of(own, peer)?;
    let (own_threads, peer_threads) = super::trips::threads(&trips);
    let own_history = History::read(own, &own_threads, &[])?;
    let peer_history = History::read(peer, &peer_threads, &[])?;
    let both = Both { own: &own_history, peer: &peer_history, join: &join };
    let parts = trips.iter().map(|trip| {
        let [begin, sent, at_peer, answered, arrived, end] = Way::of(trip, both).at;
        let own = |at: Ns| both.own.thread(trip.sent.tid, at);
        [
            TripPart { start: begin, end: sent, thread: own(trip.sent.at) },
            TripPart {
                start: at_peer,
                end: answered,
                thread: both.peer.thread(trip.answered.tid, trip.answered.at),
            },
            TripPart { start: arrived, end: end.max(arrived), thread: own(trip.received) },
        ]
    });
    let trips = parts.collect();
    Ok(LinedUp { join, trips })
}
