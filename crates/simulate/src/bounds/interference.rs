//! What goes before a task on its CPU: interrupts, throttling, servers, and the tasks of higher or equal priority.

use super::fixed_priority::Interference;
use super::job::JobNeeds;
use crate::model::{AccountingClock, Model, TaskPolicy};
use whylate_base::{Cpu, Ns};

/// The CPU on which a task stays; `None` where it may move.
pub(super) fn cpu_of(model: &Model, task: usize) -> Option<Cpu> {
    let cpus = &model.tasks[task].cpus;
    match (model.machine.cpus, cpus.len()) {
        (1, _) => Some(Cpu(0)),
        (_, 1) => cpus.iter().next(),
        _ => None,
    }
}

/// True where a task may use a CPU.
pub(super) fn may_use(model: &Model, task: usize, cpu: Cpu) -> bool {
    let cpus = &model.tasks[task].cpus;
    cpus.is_empty() || cpus.contains(cpu)
}

/// The time of a job with the switches that it makes.
pub(super) fn with_switches(model: &Model, needs: &JobNeeds) -> Ns {
    let costs = model.machine.costs;
    // To it and away from it, for each part between two sleeps.
    needs.cost + Ns((2 * costs.switch.0 + costs.idle_exit.0) * (1 + needs.sleeps))
}

/// The interrupts of a CPU.
pub(super) fn interrupts(
    model: &Model,
    cpu: Cpu,
    needs: &[Option<JobNeeds>],
) -> Result<Vec<Interference>, String> {
    let costs = model.machine.costs;
    let mut all = Vec::new();
    if costs.tick > Ns::ZERO {
        all.push(Interference { cost: costs.tick, period: model.machine.tick, jitter: Ns::ZERO });
    }
    for interrupt in model.interrupts.iter().filter(|interrupt| interrupt.cpu == cpu) {
        let softirq = interrupt.softirq.as_ref().map_or(Some(Ns::ZERO), |(_, length)| length.most());
        let (handler, gap) = (interrupt.handler.most(), interrupt.gap.least());
        match (handler, softirq, gap) {
            (Some(handler), Some(softirq), Some(gap)) if gap > Ns::ZERO => {
                all.push(Interference { cost: handler + softirq, period: gap, jitter: Ns::ZERO });
            }
            _ => return Err(format!("the interrupt {} has no bound", interrupt.name)),
        }
    }
    if costs.timer > Ns::ZERO {
        let here = needs.iter().enumerate().filter(|&(task, _)| may_use(model, task, cpu));
        for (_, needs) in here {
            match needs {
                Some(needs) => {
                    let cost = Ns(costs.timer.0 * (1 + needs.sleeps));
                    all.push(Interference { cost, period: needs.period, jitter: needs.jitter });
                }
                // One that never ends has one timer in all.
                None => all.push(Interference { cost: costs.timer, period: Ns::MAX, jitter: Ns::ZERO }),
            }
        }
    }
    Ok(all)
}

/// The times in which real-time threads are passed over on a CPU.
pub(super) fn passed_over(model: &Model, cpu: Cpu, needs: &[Option<JobNeeds>]) -> Vec<Interference> {
    let machine = &model.machine;
    let mut all = Vec::new();
    if let Some(runtime) = machine.throttle()
        && can_throttle(model, cpu, needs, runtime)
    {
        // Once a period, until its end; the tick finds it up to one tick late, and that is taken off the next period.
        let cost = machine.rt_period - runtime + Ns(2 * machine.tick.0);
        // By a clock of ticks, nothing bounds what was charged before: the whole rest of the period may be lost.
        let cost = match machine.clock {
            AccountingClock::Precise => cost,
            AccountingClock::Tick => machine.rt_period,
        };
        all.push(Interference { cost: cost.min(machine.rt_period), period: machine.rt_period, jitter: cost });
    }
    if let Some(server) = machine.server() {
        let fair = |task: usize| {
            let own = &model.tasks[task];
            let was_fair = own.scheduling.is_fair();
            was_fair && may_use(model, task, cpu)
        };
        if (0..model.tasks.len()).any(fair) {
            let cost = server.runtime + machine.tick;
            all.push(Interference { cost, period: server.period, jitter: cost });
        }
    }
    all
}

/// True where the real-time threads of a CPU may use more than `runtime` in a period, as the scheduler's clock counts.
fn can_throttle(model: &Model, cpu: Cpu, needs: &[Option<JobNeeds>], runtime: Ns) -> bool {
    let machine = &model.machine;
    let mut used = Ns::ZERO;
    for (task, needs) in needs.iter().enumerate().filter(|&(task, _)| may_use(model, task, cpu)) {
        if !matches!(model.tasks[task].scheduling, TaskPolicy::Fifo(_) | TaskPolicy::Rr(_)) {
            // An owner of a lock may inherit a real-time priority.
            if needs.as_ref().is_none_or(|needs| needs.sections.is_empty()) {
                continue;
            }
        }
        let Some(needs) = needs else { return true };
        let charged = match machine.clock {
            AccountingClock::Precise => with_switches(model, needs),
            AccountingClock::Tick => needs.cost + Ns(machine.tick.0 * (1 + needs.sleeps)),
        };
        let job =
            Interference { cost: charged, period: needs.period, jitter: needs.jitter + machine.rt_period };
        used += job.within(machine.rt_period);
    }
    used > runtime
}
