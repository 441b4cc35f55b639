//! Waits that end by their own timeouts: of a lock that is given up, and of an event loop between its timers.

use super::support::{Explained, IDLE, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns};
use whylate_events::ContextFlags;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 50);
const OWNER: Thread = fair("owner", 20);
const OTHER: Thread = fair("other", 21);

/// FUTEX_WAIT_BITSET by CLOCK_REALTIME of a lock that has waiters, as in pthread_mutex_timedlock(3).
const TIMED: [u64; 3] = [0x7f00_0000, 0x189, 2];
const WAKE: [u64; 3] = [0x7f00_0000, 0x81, 1];

/// Eight periods of 10 ms in which the thread waits for a lock: in the third the owner lets it go on, and in the last it gives up after
/// 6 ms. `shared`: in the fourth, a third thread lets it go on.
fn given_up(shared: bool) -> Explained {
    let mut scene = Scene::new().cpu(2).at(0).run(OWNER).cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..8 {
        let due = n * 10_000 + 100;
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        scene = scene.ret(sys::CLOCK_NANOSLEEP).at(due + 10);
        let waker = match n {
            2 => Some(OWNER),
            3 if shared => Some(OTHER),
            _ => None,
        };
        if let Some(waker) = waker {
            scene = scene.call(sys::FUTEX, TIMED).at(due + 12).sleep(IDLE);
            scene = scene.cpu(2).at(due + 800).run(waker).at(due + 1_000);
            scene = scene.call(sys::FUTEX, WAKE).wake(VICTIM, 1).ret(sys::FUTEX);
            scene = scene.cpu(1).at(due + 1_005).run(VICTIM).ret(sys::FUTEX);
        }
        if n == 7 {
            scene = scene.call(sys::FUTEX, TIMED).at(due + 12).sleep(IDLE);
            scene = scene.at(due + 6_010).timer_wakes(VICTIM).at(due + 6_015).run(VICTIM).ret(sys::FUTEX);
        }
        scene = scene.at(due + 6_050).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 6_052).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn a_lock_that_is_given_up_belongs_to_the_one_thread_that_lets_others_go_on() {
    let explained = given_up(false);
    let last = *explained.in_order().last().expect("an activation");
    assert_blames(last, Cause::LockWait, Some(OWNER));
    assert_eq!(charged_to(last, Cause::LockWait, OWNER), Ns::from_us(5_998));
    assert_eq!(last.verdict.confidence, Confidence::Medium);
    let mut evidence = last.verdict.evidence.iter();
    assert!(evidence.any(|one| one.what.starts_with("its own timeout ended the wait, after 6.00 ms")));
}

#[test]
fn of_several_that_let_others_go_on_none_is_the_owner_of_a_lock_that_is_given_up() {
    let explained = given_up(true);
    let last = *explained.in_order().last().expect("an activation");
    assert_blames(last, Cause::LockWait, None);
    assert_eq!(last.verdict.confidence, Confidence::Low);
}

/// Eight rounds of an event loop, 20 ms apart. In each, its timer ends epoll_wait(2), and it sets the owner to work, which takes 0.4 ms, or
/// 14 ms in the last round. It waits for that by a futex, or by epoll_wait.
fn event_loop(by_futex: bool) -> Explained {
    const EPOLL_WAIT: i64 = 232;
    const MESSAGE: [u64; 3] = [0x7f00_1000, 0x189, 0];
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    let (call, arguments) = if by_futex { (sys::FUTEX, MESSAGE) } else { (EPOLL_WAIT, [3, 0, 20]) };
    for n in 0..8 {
        let due = n * 20_000 + 100;
        let done = due + if n == 7 { 14_000 } else { 400 };
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(EPOLL_WAIT);
        scene = scene.at(due + 10).call(sys::FUTEX, WAKE).wake(OWNER, 2).ret(sys::FUTEX);
        scene = scene.cpu(2).at(due + 15).run(OWNER);
        scene = scene.cpu(1).at(due + 20).call(call, arguments).at(due + 22).sleep(IDLE);
        scene =
            scene.cpu(2).at(done).call(sys::FUTEX, [0x7f00_1000, 0x81, 1]).wake(VICTIM, 1).ret(sys::FUTEX);
        scene = scene.cpu(1).at(done + 5).run(VICTIM).ret(call);
        scene = scene.cpu(2).at(done + 20).call(sys::FUTEX, [0x7f00_0000, 0x80, 0]);
        scene = scene.at(done + 22).sleep(IDLE).cpu(1);
        scene = scene.at(done + 50).call(EPOLL_WAIT, [3, 0, 20]).at(done + 52).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn what_an_event_loop_waits_for_by_a_futex_is_in_the_middle_of_its_round() {
    let explained = event_loop(true);
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(OWNER));
    assert_eq!(worst.due, Ns::from_us(140_100));
    // The call in which it waits for its timers shows nothing of the kind.
    let by_message = event_loop(false);
    assert!(by_message.in_order().iter().all(|one| one.verdict.cause != Cause::OwnWait));
}
