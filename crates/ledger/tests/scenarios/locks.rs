//! Waiting for a lock: the owner is followed through its own life.

use super::support::{
    Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, charged_to, fair, rt, sys,
};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::{ContextFlags, Fact};
use whylate_ledger::{Cause, Culprit};

pub(super) const VICTIM: Thread = rt("victim", 10, 50);
pub(super) const OWNER: Thread = fair("owner", 20);

/// The owner runs on CPU 2; the victim is woken by its timer at 100, runs from 105 on CPU 1.
pub(super) fn owner_on_cpu_2() -> Scene {
    Scene::new()
        .cpu(2)
        .at(0)
        .run(OWNER)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
}

#[test]
fn a_futex_with_waiters_is_a_lock_and_the_waker_held_it() {
    let explained = owner_on_cpu_2()
        .at(150)
        .call(sys::FUTEX, sys::LOCK)
        .at(152)
        .sleep(IDLE)
        .cpu(2)
        .at(452)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .ret(sys::FUTEX)
        .at(500)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .at(502)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 47 + 45), (Cause::LockWait, 300)],
    );
    assert_blames(activation, Cause::LockWait, Some(OWNER));
    let wait = activation.ledger.iter().find(|segment| segment.cause == Cause::LockWait).expect("a wait");
    assert!(matches!(wait.owner, Some(Culprit::Task { tid, .. }) if tid.0 == OWNER.tid), "{wait:?}");
}

#[test]
fn an_owner_that_sleeps_with_the_lock_is_not_helped_by_inheritance() {
    let scene = owner_on_cpu_2().at(150).call(sys::FUTEX, sys::LOCK).at(152).sleep(IDLE);
    let scene = scene.cpu(2).at(200).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(202).sleep(IDLE);
    let scene = scene.at(5_000).timer_wakes(OWNER).at(5_002).run(OWNER).ret(sys::CLOCK_NANOSLEEP);
    let scene = scene.at(5_010).wake(VICTIM, 1).cpu(1).at(5_015).run(VICTIM).ret(sys::FUTEX).at(5_050);
    let explained = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE).explain("victim");
    let verdict = &explained.only().verdict;
    assert_blames(explained.only(), Cause::LockWait, Some(OWNER));
    let slept = "owner:20 (nice 0) slept for 4.80 ms with the lock, until a timer of its own expired";
    assert!(verdict.evidence.iter().any(|one| one.what == slept), "{:?}", verdict.evidence);
    let fixes: Vec<&str> = verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
    assert!(matches!(fixes.as_slice(), [only] if only.contains("before it sleeps")), "{fixes:?}");
}

#[test]
fn a_futex_without_waiters_is_a_condition_and_ends_the_activation() {
    let explained = owner_on_cpu_2()
        .at(150)
        .call(sys::FUTEX, [0x7f00_0000, 0x80, 7])
        .at(152)
        .sleep(IDLE)
        .cpu(2)
        .at(452)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .at(502)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 2);
    assert_eq!((activations[0].due, activations[0].done), (Ns::from_us(100), Some(Ns::from_us(152))));
    assert_eq!((activations[1].due, activations[1].done), (Ns::from_us(452), Some(Ns::from_us(502))));
}

#[test]
fn priority_inheritance_names_the_owner_without_any_system_call() {
    let boosted = Thread { prio: VICTIM.prio, ..OWNER };
    let explained = owner_on_cpu_2()
        .at(150)
        .inherit(OWNER, OWNER, boosted)
        .at(152)
        .sleep(IDLE)
        .cpu(2)
        .at(452)
        .wake(VICTIM, 1)
        .inherit(OWNER, boosted, OWNER)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .at(502)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 47 + 45), (Cause::LockWait, 300)],
    );
    assert_blames(activation, Cause::LockWait, Some(OWNER));
}

#[test]
fn inheritance_does_not_make_the_owner_a_real_time_thread() {
    let boosted = Thread { prio: VICTIM.prio, ..OWNER };
    let explained = owner_on_cpu_2()
        .at(150)
        .inherit(OWNER, OWNER, boosted)
        .at(152)
        .sleep(IDLE)
        .cpu(2)
        .at(452)
        .wake(VICTIM, 1)
        .inherit(OWNER, boosted, OWNER)
        .at(460)
        .sleep(IDLE)
        .explain_with(&whylate_ledger::Options::default());
    let tasks: Vec<i32> = explained.0.tasks.iter().map(|task| task.tid.0).collect();
    assert_eq!(tasks, [VICTIM.tid]);
}

/// The victim waits for a lock of `low`, between `waits` and `goes_on`, while `middle` keeps that off the CPU for 1 ms.
pub(super) fn kept_from_release(
    low: Thread,
    middle: Thread,
    waits: impl Fn(Scene) -> Scene,
    goes_on: impl Fn(Scene) -> Scene,
) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(low).at(100).timer_wakes(VICTIM).at(103).run(VICTIM).at(150);
    let scene = waits(scene).at(152).sleep(low).at(200).timer_wakes(middle).at(202).run(middle);
    let scene = scene.at(1_202).sleep(low).at(1_302).wake(VICTIM, 1).at(1_304).run(VICTIM);
    goes_on(scene).sleep(low).explain("victim")
}

/// The same for a lock of a program.
fn kept_by_futex(low: Thread, middle: Thread) -> Explained {
    let waits = |scene: Scene| scene.call(sys::FUTEX, sys::LOCK);
    let goes_on = |scene: Scene| scene.ret(sys::FUTEX).at(1_404).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    kept_from_release(low, middle, waits, goes_on)
}

#[test]
fn a_thread_in_the_middle_that_keeps_the_owner_off_the_cpu_is_the_inversion() {
    let (low, middle) = (rt("low", 20, 10), rt("middle", 30, 30));
    let explained = kept_by_futex(low, middle);
    let activation = explained.only();
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 3 + 2),
            (Cause::OwnWork, 49 + 100),
            (Cause::LockWait, 50 + 100),
            (Cause::LockInversion, 1_000),
        ],
    );
    assert_blames(activation, Cause::LockInversion, Some(middle));
    let inversion =
        activation.ledger.iter().find(|segment| segment.cause == Cause::LockInversion).expect("one");
    assert!(matches!(inversion.owner, Some(Culprit::Task { tid, .. }) if tid.0 == low.tid), "{inversion:?}");
    assert!(activation.verdict.why.contains("low:20"), "{}", activation.verdict.why);
    assert_eq!(explained.finding("lock-inversion").expect("a finding").severity, Severity::Error);
}

/// Only an uninterruptible sleep, and who ended it.
#[test]
fn where_a_lock_is_a_guess_the_inversion_is_a_warning() {
    let (low, middle) = (fair("low", 20), rt("middle", 30, 30));
    let scene = Scene::new().cpu(1).at(0).run(low).at(100).timer_wakes(VICTIM).at(103).run(VICTIM).at(152);
    let scene = scene.block(low).at(200).timer_wakes(middle).at(202).run(middle).at(1_202).sleep(low);
    let scene = scene.at(1_302).wake(VICTIM, 1).at(1_304).run(VICTIM).at(1_404).sleep(low);
    let explained = scene.explain("victim");
    assert_blames(explained.only(), Cause::LockInversion, Some(middle));
    assert_eq!(explained.only().verdict.confidence, Confidence::Medium);
    assert_eq!(explained.finding("lock-inversion").expect("a finding").severity, Severity::Warning);
}

/// Processes of one name that come one after the other are one inversion, as they are one culprit.
#[test]
fn threads_of_one_name_in_the_middle_are_one_inversion() {
    let low = rt("low", 20, 10);
    let mut scene = Scene::new().cpu(1).at(0).run(low);
    for n in 0..4 {
        let (due, middle) = (n * 10 * MS + 100, rt("middle", 30 + n as i32, 30));
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 3).run(VICTIM);
        scene = if n > 0 { scene.ret(sys::CLOCK_NANOSLEEP) } else { scene };
        scene = scene.at(due + 50).call(sys::FUTEX, sys::LOCK).at(due + 52).sleep(low);
        scene = scene.at(due + 100).timer_wakes(middle).at(due + 102).run(middle);
        scene = scene.at(due + 1_102 + n).sleep(low).at(due + 1_202).wake(VICTIM, 1);
        scene = scene.at(due + 1_204).run(VICTIM).ret(sys::FUTEX).at(due + 1_304);
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 1_305).sleep(low);
    }
    let explained = scene.explain("victim");
    assert_eq!(explained.codes().iter().filter(|code| **code == "lock-inversion").count(), 1);
    let finding = explained.finding("lock-inversion").expect("a finding");
    let named = "which middle:33 (rt 30) and 3 more of that name keep off the CPU";
    assert!(finding.title.ends_with(named), "{}", finding.title);
    assert!(finding.fix.iter().any(|fix| fix.text.contains("C library")), "{finding:?}");
}

/// With inheritance the owner would wait as long.
#[test]
fn among_threads_of_one_priority_there_is_no_inversion() {
    let (owner, middle) = (rt("owner", 20, 50), rt("middle", 30, 50));
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(owner)
        .at(100)
        .timer_wakes(middle)
        .at(101)
        .timer_wakes(VICTIM)
        .at(103)
        .run(VICTIM)
        .at(150)
        .call(sys::FUTEX, sys::LOCK)
        .at(152)
        .sleep(middle)
        .at(1_152)
        .sleep(owner)
        .at(1_252)
        .wake(VICTIM, 1)
        .at(1_254)
        .sleep(VICTIM)
        .ret(sys::FUTEX)
        .at(1_304)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .sleep(IDLE)
        .explain("victim");
    let causes: Vec<Cause> = explained.only().ledger.iter().map(|segment| segment.cause).collect();
    assert!(causes.contains(&Cause::EqualPriorityTask), "{causes:?}");
    assert!(!causes.contains(&Cause::LockInversion), "{causes:?}");
}

/// Nor where all of them are SCHED_OTHER: the victim would take turns with the thread in the middle as well.
#[test]
fn among_sched_other_threads_there_is_no_inversion() {
    let (victim, owner, middle) = (fair("victim", 10), fair("owner", 20), fair("middle", 30));
    let scene = Scene::new().cpu(1).at(0).run(owner).at(100).timer_wakes(middle).at(101).timer_wakes(victim);
    let scene = scene.at(103).run(victim).at(150).call(sys::FUTEX, sys::LOCK).at(152).sleep(middle);
    let scene = scene.at(3_152).run(owner).at(3_252).wake(victim, 1).at(3_254).run(victim);
    let scene = scene.ret(sys::FUTEX).at(3_304).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    let explained = scene.explain("victim");
    assert_blames(explained.only(), Cause::FairQueue, Some(middle));
    assert!(explained.only().verdict.why.contains("waited for a lock of owner"), "{:?}", explained.only());
    assert!(explained.finding("lock-inversion").is_none());
}

#[test]
fn an_owner_behind_a_thread_above_the_victim_is_no_inversion() {
    let (low, higher) = (rt("low", 20, 10), rt("higher", 30, 70));
    let explained = kept_by_futex(low, higher);
    let activation = explained.only();
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 3 + 2),
            (Cause::OwnWork, 49 + 100),
            (Cause::LockWait, 50 + 100),
            (Cause::HigherPriorityTask, 1_000),
        ],
    );
    assert_blames(activation, Cause::HigherPriorityTask, Some(higher));
}

#[test]
fn a_chain_of_owners_is_followed_to_the_one_that_worked() {
    let (first, second, third) = (fair("first", 21), fair("second", 22), fair("third", 23));
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .run(third)
        .cpu(3)
        .at(0)
        .run(second)
        .cpu(4)
        .at(0)
        .run(first)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .cpu(3)
        .at(20)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .cpu(4)
        .at(50)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .cpu(1)
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(152)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .cpu(2)
        .at(400)
        .wake(second, 3)
        .cpu(3)
        .at(402)
        .run(second)
        .at(410)
        .wake(first, 4)
        .cpu(4)
        .at(412)
        .run(first)
        .at(452)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .ret(sys::FUTEX)
        .at(502)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 47 + 45), (Cause::LockWait, 300)],
    );
    let owners = [third, second, first].map(|owner| charged_to(activation, Cause::LockWait, owner));
    assert_eq!(owners, [Ns::from_us(248), Ns::from_us(10), Ns::from_us(42)]);
    assert_blames(activation, Cause::LockWait, Some(third));
}

#[test]
fn an_interrupt_in_the_owners_work_is_the_interrupts() {
    let explained = owner_on_cpu_2()
        .at(152)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .cpu(2)
        .at(200)
        .irq(9, "acpi")
        .at(440)
        .irq_exit(9)
        .at(452)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(457)
        .run(VICTIM)
        .ret(sys::FUTEX)
        .at(502)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 5),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 47 + 45),
            (Cause::LockWait, 48 + 12),
            (Cause::Irq, 240),
        ],
    );
    assert_eq!(activation.verdict.cause, Cause::Irq);
}

#[test]
fn two_threads_that_each_wait_for_the_other_do_not_loop() {
    let other = fair("other", 11);
    // Each is woken by the other at the end of its own wait: the waits overlap, and form a cycle.
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .run(other)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .cpu(2)
        .at(120)
        .call(sys::FUTEX, sys::LOCK)
        .sleep(IDLE)
        .unseen_switch_to(VICTIM)
        .at(300)
        .wake(other, 2)
        .unseen_switch_to(other)
        .at(400)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(500)
        .sleep(IDLE)
        .explain("victim");
    let total: Ns =
        explained.0.activations.iter().flat_map(|activation| &activation.ledger).map(|s| s.length()).sum();
    assert_eq!(total, explained.0.activations.iter().map(|activation| activation.response()).sum());
}

/// The owner has CPU 2 while a timer is due there for 3 ms: on a guest that CPU may have stood still.
#[test]
fn an_owner_whose_cpu_may_have_stood_still_is_in_doubt() {
    let waits = |is_guest: bool| {
        let scene =
            Scene::new().cpu(2).at(0).run(OWNER).arm(0x77, 1_000).cpu(1).at(0).sign(ContextFlags::default());
        let scene = scene
            .fact(Fact::Hypervisor(is_guest))
            .at(100)
            .timer_wakes(VICTIM)
            .at(105)
            .run(VICTIM)
            .at(150)
            .call(sys::FUTEX, sys::LOCK);
        let scene = scene.at(152).sleep(IDLE).cpu(2).at(4_000).fire(0x77).at(4_010).fired(0x77).at(4_050);
        let scene = scene.wake(VICTIM, 1).cpu(1).at(4_055).run(VICTIM).ret(sys::FUTEX).at(4_100);
        scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(4_102).sleep(IDLE).explain("victim").only().clone()
    };
    let (guest, hardware) = (waits(true), waits(false));
    for late in [&guest, &hardware] {
        assert_blames(late, Cause::LockWait, Some(OWNER));
    }
    assert_eq!(guest.verdict.confidence, Confidence::Low);
    assert!(hardware.verdict.confidence > Confidence::Low, "{:?}", hardware.verdict);
}

/// A sender with periods of 5 ms hands work to a thread that it has started: it unlocks the mutex that the receiver has locked and waits
/// for. Where the receiver `serves`, it waits for input before.
fn handed_over_by_a_mutex(serves: bool) -> Explained {
    const SENDER: Thread = rt("sender", 30, 50);
    const RECEIVER: Thread = rt("receiver", 31, 50);
    let mut scene = Scene::new().cpu(1).at(0).run(SENDER).at(10).fork(SENDER, RECEIVER).wake(RECEIVER, 1);
    scene = scene.at(20).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(22).sleep(RECEIVER);
    for n in 1..=12 {
        let due = n * 5 * MS;
        if serves {
            scene =
                scene.at(due - 4_900).call(sys::READ, [3, 0, 0]).sleep(IDLE).at(due - 4_500).irq(16, "eth0");
            scene = scene.wake(RECEIVER, 1).irq_exit(16).run(RECEIVER).ret(sys::READ);
        }
        scene = scene.at(due - 4_400).call(sys::FUTEX, sys::LOCK).at(due - 4_395).sleep(IDLE);
        scene = scene.at(due).timer_wakes(SENDER).at(due + 5).run(SENDER).ret(sys::CLOCK_NANOSLEEP);
        scene =
            scene.at(due + 10).call(sys::FUTEX, [sys::LOCK[0], 0x81, 1]).wake(RECEIVER, 1).ret(sys::FUTEX);
        scene = scene.at(due + 20).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 22).sleep(RECEIVER);
        scene = scene.ret(sys::FUTEX);
    }
    scene.at(60 * MS + 100).sleep(IDLE).explain_all("receiver")
}

#[test]
fn a_mutex_by_which_a_thread_is_given_all_its_work_is_no_lock_that_is_held() {
    let explained = handed_over_by_a_mutex(false);
    assert_eq!(explained.in_order().len(), 13, "one by its start, and one in each period of the sender");
    assert!(explained.0.activations.iter().all(|one| one.verdict.cause != Cause::LockWait));
    assert!(explained.finding("lock-wait").is_none(), "{:?}", explained.codes());
    let explained = handed_over_by_a_mutex(true);
    assert_blames(explained.worst(), Cause::LockWait, Some(rt("sender", 30, 50)));
}
