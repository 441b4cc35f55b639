//! Why two machines' recordings were not joined.

use std::path::PathBuf;
use whylate_base::Ns;
use whylate_intake::OpenError;

/// Why two machines' recordings were not joined. A wrong join would accuse threads that delayed nothing.
#[derive(Debug, thiserror::Error)]
pub enum PeerJoinError {
    /// A recording cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// One file was given twice.
    #[error("{path} is the explained recording as well: give that of the other machine with --peer")]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// Both are of one machine.
    #[error(
        "{path} has the packets that the explained recording sent as sent by itself: it is a copy, or of the same machine; give \
         that of the other machine with --peer"
    )]
    SameMachine {
        /// The recording that was given as the other machine's.
        path: PathBuf,
    },
    /// Its clock cannot be joined.
    #[error(
        "{path} was recorded with the trace clock `{clock}`, which shows no common time of all CPUs: record both machines with \
         mono (`whylate record` does; trace-cmd record -C mono)"
    )]
    Clock {
        /// The recording.
        path: PathBuf,
        /// Its clock.
        clock: String,
    },
    /// Packets were not recorded.
    #[error(
        "{path} has no events of packets that are {what}: record {events} on both machines (`whylate record` does so by default)"
    )]
    NoPackets {
        /// The recording.
        path: PathBuf,
        /// `sent` or `received`.
        what: &'static str,
        /// What to record.
        events: &'static str,
    },
    /// The clocks do not join.
    #[error("cannot join the clocks of {path} and of the explained recording: {why}")]
    Join {
        /// The other recording.
        path: PathBuf,
        /// Why not.
        why: PacketJoinError,
    },
    /// Packets may be missing in the middle, and packets are known by their order alone.
    #[error(
        "{path} and the explained recording cannot be joined: {lost} events were lost, packets perhaps among them: record with a \
         larger --buffer"
    )]
    Lost {
        /// The other recording.
        path: PathBuf,
        /// How many both lost.
        lost: u64,
    },
}

/// Why two clocks were not joined by packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketJoinError {
    /// Too few packets of one length.
    #[error(
        "only {packets} packets {way} have a length that both machines saw, and {needed} are needed in each direction: record \
         both at the same time, while they exchange packets"
    )]
    TooFew {
        /// `to the peer` or `from the peer`.
        way: &'static str,
        /// How many there are.
        packets: usize,
        /// How many are needed.
        needed: usize,
    },
    /// No offset and drift agree with the packets.
    #[error(
        "whatever the offset, some packet arrives before it was sent: the recordings are of different times or machines, packets \
         or events were lost, or a clock was set"
    )]
    NoOffset,
    /// Several do.
    #[error(
        "several offsets agree with the packets, up to {apart} apart: the traffic is only a rhythm; record both for longer, or with \
         irregular packets in both directions"
    )]
    Ambiguous {
        /// Between the least and the most.
        apart: Ns,
    },
    /// The error is too large.
    #[error(
        "the offset is certain within {error} only, and {most} is the most for a charge: the network is too slow or too uneven"
    )]
    TooWide {
        /// The error that is left.
        error: Ns,
        /// The largest that is accepted.
        most: Ns,
    },
}
