//! Devices, packets and work items: where the wake-ups that they cause began.

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::model::IrqKind;
use crate::model::culprit::irq_of_thread;
use crate::timeline::activations::{Begin, Errand, Open, WakeCause};
use crate::timeline::housekeeping::{handles_interrupts, polls_network};
use crate::timeline::irqs::IrqId;
use crate::timeline::item_runs::ItemRun;
use crate::timeline::links::{HandOff, Link};
use crate::timeline::origins::{NET_RX, Origin, OriginKind, Origins, Raise, RaisedBy};
use crate::timeline::packets::Sent;
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::waking::Waking;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{ContextFlags, Event, Kind, Packet, PacketStep, Symbol, Work, WorkStep};

/// So many threads may have asked each other, one for the next.
const MOST_ASKERS: usize = 4;

/// From the beginning of a handler to its end it is seldom longer: behind it, a wake-up without flags may be the thread's own.
const LONGEST_HANDLER: Ns = Ns::from_us(100);

impl Engine<'_> {
    /// The interrupt or softirq that is on top of a CPU, since when.
    fn interrupt_on(&self, cpu: Cpu) -> Option<(Running, Ns)> {
        self.timeline.cpus.get(cpu)?.interrupt().map(|frame| (frame.running, frame.start))
    }

    /// What of interrupts and softirqs makes the wake-up of a thread, since when.
    ///
    /// The kernel wakes the thread of an interrupt after the handler has returned, and after `irq_handler_exit`
    /// (`__handle_irq_event_percpu()`, `kernel/irq/handle.c`).
    pub(super) fn interrupt_that_wakes(&self, event: &Event, comm: Comm) -> Option<(Running, Ns)> {
        let on_top = self.interrupt_on(event.cpu);
        let handled = || {
            let flags = event.context.flags;
            // Without flags the handler that has just returned shows it.
            let unflagged = flags.contains(ContextFlags::IRQS_UNKNOWN) && !flags.in_interrupt();
            if !flags.contains(ContextFlags::HARDIRQ) && !unflagged {
                return None;
            }
            let (irq, _) = irq_of_thread(comm.as_str())?;
            let (id, since) = self.timeline.origins.last_handled(event.cpu)?;
            if unflagged && event.ts - since > LONGEST_HANDLER {
                return None;
            }
            (self.timeline.irqs.get(id).0 == Some(irq)).then_some((Running::Irq(id), since))
        };
        match on_top {
            // It came upon a softirq.
            Some((Running::Softirq(_), _)) => handled().or(on_top),
            Some(_) => on_top,
            None => handled(),
        }
    }

    /// What the current context shows of where a wake-up that it makes began; `None` where it began here.
    pub(super) fn origin(&self, at: Ns, event: &Event, interrupt: Option<(Running, Ns)>) -> Option<Origin> {
        let on = event.cpu;
        let tid = event.context.tid;
        let origin = match interrupt {
            Some((Running::Irq(id), since)) => self.device(id).then_some(Origin {
                kind: OriginKind::Irq(id),
                since,
                cpu: on,
                by: None,
                carrier: None,
                done_on: on,
                late: None,
            }),
            Some((Running::Softirq(vec), _)) => {
                let carrier = Some(tid).filter(|&tid| self.serves_devices(tid));
                match self.timeline.origins.packets.receiving(on).filter(|_| vec == NET_RX) {
                    Some((sent, _)) => Some(sent.origin(carrier, on)),
                    None => self.timeline.origins.softirq_on(on, vec)?.origin(carrier, on),
                }
            }
            Some(_) => None,
            None if tid.is_idle() || event.context.flags.in_interrupt() => None,
            None => self.origin_in_thread(on, tid),
        };
        origin?.plausible(at)
    }

    /// The same where no interrupt is on top of the thread.
    fn origin_in_thread(&self, on: Cpu, tid: Tid) -> Option<Origin> {
        let origins = &self.timeline.origins;
        if let Some((sent, receiver)) = origins.packets.receiving(on)
            && receiver == tid
        {
            return Some(sent.origin(Some(tid), on));
        }
        if let Some(run) = origins.softirq_of(tid) {
            return run.origin(Some(tid), on);
        }
        if let Some(work) = origins.work_of(tid) {
            return Some(Origin { carrier: Some(tid), done_on: on, ..work });
        }
        let thread = self.timeline.threads.get(tid).filter(|thread| thread.is_housekeeping())?;
        let (comm, open) = (thread.comm(), thread.open.as_ref()?);
        if polls_network(comm) {
            // What a later poll finds may have come since the poll before it.
            let origin = match open.origin.as_deref().filter(|_| !open.polled) {
                Some(origin) => *origin,
                None => self.waking_of_poller(open)?,
            };
            return Some(Origin { carrier: Some(tid), done_on: on, ..origin });
        }
        // The thread of an interrupt.
        let Begin::Woken(WakeCause::Irq(id)) = open.begin else { return None };
        if !handles_interrupts(comm.as_str()) {
            return None;
        }
        let (since, cpu) = origins.last_handler(id)?;
        let kind = OriginKind::Irq(id);
        Some(Origin { kind, since, cpu, by: None, carrier: Some(tid), done_on: on, late: None })
    }

    /// The waking of a thread of NAPI, which is for the first thread that it wakes, as far as is known: for what others were
    /// woken may have come later.
    fn waking_of_poller(&self, open: &Open) -> Option<Origin> {
        if open.polled || self.timeline.seen.contains(Kind::Packet) {
            return None;
        }
        let by = match open.begin {
            Begin::Woken(WakeCause::Thread(by)) if !self.serves_devices(by) => Some(by),
            Begin::Woken(WakeCause::Upon(_)) => None,
            _ => return None,
        };
        let cpu = open.cpu?;
        Some(Origin {
            kind: OriginKind::Poll,
            since: open.waking,
            cpu,
            by,
            carrier: None,
            done_on: cpu,
            late: None,
        })
    }

    /// A wake-up of `tid` begins: notes what it shows of the thread of NAPI that is woken, or that wakes.
    pub(super) fn note_napi(&mut self, event: &Event, tid: Tid, comm: Comm, waking: &Waking) {
        if polls_network(comm) {
            let sender = self.in_thread(event);
            let Origins { packets, names, .. } = &mut self.timeline.origins;
            let handed = sender.and_then(|by| packets.hands_over(event.cpu, by, (tid, comm), names));
            if let Some(sent) = handed {
                self.is_sent(&sent);
            }
        }
        if let Some(Origin { kind: OriginKind::Poll, carrier: Some(carrier), .. }) = waking.origin
            && !self.serves_devices(tid)
            && let Some(open) = &mut self.timeline.threads.get_mut(carrier).open
        {
            open.polled = true;
        }
    }

    /// A packet is on its way to a thread of this machine.
    fn is_sent(&mut self, sent: &Sent) {
        if let Some(by) = sent.by {
            self.link(|| Link::Sent { skb: sent.skb, at: sent.since, by, dev: sent.dev });
        }
    }

    fn device(&self, id: IrqId) -> bool {
        self.timeline.irqs.kind(id) == IrqKind::Device && self.timeline.irqs.get(id).0.is_some()
    }

    /// True of the kernel's threads in which softirqs run for others.
    fn serves_devices(&self, tid: Tid) -> bool {
        self.timeline.threads.get(tid).is_some_and(|thread| thread.is_housekeeping())
    }

    /// Notes of the thread that woke another one, directly or by a packet, that it let another one go on, which may run before it.
    /// Where it works for a third one itself, so does that thread.
    pub(super) fn note_call(&mut self, tid: Tid, waking: &Waking) {
        let Some(by) = waking.cause.waker().or_else(|| waking.origin?.by).filter(|by| *by != tid) else {
            return;
        };
        let caller = self.timeline.threads.get_mut(by);
        caller.crossings.wakes(waking.at, tid);
        if waking.prio.outranks(caller.priority())
            && let Some(open) = &mut caller.open
        {
            open.calls(tid);
        }
        let errand = caller.open.as_ref().and_then(|open| open.errand);
        let mut set_off = by;
        for _ in 0..MOST_ASKERS {
            let Some((asker, since)) = self.asker(set_off).filter(|(asker, _)| *asker != tid) else { break };
            if !self.is_called(asker, since, (tid, waking)) {
                break;
            }
            set_off = asker;
        }
        if let Some(Errand { of, since }) = errand.filter(|errand| errand.of != tid) {
            self.is_called(of, since, (tid, waking));
        }
    }

    /// The thread that set this one off, directly or by a packet, and when.
    fn asker(&self, tid: Tid) -> Option<(Tid, Ns)> {
        let open = self.timeline.threads.get(tid)?.open.as_ref()?;
        let Begin::Woken(cause) = open.begin else { return None };
        let by = cause.waker().or_else(|| open.origin.as_ref()?.by).filter(|by| *by != tid)?;
        Some((by, open.waking))
    }

    /// Notes that this thread is set to work by what the `asker` did at `since`; false if that was another activation.
    fn is_called(&mut self, asker: Tid, since: Ns, (tid, waking): (Tid, &Waking)) -> bool {
        let asker = self.timeline.threads.get_mut(asker);
        let runs_first = waking.prio.outranks(asker.priority());
        let Some(open) = asker.open.as_mut().filter(|open| open.due <= since) else { return false };
        if runs_first {
            open.calls(tid);
        }
        true
    }

    /// `softirq_raise`
    pub(super) fn softirq_raised(&mut self, at: Ns, event: &Event, vec: u32) {
        let by = match self.interrupt_on(event.cpu) {
            Some((Running::Irq(id), since)) if self.device(id) => RaisedBy::Irq(id, since),
            Some(_) => RaisedBy::Other,
            None if event.context.tid.is_idle() || event.context.flags.in_interrupt() => RaisedBy::Other,
            None => match self
                .origin_in_thread(event.cpu, event.context.tid)
                .map(|origin| (origin.kind, origin.since))
            {
                // The thread of an interrupt raises it.
                Some((OriginKind::Irq(id), since)) => RaisedBy::Irq(id, since),
                _ => RaisedBy::Task(event.context.tid),
            },
        };
        let late = self.set_off_by(at, event);
        self.timeline.origins.raised(event.cpu, vec, Raise { at, by, late });
        if !self.timeline.seen.contains(Kind::Switch) {
            self.timeline.pending.raised(at, event.cpu, vec);
        }
    }

    /// The current thread, where it is not in an interrupt.
    fn in_thread(&self, event: &Event) -> Option<Tid> {
        let tid = event.context.tid;
        let interrupted = self.timeline.cpus.get(event.cpu).is_some_and(|cpu| cpu.interrupt().is_some());
        Some(tid).filter(|tid| !interrupted && !tid.is_idle() && !event.context.flags.in_interrupt())
    }

    /// `napi_poll`: the poll of a device's queue ends.
    pub(super) fn polled(&mut self, event: &Event) {
        if let Some(tid) = self.in_thread(event)
            && let Some(open) = &mut self.timeline.threads.get_mut(tid).open
        {
            open.polled = true;
            self.timeline.origins.packets.polled(event.cpu, tid);
        }
    }

    /// A packet passes a point of the network stack.
    pub(super) fn packet(&mut self, at: Ns, event: &Event, packet: &Packet) {
        let in_thread = self.in_thread(event);
        if packet.step == PacketStep::Sent && self.timeline.links.is_some() {
            // What a software device hands over is `Looped` before, or goes to a thread of NAPI.
            if let Some((since, Some(by))) = self.timeline.origins.packets.sending(event.cpu, packet.skb) {
                let dev = self.timeline.origins.names.id(Symbol::from(packet.dev.as_str()));
                self.link(|| Link::Left { at: since, by, dev });
            }
        }
        let late = self.set_off_by(at, event);
        let known = self.timeline.origins.packet(at, event.cpu, packet, event.context.tid, in_thread, late);
        match (packet.step, known) {
            (PacketStep::Queued | PacketStep::Started | PacketStep::Looped, Some(sent)) => {
                self.is_sent(&sent)
            }
            (PacketStep::Copied, _) => {
                if let Some(tid) = in_thread {
                    self.link(|| Link::Read { skb: packet.skb, at, tid });
                }
            }
            _ => {}
        }
    }

    /// A work item is queued, begun or done.
    pub(super) fn work(&mut self, at: Ns, event: &Event, work: &Work) {
        let tid = event.context.tid;
        match work.step {
            WorkStep::Queued => {
                let by = self.in_thread(event);
                if let Some(worker) = by.filter(|_| !self.timeline.seen.contains(Kind::Switch)) {
                    self.timeline.recurring.queued(at, event.cpu, worker, (work.work, work.function));
                }
                let function = self.timeline.origins.names.id(work.function);
                let interrupt = self.interrupt_on(event.cpu);
                let origin = self.origin(at, event, interrupt);
                let (since, sender) =
                    (origin.map_or(at, |origin| origin.since), origin.and_then(|one| one.by));
                let kind = match origin.map(|origin| origin.kind) {
                    Some(kind @ OriginKind::Irq(_)) => kind,
                    _ => OriginKind::Work { work: work.work, function },
                };
                // Of another work item or a packet in between, it begins here.
                let since = if matches!(kind, OriginKind::Irq(_)) { since } else { at };
                // An item that queues itself goes on for its own sake.
                let late = if self.is_at(event, work.work) { None } else { self.set_off_by(at, event) };
                let origin = Origin {
                    kind,
                    since,
                    cpu: event.cpu,
                    by: by.or(sender),
                    carrier: None,
                    done_on: event.cpu,
                    late,
                };
                self.timeline.origins.queued(work.work, origin);
                if let Some(by) = by {
                    self.link(|| Link::Queued { work: work.work, at, by });
                }
            }
            WorkStep::Activated => {}
            WorkStep::Started => {
                self.timeline.origins.work_begins(tid, work);
                self.note_late_item(at, tid);
                self.begins_item(at, tid);
                let origins = &mut self.timeline.origins;
                let function = origins.names.id(work.function);
                let queued_by = origins.work_of(tid).and_then(|origin| origin.by);
                self.timeline.item_runs.begins(ItemRun {
                    kworker: tid,
                    from: at,
                    to: None,
                    function,
                    queued_by,
                });
            }
            WorkStep::Ended => {
                self.timeline.origins.work_ends(tid);
                self.timeline.item_runs.ends(at, tid);
            }
        }
    }

    /// A kworker begins a work item: perhaps of a thread that queued it in its call, and sleeps for a device.
    fn begins_item(&mut self, at: Ns, kworker: Tid) {
        let Some(Origin { by: Some(by), since: queued, kind: OriginKind::Work { .. }, .. }) =
            self.timeline.origins.work_of(kworker)
        else {
            return;
        };
        let thread = self.timeline.threads.get_mut(by);
        if let (State::Blocked { wait: Wait::Io, .. }, Some(since)) = (thread.state(), thread.since())
            && thread.crossings.inside_since.is_some_and(|inside| inside <= queued)
        {
            thread.slept_in.begins_item(since, (kworker, at));
        }
    }

    /// A thread begins a callback of its program.
    #[cold]
    pub(super) fn callback(&mut self, at: Ns, tid: Tid, name: Symbol) {
        if self.timeline.links.is_none() {
            return;
        }
        let name = self.timeline.origins.names.id(name);
        self.link(|| Link::Callback { tid, at, name });
    }

    /// Notes a step of a chain, where chains are asked for.
    #[inline]
    pub(super) fn link(&mut self, link: impl FnOnce() -> Link) {
        if let Some(links) = &mut self.timeline.links {
            links.push(link());
        }
    }

    /// By what the thread that wakes another lets it go on.
    pub(super) fn hand_off(&self, cause: WakeCause) -> HandOff {
        let Some(waker) = cause.waker().and_then(|tid| self.timeline.threads.get(tid)) else {
            return HandOff::Wake;
        };
        match SyscallTable::call_of(self.syscalls, waker) {
            Some((call, table)) => table.hand_off(call),
            None => HandOff::Wake,
        }
    }
}
