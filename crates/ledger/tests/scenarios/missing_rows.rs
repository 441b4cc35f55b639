//! Rows that a text leaves out without a mark: what cannot be shows them, and no time of theirs is a thread's or a hypervisor's fault.

use super::support::{IDLE, MS, Scene, Thread, fair, rt};
use whylate_base::Ns;
use whylate_events::{EventKind, Fact, HrtimerStart};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 80);
const APP: Thread = fair("app", 40);
const TICK: u64 = 0xffff_8881_0000_2000;
const PERIOD: i64 = 4 * MS;

/// Time charged to one cause.
fn charged(late: &Activation, cause: Cause) -> Ns {
    let parts = late.ledger.iter().filter(|segment| segment.cause == cause);
    parts.map(|segment| segment.length()).fold(Ns::ZERO, |sum, length| sum + length)
}

/// `hrtimer_start` of the tick.
fn next_tick(scene: Scene, due: i64) -> Scene {
    let (expires, function) = (Ns::from_us(due), "tick_nohz_handler".into());
    let start = HrtimerStart { hrtimer: TICK, function, expires, softexpires: expires };
    scene.event(EventKind::HrtimerStart(start))
}

/// A tick of the CPU, at `at`.
fn tick(scene: Scene, at: i64) -> Scene {
    let scene = scene.at(at).vector("local_timer").at(at + 2).fire_named(TICK, "tick_nohz_handler");
    next_tick(scene.at(at + 4).fired(TICK), at + PERIOD).at(at + 6).vector_exit("local_timer")
}

#[test]
fn a_waiting_thread_that_is_woken_again_has_run() {
    let explained = |all: bool| {
        let mut scene = Scene::new()
            .kernel("6.1.0-18-amd64")
            .fact(Fact::Hypervisor(true))
            .cpu(0)
            .at(0)
            .run(APP)
            .sleep(IDLE);
        for n in 1..200 {
            scene = scene.at(n * 10 * MS).wake(VICTIM, 0);
            if all || n != 150 {
                scene = scene.at(n * 10 * MS + 5).run(VICTIM).at(n * 10 * MS + 100).sleep(IDLE);
            }
        }
        scene.explain("victim")
    };
    let (whole, cut) = (explained(true), explained(false));
    assert_eq!(whole.codes(), cut.codes());
    assert_eq!(whole.0.tasks[0].activations, cut.0.tasks[0].activations);
    assert_eq!(whole.worst().response(), cut.worst().response(), "{:?}", cut.worst().ledger);
}

/// The victim runs from 1 ms on, for 30 ms; `rows` are of its CPU from 8 ms to 24 ms.
fn running(rows: impl Fn(Scene) -> Scene) -> Activation {
    let scene = Scene::new().fact(Fact::Hypervisor(true)).cpu(0).at(0).run(APP).sleep(IDLE);
    let mut scene = scene.at(MS).wake(VICTIM, 0).at(MS + 5).run(VICTIM);
    for n in 0..2 {
        scene = tick(scene, n * PERIOD + 1_500);
    }
    let scene = tick(tick(rows(scene), 25_500), 29_500);
    scene.at(31 * MS).sleep(IDLE).explain("victim").worst().clone()
}

#[test]
fn ticks_that_are_missing_between_others_in_time_show_missing_rows() {
    let missing = running(|scene| scene);
    assert!(charged(&missing, Cause::TraceLoss) > Ns::from_ms(10), "{:?}", missing.ledger);
    assert_eq!(charged(&missing, Cause::Stolen), Ns::ZERO);
    // What a CPU that stood still held back comes at once, and not in time for another one.
    let stood_still = running(|scene| tick(scene, 20_300));
    assert_eq!(charged(&stood_still, Cause::TraceLoss), Ns::ZERO, "{:?}", stood_still.ledger);
}

#[test]
fn an_end_without_its_beginning_shows_missing_rows() {
    let end = running(|scene| scene.at(20_300).vector_exit("local_timer"));
    let callback = running(|scene| {
        let scene = scene.at(9_600).vector("local_timer").at(9_602).fire_named(TICK, "tick_nohz_handler");
        scene.at(9_604).fired(TICK).at(20_300).fired(TICK).at(20_302).vector_exit("local_timer")
    });
    let switch = running(|scene| {
        let scene = scene.at(9_600).vector("local_timer").at(20_300).unseen_switch_to(APP);
        scene.at(20_305).sleep(VICTIM)
    });
    for late in [end, callback, switch] {
        assert!(charged(&late, Cause::TraceLoss) > Ns::from_ms(8), "{:?}", late.ledger);
        assert_eq!(charged(&late, Cause::Stolen), Ns::ZERO);
    }
}
