//! A recording explained with that of another machine, with which it exchanged packets.
//!
//! ```text
//! own.dat  ─┐
//!           ├> packets: sent and received, by device and length ─> join (polygon): offset, drift, error, or a refusal
//! peer.dat ─┘                                                                   │
//! both     ─> history: the ledgers of the threads that sent and answered ───────┴─> trips, ways: round trips, hop by hop
//!                                                                                └─> chains: across both machines
//! ```

mod chains;
mod error;
mod history;
mod join;
mod lined_up;
mod packets;
mod polygon;
mod trips;
mod ways;

pub use error::{PacketJoinError, PeerJoinError};
pub use lined_up::{LinedUp, TripPart, line_up};

use chains::TripChains;
use history::History;
use packets::{Packets, are_same, common};
use std::path::Path;
use trips::Trip;
use ways::{Both, Way};
use whylate_base::Ns;
use whylate_events::{Kind, KindSet, TraceInfo};
use whylate_ledger::{ChainOptions, Explanation, PeerRecording, add_peer, add_peer_chains};

/// What the recordings are read for first.
const OF_PACKETS: KindSet = KindSet::of(&[Kind::Packet, Kind::Lost]);

/// What is asked about both machines.
#[derive(Clone, Debug)]
pub struct PeerQuestion {
    /// How many round trips are kept: the longest, as many with the longest part of the peer, and as many that took longest from where
    /// the sender was due.
    pub most: usize,
    /// Chains across both machines; `None`: no chains.
    pub chains: Option<ChainOptions>,
}

impl Default for PeerQuestion {
    fn default() -> PeerQuestion {
        PeerQuestion { most: 5, chains: None }
    }
}

/// Adds what another machine did to the explanation of the recording `own`: by its recording `peer` of the same time. The
/// clocks are joined by the packets that went from the one to the other.
///
/// # Errors
/// [`PeerJoinError`]: a recording cannot be read, or the clocks do not join. The explanation is unchanged then.
pub fn join_peer(
    explanation: &mut Explanation,
    own: &Path,
    peer: &Path,
    asked: PeerQuestion,
) -> Result<(), PeerJoinError> {
    let Joined { join, trips, info } = Joined::of(own, peer)?;
    let (own_threads, peer_threads) = trips::threads(&trips);
    // Which round trips are the worst is known only from the activations of all; ledgers are kept of those alone.
    let own_history = History::read(own, &own_threads, &[])?;
    let peer_history = History::read(peer, &peer_threads, &[])?;
    let both = Both { own: &own_history, peer: &peer_history, join: &join };
    let ways: Vec<Way> = trips.iter().map(|trip| Way::of(trip, both)).collect();
    let worst = ways::worst(&ways, asked.most);
    let mut chains = asked.chains.map(|options| (options.deadline, TripChains::of(&ways, both, options)));
    let of_chains = chains.as_mut().map(|(_, chains)| chains.windows()).unwrap_or_default();
    let is_needed = |way: &&Way| of_chains.iter().any(|&(start, end)| way.at[0] < end && way.at[5] > start);
    let needed: Vec<&Way> = worst.iter().chain(ways.iter().filter(is_needed)).collect();
    let own_windows: Vec<(Ns, Ns)> = needed.iter().map(|way| (way.at[0], way.at[5])).collect();
    let peer_windows: Vec<(Ns, Ns)> = needed.iter().map(|way| way.peer_window()).collect();
    let own_history = History::read(own, &own_threads, &own_windows)?;
    let peer_history = History::read(peer, &peer_threads, &peer_windows)?;
    let both = Both { own: &own_history, peer: &peer_history, join: &join };
    let recording = PeerRecording {
        file: peer.display().to_string(),
        trace: info,
        join: join.summary(),
        round_trips: trips.len() as u64,
        times: trips::spread(&trips),
        worst: ways::explained(&ways, &worst, both),
    };
    if let Some((deadline, chains)) = chains {
        add_peer_chains(explanation, chains.finish(&ways, both), deadline);
    }
    add_peer(explanation, recording);
    Ok(())
}

/// Two recordings whose clocks are joined.
struct Joined {
    join: join::Join,
    trips: Vec<Trip>,
    /// The peer's.
    info: TraceInfo,
}

impl Joined {
    fn of(own: &Path, peer: &Path) -> Result<Joined, PeerJoinError> {
        if crate::is_same_file(own, peer) {
            return Err(PeerJoinError::SameFile { path: peer.to_owned() });
        }
        let ours = Packets::of(whylate_intake::open(own, OF_PACKETS)?);
        let theirs = Packets::of(whylate_intake::open(peer, OF_PACKETS)?);
        for (path, packets) in [(own, &ours), (peer, &theirs)] {
            check_clock(path, packets.info.clock.as_deref())?;
            let lacks = [
                (packets.sent.is_empty(), "sent", "net:net_dev_queue"),
                (packets.received.is_empty(), "received", "net:netif_receive_skb"),
            ];
            if let Some(&(_, what, events)) = lacks.iter().find(|(lacks, ..)| *lacks) {
                return Err(PeerJoinError::NoPackets { path: path.to_owned(), what, events });
            }
        }
        let (there, back) = (common(&ours, &theirs), common(&theirs, &ours));
        if are_same(there.0, back.0) {
            return Err(PeerJoinError::SameMachine { path: peer.to_owned() });
        }
        let lost = ours.info.lost_events + theirs.info.lost_events;
        if lost > 0 {
            return Err(PeerJoinError::Lost { path: peer.to_owned(), lost });
        }
        let join =
            join::join(there, back).map_err(|why| PeerJoinError::Join { path: peer.to_owned(), why })?;
        let trips = trips::trips(there, back, (join.there, join.back));
        Ok(Joined { join, trips, info: theirs.info })
    }
}

/// `local` differs from CPU to CPU, `counter` has no time, and `uptime` only ticks.
fn check_clock(path: &Path, clock: Option<&str>) -> Result<(), PeerJoinError> {
    match clock {
        Some(clock @ ("local" | "counter" | "uptime")) => {
            Err(PeerJoinError::Clock { path: path.to_owned(), clock: clock.to_owned() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cpus_do_not_share_is_refused() {
        let path = Path::new("slave.dat");
        for clock in [None, Some("mono"), Some("boot"), Some("x86-tsc")] {
            assert!(check_clock(path, clock).is_ok(), "{clock:?}");
        }
        let error = check_clock(path, Some("local")).expect_err("local").to_string();
        assert!(error.contains("slave.dat") && error.contains("-C mono"), "{error}");
    }
}
