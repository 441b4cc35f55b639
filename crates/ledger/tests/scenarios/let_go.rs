//! Locks whose owner lets them go: to a thread that spins or sleeps for them, and as it is killed.

use super::locks::{OWNER, VICTIM, owner_on_cpu_2};
use super::support::*;
use whylate_base::Ns;
use whylate_events::{Fact, Signal};
use whylate_ledger::{Activation, Cause};

/// On PREEMPT_RT the victim spins from 150 us on for a lock that the owner lets go at 170 us; where `slept`, it sleeps in there. The end
/// of the wait shows `end` later. At 6 ms it sleeps until its timer expires.
fn spins(owner_wakes: bool, slept: bool, end: i64) -> Explained {
    let boosted = Thread { prio: VICTIM.prio, ..OWNER };
    let scene = owner_on_cpu_2()
        .fact(Fact::Hypervisor(true))
        .at(150)
        .contend(7)
        .at(151)
        .inherit(OWNER, OWNER, boosted);
    let scene = if slept { scene.at(155).block(IDLE) } else { scene };
    let scene = scene.cpu(2).at(170).inherit(OWNER, boosted, OWNER);
    let scene = if owner_wakes { scene.at(172).wake(VICTIM, 1) } else { scene };
    let scene = scene.cpu(1);
    let scene = if slept { scene.at(175).run(VICTIM) } else { scene };
    let scene =
        scene.at(172 + end).acquire(7).at(6_000).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(0x99, 9_000);
    let scene =
        scene.at(6_002).sleep(IDLE).at(9_000).fire(0x99).wake(VICTIM, 1).fired(0x99).at(9_005).run(VICTIM);
    scene
        .ret(sys::CLOCK_NANOSLEEP)
        .at(9_050)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .at(9_052)
        .sleep(IDLE)
        .explain("victim")
}

#[test]
fn what_follows_when_a_lock_is_let_go_is_no_wait_for_it() {
    for slept in [false, true] {
        let explained = spins(true, slept, 4_000);
        let first = *explained.in_order().first().expect("an activation");
        assert_eq!(first.done, Some(Ns::from_us(6_002)), "its own sleep is no wait for the lock that it had");
        assert_blames(first, Cause::Stolen, None);
        assert_eq!(total(first, Cause::Stolen), Ns::from_us(4_000 - if slept { 3 } else { 0 }));
        assert_eq!(total(first, Cause::LockWait), Ns::from_us(22));
    }
    // To take the lock costs some microseconds, and without a waking it is not known when it was let go.
    for (owner_wakes, end) in [(true, 30), (false, 4_000)] {
        let explained = spins(owner_wakes, false, end);
        let first = *explained.in_order().first().expect("an activation");
        assert_eq!(
            (total(first, Cause::Stolen), total(first, Cause::LockWait)),
            (Ns::ZERO, Ns::from_us(22 + end))
        );
    }
}

fn total(activation: &Activation, cause: Cause) -> Ns {
    activation.ledger.iter().filter(|segment| segment.cause == cause).map(|segment| segment.length()).sum()
}

/// The victim waits from 152 us on for a futex of this value. A hog has the owner's CPU up to 8.15 ms; then that wakes the victim on its
/// way out of the kernel, in no call.
fn owner_ends(value: u64) -> Explained {
    let hog = rt("hog", 50, 40);
    let scene = Scene::new().cpu(1).at(0).run(OWNER).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene = scene.at(140).kernel_sends(OWNER, Signal::SIGKILL).wake(hog, 1).at(150);
    let scene = scene.call(sys::FUTEX, [0x7f00_0000, 0, value]).at(152).sleep(hog).at(8_150).sleep(OWNER);
    let scene = scene.at(8_170).wake(VICTIM, 1).at(8_175).run(VICTIM).ret(sys::FUTEX).at(8_200);
    scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(8_202).sleep(IDLE).explain("victim")
}

#[test]
fn a_futex_that_holds_its_owner_is_a_lock_also_where_that_ends() {
    let owner = OWNER.tid as u64;
    let explained = owner_ends(0x8000_0000 | owner);
    let late = explained.only();
    assert_eq!((late.due, late.done), (Ns::from_us(100), Some(Ns::from_us(8_202))));
    assert_blames(late, Cause::LockInversion, Some(rt("hog", 50, 40)));
    assert!(late.verdict.why.contains("a lock of owner:20 (nice 0)"), "{}", late.verdict.why);
    let killed = "owner:20 (nice 0) was killed (SIGKILL): it lets its locks go as it ends";
    assert!(late.verdict.evidence.iter().any(|one| one.what == killed), "{:?}", late.verdict.evidence);
    // A message, whatever its value is.
    for value in [owner, 0x4000_0000 | owner, 0x8000_0000] {
        assert_eq!(owner_ends(value).in_order().len(), 2, "{value:x}");
    }
}
