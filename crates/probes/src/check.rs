//! Checks that a probe can be measured with its options, and that the machine stays usable.

use crate::{Probe, ProbeError, ProbeKind};
use std::path::Path;
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_sys::Clock;

/// From one wake-up to the next.
const SHORTEST: Ns = Ns::from_us(10);
/// A wake-up takes some microseconds: at shorter intervals than this, most of a CPU's time.
const BRIEF: Ns = Ns::from_us(50);
/// From one wake-up to the next.
const LONGEST: Ns = Ns::from_secs(10);
/// How much of the time a busy thread spins where it has to leave some to others, in percent.
const CONSIDERATE: u8 = 90;
/// The kernel's default limits of a SCHED_DEADLINE period (sched(7),
/// kernel/sched/deadline.c: `sysctl_sched_dl_period_min` and `_max`).
const PERIODS: [Ns; 2] = [Ns::from_us(100), Ns::from_secs(4)];
/// What timerlat takes for a period, in microseconds (`timerlat_min_period` and `_max_period`,
/// kernel/trace/trace_osnoise.c).
const TIMERLAT: [Ns; 2] = [Ns::from_us(100), Ns::from_secs(1)];
/// Below 1024 ns it refuses a runtime; half of it is spent.
const LEAST_RUNTIME: Ns = Ns::from_us(2);

/// What the choices come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// For each measuring thread the CPU that it is bound to; `None`: to none.
    pub(crate) cpus: Vec<Option<Cpu>>,
    /// How much of its time a busy thread spins, in percent.
    pub(crate) duty: u8,
}

/// What the machine lets one have.
struct Machine {
    /// Where this process may run.
    allowed: CpuSet,
    /// All that are on; `None`: not known.
    online: Option<CpuSet>,
    /// How much of a CPU real-time threads may use, in percent; `None`: all.
    realtime: Option<u8>,
}

impl Machine {
    fn read() -> Result<Machine, ProbeError> {
        let file = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
        let number = |path| file(path)?.trim().parse::<i64>().ok();
        let runtime = number("/proc/sys/kernel/sched_rt_runtime_us");
        let period = number("/proc/sys/kernel/sched_rt_period_us");
        let share =
            |(runtime, period): (i64, i64)| u8::try_from(runtime.checked_mul(100)? / period.max(1)).ok();
        Ok(Machine {
            allowed: whylate_sys::getaffinity(Tid(0))?,
            online: file("/sys/devices/system/cpu/online").and_then(|list| list.trim().parse().ok()),
            realtime: runtime
                .zip(period)
                .filter(|times| times.0 >= 0)
                .and_then(share)
                .filter(|&share| share < 100),
        })
    }
}

impl Machine {
    /// True when these are all CPUs that are on.
    fn is_whole(&self, cpus: &[Option<Cpu>]) -> bool {
        let online = self.online.as_ref().unwrap_or(&self.allowed);
        online.iter().all(|cpu| cpus.contains(&Some(cpu)))
    }
}

impl Plan {
    /// # Errors
    /// [`ProbeError`] for what cannot be measured.
    pub(crate) fn of(probe: &Probe) -> Result<Plan, ProbeError> {
        common(probe)?;
        let machine = Machine::read()?;
        let cpus = cpus(probe, &machine)?;
        leaves_time(probe, &cpus, &machine)?;
        let longest = probe.interval + Ns(probe.distance.0.saturating_mul(cpus.len() as i64 - 1));
        if longest < probe.interval || longest > LONGEST {
            return Err(ProbeError::Interval(longest));
        }
        let duty = match probe.kind {
            ProbeKind::Busy { gap, duty } => {
                readable(gap, clock_reading())?;
                busy(probe, gap, duty, &cpus, &machine)?
            }
            _ => 100,
        };
        Ok(Plan { cpus, duty })
    }
}

/// What needs no look at the machine.
fn common(probe: &Probe) -> Result<(), ProbeError> {
    let interval = probe.interval;
    if interval < SHORTEST || interval > LONGEST {
        return Err(ProbeError::Interval(interval));
    }
    if !matches!(probe.policy, Policy::Fifo | Policy::Rr | Policy::Other) {
        return Err(ProbeError::Policy(probe.policy.name()));
    }
    if !(1..=99).contains(&probe.priority) {
        return Err(ProbeError::Priority(probe.priority));
    }
    if let Some(threshold) = probe.threshold.filter(|&threshold| threshold <= Ns::ZERO) {
        return Err(ProbeError::Threshold(threshold));
    }
    if probe.worst > crate::worst::MAX {
        return Err(ProbeError::Worst(probe.worst));
    }
    match probe.kind {
        ProbeKind::Deadline { runtime, deadline } => {
            let deadline = deadline.unwrap_or(interval);
            if interval < PERIODS[0] || interval > PERIODS[1] {
                return Err(ProbeError::Period(interval));
            }
            if runtime < LEAST_RUNTIME || runtime > deadline || deadline > interval {
                return Err(ProbeError::Deadline { runtime, deadline, period: interval });
            }
        }
        ProbeKind::Timerlat(_)
            if interval < TIMERLAT[0] || interval > TIMERLAT[1] || interval.0 % 1_000 != 0 =>
        {
            return Err(ProbeError::TimerlatPeriod(interval));
        }
        ProbeKind::Timerlat(_) if probe.distance != Ns::ZERO => return Err(ProbeError::TimerlatDistance),
        ProbeKind::Hwlat { width } if width < Ns::from_us(50) || width.0 > interval.0 / 2 => {
            return Err(ProbeError::Width { width, interval });
        }
        _ => {}
    }
    Ok(())
}

/// The CPUs that threads are to be bound to.
fn cpus(probe: &Probe, machine: &Machine) -> Result<Vec<Option<Cpu>>, ProbeError> {
    if matches!(probe.kind, ProbeKind::Deadline { .. }) {
        if let Some(cpus) = probe.cpus.as_ref().filter(|&cpus| *cpus != machine.allowed) {
            return Err(ProbeError::Unbindable(cpus.clone()));
        }
        let (threads, cpus) = (probe.threads.unwrap_or(1), machine.allowed.len());
        return match threads {
            threads if (1..=cpus).contains(&threads) => Ok(vec![None; threads]),
            threads => Err(ProbeError::Threads { threads, cpus }),
        };
    }
    let mut cpus: Vec<_> = probe.cpus.as_ref().unwrap_or(&machine.allowed).iter().map(Some).collect();
    match probe.threads {
        _ if cpus.is_empty() => Err(ProbeError::NoCpus),
        Some(threads) if threads == 0 || threads > cpus.len() => {
            Err(ProbeError::Threads { threads, cpus: cpus.len() })
        }
        Some(threads) => {
            cpus.truncate(threads);
            Ok(cpus)
        }
        None => Ok(cpus),
    }
}

/// Real-time threads that wake up very often on all CPUs leave little to others. If the CPUs were chosen, so was that.
fn leaves_time(probe: &Probe, cpus: &[Option<Cpu>], machine: &Machine) -> Result<(), ProbeError> {
    let is_brief =
        matches!(probe.kind, ProbeKind::Timer(_) | ProbeKind::Ipc { .. }) && probe.interval < BRIEF;
    let is_unasked = probe.cpus.is_none() && !probe.force;
    match is_brief && is_unasked && probe.policy != Policy::Other && machine.is_whole(cpus) {
        true => Err(ProbeError::NoTimeLeft(probe.interval)),
        false => Ok(()),
    }
}

/// The share of the time to spin, so that some is left to others.
fn busy(
    probe: &Probe,
    gap: Ns,
    duty: Option<u8>,
    cpus: &[Option<Cpu>],
    machine: &Machine,
) -> Result<u8, ProbeError> {
    if let Some(threshold) = probe.threshold.filter(|&threshold| threshold < gap) {
        return Err(ProbeError::BelowGap { threshold, gap });
    }
    let whole = machine.is_whole(cpus);
    let realtime = probe.policy != Policy::Other;
    let Some(duty) = duty else {
        let most = if realtime {
            machine.realtime.unwrap_or(CONSIDERATE).clamp(1, CONSIDERATE)
        } else {
            CONSIDERATE
        };
        return Ok(if whole || realtime { most } else { 100 });
    };
    if !(1..=100).contains(&duty) {
        return Err(ProbeError::Duty(duty));
    }
    if probe.force {
        return Ok(duty);
    }
    if whole && duty == 100 {
        return Err(ProbeError::WholeMachine(cpus.iter().flatten().copied().collect()));
    }
    match machine.realtime.filter(|&allowed| realtime && duty > allowed) {
        Some(allowed) => Err(ProbeError::Throttled { duty, allowed }),
        None => Ok(duty),
    }
}

/// Every reading of the clock would be a gap.
fn readable(gap: Ns, reading: Ns) -> Result<(), ProbeError> {
    let enough = Ns(reading.0.saturating_mul(4).max(100));
    if gap < enough { Err(ProbeError::Gap { gap, reading, enough }) } else { Ok(()) }
}

/// How long it takes to read the clock: the median of some hundred times.
fn clock_reading() -> Ns {
    let mut last = whylate_sys::now(Clock::Monotonic);
    let mut steps: Vec<Ns> = (0..501)
        .map(|_| {
            let now = whylate_sys::now(Clock::Monotonic);
            let step = now - last;
            last = now;
            step
        })
        .collect();
    steps.sort_unstable();
    steps[steps.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Ns = Ns::from_us(1);

    fn machine(realtime: Option<u8>) -> Machine {
        let set = |list: &str| list.parse().expect("a list");
        Machine { allowed: set("0-3"), online: Some(set("0-3")), realtime }
    }

    fn planned(list: &str, policy: Policy, duty: Option<u8>, force: bool) -> Result<u8, ProbeError> {
        let kind = ProbeKind::Busy { gap: GAP, duty };
        let probe = Probe { cpus: list.parse().ok(), policy, force, ..Probe::new(kind) };
        let machine = machine(Some(95));
        busy(&probe, GAP, duty, &cpus(&probe, &machine).expect("CPUs"), &machine)
    }

    #[test]
    fn spinning_leaves_something_to_others() {
        for (list, policy, duty, force, expected) in [
            ("1-3", Policy::Other, None, false, Ok(100)),
            ("0-3", Policy::Other, None, false, Ok(90)),
            ("1-3", Policy::Fifo, None, false, Ok(90)),
            ("1-3", Policy::Fifo, Some(95), false, Ok(95)),
            ("1-3", Policy::Fifo, Some(96), false, Err(ProbeError::Throttled { duty: 96, allowed: 95 })),
            ("1-3", Policy::Fifo, Some(100), true, Ok(100)),
            ("0-3", Policy::Other, Some(99), false, Ok(99)),
            (
                "0-3",
                Policy::Other,
                Some(100),
                false,
                Err(ProbeError::WholeMachine("0-3".parse().expect("a list"))),
            ),
            ("0-3", Policy::Other, Some(100), true, Ok(100)),
            ("0-3", Policy::Other, Some(0), false, Err(ProbeError::Duty(0))),
        ] {
            assert_eq!(planned(list, policy, duty, force), expected, "{list} {policy:?} {duty:?} {force}");
        }
    }

    #[test]
    fn brief_intervals_on_all_cpus_are_measured_only_if_that_was_asked_for() {
        let chosen = |list: &str| list.parse().ok();
        for (interval, cpus_chosen, policy, force, refused) in [
            (10, None, Policy::Fifo, false, true),
            (10, None, Policy::Fifo, true, false),
            (10, None, Policy::Other, false, false),
            (10, chosen("0-3"), Policy::Fifo, false, false),
            (50, None, Policy::Fifo, false, false),
        ] {
            let interval = Ns::from_us(interval);
            let probe = Probe { interval, cpus: cpus_chosen, policy, force, ..Probe::default() };
            let machine = machine(None);
            let checked = leaves_time(&probe, &cpus(&probe, &machine).expect("CPUs"), &machine);
            let expected = if refused { Err(ProbeError::NoTimeLeft(interval)) } else { Ok(()) };
            assert_eq!(checked, expected, "{probe:?}");
        }
    }

    #[test]
    fn threads_are_on_the_first_cpus_or_on_none() {
        let timer = Probe::default();
        let on = |probe: &Probe| cpus(probe, &machine(None));
        let two = Probe { threads: Some(2), ..timer.clone() };
        assert_eq!(on(&two), Ok(vec![Some(Cpu(0)), Some(Cpu(1))]));
        let five = Probe { threads: Some(5), ..timer };
        assert_eq!(on(&five), Err(ProbeError::Threads { threads: 5, cpus: 4 }));
        let deadline = Probe::new(ProbeKind::Deadline { runtime: Ns::from_us(200), deadline: None });
        assert_eq!(on(&deadline), Ok(vec![None]));
        assert_eq!(on(&Probe { threads: Some(3), ..deadline.clone() }), Ok(vec![None; 3]));
        let bound = Probe { cpus: "1".parse().ok(), ..deadline };
        assert_eq!(on(&bound), Err(ProbeError::Unbindable("1".parse().expect("a list"))));
    }

    #[test]
    fn a_gap_is_longer_than_a_reading_of_the_clock() {
        assert_eq!(readable(Ns(1_000), Ns(40)), Ok(()));
        let refused = readable(Ns(1_000), Ns(1_100)).expect_err("a clock without vDSO");
        assert!(refused.to_string().contains("4.40 us"), "{refused}");
        assert!(clock_reading() > Ns::ZERO);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let deadline = |runtime, deadline, interval| {
            let kind =
                ProbeKind::Deadline { runtime: Ns::from_us(runtime), deadline: Some(Ns::from_us(deadline)) };
            common(&Probe { interval: Ns::from_us(interval), ..Probe::new(kind) })
        };
        assert_eq!(deadline(200, 500, 1_000), Ok(()));
        for (runtime, until, period) in [(600, 500, 1_000), (200, 1_500, 1_000), (1, 500, 1_000)] {
            assert!(matches!(deadline(runtime, until, period), Err(ProbeError::Deadline { .. })));
        }
        assert!(matches!(deadline(20, 50, 50), Err(ProbeError::Period(_))));
        let window = |width| {
            common(&Probe {
                interval: Ns::from_ms(1),
                ..Probe::new(ProbeKind::Hwlat { width: Ns::from_us(width) })
            })
        };
        assert_eq!(window(500), Ok(()));
        assert!(matches!(
            (window(501), window(49)),
            (Err(ProbeError::Width { .. }), Err(ProbeError::Width { .. }))
        ));
        let idle = Probe { policy: Policy::Idle, ..Probe::default() };
        assert_eq!(common(&idle), Err(ProbeError::Policy("idle")));
    }
}
