//! A thread waits on one CPU and runs on another, and its migration was not recorded.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt};
use whylate_base::Confidence;
use whylate_events::ContextFlags;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 50);
const FIRST: Thread = rt("first", 20, 80);
const OTHER: Thread = fair("other", 30);
const STOPPER: Thread = rt("migration/1", 19, 99);

/// The victim is woken on CPU 1, where `runs` has the CPU, and CPU 2 idles.
fn woken_behind(runs: Thread, victim: Thread) -> Scene {
    Scene::new()
        .cpu(1)
        .at(0)
        .run(runs)
        .cpu(2)
        .at(100)
        .run(OTHER)
        .at(200)
        .sleep(IDLE)
        .cpu(1)
        .at(MS)
        .wake(victim, 1)
}

#[test]
fn it_waits_where_it_was_woken_until_it_runs() {
    let scene = woken_behind(FIRST, VICTIM).cpu(2).at(4 * MS).run(VICTIM).at(4 * MS + 100).sleep(IDLE);
    let explained = scene.cpu(1).at(6 * MS).sleep(IDLE).explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 3 * MS), (Cause::OwnWork, 100)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(FIRST));
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
    assert!(activation.verdict.why.contains("held CPU 1 for"), "{}", activation.verdict.why);
}

#[test]
fn a_thread_without_real_time_priority_as_well() {
    let victim = fair("victim", 10);
    let scene =
        woken_behind(fair("long", 21), victim).cpu(2).at(4 * MS).run(victim).at(4 * MS + 100).sleep(IDLE);
    let explained = scene.explain("victim");
    assert_blames(explained.only(), Cause::FairQueue, Some(fair("long", 21)));
    assert_eq!(explained.only().verdict.confidence, Confidence::Medium);
}

#[test]
fn it_has_left_a_cpu_that_idles_or_runs_what_comes_later() {
    for next in [IDLE, OTHER] {
        let scene = woken_behind(FIRST, VICTIM).at(2 * MS).sleep(next).cpu(2).at(4 * MS).run(VICTIM);
        let explained = scene.at(4 * MS + 100).sleep(IDLE).explain("victim");
        let expected = [(Cause::HigherPriorityTask, MS), (Cause::Unexplained, 2 * MS), (Cause::OwnWork, 100)];
        assert_charges(explained.only(), &expected);
    }
}

#[test]
fn a_cpu_that_switches_from_idle_to_it_was_idle_since_it_was_queued() {
    // The first event of CPU 2 is the switch; it is from idle, or from another thread.
    for (first, cause) in [(IDLE, Cause::IdleExit), (OTHER, Cause::Unexplained)] {
        let scene = Scene::new().cpu(1).at(0).run(FIRST).at(MS).wake(VICTIM, 2).cpu(2).at(MS + 120);
        let scene = if first == IDLE { scene } else { scene.unseen_switch_to(first) };
        let explained = scene.run(VICTIM).at(2 * MS).sleep(IDLE).explain("victim");
        assert_charges(explained.only(), &[(cause, 120), (Cause::OwnWork, 880)]);
    }
}

#[test]
fn a_cpu_whose_first_event_is_of_its_idle_task_was_idle_since_it_was_queued() {
    // The interrupt that wakes the CPU, and which the recording has no type for: it is to yield already.
    let to_yield = ContextFlags::NEED_RESCHED | ContextFlags::IRQS_OFF;
    let scene = Scene::new().cpu(1).at(0).run(FIRST).at(MS).wake(VICTIM, 2).cpu(2);
    let scene = scene.at(MS + 800).sign(to_yield);
    let explained = scene.at(MS + 850).run(VICTIM).at(2 * MS).sleep(IDLE).explain("victim");
    assert_charges(explained.only(), &[(Cause::IdleExit, 850), (Cause::OwnWork, 150)]);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn a_thread_is_on_no_queue_until_the_stopper_has_moved_it() {
    let scene = Scene::new().cpu(1).at(0).run(FIRST).cpu(2).at(100).run(OTHER);
    let scene = scene.cpu(1).at(MS).wake(VICTIM, 1).at(MS + 10).sleep(VICTIM).at(MS + 100).run(STOPPER);
    let scene = scene.at(MS + 110).migrate(VICTIM, 1, 2).cpu(2).at(MS + 300).sleep(IDLE);
    let scene = scene.cpu(1).at(3 * MS).sleep(IDLE).cpu(2).at(3 * MS + 20).run(VICTIM);
    let explained = scene.at(3 * MS + 100).sleep(IDLE).explain("victim");
    let expected = [
        (Cause::HigherPriorityTask, 10),
        (Cause::StopTask, 10),
        (Cause::Migration, 2 * MS - 110),
        (Cause::IdleExit, 20),
        (Cause::OwnWork, 90 + 80),
    ];
    assert_charges(explained.only(), &expected);
    assert!(
        explained.finding("rt-throttled").is_none() && explained.finding("coarse-clock-throttled").is_none()
    );
}
