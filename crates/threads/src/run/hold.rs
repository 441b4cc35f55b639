//! A start that leaves something to be held or restored: this process stays as the program's parent.

use super::apply;
use super::cgroup::{self, Group};
use super::check::check;
use super::error::RunError;
use super::irq;
use super::journal::{self, RunJournal};
use super::latency;
use super::new_threads::{PACE, ThreadWatch};
use super::program::Program;
use super::request::RunRequest;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use whylate_base::Tid;
use whylate_sys::{BlockedSignals, SysError};

/// Forwarded to the program.
const FORWARDED: [Signal; 7] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2, Signal::WINCH];

/// Starts the program, holds and restores what is asked for, and returns the program's exit code; 128 + n where signal n
/// ended it.
pub(super) fn hold(
    request: &RunRequest,
    command: &[OsString],
    notify: &mut dyn FnMut(&str),
) -> Result<u8, RunError> {
    Program::find(command)?.of_user(request.user.as_deref())?;
    for sentence in journal::recover() {
        notify(&sentence);
    }
    // In the control group the kernel may answer otherwise: there the child asks again.
    let has_group = request.cgroup.is_some() || request.isolated.is_some();
    if !has_group && let Some(refusal) = check(request, command).refused.into_iter().next() {
        return Err(RunError::of_check(refusal));
    }
    let numbers: Vec<i32> = FORWARDED.iter().chain([&Signal::CHILD]).map(|signal| signal.as_raw()).collect();
    let system = |error: SysError| RunError::Input(error.to_string());
    let signals = BlockedSignals::block(&numbers).map_err(system)?;
    let mut held = Held::default();
    let started = held.take(request, notify).and_then(|group| {
        let child = || start(request, command, &signals, group.as_ref());
        whylate_sys::fork_single_threaded(child).map_err(system)
    });
    let code = match started {
        Ok(child) => follow(child, request, &signals, notify),
        Err(error) => Err(error),
    };
    for left in held.restore() {
        notify(&format!("not restored: {left}"));
    }
    signals.restore();
    code
}

/// What is held while the program runs.
#[derive(Default)]
struct Held {
    dma_latency: Option<File>,
    journal: Option<RunJournal>,
}

impl Held {
    /// Changes what is outside the program; returns the group that it is to join.
    fn take(
        &mut self,
        request: &RunRequest,
        notify: &mut dyn FnMut(&str),
    ) -> Result<Option<Group>, RunError> {
        if let Some(us) = request.dma_latency_us {
            self.dma_latency = Some(latency::hold(us)?);
            notify(&format!("a latency of {us} us is requested"));
        }
        let changes_outside =
            !request.irqs.is_empty() || request.cgroup.is_some() || request.isolated.is_some();
        if !changes_outside {
            return Ok(None);
        }
        let journal = RunJournal::create().map_err(|error| {
            RunError::Input(format!(
                "cannot write down in /run/whylate/run what is to be restored: {error}: interrupts and control groups need root"
            ))
        })?;
        let journal = self.journal.insert(journal);
        for rule in &request.irqs {
            irq::apply(rule, journal)?.iter().for_each(|line| notify(line));
        }
        let group = cgroup::prepare(request, journal)?;
        if let Some(group) = &group {
            notify(&format!("control group {}", group.name()));
        }
        Ok(group)
    }

    fn restore(self) -> Vec<String> {
        drop(self.dma_latency);
        self.journal.map(RunJournal::restore).unwrap_or_default()
    }
}

/// In the child: becomes the program, or reports why not and returns the exit code.
fn start(request: &RunRequest, command: &[OsString], signals: &BlockedSignals, group: Option<&Group>) -> i32 {
    let joined = group.map_or(Ok(()), Group::join);
    let mut report = |text: &str| {
        if request.verbose {
            let _ = writeln!(io::stderr(), "whylate: {text}");
        }
    };
    let error = match joined {
        Ok(()) => match apply::prepare(request, command, &mut report) {
            Ok(program) => {
                signals.restore();
                program.exec()
            }
            Err(error) => error,
        },
        Err(error) => error,
    };
    let _ = writeln!(io::stderr(), "whylate: {error}");
    error.exit_code().into()
}

/// Follows the program until it ends: forwards signals, and gives new threads their settings.
fn follow(
    child: Pid,
    request: &RunRequest,
    signals: &BlockedSignals,
    notify: &mut dyn FnMut(&str),
) -> Result<u8, RunError> {
    let failed = |error: SysError| RunError::Input(error.to_string());
    let mut watch = (!request.new_threads.is_empty()).then(|| ThreadWatch::new(&request.new_threads));
    let pid = Tid(child.as_raw_nonzero().get());
    loop {
        if let Some((_, status)) = wait(child)? {
            for pattern in watch.iter().flat_map(ThreadWatch::unmet) {
                notify(&format!("--new-threads: no thread had a name like {pattern}"));
            }
            return Ok(code(status));
        }
        if let Some(watch) = &mut watch {
            watch.look(pid, notify);
        }
        let received = signals.wait(watch.as_ref().map(|_| PACE)).map_err(failed)?;
        let Some(received) = received.filter(|received| received.number != Signal::CHILD.as_raw()) else {
            continue;
        };
        // The terminal sends its signals to the program as well.
        if received.by_process
            && let Some(signal) = Signal::from_named_raw(received.number)
        {
            let _ = rustix::process::kill_process(child, signal);
        }
    }
}

fn wait(child: Pid) -> Result<Option<(Pid, WaitStatus)>, RunError> {
    rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(child), WaitOptions::NOHANG))
        .map_err(|error| RunError::Input(format!("cannot wait for the program: {error}")))
}

/// As a shell has it: 128 + n for a signal.
fn code(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(signal).unwrap_or(125);
    u8::try_from(code).unwrap_or(125)
}
