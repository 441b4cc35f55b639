//! Own work or an own wait that was one system call, or the handler of a signal.

use super::requests::SENDTO;
use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, rt, sys};
use whylate_base::Tid;
use whylate_events::{EventKind, Signal};
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 50);
const MPROTECT: i64 = 10;
const MUNMAP: i64 = 11;
const FALLOCATE: i64 = 285;
/// A later kernel may have such a call.
const UNKNOWN: i64 = 999;
const RT_SIGRETURN: i64 = 15;
const SIGALRM: i32 = 14;
const NET_TX: u32 = 2;

/// Twelve periods of 20 ms with 100 us of work, and `more` in the tenth.
fn works(usual: impl Fn(Scene, i64) -> Scene, more: impl Fn(Scene, i64) -> Scene) -> Explained {
    let mut scene = Scene::new().cpu(1);
    for n in 1..=12 {
        let due = n * 20 * MS;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = usual(scene, due + 10);
        let end = due + if n == 10 { 8 * MS } else { 2 * MS };
        if n == 10 {
            scene = more(scene, due + 2 * MS);
        }
        scene = scene.at(end).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(end + 2).sleep(IDLE);
    }
    scene.explain("victim")
}

fn calls(nr: i64, length: i64) -> impl Fn(Scene, i64) -> Scene {
    move |scene, at| scene.at(at).call(nr, [0x7000, 0x80_0000, 3]).at(at + length).ret(nr)
}

fn nothing(scene: Scene, _: i64) -> Scene {
    scene
}

/// A signal comes upon the victim, or in a call of its own that returns after `returns` us; its handler runs for `length` us.
fn handles(returns: i64, length: i64) -> impl Fn(Scene, i64) -> Scene {
    move |scene, at| {
        let signal = Signal { sig: SIGALRM, code: 128, tid: Tid(VICTIM.tid), comm: "victim".into() };
        let scene = scene.at(at).call(sys::READ, [3, 0, 0]).fire_named(0x88, "it_real_fn");
        let scene = scene.event(EventKind::Signal(signal)).fired(0x88).at(at + returns).fail(sys::READ, 4);
        scene.at(at + returns + length).call(RT_SIGRETURN, [0, 0, 0]).at(at + returns + length + 3).ret(-1)
    }
}

/// So many calls, each of 150 us in 200.
fn loops(nr: i64, times: i64) -> impl Fn(Scene, i64) -> Scene {
    move |scene, at| {
        (0..times).fold(scene, |scene, n| {
            let at = at + n * 200;
            scene.at(at).call(nr, [0x7000, 0, 0]).at(at + 150).ret(nr)
        })
    }
}

#[test]
fn many_short_calls_are_named_that_took_a_notable_part_of_the_time() {
    const NEWFSTATAT: i64 = 262;
    let explained = works(nothing, loops(NEWFSTATAT, 24));
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWork, None);
    let why = &worst.verdict.why;
    assert!(why.ends_with("; 3.60 ms of it in 24 calls of the system call newfstatat"), "{why}");
    assert!(
        worst
            .verdict
            .fix
            .iter()
            .any(|fix| fix.text.starts_with("make fewer calls of the system call newfstatat"))
    );
    for few in [loops(NEWFSTATAT, 12), loops(NEWFSTATAT, 19)] {
        let why = works(nothing, few).worst().verdict.why.clone();
        assert!(!why.contains("calls of"), "{why}");
    }
}

#[test]
fn the_call_that_took_the_time_is_named_and_its_advice_is_about_it() {
    for (nr, name, helps) in [
        (MPROTECT, "5.50 ms of it in the system call mprotect", "pthread_attr_setstacksize"),
        (MUNMAP, "5.50 ms of it in the system call munmap", "M_TRIM_THRESHOLD"),
        (UNKNOWN, "5.50 ms of it in the system call number 999", "another thread can make it"),
        (FALLOCATE, "5.50 ms of it in the system call fallocate", "another thread can make it"),
    ] {
        let explained = works(nothing, calls(nr, 5_500));
        let worst = explained.worst();
        assert_blames(worst, Cause::OwnWork, None);
        assert!(worst.verdict.why.contains(name), "{}", worst.verdict.why);
        assert!(worst.verdict.fix.iter().any(|fix| fix.text.contains(helps)), "{:?}", worst.verdict.fix);
    }
}

#[test]
fn the_handler_of_a_signal_is_named_by_its_signal() {
    let why = |explained: Explained| explained.worst().verdict.why.clone();
    let named = why(works(nothing, handles(4, 5_000)));
    assert!(named.contains("5.00 ms of it in the handler of SIGALRM"), "{named}");
    // The signal was blocked, or the call took the time, and not the handler.
    let other = why(works(nothing, handles(5_000, 100)));
    assert!(!other.contains("handler") && other.contains("system call read"), "{other}");
}

#[test]
fn a_call_that_is_part_of_all_work_is_not_what_took_longer() {
    let explained = works(calls(MPROTECT, 1_800), nothing);
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWork, None);
    assert!(!worst.verdict.why.contains("mprotect"), "{}", worst.verdict.why);
    // Nor is one that is short beside the rest.
    let explained = works(nothing, calls(MPROTECT, 2_500));
    assert!(!explained.worst().verdict.why.contains("mprotect"), "{}", explained.worst().verdict.why);
}

/// A limit of the rate holds packets back; a softirq frees them in the end, and so makes room in the socket.
#[test]
fn a_send_that_waits_for_packets_to_leave_is_named_and_has_advice_for_sends_alone() {
    let mut scene = Scene::new().cpu(1);
    for n in 0..12 {
        let due = n * 20 * MS + 100;
        let waits = if n >= 7 { 8_000 } else { 0 };
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 10).call(SENDTO, [3, 0, 1000]);
        if waits > 0 {
            scene = scene.at(due + 15).sleep(IDLE).at(due + waits).softirq(NET_TX).wake(VICTIM, 1);
            scene = scene.softirq_exit(NET_TX).at(due + waits + 5).run(VICTIM);
        }
        let end = due + waits + 30;
        scene = scene.at(end).ret(SENDTO).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(end + 3).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, None);
    assert!(worst.verdict.why.contains("in the system call sendto"), "{}", worst.verdict.why);
    let fixes: Vec<_> = worst.verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
    assert_eq!(fixes.len(), 2, "{fixes:?}");
    assert!(fixes[0].contains("tc -s qdisc") && fixes[1].contains("O_NONBLOCK"), "{fixes:?}");
}
