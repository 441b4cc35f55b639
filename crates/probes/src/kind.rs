//! The kinds of probe: what a sample is, and the options of each.

use std::fmt;
use std::str::FromStr;
use whylate_base::{Cpu, Ns};

/// A kind of probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// How late a thread wakes from a timed sleep, as cyclictest measures it.
    Timer(Timer),
    /// How long a thread that always wants to run does not, as oslat measures it: it spins reading the clock, and each
    /// gap between two readings is a sample.
    Busy {
        /// The shortest gap that counts.
        gap: Ns,
        /// How much of each interval it spins, in percent; the rest of it, it sleeps. `None`: all of it, or 90 where
        /// that would leave no CPU to others.
        duty: Option<u8>,
    },
    /// How long it takes one thread to wake another, from just before the waker's call until the other one runs.
    Ipc {
        /// By what.
        by: Ipc,
        /// Where the waker runs.
        waker: Waker,
    },
    /// How late each period of a SCHED_DEADLINE thread begins, whose period is the interval. In each of them the thread
    /// works for half of its runtime.
    Deadline {
        /// The CPU time promised to it in each period.
        runtime: Ns,
        /// Within this time of the period's beginning; `None`: by its end.
        deadline: Option<Ns>,
    },
    /// What takes a CPU away behind the kernel's back: firmware (SMIs), a hypervisor. A thread of priority 99 spins
    /// for a short window in each interval. Each window in which the CPU had no interrupt and no switch is a sample:
    /// its longest gap.
    Hwlat {
        /// How long a window lasts.
        width: Ns,
    },
    /// How late a thread is that a timer of the kernel's timerlat tracer wakes, as the tracer itself measures it: when it
    /// is back in the kernel after its turn in user space or, of a kernel thread, when it runs.
    Timerlat(Workload),
}

/// Whose thread the timerlat tracer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One of this program (`timerlat_fd`, Linux 6.5).
    User,
    /// The kernel's own, `timerlat/N`.
    Kernel,
}

/// What a timed sleep is made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timer {
    /// `clock_nanosleep(2)` to absolute instants.
    #[default]
    Nanosleep,
    /// A periodic `timerfd_create(2)`, which is read.
    Timerfd,
    /// A periodic `timer_create(2)`, whose signal is waited for.
    Signal,
}

/// What a thread is woken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipc {
    /// A byte in a pipe.
    Pipe,
    /// An eventfd.
    Eventfd,
    /// FUTEX_WAKE.
    Futex,
    /// A mutex with priority inheritance that is released.
    PiMutex,
    /// The C library's condition variable.
    Condvar,
    /// A message in a POSIX queue.
    Mq,
    /// A byte in a Unix socket.
    Socket,
    /// A real-time signal that is waited for.
    Signal,
}

/// Where the waking thread of [`ProbeKind::Ipc`] runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waker {
    /// On the CPU of the thread that it wakes.
    #[default]
    SameCpu,
    /// On this one.
    On(Cpu),
}

impl Timer {
    /// All of them.
    pub const ALL: [Timer; 3] = [Timer::Nanosleep, Timer::Timerfd, Timer::Signal];

    /// `nanosleep`, `timerfd`, `signal`.
    pub fn name(self) -> &'static str {
        match self {
            Timer::Nanosleep => "nanosleep",
            Timer::Timerfd => "timerfd",
            Timer::Signal => "signal",
        }
    }
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 2] = [Workload::User, Workload::Kernel];

    /// `user`, `kernel`.
    pub fn name(self) -> &'static str {
        match self {
            Workload::User => "user",
            Workload::Kernel => "kernel",
        }
    }
}

impl Ipc {
    /// All of them.
    pub const ALL: [Ipc; 8] =
        [Ipc::Pipe, Ipc::Eventfd, Ipc::Futex, Ipc::PiMutex, Ipc::Condvar, Ipc::Mq, Ipc::Socket, Ipc::Signal];

    /// `pipe`, `pi-mutex`.
    pub fn name(self) -> &'static str {
        match self {
            Ipc::Pipe => "pipe",
            Ipc::Eventfd => "eventfd",
            Ipc::Futex => "futex",
            Ipc::PiMutex => "pi-mutex",
            Ipc::Condvar => "condvar",
            Ipc::Mq => "mq",
            Ipc::Socket => "socket",
            Ipc::Signal => "signal",
        }
    }
}

/// The name by which runs are compared: `timer`, `timer timerfd`, `busy`, `ipc pipe`, `deadline`, `hwlat`,
/// `timerlat user`.
impl fmt::Display for ProbeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeKind::Timer(Timer::Nanosleep) => f.write_str("timer"),
            ProbeKind::Timer(timer) => write!(f, "timer {}", timer.name()),
            ProbeKind::Busy { .. } => f.write_str("busy"),
            ProbeKind::Ipc { by, .. } => write!(f, "ipc {}", by.name()),
            ProbeKind::Deadline { .. } => f.write_str("deadline"),
            ProbeKind::Hwlat { .. } => f.write_str("hwlat"),
            ProbeKind::Timerlat(workload) => write!(f, "timerlat {}", workload.name()),
        }
    }
}

/// An unknown name, with the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is none of {}", .names.join(", "))]
pub struct UnknownName {
    text: String,
    names: Vec<&'static str>,
}

fn named<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, UnknownName> {
    let found = all.iter().copied().find(|&one| name(one) == text);
    found.ok_or_else(|| UnknownName {
        text: text.to_owned(),
        names: all.iter().map(|&one| name(one)).collect(),
    })
}

impl FromStr for Timer {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Timer, UnknownName> {
        named(text, &Timer::ALL, Timer::name)
    }
}

impl FromStr for Ipc {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Ipc, UnknownName> {
        named(text, &Ipc::ALL, Ipc::name)
    }
}

impl FromStr for Workload {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Workload, UnknownName> {
        named(text, &Workload::ALL, Workload::name)
    }
}

/// `same`, or a CPU's number.
impl FromStr for Waker {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Waker, UnknownName> {
        match (text, text.parse()) {
            ("same", _) => Ok(Waker::SameCpu),
            (_, Ok(cpu)) => Ok(Waker::On(Cpu(cpu))),
            _ => Err(UnknownName { text: text.to_owned(), names: vec!["same", "a CPU's number"] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(Timer::ALL.iter().all(|timer| timer.name().parse() == Ok(*timer)));
        assert!(Ipc::ALL.iter().all(|ipc| ipc.name().parse() == Ok(*ipc)));
        assert!(Workload::ALL.iter().all(|workload| workload.name().parse() == Ok(*workload)));
        assert_eq!(("same".parse(), "3".parse()), (Ok(Waker::SameCpu), Ok(Waker::On(Cpu(3)))));
        let unknown = "pipes".parse::<Ipc>().expect_err("no such");
        assert!(unknown.to_string().contains("pi-mutex"), "{unknown}");
        assert!("-1".parse::<Waker>().is_err());
    }

    #[test]
    fn runs_are_compared_by_these_names() {
        let ipc = ProbeKind::Ipc { by: Ipc::PiMutex, waker: Waker::SameCpu };
        let names = [ProbeKind::Timer(Timer::Nanosleep), ProbeKind::Timer(Timer::Signal), ipc]
            .map(|kind| kind.to_string());
        assert_eq!(names, ["timer", "timer signal", "ipc pi-mutex"]);
    }
}
