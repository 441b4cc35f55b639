//! Puts back what an apply changed, last step first: exactly, and only what is still as it was left.
//!
//! It can be cut off anywhere and begun again. It does not depend on its own records: a cell that is as it was before
//! is done, and one that is in any state that this apply gave it is ours.

use crate::apply::{Run, boot_id, told};
use crate::balancer;
use crate::journal::{Entry, Journal, JournalError};
use crate::{Back, Cell, How, Kind, Planned, Record, State, Stored, System, Taken, Then};

/// How a rollback ended.
#[derive(Debug)]
pub struct Undone {
    /// How.
    pub how: How,
    /// Why it could not be written down; the machine is as it says all the same.
    pub unrecorded: Option<JournalError>,
}

/// Undoes an apply. What became of each step is in the journal's entry.
///
/// What somebody else has changed since is left, unless `force`.
pub fn rollback(journal: &mut Journal, force: bool, run: &Run<'_>) -> Undone {
    let boot = boot_id(&run.system.tree());
    let mut unrecorded = journal.begin(Kind::Rollback, boot.clone(), (run.now)(), Vec::new()).err();
    if unrecorded.is_some() {
        let (kind, at, version) = (Kind::Rollback, (run.now)(), env!("CARGO_PKG_VERSION").to_owned());
        let session = Record::Session { kind, boot_id: boot.clone(), at, version, steps: Vec::new() };
        unrecorded = journal.append_or_note(session, true).or(unrecorded);
    }
    let mut how = How::Complete;
    let mut remake = Vec::new();
    for (session, step) in open(journal.entry()) {
        if (run.stop)() {
            how = How::Stopped;
            break;
        }
        let Some(taken) = find(journal.entry(), session, step).cloned() else { continue };
        (run.tell)(&taken.planned);
        let of_boot = taken.planned.cell.is_of_boot();
        let same_boot =
            journal.entry().sessions.get(session).is_some_and(|session| session.is_of(boot.as_deref()));
        let outcome = match of_boot && !same_boot {
            true => Outcome::of(Back::Rebooted),
            false => put_back(journal, &taken, force, run.system),
        };
        match outcome {
            Outcome::Remake(command) => remake.push((session, step, taken.planned, command)),
            Outcome::Is(back, why) => {
                if !back.is_settled() {
                    how = How::Failed;
                }
                let record = Record::Back { session, step, how: back, why };
                unrecorded = journal.append_or_note(record, false).or(unrecorded);
            }
        }
    }
    if how != How::Stopped {
        // Now that what they are made of is as it was.
        for (session, step, planned, command) in remake {
            (run.tell)(&planned);
            let (back, why) = match run.system.run(&command) {
                Ok(()) => (Back::Remade, Some("it had been made anew since, and was again".to_owned())),
                Err(error) => (Back::Failed, Some(error.to_string())),
            };
            if !back.is_settled() {
                how = How::Failed;
            }
            let record = Record::Back { session, step, how: back, why };
            unrecorded = journal.append_or_note(record, false).or(unrecorded);
        }
    }
    unrecorded = journal.append_or_note(Record::End { how, at: (run.now)() }, true).or(unrecorded);
    Undone { how, unrecorded }
}

enum Outcome {
    Is(Back, Option<String>),
    /// To be made anew, when all else is done.
    Remake(Vec<String>),
}

impl Outcome {
    fn of(back: Back) -> Outcome {
        Outcome::Is(back, None)
    }

    fn why(back: Back, why: impl ToString) -> Outcome {
        Outcome::Is(back, Some(why.to_string()))
    }
}

/// The steps that may have changed something and are not undone, last first: session and number.
fn open(entry: &Entry) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    for (session, of) in entry.sessions.iter().enumerate() {
        for (step, taken) in of.steps.iter().enumerate() {
            let settled = taken.back.as_ref().is_some_and(|(back, _)| back.is_settled());
            if taken.was_begun() && !settled {
                open.push((session, step));
            }
        }
    }
    open.reverse();
    open
}

fn find(entry: &Entry, session: usize, step: usize) -> Option<&Taken> {
    entry.sessions.get(session)?.steps.get(step)
}

fn put_back(journal: &Journal, taken: &Taken, force: bool, system: &dyn System) -> Outcome {
    let cell = &taken.planned.cell;
    let Some(before) = &taken.before else { return Outcome::of(Back::WasBack) };
    let target = match journal.state(before) {
        Ok(target) => target,
        Err(error) => return Outcome::why(Back::Failed, error),
    };
    if let Err(error) = system.tidy(cell) {
        return Outcome::why(Back::Failed, error);
    }
    let now = match system.read(cell) {
        Ok(now) => now,
        Err(error) if error.gone => return Outcome::why(Back::Gone, error.why),
        Err(error) => return Outcome::why(Back::Failed, error),
    };
    if now == target {
        return finish(Back::WasBack, &taken.planned, system);
    }
    if now == State::Absent && matches!(cell, Cell::Knob { .. }) {
        return absent(journal.entry(), cell);
    }
    let done = taken.progress == crate::Progress::Done;
    if done && !force && !is_ours(journal, taken, &now, system) {
        return match &taken.planned.then {
            Then::Make(command) => Outcome::Remake(command.clone()),
            Then::Set(_) => {
                let left = taken.left_as().map(|kept| shown(journal, kept)).unwrap_or_default();
                let why = format!("somebody else changed it: it was left as {left}, and is {now}");
                Outcome::why(Back::Changed, why)
            }
        };
    }
    match system.write(cell, &target) {
        Ok(()) => finish(Back::PutBack, &taken.planned, system),
        Err(error) if error.gone => Outcome::why(Back::Gone, error.why),
        Err(error) => Outcome::why(Back::Failed, error),
    }
}

/// Who must know that a cell has its old state is told, even where it had it: the run before this one may not have
/// come to that.
fn finish(back: Back, planned: &Planned, system: &dyn System) -> Outcome {
    match told(planned, system) {
        Ok(()) => Outcome::of(back),
        Err(error) => Outcome::why(back, format!("but then: {error}")),
    }
}

/// Whether a cell is in a state that this apply gave it, at one step or another, or had found it in; or irqbalance has
/// moved it within that.
fn is_ours(journal: &Journal, taken: &Taken, now: &State, system: &dyn System) -> bool {
    let cell = &taken.planned.cell;
    let left = taken.left_as().and_then(|kept| journal.state(kept).ok());
    if left.is_some_and(|left| balancer::moved(cell, &left, now, &system.tree())) {
        return true;
    }
    let steps = journal.entry().sessions.iter().flat_map(|session| &session.steps);
    let mut states = steps
        .filter(|taken| taken.was_begun() && taken.planned.cell == *cell)
        .flat_map(|taken| [taken.before.as_ref(), taken.left_as()])
        .flatten();
    states.any(|kept| journal.state(kept).is_ok_and(|state| state == *now))
}

/// A knob that is not there any more: with its control group, which is undone, or with its device.
fn absent(entry: &Entry, cell: &Cell) -> Outcome {
    let Cell::Knob { path } = cell else { return Outcome::of(Back::WasBack) };
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let in_group = steps.filter(|taken| taken.was_begun()).any(|taken| match &taken.planned.cell {
        Cell::Group { path: group } => {
            path.strip_prefix(group.as_str()).is_some_and(|rest| rest.starts_with('/'))
        }
        _ => false,
    });
    match in_group {
        true => Outcome::why(Back::Gone, "its control group was removed"),
        false => {
            let why = "the file is not there now, as that of a CPU that is offline; if it comes back, roll back again";
            Outcome::why(Back::Failed, why)
        }
    }
}

fn shown(journal: &Journal, kept: &Stored) -> String {
    journal.state(kept).map_or_else(|error| error.to_string(), |state| state.to_string())
}
