//! Timers of PREEMPT_RT that expire in a thread, where that waits for a lock of the kernel.

use super::support::{IDLE, Scene, Thread, assert_blames, charged_to, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::ContextFlags;
use whylate_ledger::{Activation, Cause};

const KTIMERS: Thread = rt("ktimers/1", 19, 1);
const SENDER: Thread = fair("sender", 20);
const RAISED: Thread = Thread { prio: KTIMERS.prio, ..SENDER };
const URGENT: Thread = rt("urgent", 40, 80);
const TIMER: u64 = 0xffff_8881_0000_0000;
const LOCK: u64 = 0xffff_8880;

/// The sender works with softirqs disabled as the timer of `late` expires, and `ktimers/1` waits for its lock of that. `other` has the CPU
/// from 1 ms on up to this instant (us).
fn waits_for_lock(late: Thread, (other, until): (Thread, i64), inherits: bool) -> Activation {
    let scene = Scene::new().cpu(1).at(10).unseen_switch_to(late).sign(ContextFlags::default());
    let scene = scene.at(20).arm(TIMER, 100).at(25).sleep(SENDER).at(102).vector("local_timer");
    let scene = scene.at(105).wake(KTIMERS, 1).vector_exit("local_timer").at(110).run(KTIMERS);
    let raised = if inherits { RAISED } else { SENDER };
    let inherit = |scene: Scene, old, new| if inherits { scene.inherit(SENDER, old, new) } else { scene };
    let scene = inherit(scene.at(112).contend(LOCK), SENDER, RAISED).at(118).block(raised);
    let scene = scene.at(1_000).timer_wakes(other).at(1_005).run(other).at(until).sleep(raised);
    let scene = inherit(scene.at(5_000), RAISED, SENDER).at(5_005).wake(KTIMERS, 1).at(5_010).run(KTIMERS);
    let scene = scene.at(5_012).acquire(LOCK).softirq(8).at(5_020).fire(TIMER).wake(late, 1).fired(TIMER);
    let scene = scene.at(5_025).softirq_exit(8).at(5_030).sleep(late).at(5_100).sleep(IDLE);
    scene.explain(late.name).worst().clone()
}

#[test]
fn the_owner_of_the_lock_for_which_the_thread_of_timers_waits_is_the_reason() {
    let late = waits_for_lock(fair("late", 10), (URGENT, 1_020), true);
    assert_blames(&late, Cause::LockWait, Some(RAISED));
    assert_eq!(charged_to(&late, Cause::LockWait, RAISED), Ns::from_us(5_005 - 118 - 15));
    let verdict = &late.verdict;
    assert_eq!(verdict.confidence, Confidence::High);
    assert_eq!(
        verdict.why,
        "sender:20 (nice 0, raised to rt 1) held a lock of the kernel for which ktimers/1:19 (rt 1) waited 4.87 ms: \
         ktimers/1:19 (rt 1) runs the timer that wakes late (nice 0)"
    );
    let waited = "ktimers/1:19 (rt 1) waited 3.98 ms for a lock of sender:20";
    assert!(verdict.evidence.iter().any(|seen| seen.what.starts_with(waited)), "{:?}", verdict.evidence);
    assert!(verdict.fix[0].text.contains("a real-time priority above sender:20"), "{:?}", verdict.fix);
    assert!(verdict.fix[1].text.contains("softirqs disabled"), "{:?}", verdict.fix);
}

#[test]
fn a_thread_that_keeps_the_owner_off_its_cpu_is_named_with_both() {
    let (late, hog) = (rt("late", 10, 90), rt("hog", 50, 30));
    let late = waits_for_lock(late, (hog, 4_900), true);
    assert_blames(&late, Cause::HigherPriorityTask, Some(hog));
    let expected = "hog:50 (rt 30) kept sender:20 (nice 0, raised to rt 1), which held a lock of the kernel for ktimers/1:19 (rt 1), off the \
                    CPU for 3.90 ms";
    assert!(late.verdict.why.starts_with(expected), "{}", late.verdict.why);
    assert!(late.verdict.fix[0].text.contains("clock_nanosleep"), "{:?}", late.verdict.fix);
}

/// Where priority inheritance is not recorded, the wake-up behind the event of the lock shows the owner.
#[test]
fn the_owner_is_found_by_its_wake_up_as_well() {
    let late = waits_for_lock(fair("late", 10), (URGENT, 1_020), false);
    assert_blames(&late, Cause::LockWait, Some(SENDER));
}

/// The interrupt comes late, and nothing shows why: `other` had the CPU for the first tenth of that alone.
#[test]
fn what_had_the_cpu_for_a_moment_is_not_what_had_it_meanwhile() {
    let (victim, other) = (rt("victim", 10, 80), fair("other", 31));
    let seen = |until: i64| {
        let scene = Scene::new().cpu(1).at(10).unseen_switch_to(victim).sign(ContextFlags::default());
        let scene = scene.at(20).arm(TIMER, 100).at(25).sleep(other).at(until).run(fair("next", 32));
        let scene = scene.at(300).fire(TIMER).wake(victim, 1).fired(TIMER).at(303).run(victim);
        let explained = scene.at(350).sleep(IDLE).explain("victim");
        let late =
            explained.in_order().last().map(|late| (late.verdict.cause, late.verdict.evidence.clone()));
        let (cause, evidence) = late.expect("an activation");
        assert_eq!(cause, Cause::TimerLate);
        evidence.into_iter().map(|seen| seen.what).collect::<Vec<_>>().join("; ")
    };
    assert!(!seen(120).contains("other:31"), "{}", seen(120));
    assert!(seen(295).contains("while other:31 (nice 0) had the CPU"), "{}", seen(295));
}
