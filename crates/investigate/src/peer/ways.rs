//! Where the time of round trips went: the worst of them, hop by hop.

use super::history::{Charges, History, Seen};
use super::join::Join;
use super::trips::Trip;
use std::cmp::Reverse;
use whylate_base::{Confidence, Ns};
use whylate_ledger::{Cause, PeerHop, PeerPlace, RoundTrip};

/// Both machines' ledgers of the threads that sent and answered.
#[derive(Clone, Copy)]
pub(super) struct Both<'h> {
    pub(super) own: &'h History,
    pub(super) peer: &'h History,
    pub(super) join: &'h Join,
}

impl Both<'_> {
    /// The activation in which a trip was sent, and that in which the answer was received.
    pub(super) fn of_own(&self, trip: &Trip) -> (Option<&Seen>, Option<&Seen>) {
        let last = self.own.at(trip.sent.tid, trip.received);
        (self.own.at(trip.sent.tid, trip.sent.at), last.filter(|seen| seen.due > trip.sent.at))
    }

    /// The activation of the peer in which it was answered.
    pub(super) fn of_peer(&self, trip: &Trip) -> Option<&Seen> {
        self.peer.at(trip.answered.tid, trip.answered.at)
    }
}

/// The borders of the five hops of a round trip, in this machine's time; and of the peer's in its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) trip: Trip,
    pub(super) at: [Ns; 6],
    pub(super) peer: (Ns, Ns),
}

impl Way {
    pub(super) fn of(trip: &Trip, both: Both<'_>) -> Way {
        let (sent, received) = (trip.sent.at, trip.received);
        let (first, _) = both.of_own(trip);
        let last = both.own.at(trip.sent.tid, received);
        let begin = first.map_or(sent, |seen| seen.due);
        let at_own = |at: Ns| both.join.to_own(at).clamp(sent, received);
        // A packet is at the peer when its interrupt is, where that is what the thread's activation began with.
        let at_peer = (both.of_peer(trip).map(|seen| seen.due))
            .filter(|&due| due <= trip.at_peer && both.join.to_own(due) >= sent)
            .unwrap_or(trip.at_peer);
        let answered = at_own(trip.answered.at);
        let arrived = last.map(|seen| seen.due).filter(|&due| due > sent);
        let arrived = arrived.map_or(received, |due| due.max(answered));
        let end = last.map_or(received, |seen| seen.end);
        let at = [begin, sent, at_own(at_peer).min(answered), answered, arrived, end];
        Way { trip: *trip, at, peer: (at_peer, trip.answered.at) }
    }

    /// From where the sender was due until it has done what the answer is for.
    pub(super) fn time(&self) -> Ns {
        self.at[5] - self.at[0]
    }

    /// Where the peer needs its ledger.
    pub(super) fn peer_window(&self) -> (Ns, Ns) {
        (self.peer.0.min(self.trip.at_peer), self.peer.1)
    }
}

/// The `most` longest ones, as many with the longest part of the peer, and as many that took longest from where the sender was due:
/// a late send makes no round trip longer. The longest first.
pub(super) fn worst(ways: &[Way], most: usize) -> Vec<Way> {
    let longest = |length: fn(&Way) -> Ns| {
        let mut all = ways.to_vec();
        all.sort_by_key(|way| (Reverse(length(way)), way.trip.sent.at));
        all.truncate(most);
        all
    };
    let mut worst = longest(|way| way.trip.time());
    worst.extend(longest(|way| way.peer.1 - way.peer.0));
    worst.extend(longest(Way::time));
    worst.sort_by_key(|way| (Reverse(way.trip.time()), way.trip.sent.at));
    // A packet is sent once.
    worst.dedup_by_key(|way| way.trip.sent.at);
    worst
}

/// These with their hops; `ways` are all.
pub(super) fn explained(ways: &[Way], worst: &[Way], both: Both<'_>) -> Vec<RoundTrip> {
    let usually: [Ns; 5] = std::array::from_fn(|hop| {
        let mut all: Vec<Ns> = ways.iter().map(|way| way.at[hop + 1] - way.at[hop]).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    });
    worst.iter().map(|way| round_trip(way, usually, both)).collect()
}

fn round_trip(way: &Way, usually: [Ns; 5], both: Both<'_>) -> RoundTrip {
    const PLACES: [PeerPlace; 5] =
        [PeerPlace::Own, PeerPlace::Network, PeerPlace::Peer, PeerPlace::Network, PeerPlace::Own];
    let trip = &way.trip;
    let unknown = |time: Ns| {
        let charge = (time > Ns::ZERO).then_some((Cause::Unexplained, None, time));
        (Charges::from_iter(charge), Confidence::Low)
    };
    let hops = PLACES.into_iter().enumerate().map(|(hop, place)| {
        let (start, end) = (way.at[hop], way.at[hop + 1]);
        let (thread, (charges, confidence)) = match (place, hop) {
            (PeerPlace::Network, _) => (None, (Charges::new(), Confidence::High)),
            (PeerPlace::Peer, _) => {
                let charges = both.of_peer(trip).map(|seen| both.peer.charges(seen, way.peer.0, way.peer.1));
                let thread = both.peer.thread(trip.answered.tid, trip.answered.at);
                (Some(thread), charges.unwrap_or_else(|| unknown(end - start)))
            }
            (PeerPlace::Own, hop) => {
                let (tid, at) = (trip.sent.tid, if hop == 0 { trip.sent.at } else { trip.received });
                let charges = both.own.at(tid, at).map(|seen| both.own.charges(seen, start, end));
                (Some(both.own.thread(tid, at)), charges.unwrap_or_else(|| unknown(end - start)))
            }
        };
        PeerHop { place, thread, start, end, usually: usually[hop], charges, confidence }
    });
    RoundTrip {
        thread: both.own.thread(trip.sent.tid, trip.sent.at),
        sent: trip.sent.at,
        received: trip.received,
        hops: hops.collect(),
    }
}
