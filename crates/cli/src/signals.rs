//! SIGINT, SIGTERM and SIGHUP ask a run to finish: what was gathered is kept, what was changed is undone.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first signal sets. A second one ends the program at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the check for a second signal must see the flag as the first one left it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("cannot install signal handlers")?;
    }
    Ok(stop)
}
