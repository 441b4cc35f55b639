//! The supervisor of a command: starts it, and ends it with all that it has ever started.
//!
//! As a subreaper it becomes the parent of every process that the command leaves behind (PR_SET_CHILD_SUBREAPER), daemons that
//! have made themselves a session of their own included: what descends from the supervisor descends from the command.

use super::report::{self, READY};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, set_child_subreaper, wait};
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Tid};

/// How long a command may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);
/// The most of a line of the command's that is reported.
const LINE: u64 = 1000;

/// Runs the command on these CPUs until `ended` receives, or none of its processes is left.
pub(super) fn serve(command: &str, cpus: &CpuSet, ended: &Receiver<()>) -> io::Result<()> {
    whylate_sys::setaffinity(Tid(0), cpus).map_err(io::Error::other)?;
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // A group of its own, so that what it signals is not us.
    shell.process_group(0);
    whylate_sys::die_with_parent(&mut shell);
    let mut child = shell.spawn()?;
    let last_line = child.stderr.take().map(listen).transpose()?.unwrap_or_default();
    let first = Pid::from_child(&child);
    report::line(READY);
    let mut status = None;
    loop {
        match ended.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                end_all();
                return Ok(());
            }
        }
        if !reap(first, &mut status) {
            let status = status.map_or_else(|| "it is gone".to_owned(), |status| status_words(&status));
            let line = last_line.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let line = if line.is_empty() { line } else { format!(": {line}") };
            return Err(io::Error::other(format!("{status}{line}")));
        }
    }
}

fn status_words(status: &WaitStatus) -> String {
    ExitStatus::from_raw(status.as_raw()).to_string()
}

/// Takes note of children that ended, the first one's status above all; false when none is left.
fn reap(first: Pid, status: &mut Option<WaitStatus>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == first => *status = Some(ended),
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Keeps the last line of what the command complains about.
fn listen(stderr: ChildStderr) -> io::Result<Arc<Mutex<String>>> {
    let last = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&last);
    let mut stderr = BufReader::new(stderr);
    let read = move || {
        let mut line = Vec::new();
        loop {
            line.clear();
            match stderr.by_ref().take(LINE).read_until(b'\n', &mut line) {
                Ok(count) if count > 0 => {}
                _ => return,
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                *own.lock().unwrap_or_else(PoisonError::into_inner) = text;
            }
        }
    };
    std::thread::Builder::new().name("stderr".into()).spawn(read)?;
    Ok(last)
}

/// Ends all descendants: asks them first, so that they can clean up.
fn end_all() {
    let start = Instant::now();
    signal_all(Signal::TERM);
    let mut killed = None;
    loop {
        if !reap(rustix::process::getpid(), &mut None) {
            return;
        }
        // What they start while they are being killed is killed in the next turn.
        if start.elapsed() >= PATIENCE && killed.is_none_or(|at: Instant| at.elapsed() >= LOOK * 5) {
            signal_all(Signal::KILL);
            killed = Some(Instant::now());
        }
        std::thread::sleep(LOOK);
    }
}

fn signal_all(signal: Signal) {
    for pid in descendants(rustix::process::getpid(), &parents()) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

/// Each process with its parent.
fn parents() -> HashMap<i32, i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parent = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold anything, parentheses and blanks included; it ends at the last one.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    entries.filter_map(|entry| parent(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn descendants(of: Pid, parents: &HashMap<i32, i32>) -> Vec<Pid> {
    let of = of.as_raw_nonzero().get();
    let descends = |&&pid: &&i32| {
        let mut ancestors = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        // Ids may have been used anew while the list was made: no walk goes on for ever.
        ancestors.by_ref().skip(1).take(parents.len()).any(|ancestor| ancestor == of)
    };
    parents.keys().filter(descends).filter_map(|&pid| Pid::from_raw(pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_children_and_theirs() {
        let parents = HashMap::from([(2, 1), (3, 2), (4, 3), (5, 1), (6, 7), (7, 6)]);
        let mut found: Vec<i32> = descendants(Pid::from_raw(2).expect("an id"), &parents)
            .into_iter()
            .map(|pid| pid.as_raw_nonzero().get())
            .collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4]);
        assert!(super::parents().len() > 1, "this process has a parent");
    }
}
