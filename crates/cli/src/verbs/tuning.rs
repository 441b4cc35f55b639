//! What the verbs that change a machine share.

use crate::args::Place;
use crate::output;
use anyhow::{Result, bail};
use whylate_report::apply;
use whylate_tuning::{Entry, How, Journal, Live, Moment, Planned, Run, Store};

/// The machine, and its journals.
pub(crate) struct Site {
    pub(crate) system: Live,
    pub(crate) store: Store,
}

impl Site {
    pub(crate) fn open(place: &Place) -> Result<Site> {
        if place.root.is_file() {
            bail!(
                "{} is a file, as `whylate snapshot` writes them: `whylate plan --root` reads it, but only a directory with \
                 a system's root can be changed",
                place.root.display()
            );
        }
        Ok(Site { system: Live::open(&place.root)?, store: Store::of(&place.root)? })
    }

    /// Runs the engine; `stop` is asked between two steps. A command may take a while: it is said which one runs.
    pub(crate) fn run<T>(&self, stop: &dyn Fn() -> bool, work: impl FnOnce(&Run<'_>) -> T) -> T {
        let tell = |planned: &Planned| {
            if let Some(command) = planned.then.command().filter(|_| self.system.is_here()) {
                output::say!("running {} ...", command.join(" "));
            }
        };
        work(&Run { system: &self.system, now: &Moment::now, stop, tell: &tell })
    }
}

/// Prints what was done about some applies.
pub(crate) fn answer(entries: &[Entry], place: &Place) -> Result<()> {
    match place.json {
        true => output::print_json(&apply::json::render(entries)),
        false => output::print(&apply::terminal::render(entries, &output::style())),
    }
}

/// Undoes an apply; how it ended.
pub(crate) fn undo(site: &Site, journal: &mut Journal, force: bool, stop: &dyn Fn() -> bool) -> How {
    let undone = site.run(stop, |run| whylate_tuning::rollback(journal, force, run));
    if let Some(error) = undone.unrecorded {
        output::say!("whylate: the rollback could not be written down: {error}");
    }
    undone.how
}
