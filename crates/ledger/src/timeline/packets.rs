//! Packets of this machine, from the thread that sends one to that which receives it.
//!
//! ```text
//! lo, veth        net_dev_queue ── netif_rx ──> softirq NET_RX: netif_receive_skb ── sched_waking of the reader
//! veth with NAPI  net_dev_queue ── sched_waking of napi/DEV-N ──> napi/DEV-N: netif_receive_skb ── sched_waking
//! ```
//!
//! A packet is known by its address, which is another packet's as soon as it is freed: what a device of hardware sends is
//! not followed.

use super::late_makers::LateId;
use super::names::{NameId, Names};
use super::per_cpu::PerCpu;
use rustc_hash::FxHashMap;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Packet, PacketStep};

/// Packets on their way that are remembered; what is beyond is damaged, or its end was not recorded.
const MOST_ON_THE_WAY: usize = 1 << 14;
/// Queues of devices with a thread of NAPI that are remembered.
const MOST_POLLERS: usize = 256;

/// A packet that its device hands to the receiving side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) skb: u64,
    pub(crate) since: Ns,
    pub(crate) by: Option<Tid>,
    pub(crate) cpu: Cpu,
    /// The device that it was sent to.
    pub(crate) dev: NameId,
    /// What sent it, where that came late itself.
    pub(crate) late: Option<LateId>,
    is_received: bool,
    /// Its device hands it to a thread of NAPI.
    polled: bool,
}

#[derive(Debug, Default)]
struct OnCpu {
    /// The packet that is sent there.
    sending: Option<Sent>,
    /// The packet that is received there, and by which thread.
    receiving: Option<(Sent, Tid)>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Packets {
    cpus: PerCpu<OnCpu>,
    on_the_way: FxHashMap<u64, Sent>,
    /// Devices of software, each with a thread of NAPI to which it hands packets: those of the device at its other end.
    pollers: Vec<(NameId, Tid)>,
}

impl Packets {
    /// The packet of this machine that is received on a CPU, with the thread that does it.
    pub(crate) fn receiving(&self, cpu: Cpu) -> Option<(Sent, Tid)> {
        self.cpus.get(cpu)?.receiving
    }

    /// The softirq in which packets are received begins or ends on a CPU.
    pub(crate) fn softirq(&mut self, cpu: Cpu) {
        if let Some(on) = self.cpus.get_mut(cpu) {
            on.receiving = None;
        }
    }

    /// A packet passes a point, in the context of the thread `by`, unless it is in an interrupt, and of what came `late`. Returns what is known
    /// of one that is handed over.
    pub(crate) fn passes(
        &mut self,
        (at, cpu): (Ns, Cpu),
        packet: &Packet,
        dev: NameId,
        tid: Tid,
        (by, late): (Option<Tid>, Option<LateId>),
    ) -> Option<Sent> {
        let skb = packet.skb;
        if packet.step == PacketStep::Copied {
            return self.on_the_way.remove(&skb);
        }
        // What is sent on in the softirq that receives it, as a bridge and a router do, is still of its sender.
        let forwarded = self.receiving(cpu).filter(|(sent, _)| by.is_none() && sent.skb == skb);
        let of = forwarded.map_or(by, |(sent, _)| sent.by);
        let sent = Sent { skb, since: at, by: of, cpu, dev, late, is_received: false, polled: false };
        match packet.step {
            PacketStep::Queued | PacketStep::Started => {
                let polled = self.pollers.iter().any(|(of, _)| *of == dev);
                let on = self.cpus.get_mut(cpu)?;
                if packet.step == PacketStep::Started && on.is_sending(skb).is_some() {
                    return None;
                }
                let sent = Sent { polled, ..sent };
                on.sending = Some(sent);
                return polled.then(|| self.is_on_its_way(sent));
            }
            PacketStep::Sent => {
                let on = self.cpus.get_mut(cpu)?;
                let sending = on.is_sending(skb).filter(|sending| sending.by == of);
                on.sending = on.sending.filter(|sending| sending.skb != skb);
                // A queueing discipline has kept it until now.
                if sending.is_none()
                    && let Some(sent) =
                        self.on_the_way.get_mut(&skb).filter(|sent| sent.polled && !sent.is_received)
                {
                    (sent.since, sent.late) = (at, None);
                }
            }
            PacketStep::Looped => {
                let sending = self.cpus.get_mut(cpu)?.sending.take().filter(|sending| sending.skb == skb);
                let sent = sending.map_or(sent, |Sent { since, by, .. }| Sent { since, by, ..sent });
                return Some(self.is_on_its_way(sent));
            }
            PacketStep::Received => {
                let known = self.received(cpu, skb, dev, by);
                self.cpus.get_mut(cpu)?.receiving = known.map(|sent| (sent, tid));
            }
            PacketStep::Copied => {}
        }
        None
    }

    /// The packet at this address is received from `dev`, by this thread; `None` for one of which the sending is not known.
    fn received(&mut self, cpu: Cpu, skb: u64, dev: NameId, by: Option<Tid>) -> Option<Sent> {
        let goes_on = self.receiving(cpu).is_some_and(|(sent, tid)| sent.skb == skb && Some(tid) == by);
        let sent = self.on_the_way.get_mut(&skb)?;
        let is_known = match sent.polled {
            // What such a device sends no other thread receives, and not from the device itself. A bridge receives it a
            // second time.
            true => {
                let of = by.map(|tid| (sent.dev, tid)).filter(|(from, _)| *from != dev);
                of.is_some_and(|of| self.pollers.contains(&of)) && (goes_on || !sent.is_received)
            }
            // It is another one at the same address.
            false => !sent.is_received,
        };
        if !is_known {
            self.on_the_way.remove(&skb);
            return None;
        }
        sent.is_received = true;
        Some(*sent)
    }

    fn is_on_its_way(&mut self, sent: Sent) -> Sent {
        if self.on_the_way.len() >= MOST_ON_THE_WAY {
            self.on_the_way.clear();
        }
        self.on_the_way.insert(sent.skb, sent);
        sent
    }

    /// The packet that the thread on a CPU began to send, and that leaves the machine: since when.
    pub(crate) fn sending(&self, cpu: Cpu, skb: u64) -> Option<(Ns, Option<Tid>)> {
        let sending = self.cpus.get(cpu)?.is_sending(skb).filter(|sending| !sending.polled)?;
        Some((sending.since, sending.by))
    }

    /// The thread `sender` wakes a thread of NAPI on this CPU. Where that is in the middle of sending a packet, the device
    /// hands its packets to that thread, as veth does, and no event shows which: returns the packet, if this is the first
    /// sign of that.
    pub(crate) fn hands_over(
        &mut self,
        cpu: Cpu,
        sender: Tid,
        (poller, comm): (Tid, Comm),
        names: &Names,
    ) -> Option<Sent> {
        let sending = self.cpus.get(cpu)?.sending.filter(|sending| sending.by == Some(sender))?;
        let dev = names.name(sending.dev);
        // A device may wake its own thread as well, to take back what it has sent.
        let is_its_own = comm.as_str().strip_prefix("napi/").and_then(|of| of.strip_prefix(dev.as_str()));
        if is_its_own.is_some_and(|rest| rest.starts_with('-')) || self.pollers.len() >= MOST_POLLERS {
            return None;
        }
        if !self.pollers.contains(&(sending.dev, poller)) {
            self.pollers.push((sending.dev, poller));
        }
        if sending.polled {
            return None;
        }
        let sent = Sent { polled: true, ..sending };
        self.cpus.get_mut(cpu)?.sending = Some(sent);
        Some(self.is_on_its_way(sent))
    }

    /// The thread on a CPU has ended a poll: what it does next is not for the packet that it received last.
    pub(crate) fn polled(&mut self, cpu: Cpu, tid: Tid) {
        if let Some(on) = self.cpus.get_mut(cpu) {
            on.receiving = on.receiving.filter(|(_, receiver)| *receiver != tid);
        }
    }

    /// Nothing is known any more of what a CPU was at.
    pub(crate) fn lose(&mut self, cpu: Cpu) {
        if let Some(on) = self.cpus.get_mut(cpu) {
            *on = OnCpu::default();
        }
        self.on_the_way.clear();
    }
}

impl OnCpu {
    fn is_sending(&self, skb: u64) -> Option<Sent> {
        self.sending.filter(|sending| sending.skb == skb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_events::Symbol;

    const CPU: Cpu = Cpu(0);

    #[derive(Default)]
    struct Network {
        names: Names,
        packets: Packets,
    }

    impl Network {
        /// A packet passes a point of this device, in this thread: since when it is known, and its sender.
        fn pass(
            &mut self,
            at: i64,
            skb: u64,
            dev: &str,
            step: PacketStep,
            tid: i32,
        ) -> Option<(i64, Option<Tid>)> {
            let packet = Packet { skb, len: 60, dev: dev.into(), step };
            let dev = self.names.id(Symbol::from(dev));
            let tid = Tid(tid);
            let sent = self.packets.passes((Ns(at), CPU), &packet, dev, tid, (Some(tid), None));
            sent.map(|sent| (sent.since.0, sent.by))
        }

        fn hands_over(&mut self, sender: i32, poller: i32, comm: &str) -> bool {
            self.packets.hands_over(CPU, Tid(sender), (Tid(poller), comm.into()), &self.names).is_some()
        }

        /// Since when the packet is known that is received.
        fn receiving(&self) -> Option<i64> {
            self.packets.receiving(CPU).map(|(sent, _)| sent.since.0)
        }
    }

    #[test]
    fn a_packet_is_known_from_its_sender_to_its_reader() {
        let mut network = Network::default();
        let mut pass = |at: i64, step, tid| (network.pass(at, 1, "lo", step, tid), network.receiving());
        let sent = Some((10, Some(Tid(7))));
        assert_eq!(pass(10, PacketStep::Queued, 7), (None, None));
        assert_eq!(pass(11, PacketStep::Started, 7), (None, None));
        assert_eq!(pass(12, PacketStep::Looped, 7), (sent, None));
        assert_eq!(pass(20, PacketStep::Received, 0), (None, Some(10)));
        assert_eq!(pass(30, PacketStep::Copied, 8).0, sent);
        // Another packet at the same address, which a device received.
        assert_eq!(pass(40, PacketStep::Received, 0), (None, None));
        assert_eq!(pass(50, PacketStep::Copied, 8).0, None);
    }

    #[test]
    fn a_packet_that_a_bridge_sends_on_is_of_the_thread_that_sent_it() {
        let mut network = Network::default();
        let mut pass = |at: i64, skb, dev: &str, step, by: Option<i32>| {
            let packet = Packet { skb, len: 60, dev: dev.into(), step };
            let dev = network.names.id(Symbol::from(dev));
            network
                .packets
                .passes((Ns(at), CPU), &packet, dev, Tid(7), (by.map(Tid), None))
                .and_then(|sent| sent.by)
        };
        pass(10, 1, "veth0", PacketStep::Queued, Some(7));
        assert_eq!(pass(11, 1, "veth1", PacketStep::Looped, Some(7)), Some(Tid(7)));
        // In the softirq.
        pass(20, 1, "veth1", PacketStep::Received, None);
        pass(21, 1, "veth2", PacketStep::Queued, None);
        assert_eq!(pass(22, 1, "eth0", PacketStep::Looped, None), Some(Tid(7)));
        // Another one is sent there, which is no answer to that.
        pass(30, 2, "veth2", PacketStep::Queued, None);
        assert_eq!(pass(31, 2, "eth0", PacketStep::Looped, None), None);
    }

    #[test]
    fn a_packet_at_the_address_of_one_that_was_dropped_is_another() {
        let mut network = Network::default();
        for step in [PacketStep::Started, PacketStep::Looped, PacketStep::Received, PacketStep::Received] {
            network.pass(10, 1, "lo", step, 7);
        }
        assert_eq!(network.receiving(), None);
        assert_eq!(network.pass(20, 1, "lo", PacketStep::Copied, 8), None);
    }

    /// A packet of the device v0, at whose other end this thread receives for v1.
    fn handed_over() -> Network {
        let mut network = Network::default();
        network.pass(10, 1, "v0", PacketStep::Queued, 7);
        assert!(network.hands_over(7, 20, "napi/v1-8193"));
        assert!(network.packets.sending(CPU, 1).is_none(), "it does not leave the machine");
        network.pass(12, 1, "v0", PacketStep::Sent, 7);
        network
    }

    #[test]
    fn a_packet_is_handed_to_the_thread_that_its_sender_wakes() {
        let mut network = handed_over();
        network.pass(20, 1, "v1", PacketStep::Received, 20);
        assert_eq!(network.receiving(), Some(10));
        // The bridge takes it.
        network.pass(21, 1, "br0", PacketStep::Received, 20);
        assert_eq!(network.receiving(), Some(10));
        // The thread is awake when the next ones come.
        assert_eq!(network.pass(30, 2, "v0", PacketStep::Queued, 8), Some((30, Some(Tid(8)))));
        assert_eq!(network.pass(31, 1, "v0", PacketStep::Queued, 9), Some((31, Some(Tid(9)))));
        network.pass(40, 2, "v1", PacketStep::Received, 20);
        assert_eq!(network.receiving(), Some(30));
        network.pass(41, 1, "v1", PacketStep::Received, 20);
        assert_eq!(network.receiving(), Some(31));
        network.packets.polled(CPU, Tid(20));
        assert_eq!(network.receiving(), None);
        // No event shows that one was sent at this address again.
        network.pass(50, 1, "v1", PacketStep::Received, 20);
        assert_eq!(network.receiving(), None);
    }

    #[test]
    fn a_packet_that_was_kept_in_a_queue_is_on_its_way_when_that_lets_it_go() {
        let mut network = handed_over();
        network.pass(30, 2, "v0", PacketStep::Queued, 7);
        network.pass(90, 2, "v0", PacketStep::Sent, 0);
        network.pass(95, 2, "v1", PacketStep::Received, 20);
        assert_eq!(network.receiving(), Some(90));
    }

    #[test]
    fn what_another_thread_of_napi_receives_at_that_address_is_another_packet() {
        for (tid, dev) in [(21, "eth0"), (20, "v0")] {
            let mut network = handed_over();
            network.pass(20, 1, dev, PacketStep::Received, tid);
            assert_eq!(network.receiving(), None, "{tid} {dev}");
        }
    }

    #[test]
    fn a_device_that_wakes_its_own_thread_hands_nothing_over() {
        for (sender, poller) in [(7, "napi/v0-8193"), (8, "napi/v1-8193")] {
            let mut network = Network::default();
            network.pass(10, 1, "v0", PacketStep::Queued, 7);
            assert!(!network.hands_over(sender, 20, poller), "{sender} {poller}");
            assert!(network.packets.sending(CPU, 1).is_some());
            network.pass(20, 1, "v1", PacketStep::Received, 20);
            assert_eq!(network.receiving(), None);
        }
        // It has sent already.
        let mut network = Network::default();
        network.pass(10, 1, "v0", PacketStep::Queued, 7);
        network.pass(11, 1, "v0", PacketStep::Sent, 7);
        assert!(!network.hands_over(7, 20, "napi/v1-8193"));
    }
}
