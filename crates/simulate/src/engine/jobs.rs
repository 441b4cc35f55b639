//! Jobs: when they are released, what they do step by step, and how they end.

use super::rank::Rank;
use super::recorded::recorded_release;
use super::state::{Doing, Job, Pending, Simulation, Source};
use super::trace::calls;
use crate::model::{Arrival, Model, Step, TaskPolicy, WhenLate};
use whylate_base::Ns;

/// TIMER_ABSTIME of clock_nanosleep(2).
const ABSTIME: u64 = 1;
/// More jobs than this do not wait for a thread: it is overloaded, and each is late.
const LONGEST_BACKLOG: usize = 4096;

impl<'m> Simulation<'m> {
    /// The timer of a thread's next job has expired.
    pub(super) fn release(&mut self, cpu: usize, thread: usize) {
        let due = self.threads[thread].next_due;
        self.begin_job(thread, Job { due, origin: due });
        self.wake(cpu, thread);
    }

    /// Something other than time makes a task due, in the context of a CPU.
    pub(super) fn signal(&mut self, cpu: usize, thread: usize) {
        self.signal_from(cpu, thread, self.now);
    }

    fn signal_from(&mut self, cpu: usize, thread: usize, origin: Ns) {
        let job = Job { due: self.now, origin };
        if let Arrival::Recorded(script) = &self.model.tasks[thread].arrival {
            self.signal_recorded(cpu, thread, script, job);
            return;
        }
        if self.threads[thread].job.is_some() {
            if self.threads[thread].backlog.len() < LONGEST_BACKLOG {
                self.threads[thread].backlog.push_back(job);
            } else {
                self.threads[thread].tally.missed += 1;
            }
            return;
        }
        self.begin_job(thread, job);
        self.wake(cpu, thread);
    }

    pub(super) fn begin_job(&mut self, thread: usize, job: Job) {
        if let Arrival::Recorded(script) = &self.model.tasks[thread].arrival {
            self.take_recorded(thread, script);
        }
        let thread = &mut self.threads[thread];
        thread.job = Some(job);
        thread.started += 1;
        thread.at = 0;
        thread.entered = false;
        thread.left = Ns::ZERO;
    }

    fn step(&self, thread: usize) -> Option<&'m Step> {
        let model: &'m Model = self.model;
        let (task, state) = (&model.tasks[thread], &self.threads[thread]);
        if let Arrival::Recorded(script) = &task.arrival {
            return script.steps_of_nth((state.started as usize).checked_sub(1)?).get(state.at);
        }
        if state.started > 1 {
            return task.steps.get(state.at);
        }
        task.start.iter().chain(&task.steps).nth(state.at)
    }

    /// The current thread of a CPU has come to the end of what it did, and goes on as far as that takes no time.
    pub(super) fn go_on(&mut self, cpu: usize, thread: usize) {
        self.cpus[cpu].acts = true;
        self.take_steps(cpu, thread);
        self.cpus[cpu].acts = false;
        self.drain(cpu);
    }

    fn take_steps(&mut self, cpu: usize, thread: usize) {
        while self.threads[thread].doing == Doing::Running && self.cpus[cpu].current == Some(thread) {
            let Some(step) = self.step(thread) else {
                if self.finish_job(cpu, thread) {
                    continue;
                }
                break;
            };
            let nth = self.threads[thread].started.saturating_sub(1);
            match step {
                Step::Run(amount) | Step::IrqsOff(amount) | Step::PreemptOff(amount) => {
                    let (irqs, preempt) =
                        (matches!(step, Step::IrqsOff(_)), matches!(step, Step::PreemptOff(_)));
                    let state = &mut self.threads[thread];
                    if !state.entered {
                        state.left = amount.draw(&mut state.random, nth).unwrap_or(Ns::MAX);
                        state.entered = true;
                        state.irqs_off = irqs;
                        state.preempt_off = preempt;
                        if state.left > Ns::ZERO {
                            return;
                        }
                    }
                    state.entered = false;
                    state.irqs_off = false;
                    state.preempt_off = false;
                    state.left = Ns::ZERO;
                    state.at += 1;
                    if irqs || preempt {
                        break;
                    }
                }
                Step::Lock(lock) => {
                    let lock = *lock;
                    if self.lock(cpu, thread, lock) {
                        self.threads[thread].at += 1;
                    }
                }
                Step::Unlock(lock) => {
                    let lock = *lock;
                    self.threads[thread].at += 1;
                    self.unlock(cpu, thread, lock);
                    if self.cpus[cpu].need_resched {
                        break;
                    }
                }
                Step::Suspend(amount) => {
                    let state = &mut self.threads[thread];
                    state.at += 1;
                    match amount.draw(&mut state.random, nth) {
                        Some(Ns::ZERO) => continue,
                        Some(length) => {
                            let until = self.now + length;
                            self.emit_timer_start(cpu, thread, true, until);
                            self.arm(until, Pending::Resume(thread));
                        }
                        None => {}
                    }
                    self.sleep_in(cpu, thread, Doing::Suspended);
                }
                Step::Wake(task) => {
                    let task = *task;
                    self.threads[thread].at += 1;
                    let origin = self.threads[thread].job.map_or(self.now, |job| job.origin);
                    self.signal_from(cpu, task, origin);
                    if self.cpus[cpu].need_resched {
                        break;
                    }
                }
                Step::Await { .. } => {
                    self.threads[thread].at += 1;
                    if self.threads[thread].backlog.pop_front().is_none() {
                        self.threads[thread].awaits = true;
                        self.sleep_in(cpu, thread, Doing::Suspended);
                    }
                }
                Step::SetScheduling(scheduling) => {
                    let scheduling = *scheduling;
                    self.threads[thread].at += 1;
                    self.set_scheduling(cpu, thread, scheduling);
                    break;
                }
                Step::SetCpus(cpus) => {
                    let allowed = self.mask(cpus);
                    self.threads[thread].at += 1;
                    self.set_cpus(cpu, thread, allowed);
                    break;
                }
            }
        }
    }

    /// The current thread of a CPU leaves it to sleep.
    pub(super) fn sleep_in(&mut self, cpu: usize, thread: usize, doing: Doing) {
        self.progress(cpu);
        self.charge(cpu);
        if self.threads[thread].rank() == Rank::Fair {
            self.leave_fair(cpu, thread);
        }
        self.threads[thread].doing = doing;
        self.server_stops(cpu);
        self.cpus[cpu].need_resched = true;
    }

    /// A job is done; true where the next one begins at once.
    fn finish_job(&mut self, cpu: usize, thread: usize) -> bool {
        let Some(job) = self.threads[thread].job.take() else { return false };
        let model: &'m Model = self.model;
        let task = &model.tasks[thread];
        match &task.arrival {
            Arrival::Recorded(script) => self.finish_recorded(thread, script, job),
            _ => self.threads[thread].tally.add(job.due, job.origin, self.now, task.deadline),
        }
        for at in 0..self.successors[thread].len() {
            let next = self.successors[thread][at];
            self.signal_from(cpu, next, job.origin);
        }
        if let Arrival::After(_) | Arrival::Woken = task.arrival {
            if let Some(next) = self.threads[thread].backlog.pop_front() {
                self.begin_job(thread, next);
                return true;
            }
            self.emit_call(cpu, calls::READ, [0; 6]);
            self.threads[thread].in_call = Some(calls::READ);
            self.sleep_in(cpu, thread, Doing::Asleep);
            return false;
        }
        if let Arrival::Recorded(script) = &task.arrival
            && let Some(due) = self.next_at_once(thread, script)
        {
            self.begin_job(thread, due);
            return true;
        }
        let Some(mut at) = self.next_release(thread) else {
            self.emit_call(cpu, calls::READ, [0; 6]);
            self.sleep_in(cpu, thread, Doing::Asleep);
            return false;
        };
        while at <= self.now && task.when_late == WhenLate::Skip {
            let tally = &mut self.threads[thread].tally;
            tally.skipped += 1;
            match self.next_release(thread) {
                Some(next) => at = next,
                None => break,
            }
        }
        self.emit_call(cpu, calls::CLOCK_NANOSLEEP, [1, ABSTIME, 0, 0, 0, 0]);
        let expires = match &task.arrival {
            Arrival::Recorded(_) => self.threads[thread].next_due,
            _ => at,
        };
        self.emit_timer_start(cpu, thread, false, expires);
        if at <= self.now {
            // The sleep ends at once: its timer expires on the way.
            self.expire_at_once(cpu, thread);
            let due = self.threads[thread].next_due;
            self.begin_job(thread, Job { due, origin: due });
            return true;
        }
        self.arm(at, Pending::Release(thread));
        self.threads[thread].in_call = Some(calls::CLOCK_NANOSLEEP);
        self.sleep_in(cpu, thread, Doing::Asleep);
        false
    }

    /// Traces the interrupt of a timer that is armed for the past.
    fn expire_at_once(&mut self, cpu: usize, thread: usize) {
        let source = Source::Timer(Pending::Release(thread));
        let phase = self.cpus[cpu].phase;
        self.cpus[cpu].phase = super::state::Phase::Handler(source);
        self.emit_entry(cpu, source);
        self.emit_timer(cpu, thread, false);
        self.emit_waking(cpu, thread);
        self.emit_wakeup(cpu, thread);
        self.emit_timer_exit(cpu, thread, false);
        self.emit_exit(cpu, source);
        self.cpus[cpu].phase = phase;
        self.emit_return(cpu, calls::CLOCK_NANOSLEEP);
    }

    /// The instant at which a thread's next job is released; its due instant is in `next_due`.
    pub(super) fn next_release(&mut self, thread: usize) -> Option<Ns> {
        let model: &'m Model = self.model;
        let task = &model.tasks[thread];
        let state = &mut self.threads[thread];
        let nth = state.arrivals;
        state.arrivals += 1;
        let (due, released) = match &task.arrival {
            Arrival::Periodic { offset, period, jitter } => {
                let due = *offset + Ns(period.0.saturating_mul(nth as i64));
                (due, due + jitter.draw(&mut state.random, nth)?)
            }
            Arrival::Sporadic { offset, .. } if nth == 0 => (*offset, *offset),
            Arrival::Sporadic { gap, .. } => {
                let due = state.next_due + gap.draw(&mut state.random, nth - 1)?;
                (due, due)
            }
            Arrival::At(instants) => {
                let due = *instants.get(nth as usize)?;
                (due, due)
            }
            Arrival::After(_) | Arrival::Woken => return None,
            Arrival::Recorded(script) => {
                recorded_release(script, state.started as usize, self.now, state.next_due)?
            }
        };
        state.next_due = due;
        Some(released)
    }

    fn set_scheduling(&mut self, cpu: usize, thread: usize, scheduling: TaskPolicy) {
        let policy = scheduling.policy().raw();
        self.emit_call(cpu, calls::SCHED_SETSCHEDULER, [0, policy.into(), 0, 0, 0, 0]);
        self.progress(cpu);
        self.charge(cpu);
        let before = self.threads[thread].rank();
        if before == Rank::Fair {
            self.leave_fair(cpu, thread);
        }
        self.threads[thread].scheduling = scheduling;
        self.threads[thread].fair.weight = super::fair_entity::weight_of(scheduling);
        self.wake_reservation(thread);
        if self.threads[thread].rank() == Rank::Fair {
            self.place_fair(cpu, thread);
        } else if before == Rank::Fair {
            self.server_stops(cpu);
            self.start_rt_period();
        }
        self.emit_return(cpu, calls::SCHED_SETSCHEDULER);
        self.cpus[cpu].need_resched = true;
    }

    fn set_cpus(&mut self, cpu: usize, thread: usize, allowed: Vec<bool>) {
        self.emit_call(cpu, calls::SCHED_SETAFFINITY, [0; 6]);
        self.threads[thread].is_pinned = allowed.iter().filter(|&&allowed| allowed).count() == 1;
        let stays = allowed.get(cpu) == Some(&true);
        self.threads[thread].allowed = allowed;
        if stays {
            self.emit_return(cpu, calls::SCHED_SETAFFINITY);
            return;
        }
        // The stopper takes it to a CPU that it may use; it goes on there.
        self.threads[thread].in_call = Some(calls::SCHED_SETAFFINITY);
        self.sleep_in(cpu, thread, Doing::Suspended);
        self.cpus[cpu].acts = false;
        self.reschedule(cpu);
        if self.cpus[cpu].current != Some(thread) {
            self.wake(cpu, thread);
        } else {
            self.arm(self.now + self.model.machine.costs.switch, Pending::Resume(thread));
        }
    }
}
