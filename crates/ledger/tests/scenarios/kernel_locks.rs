//! Contended locks of the kernel.

use super::locks::{OWNER, VICTIM, kept_from_release, owner_on_cpu_2};
use super::support::{IDLE, Scene, Thread, assert_blames, assert_charges, charged_to, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContentionFlags, ContextFlags, EventKind, HrtimerExpiry};
use whylate_ledger::Cause;

#[test]
fn a_contended_kernel_lock_is_followed_to_its_owner() {
    let explained = owner_on_cpu_2()
        .at(150)
        .contend(0xffff_8880)
        .at(152)
        .block(IDLE)
        .cpu(2)
        .at(452)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .at(458)
        .acquire(0xffff_8880)
        .at(502)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    // On its way to sleep and from it the thread contends for the lock as well.
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 5),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 45 + 44),
            (Cause::LockWait, 2 + 300 + 1),
        ],
    );
    assert_eq!(charged_to(activation, Cause::LockWait, OWNER), Ns::from_us(300));
    assert_blames(activation, Cause::LockWait, Some(OWNER));
}

/// A wait for a lock of the kernel whose owner is `low`, which `middle` kept off the CPU; the texts of what to do about it.
fn behind_a_lock_of_the_kernel(low: Thread) -> Vec<String> {
    let middle = rt("middle", 30, 30);
    let contends = |scene: Scene| scene.contend(0xffff_8880);
    let explained = kept_from_release(low, middle, contends, |scene| scene.acquire(0xffff_8880).at(1_404));
    let activation = explained.only();
    assert_blames(activation, Cause::LockInversion, Some(middle));
    let of_finding = &explained.finding("lock-inversion").expect("a finding").fix;
    assert_eq!(*of_finding, activation.verdict.fix);
    of_finding.iter().map(|fix| fix.text.clone()).collect()
}

#[test]
fn the_locks_of_the_kernel_do_not_inherit_what_a_program_asks_for() {
    let advice = behind_a_lock_of_the_kernel(fair("khugepaged", 40));
    assert!(!advice.iter().any(|fix| fix.contains("pthread_mutexattr")), "{advice:?}");
    assert!(advice[0].contains("does not apply"), "{advice:?}");
    assert!(advice[1].contains("khugepaged") && advice[2].contains("middle:30"), "{advice:?}");
    let advice = behind_a_lock_of_the_kernel(fair("worker", 40));
    assert!(advice.len() == 3 && !advice.join(" ").contains("khugepaged"), "{advice:?}");
}

/// On PREEMPT_RT the thread for timers is preempted in the callback by which it wakes the victim, with a lock that the victim needs.
#[test]
fn a_thread_that_runs_softirqs_holds_the_locks_of_its_callbacks() {
    let (ktimers, raised) = (rt("ktimers/1", 30, 1), rt("ktimers/1", 30, 50));
    let in_softirq = |scene: Scene, kind| scene.event_with(ContextFlags::SOFTIRQ, kind);
    let wakes = |scene: Scene| {
        let wake = Scene::wake_event(VICTIM, 1);
        let scene = in_softirq(scene, EventKind::Waking(wake));
        in_softirq(scene, EventKind::Wakeup { wake, new: false })
    };
    let expiry = HrtimerExpiry { hrtimer: 0x77, function: "timerfd_tmrproc".into(), now: Ns::from_us(100) };
    let scene = in_softirq(Scene::new().cpu(1).at(0).run(ktimers), EventKind::SoftirqEntry { vec: 8 });
    let scene = wakes(in_softirq(scene.at(100), EventKind::HrtimerExpire(expiry))).at(105).run(VICTIM);
    let scene = scene.at(150).contend(7).inherit(ktimers, ktimers, raised).at(155).block(raised);
    let scene = wakes(scene.at(455).inherit(ktimers, raised, ktimers)).at(460).run(VICTIM).acquire(7);
    let explained = scene.at(500).sleep(ktimers).explain("victim");
    let late = explained.only();
    assert_blames(late, Cause::LockWait, Some(ktimers));
    assert_eq!(late.verdict.confidence, Confidence::High);
    assert_eq!(charged_to(late, Cause::LockWait, ktimers), Ns::from_us(300));
}

/// A thread that was forked while the victim waited lets it go on, as fsfreeze(8) ends the freeze of another one.
#[test]
fn a_thread_that_was_not_there_yet_held_no_lock() {
    let thaws = fair("fsfreeze", 60);
    let scene = owner_on_cpu_2().at(150).contend(0xffff_8880).at(152).block(IDLE);
    let scene = scene.cpu(2).at(300).fork(OWNER, thaws).at(320).run(thaws).at(452).wake(VICTIM, 1);
    let scene = scene.cpu(1).at(457).run(VICTIM).at(458).acquire(0xffff_8880).at(502).sleep(IDLE);
    let explained = scene.explain("victim");
    let verdict = &explained.only().verdict;
    assert_eq!((verdict.cause, verdict.by, verdict.confidence), (Cause::LockWait, None, Confidence::Low));
    assert!(explained.finding("lock-wait").is_none(), "{:?}", explained.codes());
}

/// Rows without flags and without interrupts: whether the other thread let the victim go on, or an interrupt upon it, is open.
#[test]
fn without_flags_a_waker_is_less_surely_the_owner() {
    for (kind, expected) in [
        (0, (Cause::LockWait, Confidence::Medium)),
        (ContentionFlags::PERCPU, (Cause::BlockIo, Confidence::Low)),
    ] {
        let other = fair("dd", 70);
        let scene = Scene::new().cpu(1).at(0).run(other).at(100).wake(VICTIM, 1).at(103).run(VICTIM);
        let scene =
            scene.at(150).contend_as(0xffff_8880, kind).at(152).block(other).at(1_152).wake(VICTIM, 1);
        let scene = scene.at(1_155).run(VICTIM).at(1_156).acquire(0xffff_8880).at(1_200).sleep(other);
        let explained = scene.without_contexts().explain("victim");
        let verdict = &explained.only().verdict;
        assert_eq!((verdict.cause, verdict.confidence), expected, "{}", verdict.why);
    }
}
