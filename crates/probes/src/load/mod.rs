//! Loads: what a machine is to do beside what is measured.
//!
//! ```text
//! Loads ──stdin held open──> a process for each load: its own group, ends when stdin does, or is killed with us
//!                              ├─ of our own: a thread on each chosen CPU (work)
//!                              └─ a command: its supervisor, which ends all that the command ever started (supervisor)
//! ```
//!
//! Loads are processes of their own, so that they share no memory, no locks and no page faults with the measuring
//! threads; they are SCHED_OTHER, whatever the measuring process is.

mod kind;
mod process;
mod report;
mod supervisor;
mod work;

pub use kind::{Load, LoadKind, ParseLoadError, parse};
pub use process::{Launcher, LoadError, LoadReport, Loads};

use std::io::{self, Read};
use std::sync::mpsc;
use whylate_base::{CpuSet, Tid};
use whylate_sys::SchedParams;

/// The whole life of a load's process: what the program that [`Launcher`] starts calls. Returns when standard input
/// ends, or the load does.
///
/// # Errors
/// Why the load cannot go on; that has been written to standard output as well.
pub fn serve(load: &Load, cpus: &CpuSet) -> io::Result<()> {
    // The measuring process may have a real-time priority: loads that inherit it would take the whole machine.
    let _ = whylate_sys::setattr(Tid(0), &SchedParams::OTHER);
    let (ended, input) = mpsc::channel();
    std::thread::Builder::new().name("input".into()).spawn(move || {
        let mut byte = [0];
        while io::stdin().read(&mut byte).is_ok_and(|count| count > 0) {}
        let _ = ended.send(());
    })?;
    let done = match load {
        Load::Own(kind) => work::serve(*kind, cpus, &input),
        Load::Command(command) => supervisor::serve(command, cpus, &input),
    };
    if let Err(error) = &done {
        report::line(&error.to_string());
    }
    done
}
