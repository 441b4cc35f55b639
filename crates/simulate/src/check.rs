//! What cannot be simulated, or what the kernel would refuse, with the reason.

use crate::model::{Amount, Arrival, LockProtocol, Model, Step, TaskPolicy};
use thiserror::Error;
use whylate_base::{Cpu, Ns};

/// The most CPUs and tasks of a model.
const MOST_CPUS: u32 = 1024;
const MOST_TASKS: usize = 10_000;

/// Why a model is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {wrong}")]
pub struct ModelError {
    /// The task, or what else it is about.
    pub at: String,
    /// What is wrong, and what would be right.
    pub wrong: String,
}

fn error(at: impl Into<String>, wrong: impl Into<String>) -> ModelError {
    ModelError { at: at.into(), wrong: wrong.into() }
}

/// Checks a model.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(model: &Model) -> Result<(), ModelError> {
    let machine = &model.machine;
    if machine.cpus == 0 || machine.cpus > MOST_CPUS {
        return Err(error("machine.cpus", format!("{} must be 1 to {MOST_CPUS}", machine.cpus)));
    }
    if model.tasks.is_empty() {
        return Err(error("task set", "it has no task: add a [[task]]"));
    }
    if model.tasks.len() > MOST_TASKS {
        return Err(error("task set", format!("it has more than {MOST_TASKS} tasks")));
    }
    if machine.rt_runtime.is_some_and(|runtime| runtime > machine.rt_period) {
        return Err(error("machine.sched_rt_runtime_us", "it is longer than sched_rt_period_us (EINVAL)"));
    }
    names(model)?;
    for at in 0..model.tasks.len() {
        task(model, at)?;
    }
    for interrupt in &model.interrupts {
        let at = format!("interrupt `{}`", interrupt.name);
        if interrupt.cpu.0 >= machine.cpus {
            return Err(error(at, format!("CPU {} is not there: there are {}", interrupt.cpu, machine.cpus)));
        }
        if interrupt.gap.least().is_some_and(|least| least <= Ns::ZERO) {
            return Err(error(at, "its gap must be more than zero"));
        }
        let amounts = [Some(&interrupt.handler), interrupt.softirq.as_ref().map(|(_, length)| length)];
        if amounts.into_iter().flatten().any(|amount| *amount == Amount::Forever) {
            return Err(error(at, "its handler must come to an end"));
        }
    }
    chains(model)?;
    admission(model)
}

fn names(model: &Model) -> Result<(), ModelError> {
    for (at, task) in model.tasks.iter().enumerate() {
        if task.name.is_empty() {
            return Err(error(format!("task {}", at + 1), "its name is empty"));
        }
        if model.tasks[..at].iter().any(|other| other.name == task.name) {
            return Err(error(format!("task `{}`", task.name), "two tasks have this name"));
        }
    }
    Ok(())
}

fn task(model: &Model, at: usize) -> Result<(), ModelError> {
    let task = &model.tasks[at];
    let name = format!("task `{}`", task.name);
    let here = |cpu: Cpu| cpu.0 < model.machine.cpus;
    let sets = task.start.iter().chain(&task.steps).filter_map(|step| match step {
        Step::SetCpus(cpus) => Some(cpus),
        _ => None,
    });
    for cpus in std::iter::once(&task.cpus).chain(sets) {
        if let Some(cpu) = cpus.iter().find(|&cpu| !here(cpu)) {
            let wrong =
                format!("CPU {cpu} is not there: there are {} (machine.cpus, --cpus)", model.machine.cpus);
            return Err(error(name, wrong));
        }
    }
    let works = task.steps.iter().any(|step| match step {
        Step::Run(amount) | Step::IrqsOff(amount) | Step::PreemptOff(amount) | Step::Suspend(amount) => {
            amount.least().is_none_or(|least| least > Ns::ZERO)
        }
        _ => false,
    });
    let is_bound =
        matches!(task.arrival, Arrival::At(_) | Arrival::After(_) | Arrival::Woken | Arrival::Recorded(_));
    if !works && !is_bound {
        return Err(error(name, "its jobs take no time: give `run` more than zero"));
    }
    if let Arrival::Sporadic { gap, .. } = &task.arrival
        && gap.least().is_some_and(|least| least <= Ns::ZERO)
    {
        return Err(error(name, "its gap must be more than zero"));
    }
    if let Arrival::Periodic { jitter: Amount::Forever, .. } = &task.arrival {
        return Err(error(name, "a jitter of forever never releases it"));
    }
    locks(model, at).map_err(|wrong| error(name, wrong))
}

/// Each lock that is taken may be taken by the task, and is given back in the same job.
fn locks(model: &Model, at: usize) -> Result<(), String> {
    let task = &model.tasks[at];
    for steps in [&task.start, &task.steps] {
        let mut held: Vec<usize> = Vec::new();
        for step in steps {
            match step {
                Step::Lock(lock) if held.contains(lock) => {
                    return Err(format!(
                        "it locks `{}` twice: it would wait for itself",
                        model.locks[*lock].name
                    ));
                }
                // The ceiling is a priority of SCHED_FIFO, and `sched_setscheduler` gives none to a thread of SCHED_DEADLINE
                // (`__pthread_tpp_change_priority`, `nptl/tpp.c` of glibc).
                Step::Lock(lock)
                    if model.locks[*lock].protocol == LockProtocol::Protect
                        && matches!(task.scheduling, TaskPolicy::Deadline { .. }) =>
                {
                    return Err(format!(
                        "it is SCHED_DEADLINE, and cannot lock `{}` with the protocol `protect` (EINVAL): use `inherit`",
                        model.locks[*lock].name
                    ));
                }
                Step::Lock(lock) => held.push(*lock),
                Step::Unlock(lock) => match held.iter().rposition(|held| held == lock) {
                    Some(at) => drop(held.remove(at)),
                    None => {
                        return Err(format!(
                            "it unlocks `{}`, which it does not hold",
                            model.locks[*lock].name
                        ));
                    }
                },
                _ => {}
            }
        }
        if let Some(&lock) = held.first() {
            return Err(format!("it does not unlock `{}`: add `unlock {0}`", model.locks[lock].name));
        }
    }
    Ok(())
}

/// No chain of `after` and `wake` comes back to its beginning.
fn chains(model: &Model) -> Result<(), ModelError> {
    let next = |at: usize| {
        let after =
            (0..model.tasks.len()).filter(move |&other| model.tasks[other].arrival == Arrival::After(at));
        let wakes =
            model.tasks[at].start.iter().chain(&model.tasks[at].steps).filter_map(|step| match step {
                Step::Wake(task) => Some(*task),
                _ => None,
            });
        after.chain(wakes).collect::<Vec<usize>>()
    };
    // 0: not seen, 1: on the way here, 2: done.
    let mut seen = vec![0u8; model.tasks.len()];
    for first in 0..model.tasks.len() {
        if seen[first] != 0 {
            continue;
        }
        let mut path = vec![(first, next(first))];
        seen[first] = 1;
        while let Some((at, successors)) = path.last_mut() {
            let Some(successor) = successors.pop() else {
                seen[*at] = 2;
                path.pop();
                continue;
            };
            if seen[successor] == 1 {
                let from = path.iter().position(|(at, _)| *at == successor).unwrap_or(0);
                let ring = path[from..].iter().map(|(at, _)| *at).chain([successor]);
                let names: Vec<&str> = ring.map(|at| model.tasks[at].name.as_str()).collect();
                let wrong = format!("the chain comes back to its beginning: {}", names.join(" -> "));
                return Err(error(format!("task `{}`", model.tasks[successor].name), wrong));
            }
            if seen[successor] == 0 {
                seen[successor] = 1;
                path.push((successor, next(successor)));
            }
        }
    }
    Ok(())
}

/// The kernel admits SCHED_DEADLINE up to a share of all CPUs (`sched_dl_overflow`, `kernel/sched/deadline.c`).
fn admission(model: &Model) -> Result<(), ModelError> {
    let reservations = model.tasks.iter().filter_map(|task| match task.scheduling {
        TaskPolicy::Deadline { runtime, period, .. } => Some(runtime.0 as f64 / period.0.max(1) as f64),
        _ => None,
    });
    let sum: f64 = reservations.sum();
    let Some(limit) = model.machine.rt_runtime else { return Ok(()) };
    let share = limit.0 as f64 / model.machine.rt_period.0 as f64;
    let most = share * f64::from(model.machine.cpus);
    if sum > most + 1e-9 {
        let wrong = format!(
            "the kernel does not admit them (EBUSY): they reserve {:.1} % of a CPU, and {:.1} % may be reserved \
             (sched_rt_runtime_us / sched_rt_period_us of {} CPUs)",
            100.0 * sum,
            100.0 * most,
            model.machine.cpus
        );
        return Err(error("SCHED_DEADLINE tasks", wrong));
    }
    Ok(())
}
