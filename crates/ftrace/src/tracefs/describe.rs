//! What a reader of the pages must know of the kernel that wrote them: formats, symbols, names.

use super::{Instance, Tracefs, TracefsError, text};
use crate::dat::write::{Description, EventFormat};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

impl Instance {
    /// Everything a trace.dat holds besides the pages, for recordings of these events
    /// (`group:name` or a whole group), of this instance and of others on the same machine. Without `symbols` the
    /// names and addresses of the kernel's functions and strings are left out; events still hold pointers.
    ///
    /// # Errors
    /// When a header or an event's format cannot be read. Symbols, printk formats and
    /// thread names are left out where they cannot be read.
    pub fn describe(&self, events: &[String], symbols: bool) -> Result<Description, TracefsError> {
        let tracefs = self.tracefs();
        Ok(Description {
            page_size: self.page_layout()?.size,
            header_page: self.header("header_page")?,
            header_event: self.header("header_event")?,
            ftrace_formats: group_formats(tracefs, "ftrace")?.into_iter().map(|format| format.text).collect(),
            event_formats: event_formats(tracefs, events)?,
            kernel_symbols: symbols.then(kernel_symbols).flatten(),
            printk_formats: symbols
                .then(|| text::read(&tracefs.root().join("printk_formats")).ok())
                .flatten(),
            thread_names: thread_names(tracefs),
            clock: self.read("trace_clock")?,
            uname: uname(),
            cpus: self.cpus()?.len() as u32,
            stacks: None,
        })
    }
}

fn event_formats(tracefs: &Tracefs, events: &[String]) -> Result<Vec<EventFormat>, TracefsError> {
    let mut formats = Vec::new();
    for event in events.iter().collect::<BTreeSet<_>>() {
        match event.split_once(':') {
            Some((group, name)) => formats.push(event_format(tracefs, group, name)?),
            None => formats.extend(group_formats(tracefs, event)?),
        }
    }
    formats.sort_by(|a, b| (&a.group, &a.text).cmp(&(&b.group, &b.text)));
    formats.dedup();
    Ok(formats)
}

fn event_format(tracefs: &Tracefs, group: &str, name: &str) -> Result<EventFormat, TracefsError> {
    let path = tracefs.root().join("events").join(group).join(name).join("format");
    Ok(EventFormat { group: group.to_owned(), text: text::read(&path)? })
}

fn group_formats(tracefs: &Tracefs, group: &str) -> Result<Vec<EventFormat>, TracefsError> {
    let path = tracefs.root().join("events").join(group);
    let entries = fs::read_dir(&path).map_err(|e| TracefsError::io("read", &path, e))?;
    let mut directories: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    directories.retain(|directory| directory.join("format").exists());
    directories.sort();
    let names = directories.iter().filter_map(|directory| directory.file_name()?.to_str());
    names.map(|name| event_format(tracefs, group, name)).collect()
}

/// The kernel's functions in the form of `/proc/kallsyms`; `None` where their addresses
/// are hidden (`kernel.kptr_restrict`, or no CAP_SYSLOG).
///
/// Only functions: that is all an event's pointer is looked up for, and it is a fraction
/// of the file. The `__pfx_` paddings in front of them are never pointed to.
fn kernel_symbols() -> Option<String> {
    functions(&fs::read_to_string("/proc/kallsyms").ok()?)
}

fn functions(kallsyms: &str) -> Option<String> {
    let mut text = String::with_capacity(kallsyms.len() / 2);
    for line in kallsyms.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        if matches!(kind, "t" | "T" | "w" | "W")
            && !name.starts_with("__pfx_")
            && address.bytes().any(|digit| digit != b'0')
        {
            text.push_str(line);
            text.push('\n');
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Thread names as lines of `TID NAME`: of the living from /proc, and of the ended ones
/// that the kernel remembers (`saved_cmdlines`).
fn thread_names(tracefs: &Tracefs) -> String {
    let saved = text::read(&tracefs.root().join("saved_cmdlines")).unwrap_or_default();
    let mut names: BTreeMap<i32, String> = BTreeMap::new();
    for (tid, name) in saved.lines().filter_map(|line| line.trim_start().split_once(' ')) {
        if let Ok(tid) = tid.parse() {
            names.insert(tid, name.to_owned());
        }
    }
    for task in directories(Path::new("/proc")).flat_map(|process| directories(&process.join("task"))) {
        let tid = task.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let (Some(tid), Ok(name)) = (tid, fs::read_to_string(task.join("comm"))) {
            names.insert(tid, name.trim_end_matches('\n').to_owned());
        }
    }
    // A line's end inside a name would end its entry.
    names.iter().map(|(tid, name)| format!("{tid} {}\n", name.replace('\n', "?"))).collect()
}

/// The subdirectories whose names are numbers.
fn directories(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let numbered =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
    fs::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .filter(move |entry| numbered(&entry.file_name()))
        .map(|entry| entry.path())
}

/// As trace-cmd writes it: system, host, release, machine.
fn uname() -> String {
    let uname = rustix::system::uname();
    [uname.sysname(), uname.nodename(), uname.release(), uname.machine()]
        .map(|word| word.to_string_lossy().into_owned())
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_with_addresses_are_kept() {
        let text = "ffffffff81000000 T _stext\nffffffff81000010 t __pfx_hrtimer_wakeup\n\
                    ffffffff81000020 t hrtimer_wakeup\t[timer]\nffffffff82000000 d data\nshort\n";
        let kept = "ffffffff81000000 T _stext\nffffffff81000020 t hrtimer_wakeup\t[timer]\n";
        assert_eq!(functions(text).as_deref(), Some(kept));
        assert_eq!(functions("0000000000000000 T _stext\n0000000000000000 t x\n"), None, "kptr_restrict");
        assert_eq!(functions(""), None);
    }
}
