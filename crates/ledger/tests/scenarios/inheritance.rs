//! Priorities that are inherited, in recordings without the event of that.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt};
use whylate_base::Confidence;
use whylate_events::TaskState;
use whylate_ledger::Cause;

const HIGH: Thread = rt("high", 10, 80);
const MIDDLE: Thread = rt("middle", 20, 50);
const LOW: Thread = rt("low", 30, 10);
const RAISED: Thread = Thread { prio: HIGH.prio, ..LOW };

/// Low has run, and high goes to sleep in the middle of its work at 1.1 ms; then low runs as `low`.
fn sleeps_for(low: Thread) -> Scene {
    let scene = Scene::new().cpu(1).at(0).run(LOW).at(MS).timer_wakes(HIGH).at(MS + 5).run(HIGH);
    scene.at(MS + 100).sleep(low)
}

#[test]
fn a_thread_that_gets_its_priority_while_it_sleeps_holds_its_lock() {
    let scene = sleeps_for(RAISED).at(4 * MS).wake(HIGH, 1).at(4 * MS + 5).unseen_switch_to(LOW);
    let scene = scene.switch_as(TaskState::Runnable, HIGH).at(4 * MS + 100).sleep(LOW);
    let explained = scene.at(5 * MS).sleep(IDLE).explain("high");
    let activation = explained.only();
    assert_blames(activation, Cause::LockWait, Some(RAISED));
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
    assert_eq!(activation.response().0, 3_100_000);
}

#[test]
fn a_thread_that_keeps_its_priority_woke_it_for_its_next_work() {
    let scene = sleeps_for(LOW).at(4 * MS).wake(HIGH, 1).at(4 * MS + 5).run(HIGH).at(4 * MS + 100).sleep(LOW);
    assert_eq!(scene.explain("high").in_order().len(), 2);
}

#[test]
fn what_it_delays_meanwhile_is_delayed_by_a_lock() {
    let scene = sleeps_for(RAISED)
        .at(2 * MS)
        .timer_wakes(MIDDLE)
        .at(4 * MS)
        .wake(HIGH, 1)
        .at(4 * MS + 5)
        .unseen_switch_to(LOW);
    let scene = scene.switch_as(TaskState::Runnable, HIGH).at(4 * MS + 100).sleep(MIDDLE);
    let explained = scene.at(4 * MS + 200).sleep(LOW).at(5 * MS).sleep(IDLE).explain("middle");
    let verdict = &explained.only().verdict;
    assert_blames(explained.only(), Cause::HigherPriorityTask, Some(RAISED));
    assert!(verdict.why.contains("inherited the priority"), "{}", verdict.why);
    let (shown, finding) = ("low:30 (rt 10, raised to rt 80)", explained.finding("higher-priority-task"));
    assert!(verdict.why.starts_with(shown), "{}", verdict.why);
    assert!(verdict.evidence[0].what.starts_with(shown), "{:?}", verdict.evidence);
    assert!(finding.is_some_and(|finding| finding.title.starts_with(shown)));
}

#[test]
fn a_priority_that_it_keeps_beyond_that_sleep_is_its_own() {
    // High has raised it for good, and sleeps.
    let scene =
        sleeps_for(RAISED).at(2 * MS).sleep(IDLE).at(3 * MS).timer_wakes(HIGH).at(3 * MS + 5).run(HIGH);
    let scene = scene.at(3 * MS + 100).sleep(IDLE).at(4 * MS).timer_wakes(RAISED).at(4 * MS + 5).run(RAISED);
    let scene =
        scene.at(6 * MS).sleep(IDLE).at(7 * MS).timer_wakes(RAISED).at(7 * MS + 5).run(RAISED).at(8 * MS);
    let explained = scene.sleep(IDLE).explain("low");
    let last = explained.in_order().last().copied().expect("an activation");
    assert!(last.priority.is_realtime() && last.priority.outranks(whylate_base::Priority::realtime(50)));
}

#[test]
fn a_new_thread_has_its_own() {
    // High starts it with its own priority, and sleeps.
    let new = fair("new", 40);
    let raised = Thread { prio: HIGH.prio, ..new };
    let scene = Scene::new().cpu(1).at(0).run(HIGH).fork(HIGH, new).at(50).wake(new, 1).at(MS).sleep(raised);
    let scene = scene.at(2 * MS).sleep(IDLE).at(3 * MS).timer_wakes(raised).at(3 * MS + 5).run(raised);
    let explained = scene.at(4 * MS).sleep(IDLE).explain("new");
    let last = explained.in_order().last().copied().expect("an activation");
    assert!(last.priority.is_realtime());
    assert_charges(last, &[(Cause::Dispatch, 5), (Cause::OwnWork, 995)]);
}

/// High waits on CPU 0 for a lock of low, which inherits its priority and waits on CPU 1 for a thread of this one.
fn waits_elsewhere(other: Thread) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(LOW).at(900).wake(other, 1).at(905).run(other);
    let scene = scene.cpu(0).at(MS).timer_wakes(HIGH).at(MS + 5).run(HIGH);
    let scene = scene.at(MS + 100).inherit(LOW, LOW, RAISED).at(MS + 102).sleep(IDLE);
    let scene = scene.cpu(1).at(9 * MS).sleep(RAISED).at(9 * MS + 50).inherit(LOW, RAISED, LOW).wake(HIGH, 0);
    let scene = scene.cpu(0).at(9 * MS + 60).run(HIGH).at(9 * MS + 100).sleep(IDLE);
    scene.cpu(1).at(10 * MS).sleep(IDLE).explain("high")
}

#[test]
fn an_owner_that_is_kept_off_another_cpu_is_named_with_its_lock() {
    let other = rt("other", 40, 90);
    let explained = waits_elsewhere(other);
    let activation = explained.only();
    assert_blames(activation, Cause::HigherPriorityTask, Some(other));
    let verdict = &activation.verdict;
    assert!(
        verdict.why.starts_with(
            "high (rt 80) waited for a lock of low:30 (rt 10, raised to rt 80), which other:40 (rt 90) kept off CPU 1 for 7.90 ms"
        ),
        "{}",
        verdict.why
    );
    let first = &verdict.fix[0].text;
    assert!(first.contains("off CPU 1") && first.contains("low:30"), "{first}");
    assert!(verdict.fix.iter().all(|fix| !fix.text.contains("isolate")));
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert!(
        finding.title.contains("it kept low:30 (rt 10, raised to rt 80), which held a lock, off CPU 1"),
        "{}",
        finding.title
    );
    assert_eq!(finding.fix, verdict.fix);
}

#[test]
fn an_owner_that_waits_for_a_thread_of_the_same_priority_is_named_too() {
    let other = rt("other", 40, 80);
    let explained = waits_elsewhere(other);
    assert_blames(explained.only(), Cause::EqualPriorityTask, Some(other));
    let why = &explained.only().verdict.why;
    assert!(
        why.contains("a lock of low:30 (rt 10, raised to rt 80), which other:40 (rt 80) kept off CPU 1"),
        "{why}"
    );
}

#[test]
fn what_else_kept_the_owner_is_about_the_owner() {
    let stopper = rt("migration/1", 40, 99);
    let explained = waits_elsewhere(stopper);
    assert_blames(explained.only(), Cause::StopTask, Some(stopper));
    let why = &explained.only().verdict.why;
    assert!(why.starts_with("high (rt 80) waited for a lock of low:30 (rt 10, raised to rt 80): "), "{why}");
}

#[test]
fn the_locks_of_a_thread_that_runs_softirqs_are_the_kernels() {
    let (ktimers, raised) = (rt("ktimers/1", 19, 1), Thread { prio: HIGH.prio, ..rt("ktimers/1", 19, 1) });
    let scene = Scene::new().cpu(1).at(0).run(ktimers).at(100).timer_wakes(HIGH).at(105).run(HIGH).at(150);
    let scene = scene.inherit(ktimers, ktimers, raised).at(155).sleep(raised).at(1_155).wake(HIGH, 1);
    let scene = scene.inherit(ktimers, raised, ktimers).at(1_160).run(HIGH).at(1_200).sleep(IDLE);
    let explained = scene.explain("high");
    assert_blames(explained.only(), Cause::LockWait, Some(raised));
    let fix = &explained.only().verdict.fix;
    assert!(fix.len() == 1 && fix[0].text.contains("softirqs disabled"), "{fix:?}");
}
