//! The system that the engine changes: a directory, and what is played.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::rc::Rc;
use whylate_host::FsRoot;
use whylate_tuning::{
    FaultInjector, LiveSystem, System, Target, TargetError, TargetState, ThreadId, Timestamp,
};

pub(super) const GRUB: &str = "/etc/default/grub";
pub(super) const MENU: &str = "/boot/grub/grub.cfg";

/// What is in the kernel's memory, and survives a program that is killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Policy and CPUs of each thread that lives, by id.
    pub(crate) threads: BTreeMap<i32, (String, String)>,
    /// The units that run.
    pub(crate) units: BTreeMap<String, String>,
    /// Knobs that refuse to be set.
    pub(crate) refusing: Vec<String>,
    /// Knobs that take a value and mean another: path, value, what it means.
    pub(crate) bending: Vec<(String, String, String)>,
    /// Commands that were run.
    pub(crate) run: Vec<String>,
}

/// The engine's machine: a directory, and what is played.
pub(crate) struct Played {
    pub(super) live: LiveSystem,
    pub(super) kernel: Rc<RefCell<Kernel>>,
    pub(super) faults: FaultInjector,
}

impl Played {
    fn pass(&self, target: impl std::fmt::Display) -> Result<(), TargetError> {
        self.faults.check().map_err(|error| TargetError::new("set", target, error))
    }

    /// What a value means to a knob that bends it.
    fn bent(&self, path: &str, value: &str) -> Option<String> {
        let kernel = self.kernel.borrow();
        let found = kernel.bending.iter().find(|(own, wanted, _)| own == path && wanted == value);
        found.map(|(_, _, other)| other.clone())
    }

    /// What the kernel does when a directory is made in, or removed from, its file system.
    fn group(&self, path: &str, state: &TargetState) -> Result<(), TargetError> {
        let at = self.live_path(path);
        self.pass(path)?;
        let done = match state {
            TargetState::Absent => fs::remove_dir_all(&at),
            _ => fs::create_dir(&at).and_then(|()| {
                for (file, value) in [
                    ("cpuset.cpus", "\n"),
                    ("cpuset.cpus.partition", "member\n"),
                    ("cgroup.subtree_control", "\n"),
                ] {
                    fs::write(at.join(file), value)?;
                }
                Ok(())
            }),
        };
        done.map_err(|error| TargetError::new("set", path, error))?;
        self.pass(path)
    }

    fn live_path(&self, path: &str) -> PathBuf {
        // The one thing that is asked of the directory itself.
        self.live.path().join(path.trim_start_matches('/'))
    }
}

impl System for Played {
    fn read(&self, target: &Target) -> Result<TargetState, TargetError> {
        let kernel = self.kernel.borrow();
        let of = |thread: &ThreadId| {
            let ended = || TargetError::new("read", target, "the thread has ended").gone();
            kernel.threads.get(&thread.tid).cloned().ok_or_else(ended)
        };
        match target {
            Target::ThreadPolicy { thread } => of(thread).map(|(policy, _)| TargetState::Value(policy)),
            Target::ThreadCpus { thread } => of(thread).map(|(_, cpus)| TargetState::Value(cpus)),
            Target::UnitActive { unit } => {
                Ok(TargetState::Value(kernel.units.get(unit).cloned().unwrap_or_else(|| "inactive".into())))
            }
            Target::Group { path } => self.live.read(&Target::Directory { path: path.clone() }),
            _ => self.live.read(target),
        }
    }

    fn write(&self, target: &Target, state: &TargetState) -> Result<(), TargetError> {
        let value = match state {
            TargetState::Value(value) => value.clone(),
            _ => String::new(),
        };
        match target {
            Target::ThreadPolicy { thread } | Target::ThreadCpus { thread } => {
                self.pass(target)?;
                let mut kernel = self.kernel.borrow_mut();
                let ended = || TargetError::new("set", target, "the thread has ended").gone();
                let own = kernel.threads.get_mut(&thread.tid).ok_or_else(ended)?;
                if matches!(target, Target::ThreadPolicy { .. }) {
                    own.0 = value;
                } else {
                    own.1 = value;
                }
                drop(kernel);
                self.pass(target)
            }
            Target::UnitActive { unit } => {
                self.pass(target)?;
                self.kernel.borrow_mut().units.insert(unit.clone(), value);
                self.pass(target)
            }
            Target::Group { path } => self.group(path, state),
            Target::Tunable { path } if self.kernel.borrow().refusing.contains(path) => {
                Err(TargetError::new(
                    "set",
                    target,
                    format!("the kernel rejected {value}: EINVAL (Invalid argument)"),
                ))
            }
            Target::Tunable { path } => match self.bent(path, &value) {
                Some(other) => {
                    self.live.write(target, &TargetState::Value(other.clone()))?;
                    let why = format!("the kernel accepted {value}, but it reads {other}");
                    Err(TargetError::new("set", target, why))
                }
                None => self.live.write(target, state),
            },
            _ => self.live.write(target, state),
        }
    }

    fn run(&self, command: &[String]) -> Result<(), TargetError> {
        let line = command.join(" ");
        self.pass(&line)?;
        self.kernel.borrow_mut().run.push(line.clone());
        if line == "update-grub" {
            // It writes in two halves, and may be cut off between them.
            let failed = |error: std::io::Error| TargetError::new("run", &line, error);
            let read = |path: &str| fs::read_to_string(self.live_path(path)).unwrap_or_default();
            let text = format!("menu of {}{}", read(GRUB), read("/etc/default/grub.d/50-whylate.cfg"));
            let menu = self.live_path(MENU);
            fs::set_permissions(&menu, fs::Permissions::from_mode(0o600)).map_err(failed)?;
            fs::write(&menu, &text[..text.len() / 2]).map_err(failed)?;
            self.pass(&line)?;
            fs::write(&menu, text).map_err(failed)?;
        } else if line != "systemctl daemon-reload" {
            return Err(TargetError::new("run", line, "exit status: 1"));
        }
        self.pass(command.join(" "))
    }

    fn has_command(&self, name: &str) -> bool {
        matches!(name, "systemctl" | "update-grub")
    }

    fn tree(&self) -> FsRoot {
        self.live.tree()
    }

    fn tidy(&self, target: &Target) -> Result<(), TargetError> {
        self.live.tidy(target)
    }

    fn changed(&self, target: &Target) -> Option<Timestamp> {
        self.live.changed(target)
    }
}
