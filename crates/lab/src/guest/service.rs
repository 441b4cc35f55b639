//! The job of one boot, done by a service of a guest that has a disk and an init of its own.
//!
//! The service unpacks the disk with the job into [`WORK`] and starts the program `whylate-lab` there
//! (`disk/customize.sh` has its unit). Files of `/out` are in memory: a job leaves on the disk only what its
//! steps write there.

use super::console::{DONE, READY};
use super::report::write_report;
use super::results;
use super::steps::Steps;
use crate::job::{GuestJob, OUT_DIR};
use rustix::mount::{MountFlags, mount};
use std::path::Path;
use std::process::{Command, Stdio};

/// The directory in the guest that the job is unpacked into; it is in memory.
pub(crate) const WORK: &str = "/run/whylate-lab";
/// The serial of the disk with the job.
pub(crate) const JOB_DISK: &str = "job";
/// The serial of the disk for the results.
pub(crate) const RESULTS_DISK: &str = "results";

/// Does the job and shuts the machine down. Returns the reason of a failure.
///
/// # Errors
/// When this is no guest, or the machine could not be shut down.
pub fn main() -> Result<(), String> {
    let job = Path::new(WORK).join("job.json");
    if !job.exists() {
        return Err(format!(
            "this command runs only in a guest of `whylate-lab`: it must find {}",
            job.display()
        ));
    }
    if let Err(problem) = work(&job) {
        println!("whylate-guest: {problem}");
    }
    command(&["systemctl", "--no-block", "poweroff"])
}

fn work(job: &Path) -> Result<(), String> {
    let text = std::fs::read(job).map_err(|error| format!("{}: {error}", job.display()))?;
    let job: GuestJob =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", job.display()))?;
    let out = Path::new(OUT_DIR);
    mount("tmpfs", out, "tmpfs", MountFlags::empty(), None::<&std::ffi::CStr>)
        .map_err(|errno| format!("mount -t tmpfs tmpfs {OUT_DIR}: {errno}"))?;
    let mut problems = Vec::new();
    for module in &job.modules {
        problems.extend(command(&["modprobe", &module.path, &module.parameters]).err());
    }
    let files = format!("{WORK}/files/.");
    if Path::new(&files).exists() {
        command(&["cp", "-a", &files, "/"])?;
    }
    // The rest of the boot would disturb the job. The status is `degraded` where a unit failed, which the job may be
    // about.
    let _ = command(&["systemctl", "is-system-running", "--wait"]);
    // No unit waits for the drivers that udev still loads, whose interrupts and parameters would be there in one
    // state of the machine and not in the next.
    problems.extend(command(&["udevadm", "settle", "--timeout=100"]).err());
    for problem in &problems {
        println!("whylate-guest: {problem}");
    }
    println!("{READY}");
    let steps = Steps::new(&job.environment).run(&job.steps);
    write_report(out, problems, steps)?;
    results::send(out, &results::Listing::new(), &format!("/dev/disk/by-id/virtio-{RESULTS_DISK}"))?;
    println!("{DONE}");
    Ok(())
}

fn command(words: &[&str]) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let arguments = arguments.iter().filter(|argument| !argument.is_empty());
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())),
    }
}
