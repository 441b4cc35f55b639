//! What a message itself shows: CPUs, threads, times.

use super::clock::UnstableClock;
use super::durations::{CpuHogs, LongestRun};
use super::hung::HungTasks;
use super::lockups::{SoftLockups, hard_lockup};
use super::meanings::{
    CLOCK, CPU_HOG, CRASH, HARD_LOCKUP, HUNG_TASK, LONG_NMI, RCU, SOFT_LOCKUP, TIMER_INTERRUPT,
};
use super::rcu::RcuStall;
use super::stacks::{LoggedStack, LoggedStacks};

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
    Hard(Option<u32>),
    Hogs(CpuHogs),
    Longest(LongestRun),
    Clock(UnstableClock),
}

impl Details {
    /// Of messages with this meaning.
    pub(super) fn of(meaning: &str) -> Details {
        match meaning {
            RCU => Details::Rcu(RcuStall::default()),
            HUNG_TASK => Details::Hung(HungTasks::default()),
            SOFT_LOCKUP => Details::Soft(SoftLockups::default()),
            HARD_LOCKUP => Details::Hard(None),
            CPU_HOG => Details::Hogs(CpuHogs::default()),
            TIMER_INTERRUPT | LONG_NMI => Details::Longest(LongestRun::default()),
            CRASH => Details::Crash,
            CLOCK => Details::Clock(UnstableClock::default()),
            _ => Details::None,
        }
    }

    /// True of a message with a meaning that goes on with the report above it.
    pub(super) fn continues(&self, message: &str) -> bool {
        match self {
            Details::Rcu(_) => RcuStall::is_part(message),
            Details::Hung(_) => HungTasks::is_part(message),
            // `BUG: unable to handle page fault` comes first (arch/x86/mm/fault.c), and a panic may follow.
            Details::Crash => ["Oops: ", "Kernel panic"].iter().any(|words| message.contains(words)),
            _ => false,
        }
    }

    /// Takes in a message that has a meaning by itself.
    pub(super) fn message(&mut self, message: &str) {
        match self {
            Details::Rcu(rcu) => rcu.message(message),
            Details::Hard(cpu) => *cpu = cpu.or(hard_lockup(message)),
            _ => {
                self.line(message);
            }
        }
    }

    /// Takes in a line below it; false where it belongs to nothing.
    pub(super) fn line(&mut self, message: &str) -> bool {
        match self {
            Details::None | Details::Crash | Details::Hard(_) => false,
            Details::Rcu(rcu) => rcu.line(message),
            Details::Hung(hung) => hung.line(message),
            Details::Soft(lockups) => lockups.line(message),
            Details::Hogs(hogs) => hogs.line(message),
            Details::Longest(longest) => longest.line(message),
            Details::Clock(clock) => clock.line(message),
        }
    }

    /// True where the stacks below each of the messages count, and not only those below the first.
    pub(super) fn has_stacks_of_all(&self) -> bool {
        matches!(self, Details::Hung(_))
    }

    /// True where what belongs to it may follow far below.
    pub(super) fn reaches_far(&self) -> bool {
        matches!(self, Details::Clock(_))
    }

    /// What they mean, where they show more than their words.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        match self {
            Details::None | Details::Crash => None,
            Details::Rcu(rcu) => rcu.meaning(stacks),
            Details::Hung(hung) => hung.meaning(),
            Details::Soft(lockups) => lockups.meaning(),
            Details::Hard(cpu) => {
                cpu.map(|cpu| format!("CPU {cpu} had interrupts disabled for 10 s or more (hard lockup)"))
            }
            Details::Hogs(hogs) => hogs.meaning(),
            Details::Longest(longest) => longest.meaning(),
            Details::Clock(clock) => clock.meaning(),
        }
    }

    /// What is shown of the threads, one sentence each.
    pub(super) fn shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        match self {
            Details::Rcu(rcu) => rcu.shown(stacks),
            Details::Hung(hung) => hung.shown(stacks),
            _ => stacks.first().and_then(LoggedStack::shown).into_iter().collect(),
        }
    }
}
