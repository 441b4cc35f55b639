//! What task sets are read as, and what is refused.

use super::*;
use crate::model::{
    AccountingClock, Amount, Arrival, Bandwidth, KernelSeries, LockProtocol, Step, TaskPolicy,
};
use whylate_base::Ns;

fn model(text: &str) -> Model {
    read(text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_task_set_is_read() {
    let model = model(
        r#"
        [machine]
        kernel = "6.1.0-18-rt-amd64"
        cpus = 2
        clock = "tick"
        costs = { switch = "2us" }

        [[task]]
        name = "ctl"
        policy = "fifo"
        priority = 50
        period = "10ms"
        run = "100us..200us"
        cpus = "1"

        [[task]]
        name = "logger"
        after = "ctl"
        nice = 5
        steps = ["lock m", "run 50us", "unlock m", "suspend 1ms", "run 10us"]

        [[task]]
        name = "hog"
        priority = 1
        run = "forever"

        [[task]]
        name = "dl"
        runtime = "1ms"
        period = "10ms"
        run = { values = [["500us", 0.9], ["1ms", 0.1]] }

        [[lock]]
        name = "m"
        protocol = "none"
        "#,
    );
    assert!(model.machine.preempt_rt && model.machine.clock == AccountingClock::Tick);
    assert_eq!(model.machine.bandwidth(), Bandwidth::Throttle);
    let [ctl, logger, hog, dl] = &model.tasks[..] else { panic!("{model:#?}") };
    assert_eq!(ctl.scheduling, TaskPolicy::Fifo(50));
    assert_eq!(ctl.steps, [Step::Run(Amount::Uniform(Ns::from_us(100), Ns::from_us(200)))]);
    assert_eq!(ctl.deadline, Some(Ns::from_ms(10)));
    assert_eq!(logger.arrival, Arrival::After(0));
    assert_eq!((logger.scheduling, logger.steps.len()), (TaskPolicy::Other(5), 5));
    assert_eq!(hog.arrival, Arrival::Sporadic { offset: Ns::ZERO, gap: Amount::Forever });
    assert_eq!(dl.scheduling.rt_priority(), None);
    assert_eq!(model.locks[0].protocol, LockProtocol::None);
}

#[test]
fn threads_of_interrupts_are_tasks_with_preempt_rt() {
    let interrupt = "[[interrupt]]\nname = \"eth0\"\ngap = \"1ms\"\nrun = \"20us\"\nwakes = \"rx\"\n\
        [[task]]\nname = \"rx\"\nwoken = true\npriority = 40\nrun = \"1us\"\n";
    let plain = model(interrupt);
    assert_eq!(plain.tasks.len(), 1);
    let threaded = model(&format!("[machine]\npreempt-rt = true\n{interrupt}"));
    assert_eq!(threaded.tasks[1].name, "irq/16-eth0");
    assert_eq!(threaded.tasks[1].steps.last(), Some(&Step::Wake(0)));
    assert_eq!(threaded.interrupts[0].wakes, Some(1));
}

#[test]
fn what_is_wrong_is_named() {
    let task = |rest: &str| format!("[[task]]\nname = \"a\"\n{rest}\n");
    for (text, named) in [
        (String::new(), "it has no task"),
        (task("period = \"10\"\nrun = \"1ms\""), "task `a`: period: `10` is not a duration"),
        (task("period = \"10ms\""), "either `run` or `steps`"),
        (task("period = \"10ms\"\nrun = \"1ms\"\npriority = 100"), "priority 100 must be 1 to 99"),
        (task("period = \"10ms\"\nrun = \"1ms\"\npolicy = \"best\""), "`best` is no policy"),
        (task("period = \"10ms\"\nrun = \"0\""), "take no time"),
        (task("period = \"10ms\"\nrun = \"1ms\"\ncpus = \"3\""), "CPU 3 is not there"),
        (task("period = \"10ms\"\nsteps = [\"lock m\", \"run 1ms\"]"), "does not unlock `m`"),
        (task("period = \"10ms\"\nsteps = [\"run 1ms\", \"unlock m\"]"), "which it does not hold"),
        (task("period = \"10ms\"\nsteps = [\"walk 1ms\"]"), "step `walk 1ms`"),
        (task("after = \"b\"\nrun = \"1ms\""), "no task is called `b`"),
        (task("after = \"a\"\nrun = \"1ms\""), "a -> a"),
        (task("colour = \"red\"\nrun = \"1ms\""), "unknown field `colour`"),
        (task("runtime = \"9ms\"\nperiod = \"5ms\"\nrun = \"1ms\""), "EINVAL"),
        (task("runtime = \"5ms\"\nperiod = \"5ms\"\nrun = \"1ms\""), "EBUSY"),
        (task("period = \"5ms\"\ngap = \"1ms\"\nrun = \"1ms\""), "only one of period"),
        (
            "[[lock]]\nname = \"m\"\nprotocol = \"protect\"\n".to_owned()
                + &task("runtime = \"2ms\"\nperiod = \"5ms\"\nsteps = [\"lock m\", \"run 1ms\", \"unlock m\"]"),
            "cannot lock `m`",
        ),
        ("[machine]\nkernel = \"linux\"\n".to_owned() + &task("run = \"1ms\""), "not a kernel version"),
        (
            "[[task]]\nname = \"a\"\nafter = \"b\"\nrun = \"1ms\"\n[[task]]\nname = \"b\"\nwoken = true\n\
             steps = [\"run 1ms\", \"wake a\"]\n[[task]]\nname = \"c\"\nafter = \"a\"\nsteps = [\"run 1us\", \"wake b\"]"
                .to_owned(),
            " -> ",
        ),
    ] {
        let error = read(&text, &Overrides::default()).expect_err(&text).to_string();
        assert!(error.contains(named), "{error:?} does not name {named:?}");
    }
}

#[test]
fn the_command_line_wins() {
    let settings =
        MachineSettings { rt_runtime: Some(None), tick: Some(Ns::from_ms(10)), ..MachineSettings::default() };
    let overrides = Overrides { kernel: Some((KernelSeries::new(6, 12), true)), cpus: Some(8), settings };
    let text = "[machine]\nkernel = \"6.1\"\ncpus = 2\n[[task]]\nname = \"a\"\nrun = \"1ms\"\n";
    let model = read(text, &overrides).expect("a task set");
    assert_eq!((model.machine.kernel, model.machine.cpus), (KernelSeries::new(6, 12), 8));
    assert!(model.machine.preempt_rt);
    assert_eq!((model.machine.rt_runtime, model.machine.tick), (None, Ns::from_ms(10)));
}
