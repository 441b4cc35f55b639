//! A recording explained with that of another machine, with which it exchanged packets.
//!
//! ```text
//! own.dat  ─┐
//!           ├> packets: sent and received, by device and length ─> join (polygon): offset, drift, error, or a refusal
//! peer.dat ─┘                                                                   │
//! both     ─> history: the ledgers of the threads that sent and answered ───────┴─> trips: round trips, hop by hop
//! ```

mod error;
mod history;
mod join;
mod packets;
mod polygon;
mod trips;

pub use error::{PacketJoinError, PeerJoinError};

use history::History;
use packets::{Packets, common};
use std::path::Path;
use whylate_base::Ns;
use whylate_events::{Kind, KindSet};
use whylate_ledger::{Explanation, PeerRecording, WANTED, add_peer};

/// What the recordings are read for first.
const OF_PACKETS: KindSet = KindSet::of(&[Kind::Packet, Kind::Lost]);

/// Adds what another machine did to the explanation of the recording `own`: by its recording `peer` of the same time. The
/// clocks are joined by the packets that went from the one to the other.
///
/// # Errors
/// [`PeerJoinError`]: a recording cannot be read, or the clocks do not join. The explanation is unchanged then.
pub fn join_peer(explanation: &mut Explanation, own: &Path, peer: &Path) -> Result<(), PeerJoinError> {
    if crate::is_same_file(own, peer) {
        return Err(PeerJoinError::SameFile { path: peer.to_owned() });
    }
    let ours = Packets::of(whylate_intake::open(own, OF_PACKETS)?);
    let theirs = Packets::of(whylate_intake::open(peer, OF_PACKETS)?);
    for (path, packets) in [(own, &ours), (peer, &theirs)] {
        let lacks = [
            (packets.sent.is_empty(), "sent", "net:net_dev_queue"),
            (packets.received.is_empty(), "received", "net:netif_receive_skb"),
        ];
        if let Some(&(_, what, events)) = lacks.iter().find(|(lacks, ..)| *lacks) {
            return Err(PeerJoinError::NoPackets { path: path.to_owned(), what, events });
        }
    }
    let (there, back) = (common(&ours, &theirs), common(&theirs, &ours));
    let join = join::join(there, back).map_err(|why| PeerJoinError::Join { path: peer.to_owned(), why })?;
    let trips = trips::trips(there, back, (join.there, join.back));
    let worst = trips::worst(&trips);
    let (own_threads, peer_threads) = trips::threads(&trips);
    let own_windows: Vec<(Ns, Ns)> = worst.iter().map(|trip| (trip.sent.at, trip.received)).collect();
    let peer_windows: Vec<(Ns, Ns)> = worst.iter().map(|trip| (trip.at_peer, trip.answered.at)).collect();
    let own_history = History::of(whylate_intake::open(own, WANTED)?, &own_threads, &own_windows);
    let peer_history = History::of(whylate_intake::open(peer, WANTED)?, &peer_threads, &peer_windows);
    let recording = PeerRecording {
        file: peer.display().to_string(),
        trace: theirs.info.clone(),
        join: join.summary(),
        round_trips: trips.len() as u64,
        times: trips::spread(&trips),
        worst: trips::explained(&trips, &worst, &own_history, &peer_history, &join),
    };
    add_peer(explanation, recording);
    Ok(())
}
