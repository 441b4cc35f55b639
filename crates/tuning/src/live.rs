//! The machine that is really changed: this one, or a directory that holds another's root.
//!
//! In a directory the kernel's files are ordinary ones. Threads, units and control groups are the running machine's,
//! and are left alone there; no command is run.

mod files;
mod knobs;
mod machine;
mod threads;
mod units;
mod words;

pub use machine::Live;

use crate::{Cell, CellError, Moment, State, System};
use whylate_host::Tree;

impl System for Live {
    fn read(&self, cell: &Cell) -> Result<State, CellError> {
        match cell {
            Cell::Knob { path } => self.read_knob(path),
            Cell::ThreadPolicy { thread } => {
                self.only_here("read", cell)?;
                threads::policy(thread).map(State::Value)
            }
            Cell::ThreadCpus { thread } => {
                self.only_here("read", cell)?;
                threads::cpus(thread).map(State::Value)
            }
            Cell::UnitActive { unit } => {
                self.only_here("read", cell)?;
                units::read(unit, &self.tree()).map(State::Value)
            }
            Cell::Group { path } => {
                self.only_here("read", cell)?;
                self.read_file(path)
            }
            Cell::File { path } | Cell::Directory { path } => self.read_file(path),
        }
    }

    fn write(&self, cell: &Cell, state: &State) -> Result<(), CellError> {
        match (cell, state) {
            (Cell::Knob { path }, State::Value(value)) => self.write_knob(path, value),
            (Cell::ThreadPolicy { thread }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || threads::set_policy(thread, value))
            }
            (Cell::ThreadCpus { thread }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || threads::set_cpus(thread, value))
            }
            (Cell::UnitActive { unit }, State::Value(value)) => {
                self.only_here("set", cell)?;
                self.passing(cell, || units::set(unit, value, &self.tree()))
            }
            (Cell::Group { path }, State::Absent | State::Directory { .. }) => {
                self.only_here("set", cell)?;
                self.write_group(path, state)
            }
            (Cell::File { path }, State::Absent | State::File(_) | State::Link { .. })
            | (Cell::Directory { path }, State::Absent | State::Directory { .. }) => {
                self.write_file(path, state)
            }
            _ => Err(CellError::new("set", cell, format!("it cannot be `{state}`"))),
        }
    }

    fn run(&self, command: &[String]) -> Result<(), CellError> {
        let words = command.join(" ");
        if !self.here {
            let why = format!(
                "commands are of a running machine, and {} is a directory: run it there, as with chroot(8)",
                self.path.display()
            );
            return Err(CellError::new("run", words, why).gone());
        }
        self.pass("run", &words)?;
        units::run(command)?;
        self.pass("run", &words)
    }

    fn has_command(&self, name: &str) -> bool {
        self.here && units::find(name).is_some()
    }

    fn tree(&self) -> Tree {
        // It was one when this was opened; what it is now its reader says.
        Tree::open(&self.path).unwrap_or_else(|_| Tree::refusing(whylate_host::Why::NotCollected))
    }

    fn tidy(&self, cell: &Cell) -> Result<(), CellError> {
        match cell {
            Cell::File { path } => self.remove_part(path),
            _ => Ok(()),
        }
    }

    fn changed(&self, cell: &Cell) -> Option<Moment> {
        match cell {
            Cell::File { path } | Cell::Directory { path } => self.modified(path),
            _ => None,
        }
    }
}
