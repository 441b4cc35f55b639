//! Threads that wait for input between the sleeps by which they keep their periods, and in the handler of a signal.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use super::timers::texts;
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::{EventKind, KindSet, Signal};
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 50);
const PEER: Thread = fair("peer", 20);
const TIMER: u64 = 0xa000;
const POLL: i64 = 7;
const RECVFROM: i64 = 45;
const RT_SIGRETURN: i64 = 15;
/// `-ERESTARTNOHAND`
const AGAIN: i64 = 514;

/// What ends the wait of a period.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Peer,
    Timeout,
}

/// The victim sleeps until the next of its periods of 20 ms; CPU 1 has nothing else to do.
fn sleeps_until(scene: Scene, at: i64, due: i64) -> Scene {
    let scene = scene.at(at).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, due).at(at + 3).sleep(IDLE);
    scene.at(due).fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP)
}

/// Twenty periods, in each of which the victim waits for so long (us), if at all, in that call; and then works for 100 us.
fn waits_in_periods(call: i64, end: End, wait: impl Fn(i64) -> i64) -> Explained {
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(VICTIM);
    let mut at = 100;
    let mut due = 20 * MS;
    for n in 0..20 {
        scene = sleeps_until(scene, at, due);
        at = due + 50;
        if wait(n) > 0 {
            scene = scene.at(at).call(call, [4, 0, 0]).at(at + 3).sleep(IDLE);
            at += wait(n);
            scene = match end {
                End::Peer => scene.cpu(0).at(at).run(PEER).wake(VICTIM, 1).at(at + 1).sleep(IDLE).cpu(1),
                End::Timeout => scene.at(at).timer_wakes(VICTIM),
            };
            scene = scene.at(at + 5).run(VICTIM).ret(call);
        }
        at += 105;
        due += 20 * MS * (1 + (at - due).max(0) / (20 * MS));
    }
    sleeps_until(scene, at, due).at(due + 100).sleep(IDLE).explain("victim")
}

/// Each fifth reply is late.
fn late(n: i64) -> i64 {
    if n % 5 == 4 { 40 * MS } else { 300 }
}

#[test]
fn a_late_reply_is_part_of_the_period_that_waits_for_it() {
    let explained = waits_in_periods(RECVFROM, End::Peer, late);
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(PEER));
    assert_eq!(worst.verdict.confidence, Confidence::Medium);
    assert!(charged_to(worst, Cause::OwnWait, PEER) >= Ns::from_us(39 * MS), "{:?}", worst.ledger);
    assert!(
        worst.verdict.why.contains("in the system call recvfrom, until peer:20"),
        "{}",
        worst.verdict.why
    );
    assert!(texts(&worst.verdict.fix).contains("TCP_NODELAY"), "{}", texts(&worst.verdict.fix));
    // Those that are prompt begin work of their own, as before.
    assert!(explained.0.activations.iter().any(|one| one.response() < Ns::from_us(200)));
}

#[test]
fn a_timeout_in_the_middle_of_a_period_ends_no_period() {
    // Most replies are there before the thread asks for them.
    let explained = waits_in_periods(POLL, End::Timeout, |n| if n % 5 == 4 && n > 10 { 35 * MS } else { 0 });
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, None);
    assert!(worst.verdict.why.contains("in the system call poll"), "{}", worst.verdict.why);
    let seen = &worst.verdict.evidence;
    assert!(seen.iter().any(|seen| seen.what.contains("until the timeout of that call")), "{seen:?}");
}

#[test]
fn a_server_that_pauses_waits_for_requests() {
    // Requests come each 20 ms; the thread pauses for less than it waits.
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(VICTIM);
    for n in 0..20 {
        let at = n * 20 * MS + 100;
        scene = sleeps_until(scene, at, at + MS).at(at + MS + 50).call(RECVFROM, [4, 0, 0]);
        scene = scene.at(at + MS + 53).sleep(IDLE).cpu(0).at(at + 19 * MS).run(PEER).wake(VICTIM, 1);
        scene = scene.at(at + 19 * MS + 1).sleep(IDLE).cpu(1).at(at + 19 * MS + 5).run(VICTIM).ret(RECVFROM);
    }
    let explained = scene.at(400 * MS).sleep(IDLE).explain("victim");
    assert!(explained.worst().response() < Ns::from_us(2 * MS), "{:?}", explained.worst());
    // One that is made to pause is at rest, too.
    let paused = waits_in_periods(RECVFROM, End::Peer, |n| if n == 12 { 3_000 * MS } else { 0 });
    assert!(paused.worst().response() < Ns::from_us(2 * MS), "{:?}", paused.worst());
}

/// Twenty periods, in each fifth of which a server has yet to reply that two others keep off CPU 1, one after the other; one of those
/// before the victim asks.
#[test]
fn who_keeps_a_server_from_its_reply_is_named() {
    let (server, first, second) = (PEER, rt("first", 30, 20), rt("second", 31, 20));
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(VICTIM);
    let (mut at, mut due) = (100, 20 * MS);
    for n in 0..20 {
        scene = sleeps_until(scene, at, due);
        at = due + 50;
        let behind = if n % 5 == 4 { 12 * MS } else { 0 };
        scene = if behind > 0 { scene.at(at - 5).wake(server, 1) } else { scene };
        scene = scene.at(at).call(sys::READ, [4, 0, 0]).at(at + 3);
        if behind > 0 {
            scene = scene.wake(first, 1).wake(second, 1).sleep(first).at(at + 5 * MS).sleep(second);
            scene = scene.at(at + behind).sleep(server);
        } else {
            scene = scene.sleep(server);
        }
        at += behind + 300;
        scene = scene.at(at).wake(VICTIM, 1).at(at + 5).run(VICTIM).ret(sys::READ).at(at + 100);
        at += 105;
        due += 20 * MS;
    }
    let explained = sleeps_until(scene, at, due).at(due + 100).sleep(IDLE).explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(server));
    let seen = &worst.verdict.evidence;
    let text = "waited for the CPU that second:31 (rt 20) had for 7.00 ms (12.00 ms with another one)";
    assert!(seen.iter().any(|seen| seen.what.contains(text)), "{seen:?}");
    assert!(texts(&worst.verdict.fix).contains("a priority above second:31"), "{:?}", worst.verdict.fix);
    assert!(explained.finding("own-wait").is_some(), "{:?}", explained.codes());
}

/// The victim connects to a server in each period, and waits there in each fifth, as the server's queue is full.
#[test]
fn to_connect_is_to_wait_for_the_server() {
    const CONNECT: i64 = 42;
    let explained = waits_in_periods(CONNECT, End::Peer, |n| if n % 5 == 4 { 15 * MS } else { 0 });
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(PEER));
    assert!(worst.verdict.why.contains("in the system call connect"), "{}", worst.verdict.why);
    assert!(texts(&worst.verdict.fix).contains("keep the connection"), "{:?}", worst.verdict.fix);
}

#[test]
fn a_server_waits_for_connections_and_not_for_replies() {
    const ACCEPT4: i64 = 288;
    let explained = waits_in_periods(ACCEPT4, End::Peer, late);
    assert!(explained.worst().response() < Ns::from_ms(1), "{:?}", explained.worst());
}

/// A collector stops the victim in its sleep by a signal, whose handler waits until it is done, for so long.
fn collected_for(length: i64, signal: bool) -> Explained {
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(VICTIM);
    let (mut at, mut due) = (100, 20 * MS);
    for n in 0..20 {
        if n != 12 {
            scene = sleeps_until(scene, at, due);
            at = due + 100;
            due += 20 * MS;
            continue;
        }
        let stopped = due - 4 * MS;
        scene = scene.at(at).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, due).at(at + 3).sleep(PEER);
        scene = scene.at(stopped).wake(VICTIM, 1);
        if signal {
            let (tid, comm) = (Tid(VICTIM.tid), VICTIM.name.into());
            scene = scene.event(EventKind::Signal(Signal { sig: 12, code: -6, tid, comm }));
        }
        scene = scene.at(stopped + 5).run(VICTIM).fail(sys::CLOCK_NANOSLEEP, AGAIN);
        scene = scene.at(stopped + 20).call(sys::FUTEX, [0x7f00_0000, 0x80, 0]).at(stopped + 23).sleep(PEER);
        at = stopped + length;
        scene = scene.at(at).wake(VICTIM, 1).at(at + 5).run(VICTIM).ret(sys::FUTEX);
        scene = scene.at(at + 10).call(RT_SIGRETURN, [0, 0, 0]).at(at + 12).ret(RT_SIGRETURN);
        // It sleeps on: until an instant that has passed.
        scene = scene.at(at + 15).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, due);
        at += 20;
        scene = scene.at(at).ret(sys::CLOCK_NANOSLEEP);
        at += 100;
        due += 20 * MS * (1 + (at - due).max(0) / (20 * MS));
    }
    sleeps_until(scene, at, due).at(due + 100).sleep(IDLE).explain("victim")
}

#[test]
fn a_wait_in_a_handler_that_outlasts_the_sleep_makes_the_period_late() {
    let explained = collected_for(50 * MS, true);
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(PEER));
    assert_eq!(worst.due, Ns::from_us(13 * 20 * MS), "its timer");
    assert!(worst.verdict.why.contains("in the handler of SIGUSR2, until peer:20"), "{}", worst.verdict.why);
    assert!(texts(&worst.verdict.fix).contains("garbage"), "{}", texts(&worst.verdict.fix));
    // One that is over before the sleep makes nothing late, and without a signal there is no handler.
    for (length, signal) in [(2 * MS, true), (50 * MS, false)] {
        let explained = collected_for(length, signal);
        let verdicts = explained.0.activations.iter().map(|one| one.verdict.cause);
        assert!(verdicts.into_iter().all(|cause| cause != Cause::OwnWait), "{length} {signal}");
    }
}

#[test]
fn a_reply_that_had_come_was_late_on_this_machine() {
    let (handler, hog) = (rt("irq/7-eth0", 30, 50), rt("hog", 31, 90));
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(VICTIM);
    let mut at = 100;
    for n in 0..20 {
        let due = (n * 3 + 1) * 20 * MS;
        let late = if n % 5 == 4 { 38 * MS } else { 0 };
        scene = sleeps_until(scene, at, due).at(due + 50).call(RECVFROM, [4, 0, 0]).at(due + 53).sleep(IDLE);
        scene = scene.at(due + 300).irq(7, "eth0").at(due + 302).irq_exit_wakes(7, handler, 1);
        if late > 0 {
            scene = scene.at(due + 304).run(hog).at(due + 304 + late).sleep(handler);
        } else {
            scene = scene.at(due + 304).run(handler);
        }
        at = due + 320 + late;
        scene = scene.at(at).wake(VICTIM, 1).at(at + 3).sleep(VICTIM).ret(RECVFROM);
        at += 100;
    }
    let explained = sleeps_until(scene, at, at + 20 * MS).at(at + 21 * MS).sleep(IDLE).explain("victim");
    assert_blames(explained.worst(), Cause::IrqThreadDelayed, Some(hog));
}
