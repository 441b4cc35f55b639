//! A command whose run time shows what the change costs: it runs again and again while a round is measured.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::Ns;
use whylate_sys::Clock;

/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(2);
/// Runs of a round that are kept.
const MOST: usize = 10_000;

/// Runs the command until `over` is set; how long each whole run took.
///
/// # Errors
/// It cannot be started, or it failed.
pub(crate) fn repeat(command: &str, over: &AtomicBool) -> Result<Vec<Ns>, String> {
    let mut took = Vec::new();
    while !over.load(Ordering::Acquire) && took.len() < MOST {
        let started = whylate_sys::now(Clock::Monotonic);
        let child = start(command).map_err(|error| format!("cannot start `{command}`: {error}"))?;
        match end_of(child, over) {
            Some(Ok(true)) => took.push(whylate_sys::now(Clock::Monotonic) - started),
            Some(Ok(false)) => return Err(format!("`{command}` failed")),
            Some(Err(error)) => return Err(format!("cannot wait for `{command}`: {error}")),
            None => {}
        }
    }
    Ok(took)
}

fn start(command: &str) -> io::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    whylate_sys::die_with_parent(&mut shell);
    shell.spawn()
}

/// Whether it succeeded; `None`: the round was over first, and it was killed.
fn end_of(mut child: Child, over: &AtomicBool) -> Option<io::Result<bool>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(Ok(status.success())),
            Ok(None) if over.load(Ordering::Acquire) => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return None;
            }
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_runs_are_timed_and_failures_reported() {
        let over = AtomicBool::new(false);
        let took = std::thread::scope(|scope| {
            let runs = scope.spawn(|| repeat("true", &over));
            std::thread::sleep(Duration::from_millis(300));
            over.store(true, Ordering::Release);
            runs.join().expect("no panic")
        });
        assert!(took.expect("runs").iter().all(|one| *one > Ns::ZERO));
        let failed = repeat("exit 3", &AtomicBool::new(false)).expect_err("it fails");
        assert!(failed.contains("`exit 3` failed"), "{failed}");
        assert_eq!(repeat("true", &AtomicBool::new(true)), Ok(Vec::new()));
    }
}
