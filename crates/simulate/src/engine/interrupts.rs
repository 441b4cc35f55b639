//! Interrupts: of timers, ticks, devices; and the softirqs that they raise.

use super::rank::Rank;
use super::state::{Doing, Pending, Phase, Simulation, Source};
use crate::model::{AccountingClock, InterruptSource, TaskPolicy};
use whylate_base::Ns;

impl Simulation<'_> {
    /// A CPU is interrupted, now or as soon as it can be.
    pub(super) fn raise(&mut self, cpu: usize, source: Source) {
        let current = self.cpus[cpu].current;
        let off = current.is_some_and(|thread| self.threads[thread].irqs_off);
        if self.cpus[cpu].phase != Phase::Work || off {
            self.cpus[cpu].pending.push_back(source);
            return;
        }
        let exit = self.model.machine.costs.idle_exit;
        if current.is_none() && exit > Ns::ZERO {
            let state = &mut self.cpus[cpu];
            state.pending.push_back(source);
            state.phase = Phase::IdleExit;
            state.phase_end = self.now + exit;
            self.plan(cpu);
            return;
        }
        self.cpus[cpu].pending.push_back(source);
        self.drain(cpu);
    }

    /// Handles the interrupts that wait for a CPU; then it looks for a thread if it has to.
    pub(super) fn drain(&mut self, cpu: usize) {
        while self.cpus[cpu].phase == Phase::Work {
            if self.cpus[cpu].current.is_some_and(|thread| self.threads[thread].irqs_off) {
                break;
            }
            let Some(source) = self.cpus[cpu].pending.pop_front() else { break };
            self.begin_handler(cpu, source);
        }
        if self.cpus[cpu].phase == Phase::Work && self.cpus[cpu].need_resched {
            self.reschedule(cpu);
        } else {
            self.plan(cpu);
        }
    }

    fn begin_handler(&mut self, cpu: usize, source: Source) {
        self.progress(cpu);
        let costs = self.model.machine.costs;
        let cost = match source {
            Source::Timer(Pending::Release(_) | Pending::Resume(_)) => costs.timer,
            Source::Tick => costs.tick,
            Source::Device(device) => {
                let (_, handled, random) = &mut self.devices[device];
                self.model.interrupts[device].handler.draw(random, *handled).unwrap_or(Ns::ZERO)
            }
            Source::Softirq { length, .. } => length,
            Source::Timer(_) => Ns::ZERO,
        };
        let is_traced = match source {
            Source::Timer(Pending::Release(_) | Pending::Resume(_)) | Source::Softirq { .. } => true,
            Source::Device(device) => self.model.interrupts[device].kind != InterruptSource::Softirq,
            Source::Timer(Pending::Refill(group)) => self.groups[group].throttled,
            Source::Tick => cost > Ns::ZERO,
            Source::Timer(_) => false,
        };
        self.cpus[cpu].phase = Phase::Handler(source);
        if is_traced {
            self.emit_entry(cpu, source);
        }
        self.handle(cpu, source);
        if cost > Ns::ZERO {
            self.cpus[cpu].phase_end = self.now + cost;
            self.plan(cpu);
        } else {
            self.end_handler(cpu, source, is_traced);
        }
    }

    /// What a handler does.
    fn handle(&mut self, cpu: usize, source: Source) {
        match source {
            Source::Timer(Pending::Release(thread)) => {
                self.emit_timer(cpu, thread, false);
                self.release(cpu, thread);
                self.emit_timer_exit(cpu, thread, false);
            }
            Source::Timer(Pending::Resume(thread)) => {
                self.emit_timer(cpu, thread, true);
                self.wake(cpu, thread);
                self.emit_timer_exit(cpu, thread, true);
            }
            Source::Timer(Pending::Refill(group)) => {
                if self.groups[group].throttled {
                    self.emit_refill(cpu, group);
                }
                self.refill(group);
            }
            Source::Timer(Pending::RtPeriod) => self.end_rt_period(),
            Source::Timer(Pending::Replenish(thread)) => self.replenish(thread),
            Source::Timer(Pending::Server(server, generation)) => self.server_acts(server, generation),
            Source::Tick => self.tick(cpu),
            Source::Device(device) => self.device(cpu, device),
            Source::Timer(Pending::Device(_)) | Source::Softirq { .. } => {}
        }
    }

    fn device(&mut self, cpu: usize, device: usize) {
        let interrupt = &self.model.interrupts[device];
        let (_, handled, random) = &mut self.devices[device];
        let softirq = interrupt.softirq.as_ref();
        let raised = softirq.and_then(|(vec, length)| Some((*vec, length.draw(random, *handled)?)));
        *handled += 1;
        if let Some((vec, length)) = raised.filter(|(_, length)| *length > Ns::ZERO) {
            // It runs before anything else on the way out.
            self.cpus[cpu].pending.push_front(Source::Softirq { vec, length });
        }
        if let Some(task) = interrupt.wakes {
            self.signal(cpu, task);
        }
    }

    /// The cost of the handler that runs is over.
    pub(super) fn finish_handler(&mut self, cpu: usize, source: Source) {
        // What takes time is always traced.
        self.end_handler(cpu, source, true);
        self.drain(cpu);
    }

    fn end_handler(&mut self, cpu: usize, source: Source, is_traced: bool) {
        if is_traced {
            self.emit_exit(cpu, source);
        }
        let clock = self.clock(self.now);
        let state = &mut self.cpus[cpu];
        state.phase = Phase::Work;
        if self.model.machine.clock == AccountingClock::Precise && !self.model.machine.interrupts_count {
            // The time of interrupts is no thread's (`CONFIG_IRQ_TIME_ACCOUNTING`).
            state.charged += self.now.since(state.since);
            state.charged = state.charged.min(clock);
        }
        state.since = self.now;
    }

    /// A tick on a CPU (`scheduler_tick`).
    fn tick(&mut self, cpu: usize) {
        self.charge(cpu);
        self.check_reservation(cpu);
        let Some(thread) = self.cpus[cpu].current else { return };
        if !matches!(self.threads[thread].scheduling, TaskPolicy::Rr(_)) {
            return;
        }
        let rank = self.threads[thread].rank();
        let slice = self.model.machine.rr_slice;
        self.threads[thread].rr_left -= self.model.machine.tick;
        if self.threads[thread].rr_left > Ns::ZERO {
            return;
        }
        self.threads[thread].rr_left = slice;
        if self.cpus[cpu].queued.iter().any(|&other| self.threads[other].rank() == rank) {
            self.tail += 1;
            self.threads[thread].order = self.tail;
            self.cpus[cpu].need_resched = true;
        }
    }

    /// Makes a thread runnable, in the context of a CPU.
    pub(super) fn wake(&mut self, cpu: usize, thread: usize) {
        self.emit_waking(cpu, thread);
        let on = self.threads[thread].cpu;
        if self.cpus[on].current == Some(thread) {
            // It is on its way to sleep, and goes on.
            self.threads[thread].doing = Doing::Running;
            if self.threads[thread].rank() == Rank::Fair {
                self.place_fair(on, thread);
            }
            self.emit_wakeup(cpu, thread);
            self.cpus[on].need_resched = true;
            return;
        }
        let to = self.place(thread);
        self.threads[thread].cpu = to;
        self.wake_reservation(thread);
        let rank = self.threads[thread].rank();
        if rank == Rank::Fair {
            self.progress(to);
            self.charge(to);
            self.place_fair(to, thread);
        } else if rank.is_realtime() {
            self.start_rt_period();
        }
        self.tail += 1;
        let woken = &mut self.threads[thread];
        woken.order = self.tail;
        woken.doing = Doing::Queued;
        woken.queued_since = self.now;
        self.cpus[to].queued.push(thread);
        self.emit_wakeup(cpu, thread);
        if rank == Rank::Fair {
            self.server_watches(to);
        }
        if self.preempts(to, thread) {
            if to == cpu { self.cpus[to].need_resched = true } else { self.kick(to) }
        } else {
            self.push_away(to, thread);
        }
    }
}
