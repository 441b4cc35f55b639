//! Which thread a CPU runs.

use super::rank::Rank;
use super::state::{Doing, Phase, Simulation};
use whylate_base::Ns;
use whylate_events::TaskState;

/// What a CPU is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    thread: Option<usize>,
    /// On the time of the fair server.
    served: bool,
}

impl Simulation<'_> {
    /// Takes in what the current thread of a CPU has done until now.
    pub(super) fn progress(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        let delta = self.now.since(state.since);
        let works = state.phase == Phase::Work;
        state.since = self.now;
        if let Some(thread) = state.current.filter(|_| works && delta > Ns::ZERO) {
            let thread = &mut self.threads[thread];
            thread.tally.ran += delta;
            if thread.left != Ns::MAX {
                thread.left -= delta;
            }
        }
    }

    /// When something happens on a CPU by itself.
    pub(super) fn plan(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        state.next = match (state.phase, state.current) {
            (Phase::Work, Some(thread)) => state.since + self.threads[thread].left,
            (Phase::Work, None) => Ns::MAX,
            _ => state.phase_end,
        };
    }

    /// True where a CPU's current thread cannot be taken off it.
    fn is_locked(&self, cpu: usize) -> bool {
        let state = &self.cpus[cpu];
        let off = |thread: &super::state::Thread| {
            thread.doing == Doing::Running && (thread.preempt_off || thread.irqs_off)
        };
        state.acts
            || state.phase != Phase::Work
            || state.current.is_some_and(|thread| off(&self.threads[thread]))
    }

    /// A CPU is to look for a thread, now or as soon as it can.
    pub(super) fn kick(&mut self, cpu: usize) {
        self.cpus[cpu].need_resched = true;
        if self.is_locked(cpu) {
            return;
        }
        let exit = self.model.machine.costs.idle_exit;
        if self.cpus[cpu].current.is_none() && exit > Ns::ZERO {
            let state = &mut self.cpus[cpu];
            state.phase = Phase::IdleExit;
            state.phase_end = self.now + exit;
            self.plan(cpu);
            return;
        }
        self.reschedule(cpu);
    }

    /// Lets a CPU choose, and begins the switch.
    pub(super) fn reschedule(&mut self, cpu: usize) {
        self.progress(cpu);
        if self.is_locked(cpu) {
            self.plan(cpu);
            return;
        }
        self.charge(cpu);
        self.cpus[cpu].need_resched = false;
        let choice = self.choose(cpu);
        if self.is_current(cpu, choice) {
            self.cpus[cpu].served = choice.served;
            self.plan(cpu);
            return;
        }
        let mut cost = self.model.machine.costs.switch;
        let waits = self.cpus[cpu].current.is_none_or(|thread| self.threads[thread].doing == Doing::Running);
        if let Some(next) = choice.thread.filter(|_| waits) {
            cost += self.threads[next].dispatch;
        }
        if cost > Ns::ZERO {
            let state = &mut self.cpus[cpu];
            state.phase = Phase::Switch;
            state.phase_end = self.now + cost;
            self.plan(cpu);
        } else {
            self.switch(cpu, choice);
        }
    }

    /// The way to the next thread is over; what came meanwhile counts.
    pub(super) fn finish_switch(&mut self, cpu: usize) {
        self.cpus[cpu].phase = Phase::Work;
        self.cpus[cpu].since = self.now;
        self.cpus[cpu].charged = self.clock(self.now);
        self.cpus[cpu].need_resched = false;
        let choice = self.choose(cpu);
        if self.is_current(cpu, choice) {
            self.cpus[cpu].served = choice.served;
            if let Some(call) = choice.thread.and_then(|thread| self.threads[thread].in_call.take()) {
                self.emit_return(cpu, call);
            }
            self.plan(cpu);
        } else {
            self.switch(cpu, choice);
        }
        self.drain(cpu);
    }

    fn is_current(&self, cpu: usize, choice: Choice) -> bool {
        let current = self.cpus[cpu].current;
        let stays = current.is_none_or(|thread| self.threads[thread].doing == Doing::Running);
        stays && choice.thread == current
    }

    /// The CPU runs another thread from now on.
    fn switch(&mut self, cpu: usize, choice: Choice) {
        let prev = self.cpus[cpu].current;
        let prev_state = match prev.map(|thread| self.threads[thread].doing) {
            Some(Doing::Running) => TaskState::Preempted,
            Some(Doing::Suspended) => TaskState::Uninterruptible,
            Some(_) => TaskState::Interruptible,
            None => TaskState::Runnable,
        };
        self.emit_switch(cpu, prev_state, choice.thread);
        let preempted = prev.filter(|&thread| self.threads[thread].doing == Doing::Running);
        if let Some(thread) = preempted {
            self.threads[thread].doing = Doing::Queued;
            self.threads[thread].queued_since = self.now;
            self.cpus[cpu].queued.push(thread);
        }
        let clock = self.clock(self.now);
        let state = &mut self.cpus[cpu];
        state.current = choice.thread;
        state.served = choice.served;
        state.since = self.now;
        state.charged = clock;
        if let Some(next) = choice.thread {
            state.queued.retain(|&thread| thread != next);
            let thread = &mut self.threads[next];
            thread.doing = Doing::Running;
            thread.dispatch = Ns::ZERO;
            let waited = self.now - thread.queued_since;
            thread.tally.waited += waited;
            thread.tally.longest_wait = thread.tally.longest_wait.max(waited);
            if thread.rank() == Rank::Fair {
                self.take_fair(next);
            }
            if let Some(call) = self.threads[next].in_call.take() {
                self.emit_return(cpu, call);
            }
        }
        self.plan(cpu);
        if let Some(thread) = preempted {
            self.push_away(cpu, thread);
        }
    }

    /// The thread that a CPU should run.
    fn choose(&mut self, cpu: usize) -> Choice {
        self.pull(cpu);
        let state = &self.cpus[cpu];
        let current = state.current.filter(|&thread| self.threads[thread].doing == Doing::Running);
        let all = state.queued.iter().copied().chain(current);
        let mut best = (Rank::Fair, 0, None);
        for thread in all.filter(|&thread| self.may_run(cpu, thread)) {
            let (rank, order) = (self.threads[thread].rank(), self.threads[thread].order);
            if rank < Rank::Fair && (best.2.is_none() || (rank, order) < (best.0, best.1)) {
                best = (rank, order, Some(thread));
            }
        }
        if state.server.active
            && Rank::Deadline(self.server_deadline(cpu)) < best.0
            && let Some(thread) = self.pick_fair(cpu)
        {
            return Choice { thread: Some(thread), served: true };
        }
        if best.2.is_some() {
            return Choice { thread: best.2, served: false };
        }
        let fair = self.pick_fair(cpu).or_else(|| self.pull_fair(cpu));
        Choice { thread: fair, served: false }
    }

    /// True where the rules let a runnable thread have its CPU.
    pub(super) fn may_run(&self, cpu: usize, thread: usize) -> bool {
        let group = self.model.tasks[thread].group;
        let thread = &self.threads[thread];
        match thread.rank() {
            Rank::Realtime(_) => !self.cpus[cpu].rt_throttled,
            Rank::Deadline(_) => !thread.reservation.throttled || thread.boost.is_some(),
            Rank::Fair => !group.is_some_and(|group| self.groups[group].throttled),
            Rank::Stop | Rank::Nothing => true,
        }
    }

    /// True where a thread that has come to the queue of a CPU goes before the current one.
    pub(super) fn preempts(&self, cpu: usize, thread: usize) -> bool {
        if !self.may_run(cpu, thread) {
            return false;
        }
        let (own, current) = (self.threads[thread].rank(), self.rank_on(cpu));
        own < current || own == Rank::Fair && current == Rank::Fair && self.pick_fair(cpu) == Some(thread)
    }
}
