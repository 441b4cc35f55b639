//! What is swept: a task set, or a recording.

use crate::change::{self, ChangeError, WrittenChange};
use crate::model::{Arrival, Model};
use crate::recording::Recording;
use crate::replay::{ReplayOptions, asked_for, replay};
use crate::report::{RunOptions, SimulationReport, simulate_some};
use whylate_base::Ns;

/// What is swept.
#[derive(Clone, Copy, Debug)]
pub enum SweepSubject<'s> {
    /// A task set.
    TaskSet {
        /// The model.
        model: &'s Model,
        /// How each combination is run.
        options: RunOptions,
    },
    /// A recording.
    Recording {
        /// What is replayed.
        recording: &'s Recording,
        /// A longer response of a chosen thread is late.
        deadline: Option<Ns>,
        /// How many activations of each thread are explained, of the worst combination.
        worst: usize,
    },
}

impl SweepSubject<'_> {
    /// The tasks that are looked at: those that are named, else real-time tasks with a deadline (of a recording: the
    /// real-time threads that are not the kernel's).
    pub(crate) fn chosen(&self, names: &[String]) -> Result<Vec<usize>, ChangeError> {
        let mut all = match self {
            SweepSubject::Recording { recording, .. } => {
                let mut all = asked_for(recording, names)?;
                all.retain(|&thread| recording.threads[thread].ran > Ns::ZERO);
                all
            }
            SweepSubject::TaskSet { model, .. } if names.is_empty() => usual(model),
            SweepSubject::TaskSet { model, .. } => {
                let mut all = Vec::new();
                for name in names {
                    let wrong = |wrong| ChangeError { change: format!("--task {name}"), wrong };
                    all.extend(change::tasks_named(model, name).map_err(wrong)?);
                }
                all
            }
        };
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// With changes, and the deadlines of the chosen tasks.
    pub(crate) fn changed(&self, changes: &[WrittenChange], chosen: &[usize]) -> Result<Model, ChangeError> {
        match self {
            SweepSubject::TaskSet { model, .. } => {
                change::apply_to_task_set(model, changes).map(|(model, _)| model)
            }
            SweepSubject::Recording { recording, deadline, .. } => {
                let (mut model, _) = change::apply(recording, changes)?;
                for &thread in chosen {
                    model.tasks[thread].deadline = *deadline;
                }
                Ok(model)
            }
        }
    }

    pub(crate) fn length(&self) -> Ns {
        match self {
            SweepSubject::TaskSet { options, .. } => options.duration,
            SweepSubject::Recording { recording, .. } => recording.length,
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        match self {
            SweepSubject::TaskSet { options, .. } => options.seed,
            SweepSubject::Recording { recording, .. } => recording.seed(),
        }
    }

    /// One combination in full, as without a sweep.
    ///
    /// # Errors
    /// [`ChangeError`]: a change names no thread, or cannot be made.
    pub fn report(
        &self,
        changes: &[WrittenChange],
        names: &[String],
    ) -> Result<SimulationReport, ChangeError> {
        match self {
            SweepSubject::TaskSet { model, options } => {
                let (model, _) = change::apply_to_task_set(model, changes)?;
                let shown = match names.is_empty() {
                    true => (0..model.tasks.len()).collect(),
                    false => self.chosen(names)?,
                };
                Ok(simulate_some(&model, *options, &shown))
            }
            SweepSubject::Recording { recording, deadline, worst } => {
                let asked = ReplayOptions {
                    tasks: names.to_vec(),
                    deadline: *deadline,
                    changes: changes.to_vec(),
                    worst: *worst,
                };
                replay(recording, &asked)
            }
        }
    }

    /// The period of the tasks that a name selects, where they have the same.
    pub(crate) fn period(&self, target: &str) -> Option<Ns> {
        let SweepSubject::TaskSet { model, .. } = self else { return None };
        let tasks = change::tasks_named(model, target).ok()?;
        let mut periods = tasks.iter().map(|&task| match model.tasks[task].arrival {
            Arrival::Periodic { period, .. } => Some(period),
            _ => None,
        });
        let first = periods.next()??;
        periods.all(|period| period == Some(first)).then_some(first)
    }
}

/// Real-time tasks with a deadline; without one real-time tasks, without those all.
fn usual(model: &Model) -> Vec<usize> {
    let all = || 0..model.tasks.len();
    let realtime = |&task: &usize| !model.tasks[task].scheduling.is_fair();
    let late: Vec<usize> =
        all().filter(realtime).filter(|&task| model.tasks[task].deadline.is_some()).collect();
    if !late.is_empty() {
        return late;
    }
    let realtime: Vec<usize> = all().filter(realtime).collect();
    if realtime.is_empty() { all().collect() } else { realtime }
}
