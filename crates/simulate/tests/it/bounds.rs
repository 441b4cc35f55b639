//! No simulation exceeds a bound: random task sets, costs, locks, phases and lengths.

use proptest::prelude::*;
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_simulate::bounds::bounds;
use whylate_simulate::model::{
    Amount, Arrival, Costs, KernelSeries, Lock, LockProtocol, Machine, Model, Step, Task, TaskPolicy,
    WhenLate,
};
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, check, simulate};

#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) priority: u8,
    pub(crate) period_ms: i64,
    pub(crate) share: u32,
    pub(crate) offset_us: i64,
    pub(crate) jitter_us: i64,
    pub(crate) suspend_us: i64,
    pub(crate) locks: u8,
    pub(crate) off: bool,
    pub(crate) deadline: bool,
    pub(crate) cpu: u32,
}

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    let numbers = (1u8..6, 1i64..40, 1u32..30, 0i64..20_000, prop_oneof![Just(0i64), 0i64..2_000]);
    let parts = (
        prop_oneof![3 => Just(0i64), 1 => 1i64..3_000],
        0u8..4,
        any::<bool>(),
        prop::bool::weighted(0.2),
        0u32..2,
    );
    (numbers, parts).prop_map(
        |((priority, period_ms, share, offset_us, jitter_us), (suspend_us, locks, off, deadline, cpu))| {
            Drawn { priority, period_ms, share, offset_us, jitter_us, suspend_us, locks, off, deadline, cpu }
        },
    )
}

fn task(number: usize, drawn: &Drawn, cpus: u32) -> Task {
    let period = Ns::from_ms(drawn.period_ms);
    let run = Ns(period.0 * i64::from(drawn.share) / 100);
    let part = |share: i64| Step::Run(Amount::Uniform(Ns(run.0 * share / 200), Ns(run.0 * share / 100)));
    let cpu = drawn.cpu % cpus;
    let mut steps = vec![part(40)];
    // A lock of this CPU.
    let lock = (cpu * 2) as usize + usize::from(drawn.locks == 2);
    if drawn.locks > 0 {
        steps.extend([Step::Lock(lock), part(20), Step::Unlock(lock)]);
    }
    if drawn.off {
        steps.push(Step::PreemptOff(Amount::Fixed(Ns(run.0 / 10))));
    }
    if drawn.suspend_us > 0 && !drawn.deadline {
        steps.push(Step::Suspend(Amount::Uniform(Ns::ZERO, Ns::from_us(drawn.suspend_us))));
    }
    steps.push(part(30));
    let scheduling = match drawn.deadline {
        true => TaskPolicy::Deadline { runtime: run, deadline: period, period },
        false => TaskPolicy::Fifo(drawn.priority),
    };
    Task {
        tid: None,
        name: format!("t{number}"),
        scheduling,
        cpus: [Cpu(cpu)].into_iter().collect::<CpuSet>(),
        arrival: Arrival::Periodic {
            offset: Ns::from_us(drawn.offset_us),
            period,
            jitter: Amount::Uniform(Ns::ZERO, Ns::from_us(if drawn.deadline { 0 } else { drawn.jitter_us })),
        },
        start: Vec::new(),
        steps,
        deadline: None,
        when_late: WhenLate::CatchUp,
        group: None,
    }
}

pub(crate) fn model(tasks: &[Drawn], cpus: u32, kernel: u32, costs: Costs, hog: bool) -> Model {
    let mut machine = Machine::new(KernelSeries::new(6, kernel), cpus);
    machine.costs = costs;
    let protocols = [LockProtocol::Inherit, LockProtocol::Protect];
    let lock = |at: usize| Lock { name: format!("m{at}"), protocol: protocols[at % 2] };
    let mut tasks: Vec<Task> = tasks.iter().enumerate().map(|(at, drawn)| task(at, drawn, cpus)).collect();
    if hog {
        let mut fair = task(
            99,
            &Drawn {
                priority: 1,
                period_ms: 1,
                share: 1,
                offset_us: 0,
                jitter_us: 0,
                suspend_us: 0,
                locks: 0,
                off: false,
                deadline: false,
                cpu: 0,
            },
            cpus,
        );
        fair.scheduling = TaskPolicy::Other(0);
        fair.arrival = Arrival::Sporadic { offset: Ns::ZERO, gap: Amount::Forever };
        fair.steps = vec![Step::Run(Amount::Forever)];
        tasks.push(fair);
    }
    Model {
        machine,
        tasks,
        locks: (0..2 * cpus as usize).map(lock).collect(),
        interrupts: Vec::new(),
        groups: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_simulation_exceeds_a_bound(
        tasks in prop::collection::vec(drawn(), 1..6),
        cpus in 1u32..3,
        kernel in prop_oneof![Just(1u32), Just(12)],
        switch in prop_oneof![Just(0i64), 1i64..20_000],
        timer in prop_oneof![Just(0i64), 1i64..20_000],
        tick in prop_oneof![Just(0i64), 1i64..10_000],
        idle_exit in prop_oneof![Just(0i64), 1i64..50_000],
        hog in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let costs = Costs { switch: Ns(switch), timer: Ns(timer), tick: Ns(tick), idle_exit: Ns(idle_exit) };
        let model = model(&tasks, cpus, kernel, costs, hog);
        prop_assume!(check(&model).is_ok());
        let report = simulate(&model, RunOptions { duration: Ns::from_ms(1100), seed, worst: 1 });
        for (task, bound) in report.tasks.iter().zip(bounds(&model)) {
            if let (Some(worst), Some(bound)) = (task.tally.worst(), bound.response()) {
                prop_assert!(worst <= bound, "{}: {worst} is more than {bound}\n{model:#?}", task.name);
            }
        }
    }
}

/// The bounds of a task set on one CPU without throttling, in ns.
fn bounds_of(tasks: &str) -> Vec<Option<i64>> {
    let text = format!("[machine]\nkernel = \"6.1\"\ncpus = 1\nsched_rt_runtime_us = -1\n{tasks}");
    let model = read(&text, &Overrides::default()).expect("a task set");
    bounds(&model).into_iter().map(|bound| bound.response().map(|response| response.0)).collect()
}

#[test]
fn sections_of_higher_tasks_are_no_blocking() {
    let tasks = "[[task]]\nname = \"high\"\npriority = 50\nperiod = \"10ms\"\nsteps = [\"run 1ms\", \"preempt-off 1ms\"]\n\
                 [[task]]\nname = \"low\"\npriority = 40\nperiod = \"20ms\"\nsteps = [\"run 2ms\", \"preempt-off 1ms\"]\n";
    assert_eq!(bounds_of(tasks), [Some(3_000_000), Some(5_000_000)]);
}

#[test]
fn jitter_of_a_task_that_sleeps_counts_once() {
    // `high` is done 3 ms after its nominal arrival, after 1 ms of its own: so two jobs come up to 2 ms nearer than the period. Of
    // a window of 8 ms only one is in the way; with the jitter counted twice, two would be.
    let tasks = "[[task]]\nname = \"high\"\npriority = 50\nperiod = \"10ms\"\njitter = \"0..1ms\"\n\
                 steps = [\"run 500us\", \"suspend 1ms\", \"run 500us\"]\n\
                 [[task]]\nname = \"low\"\npriority = 40\nperiod = \"50ms\"\nrun = \"7ms\"\n";
    assert_eq!(bounds_of(tasks), [Some(3_000_000), Some(8_000_000)]);
}

/// The later deadline has the lock for 3 ms when the earlier one, of 3 ms for 2 ms of work, comes.
#[test]
fn a_lock_of_a_later_deadline_blocks() {
    let tasks = |lock: &str| {
        format!(
            "[[task]]\nname = \"a\"\npolicy = \"deadline\"\nperiod = \"10ms\"\nruntime = \"2ms\"\ndeadline = \"3ms\"\n\
             steps = [\"lock m\", \"run 2ms\", \"unlock m\"]\n\
             [[task]]\nname = \"b\"\npolicy = \"deadline\"\nperiod = \"10ms\"\nruntime = \"5ms\"\n\
             steps = [\"lock {lock}\", \"run 3ms\", \"unlock {lock}\", \"run 2ms\"]\n"
        )
    };
    assert_eq!(bounds_of(&tasks("m"))[0], None);
    assert_eq!(bounds_of(&tasks("other"))[0], Some(3_000_000));
}
