//! What a whylate process left behind that was killed.

use super::{Tracefs, TracefsError, name, probe};
use std::fs;

/// Removes the instances and probes of whylate processes of these namespaces that were killed, and returns their names.
/// One that cannot be removed is left alone.
///
/// # Errors
/// When the list of instances cannot be read.
pub fn remove_stale(tracefs: &Tracefs) -> Result<Vec<String>, TracefsError> {
    let instances = tracefs.root().join("instances");
    let entries = fs::read_dir(&instances).map_err(|e| TracefsError::io("read", &instances, e))?;
    let stale = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name::is_stale(name));
    let mut removed: Vec<String> =
        stale.filter(|name| fs::remove_dir(instances.join(name)).is_ok()).collect();
    // After them: an instance keeps the probe that it records.
    removed.extend(probe::remove_stale_probes(tracefs));
    Ok(removed)
}
