//! The bound of each task of a model.

use super::demand::{DemandTask, first_overload};
use super::fixed_priority::{Interference, ResponseLimit, response_times_of_jobs};
use super::interference::{cpu_of, interrupts, may_use, passed_over, with_switches};
use super::job::{JobNeeds, goes_before, needs, unbounded_lock};
use crate::model::{Arrival, LockProtocol, Model, TaskPolicy};
use whylate_base::{Cpu, Ns};

/// Rounds in which bounds that depend on each other may grow.
const ROUNDS: usize = 200;

/// A bound on a task's response times, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No response is longer than this.
    AtMost {
        /// The longest response.
        response: Ns,
        /// By which analysis.
        method: &'static str,
    },
    /// The analysis gives none.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Bound {
    /// The bound, where there is one.
    pub fn response(&self) -> Option<Ns> {
        match self {
            Bound::AtMost { response, .. } => Some(*response),
            Bound::Unknown { .. } => None,
        }
    }
}

/// The bound of each task, in the model's order.
pub fn bounds(model: &Model) -> Vec<Bound> {
    let needs: Vec<Result<JobNeeds, String>> =
        (0..model.tasks.len()).map(|task| needs(model, task)).collect();
    let known: Vec<Option<JobNeeds>> = needs.iter().map(|needs| needs.clone().ok()).collect();
    let mut analysis = Analysis { model, known, responses: vec![None; model.tasks.len()] };
    let mut results: Vec<Result<Option<Ns>, String>> = needs
        .into_iter()
        .enumerate()
        .map(|(task, needs)| needs.and_then(|_| analysis.applies(task)).map(|()| None))
        .collect();
    // Responses only grow from round to round: jitter of one is the response of another.
    for task in 0..model.tasks.len() {
        analysis.responses[task] = analysis.known[task].as_ref().map(|needs| needs.cost);
    }
    for round in 0..ROUNDS {
        let mut grew = false;
        for (task, result) in results.iter_mut().enumerate().filter(|(_, result)| result.is_ok()) {
            let found = analysis.response(task);
            match found {
                Ok(response) => {
                    grew |= analysis.responses[task] != Some(response);
                    analysis.responses[task] = Some(response);
                    *result = Ok(Some(response));
                }
                Err(reason) => {
                    grew = true;
                    *result = Err(reason);
                    analysis.responses[task] = None;
                }
            }
        }
        if !grew {
            break;
        }
        if round + 1 == ROUNDS {
            results.iter_mut().filter(|result| result.is_ok()).for_each(|result| {
                *result = Err("bounds that depend on each other do not settle".to_owned());
            });
        }
    }
    let method = |task: usize| match model.tasks[task].scheduling {
        TaskPolicy::Deadline { .. } => "processor demand",
        _ => "response-time analysis",
    };
    results
        .into_iter()
        .enumerate()
        .map(|(task, result)| match result {
            Ok(Some(response)) => Bound::AtMost { response, method: method(task) },
            Ok(None) => Bound::Unknown { reason: "it was not analysed".to_owned() },
            Err(reason) => Bound::Unknown { reason },
        })
        .collect()
}

struct Analysis<'m> {
    model: &'m Model,
    known: Vec<Option<JobNeeds>>,
    /// As far as they are known in this round.
    responses: Vec<Option<Ns>>,
}

impl Analysis<'_> {
    /// Why a task has no bound, whatever the numbers are.
    fn applies(&self, task: usize) -> Result<(), String> {
        let own = &self.model.tasks[task];
        let name = &own.name;
        match own.scheduling {
            TaskPolicy::Other(_) | TaskPolicy::Idle => {
                return Err(format!("`{name}` is SCHED_OTHER: it takes turns, and no analysis bounds that"));
            }
            TaskPolicy::Deadline { runtime, period, .. } => {
                let needs = self.known[task].as_ref();
                if needs.is_some_and(|needs| needs.cost > runtime || needs.period < period) {
                    return Err(format!("a job of `{name}` may need more than its reservation has"));
                }
            }
            TaskPolicy::Stop | TaskPolicy::Fifo(_) | TaskPolicy::Rr(_) => {}
        }
        let Some(cpu) = cpu_of(self.model, task) else {
            return Err(format!(
                "`{name}` may move between CPUs: the analysis is for one CPU (give it cpus)"
            ));
        };
        for (lock, _) in self.known[task].iter().flat_map(|needs| &needs.sections) {
            if let Some(reason) = unbounded_lock(self.model, *lock) {
                return Err(reason);
            }
        }
        for other in (0..self.model.tasks.len()).filter(|&other| other != task) {
            self.may_interfere(task, other, cpu)?;
        }
        Ok(())
    }

    fn may_interfere(&self, task: usize, other: usize, cpu: Cpu) -> Result<(), String> {
        let (own, theirs) = (&self.model.tasks[task], &self.model.tasks[other]);
        let here = may_use(self.model, other, cpu);
        let needs = self.known[other].as_ref();
        if here && goes_before(theirs.scheduling, own.scheduling) {
            if needs.is_none() {
                return Err(format!("`{}` goes before it and has no bound itself", theirs.name));
            }
            if cpu_of(self.model, other).is_none() {
                return Err(format!("`{}` goes before it and may move between CPUs", theirs.name));
            }
        }
        // A wait for a thread of another CPU is not in this analysis.
        let shares = |lock: usize| {
            self.known[task].iter().flat_map(|needs| &needs.sections).any(|&(own, _)| own == lock)
        };
        let shared = needs.into_iter().flat_map(|needs| &needs.sections).find(|&&(lock, _)| shares(lock));
        match shared {
            Some(&(lock, _)) if cpu_of(self.model, other) != Some(cpu) => Err(format!(
                "it shares `{}` with `{}` of another CPU",
                self.model.locks[lock].name, theirs.name
            )),
            _ => Ok(()),
        }
    }

    fn response(&self, task: usize) -> Result<Ns, String> {
        let (model, own) = (self.model, &self.model.tasks[task]);
        let (Some(needs), Some(cpu)) = (&self.known[task], cpu_of(model, task)) else {
            return Err("it was not analysed".to_owned());
        };
        let costs = model.machine.costs;
        let mut before = interrupts(model, cpu, &self.known)?;
        let blocking = Ns(self.blocking(task, cpu).0.saturating_mul(1 + needs.suspensions))
            + Ns((costs.idle_exit + costs.switch).0.saturating_mul(1 + needs.sleeps));
        if let TaskPolicy::Deadline { deadline, .. } = own.scheduling {
            return self.by_demand(cpu, deadline, blocking, &before, needs);
        }
        if let TaskPolicy::Fifo(_) | TaskPolicy::Rr(_) = own.scheduling {
            before.extend(passed_over(model, cpu, &self.known));
        }
        for other in (0..model.tasks.len()).filter(|&other| other != task && may_use(model, other, cpu)) {
            if goes_before(model.tasks[other].scheduling, own.scheduling) {
                before.push(self.as_interference(other)?);
            }
        }
        let jitter = self.jitter(task)?;
        let cost = with_switches(model, needs) + needs.suspended;
        let limit = ResponseLimit::default();
        let own_load = Interference { cost, period: needs.period, jitter };
        let jobs = response_times_of_jobs(own_load, blocking, &before, limit);
        let Some(jobs) = jobs else {
            return Err(format!("the CPU is overloaded for `{}`: its responses grow without end", own.name));
        };
        if needs.period == Ns::MAX || !matches!(own.arrival, Arrival::After(_)) {
            return Ok(jobs.into_iter().max().unwrap_or(Ns::ZERO));
        }
        // Of a chain's task: from its wake-up, which is up to `jitter` late by itself.
        let from_wake_up = jobs.into_iter().enumerate().map(|(at, response)| {
            let arrival = Ns(needs.period.0.saturating_mul(at as i64));
            // It is woken at the start of the window, or `jitter` before its nominal arrival in it.
            response - jitter + jitter.min(arrival)
        });
        Ok(from_wake_up.max().unwrap_or(Ns::ZERO))
    }

    /// How much later than its nominal arrival a task is released.
    fn jitter(&self, task: usize) -> Result<Ns, String> {
        let needs = self.known[task].as_ref().map_or(Ns::ZERO, |needs| needs.jitter);
        match self.model.tasks[task].arrival {
            Arrival::After(before) => {
                let response = self.responses[before]
                    .ok_or_else(|| format!("`{}` before it has no bound", self.model.tasks[before].name))?;
                let earlier = match self.model.tasks[before].arrival {
                    Arrival::After(_) => self.jitter(before)?,
                    _ => Ns::ZERO,
                };
                Ok(response + earlier)
            }
            _ => Ok(needs),
        }
    }

    /// A task as another one sees it that comes later by the rules.
    fn as_interference(&self, other: usize) -> Result<Interference, String> {
        let name = &self.model.tasks[other].name;
        let Some(needs) = &self.known[other] else { return Err(format!("`{name}` has no bound")) };
        let mut jitter = self.jitter(other)?;
        if needs.suspended > Ns::ZERO {
            // A job that sleeps in between may come nearer to the next one.
            let response =
                self.responses[other].ok_or_else(|| format!("`{name}` goes before it and has no bound"))?;
            if response > needs.period {
                return Err(format!("`{name}` sleeps in its jobs and is not done by its next one"));
            }
            // The response counts from the nominal arrival and so has the release jitter in it; that of a chain's task does not.
            let begun = match self.model.tasks[other].arrival {
                Arrival::After(_) => jitter,
                _ => Ns::ZERO,
            };
            jitter = begun + response.since(needs.cost);
        }
        if let TaskPolicy::Deadline { runtime, period, .. } = self.model.tasks[other].scheduling
            && (needs.cost > runtime || needs.period < period)
        {
            let cost = runtime + self.model.machine.tick;
            return Ok(Interference { cost, period, jitter: period });
        }
        Ok(Interference { cost: with_switches(self.model, needs), period: needs.period, jitter })
    }

    /// The longest time for which tasks that come later keep the CPU from a task, once.
    fn blocking(&self, task: usize, cpu: Cpu) -> Ns {
        let model = self.model;
        let own = model.tasks[task].scheduling;
        let here = |&other: &usize| other != task && may_use(model, other, cpu);
        let all: Vec<usize> = (0..model.tasks.len()).filter(here).collect();
        let of = |other: usize| self.known[other].as_ref();
        // Deadlines decide among SCHED_DEADLINE tasks: each of them may be later than this one.
        let is_later = |other: usize| match (model.tasks[other].scheduling, own) {
            (TaskPolicy::Deadline { .. }, TaskPolicy::Deadline { .. }) => true,
            (scheduling, _) => !goes_before(scheduling, own),
        };
        let lower: Vec<usize> = all.iter().copied().filter(|&other| is_later(other)).collect();
        // Those that go before take the CPU for whole jobs, with these sections in them.
        let off = lower.iter().filter_map(|&other| of(other)).map(|needs| needs.longest_off).max();
        // A lock delays this task if something at least as high uses it as well.
        let uses = |other: usize, lock: usize| {
            of(other).is_some_and(|needs| needs.sections.iter().any(|&(used, _)| used == lock))
        };
        let delays = |lock: usize| {
            let users: Vec<usize> =
                all.iter().copied().chain([task]).filter(|&other| uses(other, lock)).collect();
            let reaches = |&other: &usize| other == task || goes_before(model.tasks[other].scheduling, own);
            // No task waits for a lock that one alone uses.
            users.len() > 1 && users.iter().any(reaches)
        };
        let longest = |other: usize, lock: usize| {
            let sections = of(other).map(|needs| needs.sections.as_slice()).unwrap_or_default();
            let lengths = sections.iter().filter(|&&(used, _)| used == lock).map(|&(_, length)| length);
            lengths.max().unwrap_or(Ns::ZERO)
        };
        let locks: Vec<usize> = (0..model.locks.len()).filter(|&lock| delays(lock)).collect();
        let of_lock =
            |&lock: &usize| lower.iter().map(|&other| longest(other, lock)).max().unwrap_or(Ns::ZERO);
        let of_task =
            |&other: &usize| locks.iter().map(|&lock| longest(other, lock)).max().unwrap_or(Ns::ZERO);
        let ceilings = locks.iter().all(|&lock| model.locks[lock].protocol == LockProtocol::Protect);
        let by_locks = match ceilings {
            // With ceilings it waits for one section at most.
            true => locks.iter().map(of_lock).max().unwrap_or(Ns::ZERO),
            // By inheritance, for one section of each lock and of each lower task (Sha, Rajkumar, Lehoczky 1990).
            false => {
                let (by_lock, by_task): (Ns, Ns) =
                    (locks.iter().map(of_lock).sum(), lower.iter().map(of_task).sum());
                by_lock.min(by_task)
            }
        };
        let switches = match by_locks {
            Ns::ZERO => Ns::ZERO,
            _ => Ns(4 * model.machine.costs.switch.0 * locks.len() as i64),
        };
        off.unwrap_or(Ns::ZERO) + by_locks + switches
    }

    /// All SCHED_DEADLINE tasks of a CPU at once: if no window demands too much, each keeps its deadline.
    fn by_demand(
        &self,
        cpu: Cpu,
        deadline: Ns,
        blocking: Ns,
        interrupts: &[Interference],
        needs: &JobNeeds,
    ) -> Result<Ns, String> {
        let mut before = interrupts.to_vec();
        let mut tasks = Vec::new();
        for other in (0..self.model.tasks.len()).filter(|&other| may_use(self.model, other, cpu)) {
            match self.model.tasks[other].scheduling {
                TaskPolicy::Stop => before.push(self.as_interference(other)?),
                TaskPolicy::Deadline { runtime, deadline, period } => {
                    let theirs = self.known[other].as_ref();
                    let switched = theirs.map_or(runtime, |theirs| with_switches(self.model, theirs));
                    let fits = theirs.is_some_and(|theirs| theirs.cost <= runtime && theirs.period >= period);
                    // What does not fit is stopped, at a tick.
                    let cost = if fits { switched } else { runtime + self.model.machine.tick };
                    let jitter = if fits { self.jitter(other)? } else { period };
                    let period = theirs.filter(|_| fits).map_or(period, |theirs| theirs.period);
                    tasks.push(DemandTask { cost, deadline, period, jitter });
                }
                _ => {}
            }
        }
        if needs.suspended > Ns::ZERO {
            return Err("it sleeps in its jobs: the demand does not bound that".to_owned());
        }
        match first_overload(&tasks, blocking, &before) {
            Ok(None) => Ok(deadline + needs.jitter),
            Ok(Some(Ns::MAX)) => {
                Err("the SCHED_DEADLINE threads of its CPU demand more than all of it".to_owned())
            }
            Ok(Some(window)) => Err(format!(
                "the SCHED_DEADLINE threads of its CPU demand more than {window} in a window of that length"
            )),
            Err(_) => Err("the demand has too many instants to look at".to_owned()),
        }
    }
}
