//! Files of the kernel that hold one value: written in one piece, and read back, since a kernel may take a value and
//! mean another.

use super::machine::LiveSystem;
use super::words::words;
use crate::{TargetError, TargetState, aspm};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use whylate_host::{Dmesg, FsRoot};
use whylate_profiles::tunable;

/// No tunable is longer: the kernel gives a page at most (Documentation/filesystems/sysfs.rst), seq_files some more.
const MOST_BYTES: u64 = 64 << 10;
/// The controller that partitions need.
const CPUSET: &str = "cpuset";

impl LiveSystem {
    pub(super) fn read_tunable(&self, path: &str) -> Result<TargetState, TargetError> {
        match self.tunable(path) {
            Ok(value) => Ok(TargetState::Value(value)),
            Err(error) if is_absent(&error) => Ok(TargetState::Absent),
            Err(error) => Err(TargetError::new("read", path, words(&error))),
        }
    }

    pub(super) fn write_tunable(&self, path: &str, value: &str) -> Result<(), TargetError> {
        let refused = |error: io::Error| {
            let why = match is_absent(&error) {
                true => {
                    "there is no such file: its device, CPU or module does not exist (any more)".to_owned()
                }
                false => {
                    let shown = if value.is_empty() { "an empty value" } else { value };
                    format!("the kernel rejected {shown}: {}{}", words(&error), self.meaning(path, &error))
                }
            };
            let refused = TargetError::new("set", path, why);
            // A managed interrupt, or one of a single CPU (irq_can_set_affinity_usr, kernel/irq/manage.c).
            let held = is_irq(path) && error.raw_os_error().map(Errno::from_raw_os_error) == Some(Errno::IO);
            if held { refused.gone() } else { refused }
        };
        self.pass("set", path)?;
        self.text(path, value).and_then(|text| self.write_text(path, &text)).map_err(refused)?;
        self.pass("set", path)?;
        let now = self.tunable(path).map_err(|error| {
            TargetError::new("read", path, format!("it was set to {value}, then: {}", words(&error)))
        })?;
        match same(&now, value) {
            true => Ok(()),
            false => {
                let shown = if now.is_empty() { "as empty" } else { &now };
                Err(TargetError::new(
                    "set",
                    path,
                    format!("the kernel accepted {value}, but it reads {shown}"),
                ))
            }
        }
    }

    /// The value, as [`tunable::normal`] has it.
    fn tunable(&self, path: &str) -> io::Result<String> {
        if let Some((file, name)) = tunable::feature(path) {
            let all = self.whole_knob(file)?;
            return tunable::state_of_feature(&all, name).map(str::to_owned).ok_or(Errno::NOENT.into());
        }
        let value = self.whole_knob(path)?;
        // Of the controllers this one alone is switched here; the others are systemd's.
        let ours = || if value.split(' ').any(|name| name == CPUSET) { CPUSET } else { "" };
        Ok(if is_controllers(path) { ours().to_owned() } else { value })
    }

    fn whole_knob(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        let file = File::from(self.at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(tunable::normal(path, &String::from_utf8_lossy(&bytes)))
    }

    /// What is to be written. An empty value is an empty line: nothing at all would be no write.
    fn text(&self, path: &str, value: &str) -> io::Result<String> {
        if let Some((file, name)) = tunable::feature(path).filter(|_| !self.here) {
            let all = self.whole_knob(file)?;
            let words =
                all.split(' ').map(|word| if tunable::feature_name(word) == name { value } else { word });
            return Ok(format!("{}\n", words.collect::<Vec<_>>().join(" ")));
        }
        if !is_controllers(path) {
            return Ok(format!("{}\n", tunable::written(path, value)));
        }
        // It shows what is on, and takes what is to change (Documentation/admin-guide/cgroup-v2.rst).
        let on = value == CPUSET;
        if self.here {
            return Ok(format!("{}{CPUSET}", if on { '+' } else { '-' }));
        }
        let now = self.whole_knob(path)?;
        let others = now.split(' ').filter(|name| !name.is_empty() && *name != CPUSET);
        let all: Vec<&str> = others.chain(on.then_some(CPUSET)).collect();
        Ok(format!("{}\n", all.join(" ")))
    }

    /// What an error means here, with what shows it.
    fn meaning(&self, path: &str, error: &io::Error) -> String {
        let is_denied = error.raw_os_error().map(Errno::from_raw_os_error) == Some(Errno::PERM);
        if is_denied && path == aspm::POLICY {
            let tree = FsRoot::live();
            if let Some(shown) = aspm::not_changeable(&tree, &Dmesg::read(&tree)).filter(|_| self.here) {
                return format!("; {shown}");
            }
            return "; the firmware controls ASPM, or the kernel was booted with pcie_aspm=off".to_owned();
        }
        hint(path, error, rustix::process::geteuid().is_root()).to_owned()
    }

    fn write_text(&self, path: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let path = tunable::feature(path).map_or(path, |(file, _)| file);
        if !self.here {
            return overwrite(&mut File::from(self.at(path, flags)?), text);
        }
        let mut file = File::from(self.at(path, flags | OFlags::TRUNC)?);
        // The kernel takes each write for a value of its own.
        match file.write(text.as_bytes())? {
            n if n == text.len() => Ok(()),
            n => Err(io::Error::other(format!("the kernel accepted only {n} of {} bytes", text.len()))),
        }
    }
}

/// Gives an ordinary file, which stands for the kernel's, a value: by one write, so that a kill leaves the old value or the
/// new one and never an empty file. The padding means nothing, and is cut off.
fn overwrite(file: &mut File, text: &str) -> io::Result<()> {
    let longest = usize::try_from(file.metadata()?.len().min(MOST_BYTES)).unwrap_or(text.len());
    let mut padded = text.as_bytes().to_vec();
    padded.resize(longest.max(text.len()), b'\n');
    file.write_all(&padded)?;
    file.set_len(text.len() as u64)
}

/// Numbers are the same however they are written.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse::<i128>().ok(),
    };
    a == b || number(a).is_some_and(|a| number(b) == Some(a))
}

fn is_controllers(path: &str) -> bool {
    path.ends_with("/cgroup.subtree_control")
}

/// Runtime and period of each CPU's fair server: `kernel/sched/debug.c`, and `dl_server_apply_params()` in `kernel/sched/deadline.c`.
const FAIR_SERVERS: &str = "/sys/kernel/debug/sched/fair_server/";

fn is_irq(path: &str) -> bool {
    path.starts_with("/proc/irq/")
}

/// The file is not there, or its device is not.
fn is_absent(error: &io::Error) -> bool {
    let error = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(error, Some(Errno::NOENT | Errno::NOTDIR | Errno::NODEV | Errno::NXIO))
}

/// What to do about an error; `is_root`: advice to run as root is wrong for a process that is root.
fn hint(path: &str, error: &io::Error, is_root: bool) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::IO) if is_irq(path) => "; its driver or the kernel does not allow this interrupt to move",
        Some(Errno::PERM) if path.starts_with("/sys/kernel/debug/") => {
            "; under lockdown (kernel_lockdown(7)) debugfs is read-only, also for root"
        }
        Some(Errno::PERM | Errno::ACCESS) if is_root => {
            "; refused even to root: by kernel lockdown (kernel_lockdown(7)), a security module or a container"
        }
        Some(Errno::PERM | Errno::ACCESS) => "; run as root, outside of a container",
        Some(Errno::ROFS) => "; a container sees it read-only: run on the host",
        Some(Errno::BUSY) if path.contains("/cpuset.") || is_controllers(path) => {
            "; processes or groups below still use it"
        }
        Some(Errno::BUSY) if path.starts_with(FAIR_SERVERS) => {
            "; the bandwidth that the kernel counts for SCHED_DEADLINE does not allow it: Linux 6.12 loses the fair servers' part \
             when it builds its scheduling domains, and then refuses each shorter runtime. 7.2 does not"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        for (a, b, equal) in [
            ("1", "1", true),
            ("0x10", "16", true),
            ("-1", "-1", true),
            ("007", "7", true),
            ("a", "A", false),
            ("", "0", false),
        ] {
            assert_eq!(same(a, b), equal, "{a} {b}");
        }
    }

    #[test]
    fn a_busy_fair_server_is_explained() {
        let busy = io::Error::from(Errno::BUSY);
        let said = hint("/sys/kernel/debug/sched/fair_server/cpu0/runtime", &busy, true);
        assert!(said.contains("SCHED_DEADLINE"), "{said}");
        assert_eq!(hint("/sys/kernel/debug/sched/features", &busy, true), "");
    }

    #[test]
    fn a_refused_write_advises_root_only_to_other_users() {
        for errno in [Errno::PERM, Errno::ACCESS] {
            let error = io::Error::from(errno);
            assert!(hint("/proc/sys/vm/swappiness", &error, false).contains("run as root"));
            let as_root = hint("/proc/sys/vm/swappiness", &error, true);
            assert!(as_root.contains("lockdown") && !as_root.contains("run as root"), "{as_root}");
        }
    }
}
