//! Loads: what a machine is to do beside what is measured.
//!
//! ```text
//! Loads ──stdin held open──> a process for each load: its own group, ends when stdin does, or is killed with us
//!                              ├─ of our own: a thread on each chosen CPU (work)
//!                              └─ a command: its keeper, which ends all that the command ever started (keeper)
//! ```
//!
//! Loads are processes of their own, so that they share no memory, no locks and no page faults with the measuring
//! threads; they are SCHED_OTHER, whatever the measuring process is.

mod keeper;
mod kind;
mod process;
mod work;

pub use kind::{Load, LoadKind, ParseLoadError, parse};
pub use process::{Launcher, LoadError, LoadReport, Loads};

use std::io::{self, Read, Write};
use std::sync::mpsc;
use whylate_base::{CpuSet, Tid};
use whylate_sys::SchedParams;

/// What a load's process says first when it is at work; anything else is why it is not.
const READY: &str = "ready";

/// The whole life of a load's process: what the program that [`Launcher`] starts calls. Returns when standard input
/// ends, or the load does.
///
/// # Errors
/// Why the load cannot go on; that has been written to standard output as well.
pub fn serve(load: &Load, cpus: &CpuSet) -> io::Result<()> {
    // Whoever measures may have a real-time priority: loads with that would take the machine.
    let _ = whylate_sys::setattr(Tid(0), &SchedParams::OTHER);
    let (ended, input) = mpsc::channel();
    std::thread::Builder::new().name("input".into()).spawn(move || {
        let mut byte = [0];
        while io::stdin().read(&mut byte).is_ok_and(|count| count > 0) {}
        let _ = ended.send(());
    })?;
    let done = match load {
        Load::Own(kind) => work::serve(*kind, cpus, &input),
        Load::Command(command) => keeper::serve(command, cpus, &input),
    };
    if let Err(error) = &done {
        say(&error.to_string());
    }
    done
}

/// Writes a line to whoever started this process; that it is gone is seen at standard input.
fn say(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
