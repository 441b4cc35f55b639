//! Jobs that last longer than a period, and periods that are left out behind them.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, rt, sys};
use whylate_base::{Ns, Severity};
use whylate_events::ContextFlags;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 80);
const TIMER: u64 = 0xffff_8881_0000_0000;

/// The victim works from 105 us on.
fn working() -> Scene {
    let idle = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    idle.at(100).timer_wakes(VICTIM).at(105).run(VICTIM)
}

/// The next period began at 1000 us, and the thread was still at work until 1200.
fn overrun() -> Scene {
    working().at(1_200).arm(TIMER, 1_000)
}

#[test]
fn a_period_that_began_before_the_last_one_was_done_is_late_by_the_overrun() {
    let explained = overrun()
        .at(1_201)
        .sleep(IDLE)
        .at(1_203)
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .at(1_205)
        .run(VICTIM)
        .at(1_300)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 2);
    assert_eq!(activations[0].done, Some(Ns::from_us(1_201)));
    let second = activations[1];
    assert_eq!((second.due, second.running), (Ns::from_us(1_000), Some(Ns::from_us(1_205))));
    assert_charges(second, &[(Cause::OwnWork, 201 + 95), (Cause::Dispatch, 2), (Cause::IdleExit, 2)]);
}

/// Twenty periods of 10 ms with 0.1 ms of work each; the next job goes on for 25 ms, and two periods then wait for it.
fn backlog() -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..20 {
        let due = n * 10 * MS + 100;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 105).sleep(IDLE);
    }
    let due = 200 * MS + 100;
    scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
    for (n, begun) in [(1, due + 25 * MS), (2, due + 25 * MS + 110)] {
        scene = scene.at(begun).arm(TIMER, due + n * 10 * MS).at(begun + 1).sleep(IDLE).at(begun + 3);
        scene = scene.fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(begun + 5).run(VICTIM);
    }
    scene.at(due + 25 * MS + 220).sleep(IDLE).explain("victim")
}

#[test]
fn what_a_job_that_catches_up_waited_for_is_the_job_before() {
    let explained = backlog();
    let [.., long, first, second] = explained.in_order()[..] else { panic!("too few activations") };
    for (late, before) in [(first, "15.00 ms"), (second, "5.11 ms")] {
        assert_blames(late, Cause::OwnWork, None);
        let why = &late.verdict.why;
        let begins = "victim (rt 80) was still at the job before when this one was due, for ";
        assert!(why.starts_with(&format!("{begins}{before}")) && why.contains("it then ran for 10"), "{why}");
        assert!(late.verdict.fix[0].text.starts_with("look at the activation before"));
    }
    let long = &long.verdict.why;
    assert!(long.starts_with("victim (rt 80) itself ran for 25.00 ms"), "{long}");
}

/// The CPU was idle then by rights: no timer was armed.
#[test]
fn an_overrun_that_slept_in_the_middle_of_its_work_is_no_theft() {
    let explained = working()
        .at(200)
        .block(IDLE)
        .at(5_000)
        .irq(11, "vda")
        .wake(VICTIM, 1)
        .irq_exit(11)
        .at(5_005)
        .run(VICTIM)
        .at(5_020)
        .arm(TIMER, 2_000)
        .at(5_025)
        .sleep(IDLE)
        .at(5_030)
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .at(5_035)
        .run(VICTIM)
        .at(5_100)
        .sleep(IDLE)
        .explain("victim");
    let second = explained.in_order()[1];
    assert_eq!((second.due, second.running), (Ns::from_us(2_000), Some(Ns::from_us(5_035))));
    assert_blames(second, Cause::BlockIo, None);
    assert!(explained.finding("stolen").is_none());
}

#[test]
fn a_timer_that_fires_before_the_thread_is_off_the_cpu_begins_the_next_period_at_once() {
    let explained =
        overrun().at(1_201).fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(1_300).sleep(IDLE).explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 2);
    assert_eq!(activations[0].done, Some(Ns::from_us(1_201)));
    let second = activations[1];
    assert_eq!((second.due, second.running), (Ns::from_us(1_000), Some(Ns::from_us(1_201))));
    assert_charges(second, &[(Cause::OwnWork, 300)]);
}

/// A thread with periods of 20 ms until instants: in the sixth it waits for input for 90 ms, and goes on with the period at `next`.
fn waits_for_input(next: i64) -> Explained {
    let victim = rt("victim", 10, 50);
    let mut scene = Scene::new().cpu(1);
    let (mut due, mut now) = (0, 0);
    for period in 0..8 {
        let to = if period == 5 { next } else { due + 20 * MS };
        let start = now.max(due) + 100;
        scene = scene.at(start).timer_wakes(victim).at(start + 5).run(victim).at(start + 50);
        now = start + 60;
        if period == 5 {
            scene = scene.call(sys::READ, [0, 0, 0]).at(now).sleep(IDLE).at(due + 90 * MS).irq(11, "eth0");
            scene = scene.wake(victim, 1).irq_exit(11).at(due + 90 * MS + 5).run(victim).ret(sys::READ);
            now = due + 90 * MS + 20;
        }
        scene = scene
            .at(now + 2)
            .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
            .arm(0xffff_000a, to)
            .at(now + 4)
            .sleep(IDLE);
        due = to;
    }
    scene.explain("victim")
}

#[test]
fn periods_that_are_left_out_are_a_hint() {
    let explained = waits_for_input(200 * MS);
    let finding = explained.finding("periods-left-out").expect("a hint");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.title.contains("victim:10 left out 4 periods of 20.00 ms"), "{}", finding.title);
    assert_eq!(finding.evidence[0].at, Some(Ns::from_us(100 * MS)));
    // It makes up for what it was late by.
    assert!(waits_for_input(120 * MS).finding("periods-left-out").is_none());
}

/// Twenty periods of 10 ms with 0.1 ms of work each, but the third works for 25 ms. The calls to sleep until the two instants that have
/// passed by then return at once, as from 7.0 on. Without `timers`, only the calls are recorded.
fn calls_return_at_once(timers: bool) -> Explained {
    let until = |scene: Scene, due: i64| {
        let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        if timers { scene.arm(TIMER, due) } else { scene }
    };
    let mut done = 10;
    let mut scene = until(Scene::new().cpu(1).at(0).run(VICTIM).at(done), 10 * MS);
    for n in 1..=20 {
        let due = n * 10 * MS;
        let begun = if due < done { done + 2 } else { due + 5 };
        if due >= done {
            scene = scene.at(done + 3).sleep(IDLE).at(due);
            scene = match timers {
                true => scene.fire(TIMER).wake(VICTIM, 1).fired(TIMER),
                false => scene.vector("local_timer").wake(VICTIM, 1).vector_exit("local_timer"),
            };
            scene = scene.at(begun).run(VICTIM);
        }
        done = begun + if n == 3 { 25 * MS } else { 100 };
        scene = until(scene.at(begun).ret(sys::CLOCK_NANOSLEEP).at(done), due + 10 * MS);
    }
    scene.at(done + 3).sleep(IDLE).explain_all("victim")
}

#[test]
fn a_sleep_until_an_instant_that_has_passed_begins_the_next_period_without_a_switch() {
    for timers in [true, false] {
        let explained = calls_return_at_once(timers);
        let all: Vec<_> =
            explained.in_order().into_iter().filter(|one| one.due >= Ns::from_us(10 * MS)).collect();
        assert_eq!(all.len(), 20, "{all:?}");
        let at = |us: i64| Ns::from_us(us);
        let (long, first, second) = (all[2], all[3], all[4]);
        assert_eq!((long.due, long.done), (at(30 * MS), Some(at(55 * MS + 5))));
        // Without timers, no event shows until when it was to sleep.
        let due = |instant: i64, called: i64| at(if timers { instant } else { called });
        assert_eq!((first.due, first.done), (due(40 * MS, 55 * MS + 5), Some(at(55 * MS + 107))));
        assert_eq!((second.due, second.done), (due(50 * MS, 55 * MS + 107), Some(at(55 * MS + 212))));
        let why = &first.verdict.why;
        let is_named = why.starts_with("victim (rt 80) was still at the job before when this one was due");
        assert_eq!(is_named, timers, "{why}");
    }
}
