//! The threads of one run: each takes its place (priority, CPU) and then its part.

use crate::periodic::Log;
use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use std::thread::{Builder, JoinHandle};
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::{
    Clock, Lock, SchedParams, SysError, getaffinity, gettid, mlockall, now, setaffinity, setattr, sleep_until,
};

/// What a thread is in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    /// It is made late.
    Victim,
    /// It makes it late.
    Culprit,
    /// It is involved, and must not be named the culprit.
    Bystander,
}

/// A thread to be started.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub(crate) part: Part,
    pub(crate) name: String,
    pub(crate) sched: SchedParams,
    /// None leaves the process' affinity.
    pub(crate) cpu: Option<Cpu>,
    /// The mistake of story A2: affinity before priority.
    pub(crate) pin_first: bool,
    /// Comes late: until this instant it sleeps on that CPU.
    pub(crate) waits: Option<(Ns, Cpu)>,
}

impl Role {
    /// A thread on `cpu` that raises its priority first and pins itself then.
    pub(crate) fn new(part: Part, name: String, sched: SchedParams, cpu: Cpu) -> Role {
        // The kernel keeps 15 bytes of a name, and the label must say what a trace will.
        let name = name.chars().filter(|c| c.is_ascii_graphic()).take(15).collect();
        Role { part, name, sched, cpu: Some(cpu), pin_first: false, waits: None }
    }

    fn take_place(&self) -> Result<(), SysError> {
        let tid = gettid();
        if let Some((time, cpu)) = self.waits {
            let usual = getaffinity(tid)?;
            setaffinity(tid, &CpuSet::from_iter([cpu]))?;
            sleep_until(Clock::Monotonic, time)?;
            setaffinity(tid, &usual)?;
        }
        let pin = || self.cpu.map_or(Ok(()), |cpu| setaffinity(tid, &CpuSet::from_iter([cpu])));
        if self.pin_first {
            pin()?;
            return setattr(tid, &self.sched);
        }
        setattr(tid, &self.sched)?;
        pin()
    }
}

/// A thread that has taken its part.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) role: Role,
    pub(crate) tid: Tid,
    /// When it had its priority and CPU, on CLOCK_MONOTONIC.
    pub(crate) placed: Ns,
    pub(crate) log: Log,
}

/// All threads of a run.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    threads: Vec<JoinHandle<Result<Member, SysError>>>,
}

impl Crew {
    /// Nobody yet; the memory of this process is locked, as a real-time program does,
    /// what it maps later too if `future`.
    ///
    /// # Errors
    /// Of mlockall(2).
    pub(crate) fn new(future: bool) -> Result<Crew> {
        mlockall(if future { Lock::CurrentAndFuture } else { Lock::Current })?;
        Ok(Crew::default())
    }

    /// Starts a thread that takes its place and then does `part`.
    ///
    /// # Errors
    /// When no thread can be created.
    pub(crate) fn start(&mut self, role: Role, part: impl FnOnce() -> Log + Send + 'static) -> Result<()> {
        let context = format!("no thread could be created for {}", role.name);
        let name = role.name.clone();
        let body = move || {
            role.take_place()?;
            Ok(Member { tid: gettid(), placed: now(Clock::Monotonic), log: part(), role })
        };
        self.threads.push(Builder::new().name(name).spawn(body).context(context)?);
        Ok(())
    }

    /// Waits for all of them.
    ///
    /// # Errors
    /// The first failure of any: without its place it did not play its part.
    pub(crate) fn join(self) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        for thread in self.threads {
            members.push(thread.join().map_err(|_| anyhow!("a thread of the run panicked"))??);
        }
        Ok(members)
    }
}
