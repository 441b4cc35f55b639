//! Random task sets, of one kind each: what one analysis of a peer is for.

use fastrand::Rng;
use whylate_base::Ns;

/// What a task set is made to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetKind {
    /// Fixed priorities at high load: responses beyond the period.
    Plain,
    /// Release jitter of up to two periods.
    Jitter,
    /// Few priorities, so that tasks share them.
    EqualPriorities,
    /// Chains over two CPUs.
    Chains,
    /// Sections without preemption, or locks with priority ceilings.
    Blocking,
    /// Jobs that sleep in between.
    Suspension,
    /// SCHED_DEADLINE, deadlines shorter than periods.
    Deadline,
}

/// What keeps the CPU from tasks of higher priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    None,
    PreemptOff(Ns),
    Lock(usize, Ns),
}

/// A task. Its cost includes its section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RandomTask {
    pub(super) cost: Ns,
    pub(super) period: Ns,
    pub(super) deadline: Ns,
    pub(super) jitter: Ns,
    pub(super) suspended: Ns,
    pub(super) section: Section,
    pub(super) priority: u8,
    pub(super) cpu: u32,
    /// The task before it in its chain.
    pub(super) after: Option<usize>,
}

/// A task set, in order of decreasing priority where it has no chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RandomSet {
    pub(super) kind: SetKind,
    pub(super) tasks: Vec<RandomTask>,
}

/// CPUs of a chain's tasks.
pub(super) const CPUS: u32 = 2;
/// Shorter jobs than this are not made: the kernel refuses a SCHED_DEADLINE runtime below 1024 ns (`DL_SCALE`, `sched/deadline.c`).
const LEAST_COST: f64 = 2000.0;

impl RandomSet {
    /// A set of this kind.
    pub(super) fn draw(kind: SetKind, rng: &mut Rng) -> RandomSet {
        match kind {
            SetKind::Chains => chains(rng),
            _ => one_cpu(kind, rng),
        }
    }

    /// The longest time for which tasks of lower priority keep the CPU from a task, once: at most one section, without preemption
    /// or of a lock that this task or one above it uses (L. Sha, R. Rajkumar, J. Lehoczky, 1990).
    pub(super) fn blocking(&self, task: usize) -> Ns {
        let own = self.tasks[task].priority;
        let reaches = |lock: usize| {
            let uses = |other: &&RandomTask| matches!(other.section, Section::Lock(used, _) if used == lock);
            self.tasks.iter().filter(uses).any(|user| user.priority >= own)
        };
        let lower = self.tasks.iter().filter(|other| other.priority < own);
        let lengths = lower.filter_map(|other| match other.section {
            Section::PreemptOff(length) => Some(length),
            Section::Lock(lock, length) if reaches(lock) => Some(length),
            Section::Lock(..) | Section::None => None,
        });
        lengths.max().unwrap_or(Ns::ZERO)
    }
}

fn one_cpu(kind: SetKind, rng: &mut Rng) -> RandomSet {
    let (least, most) = match kind {
        SetKind::Suspension => (0.2, 0.7),
        SetKind::Blocking => (0.4, 0.9),
        SetKind::Deadline => (0.4, 0.9),
        _ => (0.6, 0.98),
    };
    let count = rng.usize(2..=8);
    let shares = uunifast(count, between(rng, least, most), rng);
    let mut periods: Vec<Ns> = (0..count).map(|_| period(rng)).collect();
    // With the rate-monotonic order most tasks of one analysis have a bound within their period; the others try any order.
    if matches!(kind, SetKind::Blocking | SetKind::Suspension) {
        periods.sort_unstable();
    }
    let locks = kind == SetKind::Blocking && rng.bool();
    let tasks = periods.into_iter().zip(shares).enumerate().map(|(at, (period, share))| {
        let cost = cost(period, share);
        let part = |rng: &mut Rng, share: f64, of: Ns| Ns((between(rng, 0.0, share) * of.0 as f64) as i64);
        let jitter = match kind {
            SetKind::Jitter => part(rng, 2.0, period),
            SetKind::Blocking | SetKind::Suspension if rng.bool() => part(rng, 0.2, period),
            _ => Ns::ZERO,
        };
        let suspended = match kind {
            SetKind::Suspension if rng.bool() => part(rng, 0.2, period).max(Ns(1)),
            _ => Ns::ZERO,
        };
        let length = part(rng, 0.8, cost).max(Ns(1));
        let section = match kind {
            SetKind::Blocking if locks => Section::Lock(rng.usize(0..3), length),
            SetKind::Blocking if rng.bool() => Section::PreemptOff(length),
            _ => Section::None,
        };
        let deadline = match kind {
            // Never shorter than the job.
            SetKind::Deadline => cost + Ns((between(rng, 0.1, 1.0) * (period - cost).0 as f64) as i64),
            _ => period,
        };
        let priority = match kind {
            SetKind::EqualPriorities => 90 - (at / 3) as u8,
            _ => 90 - at as u8,
        };
        RandomTask { cost, period, deadline, jitter, suspended, section, priority, cpu: 0, after: None }
    });
    let tasks = tasks.collect();
    RandomSet { kind, tasks }
}

/// Two to four chains of two or three tasks, one CPU after the other.
fn chains(rng: &mut Rng) -> RandomSet {
    let count = rng.usize(2..=4);
    let hops: Vec<usize> = (0..count).map(|_| rng.usize(2..=3)).collect();
    let total: usize = hops.iter().sum();
    let shares: Vec<Vec<f64>> = (0..CPUS).map(|_| uunifast(total, between(rng, 0.3, 0.7), rng)).collect();
    let mut priorities: Vec<u8> = (0..total as u8).map(|at| 90 - at).collect();
    rng.shuffle(&mut priorities);
    let mut tasks: Vec<RandomTask> = Vec::new();
    for hops in hops {
        let period = period(rng);
        for hop in 0..hops {
            let at = tasks.len();
            let cpu = hop as u32 % CPUS;
            tasks.push(RandomTask {
                cost: cost(period, shares[cpu as usize][at]),
                period,
                deadline: period,
                jitter: Ns::ZERO,
                suspended: Ns::ZERO,
                section: Section::None,
                priority: priorities[at],
                cpu,
                after: (hop > 0).then(|| at - 1),
            });
        }
    }
    RandomSet { kind: SetKind::Chains, tasks }
}

/// Shares of a CPU that add up to `sum`, uniformly distributed (E. Bini, G. Buttazzo, "Measuring the performance of schedulability
/// tests", 2005).
fn uunifast(count: usize, sum: f64, rng: &mut Rng) -> Vec<f64> {
    let mut left = sum;
    let mut shares = Vec::new();
    for others in (1..count).rev() {
        let next = left * rng.f64().powf(1.0 / others as f64);
        shares.push(left - next);
        left = next;
    }
    shares.push(left);
    shares
}

/// 1 to 100 ms, their logarithms uniformly distributed, to the nanosecond.
fn period(rng: &mut Rng) -> Ns {
    Ns((1e6 * 100f64.powf(rng.f64())) as i64)
}

fn cost(period: Ns, share: f64) -> Ns {
    Ns((period.0 as f64 * share).max(LEAST_COST) as i64)
}

fn between(rng: &mut Rng, least: f64, most: f64) -> f64 {
    least + rng.f64() * (most - least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_their_kind_has() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..200 {
            let set = RandomSet::draw(SetKind::Deadline, &mut rng);
            assert!(set.tasks.iter().all(|task| task.cost <= task.deadline && task.deadline <= task.period));
            let set = RandomSet::draw(SetKind::Blocking, &mut rng);
            let used: f64 = set.tasks.iter().map(|task| task.cost.0 as f64 / task.period.0 as f64).sum();
            assert!((0.39..0.92).contains(&used), "{used}");
            assert_eq!(set.blocking(set.tasks.len() - 1), Ns::ZERO);
            let set = RandomSet::draw(SetKind::Chains, &mut rng);
            assert!(set.tasks.iter().all(|task| task.after.is_none_or(|before| {
                set.tasks[before].period == task.period && set.tasks[before].cpu != task.cpu
            })));
        }
    }

    #[test]
    fn blocking_is_one_section_that_reaches_the_task() {
        let task = |priority, section| RandomTask {
            cost: Ns(10),
            period: Ns(100),
            deadline: Ns(100),
            jitter: Ns::ZERO,
            suspended: Ns::ZERO,
            section,
            priority,
            cpu: 0,
            after: None,
        };
        let tasks = vec![
            task(90, Section::None),
            task(89, Section::Lock(0, Ns(1))),
            task(88, Section::Lock(1, Ns(8))),
            task(87, Section::Lock(0, Ns(3))),
        ];
        let set = RandomSet { kind: SetKind::Blocking, tasks };
        let blocking: Vec<i64> = (0..4).map(|at| set.blocking(at).0).collect();
        assert_eq!(blocking, [0, 3, 3, 0]);
    }
}
