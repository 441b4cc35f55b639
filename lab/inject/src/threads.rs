//! The threads of one run: each sets its priority and CPU, and then does its part.

use crate::cgroup::Group;
use crate::periodic::Log;
use crate::role::{ProcessShare, Role};
use crate::setup::Setup;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::thread::{Builder, JoinHandle};
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_sys::{
    Clock, Lock, SchedParams, SysError, getaffinity, getattr, gettid, mlockall, now, setaffinity, setattr,
    sleep_until,
};

/// A thread to be started.
#[derive(Clone, Debug)]
pub(crate) struct ThreadSpec {
    pub(crate) part: Role,
    pub(crate) name: String,
    pub(crate) sched: SchedParams,
    /// None leaves the process' affinity.
    pub(crate) cpu: Option<Cpu>,
    /// The order of story A2: affinity before priority.
    pub(crate) pin_first: bool,
    /// Starts late: until this instant it sleeps on that CPU.
    pub(crate) waits: Option<(Ns, Cpu)>,
    /// Starts on its CPU, and may then use these.
    pub(crate) may_move: Option<CpuSet>,
    /// Continues without its policy when that is refused.
    pub(crate) careless: bool,
}

impl ThreadSpec {
    /// A thread on `cpu` that raises its priority first and pins itself then.
    pub(crate) fn new(part: Role, name: String, sched: SchedParams, cpu: Cpu) -> ThreadSpec {
        // The kernel keeps 15 bytes of a name, and the label must have the name of the trace.
        let name = name.chars().filter(|c| c.is_ascii_graphic()).take(15).collect();
        ThreadSpec {
            part,
            name,
            sched,
            cpu: Some(cpu),
            pin_first: false,
            waits: None,
            may_move: None,
            careless: false,
        }
    }

    fn set_up(&self) -> Result<(), SysError> {
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
        match setattr(tid, &self.sched) {
            Err(error) if self.careless && error.is_permission() => {}
            result => result?,
        }
        pin()?;
        self.may_move.as_ref().map_or(Ok(()), |cpus| setaffinity(tid, cpus))
    }
}

/// One thread of the run, as the label lists it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Thread {
    pub(crate) part: Role,
    /// At its end.
    pub(crate) name: String,
    pub(crate) tid: Tid,
    pub(crate) policy: Policy,
    /// The user's real-time priority, 0 for other policies.
    pub(crate) priority: u32,
    /// The one it was pinned to, where it was one.
    pub(crate) cpu: Option<Cpu>,
    /// When it had its policy and CPU.
    pub(crate) placed_ns: Ns,
    /// The policy that it requested and that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<Policy>,
    /// The signal that ended its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) killed_by: Option<i32>,
}

impl Thread {
    /// The calling thread, with its policy and CPU set.
    fn placed(spec: &ThreadSpec) -> Result<Thread, SysError> {
        let got = getattr(Tid(0))?;
        Ok(Thread {
            part: spec.part,
            name: spec.name.clone(),
            tid: gettid(),
            policy: got.policy,
            priority: got.priority,
            cpu: spec.cpu.filter(|_| spec.may_move.is_none()),
            placed_ns: now(Clock::Monotonic),
            refused: (got.policy != spec.sched.policy).then_some(spec.sched.policy),
            killed_by: None,
        })
    }
}

/// A thread with the log of its part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ThreadLog {
    pub(crate) thread: Thread,
    pub(crate) log: Log,
}

impl ThreadLog {
    /// Prints it on standard output, for the process that waits for this one.
    pub(crate) fn print(&self) -> Result<()> {
        let text = serde_json::to_string(self).context("cannot write a thread's log as JSON")?;
        writeln!(std::io::stdout(), "{text}").context("cannot write a thread's log to standard output")
    }
}

/// All threads of a run that belong to this process.
#[derive(Debug)]
pub(crate) struct Threads {
    share: ProcessShare,
    threads: Vec<JoinHandle<Result<ThreadLog>>>,
    /// Until they have all ended.
    group: Option<Group>,
}

impl Threads {
    /// No thread yet. The memory of this process is locked, as in a real-time program,
    /// with later mappings too if `future`.
    ///
    /// # Errors
    /// Of mlockall(2).
    pub(crate) fn new(setup: &Setup, future: bool) -> Result<Threads> {
        mlockall(if future { Lock::CurrentAndFuture } else { Lock::Current })?;
        Ok(Threads { share: setup.share, threads: Vec::new(), group: None })
    }

    /// Starts a thread that sets its policy and CPU and then does `part`, unless it belongs to
    /// another process.
    ///
    /// # Errors
    /// When no thread can be created.
    pub(crate) fn start(
        &mut self,
        spec: ThreadSpec,
        part: impl FnOnce() -> Log + Send + 'static,
    ) -> Result<()> {
        self.start_killable(spec, |_| part())
    }

    /// The same with a thread that may be killed: the log that it prints before is then its last one.
    ///
    /// # Errors
    /// When no thread can be created.
    pub(crate) fn start_killable(
        &mut self,
        spec: ThreadSpec,
        part: impl FnOnce(&dyn Fn(Log) -> Result<()>) -> Log + Send + 'static,
    ) -> Result<()> {
        if !self.share.starts(spec.part) {
            return Ok(());
        }
        let context = format!("no thread could be created for {}", spec.name);
        let name = spec.name.clone();
        let body = move || {
            spec.set_up()?;
            let mut thread = Thread::placed(&spec)?;
            let log = part(&|log| ThreadLog { thread: thread.clone(), log }.print());
            thread.name = own_name(thread.tid).unwrap_or(thread.name);
            Ok(ThreadLog { thread, log })
        };
        self.threads.push(Builder::new().name(name).spawn(body).context(context)?);
        Ok(())
    }

    /// Keeps the control group that these threads are in until they have ended.
    pub(crate) fn keep(&mut self, group: Group) {
        self.group = Some(group);
    }

    /// Waits for all of them.
    ///
    /// # Errors
    /// The first failure of any: the thread could not do its part.
    pub(crate) fn join(self) -> Result<Vec<ThreadLog>> {
        let mut logs = Vec::new();
        for thread in self.threads {
            logs.push(thread.join().map_err(|_| anyhow!("a thread of the run panicked"))??);
        }
        Ok(logs)
    }
}

/// The name that the kernel has for a thread of this process.
fn own_name(tid: Tid) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}
