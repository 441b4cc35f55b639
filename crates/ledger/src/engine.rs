//! Applies events, one by one in time order, to the timeline.

mod answers;
mod context;
mod faults;
mod futexes;
mod inheritance;
mod interrupts;
mod late_makers;
mod late_producers;
mod lifetimes;
mod locks;
mod markers;
mod missing_rows;
mod origins;
mod passed_over;
mod past_instants;
mod prev_states;
mod scheduler_clock;
mod scheduling;
mod settings;
mod slept_through;
mod state;
mod stops;
mod syscall_numbers;
mod syscall_table;
mod syscalls;
mod unseen_sleeps;
mod waits;
mod wakeups;

pub(crate) use state::{EndedActivation, Engine};

use whylate_base::Ns;
use whylate_events::{Event, EventKind, Kind, KindSet};

/// The kinds of events the ledger can use.
pub const WANTED: KindSet = KindSet::ALL;

/// What changes what the context of the event itself is to be compared with.
const BEFORE_CONTEXT: KindSet =
    KindSet::of(&[Kind::Lost, Kind::Exec, Kind::Nmi, Kind::Irq, Kind::Vector, Kind::HrtimerExpire]);

impl Engine<'_> {
    /// Takes in the next event, which is of that `kind`.
    #[inline(always)] // At each event, from one place.
    pub(crate) fn apply(&mut self, event: &Event, kind: Kind) {
        // A merge is in order; a clock that steps back a little is not allowed to undo the past.
        let at = event.ts.max(self.timeline.now);
        self.timeline.now = at;
        if self.timeline.first.is_none() {
            self.timeline.first = Some(at);
            self.begins(at);
        }
        self.timeline.seen.insert(kind);
        if BEFORE_CONTEXT.contains(kind) && self.apply_before_context(at, event) {
            return;
        }
        self.sight(at, event);
        match &event.kind {
            EventKind::Switch(switch) => self.switch(at, event, switch),
            EventKind::Waking(wake) => self.waking(at, event, wake),
            EventKind::Wakeup { wake, .. } => self.wakeup(at, event, wake),
            EventKind::Migrate { tid, from, to } => self.migrate(at, event, *tid, (*from, *to)),
            EventKind::Fork { parent, child, comm } => self.fork(at, *parent, *child, *comm),
            EventKind::Signal(signal) => {
                self.note_signal(at, signal);
                self.signal(at, event, signal);
                if stops::STOPS.contains(&signal.sig) {
                    self.stop_signal(event, signal);
                }
            }
            EventKind::Exit { tid } => self.exit(at, *tid),
            EventKind::PiSetprio { tid, old, new } => self.inherit(at, event, *tid, *old, *new),
            EventKind::BlockedReason(reason) => {
                self.timeline.threads.get_mut(reason.tid).slept_in.ended(at, *reason);
            }
            EventKind::Marker(text) => {
                self.fact(at, event.context.tid, text.as_str());
                self.marker(at, event, text);
            }
            EventKind::SyscallEnter(call) => self.syscall_enter(at, event, call),
            EventKind::SyscallExit(ret) => self.syscall_exit(at, event, ret),
            EventKind::PageFault(fault) => self.page_fault(at, event, fault),
            EventKind::ContentionBegin { flags, .. } => self.contention_begin(at, event, *flags),
            EventKind::ContentionEnd { .. } => self.contention_end(at, event),
            EventKind::IrqEntry { .. }
            | EventKind::IrqExit { .. }
            | EventKind::VectorEntry { .. }
            | EventKind::VectorExit { .. }
            | EventKind::SoftirqEntry { .. }
            | EventKind::SoftirqExit { .. } => self.interrupt(at, event),
            EventKind::SoftirqRaise { vec } => self.softirq_raised(at, event, *vec),
            EventKind::Packet(packet) => self.packet(at, event, packet),
            EventKind::Work(work) => self.work(at, event, work),
            EventKind::HrtimerStart(start) => self.arm(at, event, start),
            // Taking an expired timer off its queue is traced as a cancel, too, in the interrupt.
            EventKind::HrtimerCancel { hrtimer } if !event.context.flags.in_interrupt() => {
                self.cancel(at, event.cpu, *hrtimer);
            }
            EventKind::HrtimerExpire(expiry) => self.fire(at, event.cpu, expiry),
            EventKind::HrtimerExpireExit { .. } => {
                if let Some(cpu) = self.timeline.cpus.get_mut(event.cpu) {
                    cpu.exit_timer(at);
                }
            }
            EventKind::Function { name, .. } => self.idle_function(at, event, name.as_str()),
            EventKind::Exec { tid, .. } => {
                let thread = self.timeline.threads.get_mut(*tid);
                thread.has_executed = true;
                thread.locks_memory = false;
                if let Some(open) = &mut thread.open {
                    open.executes = true;
                }
                thread.lifetime.is_starting = true;
            }
            EventKind::NapiPoll { .. } => self.polled(event),
            EventKind::StackFrame { name } => self.sleeps_in(event, *name),
            EventKind::CpuCall(_)
            | EventKind::CpuFrequency { .. }
            | EventKind::Kvm(_)
            | EventKind::HrtimerCancel { .. }
            | EventKind::TimerExpire { .. }
            | EventKind::TimerExpireExit { .. }
            | EventKind::CpuIdle { .. }
            | EventKind::Nmi { .. }
            | EventKind::FunctionEntry { .. }
            | EventKind::FunctionExit { .. }
            | EventKind::Timerlat(_)
            | EventKind::Noise(_)
            | EventKind::OsnoiseSample(_)
            | EventKind::OsnoiseThreshold { .. }
            | EventKind::Preemptirq { .. }
            | EventKind::Hwlat { .. }
            | EventKind::Lost { .. }
            | EventKind::Other => {}
        }
    }

    /// Takes in what an event shows apart from its context; true of a loss, which has none.
    #[cold]
    fn apply_before_context(&mut self, at: Ns, event: &Event) -> bool {
        match event.kind {
            EventKind::Lost { since, kinds, count } => {
                self.count_loss(at, event.cpu, since, count);
                self.timeline.pending.lost();
                self.timeline.recurring.lost();
                match since.filter(|&since| self.others_went_on(event.cpu, since, kinds)) {
                    Some(since) => self.partly_lost(since, at, event.cpu),
                    None => self.lost(at, event.cpu, since, count.is_none()),
                }
                return true;
            }
            EventKind::Exec { old, tid } if old != tid => self.change_id(at, event.cpu, old, tid),
            EventKind::Nmi { delta } => self.nmi(at, event.cpu, delta),
            EventKind::HrtimerExpireExit { .. } => self.may_lack_callback(at, event.cpu),
            EventKind::IrqExit { .. } | EventKind::VectorExit { .. } => self.may_lack_entry(at, event.cpu),
            _ => {}
        }
        false
    }
}
