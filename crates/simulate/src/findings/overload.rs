//! CPUs that have more work than time.

use super::advice::TASK_SET;
use crate::model::{Arrival, Model, Step};
use whylate_base::{AdvisedFix, Cpu, CpuSet, Finding, Severity};

pub(super) fn findings(model: &Model) -> Vec<Finding> {
    // By sets of CPUs: what may only run there must fit there.
    let mut sets: Vec<CpuSet> = Vec::new();
    for task in &model.tasks {
        let cpus = usable(model, &task.cpus);
        if !sets.contains(&cpus) {
            sets.push(cpus);
        }
    }
    sets.iter().filter_map(|set| of(model, set)).collect()
}

fn usable(model: &Model, cpus: &CpuSet) -> CpuSet {
    if cpus.is_empty() { (0..model.machine.cpus).map(Cpu).collect() } else { cpus.clone() }
}

fn of(model: &Model, set: &CpuSet) -> Option<Finding> {
    let within = |cpus: &CpuSet| usable(model, cpus).without(set).is_empty();
    let loads = model.tasks.iter().enumerate().filter(|(_, task)| within(&task.cpus));
    let load: f64 = loads.filter_map(|(at, _)| utilisation(model, at)).sum();
    let room = set.len() as f64;
    (load > room + 1e-9).then(|| Finding {
        code: "overload",
        severity: Severity::Error,
        title: format!(
            "CPU {set} has work for {:.1} % of a CPU, and {:.0} % is there",
            100.0 * load,
            100.0 * room
        ),
        why: "no order of execution finishes all jobs: responses grow for as long as it runs".to_owned(),
        evidence: Vec::new(),
        fix: vec![AdvisedFix::by_hand("give tasks more CPUs, longer periods or less to do", TASK_SET)],
    })
}

/// The share of a CPU that a task needs in the long run; `None` where that is not known, or a job never ends.
fn utilisation(model: &Model, task: usize) -> Option<f64> {
    let own = &model.tasks[task];
    let mut cost = 0.0;
    for step in &own.steps {
        match step {
            Step::Run(amount) | Step::IrqsOff(amount) | Step::PreemptOff(amount) => cost += amount.mean()?,
            _ => {}
        }
    }
    let gap = match &own.arrival {
        Arrival::Periodic { period, .. } => period.0 as f64,
        Arrival::Sporadic { gap, .. } => gap.mean()?,
        Arrival::After(before) => return Some(cost / own_gap(model, *before)?),
        Arrival::At(_) | Arrival::Woken | Arrival::Recorded(_) => return None,
    };
    Some(cost / gap)
}

fn own_gap(model: &Model, task: usize) -> Option<f64> {
    match &model.tasks[task].arrival {
        Arrival::Periodic { period, .. } => Some(period.0 as f64),
        Arrival::Sporadic { gap, .. } => gap.mean(),
        Arrival::After(before) => own_gap(model, *before),
        Arrival::At(_) | Arrival::Woken | Arrival::Recorded(_) => None,
    }
}
