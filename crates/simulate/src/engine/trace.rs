//! The events that a tracer would record of the simulated machine.

use super::state::{Phase, Simulation, Source};
use crate::model::InterruptSource;
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, Fact, HrtimerExpiry, HrtimerStart, Marker, Switch, Syscall,
    SyscallReturn, TaskState, Wake,
};

/// The line of the first device.
pub(crate) const FIRST_IRQ: u32 = 16;

/// System calls, by the numbers of x86-64.
pub(super) mod calls {
    pub(crate) const READ: i64 = 0;
    pub(crate) const SCHED_SETSCHEDULER: i64 = 144;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const SCHED_SETAFFINITY: i64 = 203;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 230;
}

impl Simulation<'_> {
    /// Traces an event of a CPU at this instant.
    pub(super) fn emit(&mut self, cpu: usize, kind: EventKind) {
        if !self.trace.is_on {
            return;
        }
        let state = &self.cpus[cpu];
        let flags = match state.phase {
            Phase::Handler(Source::Softirq { .. }) => ContextFlags::SOFTIRQ,
            Phase::Handler(_) => ContextFlags::HARDIRQ | ContextFlags::IRQS_OFF,
            _ => match kind {
                EventKind::Switch(_) | EventKind::Waking(_) | EventKind::Wakeup { .. } => {
                    ContextFlags::IRQS_OFF
                }
                _ => ContextFlags::default(),
            },
        };
        let tid = state.current.map_or(Tid::IDLE, |thread| self.trace.tids[thread]);
        let context = Context { tid, flags, preempt_depth: None };
        self.trace.events.push(Event { ts: self.now, cpu: Cpu(cpu as u32), context, kind });
    }

    pub(super) fn emit_fact(&mut self, fact: &Fact) {
        if fact.fits() {
            self.emit(0, EventKind::Marker(Marker::from(fact.to_string().as_str())));
        }
    }

    pub(super) fn priority(&self, thread: usize) -> Priority {
        let thread = &self.threads[thread];
        thread.rank().priority(thread.scheduling.priority())
    }

    pub(super) fn emit_switch(&mut self, cpu: usize, prev_state: TaskState, next: Option<usize>) {
        if !self.trace.is_on {
            return;
        }
        let of = |thread: Option<usize>| match thread {
            Some(thread) => (self.trace.comms[thread], self.trace.tids[thread], self.priority(thread)),
            None => ("swapper".into(), Tid::IDLE, Priority::DEFAULT),
        };
        let (prev_comm, prev_tid, prev_prio) = of(self.cpus[cpu].current);
        let (next_comm, next_tid, next_prio) = of(next);
        let switch = Switch { prev_comm, prev_tid, prev_prio, prev_state, next_comm, next_tid, next_prio };
        self.emit(cpu, EventKind::Switch(switch));
    }

    fn wake_of(&self, thread: usize, target: usize) -> Wake {
        Wake {
            comm: self.trace.comms[thread],
            tid: self.trace.tids[thread],
            prio: self.priority(thread),
            target_cpu: Cpu(target as u32),
        }
    }

    pub(super) fn emit_waking(&mut self, cpu: usize, thread: usize) {
        if self.trace.is_on {
            let wake = self.wake_of(thread, self.threads[thread].cpu);
            self.emit(cpu, EventKind::Waking(wake));
        }
    }

    pub(super) fn emit_wakeup(&mut self, cpu: usize, thread: usize) {
        if self.trace.is_on {
            let wake = self.wake_of(thread, self.threads[thread].cpu);
            self.emit(cpu, EventKind::Wakeup { wake, new: false });
        }
    }

    /// The current thread of a CPU enters a system call.
    pub(super) fn emit_call(&mut self, cpu: usize, nr: i64, args: [u64; 6]) {
        self.emit(cpu, EventKind::SyscallEnter(Syscall { nr, args }));
    }

    /// It returns from it.
    pub(super) fn emit_return(&mut self, cpu: usize, nr: i64) {
        self.emit(cpu, EventKind::SyscallExit(SyscallReturn { nr, ret: 0 }));
    }

    /// The timer of a thread: one for its periods, one for its sleeps in between.
    fn timer_of(thread: usize, in_job: bool) -> u64 {
        0x1000 + 128 * thread as u64 + if in_job { 64 } else { 0 }
    }

    pub(super) fn emit_timer_start(&mut self, cpu: usize, thread: usize, in_job: bool, expires: Ns) {
        let start = HrtimerStart {
            hrtimer: Self::timer_of(thread, in_job),
            function: "hrtimer_wakeup".into(),
            expires,
            softexpires: expires,
        };
        self.emit(cpu, EventKind::HrtimerStart(start));
    }

    pub(super) fn emit_timer(&mut self, cpu: usize, thread: usize, in_job: bool) {
        let hrtimer = Self::timer_of(thread, in_job);
        let expiry = HrtimerExpiry { hrtimer, function: "hrtimer_wakeup".into(), now: self.now };
        self.emit(cpu, EventKind::HrtimerExpire(expiry));
    }

    pub(super) fn emit_timer_exit(&mut self, cpu: usize, thread: usize, in_job: bool) {
        self.emit(cpu, EventKind::HrtimerExpireExit { hrtimer: Self::timer_of(thread, in_job) });
    }

    /// The timer that fills a group's quota.
    pub(super) fn emit_refill(&mut self, cpu: usize, group: usize) {
        let hrtimer = 0x10 + group as u64;
        let expiry = HrtimerExpiry { hrtimer, function: "sched_cfs_period_timer".into(), now: self.now };
        self.emit(cpu, EventKind::HrtimerExpire(expiry));
        self.emit(cpu, EventKind::HrtimerExpireExit { hrtimer });
    }

    pub(super) fn emit_entry(&mut self, cpu: usize, source: Source) {
        let kind = match source {
            Source::Timer(_) | Source::Tick => EventKind::VectorEntry { name: "local_timer".into() },
            Source::Device(device) => {
                let interrupt = &self.model.interrupts[device];
                let name = interrupt.name.as_str().into();
                match interrupt.kind {
                    InterruptSource::Line(irq) => {
                        EventKind::IrqEntry { irq: irq.unwrap_or(FIRST_IRQ + device as u32), name }
                    }
                    InterruptSource::Vector | InterruptSource::Softirq => EventKind::VectorEntry { name },
                }
            }
            Source::Softirq { vec, .. } => EventKind::SoftirqEntry { vec },
        };
        self.emit(cpu, kind);
    }

    pub(super) fn emit_exit(&mut self, cpu: usize, source: Source) {
        let kind = match source {
            Source::Timer(_) | Source::Tick => EventKind::VectorExit { name: "local_timer".into() },
            Source::Device(device) => {
                let interrupt = &self.model.interrupts[device];
                match interrupt.kind {
                    InterruptSource::Line(irq) => {
                        EventKind::IrqExit { irq: irq.unwrap_or(FIRST_IRQ + device as u32) }
                    }
                    InterruptSource::Vector | InterruptSource::Softirq => {
                        EventKind::VectorExit { name: interrupt.name.as_str().into() }
                    }
                }
            }
            Source::Softirq { vec, .. } => EventKind::SoftirqExit { vec },
        };
        self.emit(cpu, kind);
    }
}
