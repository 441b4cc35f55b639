//! Applies events, one by one in time order, to what is known of CPUs and threads.
//!
//! The engine holds the past only as far back as an activation in progress needs it.

mod context;
mod interrupts;
mod scheduling;
mod settings;
mod workings;

use crate::activations::Open;
use crate::bandwidth::{Bandwidth, Window};
use crate::clocks::TimerClocks;
use crate::cpus::{Cpus, Irqs};
use crate::options::Options;
use crate::quick_hash::QuickMap;
use crate::quota::QuotaTimers;
use crate::settle::MUCH;
use crate::sleeps::Syscalls;
use crate::threads::Threads;
use std::collections::{HashMap, VecDeque};
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_events::{Event, EventKind, KindSet, TraceInfo};

pub(crate) use settings::RtOverrun;

/// How far back beyond the oldest activation in progress: one period of RT bandwidth control.
const LOOK_BACK: Ns = Ns::from_secs(1);
/// Timers that are armed at the address of one that never fired replace it; the others are many only where
/// their ends were not recorded, and who armed one long ago may as well have been stopped.
const MANY_TIMERS: usize = 1 << 16;
const LONG_AGO: Ns = Ns::from_secs(60);
/// Events between two clean-ups.
const CLEAN_UP_EVERY: u64 = 1 << 16;

/// The kinds of events the ledger can use.
pub const WANTED: KindSet = KindSet::ALL;

/// Everything known at one instant of a trace.
pub(crate) struct Engine<'a> {
    pub(crate) options: &'a Options,
    pub(crate) cpus: Cpus,
    pub(crate) threads: Threads,
    pub(crate) irqs: Irqs,
    pub(crate) bandwidth: Bandwidth,
    /// Times real-time threads were passed over, all of the trace.
    pub(crate) windows: Vec<Window>,
    /// The window in progress of each CPU, by index into `windows`.
    pub(crate) open_windows: HashMap<u32, usize>,
    pub(crate) syscalls: Option<Syscalls>,
    /// The expiry of each armed timer, by address.
    timers: QuickMap<u64, ArmedTimer>,
    timer_clocks: TimerClocks,
    pub(crate) quota: QuotaTimers,
    pub(crate) rt_overruns: Vec<RtOverrun>,
    /// The CPUs among which the scheduler does not balance.
    pub(crate) isolated: CpuSet,
    /// True when trace time and the kernel's monotonic time are one.
    monotonic: bool,
    pub(crate) hypervisor: Option<bool>,
    /// Where events were lost: the CPU, from its last event, to its next.
    losses: VecDeque<(Cpu, Ns, Ns)>,
    /// Gaps in which only what threads do is unknown, not who ran: system calls and page faults.
    pub(crate) partial_losses: VecDeque<(Cpu, Ns, Ns)>,
    pub(crate) seen: KindSet,
    pub(crate) now: Ns,
    pub(crate) first: Option<Ns>,
    events: u64,
}

#[derive(Clone, Copy, Debug)]
struct ArmedTimer {
    softexpires: Ns,
    expires: Ns,
    /// When it was armed, on the trace clock.
    armed: Ns,
    /// The thread that armed it, where it was not an interrupt that did.
    by: Option<Tid>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(options: &'a Options, info: &TraceInfo) -> Engine<'a> {
        let kernel = info.kernel_release.as_deref().and_then(crate::bandwidth::version);
        Engine {
            options,
            cpus: Cpus::default(),
            threads: Threads::default(),
            irqs: Irqs::default(),
            bandwidth: Bandwidth { kernel, ..Bandwidth::default() },
            windows: Vec::new(),
            open_windows: HashMap::new(),
            syscalls: Syscalls::of(info.machine.as_deref()),
            timers: QuickMap::default(),
            timer_clocks: TimerClocks::default(),
            quota: QuotaTimers::default(),
            rt_overruns: Vec::new(),
            isolated: CpuSet::new(),
            monotonic: info.clock.as_deref() == Some("mono") && !info.time_shifted,
            hypervisor: None,
            losses: VecDeque::new(),
            partial_losses: VecDeque::new(),
            seen: KindSet::NONE,
            now: Ns(i64::MIN),
            first: None,
            events: 0,
        }
    }

    /// Takes in the next event.
    pub(crate) fn apply(&mut self, event: &Event) {
        let kind = event.kind.kind();
        // A merge is in order; a clock that steps back a little is not allowed to undo the past.
        let at = event.ts.max(self.now);
        self.now = at;
        self.first.get_or_insert(at);
        self.seen.insert(kind);
        self.events += 1;
        if self.events.is_multiple_of(CLEAN_UP_EVERY) {
            self.clean_up();
        }
        if let EventKind::Lost { since, kinds, .. } = event.kind {
            match since.filter(|&since| self.others_went_on(event.cpu, since, kinds)) {
                Some(since) => self.partly_lost(since, at, event.cpu),
                None => self.lost(at, event.cpu),
            }
            return;
        }
        if let EventKind::Exec { old, tid } = event.kind
            && old != tid
        {
            self.change_id(at, event.cpu, old, tid);
        }
        self.sight(at, event);
        match &event.kind {
            EventKind::Switch(switch) => self.switch(at, event.cpu, switch),
            EventKind::Waking(wake) => self.waking(at, event, wake),
            EventKind::Wakeup { wake, .. } => self.wakeup(at, event, wake),
            EventKind::Migrate { tid, to, .. } => self.migrate(at, *tid, *to),
            EventKind::Fork { parent, child, comm } => self.fork(*parent, *child, *comm),
            EventKind::Signal(signal) => self.signal(at, event, signal),
            EventKind::Exit { tid } => self.exit(at, *tid),
            EventKind::PiSetprio { tid, old, new } => self.inherit(event, *tid, *old, *new),
            EventKind::Marker(text) => self.fact(text.as_str()),
            EventKind::SyscallEnter(call) => self.syscall_enter(at, event, call),
            EventKind::SyscallExit(ret) => self.syscall_exit(at, event, ret),
            EventKind::PageFault(_) => self.page_fault(at, event),
            EventKind::ContentionBegin { lock, .. } => self.contention_begin(at, event, *lock),
            EventKind::ContentionEnd { .. } => self.contention_end(at, event),
            EventKind::IrqEntry { .. }
            | EventKind::IrqExit { .. }
            | EventKind::VectorEntry { .. }
            | EventKind::VectorExit { .. }
            | EventKind::SoftirqEntry { .. }
            | EventKind::SoftirqExit { .. } => self.interrupt(at, event),
            EventKind::HrtimerStart(start) => self.arm(at, event, start),
            // Taking an expired timer off its queue is traced as a cancel, too, in the interrupt.
            EventKind::HrtimerCancel { hrtimer } if !event.context.flags.in_interrupt() => {
                self.timers.remove(hrtimer);
            }
            EventKind::HrtimerExpire(expiry) => self.fire(at, event.cpu, expiry),
            EventKind::HrtimerExpireExit { .. } => {
                if let Some(cpu) = self.cpus.get_mut(event.cpu) {
                    cpu.exit_timer(at);
                }
            }
            EventKind::Exec { .. }
            | EventKind::SoftirqRaise { .. }
            | EventKind::HrtimerCancel { .. }
            | EventKind::TimerExpire { .. }
            | EventKind::TimerExpireExit { .. }
            | EventKind::CpuIdle { .. }
            | EventKind::Nmi { .. }
            | EventKind::Function { .. }
            | EventKind::FunctionEntry { .. }
            | EventKind::FunctionExit { .. }
            | EventKind::StackFrame { .. }
            | EventKind::Timerlat(_)
            | EventKind::Noise(_)
            | EventKind::OsnoiseSample(_)
            | EventKind::Hwlat { .. }
            | EventKind::Lost { .. }
            | EventKind::Other => {}
        }
    }

    /// True when events were lost in some of `from..to`, on `cpu` or, without one, on any.
    pub(crate) fn lost_between(&self, cpu: Option<Cpu>, from: Ns, to: Ns) -> bool {
        let recent = self.losses.iter().rev().take_while(|loss| loss.2 > from);
        let mut there = recent.filter(|loss| loss.1 < to);
        there.any(|loss| cpu.is_none_or(|cpu| cpu == loss.0))
    }

    /// Forgets what no activation in progress can need.
    fn clean_up(&mut self) {
        let of_cpus: usize = self.cpus.iter().map(|(_, cpu)| cpu.held()).sum();
        let of_threads: usize = self.threads.iter().map(|thread| thread.history.len()).sum();
        if of_cpus + of_threads + self.partial_losses.len() > MUCH {
            self.settle(self.now - LOOK_BACK);
        }
        let oldest = self
            .threads
            .iter()
            .filter(|thread| self.options.selects(thread))
            .filter_map(|thread| thread.open.as_ref())
            .map(Open::settled_until)
            .min();
        let horizon = oldest.unwrap_or(self.now).min(self.now) - LOOK_BACK;
        while self.losses.front().is_some_and(|loss| loss.2 < horizon) {
            self.losses.pop_front();
        }
        while self.partial_losses.front().is_some_and(|loss| loss.2 < horizon) {
            self.partial_losses.pop_front();
        }
        self.quota.forget(horizon);
        self.cpus.iter_mut().for_each(|cpu| cpu.forget(horizon));
        self.threads.iter_mut().for_each(|thread| thread.forget(horizon));
        self.threads.forget_ended(horizon);
        if self.timers.len() > MANY_TIMERS {
            self.timers.retain(|_, timer| timer.armed >= horizon - LONG_AGO);
        }
    }
}
