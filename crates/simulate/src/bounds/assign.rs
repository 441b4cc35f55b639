//! Priorities that hold all deadlines (N. Audsley, "On priority assignment in fixed priority scheduling", 2001).

use super::analysis::bounds;
use crate::model::{Model, TaskPolicy};
use whylate_base::Ns;

/// The outcome of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// These priorities hold all deadlines: a task's index, and its priority.
    Found(Vec<(usize, u8)>),
    /// No priorities do: none of these tasks can be the lowest of those that are left.
    None {
        /// The tasks.
        left: Vec<usize>,
    },
}

/// Assigns the priorities of the SCHED_FIFO and SCHED_RR tasks that have a deadline, anew: from the lowest on, each goes to
/// a task that holds its deadline there.
pub fn assign_priorities(model: &Model) -> Assignment {
    let has_deadline = |&task: &usize| model.tasks[task].deadline.is_some();
    let realtime = |&task: &usize| model.tasks[task].scheduling.rt_priority().is_some();
    let mut left: Vec<usize> = (0..model.tasks.len()).filter(realtime).filter(has_deadline).collect();
    let mut taken: Vec<u8> = Vec::new();
    for &task in &left {
        taken.extend(model.tasks[task].scheduling.rt_priority());
    }
    // Distinct ones, below each other; those of tasks without a deadline stay as they are.
    let count = left.len().min(90) as u8;
    let base = taken.iter().copied().max().unwrap_or(50).clamp(count, 98);
    let mut levels: Vec<u8> = (0..count).map(|at| base - at).collect();
    let mut model = model.clone();
    for &task in &left {
        set(&mut model, task, base);
    }
    let mut found = Vec::new();
    while let Some(level) = levels.pop() {
        let holds = |task: usize| {
            let mut tried = model.clone();
            set(&mut tried, task, level);
            let deadline = tried.tasks[task].deadline.unwrap_or(Ns::MAX);
            bounds(&tried)[task].response().is_some_and(|response| response <= deadline)
        };
        let Some(at) = left.iter().position(|&task| holds(task)) else { return Assignment::None { left } };
        let task = left.remove(at);
        set(&mut model, task, level);
        found.push((task, level));
    }
    found.sort_unstable();
    Assignment::Found(found)
}

fn set(model: &mut Model, task: usize, priority: u8) {
    let own = &mut model.tasks[task].scheduling;
    *own = match own {
        TaskPolicy::Rr(_) => TaskPolicy::Rr(priority),
        _ => TaskPolicy::Fifo(priority),
    };
}
