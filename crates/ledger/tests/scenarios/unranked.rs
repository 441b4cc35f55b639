//! Recordings without priorities, as rows of `perf sched timehist`: which of two threads comes first is not known.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges};
use whylate_base::{Confidence, Ns, Priority};
use whylate_events::{ContextFlags, EventKind, TaskState};
use whylate_ledger::{Cause, Trigger};

const VICTIM: Thread = Thread { name: "victim", tid: 10, prio: Priority::UNKNOWN.0 };
const HOG: Thread = Thread { name: "hog", tid: 20, prio: Priority::UNKNOWN.0 };

/// The victim is woken while the other one has the CPU, which keeps it, or gets it once more before the victim.
fn waits(victim: Thread, hog: Thread) -> Scene {
    let scene = Scene::new().cpu(1).at(0).run(hog).at(100).wake(victim, 1);
    let scene = scene.at(5 * MS).sleep(IDLE).at(5 * MS + 10).run(hog);
    scene.at(8 * MS).sleep(victim).at(8 * MS + 200).sleep(IDLE)
}

#[test]
fn a_thread_that_had_the_cpu_is_named_and_not_accused_of_more() {
    let explained = waits(VICTIM, HOG).explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::OtherTask, Some(HOG));
    assert_eq!(worst.verdict.confidence, Confidence::Medium);
    assert!(
        worst.verdict.why.contains("had CPU 1 for 7.89 ms while victim was runnable"),
        "{}",
        worst.verdict.why
    );
    let missing: Vec<_> = explained.0.missing.iter().filter(|missing| missing.is_partial).collect();
    assert_eq!(missing.len(), 1);
    assert!(missing[0].cannot_tell.contains("priorities"), "{}", missing[0].cannot_tell);
}

/// With the priorities of both it is another cause, and with none of them missing nothing is.
#[test]
fn with_priorities_the_relation_is_known() {
    let rt = |thread: Thread, user: i32| Thread { prio: 99 - user, ..thread };
    for (victim, hog, cause) in [
        (rt(VICTIM, 50), rt(HOG, 90), Cause::HigherPriorityTask),
        (rt(VICTIM, 50), rt(HOG, 50), Cause::EqualPriorityTask),
    ] {
        let explained = waits(victim, hog).explain("victim");
        assert_blames(explained.worst(), cause, Some(hog));
        assert!(explained.0.missing.iter().all(|missing| !missing.is_partial));
    }
}

/// One priority alone does not rank two threads.
#[test]
fn the_priority_of_one_of_them_is_not_enough() {
    let explained = waits(Thread { prio: 49, ..VICTIM }, HOG).explain("victim");
    assert_blames(explained.worst(), Cause::OtherTask, Some(HOG));
}

/// The kernel's own path is no thread's fault.
#[test]
fn a_short_time_behind_a_thread_is_dispatch() {
    let scene = Scene::new().cpu(1).at(0).run(HOG).at(100).wake(VICTIM, 1).at(108).run(VICTIM);
    let explained = scene.at(300).sleep(IDLE).explain("victim");
    assert_charges(explained.worst(), &[(Cause::Dispatch, 8), (Cause::OwnWork, 192)]);
}

/// What only states that a thread was woken, and not by what: the thread on the CPU is not its waker, and its CPU is not
/// known to run anything.
#[test]
fn a_bystander_wakes_no_thread() {
    let wake = |scene: Scene| {
        let flags = ContextFlags::IRQS_UNKNOWN | ContextFlags::BYSTANDER;
        scene.event_with(flags, EventKind::Waking(Scene::wake_event(VICTIM, 1)))
    };
    let scene = wake(Scene::new().cpu(1).at(0).run(HOG).at(100));
    let explained = scene.at(2 * MS).run(VICTIM).at(3 * MS).sleep(IDLE).explain("victim");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(100));
    assert_blames(worst, Cause::OtherTask, Some(HOG));
    assert!(!matches!(worst.trigger, Trigger::Thread { .. }), "{:?}", worst.trigger);
}

/// Rows of `trace-cmd report` have neither interrupts nor flags: one may have come upon the thread.
#[test]
fn a_thread_that_had_the_cpu_at_a_wake_up_may_have_been_interrupted() {
    let woken = |rows: fn(Scene) -> Scene| {
        let scene = Scene::new().cpu(1).at(0).run(HOG).at(100).waking(VICTIM, 1).at(2 * MS).run(VICTIM);
        rows(scene.at(3 * MS).sleep(IDLE)).explain("victim").worst().trigger
    };
    let by_row = woken(Scene::without_contexts);
    assert!(matches!(by_row, Trigger::Upon { tid, .. } if tid.0 == HOG.tid), "{by_row:?}");
    let by_flags = woken(|scene| scene);
    assert!(matches!(by_flags, Trigger::Thread { tid, .. } if tid.0 == HOG.tid), "{by_flags:?}");
}

/// The victim is switched out as it was runnable, or woken, and its CPU idles for so long before it runs again.
fn passed_over_for(ms: i64, victim: Thread) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(victim).at(MS).switch_as(TaskState::Runnable, HOG);
    let scene = scene.at(MS + 50).sleep(IDLE).at((1 + ms) * MS).run(victim);
    scene.at((2 + ms) * MS).sleep(IDLE).explain("victim")
}

/// Both limits on CPU time leave a CPU idle, each of threads of another class.
#[test]
fn without_a_priority_either_limit_may_have_stopped_a_thread() {
    let explained = passed_over_for(30, VICTIM);
    let verdict = &explained.worst().verdict;
    assert_blames(explained.worst(), Cause::TimeLimit, None);
    assert_eq!(verdict.confidence, Confidence::Low);
    assert!(verdict.why.contains("RT throttling") && verdict.why.contains("quota"), "{}", verdict.why);
    let fixes = |text: &str| verdict.fix.iter().any(|fix| fix.text.contains(text));
    assert!(fixes("cpu.max") && fixes("sched_rt_runtime_us"), "{:?}", verdict.fix);
    assert!(explained.codes().is_empty(), "{:?}", explained.codes());
    let fair = passed_over_for(30, Thread { prio: 120, ..VICTIM });
    assert_blames(fair.worst(), Cause::CgroupQuota, None);
}

/// By default 950 ms of each second are for real-time threads.
#[test]
fn without_a_priority_fifty_milliseconds_are_a_sign_of_rt_throttling() {
    let explained = passed_over_for(50, VICTIM);
    let verdict = &explained.worst().verdict;
    assert_blames(explained.worst(), Cause::RtThrottled, None);
    assert_eq!(verdict.confidence, Confidence::Low);
    assert!(verdict.why.contains("if it is not, the CPU quota"), "{}", verdict.why);
    assert!(verdict.fix.iter().any(|fix| fix.text.contains("cpu.max")), "{:?}", verdict.fix);
    assert!(explained.codes().is_empty(), "no finding for a guess: {:?}", explained.codes());
    let throttled = passed_over_for(50, Thread { prio: 49, ..VICTIM });
    assert_blames(throttled.worst(), Cause::RtThrottled, None);
    assert!(!throttled.codes().is_empty());
}

/// The first event of a thread on its CPU comes after its wake-up, and shows no priority either.
#[test]
fn a_thread_that_is_found_has_the_priority_of_its_wake_up() {
    let scene = Scene::new().cpu(1).at(100).wake(VICTIM, 1).at(200).wake(HOG, 1).at(300);
    let scene = scene.unseen_switch_to(HOG).sign(ContextFlags::default()).at(5 * MS).sleep(VICTIM);
    let explained = scene.at(5 * MS + 200).sleep(IDLE).explain("victim");
    assert_blames(explained.worst(), Cause::OtherTask, Some(HOG));
}

/// Before it is moved, the thread waits for a CPU that no row names (`timehist -P`).
#[test]
fn a_wait_for_a_cpu_that_is_not_named_is_told_apart() {
    let unknown = whylate_base::Cpu::UNKNOWN.0;
    let woken = Scene::new().cpu(2).at(0).waking(VICTIM, 2).wakeup(VICTIM, unknown);
    let moved = woken.at(8 * MS).migrate(VICTIM, unknown, 2).at(8 * MS + 40).run(VICTIM);
    let explained = moved.at(9 * MS).sleep(IDLE).explain("victim");
    let why = &explained.worst().verdict.why;
    assert!(why.contains("8.00 ms of it for another CPU, before it was moved to CPU 2"), "{why}");
}
