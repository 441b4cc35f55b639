//! Signals that would end the program ask a run to finish: what was gathered is kept, what was changed is undone.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whylate_investigate::record::Stop;
use whylate_investigate::watch::WatchSignals;

/// A user that presses Ctrl-C this often means now. Twice is not enough: `timeout` sends its
/// signal to its child and again to the child's group, and a closed terminal may send two SIGHUPs.
const IMPATIENT: u32 = 3;

/// What ends a program that does not handle it (signal(7)), beside faults of its own and what a user sends to see it die: SIGQUIT.
const ENDING: [i32; 7] = [SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU];

/// A file that may not grow further (RLIMIT_FSIZE) is an error of its write, as on a full disk, and does not end the program. A handler,
/// unlike a signal that is ignored, does not go over to commands that are executed (execve(2)).
pub(crate) fn take_limits_as_errors() {
    // Without it, the limit ends the program as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Does `clean` when a signal would end the program, and then ends it: for a run that may wait for more of a pipe, and so cannot look
/// at a flag.
pub(crate) fn clean_up_before_the_end(clean: impl FnOnce() + Send + 'static) -> Result<()> {
    let mut signals = Signals::new(ENDING).context("cannot install signal handlers")?;
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            clean();
            std::process::exit(128 + signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).context("cannot start a thread")?;
    Ok(())
}

/// The flags of a watch: as [`stop_flags`], but SIGHUP asks for the configuration to be read again, where there is one.
pub(crate) fn watch_flags(has_configuration: bool) -> Result<WatchSignals> {
    let stop = stop_flags_by(ENDING.into_iter().filter(|signal| !has_configuration || *signal != SIGHUP))?;
    let reload = Arc::new(AtomicBool::new(false));
    if has_configuration {
        signal_hook::flag::register(SIGHUP, Arc::clone(&reload)).context("cannot install signal handlers")?;
    }
    Ok(WatchSignals { stop: stop.asked, alone: stop.alone, reload })
}

/// Flags that the first signal sets.
///
/// A terminal sends SIGINT to every process in its foreground, and so to a command of ours as
/// well; `timeout`, `kill` and service managers may send the others to us alone.
pub(crate) fn stop_flags() -> Result<Stop> {
    stop_flags_by(ENDING.into_iter())
}

fn stop_flags_by(signals: impl Iterator<Item = i32>) -> Result<Stop> {
    let stop = Stop::default();
    let flags = stop.clone();
    let mut signals = Signals::new(signals).context("cannot install signal handlers")?;
    let watch = move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            if signal == SIGINT {
                interrupts += 1;
            } else {
                flags.alone.store(true, Ordering::Release);
            }
            flags.asked.store(true, Ordering::Release);
            if interrupts >= IMPATIENT {
                crate::live::restore();
                std::process::exit(128 + SIGINT);
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch).context("cannot start a thread")?;
    Ok(stop)
}
