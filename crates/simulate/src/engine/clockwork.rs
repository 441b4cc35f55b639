//! The main loop: from one instant at which something happens to the next.

use super::event_buffer::{Trace, tid_of};
use super::fair_entity::FairEntity;
use super::rank::Rank;
use super::state::{
    CpuState, Doing, GroupState, LockState, Pending, Phase, Reservation, ServerState, Simulation, Source,
    Thread,
};
use super::tally::Tally;

use crate::model::{AccountingClock, Arrival, LockProtocol, Model, Step, Task};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use whylate_base::{Comm, Cpu, CpuSet, Ns, Policy};
use whylate_events::{EventKind, Fact};

/// Room for the events between two batches.
const BATCH: usize = 1024;

impl<'m> Simulation<'m> {
    /// A machine at the beginning of a run of this length. Where nothing reads events, none are made.
    pub(crate) fn new(model: &'m Model, duration: Ns, seed: u64, traced: bool) -> Simulation<'m> {
        let cpus = model.machine.cpus.max(1) as usize;
        let mut simulation = Simulation {
            model,
            now: Ns::ZERO,
            end: duration,
            timers: BinaryHeap::new(),
            sequence: 0,
            next_tick: model.machine.first_tick,
            cpus: (0..cpus).map(|at| cpu(model, at)).collect(),
            threads: Vec::with_capacity(model.tasks.len()),
            successors: vec![Vec::new(); model.tasks.len()],
            locks: model.locks.iter().map(|_| LockState::default()).collect(),
            groups: model
                .groups
                .iter()
                .map(|group| GroupState { left: group.quota, throttled: false })
                .collect(),
            devices: (0..model.interrupts.len())
                .map(|at| (0, 0, random(seed, 1 << 32 | at as u64)))
                .collect(),
            trace: Trace {
                is_on: traced,
                events: Vec::with_capacity(BATCH),
                comms: model.tasks.iter().map(comm).collect(),
                tids: model.tasks.iter().enumerate().map(|(at, task)| tid_of(task.tid, at)).collect(),
            },
            tail: 0,
            rt_period_runs: false,
        };
        for (at, task) in model.tasks.iter().enumerate() {
            if let Arrival::After(before) = task.arrival {
                simulation.successors[before].push(at);
            }
            let allowed = simulation.mask(&task.cpus);
            let usable: Vec<usize> = (0..cpus).filter(|&cpu| allowed[cpu]).collect();
            simulation.threads.push(Thread {
                scheduling: task.scheduling,
                is_pinned: usable.len() == 1,
                allowed,
                doing: Doing::Asleep,
                cpu: usable.get(at % usable.len().max(1)).copied().unwrap_or(0),
                order: 0,
                boost: None,
                held: Vec::new(),
                job: None,
                started: 0,
                at: 0,
                entered: false,
                left: Ns::ZERO,
                irqs_off: false,
                preempt_off: false,
                backlog: VecDeque::new(),
                next_due: Ns::ZERO,
                arrivals: 0,
                random: random(seed, at as u64),
                in_call: None,
                fair: FairEntity::new(task.scheduling),
                reservation: Reservation::default(),
                rr_left: model.machine.rr_slice,
                queued_since: Ns::ZERO,
                tally: Tally::default(),
                awaits: false,
                hint: None,
                dispatch: Ns::ZERO,
                responses: Vec::new(),
            });
        }
        simulation.set_ceilings();
        simulation.begin();
        simulation
    }

    /// The CPUs of a set; all of them for none.
    pub(super) fn mask(&self, cpus: &CpuSet) -> Vec<bool> {
        (0..self.cpus.len()).map(|cpu| cpus.is_empty() || cpus.contains(Cpu(cpu as u32))).collect()
    }

    fn set_ceilings(&mut self) {
        for (task, thread) in self.model.tasks.iter().zip(&self.threads) {
            for step in task.start.iter().chain(&task.steps) {
                let Step::Lock(lock) = step else { continue };
                if self.model.locks[*lock].protocol == LockProtocol::Protect {
                    let rank = Rank::of(task.scheduling, thread.reservation.deadline);
                    let ceiling = &mut self.locks[*lock].ceiling;
                    *ceiling = Some(ceiling.map_or(rank, |known| known.min(rank)));
                }
            }
        }
    }

    fn begin(&mut self) {
        self.emit_facts();
        for thread in 0..self.threads.len() {
            if let Some(at) = self.next_release(thread) {
                self.arm(at, Pending::Release(thread));
            }
        }
        if let Some(end) =
            self.model.machine.rt_period_end.filter(|_| self.model.machine.throttle().is_some())
        {
            self.rt_period_runs = true;
            self.arm(end, Pending::RtPeriod);
        }
        for (at, interrupt) in self.model.interrupts.iter().enumerate() {
            self.arm(interrupt.offset, Pending::Device(at));
        }
        for (at, group) in self.model.groups.iter().enumerate() {
            self.arm(group.period, Pending::Refill(at));
        }
    }

    fn emit_facts(&mut self) {
        let machine = &self.model.machine;
        let micros = |time: Ns| time.0 / 1_000;
        self.emit_fact(&Fact::RtRuntimeUs(machine.rt_runtime.map_or(-1, micros)));
        self.emit_fact(&Fact::RtPeriodUs(micros(machine.rt_period)));
        self.emit_fact(&Fact::RtGroupSched(machine.rt_group_sched));
        self.emit_fact(&Fact::PreemptRt(machine.preempt_rt));
        self.emit_fact(&Fact::Hypervisor(machine.guest));
        if machine.bandwidth().serves() {
            self.emit_fact(&Fact::FairServerNs(machine.fair_server.runtime.0.unsigned_abs()));
        }
        for (at, task) in self.model.tasks.iter().enumerate() {
            let policy = task.scheduling.policy();
            if policy.is_realtime() {
                let priority = task.scheduling.rt_priority().map_or(0, u32::from);
                let priority = if policy == Policy::Fifo && priority == 0 { 99 } else { priority };
                let comm = self.trace.comms[at];
                self.emit_fact(&Fact::Policy { tid: self.trace.tids[at], policy, priority, comm });
            }
            if !task.cpus.is_empty() {
                self.emit_fact(&Fact::Affinity { tid: self.trace.tids[at], cpus: task.cpus.clone() });
            }
        }
    }

    /// Lets the next thing happen; false at the end of the run.
    pub(crate) fn advance(&mut self) -> bool {
        let (mut at, mut cpu) = (Ns::MAX, 0);
        for (number, state) in self.cpus.iter().enumerate() {
            if state.next < at {
                (at, cpu) = (state.next, number);
            }
        }
        let timer = self.timers.peek().map_or(Ns::MAX, |Reverse((at, ..))| *at);
        let first = at.min(self.next_tick).min(timer);
        if first > self.end {
            self.finish();
            return false;
        }
        self.now = first;
        // What is done at an instant is done before what begins then.
        if at <= first {
            self.cpu_event(cpu);
        } else if self.next_tick <= first {
            self.ticks();
        } else if let Some(Reverse((_, _, pending))) = self.timers.pop() {
            self.expire(pending);
        }
        true
    }

    fn cpu_event(&mut self, cpu: usize) {
        match self.cpus[cpu].phase {
            Phase::Work => {
                self.progress(cpu);
                match self.cpus[cpu].current {
                    Some(thread) => self.go_on(cpu, thread),
                    None => self.plan(cpu),
                }
            }
            Phase::Handler(source) => self.finish_handler(cpu, source),
            Phase::Switch => self.finish_switch(cpu),
            Phase::IdleExit => {
                self.cpus[cpu].phase = Phase::Work;
                self.cpus[cpu].since = self.now;
                self.drain(cpu);
            }
        }
    }

    fn ticks(&mut self) {
        self.next_tick += self.model.machine.tick;
        for cpu in 0..self.cpus.len() {
            // An idle CPU has none.
            if self.cpus[cpu].current.is_some() {
                self.raise(cpu, Source::Tick);
            }
        }
    }

    fn expire(&mut self, pending: Pending) {
        let cpu = match pending {
            Pending::Release(thread) | Pending::Resume(thread) | Pending::Replenish(thread) => {
                self.threads[thread].cpu
            }
            Pending::Server(cpu, _) => cpu,
            Pending::RtPeriod | Pending::Refill(_) => 0,
            Pending::Device(device) => {
                let interrupt = &self.model.interrupts[device];
                let (arrived, _, random) = &mut self.devices[device];
                let nth = *arrived;
                *arrived += 1;
                if let Some(gap) = interrupt.gap.draw(random, nth) {
                    self.arm(self.now + gap.max(Ns(1)), pending);
                }
                let cpu = (interrupt.cpu.index()).min(self.cpus.len() - 1);
                self.raise(cpu, Source::Device(device));
                return;
            }
        };
        match pending {
            // No thread's timer: what it does takes no time, and needs no interrupt on this CPU.
            Pending::RtPeriod => self.end_rt_period(),
            Pending::Server(cpu, generation) => self.server_acts(cpu, generation),
            _ => self.raise(cpu, Source::Timer(pending)),
        }
    }

    /// The run is over: counts what is not done.
    fn finish(&mut self) {
        self.now = self.end;
        // Time went on until here: what is in progress has taken until now.
        for cpu in 0..self.cpus.len() {
            self.emit(cpu, EventKind::Other);
        }
        for thread in 0..self.threads.len() {
            let on = self.threads[thread].cpu;
            if self.cpus[on].current == Some(thread) {
                self.progress(on);
            }
            let (now, deadline) = (self.now, self.model.tasks[thread].deadline);
            let state = &mut self.threads[thread];
            if state.doing == Doing::Queued {
                let waited = now - state.queued_since;
                state.tally.waited += waited;
                state.tally.longest_wait = state.tally.longest_wait.max(waited);
            }
            let Some(job) = state.job else { continue };
            state.tally.unfinished = Some(job.due);
            let backlog = state.backlog.iter().map(|job| job.due);
            let late = |due: &Ns| deadline.is_some_and(|deadline| now - *due > deadline);
            let missed = std::iter::once(job.due).chain(backlog).filter(late).count();
            state.tally.missed += missed as u64;
        }
    }

    /// The tasks that wait for each other's locks for ever.
    pub(crate) fn deadlocked(&self) -> Vec<(usize, usize)> {
        (0..self.threads.len()).filter_map(|thread| Some((thread, self.deadlock_of(thread)?))).collect()
    }

    /// True where the scheduler's clock charges whole ticks.
    pub(crate) fn counts_ticks(&self) -> bool {
        self.model.machine.clock == AccountingClock::Tick
    }
}

/// The name of a task's thread: of a recorded one without the id that tells it apart.
fn comm(task: &Task) -> Comm {
    let id = task.tid.map(|tid| format!(":{tid}"));
    let name = id.and_then(|id| task.name.strip_suffix(id.as_str()));
    name.unwrap_or(task.name.as_str()).into()
}

fn cpu(model: &Model, at: usize) -> CpuState {
    CpuState {
        current: None,
        served: false,
        phase: Phase::Work,
        phase_end: Ns::ZERO,
        since: Ns::ZERO,
        charged: Ns::ZERO,
        next: Ns::MAX,
        queued: Vec::new(),
        pending: VecDeque::new(),
        need_resched: false,
        acts: false,
        rt_used: model.machine.rt_used.get(at).copied().unwrap_or(Ns::ZERO),
        rt_limit: model.machine.rt_runtime.unwrap_or(Ns::MAX),
        rt_throttled: false,
        server: ServerState::default(),
        virtual_time: 0,
    }
}

/// A generator of its own for each task, so that a change to one task leaves the others' lengths as they are.
fn random(seed: u64, of: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed(
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of.wrapping_mul(0xd134_2543_de82_ef95),
    )
}
