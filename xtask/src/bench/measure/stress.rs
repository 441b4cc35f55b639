//! stress-ng beside the runs, surely ended.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Works until it is dropped.
pub(super) struct Stress(Child);

impl Stress {
    /// Processor, memory and context switches; ends by itself after `seconds`.
    pub(super) fn start(seconds: u32) -> Result<Stress> {
        let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
        let child = Command::new("stress-ng")
            .args(["--quiet", "--cpu", &cpus, "--vm", "1", "--vm-bytes", "64M", "--switch", "1"])
            .args(["--timeout", &format!("{seconds}s")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("stress-ng could not be started")?;
        let stress = Stress(child);
        // Its workers are there when it has started them all.
        thread::sleep(Duration::from_secs(1));
        Ok(stress)
    }
}

impl Drop for Stress {
    fn drop(&mut self) {
        // It ends its workers itself, when it is asked to; it may have ended by now.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}
