//! Runs a program and measures how long it took and what it used.

use anyhow::{Context, Result, bail};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What one run used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Start to exit.
    pub(super) time: Duration,
    /// CPU time of all its threads, in the kernel's ticks of 10 ms.
    pub(super) cpu: Duration,
    /// The most memory it had resident, in KiB, as last seen before it ended.
    pub(super) peak_kib: u64,
}

/// Runs `command` to its end with its output discarded.
///
/// # Errors
/// If it cannot be started, or exits with another code than 0 or 1 (findings are no failure here).
pub(super) fn run(command: &mut Command) -> Result<Usage> {
    run_ending(command, &[0, 1])
}

/// Runs `command` to its end with its output discarded.
///
/// # Errors
/// If it cannot be started, or exits with none of these codes.
pub(super) fn run_ending(command: &mut Command, codes: &[i32]) -> Result<Usage> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cpu_before = children_cpu();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{name} could not be started"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    // The high-water mark only rises, so the last look before the end is at most one pause old.
    let (status, time, peak_kib) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                let seen = fs::read_to_string(&status_file).ok().and_then(|status| high_water(&status));
                peak = peak.max(seen.unwrap_or(0));
                thread::sleep(Duration::from_millis(5));
            }
            peak
        });
        let status = child.wait();
        let time = start.elapsed();
        ended.store(true, Ordering::Relaxed);
        (status, time, watcher.join().unwrap_or(0))
    });
    let status = status.with_context(|| format!("{name} could not be waited for"))?;
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("{command:?} failed: {status}");
    }
    let cpu = children_cpu().saturating_sub(cpu_before);
    Ok(Usage { time, cpu, peak_kib })
}

/// CPU time of all children that were waited for (cutime and cstime, proc_pid_stat(5)).
fn children_cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold blanks; the fields after it begin with the third.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// VmHWM in KiB (proc_pid_status(5)).
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The middle one by time; of an even number the faster of the two in the middle.
pub(super) fn median(runs: &[Usage]) -> Option<Usage> {
    let mut sorted = runs.to_vec();
    sorted.sort_by_key(|run| run.time);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read_in_kib() {
        assert_eq!(high_water("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t  3428 kB\n"), Some(3428));
        assert_eq!(high_water("Name:\tkworker\n"), None);
    }

    #[test]
    fn the_median_is_by_time() {
        let run = |ms: u64| Usage { time: Duration::from_millis(ms), cpu: Duration::ZERO, peak_kib: ms };
        assert_eq!(median(&[run(30), run(10), run(20)]).map(|run| run.peak_kib), Some(20));
        assert_eq!(median(&[run(30), run(10)]).map(|run| run.peak_kib), Some(10));
        assert!(median(&[]).is_none());
    }

    #[test]
    fn a_run_that_fails_is_an_error_and_one_with_findings_is_none() {
        assert!(run(&mut Command::new("true")).is_ok());
        assert!(run(&mut Command::new("false")).is_ok());
        assert!(run(Command::new("sh").args(["-c", "exit 2"])).is_err());
        assert!(run(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}
