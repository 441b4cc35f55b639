//! SIGINT, SIGTERM and SIGHUP ask a run to finish: what was gathered is kept, what was changed is undone.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::Arc;
use whylate_investigate::record::Stop;

/// Flags that the first signal sets. A second one ends the program at once.
///
/// A terminal sends SIGINT to every process in its foreground, and so to a command of ours as
/// well; `timeout`, `kill` and service managers may send the other two to us alone.
pub(crate) fn stop_flags() -> Result<Stop> {
    let stop = Stop::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the check for a second signal must see the flag as the first one left it.
        register_conditional_shutdown(signal, 130, Arc::clone(&stop.asked))
            .and_then(|_| match signal {
                SIGINT => Ok(()),
                _ => register(signal, Arc::clone(&stop.alone)).map(drop),
            })
            .and_then(|()| register(signal, Arc::clone(&stop.asked)))
            .context("cannot install signal handlers")?;
    }
    Ok(stop)
}
