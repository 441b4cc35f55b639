//! Dynamic events: probes of kernel functions, for what a kernel has no tracepoint for, and of functions of programs.
//!
//! Unlike an instance they belong to the whole tracefs: one is removed when its value is dropped, and what a killed process
//! left behind is removed by the next recording, by the same names as of instances. See the kernel's
//! `Documentation/trace/kprobetrace.rst`, `fprobetrace.rst` and `uprobetracer.rst`.

use super::{Tracefs, TracefsError, name, text};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The group of our probes in recordings. In tracefs each process has a group of its own.
pub const PROBE_GROUP: &str = "whylate";
/// The name of the probe of page faults, in its group.
pub const PAGE_FAULT: &str = "page_fault";
/// The name of the probe where an activation of a program begins, in its group.
pub const ACTIVATION_BEGIN: &str = "activation_begin";
/// The same where it ends.
pub const ACTIVATION_END: &str = "activation_end";

/// A probe of our own, of a function of the kernel or of a program.
#[derive(Debug)]
pub struct ProbeEvent {
    file: PathBuf,
    group: String,
    name: &'static str,
    filter: Option<&'static str>,
}

impl ProbeEvent {
    /// A probe of the function that handles all page faults of programs, in user code or in the kernel: for kernels
    /// without `exceptions:page_fault_user`, as those of arm64.
    ///
    /// # Errors
    /// When the kernel cannot probe functions, when this architecture is not known here, or when it may not be done.
    pub fn of_page_faults(tracefs: &Tracefs) -> Result<ProbeEvent, TracefsError> {
        // vm_fault_t handle_mm_fault(vma, address, flags, regs), `mm/memory.c`. Pages that the kernel makes present for
        // itself, as mlock(2) asks for, come without registers.
        let arguments = match INSTRUCTION_POINTER {
            Some(offset) => {
                format!("address=$arg2:x64 flags=$arg3:x32 regs=$arg4:x64 ip=+{offset}($arg4):x64")
            }
            None => "address=$arg2:x64 flags=$arg3:x32 regs=$arg4:x64".to_owned(),
        };
        ProbeEvent::create(tracefs, PAGE_FAULT, "handle_mm_fault", &arguments, Some("regs != 0"))
    }

    /// Probes at the beginning and at the return of the function that begins at `offset` of a program's file, in all processes
    /// that run it.
    ///
    /// # Errors
    /// When the kernel has no probes of programs, refuses this place, or when it may not be done.
    pub fn of_function(
        tracefs: &Tracefs,
        path: &Path,
        offset: u64,
    ) -> Result<(ProbeEvent, ProbeEvent), TracefsError> {
        let file = user_events(tracefs)?;
        let place = format!("{}:{offset:#x}", path.display());
        Ok((
            of_program(&file, 'p', ACTIVATION_BEGIN, &place)?,
            of_program(&file, 'r', ACTIVATION_END, &place)?,
        ))
    }

    /// A probe at the return of the function that begins at `offset` of a program's file, by the name [`ACTIVATION_BEGIN`].
    ///
    /// # Errors
    /// As of [`ProbeEvent::of_function`].
    pub fn of_return(tracefs: &Tracefs, path: &Path, offset: u64) -> Result<ProbeEvent, TracefsError> {
        of_program(&user_events(tracefs)?, 'r', ACTIVATION_BEGIN, &format!("{}:{offset:#x}", path.display()))
    }

    /// A probe at `offset` of a program's file, in all processes that run it, by the name [`ACTIVATION_BEGIN`] or
    /// [`ACTIVATION_END`]. The kernel counts up the `semaphore` at this place of the file while the probe is recorded (Linux
    /// 4.20 and later).
    ///
    /// # Errors
    /// When the kernel has no probes of programs, refuses this place, or when it may not be done.
    pub fn of_place(
        tracefs: &Tracefs,
        name: &'static str,
        path: &Path,
        (offset, semaphore): (u64, Option<u64>),
    ) -> Result<ProbeEvent, TracefsError> {
        let counted = semaphore.map_or_else(String::new, |semaphore| format!("({semaphore:#x})"));
        of_program(&user_events(tracefs)?, 'p', name, &format!("{}:{offset:#x}{counted}", path.display()))
    }

    fn create(
        tracefs: &Tracefs,
        name: &'static str,
        function: &str,
        arguments: &str,
        filter: Option<&'static str>,
    ) -> Result<ProbeEvent, TracefsError> {
        let file = events_file(tracefs).ok_or_else(|| TracefsError::NoSuchEvent {
            event: format!("{PROBE_GROUP}:{name}"),
            path: tracefs.root().join(FILES[0]),
        })?;
        let group = name::fresh_group();
        let define = |kind: char| append(&file, &format!("{kind}:{group}/{name} {function} {arguments}\n"));
        // A probe by ftrace costs less, and is made without stopping the CPUs; not every kernel has it.
        let made = define('f').or_else(|_| define('p'));
        made?;
        Ok(ProbeEvent { file, group, name, filter })
    }

    /// The event as `group:name`.
    pub fn event(&self) -> String {
        format!("{}:{}", self.group, self.name)
    }

    /// Its group, which is of this process alone.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// What an instance must record of it.
    pub fn filter(&self) -> Option<&'static str> {
        self.filter
    }
}

impl Drop for ProbeEvent {
    fn drop(&mut self) {
        // A failure cannot be reported here; the next recording removes what is left.
        for _ in 0..50 {
            match remove(&self.file, &self.group, self.name) {
                // The instance that records it may be a moment from being gone.
                Err(error) if is_busy(&error) => thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
    }
}

/// Removes the probes of whylate processes of these namespaces that were killed, and returns their names. One that cannot
/// be removed, as an instance still records it, is left alone.
pub(super) fn remove_stale_probes(tracefs: &Tracefs) -> Vec<String> {
    // Before Linux 5.0 the two kinds have lists of their own; after it, what the first one showed is gone from the second.
    [events_file(tracefs), user_events_file(tracefs)]
        .into_iter()
        .flatten()
        .flat_map(remove_stale_of)
        .collect()
}

fn remove_stale_of(file: PathBuf) -> Vec<String> {
    // Not readable: nothing that could be removed.
    let list = text::read(&file).unwrap_or_default();
    let stale = list.lines().filter_map(listed).filter(|(group, _)| name::is_stale_group(group));
    let removed = stale.filter(|(group, name)| remove(&file, group, name).is_ok());
    removed.map(|(group, name)| format!("{group}/{name}")).collect()
}

/// Group and name of a line of the list: `p:group/name function ...`, `r64:group/name ...`.
fn listed(line: &str) -> Option<(&str, &str)> {
    let (_, event) = line.split_ascii_whitespace().next()?.split_once(':')?;
    event.split_once('/')
}

/// The first is of all kinds of dynamic events, since Linux 5.0.
const FILES: [&str; 2] = ["dynamic_events", "kprobe_events"];

fn events_file(tracefs: &Tracefs) -> Option<PathBuf> {
    FILES.iter().map(|file| tracefs.root().join(file)).find(|path| path.exists())
}

/// It is there where the kernel can probe programs, since Linux 3.5.
const USER_FILE: &str = "uprobe_events";

fn user_events_file(tracefs: &Tracefs) -> Option<PathBuf> {
    Some(tracefs.root().join(USER_FILE)).filter(|path| path.exists())
}

fn user_events(tracefs: &Tracefs) -> Result<PathBuf, TracefsError> {
    user_events_file(tracefs).ok_or_else(|| TracefsError::NoSuchEvent {
        event: format!("{PROBE_GROUP}:{ACTIVATION_BEGIN}"),
        path: tracefs.root().join(USER_FILE),
    })
}

/// A probe of this kind (`p`, or `r` at a return) of a program.
fn of_program(file: &Path, kind: char, name: &'static str, place: &str) -> Result<ProbeEvent, TracefsError> {
    let group = name::fresh_group();
    append(file, &format!("{kind}:{group}/{name} {place}\n"))?;
    Ok(ProbeEvent { file: file.to_owned(), group, name, filter: None })
}

fn remove(file: &Path, group: &str, name: &str) -> Result<(), TracefsError> {
    append(file, &format!("-:{group}/{name}\n"))
}

/// Adds a line. To open the file with truncation would remove the probes of all tools.
fn append(file: &Path, line: &str) -> Result<(), TracefsError> {
    let opened = OpenOptions::new().append(true).open(file);
    let mut opened = opened.map_err(|e| TracefsError::io("write", file, e))?;
    opened.write_all(line.as_bytes()).map_err(|e| TracefsError::write(line, file, e))
}

fn is_busy(error: &TracefsError) -> bool {
    matches!(error, TracefsError::Io { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
}

/// Where the interrupted instruction's address lies in the kernel's `struct pt_regs` (`arch/*/include/asm/ptrace.h`): `pc`
/// of arm64, after 31 registers and the stack pointer; `epc` of riscv.
const INSTRUCTION_POINTER: Option<u32> = if cfg!(target_arch = "aarch64") {
    Some(256)
} else if cfg!(any(target_arch = "riscv64", target_arch = "riscv32")) {
    Some(0)
} else {
    None
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn made_up(list: &str) -> (tempfile::TempDir, Tracefs) {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("dynamic_events"), list).expect("a file");
        let tracefs = Tracefs::at(directory.path());
        (directory, tracefs)
    }

    #[test]
    fn a_probe_is_added_and_removed_beside_those_of_others() {
        let (directory, tracefs) = made_up("p:kprobes/other do_exit\n");
        let probe = ProbeEvent::of_page_faults(&tracefs).expect("written");
        let group = probe.group().to_owned();
        assert!(group.starts_with("whylate_") && group.len() < 64, "{group}");
        assert!(group.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()), "{group}");
        assert_eq!(probe.event(), format!("{group}:page_fault"));
        drop(probe);
        let text = fs::read_to_string(directory.path().join("dynamic_events")).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "p:kprobes/other do_exit");
        assert!(
            lines[1].starts_with(&format!("f:{group}/page_fault handle_mm_fault address=$arg2:x64")),
            "{text}"
        );
        assert_eq!(lines[2], format!("-:{group}/page_fault"));
    }

    #[test]
    fn only_probes_of_processes_that_ended_are_removed() {
        let (own, dead) = (name::fresh_group(), name::fresh_group());
        let dead = dead.replace(&format!("_{}_", std::process::id()), "_4194305_");
        let list = format!(
            "p:{own}/page_fault handle_mm_fault\nf:{dead}/page_fault handle_mm_fault\nr64:kprobes/other do_exit\n\
             p:whylate_1_1_4194305_1_0/page_fault handle_mm_fault\nnonsense\n"
        );
        let (directory, tracefs) = made_up(&list);
        assert_eq!(remove_stale_probes(&tracefs), [format!("{dead}/page_fault")]);
        let text = fs::read_to_string(directory.path().join("dynamic_events")).expect("readable");
        assert_eq!(text, format!("{list}-:{dead}/page_fault\n"));
    }

    #[test]
    fn a_kernel_without_probes_has_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = ProbeEvent::of_page_faults(&Tracefs::at(directory.path())).expect_err("none").to_string();
        assert!(error.contains("whylate:page_fault") && error.contains("dynamic_events"), "{error}");
    }
}
