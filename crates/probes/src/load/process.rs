//! Loads as the measuring process sees them: started, watched, ended.

use super::kind::Load;
use super::report::READY;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use whylate_base::CpuSet;

/// How long a load may take to be at work: its CPUs may be busy with others.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// How long one may take to end before it is killed; a supervisor needs two seconds for a command that does not listen.
const END_WITHIN: Duration = Duration::from_secs(5);
/// More than a load ever writes.
const LONGEST_ANSWER: usize = 4096;

/// The program that is started for each load: with its arguments, the CPUs' list, and the load, it is to call
/// [`serve`](super::serve).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its path.
    pub program: PathBuf,
    /// What comes before the CPUs and the load.
    pub arguments: Vec<OsString>,
}

/// Why a load cannot run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There are no CPUs for it.
    #[error("no CPUs are left for the loads: choose others")]
    NoCpus,
    /// Its process cannot be started.
    #[error("cannot start a process for the load {load}")]
    Start {
        /// The load.
        load: String,
        /// Why.
        source: io::Error,
    },
    /// It gave up at once, or did not begin.
    #[error("the load {load} does not run: {why}")]
    Refused {
        /// The load.
        load: String,
        /// What it wrote.
        why: String,
    },
}

/// What became of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// Its name, or the command.
    pub name: String,
    /// What it does, in words.
    pub what: String,
    /// Where.
    pub cpus: CpuSet,
    /// That it ended before it was to: when and why; `None`: it runs, or ran to the end.
    pub died: Option<String>,
}

/// Loads at work. Dropping them ends them.
#[derive(Debug)]
pub struct Loads {
    loads: Vec<Running>,
    cpus: CpuSet,
    since: Instant,
}

#[derive(Debug)]
struct Running {
    child: Child,
    /// The load ends with it; taken when it is to.
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    report: LoadReport,
}

impl Loads {
    /// Starts loads on these CPUs, and waits until they are at work. To be called on the thread that ends them: they
    /// are killed when it ends.
    ///
    /// # Errors
    /// [`LoadError`] when one of them does not run; the others have been ended then.
    pub fn start(loads: &[Load], cpus: &CpuSet, launcher: &Launcher) -> Result<Loads, LoadError> {
        if cpus.is_empty() {
            return Err(LoadError::NoCpus);
        }
        let mut started = Loads { loads: Vec::new(), cpus: cpus.clone(), since: Instant::now() };
        for load in loads {
            let running = Running::start(load, cpus, launcher)
                .map_err(|source| LoadError::Start { load: load.to_string(), source })?;
            started.loads.push(running);
        }
        let until = Instant::now() + READY_WITHIN;
        for running in &mut started.loads {
            let answer = running.first_line(until);
            if answer != READY {
                let why = if answer.is_empty() { "it does not answer".to_owned() } else { answer };
                return Err(LoadError::Refused { load: running.report.name.clone(), why });
            }
        }
        Ok(started)
    }

    /// Looks after them: each, with what became of it.
    pub fn check(&mut self) -> Vec<LoadReport> {
        let after = self.since.elapsed();
        self.loads.iter_mut().for_each(|load| load.look(after));
        self.loads.iter().map(|load| load.report.clone()).collect()
    }

    /// Ends them, within seconds.
    pub fn end(mut self) -> Vec<LoadReport> {
        let reports = self.check();
        self.end_all();
        reports
    }

    fn end_all(&mut self) {
        self.loads.iter_mut().for_each(|load| drop(load.input.take()));
        let until = Instant::now() + END_WITHIN;
        while self.loads.iter_mut().any(Running::is_alive) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        for load in &mut self.loads {
            // A supervisor that is killed takes its command along, though not what that has started.
            let _ = load.child.kill();
            let _ = load.child.wait();
        }
        self.loads.clear();
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// `cpu, io on CPUs 0-3`
impl fmt::Display for Loads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.loads.iter().map(|load| load.report.name.as_str()).collect();
        write!(f, "{} on CPUs {}", names.join(", "), self.cpus)
    }
}

impl Running {
    fn start(load: &Load, cpus: &CpuSet, launcher: &Launcher) -> io::Result<Running> {
        let mut command = Command::new(&launcher.program);
        command.args(&launcher.arguments).arg(cpus.to_string()).arg(load.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Not in our group: a terminal's Ctrl-C is for this process, which ends the loads after the last sample.
        command.process_group(0);
        if let Load::Own(_) = load {
            // A supervisor is not: it must outlive us for as long as it takes to end its command.
            whylate_sys::die_with_parent(&mut command);
        }
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let report = LoadReport {
            name: load.to_string(),
            what: load.what().to_owned(),
            cpus: cpus.clone(),
            died: None,
        };
        Ok(Running { child, input, output, report })
    }

    /// Its first line; empty where it writes none in time.
    fn first_line(&mut self, until: Instant) -> String {
        let mut answer = Vec::new();
        while !answer.ends_with(b"\n") && answer.len() < LONGEST_ANSWER {
            let Some(output) = self.output.as_mut() else { break };
            if !is_readable(&*output, until.saturating_duration_since(Instant::now())) {
                break;
            }
            let mut byte = [0];
            match output.read(&mut byte) {
                Ok(count) if count > 0 => answer.push(byte[0]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&answer).trim().to_owned()
    }

    fn look(&mut self, after: Duration) {
        if self.report.died.is_some() {
            return;
        }
        if let Ok(Some(status)) = self.child.try_wait() {
            let answer = self.first_line(Instant::now());
            let why = if answer.is_empty() { status.to_string() } else { answer };
            self.report.died = Some(format!("it ended after {:.1} s: {why}", after.as_secs_f64()));
        }
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

fn is_readable(output: impl AsFd, within: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(&output, PollFlags::IN)];
    let within = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    matches!(poll(&mut fds, Some(&within)), Ok(count) if count > 0)
}
