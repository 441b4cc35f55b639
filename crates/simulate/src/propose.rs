//! Priorities, and CPUs where priorities alone do not do, with which the chosen tasks hold their deadlines (`--propose`).
//!
//! ```text
//! placements: as they are, balanced, first fit ──> priorities: Audsley's assignment, from the lowest on ──> Proposal
//!                                                   each asks deadlines: by a bound, else by a run
//! ```
//!
//! A proposal is a list of changes as `--set` has them, so that the rest of the report is that of a run with them.

mod deadlines;
mod placements;
mod priorities;
pub(crate) mod proposal;

pub use deadlines::HeldBy;
pub use proposal::{Proposal, ProposalOutcome, ProposedTask, TaskPlace};

use crate::bounds::bounds;
use crate::change::{ChangeError, WrittenChange};
use crate::engine::Tally;
use crate::model::{Model, Task};
use crate::report::SimulationReport;
use crate::sweep::{SweepSubject, compare, outcomes};
use deadlines::Deadlines;
use priorities::rt_priority;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use whylate_base::Ns;

/// More tasks have too many orders to try.
const MOST_TASKS: usize = 64;

/// Why nothing is proposed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProposeError {
    /// A change or a name that is wrong.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// No task that priorities help.
    #[error(
        "--propose: no SCHED_FIFO or SCHED_RR task has a deadline: give it in the task set, or of a recording by --deadline with \
         the threads by --task"
    )]
    NoDeadline,
    /// Too many of them.
    #[error("--propose: {0} tasks have a deadline; at most {MOST_TASKS} are ordered: choose some by --task")]
    TooMany(usize),
}

/// Looks for priorities and CPUs with which the tasks of `names` (all with a deadline, without names) hold their deadlines,
/// after the changes of `set`. The report is of a run with what was found, else as it is; `stop` ends the search early.
///
/// # Errors
/// [`ProposeError`]
pub fn propose(
    subject: SweepSubject<'_>,
    names: &[String],
    set: &[WrittenChange],
    stop: &AtomicBool,
) -> Result<SimulationReport, ProposeError> {
    let chosen = subject.chosen(names)?;
    let model = subject.changed(set, &chosen)?;
    let tasks: Vec<usize> = chosen
        .into_iter()
        .filter(|&task| {
            let task = &model.tasks[task];
            task.deadline.is_some() && rt_priority(task).is_some()
        })
        .collect();
    match tasks.len() {
        0 => return Err(ProposeError::NoDeadline),
        count if count > MOST_TASKS => return Err(ProposeError::TooMany(count)),
        _ => {}
    }
    let deadlines = Deadlines { length: subject.length(), seed: subject.seed(), stop };
    let (found, outcome) = search(&model, &tasks, &deadlines);
    let mut all = set.to_vec();
    if let ProposalOutcome::Found { changes, .. } = &outcome {
        for text in changes {
            let change = WrittenChange::set(text);
            all.push(change.map_err(|wrong| ChangeError { change: text.clone(), wrong })?);
        }
    }
    let mut report = subject.report(&all, names)?;
    let places = |of: &Model| places(of, &tasks, &deadlines);
    let rows = tasks.iter().zip(places(&model)).zip(places(&found)).map(|((&task, before), after)| {
        let Task { name, deadline, .. } = &model.tasks[task];
        ProposedTask {
            name: name.clone(),
            policy: priorities::scheduling(&found.tasks[task]).policy(),
            deadline: deadline.unwrap_or(Ns::MAX),
            before,
            after,
        }
    });
    let runs = [&model, &found].map(|model| outcomes(model, subject.length(), subject.seed()));
    let others = compare(&runs[1], &runs[0], &tasks).others;
    let worse = others
        .into_iter()
        .map(|other| (model.tasks[other.task].name.clone(), other.before, other.after))
        .collect();
    report.proposal = Some(Proposal { tasks: rows.collect(), worse, outcome });
    Ok(report)
}

/// The model with what was found, and that.
fn search(model: &Model, tasks: &[usize], deadlines: &Deadlines<'_>) -> (Model, ProposalOutcome) {
    for by in [HeldBy::Bound, HeldBy::Run] {
        if tasks.iter().all(|&task| deadlines.holds(model, task, by)) {
            return (model.clone(), ProposalOutcome::HoldsAlready(by));
        }
    }
    let share = |tally: Tally| tally.ran.0 as f64 / deadlines.length.0.max(1) as f64;
    let load: Vec<f64> = deadlines.run(model).into_iter().map(share).collect();
    let placed = placements::of(model, tasks, &load);
    let levels = priorities::levels(model, tasks);
    let mut least_left: Option<Vec<usize>> = None;
    for by in [HeldBy::Bound, HeldBy::Run] {
        for (start, levels) in
            placed.iter().flat_map(|start| levels.iter().map(move |levels| (start, levels)))
        {
            match priorities::assign(start, tasks, levels, |model, task| deadlines.holds(model, task, by)) {
                _ if deadlines.is_stopped() => return (model.clone(), ProposalOutcome::Interrupted),
                // The run of all together decides: the assignment looks at one task at a time.
                Ok(found) if tasks.iter().all(|&task| deadlines.holds(&found, task, by)) => {
                    let changes = changes(model, &found, tasks);
                    return (found, ProposalOutcome::Found { changes, by });
                }
                Ok(_) => {}
                Err(left) if least_left.as_ref().is_none_or(|least| left.len() < least.len()) => {
                    least_left = Some(left);
                }
                Err(_) => {}
            }
        }
    }
    let left = least_left.unwrap_or_else(|| tasks.to_vec());
    let left = left.into_iter().map(|task| model.tasks[task].name.clone()).collect();
    (model.clone(), ProposalOutcome::NotFound { left })
}

/// What is different in `found`, as `--set` has it.
fn changes(model: &Model, found: &Model, tasks: &[usize]) -> Vec<String> {
    let mut all = Vec::new();
    for &task in tasks {
        let (before, after) = (&model.tasks[task], &found.tasks[task]);
        if before.cpus != after.cpus {
            all.push(format!("{}.cpus={}", before.name, after.cpus));
        }
        if let Some(priority) = rt_priority(after)
            && rt_priority(before) != Some(priority)
        {
            all.push(format!("{}.priority={priority}", before.name));
        }
    }
    all
}

fn places(model: &Model, tasks: &[usize], deadlines: &Deadlines<'_>) -> Vec<TaskPlace> {
    let (tallies, bounds) = (deadlines.run(model), bounds(model));
    let place = |&task: &usize| TaskPlace {
        priority: rt_priority(&model.tasks[task]).unwrap_or(0),
        cpus: model.tasks[task].cpus.clone(),
        worst: tallies[task].worst(),
        missed: tallies[task].missed,
        bound: bounds[task].response(),
    };
    tasks.iter().map(place).collect()
}
