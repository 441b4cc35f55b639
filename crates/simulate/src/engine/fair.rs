//! SCHED_OTHER: which of several threads runs, by EEVDF (`kernel/sched/fair.c`).
//!
//! Each thread has a virtual runtime, which advances by its time over its weight. A thread that has had less than its
//! share is eligible; of those the one with the earliest virtual deadline runs, for a slice.

use super::rank::Rank;
use super::state::{Doing, Simulation};
use crate::model::Scheduling;
use whylate_base::Ns;

/// The weights by nice value, -20 first (`sched_prio_to_weight`, `kernel/sched/core.c`).
const WEIGHTS: [i64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];
/// Of SCHED_IDLE (`WEIGHT_IDLEPRIO`).
const IDLE_WEIGHT: i64 = 3;
const NICE_0: i64 = 1024;

/// The fair class's account of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairEntity {
    pub(super) weight: i64,
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
    /// How much less than its share it had when it last slept.
    lag: i64,
    /// The deadline with which it got the CPU: it keeps the CPU until it has had that slice.
    parity: Option<i64>,
}

impl FairEntity {
    pub(super) fn new(scheduling: Scheduling) -> FairEntity {
        FairEntity { weight: weight_of(scheduling), vruntime: 0, deadline: 0, lag: 0, parity: None }
    }
}

/// The weight of a thread in the fair class.
pub(super) fn weight_of(scheduling: Scheduling) -> i64 {
    match scheduling {
        Scheduling::Other(nice) => WEIGHTS[(i32::from(nice) + 20).clamp(0, 39) as usize],
        Scheduling::Idle => IDLE_WEIGHT,
        _ => NICE_0,
    }
}

impl Simulation<'_> {
    fn virtual_slice(&self, weight: i64) -> i64 {
        (self.model.machine.fair_slice.0 * NICE_0 / weight).max(1)
    }

    /// The fair threads that are runnable on a CPU, the current one among them.
    fn fair_on(&self, cpu: usize) -> impl Iterator<Item = usize> + '_ {
        let state = &self.cpus[cpu];
        let current = state.current.filter(|&thread| self.threads[thread].doing == Doing::Running);
        let all = state.queued.iter().copied().chain(current);
        all.filter(|&thread| self.threads[thread].rank() == Rank::Fair)
    }

    /// True where a CPU has a runnable fair thread.
    pub(super) fn has_fair(&self, cpu: usize) -> bool {
        self.fair_on(cpu).next().is_some()
    }

    /// The mean virtual runtime of the runnable threads, and the sum of their weights.
    fn mean(&self, cpu: usize, without: Option<usize>) -> (i64, i64) {
        let base = self.cpus[cpu].virtual_time;
        let (mut sum, mut weights) = (0i128, 0i64);
        for thread in self.fair_on(cpu).filter(|&thread| Some(thread) != without) {
            let entity = &self.threads[thread].fair;
            sum += i128::from(entity.vruntime - base) * i128::from(entity.weight);
            weights += entity.weight;
        }
        match weights {
            0 => (base, 0),
            _ => (base + sum.div_euclid(i128::from(weights)) as i64, weights),
        }
    }

    /// A thread comes to the fair queue of a CPU.
    pub(super) fn place_fair(&mut self, cpu: usize, thread: usize) {
        let (mean, weights) = self.mean(cpu, Some(thread));
        let entity = self.threads[thread].fair;
        let mut lag = entity.lag;
        if weights > 0 {
            // Its own coming moves the mean: what it is owed is kept (`place_entity`).
            lag = (i128::from(lag) * i128::from(weights + entity.weight) / i128::from(weights)) as i64;
        } else {
            lag = 0;
        }
        let slice = self.virtual_slice(entity.weight);
        let entity = &mut self.threads[thread].fair;
        entity.vruntime = mean - lag;
        entity.deadline = entity.vruntime + slice;
        entity.parity = None;
    }

    /// A thread leaves the fair queue of a CPU.
    pub(super) fn leave_fair(&mut self, cpu: usize, thread: usize) {
        let (mean, _) = self.mean(cpu, None);
        self.cpus[cpu].virtual_time = mean;
        let entity = self.threads[thread].fair;
        let limit = 2 * self.virtual_slice(entity.weight);
        self.threads[thread].fair.lag = (mean - entity.vruntime).clamp(-limit, limit);
    }

    /// The current thread has used `delta`; true where its slice is over.
    pub(super) fn use_fair(&mut self, cpu: usize, thread: usize, delta: Ns) -> bool {
        let slice = self.virtual_slice(self.threads[thread].fair.weight);
        let entity = &mut self.threads[thread].fair;
        entity.vruntime += delta.0 * NICE_0 / entity.weight;
        let over = entity.vruntime >= entity.deadline;
        if over {
            entity.deadline = entity.vruntime + slice;
        }
        let (mean, _) = self.mean(cpu, None);
        self.cpus[cpu].virtual_time = mean;
        over
    }

    /// The fair thread that a CPU runs next, of those that `may_run`.
    pub(super) fn pick_fair(&self, cpu: usize) -> Option<usize> {
        let (mean, _) = self.mean(cpu, None);
        let current = self.cpus[cpu].current;
        let mut best: Option<(bool, i64, usize)> = None;
        for thread in self.fair_on(cpu).filter(|&thread| self.may_run(cpu, thread)) {
            let entity = &self.threads[thread].fair;
            let late = entity.vruntime > mean;
            if Some(thread) == current && !late && entity.parity == Some(entity.deadline) {
                return current;
            }
            let rank = (late, entity.deadline, thread);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        best.map(|(_, _, thread)| thread)
    }

    /// A fair thread gets the CPU.
    pub(super) fn take_fair(&mut self, thread: usize) {
        let entity = &mut self.threads[thread].fair;
        entity.parity = Some(entity.deadline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_nice() {
        assert_eq!(weight_of(Scheduling::Other(0)), 1024);
        assert_eq!(weight_of(Scheduling::Other(-20)), 88761);
        assert_eq!(weight_of(Scheduling::Other(19)), 15);
        assert_eq!(weight_of(Scheduling::Idle), 3);
    }
}
