//! The packets that a machine sent and received, by device and length.

use std::collections::BTreeMap;
use whylate_base::{Ns, Tid};
use whylate_events::{EventKind, EventSource, PacketStep, TraceInfo};

/// More packets of one device and length are not read: hours of a cyclic master.
const MOST: usize = 1 << 22;
/// The device whose packets never leave the machine.
const LOOPBACK: &str = "lo";

/// Packets by device and length.
type Classes = BTreeMap<(String, u32), Vec<Packet>>;

/// A packet at the network stack's border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) at: Ns,
    /// The thread that was current: the sender, of a packet that a thread sends.
    pub(super) tid: Tid,
}

/// What a machine sent and received.
#[derive(Debug, Default)]
pub(super) struct Packets {
    pub(super) info: TraceInfo,
    /// Before the driver got them: `net_dev_start_xmit`, or `net_dev_queue` where that was not recorded. `net_dev_xmit` is
    /// later than the send: the other machine may have the packet by then.
    pub(super) sent: Classes,
    pub(super) received: Classes,
}

impl Packets {
    /// Reads all of a recording.
    pub(super) fn of(mut source: impl EventSource) -> Packets {
        let (mut queued, mut started, mut received) = (Classes::new(), Classes::new(), Classes::new());
        loop {
            let batch = source.next_batch();
            if batch.is_empty() {
                break;
            }
            for event in batch {
                let EventKind::Packet(packet) = event.kind else { continue };
                let classes = match packet.step {
                    PacketStep::Queued => &mut queued,
                    PacketStep::Started => &mut started,
                    PacketStep::Received => &mut received,
                    PacketStep::Sent | PacketStep::Looped | PacketStep::Copied => continue,
                };
                let device = packet.dev.as_str();
                if device == LOOPBACK {
                    continue;
                }
                let class = classes.entry((device.to_owned(), packet.len)).or_default();
                if class.len() < MOST {
                    class.push(Packet { at: event.ts, tid: event.context.tid });
                }
            }
        }
        let sent = if started.is_empty() { queued } else { started };
        Packets { info: source.info().clone(), sent, received }
    }
}

/// Whether two machines' sent packets are those of one: most have the same instant and thread in both.
pub(super) fn are_same(one: &[Packet], other: &[Packet]) -> bool {
    let both = one.iter().filter(|packet| {
        let at = other.partition_point(|there| there.at < packet.at);
        other.get(at).is_some_and(|there| there == *packet)
    });
    let both = both.count();
    both > 0 && both * 2 > one.len().min(other.len())
}

/// The most frequent packets of `sender` that `receiver` has as well, as both have them: of one device on each side and of one
/// length. The Ethernet header of 14 bytes is taken off before `netif_receive_skb` (`eth_type_trans`, net/ethernet/eth.c), and
/// a device fills up shorter frames to 60 bytes.
pub(super) fn common<'p>(sender: &'p Packets, receiver: &'p Packets) -> (&'p [Packet], &'p [Packet]) {
    const HEADER: u32 = 14;
    const SHORTEST: u32 = 60;
    let mut best: (&[Packet], &[Packet]) = (&[], &[]);
    for ((_, sent_len), sent) in &sender.sent {
        for ((_, received_len), received) in &receiver.received {
            let wire = received_len.saturating_add(HEADER);
            let fits = wire == *sent_len || (*sent_len < SHORTEST && wire == SHORTEST);
            let count = |pair: (&[Packet], &[Packet])| pair.0.len().min(pair.1.len());
            if fits && count((sent, received)) > count(best) {
                best = (sent, received);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_one_machine_share_their_packets() {
        let packets = |first: i64, tid: i32| -> Vec<Packet> {
            (first..first + 60).map(|cycle| Packet { at: Ns::from_ms(cycle), tid: Tid(tid) }).collect()
        };
        assert!(are_same(&packets(0, 7), &packets(0, 7)));
        // One began later.
        assert!(are_same(&packets(0, 7), &packets(20, 7)));
        assert!(!are_same(&packets(0, 7), &packets(0, 8)));
        assert!(!are_same(&packets(0, 7), &packets(100, 7)));
        assert!(!are_same(&[], &[]));
    }
}
