//! A small machine that schedules: two CPUs, some threads, timers, locks, interrupts, and a tracer.
//!
//! It keeps the kernel's rules (the highest runnable priority runs, a wake-up is `waking` then
//! `wakeup`, a switch happens outside of interrupts), so that its traces look like real ones.
//! Some of what it traces may then be left out, as a tracer that loses events does.

use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, HrtimerExpiry, HrtimerStart, KindSet, PageFault, Switch,
    Syscall, SyscallReturn, TaskState, Wake,
};

/// Threads by id, the idle task among them.
pub(crate) const THREADS: i32 = 8;
const CPUS: usize = 2;
/// Kernel priorities by thread: the idle task, two peers, a rogue, a deadline thread, the rest SCHED_OTHER.
const PRIORITIES: [i32; THREADS as usize] = [120, 49, 49, 9, -1, 120, 120, 120];
const NAMES: [&str; THREADS as usize] =
    ["swapper", "ctrl", "peer", "rogue", "dl", "sh", "cc1", "kworker/0:1"];
const FUTEX: i64 = 202;
const CLOCK_NANOSLEEP: i64 = 230;

#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Runs(usize),
    Queues(usize),
    /// Sleeps, in this system call if one was traced.
    Sleeps(Option<i64>),
}

/// The machine.
pub(crate) struct Simulator {
    random: u64,
    now: i64,
    step: i64,
    orderly: bool,
    doing: Vec<Doing>,
    /// The call to return from when a thread runs again.
    returns: Vec<Option<i64>>,
    flags: [ContextFlags; CPUS],
    events: Vec<Event>,
}

impl Simulator {
    pub(crate) fn new(seed: u64) -> Simulator {
        Simulator {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            now: 1_000_000,
            step: 1,
            orderly: false,
            doing: vec![Doing::Sleeps(None); THREADS as usize],
            returns: vec![None; THREADS as usize],
            flags: [ContextFlags::default(); CPUS],
            events: Vec::new(),
        }
    }

    /// Time passes so many times faster.
    pub(crate) fn stretch(&mut self, factor: i64) {
        self.step = factor;
    }

    /// No events are lost, and the scheduler is never late.
    pub(crate) fn orderly(&mut self) {
        self.orderly = true;
    }

    /// Lets so many things happen.
    pub(crate) fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            self.now += 1 + self.below(50_000) as i64 * self.step;
            let cpu = self.below(CPUS as u32) as usize;
            match self.below(16) {
                0..=3 => self.timer(cpu),
                4..=7 => self.sleep(cpu),
                8 | 9 => self.wake_another(cpu),
                10 => self.interrupt(cpu),
                11 => self.faults(cpu),
                12 => self.softirq(cpu),
                13 => self.push_away(cpu),
                14 => self.boost(cpu),
                _ if self.orderly => self.trace(cpu, EventKind::CpuIdle { state: None }, 0),
                _ => self.lose(cpu),
            }
            if self.orderly || self.below(8) > 0 {
                self.schedule(cpu);
            }
        }
    }

    /// What was traced, `omit` of a thousand events left out.
    pub(crate) fn recorded(&mut self, omit: u32) -> Vec<Event> {
        let events = std::mem::take(&mut self.events);
        events.into_iter().filter(|_| self.below(1_000) >= omit).collect()
    }

    fn below(&mut self, bound: u32) -> u32 {
        // xorshift64*
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        ((self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % u64::from(bound)) as u32
    }

    fn current(&self, cpu: usize) -> usize {
        self.doing.iter().position(|doing| *doing == Doing::Runs(cpu)).unwrap_or(0)
    }

    /// Traces an event and takes `cost` ns for it.
    fn trace(&mut self, cpu: usize, kind: EventKind, cost: i64) {
        let context =
            Context { tid: Tid(self.current(cpu) as i32), flags: self.flags[cpu], preempt_depth: Some(0) };
        self.events.push(Event { ts: Ns(self.now), cpu: Cpu(cpu as u32), context, kind });
        self.now += cost;
    }

    fn pick(&mut self, fits: impl Fn(Doing) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (1..THREADS as usize).filter(|&thread| fits(self.doing[thread])).collect();
        let count = u32::try_from(fitting.len()).ok().filter(|count| *count > 0)?;
        Some(fitting[self.below(count) as usize])
    }

    fn wake(&mut self, cpu: usize, thread: usize) {
        let Doing::Sleeps(call) = self.doing[thread] else { return };
        let target = self.below(CPUS as u32);
        let wake = Wake {
            comm: NAMES[thread].into(),
            tid: Tid(thread as i32),
            prio: Priority(PRIORITIES[thread]),
            target_cpu: Cpu(target),
        };
        self.trace(cpu, EventKind::Waking(wake), 300);
        self.trace(cpu, EventKind::Wakeup { wake, new: false }, 200);
        self.doing[thread] = Doing::Queues(target as usize);
        self.returns[thread] = call;
        if target as usize != cpu {
            self.schedule(target as usize);
        }
    }

    fn timer(&mut self, cpu: usize) {
        let Some(thread) = self.pick(|doing| matches!(doing, Doing::Sleeps(_))) else { return };
        let hrtimer = thread as u64;
        self.flags[cpu] = ContextFlags::HARDIRQ | ContextFlags::IRQS_OFF;
        self.trace(cpu, EventKind::VectorEntry { name: "local_timer".into() }, 400);
        let now = Ns(self.now);
        self.trace(cpu, EventKind::HrtimerExpire(HrtimerExpiry { hrtimer, function: "".into(), now }), 200);
        self.wake(cpu, thread);
        self.trace(cpu, EventKind::HrtimerExpireExit { hrtimer }, 100);
        self.trace(cpu, EventKind::VectorExit { name: "local_timer".into() }, 100);
        self.flags[cpu] = ContextFlags::default();
    }

    fn sleep(&mut self, cpu: usize) {
        let thread = self.current(cpu);
        if thread == 0 {
            return;
        }
        let call = match self.below(4) {
            0 => Some((FUTEX, [0, 0x80, 2, 0, 0, 0])),
            1 | 2 => Some((CLOCK_NANOSLEEP, [1, 1, 0, 0, 0, 0])),
            _ => None,
        };
        if let Some((nr, args)) = call {
            self.trace(cpu, EventKind::SyscallEnter(Syscall { nr, args }), 500);
            if nr == CLOCK_NANOSLEEP && !self.orderly {
                let expires = Ns(self.now + i64::from(self.below(100_000)));
                let start = HrtimerStart {
                    hrtimer: thread as u64,
                    function: "".into(),
                    expires,
                    softexpires: expires,
                };
                self.trace(cpu, EventKind::HrtimerStart(start), 300);
            }
        }
        let state = if self.below(4) == 0 { TaskState::Uninterruptible } else { TaskState::Interruptible };
        self.switch(cpu, state, Doing::Sleeps(call.map(|(nr, _)| nr)));
    }

    /// The highest of those queued on `cpu`, FIFO by id among equals.
    fn best(&self, cpu: usize) -> usize {
        let queued = (1..THREADS as usize).filter(|&thread| self.doing[thread] == Doing::Queues(cpu));
        queued.min_by_key(|&thread| PRIORITIES[thread].min(100)).unwrap_or(0)
    }

    fn switch(&mut self, cpu: usize, prev_state: TaskState, then: Doing) {
        let (prev, next) = (self.current(cpu), self.best(cpu));
        let switch = Switch {
            prev_comm: NAMES[prev].into(),
            prev_tid: Tid(prev as i32),
            prev_prio: Priority(PRIORITIES[prev]),
            prev_state,
            next_comm: NAMES[next].into(),
            next_tid: Tid(next as i32),
            next_prio: Priority(PRIORITIES[next]),
        };
        self.trace(cpu, EventKind::Switch(switch), 0);
        if prev != 0 {
            self.doing[prev] = then;
        }
        if next != 0 {
            self.doing[next] = Doing::Runs(cpu);
        }
        self.now += 700;
        if let Some(nr) = self.returns[next].take() {
            self.trace(cpu, EventKind::SyscallExit(SyscallReturn { nr, ret: 0 }), 100);
        }
    }

    /// Preempts the thread that runs on `cpu`, if a thread queued there goes before it.
    fn schedule(&mut self, cpu: usize) {
        let (current, best) = (self.current(cpu), self.best(cpu));
        let rank = |thread: usize| if thread == 0 { i32::MAX } else { PRIORITIES[thread].min(100) };
        if best != 0 && rank(best) < rank(current) {
            self.switch(cpu, TaskState::Preempted, Doing::Queues(cpu));
        }
    }

    fn wake_another(&mut self, cpu: usize) {
        if self.current(cpu) != 0
            && let Some(thread) = self.pick(|doing| matches!(doing, Doing::Sleeps(_)))
        {
            self.wake(cpu, thread);
        }
    }

    fn interrupt(&mut self, cpu: usize) {
        self.flags[cpu] = ContextFlags::HARDIRQ | ContextFlags::IRQS_OFF;
        self.trace(cpu, EventKind::IrqEntry { irq: 24, name: "eth0".into() }, 0);
        self.now += i64::from(self.below(30_000));
        self.trace(cpu, EventKind::IrqExit { irq: 24 }, 100);
        self.flags[cpu] = ContextFlags::default();
    }

    fn softirq(&mut self, cpu: usize) {
        self.flags[cpu] = ContextFlags::SOFTIRQ;
        self.trace(cpu, EventKind::SoftirqEntry { vec: 3 }, 0);
        self.now += i64::from(self.below(30_000));
        if let Some(thread) = self.pick(|doing| matches!(doing, Doing::Sleeps(_))) {
            self.wake(cpu, thread);
        }
        self.trace(cpu, EventKind::SoftirqExit { vec: 3 }, 100);
        self.flags[cpu] = ContextFlags::default();
    }

    fn faults(&mut self, cpu: usize) {
        if self.current(cpu) == 0 {
            return;
        }
        for page in 0..self.below(4) {
            let fault =
                PageFault { address: u64::from(page) << 12, ip: 0x40_1000, user: true, error_code: 0 };
            self.trace(cpu, EventKind::PageFault(fault), 1_500);
        }
    }

    /// A queued thread is moved to this CPU.
    fn push_away(&mut self, cpu: usize) {
        let elsewhere = |doing| matches!(doing, Doing::Queues(on) if on != cpu);
        if let Some(thread) = self.pick(elsewhere) {
            let from = Cpu(1 - cpu as u32);
            self.trace(cpu, EventKind::Migrate { tid: Tid(thread as i32), from, to: Cpu(cpu as u32) }, 200);
            self.doing[thread] = Doing::Queues(cpu);
        }
    }

    /// The current thread lends its priority to a queued one and takes it back.
    fn boost(&mut self, cpu: usize) {
        let current = self.current(cpu);
        if current != 0
            && let Some(thread) = self.pick(|doing| matches!(doing, Doing::Queues(_)))
        {
            let (own, lent) = (Priority(PRIORITIES[thread]), Priority(PRIORITIES[current]));
            let tid = Tid(thread as i32);
            self.trace(cpu, EventKind::PiSetprio { tid, old: own, new: lent }, 2_000);
            self.trace(cpu, EventKind::PiSetprio { tid, old: lent, new: own }, 100);
        }
    }

    fn lose(&mut self, cpu: usize) {
        self.now += i64::from(self.below(200_000));
        self.trace(cpu, EventKind::Lost { count: Some(3), since: None, kinds: KindSet::NONE }, 0);
    }
}
