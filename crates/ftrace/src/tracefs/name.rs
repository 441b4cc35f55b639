//! The names of our instances, by which a later run knows what a killed one left behind.
//!
//! `whylate-NAMESPACES-PID-START-N`: START is the process's start time (field 22 of
//! `/proc/PID/stat`), so that another process that got the same PID later is not mistaken for it.
//! NAMESPACES are those by which PID and START count (`pid_namespaces(7)`, `time_namespaces(7)`): what a process of
//! another container made cannot be judged here, and is left alone.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "whylate-";

/// The namespaces of a process that cannot tell its own; no process judges names with it.
const UNKNOWN: &str = "0";

/// A name no living process uses: of an instance, or of anything else that a killed process leaves behind.
pub fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let pid = std::process::id();
    let namespaces = namespaces().unwrap_or_else(|| UNKNOWN.to_owned());
    format!("{PREFIX}{namespaces}-{pid}-{}-{number}", start_time(pid).unwrap_or(0))
}

/// A name as of [`fresh_name`] for a group of events, which is made of letters, digits and `_`.
pub(super) fn fresh_group() -> String {
    fresh_name().replace(['-', '.'], "_")
}

/// True for the group that a killed process of these namespaces made by [`fresh_group`].
pub(super) fn is_stale_group(group: &str) -> bool {
    // Without both namespaces the process that made it could not tell its own.
    let parts: Vec<&str> = group.split('_').collect();
    match parts[..] {
        [prefix, pids, times, pid, start, number] => {
            is_stale(&format!("{prefix}-{pids}.{times}-{pid}-{start}-{number}"))
        }
        _ => false,
    }
}

/// True for the name that a killed process of these namespaces made by [`fresh_name`].
pub fn is_stale(name: &str) -> bool {
    let owner = namespaces().and_then(|own| owner(name, &own));
    owner.is_some_and(|(pid, start)| start_time(pid) != Some(start))
}

/// The namespaces of this process's PID and of its clock; `None` where /proc shows those of another.
fn namespaces() -> Option<String> {
    let shown = fs::read_link("/proc/self").ok()?;
    if shown.to_str()?.parse() != Ok(std::process::id()) {
        return None;
    }
    let number = |kind: &str| {
        let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        let number = link.to_str()?.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.to_owned();
        number.bytes().all(|digit| digit.is_ascii_digit()).then_some(number)
    };
    // Before Linux 5.6 there is one clock for all.
    Some(format!("{}.{}", number("pid")?, number("time").as_deref().unwrap_or(UNKNOWN)))
}

/// The process of our namespaces that made the instance of this name, and when it started; `None` of any other instance.
fn owner(name: &str, own: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    if parts.next()? != own {
        return None;
    }
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
        let own = namespaces().expect("of this process");
        let (pid, start) = owner(&fresh_name(), &own).expect("ours");
        assert_eq!(pid, std::process::id());
        assert_eq!(start_time(pid), Some(start));
        assert_ne!(fresh_name(), fresh_name());
        assert_eq!(owner(&fresh_name(), "1.1"), None, "another container's");
        for other in ["", "-1", "-1-2", "-x-1-2", "-1-2-3-4"] {
            let other = format!("whylate-{own}{other}");
            assert_eq!(owner(&other, &own), None, "{other}");
        }
        assert_eq!(owner(&format!("perf-{own}-1-2-3"), &own), None);
    }

    #[test]
    fn only_names_of_processes_that_ended_are_stale() {
        let own = namespaces().expect("of this process");
        let pid = std::process::id();
        let start = start_time(pid).expect("it runs");
        assert!(!is_stale(&fresh_name()));
        assert!(is_stale(&format!("{PREFIX}{own}-{pid}-{}-0", start - 1)), "another process of this id");
        assert!(is_stale(&format!("{PREFIX}{own}-{}-1-0", i32::MAX)));
        assert!(!is_stale(&format!("{PREFIX}1.1-{}-1-0", i32::MAX)), "another container's");
        assert!(!is_stale("whylate"));
    }
}
