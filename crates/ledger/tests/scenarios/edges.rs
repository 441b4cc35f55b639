//! Wake-ups that race with sleeping, names that change, options.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{ContextFlags, EventKind};
use whylate_ledger::{Cause, Judge, Options, Select};

const VICTIM: Thread = rt("victim", 10, 80);

#[test]
fn a_wake_up_may_begin_before_the_thread_is_off_the_cpu() {
    let waker = fair("waker", 40);
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .run(waker)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .cpu(2)
        .at(150)
        .waking(VICTIM, 1)
        .cpu(1)
        .at(152)
        .sleep(IDLE)
        .cpu(2)
        .at(153)
        .wakeup(VICTIM, 1)
        .cpu(1)
        .at(157)
        .run(VICTIM)
        .at(200)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 2);
    assert_eq!(activations[0].done, Some(Ns::from_us(152)));
    let second = activations[1];
    assert_eq!((second.due, second.woken), (Ns::from_us(150), Some(Ns::from_us(153))));
    // Still on the CPU, then on the way to the runqueue, then on it.
    assert_charges(second, &[(Cause::OwnWork, 2 + 43), (Cause::IdleExit, 5)]);
}

#[test]
fn a_wake_up_of_a_thread_that_is_awake_is_nothing() {
    let waker = fair("waker", 40);
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .run(waker)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .cpu(2)
        .at(150)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(200)
        .sleep(IDLE)
        .at(1_000)
        .timer_wakes(VICTIM)
        .at(1_005)
        .run(VICTIM)
        .at(1_100)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 2);
    assert_charges(activations[0], &[(Cause::Dispatch, 5), (Cause::OwnWork, 95)]);
    assert_eq!(activations[1].due, Ns::from_ms(1));
    assert_charges(activations[1], &[(Cause::Dispatch, 5), (Cause::OwnWork, 95)]);
}

#[test]
fn without_wake_up_events_a_thread_is_due_when_it_runs() {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(VICTIM)
        .at(100)
        .sleep(IDLE)
        .at(1_000)
        .run(VICTIM)
        .at(1_100)
        .sleep(IDLE)
        .explain("victim");
    let second = explained.in_order()[1];
    assert_eq!((second.due, second.running), (Ns::from_ms(1), Some(Ns::from_ms(1))));
    assert_charges(second, &[(Cause::OwnWork, 100)]);
}

/// A peer that is preempted after 100 ms, and one that holds the CPU until it sleeps.
#[test]
fn an_equal_that_gives_way_takes_turns() {
    const PEER: Thread = rt("peer", 20, 80);
    let behind = |preempts: fn(Scene) -> Scene| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(VICTIM);
        let scene = preempts(scene.at(105).run(VICTIM).at(150));
        scene.run(VICTIM).at(201_000).sleep(IDLE).explain("victim").only().verdict.why.clone()
    };
    let turns = "threads of this priority take turns (SCHED_RR, or sched_yield)";
    let takes_turns = behind(|scene| scene.timer_wakes(PEER).at(100_105).run(PEER).at(200_105));
    assert!(
        takes_turns.contains("peer:20 (rt 80) has the same priority") && takes_turns.contains(turns),
        "{takes_turns}"
    );
    let holds = behind(|scene| scene.timer_wakes(PEER).at(100_105).run(PEER).at(200_105).sleep(IDLE));
    assert!(holds.contains("a FIFO thread is not preempted"), "{holds}");
}

#[test]
fn a_yield_to_an_equal_is_a_wait_like_any_other() {
    let peer = rt("peer", 20, 80);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(150)
        .timer_wakes(peer)
        .at(200)
        .run(peer)
        .at(1_200)
        .sleep(VICTIM)
        .at(1_300)
        .sleep(IDLE)
        .explain("victim");
    assert_charges(
        explained.only(),
        &[(Cause::Dispatch, 5), (Cause::OwnWork, 95 + 100), (Cause::EqualPriorityTask, 1_000)],
    );
    assert_blames(explained.only(), Cause::EqualPriorityTask, Some(peer));
}

fn renamed() -> Scene {
    let before = Thread { name: "python3", ..VICTIM };
    Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(before)
        .at(105)
        .run(before)
        .at(200)
        .sleep(IDLE)
        .at(10 * MS)
        .timer_wakes(VICTIM)
        .at(10 * MS + 5)
        .run(VICTIM)
        .at(10 * MS + 400)
        .sleep(IDLE)
}

#[test]
fn a_renamed_thread_keeps_its_names_apart_and_is_summed_as_one() {
    let explained =
        renamed().explain_with(&Options { tasks: vec![Select::Tid(Tid(10))], ..Options::default() });
    let names: Vec<&str> = explained.in_order().iter().map(|activation| activation.comm.as_str()).collect();
    assert_eq!(names, ["python3", "victim"]);
    assert_eq!(explained.0.tasks.len(), 1);
    assert_eq!((explained.0.tasks[0].comm.as_str(), explained.0.tasks[0].activations), ("victim", 2));
}

#[test]
fn a_renamed_thread_is_selected_by_its_new_name() {
    let explained = renamed().explain("victim");
    assert_eq!(explained.worst().response(), Ns::from_us(400));
    assert!(explained.0.activations.iter().all(|activation| activation.comm.as_str() == "victim"));
}

#[test]
fn a_thread_that_executes_and_exits_is_selected_by_the_name_of_its_program() {
    let (shell, ls) = (fair("bash", 20), fair("ls", 20));
    let of = |name: &str| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).wake(shell, 1);
        let scene = scene.at(105).run(shell).at(200).exec(ls);
        let scene = scene.at(900).event(EventKind::Exit { tid: Tid(20) }).at(1_000).die(IDLE);
        scene.explain(name).0.activations
    };
    let activations = of("ls");
    assert_eq!(activations.len(), 1);
    assert_eq!((activations[0].comm.as_str(), activations[0].done), ("ls", Some(Ns::from_us(900))));
    assert!(of("bash").is_empty());
}

#[test]
fn the_start_of_a_program_is_shown_and_is_not_the_worst_news() {
    let shell = rt("shell", 10, 80);
    let hog = rt("hog", 20, 90);
    let scene = || {
        let scene = Scene::new().cpu(1).at(0).run(hog).at(10).wake(shell, 1).at(2_000).sleep(shell);
        (1..=6).fold(scene.at(2_100).exec(VICTIM).at(9_000).sleep(IDLE), |scene, n| {
            let due = n * 10 * MS;
            scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 100 + n).sleep(IDLE)
        })
    };
    let options = |worst: usize| Options {
        tasks: vec![Select::Comm("victim".into())],
        deadline: Some(Ns::from_us(200)),
        worst,
        ..Options::default()
    };
    let explained = scene().explain_with(&options(10));
    let last = explained.0.activations.last().expect("activations");
    assert!(last.starts_program && last.response() == Ns::from_us(8_990), "{last:?}");
    assert_eq!(explained.0.activations.iter().filter(|activation| activation.starts_program).count(), 1);
    let task = &explained.0.tasks[0];
    assert_eq!(task.response.map(|spread| spread.max), Some(Ns::from_us(106)));
    assert_eq!(task.activations, 7);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
    // It keeps its place where others are worse.
    assert!(scene().explain_with(&options(3)).0.activations[2].starts_program);
    let one = scene().explain_with(&options(1));
    assert!(!one.only().starts_program, "{:?}", one.only());
}

#[test]
fn only_the_worst_are_kept_and_all_are_counted() {
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..20 {
        let start = n * MS + 100;
        scene = scene.at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM).at(start + 50 + n).sleep(IDLE);
    }
    let options = Options { worst: 3, deadline: Some(Ns::from_us(60)), ..Options::default() };
    let explained = scene.explain_with(&options);
    let responses: Vec<Ns> = explained.0.activations.iter().map(|activation| activation.response()).collect();
    assert_eq!(responses, [Ns::from_us(69), Ns::from_us(68), Ns::from_us(67)]);
    assert_eq!(explained.0.tasks[0].activations, 20);
    let missed = explained.finding("deadline-missed").expect("a finding");
    assert!(missed.title.contains("9 of 20"), "{}", missed.title);
}

#[test]
fn an_interrupt_cuts_the_lane_below_it_in_two() {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .irq(24, "eth0")
        .at(130)
        .irq_exit(24)
        .at(200)
        .sleep(IDLE)
        .explain("victim");
    let [track] = explained.only().tracks.as_slice() else { panic!("{:?}", explained.only().tracks) };
    let slices: Vec<(i64, i64)> = track.slices.iter().map(|slice| (slice.start.0, slice.end.0)).collect();
    assert_eq!(track.cpu, Cpu(1));
    assert_eq!(slices, [(100_000, 105_000), (105_000, 110_000), (110_000, 130_000), (130_000, 200_000)]);
}

#[test]
fn an_empty_trace_has_nothing_to_say() {
    let explained = Scene::new().explain_with(&Options::default());
    assert!(
        explained.0.tasks.is_empty() && explained.0.activations.is_empty() && explained.0.findings.is_empty()
    );
}

#[test]
fn a_verdict_on_the_latency_looks_no_further_than_the_first_run() {
    let (before, after) = (rt("before", 20, 90), rt("after", 21, 91));
    let judged = |judge| {
        let explained = Scene::new()
            .cpu(1)
            .at(0)
            .run(before)
            .at(100)
            .timer_wakes(VICTIM)
            .at(200)
            .sleep(VICTIM)
            .at(250)
            .timer_wakes(after)
            .run(after)
            .at(750)
            .sleep(VICTIM)
            .at(800)
            .sleep(IDLE)
            .explain_with(&Options {
                tasks: vec![Select::Comm("victim".into())],
                judge,
                ..Options::default()
            });
        explained.only().clone()
    };
    let response = judged(Judge::Response);
    assert_charges(&response, &[(Cause::HigherPriorityTask, 100 + 500), (Cause::OwnWork, 50 + 50)]);
    assert_blames(&response, Cause::HigherPriorityTask, Some(after));
    let latency = judged(Judge::Latency);
    assert_eq!(latency.ledger, response.ledger);
    assert_blames(&latency, Cause::HigherPriorityTask, Some(before));
    assert_eq!((latency.verdict.charged, latency.verdict.share), (Ns::from_us(100), 1.0));
}

#[test]
fn a_program_that_ran_once_is_listed_behind_threads_with_periods() {
    let job = rt("job", 20, 40);
    let listed = |works: i64| {
        let scene = (0..3).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
            let due = n * 100 * MS + 1_000;
            scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 100).sleep(IDLE)
        });
        let scene =
            scene.at(300 * MS).wake(job, 1).at(300 * MS + 5).run(job).at(300 * MS + works).sleep(IDLE);
        let explained = scene.explain_with(&Options::default());
        explained.0.tasks.iter().map(|task| task.comm.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(50 * MS), ["victim", "job"]);
}

/// A thread is born, pins itself, loses the CPU to another one for 4 ms, becomes real-time, and then has its periods.
fn rises_after(hog: Thread, selected: bool) -> Explained {
    let born = fair("victim", 10);
    let scene = Scene::new().cpu(1).at(0).run(fair("main", 30)).at(100).wake(born, 1).at(110).sleep(born);
    let scene = scene.at(200).call(sys::SCHED_SETAFFINITY, [0, 8, 0]).at(210).ret(sys::SCHED_SETAFFINITY);
    let scene = scene.at(300).wake(hog, 1).at(310).run(hog).at(4_310).sleep(born);
    let scene = scene.at(4_320).call(sys::SCHED_SETSCHEDULER, [0, 1, 0]).ret(sys::SCHED_SETSCHEDULER);
    let scene = scene.unseen_switch_to(VICTIM).at(4_400).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    let scene = (1..=6).fold(scene, |scene, n| {
        let due = n * 10 * MS;
        let scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene.at(due + 100 + n).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE)
    });
    let tasks = if selected { vec![Select::Comm("victim".into())] } else { Vec::new() };
    scene.explain_with(&Options { tasks, ..Options::default() })
}

#[test]
fn how_long_a_thread_took_to_become_real_time_is_not_the_worst_news() {
    let fair_hog = fair("hog", 20);
    let by_default = rises_after(fair_hog, false);
    assert_eq!(by_default.0.tasks[0].activations, 6);
    assert!(by_default.0.findings.is_empty(), "{:?}", by_default.codes());
    let asked_for = rises_after(fair_hog, true);
    assert!(asked_for.0.activations.last().expect("activations").starts_program);
    assert_eq!(asked_for.0.tasks[0].response.map(|spread| spread.max), Some(Ns::from_us(106)));
    // Unless it is what kept it from its work.
    let stuck = rises_after(rt("hog", 20, 40), false);
    assert!(stuck.finding("pinned-before-priority").is_some(), "{:?}", stuck.codes());
}

#[test]
fn the_end_of_a_program_by_its_own_call_is_not_the_worst_news() {
    let ended_by = |calls: bool| {
        let scene = (1..=6).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
            let due = n * 10 * MS;
            let scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
            scene.at(due + 100 + n).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE)
        });
        let scene =
            scene.at(70 * MS).timer_wakes(VICTIM).at(70 * MS + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        let scene = if calls { scene.at(76 * MS).call(sys::EXIT_GROUP, [0, 0, 0]) } else { scene };
        let scene = scene.at(76 * MS + 500).event(EventKind::Exit { tid: Tid(VICTIM.tid) });
        scene.at(76 * MS + 600).die(IDLE).explain("victim")
    };
    let explained = ended_by(true);
    let last = explained.0.activations.last().expect("activations");
    assert!(last.ends_program && last.response() == Ns::from_us(6_500), "{last:?}");
    assert_eq!(explained.0.tasks[0].response.map(|spread| spread.max), Some(Ns::from_us(106)));
    // A signal ends what goes on for too long.
    let killed = ended_by(false);
    assert!(!killed.0.activations[0].ends_program);
    assert_eq!(killed.0.activations[0].response(), Ns::from_us(6_500));
}

/// The recording begins inside of an interrupt's handler, and of a softirq below it.
fn begins_in_handlers() -> Scene {
    let soft = ContextFlags::SOFTIRQ;
    let scene = Scene::new().cpu(1).at(0).sign(soft | ContextFlags::HARDIRQ);
    let hard = |scene: Scene, kind| scene.event_with(soft | ContextFlags::HARDIRQ, kind);
    let scene = hard(scene.at(10), EventKind::Waking(Scene::wake_event(VICTIM, 1)));
    let scene = hard(scene.at(12), EventKind::Wakeup { wake: Scene::wake_event(VICTIM, 1), new: false });
    hard(scene.at(300), EventKind::IrqExit { irq: 9 })
}

#[test]
fn a_handler_that_was_entered_before_the_recording_has_the_cpu_until_its_exit() {
    let scene = begins_in_handlers().at(350).event_with(ContextFlags::SOFTIRQ, EventKind::Other);
    let scene = scene.at(800).event_with(ContextFlags::SOFTIRQ, EventKind::SoftirqExit { vec: 3 });
    let explained = scene.at(805).run(VICTIM).at(900).sleep(IDLE).explain("victim");
    let worst = explained.worst();
    let charged = |cause| -> i64 {
        let of = worst.ledger.iter().filter(|segment| segment.cause == cause);
        of.map(|segment| segment.length().0 / 1_000).sum()
    };
    assert_eq!((charged(Cause::Irq), charged(Cause::Softirq)), (290, 500), "{:?}", worst.ledger);
}

/// An event of the thread comes between: the interrupt whose exit follows began later, and nothing shows when.
#[test]
fn a_handler_whose_beginning_is_not_bounded_is_not_charged() {
    let thread = ContextFlags::default();
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::HARDIRQ).at(5).sign(thread);
    let scene = scene.at(10).wake(VICTIM, 1).at(300);
    let scene = scene.event_with(ContextFlags::HARDIRQ, EventKind::IrqExit { irq: 9 });
    let explained = scene.at(305).run(VICTIM).at(400).sleep(IDLE).explain("victim");
    let worst = explained.worst();
    assert!(worst.ledger.iter().all(|segment| segment.cause != Cause::Irq), "{:?}", worst.ledger);
}

/// The exits alone are recorded: of two in a row only the first is known to have lasted since the beginning.
#[test]
fn an_exit_without_any_entry_is_charged_once() {
    let scene = begins_in_handlers().at(320);
    let scene = scene.event_with(ContextFlags::HARDIRQ, EventKind::IrqExit { irq: 10 });
    let explained = scene.at(330).run(VICTIM).at(400).sleep(IDLE).explain("victim");
    let irqs = explained.worst().ledger.iter().filter(|segment| segment.cause == Cause::Irq);
    let time: i64 = irqs.map(|segment| segment.length().0 / 1_000).sum();
    assert!((290..=310).contains(&time), "{time}");
}

#[test]
fn a_thread_that_is_being_woken_was_asleep_before_it_was_first_seen() {
    // Another thread gives way, or an interrupt goes on, from the waking to the runqueue.
    let scene = Scene::new().cpu(1).at(0).run(fair("app", 30)).at(100).waking(VICTIM, 1).at(103);
    let scene = scene.wakeup(VICTIM, 1).at(108).run(VICTIM).at(200).sleep(IDLE);
    assert_charges(scene.explain("victim").only(), &[(Cause::Dispatch, 8), (Cause::OwnWork, 92)]);
    // Not where events of that time were lost.
    let scene = Scene::new().cpu(1).at(0).run(fair("app", 30)).at(100).waking(VICTIM, 1).at(50_000).lose();
    let explained = scene.at(50_100).run(VICTIM).at(50_200).sleep(IDLE).explain("victim");
    assert!(explained.worst().ledger.iter().all(|segment| segment.cause != Cause::Dispatch));
}
