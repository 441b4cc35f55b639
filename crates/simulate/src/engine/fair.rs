//! SCHED_OTHER: which of several threads runs, by EEVDF (`kernel/sched/fair.c`).
//!
//! Each thread has a virtual runtime, which advances by its time over its weight. A thread that has had less than its
//! share is eligible; of those the one with the earliest virtual deadline runs, for a slice.

use super::fair_entity::NICE_0;
use super::rank::Rank;
use super::state::{Doing, Simulation};
use whylate_base::Ns;

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
