//! The rules of the scheduler, one by one, against what is known of them.

use whylate_base::Ns;
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, SimulationReport, TaskResult, simulate};

fn run(text: &str, duration: Ns) -> SimulationReport {
    let model = read(text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simulate(&model, RunOptions { duration, ..RunOptions::default() })
}

fn task<'r>(report: &'r SimulationReport, name: &str) -> &'r TaskResult {
    report.tasks.iter().find(|task| task.name == name).expect(name)
}

fn worst(report: &SimulationReport, name: &str) -> Ns {
    task(report, name).tally.worst().unwrap_or_else(|| panic!("{name} has no job that is done"))
}

fn ran(report: &SimulationReport, name: &str) -> f64 {
    task(report, name).tally.ran.as_secs_f64() / report.options.duration.as_secs_f64()
}

const OFF: &str = "[machine]\nsched_rt_runtime_us = -1\nfair-server = \"off\"\n";

#[test]
fn higher_priorities_preempt() {
    // Burns and Wellings: at the critical instant the responses are those of the analysis.
    let text = format!(
        "{OFF}[[task]]\nname = \"a\"\npriority = 1\nperiod = \"80ms\"\nrun = \"40ms\"\n\
         [[task]]\nname = \"b\"\npriority = 2\nperiod = \"40ms\"\nrun = \"10ms\"\n\
         [[task]]\nname = \"c\"\npriority = 3\nperiod = \"20ms\"\nrun = \"5ms\"\n"
    );
    let report = run(&text, Ns::from_secs(2));
    assert_eq!(["a", "b", "c"].map(|name| worst(&report, name)), [80, 15, 5].map(Ns::from_ms));
    let bounds: Vec<Option<Ns>> = report.tasks.iter().map(|task| task.bound.response()).collect();
    assert_eq!(bounds, [80, 15, 5].map(|ms| Some(Ns::from_ms(ms))));
    assert!(report.findings.iter().all(|finding| finding.code != "simulated-deadline-missed"));
}

#[test]
fn a_backlog_is_worked_off_job_by_job() {
    // Lehoczky: the fifth job of the busy period is the latest.
    let text = format!(
        "{OFF}[[task]]\nname = \"low\"\npriority = 1\nperiod = \"100ms\"\nrun = \"62ms\"\n\
         [[task]]\nname = \"high\"\npriority = 2\nperiod = \"70ms\"\nrun = \"26ms\"\n"
    );
    let report = run(&text, Ns::from_secs(7));
    assert_eq!(worst(&report, "low"), Ns::from_ms(118));
    assert_eq!(task(&report, "low").tally.worst_due, Ns::from_ms(400));
}

#[test]
fn equal_priorities_wait_and_round_robin_takes_turns() {
    let peers = |policy: &str| {
        format!(
            "{OFF}[[task]]\nname = \"long\"\npolicy = \"{policy}\"\npriority = 5\nperiod = \"1s\"\nrun = \"450ms\"\n\
             [[task]]\nname = \"short\"\npolicy = \"{policy}\"\npriority = 5\noffset = \"1ms\"\nperiod = \"1s\"\nrun = \"10ms\"\n"
        )
    };
    let fifo = run(&peers("fifo"), Ns::from_secs(3));
    assert_eq!(worst(&fifo, "short"), Ns::from_ms(459));
    let rr = run(&peers("rr"), Ns::from_secs(3));
    assert_eq!(worst(&rr, "short"), Ns::from_ms(109));
}

#[test]
fn inheritance_bounds_the_inversion_and_its_lack_does_not() {
    let locked = |protocol: &str| {
        format!(
            "{OFF}[[lock]]\nname = \"m\"\nprotocol = \"{protocol}\"\n\
             [[task]]\nname = \"low\"\npriority = 1\nperiod = \"100ms\"\nsteps = [\"lock m\", \"run 5ms\", \"unlock m\", \"run 1ms\"]\n\
             [[task]]\nname = \"middle\"\npriority = 2\noffset = \"2ms\"\nperiod = \"100ms\"\nrun = \"30ms\"\n\
             [[task]]\nname = \"high\"\npriority = 3\noffset = \"1ms\"\nperiod = \"100ms\"\nsteps = [\"run 1ms\", \"lock m\", \"run 1ms\", \"unlock m\"]\n"
        )
    };
    let none = run(&locked("none"), Ns::from_secs(1));
    assert_eq!(worst(&none, "high"), Ns::from_ms(36));
    assert!(none.tasks[2].bound.response().is_none());
    for protocol in ["inherit", "protect"] {
        let report = run(&locked(protocol), Ns::from_secs(1));
        let bound = report.tasks[2].bound.response().expect("a bound");
        assert!(worst(&report, "high") <= Ns::from_ms(6), "{protocol}: {}", worst(&report, "high"));
        assert_eq!(bound, Ns::from_ms(7), "{protocol}");
    }
}

#[test]
fn two_locks_in_opposite_orders_are_a_deadlock() {
    let text = format!(
        "{OFF}[[task]]\nname = \"a\"\npriority = 1\nperiod = \"100ms\"\n\
         steps = [\"lock m\", \"run 5ms\", \"lock n\", \"run 1ms\", \"unlock n\", \"unlock m\"]\n\
         [[task]]\nname = \"b\"\npriority = 2\noffset = \"1ms\"\nperiod = \"100ms\"\n\
         steps = [\"lock n\", \"run 5ms\", \"lock m\", \"run 1ms\", \"unlock m\", \"unlock n\"]\n"
    );
    let report = run(&text, Ns::from_secs(1));
    assert!(report.findings.iter().any(|finding| finding.code == "deadlock"), "{:#?}", report.findings);
}

#[test]
fn reservations_run_by_deadline_and_are_enforced() {
    let text = "[machine]\nfair-server = \"off\"\n\
        [[task]]\nname = \"near\"\nruntime = \"2ms\"\nperiod = \"10ms\"\nrun = \"2ms\"\n\
        [[task]]\nname = \"far\"\nruntime = \"30ms\"\nperiod = \"50ms\"\nrun = \"30ms\"\n\
        [[task]]\nname = \"fifo\"\npriority = 99\nperiod = \"50ms\"\nrun = \"1ms\"\n";
    let report = run(text, Ns::from_secs(2));
    assert_eq!(worst(&report, "near"), Ns::from_ms(2));
    assert!(worst(&report, "far") <= Ns::from_ms(50));
    assert!(report.tasks[..2].iter().all(|task| task.tally.missed == 0 && task.bound.response().is_some()));
    let greedy = text.replace("run = \"2ms\"", "run = \"forever\"");
    let report = run(&greedy, Ns::from_secs(2));
    let share = ran(&report, "near");
    assert!((0.18..0.25).contains(&share), "{share}");
    assert_eq!(report.tasks[1].tally.missed, 0);
}

#[test]
fn shares_follow_weights_and_quotas() {
    let two =
        "[[task]]\nname = \"a\"\nrun = \"forever\"\n[[task]]\nname = \"b\"\nnice = 5\nrun = \"forever\"\n";
    let report = run(two, Ns::from_secs(10));
    // 1024 to 335.
    assert!((ran(&report, "a") - 0.753).abs() < 0.01, "{}", ran(&report, "a"));
    let limited = "[[group]]\nname = \"g\"\nquota = \"20ms\"\nperiod = \"100ms\"\n\
        [[task]]\nname = \"a\"\ngroup = \"g\"\nrun = \"forever\"\n";
    let report = run(limited, Ns::from_secs(10));
    assert!((ran(&report, "a") - 0.2).abs() < 0.03, "{}", ran(&report, "a"));
}

#[test]
fn the_server_gives_starving_threads_their_share() {
    let text = "[machine]\nkernel = \"6.12\"\n[[task]]\nname = \"hog\"\npriority = 1\nrun = \"forever\"\n\
        [[task]]\nname = \"other\"\nrun = \"forever\"\n";
    let report = run(text, Ns::from_secs(10));
    assert!((0.045..0.06).contains(&ran(&report, "other")), "{}", ran(&report, "other"));
    let old = run(&text.replace("6.12", "6.1"), Ns::from_secs(10));
    assert!((0.045..0.06).contains(&ran(&old, "other")), "{}", ran(&old, "other"));
}

#[test]
fn real_time_threads_are_pushed_and_pulled() {
    let text = "[machine]\ncpus = 2\nsched_rt_runtime_us = -1\nfair-server = \"off\"\n\
        [[task]]\nname = \"a\"\npriority = 10\nperiod = \"10ms\"\nrun = \"6ms\"\n\
        [[task]]\nname = \"b\"\npriority = 20\nperiod = \"10ms\"\nrun = \"6ms\"\n\
        [[task]]\nname = \"c\"\npriority = 5\nperiod = \"20ms\"\nrun = \"5ms\"\n";
    let report = run(text, Ns::from_secs(1));
    // c has a CPU from 6 to 10 ms, and again from 16 ms.
    assert_eq!(["a", "b", "c"].map(|name| worst(&report, name)), [6, 6, 17].map(Ns::from_ms));
    let pinned = text.replace("[[task]]", "[[task]]\ncpus = \"0\"");
    let report = run(&pinned, Ns::from_secs(1));
    assert!(report.findings.iter().any(|finding| finding.code == "overload"));
    assert!(task(&report, "a").tally.missed > 0 && task(&report, "b").tally.missed == 0);
}

#[test]
fn interrupts_and_sections_without_preemption_delay() {
    let text = format!(
        "{OFF}[[interrupt]]\nname = \"eth0\"\noffset = \"10ms\"\ngap = \"10ms\"\nrun = \"300us\"\nsoftirq = \"NET_RX\"\nsoftirq-run = \"200us\"\n\
         [[task]]\nname = \"rt\"\npriority = 50\noffset = \"10ms\"\nperiod = \"10ms\"\nrun = \"1ms\"\n\
         [[task]]\nname = \"off\"\noffset = \"9900us\"\nperiod = \"10ms\"\nsteps = [\"irqs-off 500us\", \"run 10us\"]\n"
    );
    let report = run(&text, Ns::from_secs(1));
    // 400 us until interrupts are enabled, 500 us of interrupt and softirq, 1 ms of work.
    assert_eq!(worst(&report, "rt"), Ns::from_us(1900));
    let bound = report.tasks[0].bound.response().expect("a bound");
    assert_eq!(bound, Ns::from_us(2000));
}

#[test]
fn chains_are_followed_to_their_end() {
    let text = format!(
        "{OFF}[[task]]\nname = \"sensor\"\npriority = 3\nperiod = \"10ms\"\nrun = \"1ms\"\n\
         [[task]]\nname = \"control\"\npriority = 2\nafter = \"sensor\"\nrun = \"2ms\"\n\
         [[task]]\nname = \"output\"\npriority = 1\nafter = \"control\"\nrun = \"1ms\"\n"
    );
    let report = run(&text, Ns::from_secs(1));
    assert_eq!(task(&report, "output").tally.end_to_end, Some(Ns::from_ms(4)));
    assert_eq!(task(&report, "output").tally.jobs, 100);
    assert!(task(&report, "output").bound.response() >= Some(Ns::from_ms(1)));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = "[machine]\ncpus = 2\n[[task]]\nname = \"a\"\npriority = 2\ngap = \"1ms..9ms\"\nrun = \"100us..2ms\"\n\
        [[task]]\nname = \"b\"\npriority = 1\nperiod = \"5ms\"\njitter = \"0..1ms\"\nrun = \"1ms..2ms\"\n";
    let model = read(text, &Overrides::default()).expect("a task set");
    let of = |seed| {
        let report = simulate(&model, RunOptions { seed, duration: Ns::from_secs(2), worst: 1 });
        report
            .tasks
            .iter()
            .map(|task| (task.tally.jobs, task.tally.worst(), task.tally.ran))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
