//! Where wake-ups began that are more than one step from their cause: the interrupt of a device, a packet that a thread
//! sent, a work item that was queued.
//!
//! ```text
//! irq 27 eth0 ──> softirq NET_RX raised ── ksoftirqd waits ──> packet ──> sched_waking
//! ^ origin                                                                ^ the thread is woken
//! ```
//!
//! Where several things may have been the beginning, the latest is taken: a thread is never due before what woke it can
//! have been there.

use super::irqs::IrqId;
use rustc_hash::{FxHashMap, FxHashSet};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Packet, PacketStep, Symbol, Work};

/// Softirqs in which devices and packets wake threads, by number (`include/linux/interrupt.h`): HI, NET_TX, NET_RX, BLOCK,
/// IRQ_POLL, TASKLET. The others serve timers, the scheduler and RCU.
pub(crate) const OF_DEVICES: [u32; 6] = [0, 2, 3, 4, 5, 6];
/// The function of the work item by which a flush waits (flush_work(), `kernel/workqueue.c`).
const BARRIER: &str = "wq_barrier_func";
/// NET_RX
pub(crate) const NET_RX: u32 = 3;
/// The softirq of RCU's callbacks.
pub(crate) const RCU: u32 = 9;
/// Packets and work items on their way that are remembered; what is beyond is damaged, or its end was not recorded.
const MOST_ON_THE_WAY: usize = 1 << 14;
/// Names that are remembered.
const MOST_NAMES: usize = 1 << 12;
/// See `MAX_CPUS` of the CPUs.
const MOST_CPUS: usize = 16 * 1024;
/// What began longer ago than this belongs to something else.
const LONGEST: Ns = Ns::from_secs(10);
const SOFTIRQS: usize = 10;

/// What a wake-up began with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) kind: OriginKind,
    /// When; the woken thread was due then.
    pub(crate) since: Ns,
    /// On which CPU.
    pub(crate) cpu: Cpu,
    /// The thread that sent the packet, queued the work item or raised the softirq.
    pub(crate) by: Option<Tid>,
    /// The thread that it was left to: of an interrupt, of softirqs, of a workqueue, of NAPI.
    pub(crate) carrier: Option<Tid>,
    /// The CPU on which it was done, and which woke the thread.
    pub(crate) done_on: Cpu,
}

/// See [`Origin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OriginKind {
    /// A device's interrupt.
    Irq(IrqId),
    /// A softirq that a thread or another softirq raised.
    Softirq(u32),
    /// A packet from this machine; on this device.
    Packet { skb: u64, dev: NameId },
    /// A work item with this function.
    Work { work: u64, function: NameId },
}

/// A name, by index into [`Origins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u16);

/// What raised a softirq.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raise {
    pub(crate) at: Ns,
    pub(crate) by: RaisedBy,
}

/// See [`Raise`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum RaisedBy {
    /// A device's interrupt, which began then.
    Irq(IrqId, Ns),
    Task(Tid),
    /// Another softirq, or what was not seen.
    Other,
}

/// A softirq that runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftirqRun {
    pub(crate) vec: u32,
    pub(crate) raise: Option<Raise>,
    pub(crate) cpu: Cpu,
}

/// A packet that its device hands to the receiving side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) skb: u64,
    pub(crate) since: Ns,
    pub(crate) by: Option<Tid>,
    pub(crate) cpu: Cpu,
    dev: NameId,
    is_received: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct OnCpu {
    raises: [Option<Raise>; SOFTIRQS],
    runs: [Option<SoftirqRun>; SOFTIRQS],
    /// The interrupt whose handler began there last, and when.
    handled: Option<(IrqId, Ns)>,
    /// The packet that a thread sends there: its address, since when, and the thread.
    sending: Option<(u64, Ns, Option<Tid>)>,
    /// The packet that is received there, and by which thread.
    receiving: Option<(Sent, Tid)>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Origins {
    cpus: Vec<OnCpu>,
    packets: FxHashMap<u64, Sent>,
    works: FxHashMap<u64, Origin>,
    running_works: FxHashMap<Tid, Origin>,
    /// Kworkers at the end of a flush.
    flushing: FxHashSet<Tid>,
    /// Softirqs in threads that were preempted there (PREEMPT_RT).
    preempted: FxHashMap<Tid, SoftirqRun>,
    /// When the handler of each interrupt last began, and on which CPU.
    handlers: FxHashMap<u16, (Ns, Cpu)>,
    names: Vec<Symbol>,
    name_ids: FxHashMap<Symbol, u16>,
}

impl Origins {
    fn on(&mut self, cpu: Cpu) -> Option<&mut OnCpu> {
        let index = cpu.index();
        if index >= MOST_CPUS {
            return None;
        }
        if index >= self.cpus.len() {
            self.cpus.resize(index + 1, OnCpu::default());
        }
        self.cpus.get_mut(index)
    }

    /// The name behind an id.
    pub(crate) fn name(&self, id: NameId) -> Symbol {
        self.names.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    /// All names of devices and functions that were seen.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.names.iter().copied()
    }

    pub(crate) fn name_id(&mut self, name: Symbol) -> NameId {
        let next = self.names.len();
        if next >= MOST_NAMES {
            return NameId(self.name_ids.get(&name).copied().unwrap_or(u16::MAX));
        }
        let id = *self.name_ids.entry(name).or_insert(next as u16);
        if usize::from(id) == next {
            self.names.push(name);
        }
        NameId(id)
    }

    /// A device's handler begins.
    pub(crate) fn handler(&mut self, id: IrqId, at: Ns, cpu: Cpu) {
        self.handlers.insert(id.index(), (at, cpu));
        if let Some(on) = self.on(cpu) {
            on.handled = Some((id, at));
        }
    }

    /// The interrupt whose handler began last on a CPU, and when.
    pub(crate) fn last_handled(&self, cpu: Cpu) -> Option<(IrqId, Ns)> {
        self.cpus.get(cpu.index())?.handled
    }

    /// When the handler of an interrupt last began, and where.
    pub(crate) fn last_handler(&self, id: IrqId) -> Option<(Ns, Cpu)> {
        self.handlers.get(&id.index()).copied()
    }

    /// A softirq is raised.
    pub(crate) fn raised(&mut self, cpu: Cpu, vec: u32, raise: Raise) {
        if let Some(slot) = self.on(cpu).and_then(|on| on.raises.get_mut(vec as usize)) {
            *slot = Some(raise);
        }
    }

    /// A softirq begins.
    pub(crate) fn softirq_begins(&mut self, cpu: Cpu, vec: u32) {
        let Some(on) = self.on(cpu) else { return };
        if let (Some(raise), Some(run)) = (on.raises.get_mut(vec as usize), on.runs.get_mut(vec as usize)) {
            *run = Some(SoftirqRun { vec, raise: raise.take(), cpu });
        }
        if vec == NET_RX {
            on.receiving = None;
        }
    }

    /// A softirq ends, with this thread below it.
    pub(crate) fn softirq_ends(&mut self, cpu: Cpu, vec: u32, tid: Tid) {
        if !self.preempted.is_empty() {
            self.preempted.remove(&tid);
        }
        if vec == NET_RX
            && let Some(on) = self.on(cpu)
        {
            on.receiving = None;
        }
    }

    /// A thread loses the CPU in the middle of a softirq, as it may with PREEMPT_RT.
    pub(crate) fn preempted(&mut self, cpu: Cpu, vec: u32, tid: Tid) {
        let run = self.on(cpu).and_then(|on| on.runs.get(vec as usize).copied().flatten());
        if let Some(run) = run.filter(|_| self.preempted.len() < MOST_ON_THE_WAY) {
            self.preempted.insert(tid, run);
        }
    }

    /// The softirq in which a thread was preempted, and goes on.
    pub(crate) fn softirq_of(&self, tid: Tid) -> Option<SoftirqRun> {
        match self.preempted.is_empty() {
            true => None,
            false => self.preempted.get(&tid).copied(),
        }
    }

    /// The softirq of this number that runs on a CPU.
    pub(crate) fn softirq_on(&self, cpu: Cpu, vec: u32) -> Option<SoftirqRun> {
        self.cpus.get(cpu.index())?.runs.get(vec as usize).copied().flatten()
    }

    /// The packet of this machine that is received on a CPU, with the thread that does it.
    pub(crate) fn receiving(&self, cpu: Cpu) -> Option<(Sent, Tid)> {
        self.cpus.get(cpu.index())?.receiving
    }

    /// A packet passes a point, in the context of the thread `by`, unless it is in an interrupt. Returns what is known
    /// of one that is handed over.
    pub(crate) fn packet(
        &mut self,
        at: Ns,
        cpu: Cpu,
        packet: &Packet,
        tid: Tid,
        by: Option<Tid>,
    ) -> Option<Sent> {
        let skb = packet.skb;
        match packet.step {
            PacketStep::Queued => self.on(cpu)?.sending = Some((skb, at, by)),
            PacketStep::Started => {
                let on = self.on(cpu)?;
                if on.sending.is_none_or(|(sending, ..)| sending != skb) {
                    on.sending = Some((skb, at, by));
                }
            }
            PacketStep::Sent => {}
            PacketStep::Looped => {
                let sending = self.on(cpu)?.sending.take();
                let (_, since, by) = sending.filter(|(sending, ..)| *sending == skb).unwrap_or((skb, at, by));
                let dev = self.name_id(Symbol::from(packet.dev.as_str()));
                if self.packets.len() >= MOST_ON_THE_WAY {
                    self.packets.clear();
                }
                let sent = Sent { skb, since, by, cpu, dev, is_received: false };
                self.packets.insert(skb, sent);
                return Some(sent);
            }
            PacketStep::Received => {
                let known = match self.packets.get_mut(&skb) {
                    // It is another one at the same address.
                    Some(sent) if sent.is_received => {
                        self.packets.remove(&skb);
                        None
                    }
                    Some(sent) => {
                        sent.is_received = true;
                        Some(*sent)
                    }
                    None => None,
                };
                self.on(cpu)?.receiving = known.map(|sent| (sent, tid));
            }
            PacketStep::Copied => return self.packets.remove(&skb),
        }
        None
    }

    /// The packet that the thread on a CPU began to send: since when.
    pub(crate) fn sending(&self, cpu: Cpu, skb: u64) -> Option<(Ns, Option<Tid>)> {
        let (sending, since, by) = self.cpus.get(cpu.index())?.sending?;
        (sending == skb).then_some((since, by))
    }

    /// A work item is queued.
    pub(crate) fn queued(&mut self, work: u64, origin: Origin) {
        if self.works.len() >= MOST_ON_THE_WAY {
            self.works.clear();
        }
        self.works.insert(work, origin);
    }

    /// A thread begins a work item.
    pub(crate) fn work_begins(&mut self, tid: Tid, work: &Work) {
        self.flushing.remove(&tid);
        if work.function.as_str().starts_with(BARRIER) && self.flushing.len() < MOST_ON_THE_WAY {
            self.flushing.insert(tid);
        }
        match self.works.remove(&work.work).filter(|_| self.running_works.len() < MOST_ON_THE_WAY) {
            Some(origin) => self.running_works.insert(tid, origin),
            None => self.running_works.remove(&tid),
        };
    }

    /// A thread has done a work item.
    pub(crate) fn work_ends(&mut self, tid: Tid) {
        self.flushing.remove(&tid);
        self.running_works.remove(&tid);
    }

    /// True of a kworker at the work item that lets those go on that wait for the one before it. It is queued without an event.
    pub(crate) fn ends_flush(&self, tid: Tid) -> bool {
        self.flushing.contains(&tid)
    }

    /// The work item that a thread is at.
    pub(crate) fn work_of(&self, tid: Tid) -> Option<Origin> {
        match self.running_works.is_empty() {
            true => None,
            false => self.running_works.get(&tid).copied(),
        }
    }

    /// Nothing is known any more of what a CPU was at.
    pub(crate) fn lose(&mut self, cpu: Cpu) {
        if let Some(on) = self.on(cpu) {
            *on = OnCpu::default();
        }
        self.preempted.clear();
        self.running_works.clear();
        self.flushing.clear();
        self.packets.clear();
        self.works.clear();
    }
}

impl Sent {
    /// The packet as the origin of what it wakes on `done_on`, in this thread if one was the carrier.
    pub(crate) fn origin(&self, carrier: Option<Tid>, done_on: Cpu) -> Origin {
        let Sent { skb, since, by, cpu, dev, .. } = *self;
        Origin { kind: OriginKind::Packet { skb, dev }, since, cpu, by, carrier, done_on }
    }

    /// The device.
    pub(crate) fn dev(&self) -> NameId {
        self.dev
    }
}

impl SoftirqRun {
    /// What raised it, as the origin of what it wakes; `None` where that was not seen, or is no matter of devices.
    pub(crate) fn origin(&self, carrier: Option<Tid>, done_on: Cpu) -> Option<Origin> {
        let SoftirqRun { vec, raise, cpu } = *self;
        let Raise { at, by } = raise.filter(|_| OF_DEVICES.contains(&vec))?;
        let (kind, since, by) = match by {
            RaisedBy::Irq(id, since) => (OriginKind::Irq(id), since, None),
            RaisedBy::Task(tid) => (OriginKind::Softirq(vec), at, Some(tid)),
            RaisedBy::Other => (OriginKind::Softirq(vec), at, None),
        };
        Some(Origin { kind, since, cpu, by, carrier, done_on })
    }
}

impl Origin {
    /// The origin of a wake-up at `at`, unless it lies too far back to be its cause.
    pub(crate) fn plausible(self, at: Ns) -> Option<Origin> {
        (self.since <= at && at - self.since <= LONGEST).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(skb: u64, step: PacketStep) -> Packet {
        Packet { skb, len: 60, dev: "lo".into(), step }
    }

    #[test]
    fn a_packet_is_known_from_its_sender_to_its_reader() {
        let mut origins = Origins::default();
        let (cpu, a, b) = (Cpu(0), Tid(7), Tid(8));
        let mut pass = |at: i64, skb, step, tid| {
            let sent = origins.packet(Ns(at), cpu, &packet(skb, step), tid, Some(tid));
            (sent.map(|sent| (sent.since.0, sent.by)), origins.receiving(cpu).map(|(sent, _)| sent.since.0))
        };
        assert_eq!(pass(10, 1, PacketStep::Queued, a), (None, None));
        assert_eq!(pass(11, 1, PacketStep::Started, a), (None, None));
        assert_eq!(pass(12, 1, PacketStep::Looped, a), (Some((10, Some(a))), None));
        assert_eq!(pass(20, 1, PacketStep::Received, Tid(0)), (None, Some(10)));
        assert_eq!(pass(30, 1, PacketStep::Copied, b).0, Some((10, Some(a))));
        // Another packet at the same address, which a device received.
        assert_eq!(pass(40, 1, PacketStep::Received, Tid(0)), (None, None));
        assert_eq!(pass(50, 1, PacketStep::Copied, b).0, None);
    }

    #[test]
    fn a_packet_at_the_address_of_one_that_was_dropped_is_another() {
        let mut origins = Origins::default();
        for step in [PacketStep::Started, PacketStep::Looped, PacketStep::Received, PacketStep::Received] {
            origins.packet(Ns(10), Cpu(0), &packet(1, step), Tid(7), Some(Tid(7)));
        }
        assert!(origins.receiving(Cpu(0)).is_none());
        assert!(origins.packet(Ns(20), Cpu(0), &packet(1, PacketStep::Copied), Tid(8), None).is_none());
    }

    #[test]
    fn a_softirq_has_what_raised_it_last_before_it_began() {
        let mut origins = Origins::default();
        let raise = |at| Raise { at: Ns(at), by: RaisedBy::Task(Tid(3)) };
        origins.raised(Cpu(1), NET_RX, raise(5));
        origins.raised(Cpu(1), NET_RX, raise(6));
        origins.softirq_begins(Cpu(1), NET_RX);
        origins.raised(Cpu(1), NET_RX, raise(9));
        let run = origins.softirq_on(Cpu(1), NET_RX).expect("it runs");
        let origin = run.origin(None, Cpu(1)).expect("an origin");
        assert_eq!((origin.since, origin.by), (Ns(6), Some(Tid(3))));
        // RCU is no matter of devices, and a number that no softirq has is none.
        origins.raised(Cpu(1), 9, raise(9));
        origins.softirq_begins(Cpu(1), 9);
        assert!(origins.softirq_on(Cpu(1), 9).and_then(|run| run.origin(None, Cpu(1))).is_none());
        origins.raised(Cpu(1), 900, raise(9));
        assert!(origins.softirq_on(Cpu(1), 900).is_none());
    }
}
