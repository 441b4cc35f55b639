//! Which thread had the CPU, where the events around a switch are few, late or written in another way.

use super::support::{
    Explained, IDLE, MS, Scene, Thread, assert_charges, charged_to, deadline, fair, rt, sys,
};
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::{ContextFlags, Fact, Kind, KindSet, TaskState};
use whylate_ledger::{Activation, Cause, Options, Segment, Select};

const VICTIM: Thread = rt("victim", 10, 80);

/// Each switch is followed by an event that still has the thread before as its context.
fn with_stacks(flags: ContextFlags) -> Scene {
    let mut scene = Scene::new().cpu(1).at(0).flagged_switches(flags);
    for period in 1..=30 {
        let at = period * 10 * MS;
        scene = scene.at(at).timer_wakes(VICTIM).at(at + 5).run(VICTIM).at(at + 8).sign_of(IDLE, flags);
        scene = scene.at(at + 9).sign(ContextFlags::default());
        scene = scene.at(at + 100).sleep(IDLE).at(at + 103).sign_of(VICTIM, flags);
        scene = scene.at(at + 110).sign(ContextFlags::default());
    }
    scene
}

#[test]
fn events_of_the_switch_itself_show_no_switch_that_was_not_recorded() {
    for flags in [ContextFlags::IRQS_OFF, ContextFlags::default()] {
        let explained = with_stacks(flags).explain("victim");
        assert!(explained.finding("unseen-switches").is_none(), "{:?}", explained.codes());
        assert_eq!(explained.0.tasks[0].activations, 30);
        assert_eq!(explained.0.tasks[0].response.map(|response| response.max), Some(Ns::from_us(100)));
        for activation in &explained.0.activations {
            assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 95)]);
        }
    }
}

#[test]
fn a_thread_that_is_back_on_the_cpu_is_not_one_that_leaves_it() {
    // The switches back were not recorded: the thread calls the kernel, or is seen with interrupts enabled.
    let app = fair("app", 30);
    let explained = |back: fn(Scene) -> Scene| {
        let mut scene = Scene::new().cpu(1).at(0).flagged_switches(ContextFlags::IRQS_OFF).run(app);
        for n in 1..=10 {
            let at = n * MS;
            scene = scene.at(at).wake(VICTIM, 1).at(at + 2).run(VICTIM).unseen_switch_to(app).at(at + 50);
            scene = back(scene);
        }
        scene.explain_with(&Options::default())
    };
    for back in [
        (|scene| scene.call(sys::READ, [0, 0, 0])) as fn(Scene) -> Scene,
        |scene| scene.sign(ContextFlags::default()),
        |scene| scene.vector("local_timer").vector_exit("local_timer"),
    ] {
        assert!(explained(back).finding("unseen-switches").is_some());
    }
}

#[test]
fn a_recording_of_one_threads_wake_ups_and_switch_ins_has_all_its_activations() {
    // Neither its switches away nor other threads were recorded; it wakes on one CPU and runs on another.
    let mut scene = Scene::new();
    for (n, latency) in [7, 97, 22, 2, 40].into_iter().enumerate() {
        let (at, to) = ((n as i64 + 1) * 25 * MS, n as u32 % 2);
        scene = scene.cpu(0).unseen_switch_to(IDLE).at(at).waking(VICTIM, 0);
        scene = scene.cpu(to).unseen_switch_to(IDLE).at(at + latency).run(VICTIM);
    }
    let explained = scene.explain("victim");
    let latencies: Vec<Option<Ns>> =
        explained.in_order().iter().map(|activation| activation.latency()).collect();
    assert_eq!(latencies, [7, 97, 22, 2, 40].map(|us| Some(Ns::from_us(us))));
    let own: Vec<_> =
        explained.0.tasks[0].causes.iter().filter(|(cause, _)| *cause == Cause::OwnWork).collect();
    assert!(own.is_empty(), "its work was not recorded: {own:?}");
}

#[test]
fn states_of_a_kernel_that_records_them_shifted_by_one_are_read_as_they_were() {
    let kworker = fair("kworker/1:1", 40);
    let scene = Scene::new().kernel("4.19.0").cpu(1).at(0).switch_as(TaskState::Interruptible, VICTIM);
    // It sleeps (recorded as D), and is woken by a thread that then waits for work (I, recorded as R+).
    let scene = scene.at(MS).switch_as(TaskState::Uninterruptible, kworker).at(2 * MS).wake(VICTIM, 1);
    let scene = scene.at(2 * MS + 5).switch_as(TaskState::Preempted, VICTIM);
    let scene = scene.at(3 * MS).switch_as(TaskState::Uninterruptible, IDLE);
    let scene = scene.at(4 * MS).wake(kworker, 1).at(4 * MS + 5).switch_as(TaskState::Interruptible, kworker);
    let scene = scene.at(4 * MS + 50).switch_as(TaskState::Preempted, IDLE).at(5 * MS);
    let explained = scene.sign(ContextFlags::default()).explain("victim");
    let last = explained.in_order()[1];
    assert_charges(last, &[(Cause::Dispatch, 5), (Cause::OwnWork, MS - 5)]);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn an_idle_kernel_thread_of_such_a_kernel_was_asleep_when_it_is_woken() {
    let (kworker, app) = (fair("kworker/1:1", 40), fair("app", 30));
    let scene = Scene::new().kernel("4.19.0").cpu(1).at(0).switch_as(TaskState::Interruptible, kworker);
    let scene = scene.at(MS).wake(app, 1).at(MS + 5).switch_as(TaskState::Preempted, app);
    let scene =
        scene.at(9 * MS).wake(kworker, 1).at(9 * MS + 5).switch_as(TaskState::Uninterruptible, kworker);
    let scene = scene.at(9 * MS + 50).switch_as(TaskState::Preempted, IDLE).at(10 * MS);
    let explained = scene.sign(ContextFlags::default()).explain("kworker/1:1");
    assert_eq!(explained.0.tasks[0].activations, 2);
    assert_eq!(explained.in_order()[1].latency(), Some(Ns::from_us(5)));
}

/// A SCHED_DEADLINE thread works for 30 us of each period of 10 ms, and gives up the rest.
fn gives_up_the_rest(scene: Scene, seen: bool) -> Scene {
    const YIELD: i64 = 24;
    let thread = deadline("control", 10);
    let timer = 0xdead;
    let mut scene = scene.cpu(1).at(0).sign(ContextFlags::default());
    for period in 1..=5 {
        let at = period * 10 * MS;
        scene = match period {
            1 => scene.at(at).timer_wakes(thread),
            _ => scene.at(at + 3).fire_named(timer, "dl_task_timer").fired(timer),
        };
        scene = scene.at(at + 8).run(thread).at(at + 38);
        if seen {
            scene = scene.call(YIELD, [0, 0, 0]);
        }
        scene = scene.arm_named(timer, "dl_task_timer", at + 10 * MS);
        scene = scene.switch_as(TaskState::Runnable, IDLE);
    }
    scene.at(60 * MS).sign(ContextFlags::default())
}

#[test]
fn a_deadline_thread_that_yields_is_done_until_its_next_period() {
    for seen in [true, false] {
        let explained = gives_up_the_rest(Scene::new(), seen).explain_with(&Options::default());
        assert_eq!(explained.0.tasks[0].activations, 5, "selected by itself");
        for activation in &explained.in_order()[1..] {
            assert_eq!(activation.due.0 % 10_000_000, 0, "its timer's expiry");
            assert_eq!(activation.response(), Ns::from_us(38));
        }
        assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
    }
}

#[test]
fn a_deadline_thread_whose_runtime_is_used_up_goes_on_in_its_next_period() {
    let thread = deadline("control", 10);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(thread);
    let scene = scene.at(105).run(thread).call(sys::READ, [0, 0, 0]).ret(sys::READ).at(3 * MS);
    let scene = scene.switch_as(TaskState::Runnable, IDLE).at(10 * MS).run(thread).at(11 * MS).sleep(IDLE);
    let explained = scene.explain_with(&Options::default());
    assert_eq!(explained.only().done, Some(Ns::from_us(11 * MS)));
}

#[test]
fn a_switch_that_takes_long_is_no_work_of_the_thread() {
    let switched = |steps: &[i64]| {
        let mut scene =
            Scene::new().cpu(1).at(0).run(fair("other", 20)).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        for &step in steps {
            scene = scene.at(step).sign_of(fair("other", 20), ContextFlags::IRQS_OFF);
        }
        scene.at(200).sign(ContextFlags::default()).at(300).sleep(IDLE).explain("victim").only().clone()
    };
    let dispatch = |activation: &Activation| {
        let own = |cause| activation.ledger.iter().filter(move |segment| segment.cause == cause);
        let after = own(Cause::Dispatch).filter(|segment| segment.start >= Ns::from_us(105));
        after.map(|segment| segment.length()).sum::<Ns>()
    };
    // Events of the thread before are on the way to the next: the last of them shows how long that was.
    assert_eq!(dispatch(&switched(&[110, 168])), Ns::from_us(63));
    assert_eq!(dispatch(&switched(&[110])), Ns::ZERO, "as usual");
}

/// A softirq is entered, and the recording is over before it ends, or has its exit.
fn softirq_upon(comm: &'static str, ends: bool) -> Activation {
    let thread = fair(comm, 20);
    let scene = Scene::new().cpu(1).at(0).run(thread).at(20).softirq(3);
    let scene = if ends { scene.at(800).softirq_exit(3) } else { scene };
    scene.at(810).irq(9, "disk").at(811).irq_exit(9).explain(comm).only().clone()
}

#[test]
fn a_thread_that_runs_softirqs_does_not_wait_for_one() {
    let ran = softirq_upon("ksoftirqd/1", true);
    assert!(ran.ledger.iter().all(|segment| segment.cause != Cause::Softirq), "{:?}", ran.ledger);
    let waited = softirq_upon("app", true);
    assert_eq!((waited.verdict.cause, waited.verdict.confidence), (Cause::Softirq, Confidence::High));
}

#[test]
fn a_softirq_whose_end_is_not_recorded_may_have_been_shorter() {
    let verdict = softirq_upon("app", false).verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::Softirq, Confidence::Medium));
}

#[test]
fn where_a_thread_without_switches_ran_after_the_cpus_last_event_is_not_known() {
    let (seen, other) = (fair("seen", 20), fair("other", 21));
    let flags = ContextFlags::default();
    let options = Options { tasks: vec![Select::Tid(Tid(20))], ..Options::default() };
    let of = |last: i64| {
        let scene = Scene::new().file_with(KindSet::of(&[Kind::Switch]));
        let scene = scene.cpu(2).at(0).sign_of(seen, flags).at(last).sign_of(seen, flags);
        let explained = scene.cpu(1).at(last + 1).run(other).at(100 * MS).sleep(other).explain_with(&options);
        let activation = explained.only().clone();
        assert_eq!(activation.done, None);
        let noted =
            activation.verdict.evidence.iter().any(|seen| seen.what.contains("whether the thread ran on"));
        (activation.verdict.cause, noted)
    };
    assert_eq!(of(6), (Cause::Unexplained, true));
    assert_eq!(of(99 * MS), (Cause::OwnWork, false), "its events go on");
}

/// The planner waits for a real-time thread, then the CPU is idle with the planner on its runqueue; CPU 0 has rows up to 100 ms.
fn silent_since(idle: i64) -> Scene {
    let scene = Scene::new().cpu(1).at(0).run(VICTIM).at(10 * MS).run(rt("worker", 30, 90));
    scene.at(idle).sleep(IDLE).cpu(0).at(100 * MS).run(fair("other", 21))
}

#[test]
fn behind_the_last_row_of_a_cpu_a_text_shows_nothing_of_it() {
    let explained = silent_since(30 * MS).explain("victim");
    assert_charges(
        explained.only(),
        &[(Cause::OwnWork, 10 * MS), (Cause::HigherPriorityTask, 20 * MS), (Cause::Unexplained, 70 * MS)],
    );
    let explained = silent_since(30 * MS).explain("worker");
    assert_charges(explained.only(), &[(Cause::OwnWork, 20 * MS)]);
    let running = Scene::new().cpu(1).at(0).run(VICTIM).at(3).sign(ContextFlags::default());
    let running = running.cpu(0).at(100 * MS).run(fair("other", 21));
    assert_charges(running.explain("victim").only(), &[(Cause::OwnWork, 3)]);
    let woken = Scene::new().cpu(1).at(0).run(fair("cat", 20)).at(50).sleep(IDLE).cpu(0).at(1_000);
    let woken = woken.wake(VICTIM, 1).at(2_000).run(fair("other", 21)).explain("victim");
    assert_charges(woken.only(), &[]);
    // The buffers of a recording end together.
    let file = silent_since(30 * MS).file_with(KindSet::of(&[Kind::Switch])).explain("victim");
    assert!(file.only().ledger.iter().any(|segment| segment.cause == Cause::RtThrottled));
}

/// A planner of a higher priority has the CPU up to 5 ms, and then nothing happens for 7 ms, in the call of the thread that
/// comes next.
fn behind(ends: bool) -> Explained {
    let planner = rt("planner", 40, 90);
    let scene = Scene::new().cpu(1).at(0).fact(Fact::Hypervisor(true)).sign(ContextFlags::default());
    let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150);
    let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(152).sleep(IDLE).at(MS).run(planner);
    let scene = scene.at(2 * MS).timer_wakes(VICTIM).at(5 * MS);
    let scene = if ends { scene.die(VICTIM) } else { scene.sleep(VICTIM) };
    let scene = scene.at(12 * MS).vector("local_timer").at(12 * MS + 5).vector_exit("local_timer");
    let scene = scene.at(12 * MS + 10).ret(sys::CLOCK_NANOSLEEP).at(12 * MS + 50);
    scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(12 * MS + 52).sleep(IDLE).explain("victim")
}

#[test]
fn the_time_behind_the_end_of_a_thread_is_not_stolen() {
    let planner = rt("planner", 40, 90);
    let explained = behind(true);
    assert!(charged_to(explained.worst(), Cause::IrqsDisabled, planner) >= Ns::from_us(7_000));
    assert_eq!(
        (explained.worst().verdict.cause, explained.worst().verdict.confidence),
        (Cause::IrqsDisabled, Confidence::Low)
    );
    assert!(explained.finding("stolen").is_none(), "{:?}", explained.codes());
    assert!(behind(false).finding("stolen").is_some());
}

#[test]
fn between_rows_of_a_cpu_without_a_switch_a_text_shows_no_work() {
    let flags = ContextFlags::default();
    let options = Options { tasks: vec![Select::Tid(Tid(VICTIM.tid))], ..Options::default() };
    // A thread is seen twice, 9 s apart; whether its CPU ever switches is all that differs.
    let seen_twice = |scene: Scene, shows_switch: bool| {
        let scene = scene.cpu(1).at(0).unseen_switch_to(VICTIM).sign(flags).at(9_000 * MS).sign(flags);
        let scene = scene.at(9_000 * MS + 3);
        let scene = if shows_switch { scene.sleep(IDLE) } else { scene.sign(flags) };
        let scene = scene.cpu(0).at(9_000 * MS + 5).run(fair("other", 21));
        let ledger = scene.explain_with(&options).only().ledger.clone();
        ledger.into_iter().max_by_key(Segment::length).map(|longest| longest.cause)
    };
    assert_eq!(seen_twice(Scene::new(), false), Some(Cause::Unexplained));
    assert_eq!(seen_twice(Scene::new(), true), Some(Cause::OwnWork));
    // The buffers of a recording have all rows.
    let file = Scene::new().file_with(KindSet::of(&[Kind::Switch]));
    assert_eq!(seen_twice(file, false), Some(Cause::OwnWork));
}
