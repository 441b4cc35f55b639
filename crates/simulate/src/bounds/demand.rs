//! The processor demand of SCHED_DEADLINE threads on one CPU (S. Baruah, A. Mok and L. Rosier, 1990).
//!
//! All deadlines are met if no window demands more time than it has. Only windows up to a length need to be looked at,
//! and only at absolute deadlines.

use super::fixed_priority::Interference;
use whylate_base::Ns;

/// A task under earliest deadline first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemandTask {
    /// The CPU time of a job.
    pub cost: Ns,
    /// Its relative deadline.
    pub deadline: Ns,
    /// The least distance of two jobs.
    pub period: Ns,
    /// Its release jitter.
    pub jitter: Ns,
}

/// More instants than this are not looked at: then there is no answer.
const MOST_INSTANTS: usize = 2_000_000;

/// The demand of all jobs with arrival and deadline within a window of this length.
pub fn demand(tasks: &[DemandTask], window: Ns) -> Ns {
    let of = |task: &DemandTask| {
        let room = i128::from(window.0) + i128::from(task.jitter.0) - i128::from(task.deadline.0);
        let period = i128::from(task.period.0.max(1));
        let jobs = if room < 0 { 0 } else { room / period + 1 };
        i64::try_from(jobs * i128::from(task.cost.0)).map_or(Ns::MAX, Ns)
    };
    tasks.iter().map(of).sum()
}

/// The shortest window that demands more than it has; `Ok(None)` where there is none, and so every deadline is met.
///
/// `before` goes before every deadline: interrupts, the stop class. `blocking` keeps the CPU once.
///
/// # Errors
/// `DemandUnknown` where there are too many instants to look at, or no time at all is left.
pub fn first_overload(
    tasks: &[DemandTask],
    blocking: Ns,
    before: &[Interference],
) -> Result<Option<Ns>, DemandUnknown> {
    let share = |task: &DemandTask| task.cost.0 as f64 / task.period.0.max(1) as f64;
    let utilisation: f64 = tasks.iter().map(share).sum::<f64>()
        + before.iter().copied().map(Interference::utilisation).sum::<f64>();
    if utilisation > 1.0 + 1e-12 {
        // Some window demands more than it has; which one does not matter.
        return Ok(Some(Ns::MAX));
    }
    let limit = busy_period(tasks, blocking, before).ok_or(DemandUnknown)?;
    let mut instants = Vec::new();
    for task in tasks {
        let mut at = (task.deadline - task.jitter).max(Ns(1));
        while at <= limit {
            instants.push(at);
            if instants.len() > MOST_INSTANTS {
                return Err(DemandUnknown);
            }
            at += task.period.max(Ns(1));
        }
    }
    instants.sort_unstable();
    instants.dedup();
    let others = |window: Ns| before.iter().map(|other| other.within(window)).sum::<Ns>();
    Ok(instants.into_iter().find(|&window| blocking + demand(tasks, window) + others(window) > window))
}

/// The error where the demand cannot be computed in reasonable time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemandUnknown;

/// The longest time for which the CPU is busy: no window beyond it matters.
fn busy_period(tasks: &[DemandTask], blocking: Ns, before: &[Interference]) -> Option<Ns> {
    let jobs: Vec<Interference> = tasks
        .iter()
        .map(|task| Interference { cost: task.cost, period: task.period, jitter: task.jitter })
        .chain(before.iter().copied())
        .collect();
    let mut length = blocking + jobs.iter().map(|job| job.cost).sum();
    for _ in 0..1_000_000 {
        let next = blocking + jobs.iter().map(|job| job.within(length)).sum();
        if next <= length {
            // A deadline at its very end counts.
            return Some(length);
        }
        length = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(cost: i64, deadline: i64, period: i64) -> DemandTask {
        DemandTask { cost: Ns(cost), deadline: Ns(deadline), period: Ns(period), jitter: Ns::ZERO }
    }

    /// G. Buttazzo, "Hard Real-Time Computing Systems", the example of the processor demand criterion: utilisation 11/12,
    /// deadlines up to 25.
    #[test]
    fn processor_demand_of_buttazzo() {
        let tasks = [task(2, 4, 6), task(2, 5, 8), task(3, 7, 9)];
        for (window, expected) in [(4, 2), (5, 4), (7, 7), (10, 9), (13, 11), (16, 16), (21, 18), (22, 20)] {
            assert_eq!(demand(&tasks, Ns(window)), Ns(expected), "{window}");
        }
        assert_eq!(first_overload(&tasks, Ns::ZERO, &[]), Ok(None));
    }

    #[test]
    fn a_window_that_demands_too_much_is_found() {
        let tasks = [task(2, 3, 10), task(2, 3, 10)];
        assert_eq!(first_overload(&tasks, Ns::ZERO, &[]), Ok(Some(Ns(3))));
        assert_eq!(first_overload(&[task(2, 3, 10)], Ns(2), &[]), Ok(Some(Ns(3))));
        let interrupt = Interference { cost: Ns(1), period: Ns(2), jitter: Ns::ZERO };
        assert_eq!(first_overload(&[task(2, 3, 10)], Ns::ZERO, &[interrupt]), Ok(Some(Ns(3))));
        assert_eq!(first_overload(&[task(6, 10, 10), task(5, 10, 10)], Ns::ZERO, &[]), Ok(Some(Ns::MAX)));
    }
}
