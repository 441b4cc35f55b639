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
use super::late_makers::{LateId, LateMaker, LateMakers};
use super::names::{NameId, Names};
use super::packets::{Packets, Sent};
use super::per_cpu::PerCpu;
use rustc_hash::{FxHashMap, FxHashSet};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Packet, Symbol, Work};

/// Softirqs in which devices and packets wake threads, by number (`include/linux/interrupt.h`): HI, NET_TX, NET_RX, BLOCK,
/// IRQ_POLL, TASKLET. The others serve timers, the scheduler and RCU.
pub(crate) const OF_DEVICES: [u32; 6] = [0, 2, 3, 4, 5, 6];
/// The function of the work item by which a flush waits (flush_work(), `kernel/workqueue.c`).
const BARRIER: &str = "wq_barrier_func";
/// The softirq of the timers that count ticks: timeouts.
pub(crate) const TIMER: u32 = 1;
/// NET_TX
pub(crate) const NET_TX: u32 = 2;
/// NET_RX
pub(crate) const NET_RX: u32 = 3;
/// The softirq of the timers that count nanoseconds, where their callbacks do not run in the interrupt.
pub(crate) const HRTIMER: u32 = 8;
/// The softirq of RCU's callbacks.
pub(crate) const RCU: u32 = 9;
/// Work items on their way that are remembered; what is beyond is damaged, or its end was not recorded.
const MOST_ON_THE_WAY: usize = 1 << 14;
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
    /// What made it what it is, and came late itself.
    pub(crate) late: Option<LateId>,
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
    /// The waking of a thread of NAPI, where no packets are recorded.
    Poll,
}

/// What raised a softirq.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raise {
    pub(crate) at: Ns,
    pub(crate) by: RaisedBy,
    pub(crate) late: Option<LateId>,
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

#[derive(Clone, Copy, Debug, Default)]
struct OnCpu {
    raises: [Option<Raise>; SOFTIRQS],
    runs: [Option<SoftirqRun>; SOFTIRQS],
    /// The interrupt whose handler began there last, and when.
    handled: Option<(IrqId, Ns)>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Origins {
    cpus: PerCpu<OnCpu>,
    pub(crate) packets: Packets,
    pub(crate) names: Names,
    works: FxHashMap<u64, Origin>,
    running_works: FxHashMap<Tid, Origin>,
    /// Kworkers at the end of a flush.
    flushing: FxHashSet<Tid>,
    /// Softirqs in threads that were preempted there (PREEMPT_RT).
    preempted: FxHashMap<Tid, SoftirqRun>,
    /// When the handler of each interrupt last began, and on which CPU.
    handlers: FxHashMap<u16, (Ns, Cpu)>,
    late_makers: LateMakers,
    /// When the last of those began that were late.
    last_late: Option<Ns>,
    /// Those of which a thread was woken: what others are woken for may have been made later.
    late_for_one: FxHashSet<(Tid, Ns)>,
}

impl Origins {
    /// A device's handler begins.
    pub(crate) fn handler(&mut self, id: IrqId, at: Ns, cpu: Cpu) {
        self.handlers.insert(id.index(), (at, cpu));
        if let Some(on) = self.cpus.get_mut(cpu) {
            on.handled = Some((id, at));
        }
    }

    /// The interrupt whose handler began last on a CPU, and when.
    pub(crate) fn last_handled(&self, cpu: Cpu) -> Option<(IrqId, Ns)> {
        self.cpus.get(cpu)?.handled
    }

    /// When the handler of an interrupt last began, and where.
    pub(crate) fn last_handler(&self, id: IrqId) -> Option<(Ns, Cpu)> {
        self.handlers.get(&id.index()).copied()
    }

    /// A softirq is raised.
    pub(crate) fn raised(&mut self, cpu: Cpu, vec: u32, raise: Raise) {
        if let Some(slot) = self.cpus.get_mut(cpu).and_then(|on| on.raises.get_mut(vec as usize)) {
            // Each tick raises it anew while it is pending, whatever has expired.
            *slot = slot.filter(|_| vec == TIMER).or(Some(raise));
        }
    }

    /// A softirq begins.
    pub(crate) fn softirq_begins(&mut self, cpu: Cpu, vec: u32) {
        let Some(on) = self.cpus.get_mut(cpu) else { return };
        if let (Some(raise), Some(run)) = (on.raises.get_mut(vec as usize), on.runs.get_mut(vec as usize)) {
            *run = Some(SoftirqRun { vec, raise: raise.take(), cpu });
        }
        if vec == NET_RX {
            self.packets.softirq(cpu);
        }
    }

    /// A softirq ends, with this thread below it.
    pub(crate) fn softirq_ends(&mut self, cpu: Cpu, vec: u32, tid: Tid) {
        if !self.preempted.is_empty() {
            self.preempted.remove(&tid);
        }
        if vec == NET_RX {
            self.packets.softirq(cpu);
        }
    }

    /// A thread loses the CPU in the middle of a softirq, as it may with PREEMPT_RT.
    pub(crate) fn preempted(&mut self, cpu: Cpu, vec: u32, tid: Tid) {
        let run = self.cpus.get_mut(cpu).and_then(|on| on.runs.get(vec as usize).copied().flatten());
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
        self.cpus.get(cpu)?.runs.get(vec as usize).copied().flatten()
    }

    /// A packet passes a point of the network stack; see [`Packets::passes`].
    pub(crate) fn packet(
        &mut self,
        at: Ns,
        cpu: Cpu,
        packet: &Packet,
        tid: Tid,
        by: Option<Tid>,
        late: Option<LateId>,
    ) -> Option<Sent> {
        let dev = self.names.id(Symbol::from(packet.dev.as_str()));
        self.packets.passes((at, cpu), packet, dev, tid, (by, late))
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

    /// The work item that a thread has just begun was late.
    pub(crate) fn work_was_late(&mut self, tid: Tid, late: LateMaker) {
        let id = self.sets_off(late);
        if let Some(work) = self.running_works.get_mut(&tid) {
            work.late = id;
        }
    }

    /// Something that was late makes something now.
    pub(crate) fn sets_off(&mut self, late: LateMaker) -> Option<LateId> {
        self.last_late = self.last_late.max(Some(late.begun));
        self.late_makers.add(late)
    }

    /// The one of that number.
    pub(crate) fn late_maker(&self, id: LateId) -> Option<LateMaker> {
        self.late_makers.get(id)
    }

    /// True where something that was late may have led to what happens at `at`.
    pub(crate) fn may_be_late(&self, at: Ns) -> bool {
        self.last_late.is_some_and(|last| at >= last && at - last <= LONGEST)
    }

    /// True of the first thread that is woken by what this one made.
    pub(crate) fn is_for_first(&mut self, late: &LateMaker) -> bool {
        if self.late_for_one.len() >= MOST_ON_THE_WAY {
            self.late_for_one.clear();
        }
        self.late_for_one.insert((late.carrier, late.since))
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

    /// The function of the work item that a thread is at.
    pub(crate) fn function_of(&self, tid: Tid) -> Option<Symbol> {
        match self.work_of(tid)?.kind {
            OriginKind::Work { function, .. } => Some(self.names.name(function)),
            _ => None,
        }
    }

    /// Nothing is known any more of what a CPU was at.
    pub(crate) fn lose(&mut self, cpu: Cpu) {
        if let Some(on) = self.cpus.get_mut(cpu) {
            *on = OnCpu::default();
        }
        self.preempted.clear();
        self.running_works.clear();
        self.flushing.clear();
        self.packets.lose(cpu);
        self.works.clear();
        self.last_late = None;
    }
}

impl Sent {
    /// The packet as the origin of what it wakes on `done_on`, in this thread if one was the carrier.
    pub(crate) fn origin(&self, carrier: Option<Tid>, done_on: Cpu) -> Origin {
        let Sent { skb, since, by, cpu, dev, late, .. } = *self;
        Origin { kind: OriginKind::Packet { skb, dev }, since, cpu, by, carrier, done_on, late }
    }
}

impl SoftirqRun {
    /// What raised it, as the origin of what it wakes; `None` where that was not seen, or is no matter of devices.
    pub(crate) fn origin(&self, carrier: Option<Tid>, done_on: Cpu) -> Option<Origin> {
        let SoftirqRun { vec, raise, cpu } = *self;
        // Timeouts end at their interrupt, unless a thread runs them later (PREEMPT_RT).
        let is_told = OF_DEVICES.contains(&vec) || vec == TIMER && carrier.is_some();
        let Raise { at, by, late } = raise.filter(|_| is_told)?;
        let (kind, since, by) = match by {
            RaisedBy::Irq(id, since) => (OriginKind::Irq(id), since, None),
            RaisedBy::Task(tid) => (OriginKind::Softirq(vec), at, Some(tid)),
            RaisedBy::Other => (OriginKind::Softirq(vec), at, None),
        };
        Some(Origin { kind, since, cpu, by, carrier, done_on, late })
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

    #[test]
    fn a_softirq_has_what_raised_it_last_before_it_began() {
        let mut origins = Origins::default();
        let raise = |at| Raise { at: Ns(at), by: RaisedBy::Task(Tid(3)), late: None };
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
