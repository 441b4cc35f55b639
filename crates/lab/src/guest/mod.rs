//! The guest's side of a job: the program `whylate` as its init, or `whylate-lab` as a service.
//!
//! ```text
//!  mounts   the file systems of a running system
//!  network  the end of a cable to another guest
//!  steps    the job, step by step
//!  results  the resulting files
//!  service  the same job, done by a service of a guest that has an init of its own
//! ```
//!
//! While a program runs, the init sleeps in `waitpid(2)`, so a recording contains only the kernel and the
//! program.

mod console;
mod mounts;
mod network;
mod processes;
mod report;
mod results;
mod service;
mod steps;

use crate::Arch;
use crate::job::{GuestJob, JOB_PATH, Module, OUT_DIR};
use report::write_report;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, ioctl_tiocsctty, kill_process_group, setrlimit, setsid,
};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::ffi::CString;
use std::fs::File;
use std::path::Path;
use steps::Steps;

pub(crate) use console::{CUT, DONE, READY};
pub use service::main as service;
pub(crate) use service::{JOB_DISK, RESULTS_DISK, WORK};

/// The disk that the host gave for results: the only one.
const DISK: &str = "/dev/vda";

/// Does the job of [`JOB_PATH`] and turns the machine off. Returns only when this is not the init
/// of a guest, with the reason.
pub fn main() -> String {
    if std::process::id() != 1 || !Path::new(JOB_PATH).exists() {
        return format!(
            "this command runs only in a guest of `whylate lab`: it must be process 1 and find {JOB_PATH}"
        );
    }
    if let Err(problem) = work() {
        println!("whylate-guest: {problem}");
    }
    rustix::fs::sync();
    match reboot(RebootCommand::PowerOff) {
        Ok(()) => "the machine is off".to_owned(),
        Err(errno) => format!("reboot: {errno}"),
    }
}

fn work() -> Result<(), String> {
    let mut problems = mounts::mount_all();
    problems.extend(raise_limits());
    if let Err(error) = whylate_sys::loopback_up() {
        problems.push(error.to_string());
    }
    let job = std::fs::read(JOB_PATH).map_err(|error| format!("{JOB_PATH}: {error}"))?;
    let job: GuestJob = serde_json::from_slice(&job).map_err(|error| format!("{JOB_PATH}: {error}"))?;
    problems.extend(job.modules.iter().filter_map(|module| load(module).err()));
    problems.extend(job.network.and_then(|network| network::connect(network).err()));
    for problem in &problems {
        println!("whylate-guest: {problem}");
    }
    problems.extend(take_keyboard().err());
    let before = results::listing(Path::new(OUT_DIR));
    println!("{READY}");
    let steps = Steps::new(&job.environment).run(&job.steps);
    // Background programs must not write to the files while these are packed. The group of
    // init stands for every other process (kill(2), -1); where there is none, all the better.
    let _ = kill_process_group(Pid::INIT, Signal::KILL);
    write_report(Path::new(OUT_DIR), problems, steps)?;
    results::send(Path::new(OUT_DIR), &before, DISK)?;
    println!("{DONE}");
    Ok(())
}

/// Programs in the guest then need no `ulimit`.
fn raise_limits() -> Vec<String> {
    let limit = |value| Rlimit { current: value, maximum: value };
    // The kernel refuses more open files than fs.nr_open, which is this by default.
    let limits = [
        ("RLIMIT_NOFILE", Resource::Nofile, limit(Some(1 << 20))),
        ("RLIMIT_MEMLOCK", Resource::Memlock, limit(None)),
        ("RLIMIT_RTPRIO", Resource::Rtprio, limit(Some(99))),
    ];
    let failed = |(name, which, to)| setrlimit(which, to).err().map(|errno| format!("{name}: {errno}"));
    limits.into_iter().filter_map(failed).collect()
}

/// Makes the console the terminal of this process and its children: Ctrl-C there, by which the host ends a run at its
/// limit, then interrupts them. Init itself has no handler, and so is spared (kill(2)).
fn take_keyboard() -> Result<(), String> {
    let keyboard = format!("/dev/{}", Arch::native().console());
    let failed = |errno: std::io::Error| format!("{keyboard}: {errno}");
    let console = File::options().read(true).write(true).open(&keyboard).map_err(failed)?;
    // Of a process that leads a session already there is nothing to make.
    let _ = setsid();
    ioctl_tiocsctty(&console).map_err(|errno| failed(errno.into()))
}

fn load(module: &Module) -> Result<(), String> {
    let failed = |why: String| format!("module {}: {why}", module.path);
    let file = File::open(&module.path).map_err(|error| failed(error.to_string()))?;
    let parameters = CString::new(module.parameters.as_str()).map_err(|error| failed(error.to_string()))?;
    finit_module(&file, &parameters, 0).map_err(|errno| failed(errno.to_string()))
}
