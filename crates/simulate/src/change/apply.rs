//! Changes made to the model of a recording.

use super::{MachineChange, PolicyName, ReplayChange, ThreadChange, WrittenChange};
use crate::model::{Arrival, JobTrigger, Model, RecordedJob, Script, Step, Task, TaskPolicy};
use crate::recording::Recording;
use thiserror::Error;
use whylate_base::{CpuSet, Ns};
use whylate_ledger::Select;

/// Names in an error beyond this are not listed.
const NAMED: usize = 30;

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{change}: {wrong}")]
pub struct ChangeError {
    /// The change as it was written.
    pub change: String,
    /// What is wrong, and what would be right.
    pub wrong: String,
}

/// What a name, an id or a pattern selects.
pub fn select(target: &str) -> Select {
    match Select::parse(target) {
        Select::Comm(name) if name.contains('*') => Select::Pattern(name),
        select => select,
    }
}

/// The tasks of a recording that a name, an id or a pattern selects.
pub fn matches(recording: &Recording, target: &str) -> Vec<usize> {
    let select = select(target);
    let threads = recording.threads.iter().zip(&recording.model.tasks).enumerate();
    let is = |(at, (thread, task)): (usize, (&crate::recording::RecordedThread, &Task))| {
        (select.is(thread.tid, thread.comm.as_str()) || task.name == target).then_some(at)
    };
    threads.filter_map(is).collect()
}

/// The model of a recording with the changes, and the tasks that they name.
///
/// # Errors
/// [`ChangeError`], the first one.
pub fn apply(recording: &Recording, changes: &[WrittenChange]) -> Result<(Model, Vec<usize>), ChangeError> {
    let mut model = recording.model.clone();
    let mut changed = Vec::new();
    for named in changes {
        let wrong = |wrong: String| ChangeError { change: named.text.clone(), wrong };
        match &named.change {
            ReplayChange::Machine(what) => machine(&mut model, what).map_err(wrong)?,
            ReplayChange::Thread { target, what } => {
                let tasks = matches(recording, target);
                if tasks.is_empty() {
                    return Err(wrong(unknown(recording, target)));
                }
                for &at in &tasks {
                    thread(&mut model, at, what).map_err(wrong)?;
                }
                changed.extend(tasks);
            }
        }
    }
    changed.sort_unstable();
    changed.dedup();
    Ok((model, changed))
}

/// The message for a thread that a recording does not have, with the names that it has.
pub fn unknown(recording: &Recording, target: &str) -> String {
    let mut active: Vec<(Ns, &str)> =
        recording.threads.iter().map(|thread| (thread.ran, thread.comm.as_str())).collect();
    active.sort_by(|a, b| b.cmp(a));
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in active {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > NAMED { ", ..." } else { "" };
    names.truncate(NAMED);
    format!("the recording has no thread `{target}`; it has {}{more}", names.join(", "))
}

fn machine(model: &mut Model, what: &MachineChange) -> Result<(), String> {
    let machine = &mut model.machine;
    match what {
        MachineChange::RtRuntime(runtime) => {
            if runtime.is_some_and(|runtime| runtime > machine.rt_period) {
                return Err(format!("it is longer than sched_rt_period_us, {} (EINVAL)", machine.rt_period));
            }
            machine.rt_runtime = *runtime;
        }
        MachineChange::FairServer(server) => machine.fair_server = *server,
        MachineChange::Kernel(kernel, is_rt) => {
            if *is_rt && !machine.preempt_rt {
                return Err("PREEMPT_RT runs interrupts in threads, which the recording does not have: simulate a task \
                            set, or record on that kernel"
                    .to_owned());
            }
            machine.kernel = *kernel;
        }
        MachineChange::Isolated(cpus) => {
            machine.isolated = cpus.iter().filter(|cpu| cpu.0 < machine.cpus).collect();
        }
    }
    Ok(())
}

fn thread(model: &mut Model, at: usize, what: &ThreadChange) -> Result<(), String> {
    let count = model.machine.cpus;
    let Some(task) = model.tasks.get_mut(at) else { return Ok(()) };
    match what {
        ThreadChange::Priority(priority) => {
            let scheduling = match task.scheduling {
                TaskPolicy::Rr(_) => TaskPolicy::Rr(*priority),
                _ => TaskPolicy::Fifo(*priority),
            };
            schedule(task, scheduling);
        }
        ThreadChange::Policy(policy) => {
            let priority = task.scheduling.rt_priority();
            let needs =
                || format!("`{}` is not a real-time thread: set its priority as well, before", task.name);
            let scheduling = match policy {
                PolicyName::Fifo => TaskPolicy::Fifo(priority.ok_or_else(needs)?),
                PolicyName::Rr => TaskPolicy::Rr(priority.ok_or_else(needs)?),
                PolicyName::Other => TaskPolicy::Other(0),
                PolicyName::Idle => TaskPolicy::Idle,
            };
            schedule(task, scheduling);
        }
        ThreadChange::Nice(nice) => {
            if !task.scheduling.is_fair() {
                return Err(format!("`{}` is not SCHED_OTHER: set its policy before", task.name));
            }
            schedule(task, TaskPolicy::Other(*nice));
        }
        ThreadChange::Cpus(cpus) => {
            if let Some(cpu) = cpus.iter().find(|cpu| cpu.0 >= count) {
                return Err(format!("CPU {cpu} is not there: the recording has {count} CPUs"));
            }
            task.cpus = if cpus.len() == count as usize { CpuSet::new() } else { cpus.clone() };
            if let Arrival::Recorded(script) = &mut task.arrival {
                script.jobs.iter_mut().for_each(|job| job.cpu = None);
                retain(script, |step| !matches!(step, Step::SetCpus(_)));
            }
        }
        ThreadChange::Scale(factor) => {
            if let Arrival::Recorded(script) = &mut task.arrival {
                script.steps.iter_mut().for_each(|step| scale(step, *factor));
            }
        }
        ThreadChange::Remove => remove(model, at),
    }
    Ok(())
}

/// A thread is scheduled so from the beginning to the end.
fn schedule(task: &mut Task, scheduling: TaskPolicy) {
    task.scheduling = scheduling;
    if let Arrival::Recorded(script) = &mut task.arrival {
        retain(script, |step| !matches!(step, Step::SetScheduling(_)));
    }
}

fn scale(step: &mut Step, factor: f64) {
    if let Step::Run(amount) | Step::PreemptOff(amount) | Step::IrqsOff(amount) = step {
        *amount = amount.scaled(factor);
    }
}

/// Leaves out steps.
fn retain(script: &mut Script, keeps: impl Fn(&Step) -> bool) {
    let mut kept = Script::default();
    for (number, job) in script.jobs.iter().enumerate() {
        let first_step = kept.steps.len();
        kept.steps.extend(script.steps_of(number).iter().filter(|step| keeps(step)).cloned());
        kept.jobs.push(RecordedJob { first_step, ..*job });
    }
    *script = kept;
}

/// A thread is not there: what waited for it goes on, and what it woke is not woken.
fn remove(model: &mut Model, at: usize) {
    for (other, task) in model.tasks.iter_mut().enumerate() {
        let Arrival::Recorded(script) = &mut task.arrival else { continue };
        if other == at {
            *script = Script::default();
            continue;
        }
        let by = |trigger: &JobTrigger| matches!(trigger, JobTrigger::Woken { by, .. } if *by == at);
        if script.jobs.iter().any(|job| by(&job.trigger)) {
            let mut kept = Script::default();
            for (number, job) in script.jobs.iter().enumerate().filter(|(_, job)| !by(&job.trigger)) {
                let first_step = kept.steps.len();
                kept.steps.extend_from_slice(script.steps_of(number));
                kept.jobs.push(RecordedJob { first_step, ..*job });
            }
            *script = kept;
        }
        retain(script, |step| *step != Step::Await(at) && *step != Step::Wake(at));
    }
}
