//! On which CPU a thread runs: placement at a wake-up, push and pull (`kernel/sched/rt.c`, `deadline.c`, `fair.c`).

use super::rank::Rank;
use super::state::{Doing, Simulation};
use whylate_base::Cpu;
use whylate_events::EventKind;

impl Simulation<'_> {
    /// The CPU that a wake-up chooses for a thread.
    pub(super) fn place(&mut self, thread: usize) -> usize {
        let hint = self.threads[thread].hint.take();
        let allowed = &self.threads[thread].allowed;
        let rank = self.threads[thread].rank();
        let before = hint.filter(|&cpu| allowed[cpu]).unwrap_or(self.threads[thread].cpu);
        if self.threads[thread].is_pinned {
            return allowed.iter().position(|&allowed| allowed).unwrap_or(before);
        }
        if rank.is_balanced() {
            if allowed[before] && rank < self.rank_on(before) {
                return before;
            }
            if let Some(cpu) = self.lowest(thread, rank) {
                return cpu;
            }
        } else if rank == Rank::Fair {
            if hint.is_some_and(|cpu| allowed[cpu]) {
                return before;
            }
            let is_free = |cpu: usize| self.rank_on(cpu) == Rank::Nothing && self.cpus[cpu].queued.is_empty();
            if allowed[before] && is_free(before) {
                return before;
            }
            let mut others = (0..self.cpus.len()).filter(|&cpu| allowed[cpu] && self.balances(cpu));
            if let Some(free) = others.find(|&cpu| is_free(cpu)) {
                return free;
            }
        }
        if allowed[before] { before } else { allowed.iter().position(|&allowed| allowed).unwrap_or(before) }
    }

    /// The CPU that runs what comes last by the rules, if that comes after `rank`.
    fn lowest(&self, thread: usize, rank: Rank) -> Option<usize> {
        let allowed = &self.threads[thread].allowed;
        let before = self.threads[thread].cpu;
        let cpus = (0..self.cpus.len()).filter(|&cpu| allowed[cpu]);
        let lower = cpus.filter(|&cpu| self.rank_on(cpu) > rank && !self.has_waiting(cpu, rank));
        lower.max_by_key(|&cpu| (self.rank_on(cpu), cpu == before, std::cmp::Reverse(cpu)))
    }

    /// True where a thread of at least this rank is queued on a CPU, which is about to run it.
    fn has_waiting(&self, cpu: usize, rank: Rank) -> bool {
        let queued = self.cpus[cpu].queued.iter();
        queued.copied().any(|thread| self.threads[thread].rank() <= rank && self.may_run(cpu, thread))
    }

    /// True where the scheduler balances SCHED_OTHER threads on a CPU.
    fn balances(&self, cpu: usize) -> bool {
        !self.model.machine.isolated.contains(Cpu(cpu as u32))
    }

    /// A thread goes from one runqueue to another.
    pub(super) fn migrate(&mut self, by: usize, thread: usize, to: usize) {
        let from = self.threads[thread].cpu;
        let kind =
            EventKind::Migrate { tid: self.trace.tids[thread], from: Cpu(from as u32), to: Cpu(to as u32) };
        self.emit(by, kind);
        self.cpus[from].queued.retain(|&queued| queued != thread);
        let is_fair = self.threads[thread].rank() == Rank::Fair;
        if is_fair {
            self.leave_fair(from, thread);
            self.server_stops(from);
        }
        self.threads[thread].cpu = to;
        if is_fair {
            self.place_fair(to, thread);
        }
        self.cpus[to].queued.push(thread);
        if is_fair {
            self.server_watches(to);
        }
    }

    /// A preempted thread is pushed to a CPU that runs something lower (`push_rt_task`).
    pub(super) fn push_away(&mut self, cpu: usize, thread: usize) {
        let rank = self.threads[thread].rank();
        if self.cpus.len() == 1 || !rank.is_balanced() || self.threads[thread].doing != Doing::Queued {
            return;
        }
        if self.threads[thread].is_pinned || !self.may_run(cpu, thread) {
            return;
        }
        if let Some(to) = self.lowest(thread, rank).filter(|&to| to != cpu) {
            self.migrate(cpu, thread, to);
            self.kick(to);
        }
    }

    /// Before a CPU runs something lower than before, it takes the highest thread that waits elsewhere (`pull_rt_task`).
    pub(super) fn pull(&mut self, cpu: usize) {
        if self.cpus.len() == 1 {
            return;
        }
        let current = self.cpus[cpu].current.filter(|&thread| self.threads[thread].doing == Doing::Running);
        let here = self.cpus[cpu].queued.iter().copied().chain(current);
        let own = here.filter(|&thread| self.may_run(cpu, thread)).map(|thread| self.threads[thread].rank());
        let own = own.min().unwrap_or(Rank::Nothing);
        let mut best: Option<(Rank, i64, usize)> = None;
        for other in (0..self.cpus.len()).filter(|&other| other != cpu) {
            for &thread in &self.cpus[other].queued {
                let candidate = &self.threads[thread];
                let rank = candidate.rank();
                let may = rank.is_balanced() && candidate.allowed[cpu] && !candidate.is_pinned && rank < own;
                // What goes before the other CPU's current thread is about to run there.
                let waits = rank >= self.rank_on(other) && self.may_run(other, thread);
                let first = best.is_none_or(|best| (rank, candidate.order) < (best.0, best.1));
                if may && waits && first && !(rank.is_realtime() && self.cpus[cpu].rt_throttled) {
                    best = Some((rank, candidate.order, thread));
                }
            }
        }
        if let Some((_, _, thread)) = best {
            self.migrate(cpu, thread, cpu);
        }
    }

    /// An idle CPU takes a SCHED_OTHER thread that waits elsewhere (`sched_balance_newidle`).
    pub(super) fn pull_fair(&mut self, cpu: usize) -> Option<usize> {
        if self.cpus.len() == 1 || !self.balances(cpu) {
            return None;
        }
        let waits = |&thread: &usize| {
            let candidate = &self.threads[thread];
            let may = candidate.rank() == Rank::Fair && candidate.allowed[cpu] && !candidate.is_pinned;
            may && self.may_run(cpu, thread)
        };
        let others = (0..self.cpus.len()).filter(|&other| other != cpu && self.balances(other));
        let busiest = others.max_by_key(|&other| self.cpus[other].queued.len())?;
        let thread = self.cpus[busiest].queued.iter().copied().find(waits)?;
        // On its way to that CPU's current thread it is about to run there.
        if self.rank_on(busiest) == Rank::Nothing {
            return None;
        }
        self.migrate(cpu, thread, cpu);
        Some(thread)
    }
}
