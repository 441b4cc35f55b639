//! What a message itself shows: CPUs, threads, times.

use super::atomic_sleep::AtomicSleep;
use super::clock::UnstableClock;
use super::consequences::{self, BehindStorage};
use super::durations::{CpuHogs, LongestRun, TimedWork};
use super::hung::HungTasks;
use super::lockups::{self, HardPanic, SoftLockups, hard_lockup};
use super::meanings::{
    ATOMIC, CLOCK, CPU_HOG, CRASH, CSD, ENDED, HARD_LOCKUP, HARD_PANIC, HUNG_TASK, IDLE_LOCKUP, IDLE_SLEEP,
    LONG_NMI, NOHZ, OLD_SECTION, OLD_WAKE_UP, PERF, RCU, SCHED_EXT, SOFT_LOCKUP, SPIN_LOCKUP,
    TIMER_INTERRUPT, UNHANDLED_IRQ, WORK_LEAK, WORK_LOCKUP,
};
use super::old_tracer::{OldMaximum, OldMeasure};
use super::owner::LoggedThread;
use super::pools::StuckPools;
use super::printed_at::PrintedAt;
use super::rcu::RcuStall;
use super::sched_ext::SchedExtStall;
use super::softirqs::PendingSoftirqs;
use super::spinlocks::SpinLockups;
use super::stacks::{LoggedStack, LoggedStacks};
use super::unhandled_irqs::UnhandledIrqs;
use super::work_leak::WorkLeak;

/// No machine has more CPUs.
const MOST_CPUS: usize = 4096;

/// What the messages of one kind show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Details {
    /// No more than their words.
    None,
    /// No more either, and several messages are of one crash.
    Crash,
    Rcu(RcuStall),
    Hung(HungTasks),
    Soft(SoftLockups),
    /// The same, of CPUs whose idle threads were current.
    SoftOverIdle(SoftLockups),
    /// The CPUs.
    Hard(Vec<u32>),
    HardPanic(HardPanic),
    Pools(StuckPools),
    Hogs(CpuHogs),
    Longest(LongestRun),
    Softirqs(PendingSoftirqs),
    Clock(UnstableClock),
    OldTracer(OldMaximum),
    SchedExt(SchedExtStall),
    Atomic(AtomicSleep),
    Spin(SpinLockups),
    Leak(WorkLeak),
    Irqs(UnhandledIrqs),
    /// Of an idle thread that was about to sleep.
    IdleSleep,
    /// The thread that ended.
    Ended(Option<LoggedThread>),
}

impl Details {
    /// Of messages with this meaning.
    pub(super) fn of(meaning: &str) -> Details {
        match meaning {
            RCU => Details::Rcu(RcuStall::default()),
            HUNG_TASK => Details::Hung(HungTasks::default()),
            SOFT_LOCKUP => Details::Soft(SoftLockups::default()),
            IDLE_LOCKUP => Details::SoftOverIdle(SoftLockups::default()),
            HARD_LOCKUP => Details::Hard(Vec::new()),
            HARD_PANIC => Details::HardPanic(HardPanic::default()),
            WORK_LOCKUP => Details::Pools(StuckPools::default()),
            CPU_HOG => Details::Hogs(CpuHogs::default()),
            TIMER_INTERRUPT => Details::Longest(LongestRun::new(TimedWork::TimerInterrupt)),
            LONG_NMI => Details::Longest(LongestRun::new(TimedWork::Nmi)),
            PERF => Details::Longest(LongestRun::new(TimedWork::PerfInterrupts)),
            CSD => Details::Longest(LongestRun::new(TimedWork::Call)),
            NOHZ => Details::Softirqs(PendingSoftirqs::default()),
            CRASH => Details::Crash,
            CLOCK => Details::Clock(UnstableClock::default()),
            OLD_SECTION => Details::OldTracer(OldMaximum::new(OldMeasure::Section)),
            OLD_WAKE_UP => Details::OldTracer(OldMaximum::new(OldMeasure::WakeUp)),
            SCHED_EXT => Details::SchedExt(SchedExtStall::default()),
            ATOMIC => Details::Atomic(AtomicSleep::default()),
            SPIN_LOCKUP => Details::Spin(SpinLockups::default()),
            IDLE_SLEEP => Details::IdleSleep,
            WORK_LEAK => Details::Leak(WorkLeak::default()),
            UNHANDLED_IRQ => Details::Irqs(UnhandledIrqs::default()),
            ENDED => Details::Ended(None),
            _ => Details::None,
        }
    }

    /// True of a message with a meaning that goes on with the report above it.
    pub(super) fn continues(&self, message: &str) -> bool {
        match self {
            Details::Rcu(_) => RcuStall::is_part(message),
            Details::Hung(_) => HungTasks::is_part(message),
            // `BUG: unable to handle page fault` comes first (arch/x86/mm/fault.c), and a panic may follow.
            Details::Crash => {
                ["Oops", "Internal error: ", "Kernel panic"].iter().any(|words| message.contains(words))
            }
            _ => false,
        }
    }

    /// True where each message begins a report of its own, and two of them are not of one cause.
    pub(super) fn is_one_report(&self) -> bool {
        matches!(self, Details::Rcu(_))
    }

    /// True of a report that shows how long it lasted, which stands below its rows.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Details::Rcu(rcu) if rcu.has_duration())
    }

    /// Takes in that another report of the kind begins.
    pub(super) fn ends(&mut self) {
        if let Details::Rcu(rcu) = self {
            rcu.ends();
        }
    }

    /// True where a later report is of the same occurrence.
    pub(super) fn goes_on_in(&self, later: &Details) -> bool {
        matches!((self, later), (Details::Rcu(one), Details::Rcu(later)) if one.goes_on_in(later))
    }

    /// How many jiffies a second has, by a later report of the same occurrence.
    pub(super) fn hz(&self, later: &Details) -> Option<u64> {
        match (self, later) {
            (Details::Rcu(one), Details::Rcu(later)) => one.hz(later),
            _ => None,
        }
    }

    /// What such a later report adds, in words.
    pub(super) fn again(&self) -> Option<String> {
        match self {
            Details::Rcu(rcu) => rcu.again(),
            _ => None,
        }
    }

    /// Takes in a message that has a meaning by itself, printed so many seconds after the boot.
    pub(super) fn message(&mut self, message: &str, seconds: Option<u64>) {
        match self {
            Details::Hung(hung) => {
                hung.message(message, seconds);
            }
            Details::Hard(cpus) => {
                for cpu in hard_lockup(message) {
                    if cpus.len() < MOST_CPUS && !cpus.contains(&cpu) {
                        cpus.push(cpu);
                    }
                }
            }
            Details::Softirqs(softirqs) => softirqs.message(message),
            Details::Irqs(irqs) => irqs.message(message),
            Details::OldTracer(maximum) => maximum.message(message),
            Details::Soft(lockups) | Details::SoftOverIdle(lockups) => lockups.message(message),
            Details::Rcu(rcu) => rcu.message(message, seconds),
            Details::Ended(thread) => *thread = thread.take().or_else(|| consequences::ended(message)),
            _ => {
                self.line(message);
            }
        }
    }

    /// Takes over what a sentence that quotes the same message shows beyond it.
    pub(super) fn quoted_elsewhere(&mut self, quoted: &Details) {
        if let (Details::Hogs(hogs), Details::Hogs(quoted)) = (self, quoted) {
            hogs.counted_elsewhere(quoted);
        }
    }

    /// Takes in a line below it; false where it belongs to nothing.
    pub(super) fn line(&mut self, message: &str) -> bool {
        match self {
            Details::None | Details::Crash | Details::Hard(_) | Details::Ended(_) | Details::IdleSleep => {
                false
            }
            Details::Rcu(rcu) => rcu.line(message),
            Details::HardPanic(panic) => panic.line(message),
            Details::Hung(hung) => hung.line(message),
            Details::Soft(lockups) | Details::SoftOverIdle(lockups) => lockups.line(message),
            Details::Pools(pools) => pools.line(message),
            Details::Hogs(hogs) => hogs.line(message),
            Details::Softirqs(softirqs) => softirqs.line(message),
            Details::Longest(longest) => longest.line(message),
            Details::Clock(clock) => clock.line(message),
            Details::OldTracer(maximum) => maximum.line(message),
            Details::SchedExt(stall) => stall.line(message),
            Details::Atomic(atomic) => atomic.line(message),
            Details::Spin(spin) => spin.line(message),
            Details::Leak(leak) => leak.line(message),
            Details::Irqs(irqs) => irqs.line(message),
        }
    }

    /// Takes in a line that may show which work had begun.
    pub(super) fn work_line(&mut self, message: &str) {
        if let Details::Pools(pools) = self {
            pools.work_line(message);
        }
    }

    /// True where the stacks below each of the messages count, and not only those below the first.
    pub(super) fn has_stacks_of_all(&self) -> bool {
        // A worker pool that waits is reported again and again, and what its CPU does shows in any of the reports.
        // Soft lockups are of several CPUs, each with a stack of its own.
        matches!(self, Details::Hung(_) | Details::Pools(_) | Details::Soft(_) | Details::SoftOverIdle(_))
    }

    /// True where the stack below the last message counts in place of those before it.
    pub(super) fn has_stacks_of_last(&self) -> bool {
        matches!(self, Details::OldTracer(maximum) if maximum.is_of_longest())
    }

    /// True where what belongs to it may follow far below.
    pub(super) fn reaches_far(&self) -> bool {
        matches!(self, Details::Clock(_))
    }

    /// True where their stacks are told apart by their CPUs.
    pub(super) fn is_by_cpu(&self) -> bool {
        matches!(self, Details::Soft(_) | Details::SoftOverIdle(_) | Details::Hard(_))
    }

    /// False of a CPU where the report names others: a stack of it is of something else.
    pub(super) fn may_be_of(&self, cpu: u32) -> bool {
        match self {
            Details::Soft(lockups) | Details::SoftOverIdle(lockups) => lockups.may_be_of(cpu),
            Details::Rcu(rcu) => rcu.may_be_of(cpu),
            _ => true,
        }
    }

    /// What they mean, where they show more than their words.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        match self {
            Details::None | Details::Crash => None,
            Details::Ended(thread) => thread.as_ref().map(|thread| {
                format!(
                    "{thread} was ended in the kernel with preemption or interrupts disabled, as an oops or a BUG above it ends a thread"
                )
            }),
            Details::Rcu(rcu) => rcu.meaning(stacks),
            Details::Hung(hung) => hung.meaning(stacks),
            Details::Soft(lockups) => lockups.meaning(stacks),
            Details::SoftOverIdle(lockups) => lockups.over_idle_meaning(stacks),
            Details::Hard(cpus) => (!cpus.is_empty()).then(|| {
                let cpus = super::stamps::cpus(cpus);
                format!("{cpus} had interrupts disabled for 10 s or more (hard lockup)")
            }),
            Details::HardPanic(panic) => panic.meaning(stacks),
            Details::Pools(pools) => pools.meaning(),
            Details::Hogs(hogs) => hogs.meaning(),
            Details::Softirqs(softirqs) => softirqs.meaning(),
            Details::Longest(longest) => longest.meaning(),
            Details::Clock(clock) => clock.meaning(),
            Details::OldTracer(maximum) => maximum.meaning(),
            Details::SchedExt(stall) => stall.meaning(),
            Details::Atomic(atomic) => atomic.meaning(stacks),
            Details::Spin(spin) => spin.meaning(),
            Details::Leak(leak) => leak.meaning(),
            Details::Irqs(irqs) => irqs.meaning(),
            Details::IdleSleep => stacks.first_owner().and_then(|owner| owner.cpu).map(|cpu| {
                format!("the idle thread of CPU {cpu} was about to sleep, which it never may: a bug of the kernel or of a module")
            }),
        }
    }

    /// The CPUs that had interrupts disabled, or waited for a spinlock.
    pub(super) fn cpus(&self) -> &[u32] {
        match self {
            Details::Hard(cpus) => cpus,
            Details::Spin(spin) => spin.cpus(),
            _ => &[],
        }
    }

    /// True of CPUs that wait for another one.
    pub(super) fn waits_for_answer(&self, stacks: &LoggedStacks) -> bool {
        matches!(self, Details::Soft(lockups) if lockups.waits_for_answer(stacks))
    }

    /// The CPU that they are of, where it takes no interrupts.
    pub(super) fn silent_cpu(&self) -> Option<u32> {
        match self {
            Details::Rcu(rcu) => rcu.silent_cpu(),
            Details::Hard(cpus) => cpus.first().copied().filter(|_| cpus.len() == 1),
            _ => None,
        }
    }

    /// The CPU whose own stack follows a message.
    pub(super) fn cpu_of_stack(&self, message: &str) -> Option<u32> {
        match self {
            Details::Soft(_) | Details::SoftOverIdle(_) => lockups::soft_lockup_cpu(message),
            _ => None,
        }
    }

    /// Takes in when the message was printed that comes next.
    pub(super) fn printed(&mut self, at: PrintedAt) {
        if let Details::Soft(lockups) | Details::SoftOverIdle(lockups) = self {
            lockups.printed(at);
        }
    }

    /// The hung thread that waits for storage, by its stack.
    pub(super) fn behind_storage<'a>(&'a self, stacks: &LoggedStacks) -> Option<BehindStorage<'a>> {
        match self {
            Details::Hung(hung) => hung.behind_storage(stacks),
            _ => None,
        }
    }

    /// The thread that they are of, or that holds the lock, where one is known.
    pub(super) fn thread<'a>(&'a self, stacks: &'a LoggedStacks) -> Option<&'a LoggedThread> {
        match self {
            Details::Atomic(atomic) => atomic.thread(),
            Details::Spin(spin) => spin.owner(),
            Details::Leak(leak) => leak.thread(),
            Details::Ended(thread) => thread.as_ref(),
            _ => stacks.first().and_then(|stack| stack.owner.thread.as_ref()),
        }
    }

    /// What is shown of the threads, one sentence each.
    pub(super) fn shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        match self {
            Details::Rcu(rcu) => rcu.shown(stacks),
            Details::Hung(hung) => hung.shown(stacks),
            Details::SchedExt(stall) => stall.shown().into_iter().collect(),
            Details::Atomic(atomic) => atomic.shown(stacks),
            // The function has returned: the stack is of the workqueue's own functions.
            Details::Leak(_) => Vec::new(),
            Details::Pools(pools) => {
                let one = stacks.of_cpus(|cpu| pools.run_on(cpu));
                let stack = one.and_then(LoggedStack::shown);
                let wait = one.and_then(LoggedStack::wait).filter(|_| stack.is_some());
                stack.into_iter().chain(wait).chain(pools.begun_work()).collect()
            }
            Details::Soft(lockups) | Details::SoftOverIdle(lockups) => {
                lockups.shown().into_iter().chain(lockups.stacks_shown(stacks)).collect()
            }
            _ => stacks.first().and_then(LoggedStack::shown).into_iter().collect(),
        }
    }
}
