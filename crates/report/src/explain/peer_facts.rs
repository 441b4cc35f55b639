//! The side of another machine in words, for every format of text.

use crate::explain::facts;
use crate::words;
use std::fmt::Write;
use whylate_base::Ns;
use whylate_ledger::{Explanation, PeerHop, PeerPlace, RoundTrip};

/// How the recording of another machine was joined, one sentence each; nothing where there is none.
pub(crate) fn joined(explanation: &Explanation) -> Vec<String> {
    let Some(peer) = &explanation.peer else { return Vec::new() };
    let join = &peer.join;
    let mut facts = vec![
        facts::of_other(&peer.file, &peer.trace),
        format!(
            "its clock is joined with this machine's within {}: none of {} packets to it and {} from it arrives before it was \
             sent ({})",
            join.error,
            words::count(join.sent),
            words::count(join.received),
            facts::clocks_apart(join.offset, join.drift_ppb)
        ),
    ];
    facts.extend(peer.times.as_ref().map(|times| {
        format!(
            "{} packets were answered; round trip: median {}, 99 % {}, worst {}",
            words::count(peer.round_trips),
            times.p50,
            times.p99,
            times.max
        )
    }));
    facts
}

/// When a round trip was, and which hop made it long.
pub(crate) fn round_trip(trip: &RoundTrip, error: Ns) -> String {
    let (tid, comm) = trip.thread;
    let mut text = format!(
        "worst: {} from {} s on, sent by {}",
        trip.time(),
        words::instant(trip.sent),
        words::thread(&comm, tid)
    );
    if let Some(hop) = trip.slowest(error) {
        // Writing to a string does not fail.
        let _ = write!(text, "; {} took {}, usually {}", place(hop), hop.time(), hop.usually);
    }
    text
}

/// `slave:120 on the peer`
pub(crate) fn place(hop: &PeerHop) -> String {
    let thread = hop.thread.map_or_else(|| "no thread".to_owned(), |(tid, comm)| words::thread(&comm, tid));
    match hop.place {
        PeerPlace::Own => thread,
        PeerPlace::Network => "the network".to_owned(),
        PeerPlace::Peer => format!("{thread} on the peer"),
    }
}

/// What a hop is charged to, the most first, as far as it is shown.
pub(crate) fn charges(hop: &PeerHop) -> impl Iterator<Item = String> {
    const SHOWN: usize = 3;
    hop.charges.iter().take(SHOWN).map(facts::charge)
}
