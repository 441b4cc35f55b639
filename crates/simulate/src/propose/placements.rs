//! On which CPUs tasks may run that have a choice.

use crate::change::{self, ThreadChange};
use crate::model::Model;
use whylate_base::{Cpu, CpuSet};

/// A CPU takes no more of a first fit: of so many tasks with any periods, rate-monotonic priorities hold all deadlines up to
/// ln 2 (C. L. Liu and J. W. Layland, 1973).
const FULL: f64 = 0.69;

/// The model as it is; then with each of `tasks` that may use several CPUs on one: balanced, and filled one after the other.
/// `load` is the share of a CPU that each task of the model takes.
pub(super) fn of(model: &Model, tasks: &[usize], load: &[f64]) -> Vec<Model> {
    let mut movable: Vec<usize> =
        tasks.iter().copied().filter(|&task| allowed(model, task).len() > 1).collect();
    movable.sort_by(|&a, &b| load[b].total_cmp(&load[a]).then(a.cmp(&b)));
    let mut all = vec![model.clone()];
    if movable.is_empty() {
        return all;
    }
    for balanced in [true, false] {
        let mut placed = model.clone();
        let mut used = vec![0.0; model.machine.cpus as usize];
        for (task, own) in load.iter().enumerate().filter(|(task, _)| !movable.contains(task)) {
            let cpus = allowed(model, task);
            if let (1, Some(used)) = (cpus.len(), cpus.first().and_then(|cpu| used.get_mut(cpu.0 as usize))) {
                *used += own;
            }
        }
        for &task in &movable {
            let cpus = allowed(model, task);
            let used_of = |cpu: &Cpu| used.get(cpu.0 as usize).copied().unwrap_or(f64::MAX);
            let least = cpus.iter().copied().min_by(|a, b| used_of(a).total_cmp(&used_of(b)));
            let fits = |cpu: &&Cpu| used_of(cpu) + load[task] <= FULL;
            let first = cpus.iter().find(fits).copied().filter(|_| !balanced);
            if let Some(cpu) = first.or(least) {
                if let Some(used) = used.get_mut(cpu.0 as usize) {
                    *used += load[task];
                }
                // One of those that the machine has.
                let _ = change::thread(&mut placed, task, &ThreadChange::Cpus(CpuSet::from_iter([cpu])));
            }
        }
        if !all.contains(&placed) {
            all.push(placed);
        }
    }
    all
}

/// The CPUs a task may use.
fn allowed(model: &Model, task: usize) -> Vec<Cpu> {
    let own = &model.tasks[task].cpus;
    (0..model.machine.cpus).map(Cpu).filter(|&cpu| own.is_empty() || own.contains(cpu)).collect()
}
