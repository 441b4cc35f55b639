//! Priorities that hold all deadlines (N. Audsley, "On priority assignment in fixed priority scheduling", 2001).

use crate::change::{self, ThreadChange};
use crate::model::{Arrival, Model, Step, Task, TaskPolicy};

/// The threads of the kernel that must come first have priority 99.
const HIGHEST: u8 = 98;

/// The model with priorities of `tasks` assigned anew: from the lowest on, each goes to a task that `holds` its deadline
/// there, while those that have none yet are above it. `levels` has a priority for each, highest first.
///
/// # Errors
/// The tasks of which none holds its deadline at the lowest priority that is left.
pub(super) fn assign(
    model: &Model,
    tasks: &[usize],
    levels: &[u8],
    holds: impl Fn(&Model, usize) -> bool,
) -> Result<Model, Vec<usize>> {
    let mut levels = levels.to_vec();
    let (mut model, mut left) = (model.clone(), tasks.to_vec());
    // The order stays as it is where it may.
    left.sort_by_key(|&task| rt_priority(&model.tasks[task]));
    let top = levels.first().copied().unwrap_or(1);
    left.iter().for_each(|&task| set(&mut model, task, top));
    while let Some(level) = levels.pop() {
        let holds_at = |task: usize| {
            let mut tried = model.clone();
            set(&mut tried, task, level);
            holds(&tried, task)
        };
        let Some(at) = left.iter().position(|&task| holds_at(task)) else { return Err(left) };
        set(&mut model, left.remove(at), level);
    }
    Ok(model)
}

/// Priorities to share, highest first: those that the tasks have, and then, where others go before them, such that go before
/// all others.
pub(super) fn levels(model: &Model, tasks: &[usize]) -> Vec<Vec<u8>> {
    let own = |task: &usize| rt_priority(&model.tasks[*task]);
    let others: Vec<u8> =
        (0..model.tasks.len()).filter(|task| !tasks.contains(task)).filter_map(|task| own(&task)).collect();
    let mut levels: Vec<u8> = tasks.iter().filter_map(own).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    levels.dedup();
    let lowest = levels.last().copied().unwrap_or(1);
    // Below the lowest first: what is above all of them may be meant to stay so.
    for level in (1..lowest).rev().chain(lowest + 1..=HIGHEST) {
        if levels.len() < tasks.len() && !levels.contains(&level) && !others.contains(&level) {
            levels.push(level);
        }
    }
    levels.sort_unstable_by(|a, b| b.cmp(a));
    let above = others.iter().copied().filter(|&other| other <= HIGHEST).max().unwrap_or(0);
    let count = u8::try_from(levels.len()).unwrap_or(HIGHEST);
    let top = above.saturating_add(count).min(HIGHEST);
    let raised: Vec<u8> = (0..count).map(|at| top - at).collect();
    match levels.last().is_some_and(|&lowest| lowest < above) {
        true => vec![levels, raised],
        false => vec![levels],
    }
}

/// The priority of a task that is SCHED_FIFO or SCHED_RR.
pub(super) fn rt_priority(task: &Task) -> Option<u8> {
    scheduling(task).rt_priority()
}

/// How a task is scheduled in the end: a recorded thread may become a real-time thread only after its start.
pub(super) fn scheduling(task: &Task) -> TaskPolicy {
    let set_later = |steps: &[Step]| {
        steps.iter().rev().find_map(|step| match step {
            Step::SetScheduling(scheduling) => Some(*scheduling),
            _ => None,
        })
    };
    let recorded = match &task.arrival {
        Arrival::Recorded(script) => set_later(&script.steps),
        _ => None,
    };
    recorded.or_else(|| set_later(&task.start)).unwrap_or(task.scheduling)
}

fn set(model: &mut Model, task: usize, priority: u8) {
    // A priority can be given to any task that is there.
    let _ = change::thread(model, task, &ThreadChange::Priority(priority));
}
