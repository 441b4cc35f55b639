//! What the verbs that change a machine share.

use crate::args::Place;
use crate::output;
use anyhow::{Result, bail};
use whylate_tuning::{JournalError, JournalStore, LiveSystem, PlannedStep, RunContext, Timestamp};

/// The machine, and its journals.
pub(crate) struct Site {
    pub(crate) system: LiveSystem,
    pub(crate) store: JournalStore,
}

impl Site {
    pub(crate) fn open(place: &Place) -> Result<Site> {
        if place.root.is_file() {
            bail!(
                "{} is a file, such as `whylate snapshot` writes: `whylate plan --root` reads it, but only a directory with a \
                 system's root can be changed",
                place.root.display()
            );
        }
        Ok(Site { system: LiveSystem::open(&place.root)?, store: JournalStore::of(&place.root)? })
    }

    /// Reports the journals that are skipped, as they cannot be read.
    pub(crate) fn report_unreadable(&self, unreadable: &[(u64, JournalError)]) {
        for (id, error) in unreadable {
            output::message!("apply {id} is skipped: {error}");
        }
    }

    /// Runs the engine; `stop` is asked between two steps. Reports the command that runs, as it may take a while.
    pub(crate) fn run<T>(&self, stop: &dyn Fn() -> bool, work: impl FnOnce(&RunContext<'_>) -> T) -> T {
        let notify = |planned: &PlannedStep| {
            if let Some(command) = planned.then.command().filter(|_| self.system.is_here()) {
                output::message!("running {} ...", command.join(" "));
            }
        };
        work(&RunContext { system: &self.system, now: &Timestamp::now, stop, notify: &notify })
    }
}
