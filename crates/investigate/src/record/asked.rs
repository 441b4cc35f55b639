//! An event that was asked for and that this kernel does not have: what may have been meant.

use super::error::RecordError;
use std::fs;
use std::path::Path;
use whylate_ftrace::tracefs::Tracefs;

/// The error for it, with advice.
pub(super) fn no_such_event(tracefs: &Tracefs, event: &str) -> RecordError {
    RecordError::NoSuchEvent {
        event: event.to_owned(),
        advice: advice(&tracefs.root().join("events"), event),
    }
}

/// `events` is the directory of the events: one directory for each group, and in it one for each
/// of its events (`Documentation/trace/events.rst`).
fn advice(events: &Path, asked: &str) -> String {
    let (group, name) = match asked.split_once(':') {
        Some((group, name)) => (Some(group), name),
        None => (None, asked),
    };
    if let Some(group) = group.filter(|group| is_event(events, group) && matches!(name, "" | "*")) {
        return format!("to record the whole group, use {group}");
    }
    match groups_with(events, name).as_slice() {
        [] => "tracefs's available_events lists its events".to_owned(),
        groups => {
            let names: Vec<String> = groups.iter().map(|group| format!("{group}:{name}")).collect();
            format!("it has {}", names.join(" and "))
        }
    }
}

/// The groups that have an event of this name, sorted.
fn groups_with(events: &Path, name: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(events) else { return Vec::new() };
    let mut groups: Vec<String> = entries
        .flatten()
        .filter(|group| is_event(&group.path(), name))
        .map(|group| group.file_name().to_string_lossy().into_owned())
        .collect();
    groups.sort();
    groups
}

/// Whether there is an event or a group of this name. The name is a user's: it must not lead elsewhere.
fn is_event(directory: &Path, name: &str) -> bool {
    let plain = !matches!(name, "" | "." | "..") && !name.contains('/');
    plain && directory.join(name).join("enable").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        for event in ["", "sched", "sched/sched_switch", "net", "net/rx", "wifi", "wifi/rx"] {
            let event = directory.path().join(event);
            fs::create_dir_all(&event).expect("created");
            fs::write(event.join("enable"), "0\n").expect("written");
        }
        for (asked, expected) in [
            ("sched_switch", "it has sched:sched_switch"),
            ("net:sched_switch", "it has sched:sched_switch"),
            ("rx", "it has net:rx and wifi:rx"),
            ("sched:*", "to record the whole group, use sched"),
            ("sched:", "to record the whole group, use sched"),
            ("sched:nothing", "available_events"),
            ("nothing:*", "available_events"),
            ("nothing", "available_events"),
            ("", "available_events"),
            (".", "available_events"),
            ("..:.", "available_events"),
            ("sched/sched_switch", "available_events"),
        ] {
            let advice = advice(directory.path(), asked);
            assert!(advice.contains(expected), "{asked}: {advice}");
        }
    }
}
