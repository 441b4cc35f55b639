//! Two machines in one time base, for exports.

use super::history::History;
use super::join::Join;
use super::ways::{Both, Way};
use super::{Joined, PeerJoinError};
use std::path::Path;
use whylate_base::{Comm, Ns, Tid};
use whylate_ledger::WANTED;

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
    let read = |file: &Path, threads| {
        Ok::<_, PeerJoinError>(History::of(whylate_intake::open(file, WANTED)?, threads, &[]))
    };
    let (own_history, peer_history) = (read(own, &own_threads)?, read(peer, &peer_threads)?);
    let both = Both { own: &own_history, peer: &peer_history, join: &join };
    let comm = |history: &History, tid: Tid, at: Ns| {
        (tid, history.at(tid, at).map(|seen| seen.comm).unwrap_or_default())
    };
    let parts = trips.iter().map(|trip| {
        let [begin, sent, at_peer, answered, arrived, end] = Way::of(trip, both).at;
        let own = |at: Ns| comm(both.own, trip.sent.tid, at);
        [
            TripPart { start: begin, end: sent, thread: own(trip.sent.at) },
            TripPart {
                start: at_peer,
                end: answered,
                thread: comm(both.peer, trip.answered.tid, trip.answered.at),
            },
            TripPart { start: arrived, end: end.max(arrived), thread: own(trip.received) },
        ]
    });
    let trips = parts.collect();
    Ok(LinedUp { join, trips })
}
