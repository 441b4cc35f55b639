//! The setup of one run: CPUs, instants, lengths and names, varied by the seed.

use crate::behaviours::Behaviours;
use crate::options::{Options, VictimPolicy};
use crate::periodic::Pace;
use crate::role::ProcessShare;
use crate::work::Spin;
use anyhow::{Result, ensure};
use std::cell::RefCell;
use whylate_base::{Comm, Cpu, CpuSet, Ns};
use whylate_sys::{Clock, SchedParams, getaffinity, gettid, now, setaffinity};

/// Names of real programs, so that a name does not reveal its part.
const NAMES: [&str; 20] = [
    "ctl-loop",
    "axis",
    "plc-scan",
    "jackd",
    "motion",
    "fieldbus",
    "estimator",
    "nav",
    "telemetry",
    "logger",
    "watchdogd",
    "multipathd",
    "rx-poll",
    "encoder",
    "worker",
    "gc",
    "mixer",
    "planner",
    "sync",
    "io-thread",
];

/// One run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) share: ProcessShare,
    /// The victim's CPU.
    pub(crate) cpu: Cpu,
    /// Another one, where there is one.
    pub(crate) other_cpu: Option<Cpu>,
    /// All CPUs that this process may use.
    pub(crate) cpus: CpuSet,
    /// The victim's first due instant.
    pub(crate) start: Ns,
    /// When every thread ends.
    pub(crate) end: Ns,
    pub(crate) interval: Ns,
    pub(crate) job: Ns,
    pub(crate) every: Ns,
    pub(crate) limit: Ns,
    /// The victim's user priority, also where it has another policy.
    pub(crate) priority: u32,
    /// The victim's policy, unless the fault has one of its own.
    pub(crate) victim_sched: SchedParams,
    pub(crate) seed: u64,
    pub(crate) spin: Spin,
    burst: Option<Ns>,
    victim_name: Option<String>,
    culprit_name: Option<String>,
    behaviours: Behaviours,
    random: RefCell<Random>,
}

impl Setup {
    /// From the command line and this process' affinity.
    ///
    /// # Errors
    /// A length of zero, an interval longer than the run, a CPU this process may not use,
    /// or no second one to move to.
    pub(crate) fn new(options: &Options) -> Result<Setup> {
        let (common, fault) = (&options.common, &options.fault);
        let apart = common.fork_exec || fault.needs_process();
        let interval = common.interval.unwrap_or(fault.usual_interval());
        let cpus = match &common.cpus {
            Some(cpus) => cpus.clone(),
            None => getaffinity(gettid())?,
        };
        let last = cpus.iter().last().unwrap_or_default();
        let cpu = common.cpu.map_or(last, Cpu);
        ensure!(cpus.contains(cpu), "CPU {cpu} is not among the CPUs allowed here ({cpus}): see taskset(1)");
        if common.cpus.is_some() {
            // Threads begin on the victim's CPU: the scheduler prefers a thread's last CPU.
            setaffinity(gettid(), &CpuSet::from_iter([cpu]))?;
        }
        ensure!(interval > Ns::ZERO, "--interval must be longer than zero");
        ensure!(common.every >= interval, "--every must not be shorter than --interval");
        ensure!(common.duration > interval, "--duration must be longer than --interval");
        let spin = Spin::calibrate();
        // Time for the threads to be created, and for a tracer's first events.
        let earliest = now(Clock::Monotonic)
            + Ns::from_ms(if apart { 500 } else { 200 })
            + fault.preparation()
            + common.settle;
        let aligned = Ns((earliest.0 / interval.0 + 1) * interval.0) + common.phase;
        let start = common.child.start_at.map_or(aligned, Ns);
        let end = start + common.duration;
        let other_cpu = cpus.iter().find(|&other| other != cpu);
        ensure!(
            !common.migrate || other_cpu.is_some(),
            "--migrate needs a second CPU: boot with two, or widen the affinity"
        );
        let share = match (common.child.victim_only, apart) {
            (true, _) => ProcessShare::VictimOnly,
            (false, true) => ProcessShare::AllButVictim,
            (false, false) => ProcessShare::Everyone,
        };
        let mut setup = Setup {
            share,
            cpu,
            other_cpu,
            start,
            end,
            interval,
            job: common.job.unwrap_or(fault.usual_job()),
            every: common.every,
            limit: common.limit.unwrap_or(fault.usual_limit()),
            priority: common.victim_priority,
            victim_sched: match common.victim_policy {
                VictimPolicy::Fifo => SchedParams::fifo(common.victim_priority),
                VictimPolicy::Rr => SchedParams::rr(common.victim_priority),
                VictimPolicy::Other => SchedParams::OTHER,
            },
            seed: common.seed,
            spin,
            burst: common.burst,
            victim_name: common.victim_name.clone(),
            culprit_name: common.culprit_name.clone(),
            behaviours: Behaviours::default(),
            random: RefCell::new(Random(common.seed)),
            cpus,
        };
        if common.migrate {
            setup.behaviours.moves = other_cpu.map(|other| [cpu, other]);
        }
        if common.rename {
            let middle = start + Ns(common.duration.0 / 2);
            setup.behaviours.renames = Some((middle, Comm::from(setup.name("renamed").as_str())));
        }
        Ok(setup)
    }

    /// The victim's pace.
    pub(crate) fn pace(&self) -> Pace {
        Pace { first: self.start, interval: self.interval, end: self.end, behaviours: self.behaviours }
    }

    /// True when the victim does not stay on one CPU.
    pub(crate) fn victim_moves(&self) -> bool {
        self.behaviours.moves.is_some()
    }

    /// The pace of something that happens `lead` before every so many of the victim's
    /// due instants, so that it is there first; `lead` may be negative.
    pub(crate) fn pace_before_victim(&self, lead: Ns) -> Pace {
        let periods = (self.every.0 / self.interval.0).max(1);
        let first = match self.seed {
            0 => periods / 2,
            _ => self.random.borrow_mut().below(periods),
        };
        Pace {
            first: self.start + Ns(first.max(1).saturating_mul(self.interval.0)) - lead,
            interval: Ns(periods.saturating_mul(self.interval.0)),
            end: self.end,
            behaviours: Behaviours::default(),
        }
    }

    /// The number of jobs per fault of the victim itself.
    pub(crate) fn jobs_per_fault(&self) -> u64 {
        (self.every.0 / self.interval.0).max(1).unsigned_abs()
    }

    /// The length of the culprit's burst: the requested one, otherwise `default`, varied by a quarter by seed.
    pub(crate) fn burst(&self, default: Ns) -> Ns {
        match (self.burst, self.seed) {
            (Some(burst), _) => burst,
            (None, 0) => default,
            (None, _) => Ns(default.0 * 3 / 4 + self.random.borrow_mut().below((default.0 / 2).max(1))),
        }
    }

    /// The name of the victim; `descriptive` unless the command line or the seed gives another.
    pub(crate) fn victim_name(&self, descriptive: &str) -> String {
        self.victim_name.clone().unwrap_or_else(|| self.name(descriptive))
    }

    /// The name of the culprit.
    pub(crate) fn culprit_name(&self, descriptive: &str) -> String {
        self.culprit_name.clone().unwrap_or_else(|| self.name(descriptive))
    }

    /// The name of another thread.
    pub(crate) fn name(&self, descriptive: &str) -> String {
        if self.seed == 0 {
            return descriptive.to_owned();
        }
        let mut random = self.random.borrow_mut();
        let name = usize::try_from(random.below(NAMES.len() as i64)).ok().and_then(|i| NAMES.get(i));
        format!("{}{}", name.unwrap_or(&"task"), random.below(100))
    }

    /// A number below `limit`, by seed.
    pub(crate) fn below(&self, limit: i64) -> i64 {
        self.random.borrow_mut().below(limit)
    }

    /// True for half of the seeds, and false for seed 0.
    pub(crate) fn coin(&self) -> bool {
        self.seed != 0 && self.random.borrow_mut().below(2) == 1
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        i64::try_from(z % limit.max(1).unsigned_abs()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;

    #[test]
    fn every_part_is_played_by_one_process() {
        for part in [Role::Victim, Role::Culprit, Role::Bystander] {
            assert!(ProcessShare::Everyone.starts(part));
            assert_ne!(ProcessShare::AllButVictim.starts(part), ProcessShare::VictimOnly.starts(part));
        }
        assert!(ProcessShare::VictimOnly.starts(Role::Victim));
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let draw = |seed| {
            let mut random = Random(seed);
            (0..8).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        assert!(draw(5).iter().all(|n| (0..1000).contains(n)));
        assert_eq!(Random(1).below(0), 0);
    }
}
