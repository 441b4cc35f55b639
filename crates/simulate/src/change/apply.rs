//! Changes made to the model of a recording or a task set.

use super::{MachineChange, PolicyName, ReplayChange, ThreadChange, WrittenChange};
use crate::check::check;
use crate::model::{Arrival, JobOrder, JobTrigger, Model, Script, Step, Task, TaskPolicy};
use crate::recording::Recording;
use thiserror::Error;
use whylate_base::{CpuSet, Ns, Tid};
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
    let find = |target: &str| match matches(recording, target) {
        found if found.is_empty() => Err(unknown(recording, target)),
        found => Ok(found),
    };
    made(recording.model.clone(), find, changes)
}

/// A task set with the changes, and the tasks that they name.
///
/// # Errors
/// [`ChangeError`]: the first one that names no task, cannot be made, or that the kernel would refuse.
pub fn apply_to_task_set(
    model: &Model,
    changes: &[WrittenChange],
) -> Result<(Model, Vec<usize>), ChangeError> {
    for named in changes {
        let wrong = match &named.change {
            ReplayChange::Thread { what: ThreadChange::Remove, .. } => "take the task out of the task set",
            ReplayChange::Machine(MachineChange::Kernel(_, true)) if !model.machine.preempt_rt => {
                "PREEMPT_RT runs interrupts in threads: use --kernel"
            }
            _ => continue,
        };
        return Err(ChangeError { change: named.text.clone(), wrong: wrong.to_owned() });
    }
    let (changed, tasks) = made(model.clone(), |target| tasks_named(model, target), changes)?;
    check(&changed).map_err(|error| ChangeError {
        change: changes.iter().map(|change| change.text.as_str()).collect::<Vec<_>>().join(" "),
        wrong: error.to_string(),
    })?;
    Ok((changed, tasks))
}

/// The tasks of a task set that a name or a pattern selects.
///
/// # Errors
/// There is none; with the names that there are.
pub fn tasks_named(model: &Model, target: &str) -> Result<Vec<usize>, String> {
    let is = |task: &Task| task.name == target || select(target).is(Tid(0), &task.name);
    let found: Vec<usize> = (0..model.tasks.len()).filter(|&task| is(&model.tasks[task])).collect();
    if found.is_empty() {
        let names: Vec<&str> = model.tasks.iter().map(|task| task.name.as_str()).take(NAMED).collect();
        let more = if model.tasks.len() > NAMED { ", ..." } else { "" };
        return Err(format!("the task set has no task `{target}`; it has {}{more}", names.join(", ")));
    }
    Ok(found)
}

fn made(
    mut model: Model,
    find: impl Fn(&str) -> Result<Vec<usize>, String>,
    changes: &[WrittenChange],
) -> Result<(Model, Vec<usize>), ChangeError> {
    let (mut changed, mut prioritized) = (Vec::new(), Vec::new());
    // As they are meant together: a policy is of the priority that is set as well, and a nice value of the policy.
    let mut ordered: Vec<&WrittenChange> = changes.iter().collect();
    ordered.sort_by_key(|named| match named.change {
        ReplayChange::Thread { what: ThreadChange::Priority(_), .. } => 0,
        ReplayChange::Thread { what: ThreadChange::Nice(_), .. } => 2,
        _ => 1,
    });
    for named in ordered {
        let wrong = |wrong: String| ChangeError { change: named.text.clone(), wrong };
        match &named.change {
            ReplayChange::Machine(what) => machine(&mut model, what).map_err(wrong)?,
            ReplayChange::Thread { target, what } => {
                let tasks = find(target).map_err(wrong)?;
                match what {
                    ThreadChange::Priority(_) => prioritized.extend_from_slice(&tasks),
                    ThreadChange::Policy(PolicyName::Other | PolicyName::Idle)
                        if tasks.iter().any(|task| prioritized.contains(task)) =>
                    {
                        return Err(wrong(
                            "this policy has no priority: leave one of the two out".to_owned(),
                        ));
                    }
                    _ => {}
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

/// Makes a change of one task.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn thread(model: &mut Model, at: usize, what: &ThreadChange) -> Result<(), String> {
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
            let needs = || format!("`{}` is not a real-time thread: set its priority as well", task.name);
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
                return Err(format!("`{}` is not SCHED_OTHER: set its policy as well", task.name));
            }
            schedule(task, TaskPolicy::Other(*nice));
        }
        ThreadChange::Cpus(cpus) => {
            if let Some(cpu) = cpus.iter().find(|cpu| cpu.0 >= count) {
                let plural = if count == 1 { "" } else { "s" };
                return Err(format!("CPU {cpu} is not there: the machine has {count} CPU{plural}"));
            }
            task.cpus = if cpus.len() == count as usize { CpuSet::new() } else { cpus.clone() };
            if let Arrival::Recorded(script) = &mut task.arrival {
                script.jobs.iter_mut().for_each(|job| job.cpu = None);
                retain(script, |step| !matches!(step, Step::SetCpus(_)));
            }
            task.start.retain(|step| !matches!(step, Step::SetCpus(_)));
            task.steps.retain(|step| !matches!(step, Step::SetCpus(_)));
        }
        ThreadChange::Offset(offset) => set_offset(task, *offset)?,
        ThreadChange::Scale(factor) => {
            task.steps.iter_mut().for_each(|step| scale(step, *factor));
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
    task.start.retain(|step| !matches!(step, Step::SetScheduling(_)));
    task.steps.retain(|step| !matches!(step, Step::SetScheduling(_)));
}

/// Sets when a task is due first; of a recorded thread all that time lets begin comes so much later.
fn set_offset(task: &mut Task, offset: Ns) -> Result<(), String> {
    let name = &task.name;
    match &mut task.arrival {
        Arrival::Periodic { offset: own, .. } | Arrival::Sporadic { offset: own, .. } => *own = offset,
        Arrival::At(_) => {
            return Err(format!("`{name}` is due at the instants of its `arrivals`: change those"));
        }
        Arrival::After(_) | Arrival::Woken => {
            return Err(format!("`{name}` has no phase of its own: others wake it; set theirs"));
        }
        Arrival::Recorded(script) => {
            let by_others =
                script.jobs.iter().filter(|job| matches!(job.trigger, JobTrigger::Woken { .. })).count();
            if 2 * by_others > script.jobs.len() || script.jobs.is_empty() {
                return Err(format!(
                    "`{name}` has no phase of its own: other threads wake it for {by_others} of its {} jobs; set theirs",
                    script.jobs.len()
                ));
            }
            if let JobOrder::Drawn(drawn) = &mut script.order {
                drawn.first += offset;
            }
            for job in &mut script.jobs {
                if let JobTrigger::At { due, released } = &mut job.trigger {
                    (*due, *released) = (*due + offset, *released + offset);
                }
            }
        }
    }
    Ok(())
}

fn scale(step: &mut Step, factor: f64) {
    if let Step::Run(amount) | Step::PreemptOff(amount) | Step::IrqsOff(amount) = step {
        *amount = amount.scaled(factor);
    }
}

/// Leaves out steps.
pub(crate) fn retain(script: &mut Script, keeps: impl Fn(&Step) -> bool) {
    let mut kept = Script { order: script.order, ..Script::default() };
    for (number, job) in script.jobs.iter().enumerate() {
        kept.push(*job, script.steps_of(number).iter().filter(|step| keeps(step)).cloned());
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
            let mut kept = Script { order: script.order, ..Script::default() };
            for (number, job) in script.jobs.iter().enumerate().filter(|(_, job)| !by(&job.trigger)) {
                kept.push(*job, script.steps_of(number).iter().cloned());
            }
            *script = kept;
        }
        let is_of = |step: &Step| match *step {
            Step::Await { by, .. } => by == at,
            Step::Wake(woken) => woken == at,
            _ => false,
        };
        retain(script, |step| !is_of(step));
    }
}
