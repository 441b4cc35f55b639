//! The names of our instances, by which a later run knows what a killed one left behind.
//!
//! `whylate-PID-START-N`: START is the process's start time (field 22 of
//! `/proc/PID/stat`), so that another process that got the same PID later is not mistaken for it.

use super::{Tracefs, TracefsError};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "whylate-";

/// A name no living process uses.
pub(super) fn fresh() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}-{number}", start_time(pid).unwrap_or(0))
}

/// Removes the instances of whylate processes that were killed, and returns their names.
/// One that cannot be removed is left alone: in use by a whylate in another PID namespace,
/// where its process is not to be seen, the kernel answers EBUSY.
///
/// # Errors
/// When the list of instances cannot be read.
pub fn remove_stale(tracefs: &Tracefs) -> Result<Vec<String>, TracefsError> {
    let instances = tracefs.root().join("instances");
    let entries = fs::read_dir(&instances).map_err(|e| TracefsError::io("read", &instances, e))?;
    let stale = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| owner(name).is_some_and(|(pid, start)| start_time(pid) != Some(start)));
    Ok(stale.filter(|name| fs::remove_dir(instances.join(name)).is_ok()).collect())
}

/// The process that made the instance of this name, and when it started; `None` when it is not ours.
fn owner(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let (pid, start, number) = (parts.next()?, parts.next()?, parts.next()?);
    number.parse::<u32>().ok()?;
    parts.next().is_none().then_some((pid.parse().ok()?, start.parse().ok()?))
}

/// When a process started, in clock ticks since boot; `None` when there is no such process.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_are_told_from_others() {
        let (pid, start) = owner(&fresh()).expect("ours");
        assert_eq!(pid, std::process::id());
        assert_eq!(start_time(pid), Some(start));
        assert_ne!(fresh(), fresh());
        for other in ["whylate", "whylate-1", "whylate-1-2", "whylate-x-1-2", "whylate-1-2-3-4", "perf-1-2-3"]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
