//! What keeps threads from a CPU that is theirs by rank: throttling of real-time threads, the fair server, reservations,
//! quotas of groups. As in the kernel, all of them count at ticks and at switches.

use super::rank::Rank;
use super::state::{Doing, Pending, Simulation};
use crate::model::{Bandwidth, TaskPolicy};
use whylate_base::Ns;

impl Simulation<'_> {
    /// Charges the current thread of a CPU with the time that it has used by the scheduler's clock.
    pub(super) fn charge(&mut self, cpu: usize) {
        let clock = self.clock(self.now);
        let delta = clock.since(self.cpus[cpu].charged);
        self.cpus[cpu].charged = clock;
        let Some(thread) = self.cpus[cpu].current.filter(|_| delta > Ns::ZERO) else { return };
        match self.threads[thread].rank() {
            Rank::Realtime(_) => self.use_realtime(cpu, delta),
            Rank::Deadline(_) => {
                let reservation = &mut self.threads[thread].reservation;
                reservation.left -= delta;
            }
            Rank::Fair => {
                let over = self.use_fair(cpu, thread, delta);
                self.cpus[cpu].need_resched |= over && !self.cpus[cpu].queued.is_empty();
                self.use_server(cpu, delta);
                self.use_quota(cpu, thread, delta);
            }
            Rank::Stop | Rank::Nothing => {}
        }
    }

    /// Real-time threads have used a CPU (`update_curr_rt`).
    fn use_realtime(&mut self, cpu: usize, delta: Ns) {
        let Some(runtime) = self.model.machine.throttle() else { return };
        self.cpus[cpu].rt_used += delta;
        if self.cpus[cpu].rt_throttled || self.cpus[cpu].rt_used <= self.cpus[cpu].rt_limit {
            return;
        }
        if self.model.machine.bandwidth() == Bandwidth::ThrottleShared {
            self.borrow(cpu, runtime);
        }
        let state = &mut self.cpus[cpu];
        if state.rt_used > state.rt_limit && state.rt_limit < self.model.machine.rt_period {
            state.rt_throttled = true;
            state.need_resched = true;
        }
    }

    /// A CPU borrows runtime that others do not use (`do_balance_runtime`, `kernel/sched/rt.c`).
    fn borrow(&mut self, cpu: usize, _runtime: Ns) {
        let count = self.cpus.len() as i64;
        let period = self.model.machine.rt_period;
        for other in (0..self.cpus.len()).filter(|&other| other != cpu) {
            let spare = self.cpus[other].rt_limit - self.cpus[other].rt_used;
            let missing = period - self.cpus[cpu].rt_limit;
            let lent = Ns(spare.0 / count).min(missing);
            if lent > Ns::ZERO {
                self.cpus[other].rt_limit -= lent;
                self.cpus[cpu].rt_limit += lent;
            }
        }
    }

    /// The period of real-time bandwidth begins with the first real-time thread.
    pub(super) fn start_rt_period(&mut self) {
        if !self.rt_period_runs && self.model.machine.throttle().is_some() {
            self.rt_period_runs = true;
            self.arm(self.now + self.model.machine.rt_period, Pending::RtPeriod);
        }
    }

    /// It is over (`do_sched_rt_period_timer`).
    pub(super) fn end_rt_period(&mut self) {
        self.arm(self.now + self.model.machine.rt_period, Pending::RtPeriod);
        for cpu in 0..self.cpus.len() {
            let state = &mut self.cpus[cpu];
            state.rt_used = state.rt_used.since(state.rt_limit);
            if state.rt_throttled && state.rt_used < state.rt_limit {
                state.rt_throttled = false;
                self.kick(cpu);
            }
        }
    }

    /// A SCHED_OTHER thread is runnable on a CPU: its server begins to watch (`dl_server_start`).
    pub(super) fn server_watches(&mut self, cpu: usize) {
        let Some(parameters) = self.model.machine.server() else { return };
        let state = &mut self.cpus[cpu].server;
        if state.started {
            return;
        }
        state.started = true;
        // A recording of 7.2 shows its timer at the start's instant and the period less the runtime, whatever was left.
        state.period_start = self.now;
        state.left = parameters.runtime;
        self.defer_server(cpu);
    }

    /// The server acts when its runtime just fits before its deadline.
    fn defer_server(&mut self, cpu: usize) {
        let deadline = self.server_deadline(cpu);
        let state = &mut self.cpus[cpu].server;
        state.active = false;
        state.generation += 1;
        let (at, generation) = (deadline - state.left, state.generation);
        self.arm(at.max(self.now), Pending::Server(cpu, generation));
    }

    /// It has waited for as long as it may (`dl_server_timer`).
    pub(super) fn server_acts(&mut self, cpu: usize, generation: u64) {
        let Some(parameters) = self.model.machine.server() else { return };
        if self.cpus[cpu].server.generation != generation || !self.cpus[cpu].server.started {
            return;
        }
        if !self.has_fair(cpu) {
            self.cpus[cpu].server.started = false;
            return;
        }
        self.progress(cpu);
        self.charge(cpu);
        if self.cpus[cpu].server.generation != generation {
            return;
        }
        let deadline = self.server_deadline(cpu);
        if self.now >= deadline {
            let state = &mut self.cpus[cpu].server;
            state.period_start = deadline.max(self.now - parameters.period);
            state.left = (state.left + parameters.runtime).min(parameters.runtime);
            self.defer_server(cpu);
        } else if self.now < deadline - self.cpus[cpu].server.left {
            self.defer_server(cpu);
        } else {
            self.cpus[cpu].server.active = true;
            self.kick(cpu);
        }
    }

    /// SCHED_OTHER threads have used a CPU, by the server or without it.
    fn use_server(&mut self, cpu: usize, delta: Ns) {
        let Some(parameters) = self.model.machine.server() else { return };
        let now = self.now;
        let state = &mut self.cpus[cpu].server;
        if !state.started {
            return;
        }
        state.left -= delta;
        if state.left > Ns::ZERO {
            return;
        }
        // They had their time, by the server or without it: its next period begins.
        self.cpus[cpu].need_resched |= state.active;
        let state = &mut self.cpus[cpu].server;
        state.period_start = now;
        state.left = parameters.runtime;
        self.defer_server(cpu);
    }

    /// No SCHED_OTHER thread is runnable on a CPU any more.
    pub(super) fn server_stops(&mut self, cpu: usize) {
        if self.cpus[cpu].server.started && !self.has_fair(cpu) {
            let state = &mut self.cpus[cpu].server;
            state.started = false;
            state.active = false;
            state.generation += 1;
        }
    }

    fn use_quota(&mut self, cpu: usize, thread: usize, delta: Ns) {
        let Some(group) = self.model.tasks[thread].group else { return };
        let state = &mut self.groups[group];
        state.left -= delta;
        if state.left <= Ns::ZERO {
            state.throttled = true;
            self.cpus[cpu].need_resched = true;
        }
    }

    /// A group's quota is filled again (`sched_cfs_period_timer`).
    pub(super) fn refill(&mut self, group: usize) {
        let parameters = &self.model.groups[group];
        let state = &mut self.groups[group];
        state.left = (state.left + parameters.quota).min(parameters.quota);
        state.throttled = state.left <= Ns::ZERO;
        self.arm(self.now + parameters.period, Pending::Refill(group));
        if !self.groups[group].throttled {
            for cpu in 0..self.cpus.len() {
                if self.cpus[cpu].queued.iter().any(|&thread| self.model.tasks[thread].group == Some(group)) {
                    self.kick(cpu);
                }
            }
        }
    }

    /// A thread wakes up: it has its reservation, or a new one (the rule of the constant bandwidth server).
    pub(super) fn wake_reservation(&mut self, thread: usize) {
        let TaskPolicy::Deadline { runtime, deadline, .. } = self.threads[thread].scheduling else { return };
        let now = self.now;
        let reservation = &mut self.threads[thread].reservation;
        let time = reservation.deadline - now;
        let overflows = i128::from(reservation.left.0) * i128::from(deadline.0)
            > i128::from(time.0) * i128::from(runtime.0);
        if !reservation.throttled && (time <= Ns::ZERO || overflows) {
            reservation.deadline = now + deadline;
            reservation.left = runtime;
        }
    }

    /// At a tick: the current thread of a CPU has no runtime left.
    pub(super) fn check_reservation(&mut self, cpu: usize) {
        let Some(thread) = self.cpus[cpu].current else { return };
        let TaskPolicy::Deadline { deadline, period, .. } = self.threads[thread].scheduling else { return };
        let reservation = &mut self.threads[thread].reservation;
        if reservation.left <= Ns::ZERO && !reservation.throttled {
            reservation.throttled = true;
            let next = (reservation.deadline - deadline + period).max(self.now);
            self.cpus[cpu].need_resched = true;
            self.arm(next, Pending::Replenish(thread));
        }
    }

    /// A reservation is filled again (`replenish_dl_entity`).
    pub(super) fn replenish(&mut self, thread: usize) {
        let TaskPolicy::Deadline { runtime, period, .. } = self.threads[thread].scheduling else { return };
        let reservation = &mut self.threads[thread].reservation;
        while reservation.left <= Ns::ZERO {
            reservation.left += runtime;
            reservation.deadline += period;
        }
        reservation.throttled = false;
        if self.threads[thread].doing == Doing::Queued {
            let cpu = self.threads[thread].cpu;
            if self.preempts(cpu, thread) {
                self.kick(cpu);
            }
        }
    }
}
