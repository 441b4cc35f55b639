//! What a job of a task needs at most: CPU time, sleeps, sections under locks or with preemption disabled.

use crate::model::{Arrival, LockProtocol, Model, Step, TaskPolicy};
use whylate_base::Ns;

/// The needs of each job of a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobNeeds {
    /// CPU time.
    pub(super) cost: Ns,
    /// Sleeps in the middle of the job.
    pub(super) suspended: Ns,
    /// How many such sleeps: after each, something that comes later may have the CPU again.
    pub(super) suspensions: i64,
    /// How many times it leaves the CPU by itself before it is done.
    pub(super) sleeps: i64,
    /// The longest section with preemption or interrupts disabled.
    pub(super) longest_off: Ns,
    /// The sections under each lock: the lock, and how long at most.
    pub(super) sections: Vec<(usize, Ns)>,
    /// The least distance of two jobs.
    pub(super) period: Ns,
    /// Release jitter.
    pub(super) jitter: Ns,
}

/// The needs of a task's jobs, or why they have no bound.
pub(super) fn needs(model: &Model, task: usize) -> Result<JobNeeds, String> {
    let own = &model.tasks[task];
    let mut needs = JobNeeds {
        cost: Ns::ZERO,
        suspended: Ns::ZERO,
        suspensions: 0,
        sleeps: 0,
        longest_off: Ns::ZERO,
        sections: Vec::new(),
        period: Ns::ZERO,
        jitter: Ns::ZERO,
    };
    if own.start.iter().any(|step| matches!(step, Step::SetScheduling(_) | Step::SetCpus(_))) {
        return Err(format!("`{}` changes its own policy or CPUs", own.name));
    }
    let mut held: Vec<(usize, Ns)> = Vec::new();
    let endless = || format!("a job of `{}` has no end", own.name);
    for step in own.start.iter().chain(&own.steps) {
        match step {
            Step::Run(amount) | Step::IrqsOff(amount) | Step::PreemptOff(amount) => {
                let most = amount.most().ok_or_else(endless)?;
                needs.cost += most;
                held.iter_mut().for_each(|(_, length)| *length += most);
                if !matches!(step, Step::Run(_)) {
                    needs.longest_off = needs.longest_off.max(most);
                }
            }
            Step::Suspend(amount) => {
                needs.suspended += amount.most().ok_or_else(endless)?;
                needs.suspensions += 1;
                needs.sleeps += 1;
                if !held.is_empty() {
                    return Err(format!("`{}` sleeps while it holds a lock", own.name));
                }
            }
            Step::Lock(lock) => {
                held.push((*lock, Ns::ZERO));
                needs.sleeps += 1;
            }
            Step::Unlock(lock) => {
                if let Some(at) = held.iter().rposition(|(held, _)| held == lock) {
                    needs.sections.push(held.remove(at));
                }
            }
            Step::Wake(_) => {}
            Step::Await { .. } => return Err(format!("`{}` waits for another task in its jobs", own.name)),
            Step::SetScheduling(_) | Step::SetCpus(_) => {
                return Err(format!("`{}` changes its own policy or CPUs", own.name));
            }
        }
    }
    (needs.period, needs.jitter) = arrivals(model, task)?;
    Ok(needs)
}

/// The least distance of two arrivals of a task, and its jitter; that of a chain's tasks comes from those before it.
fn arrivals(model: &Model, task: usize) -> Result<(Ns, Ns), String> {
    let own = &model.tasks[task];
    match &own.arrival {
        Arrival::Periodic { period, jitter, .. } => Ok((*period, jitter.most().unwrap_or(Ns::ZERO))),
        Arrival::Sporadic { gap, .. } => match gap.least() {
            Some(least) if least > Ns::ZERO => Ok((least, Ns::ZERO)),
            // It arrives once.
            None => Ok((Ns::MAX, Ns::ZERO)),
            Some(_) => Err(format!("two jobs of `{}` may arrive at once", own.name)),
        },
        Arrival::At(instants) => {
            let gaps = instants.windows(2).map(|pair| pair[1] - pair[0]);
            match gaps.min() {
                Some(Ns::ZERO) => Err(format!("two jobs of `{}` arrive at once", own.name)),
                gap => Ok((gap.unwrap_or(Ns::MAX), Ns::ZERO)),
            }
        }
        Arrival::After(before) => Ok((arrivals(model, *before)?.0, Ns::ZERO)),
        Arrival::Recorded(_) => Err(format!("the jobs of `{}` are those of a recording", own.name)),
        Arrival::Woken => {
            let mut gaps = model.interrupts.iter().filter(|interrupt| interrupt.wakes == Some(task));
            let wakers = model.tasks.iter().flat_map(|other| other.start.iter().chain(&other.steps));
            let others = wakers.filter(|step| **step == Step::Wake(task)).count();
            match (gaps.next().map(|interrupt| interrupt.gap.least()), gaps.next(), others) {
                (Some(Some(least)), None, 0) if least > Ns::ZERO => Ok((least, Ns::ZERO)),
                _ => Err(format!("how often `{}` is woken has no bound", own.name)),
            }
        }
    }
}

/// Why a lock gives no bound on the wait for it.
pub(super) fn unbounded_lock(model: &Model, lock: usize) -> Option<String> {
    let known = &model.locks[lock];
    (known.protocol == LockProtocol::None).then(|| {
        format!("the owner of `{}` does not inherit: any thread may delay it (make it inherit)", known.name)
    })
}

/// True where a task goes before another, or takes turns with it.
pub(super) fn goes_before(other: TaskPolicy, own: TaskPolicy) -> bool {
    let rank = |scheduling| match scheduling {
        TaskPolicy::Stop => 0,
        TaskPolicy::Deadline { .. } => 1,
        TaskPolicy::Fifo(user) | TaskPolicy::Rr(user) => 200 - i32::from(user),
        TaskPolicy::Other(_) | TaskPolicy::Idle => 300,
    };
    rank(other) <= rank(own)
}
