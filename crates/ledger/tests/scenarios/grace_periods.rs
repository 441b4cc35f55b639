//! Waits for a grace period of RCU: no thread holds what ends there.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContentionFlags, TaskState};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("control", 10, 60);
const HOG: Thread = rt("hog", 30, 30);
const RCUC: Thread = rt("rcuc/1", 19, 1);
const RCU_THREAD: Thread = fair("rcu_preempt", 17);
const WRITE: i64 = 1;
const RCU: u32 = 9;

/// After its own timer at 1 ms the thread sleeps in write(2) from 1.2 ms on, as `before` leaves it; `after` wakes it from 9 ms on.
fn writes(before: impl Fn(Scene) -> Scene, next: Thread, after: impl Fn(Scene) -> Scene) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let scene = scene.at(20).sleep(RCUC).at(50).sleep(IDLE);
    let scene = scene.at(MS).timer_wakes(VICTIM).at(MS + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
    let scene = before(scene.at(MS + 190).call(WRITE, [3, 0, 1])).at(MS + 200);
    let scene = after(scene.switch_as(TaskState::Uninterruptible, next)).at(9 * MS + 50).run(VICTIM);
    let scene = scene.at(9 * MS + 60).ret(WRITE).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    scene.at(9 * MS + 70).sleep(IDLE).explain("control")
}

fn late(explained: &Explained) -> &Activation {
    explained.in_order().last().expect("an activation")
}

fn percpu(scene: Scene) -> Scene {
    scene.contend_as(0xff00, ContentionFlags::PERCPU)
}

/// RCU's thread runs the callback that wakes it.
fn by_thread(scene: Scene) -> Scene {
    scene.at(9 * MS).wake(RCUC, 1).at(9 * MS + 5).run(RCUC).at(9 * MS + 30).wake(VICTIM, 1)
}

fn by_softirq(scene: Scene) -> Scene {
    scene.at(9 * MS).softirq(RCU).at(9 * MS + 20).wake(VICTIM, 1).at(9 * MS + 22).softirq_exit(RCU)
}

#[test]
fn the_end_of_a_grace_period_accuses_no_thread() {
    type Part = fn(Scene) -> Scene;
    let cases: [(Part, Part); 4] =
        [(percpu, by_thread), (percpu, by_softirq), (|scene| scene, by_thread), (|scene| scene, by_softirq)];
    for (before, after) in cases {
        let explained = writes(before, IDLE, after);
        let activation = late(&explained);
        assert_blames(activation, Cause::OwnWait, None);
        assert_eq!(activation.verdict.confidence, Confidence::High);
        assert!(
            activation.verdict.why.contains("write for a grace period of RCU"),
            "{}",
            activation.verdict.why
        );
        assert!(activation.verdict.fix.iter().any(|fix| fix.text.contains("cgroup.procs")));
        assert!(explained.finding("lock-wait").is_none());
    }
}

/// On PREEMPT_RT RCU's callbacks take locks, for which other threads wait.
#[test]
fn a_lock_of_another_kind_that_a_thread_of_rcu_lets_go_was_held_by_it() {
    let explained = writes(|scene| scene.contend(0xff00), RCUC, |scene| scene.at(9 * MS).wake(VICTIM, 1));
    assert_blames(late(&explained), Cause::LockWait, Some(RCUC));
}

#[test]
fn a_thread_that_keeps_those_of_rcu_off_the_cpu_is_what_takes_long() {
    // The hog has the CPU while the thread that runs the grace periods is runnable.
    let after = |scene: Scene| {
        let scene = scene.at(2 * MS).wake(RCU_THREAD, 1).at(8 * MS).sleep(RCU_THREAD);
        scene
            .at(8 * MS + 100)
            .sleep(IDLE)
            .at(9 * MS)
            .softirq(RCU)
            .at(9 * MS + 20)
            .wake(VICTIM, 1)
            .at(9 * MS + 22)
            .softirq_exit(RCU)
    };
    let explained = writes(percpu, HOG, after);
    let activation = late(&explained);
    assert_blames(activation, Cause::SoftirqDeferred, Some(HOG));
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
    assert_eq!(charged_to(activation, Cause::SoftirqDeferred, HOG), Ns::from_us(6_000));
    assert!(activation.verdict.why.contains("rcu_preempt:17"), "{}", activation.verdict.why);
    assert!(activation.verdict.fix.iter().all(|fix| !fix.text.contains("napi")));
    let title = &explained.finding("softirq-deferred").expect("a finding").title;
    assert!(title.ends_with("the end of a grace period of RCU deferred"), "{title}");
}
