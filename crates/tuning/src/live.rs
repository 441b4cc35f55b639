//! The machine that is really changed: this one, or a directory that holds another's root.
//!
//! In a directory the kernel's files are ordinary ones. Threads, units and control groups are the running machine's,
//! and are left alone there; no command is run.

mod files;
mod machine;
mod threads;
mod tunables;
mod units;
mod words;

pub use machine::LiveSystem;

use crate::{System, Target, TargetError, TargetState, Timestamp};
use whylate_host::FsRoot;

impl System for LiveSystem {
    fn read(&self, target: &Target) -> Result<TargetState, TargetError> {
        match target {
            Target::Tunable { path } => self.read_tunable(path),
            Target::ThreadPolicy { thread } => {
                self.only_here("read", target)?;
                threads::policy(thread).map(TargetState::Value)
            }
            Target::ThreadCpus { thread } => {
                self.only_here("read", target)?;
                threads::cpus(thread).map(TargetState::Value)
            }
            Target::UnitActive { unit } => {
                self.only_here("read", target)?;
                units::read(unit, &self.tree()).map(TargetState::Value)
            }
            Target::Group { path } => {
                self.only_here("read", target)?;
                self.read_file(path)
            }
            Target::File { path } | Target::Directory { path } => self.read_file(path),
        }
    }

    fn write(&self, target: &Target, state: &TargetState) -> Result<(), TargetError> {
        match (target, state) {
            (Target::Tunable { path }, TargetState::Value(value)) => self.write_tunable(path, value),
            (Target::ThreadPolicy { thread }, TargetState::Value(value)) => {
                self.only_here("set", target)?;
                self.passing(target, || threads::set_policy(thread, value))
            }
            (Target::ThreadCpus { thread }, TargetState::Value(value)) => {
                self.only_here("set", target)?;
                self.passing(target, || threads::set_cpus(thread, value))
            }
            (Target::UnitActive { unit }, TargetState::Value(value)) => {
                self.only_here("set", target)?;
                self.passing(target, || units::set(unit, value, &self.tree()))
            }
            (Target::Group { path }, TargetState::Absent | TargetState::Directory { .. }) => {
                self.only_here("set", target)?;
                self.write_group(path, state)
            }
            (
                Target::File { path },
                TargetState::Absent | TargetState::File(_) | TargetState::Link { .. },
            )
            | (Target::Directory { path }, TargetState::Absent | TargetState::Directory { .. }) => {
                self.write_file(path, state)
            }
            _ => Err(TargetError::new("set", target, format!("it cannot be `{state}`"))),
        }
    }

    fn run(&self, command: &[String]) -> Result<(), TargetError> {
        let words = command.join(" ");
        if !self.here {
            let why = format!(
                "commands run only on a running machine, and {} is a directory: run it there with chroot(8)",
                self.path.display()
            );
            return Err(TargetError::new("run", words, why).gone());
        }
        self.pass("run", &words)?;
        units::run(command)?;
        self.pass("run", &words)
    }

    fn has_command(&self, name: &str) -> bool {
        self.here && units::find(name).is_some()
    }

    fn tree(&self) -> FsRoot {
        // It was one when this was opened; what it is now its reader knows.
        FsRoot::open(&self.path).unwrap_or_else(|_| FsRoot::refusing(whylate_host::Why::NotCollected))
    }

    fn tidy(&self, target: &Target) -> Result<(), TargetError> {
        match target {
            Target::File { path } => self.remove_part(path),
            _ => Ok(()),
        }
    }

    fn changed(&self, target: &Target) -> Option<Timestamp> {
        match target {
            Target::File { path } | Target::Directory { path } => self.modified(path),
            _ => None,
        }
    }
}
