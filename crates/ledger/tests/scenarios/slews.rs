//! A clock that runs faster than the hardware by which timers come: adjtimex slews it.

use super::support::{Explained, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::EventKind;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 80);
const APP: Thread = fair("app", 30);
const CHRONYD: Thread = fair("chronyd", 40);
const TIMER: u64 = 0xffff_8881_0000_0000;
const CLOCK_ADJTIME: i64 = 305;

/// The victim sleeps forty times, for 1, 1.7, 2.4, 3.1 ms and so on, beside a program that never enters the kernel. Its timer is late by
/// what `late` makes of the number and the length of the sleep; where `asked`, chronyd adjusts the clock before the twentieth.
fn sleeps(asked: bool, late: impl Fn(i64, i64) -> i64) -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).unseen_switch_to(APP).call(sys::READ, [3, 0, 0]).ret(sys::READ);
    scene = scene.at(10).run(VICTIM);
    let mut now = 20;
    for n in 0..40 {
        if n == 20 && asked {
            scene = scene.at(now).run(CHRONYD).call(CLOCK_ADJTIME, [0, 0, 0]).at(now + 5).ret(CLOCK_ADJTIME);
            scene = scene.at(now + 8).sleep(VICTIM);
            now += 10;
        }
        let wait = 1_000 + n % 4 * 700;
        scene = scene.at(now).arm(TIMER, now + wait).at(now + 3).sleep(APP);
        now += wait + late(n, wait);
        scene = scene.at(now).vector("local_timer").at(now + 1).fire(TIMER).wake(VICTIM, 1);
        scene = scene.event(EventKind::HrtimerExpireExit { hrtimer: TIMER }).vector_exit("local_timer");
        scene = scene.at(now + 4).run(VICTIM);
        now += 30;
    }
    scene.at(now).sleep(APP).at(now + 100).call(sys::READ, [3, 0, 0]).explain("victim")
}

#[test]
fn timers_that_are_late_by_a_share_of_their_length_are_of_a_slewed_clock() {
    for asked in [true, false] {
        let explained = sleeps(asked, |n, wait| if asked && n < 20 { 1 } else { wait * 8 / 100 + 1 });
        if asked {
            assert_blames(explained.worst(), Cause::TimerLate, None);
        }
        let late = explained.in_order();
        let late = late.iter().rfind(|one| one.latency() > Some(Ns::from_us(200))).expect("a long sleep");
        assert_eq!((late.verdict.cause, late.verdict.confidence), (Cause::TimerLate, Confidence::Medium));
        let why = &late.verdict.why;
        assert!(why.contains("the clock is slewed: timers of all lengths are late by 8."), "{why}");
        assert_eq!(why.contains("a program adjusted it"), asked, "{why}");
        assert!(late.verdict.fix[0].text.contains("makestep"), "{:?}", late.verdict.fix);
        let stolen = explained.in_order().iter().filter(|one| one.verdict.cause == Cause::Stolen).count();
        // Where no call shows that it is adjusted, the first few may have been late for any reason.
        assert!(if asked { stolen == 0 } else { stolen < 5 }, "{stolen}");
        assert_eq!(explained.codes().contains(&"stolen"), !asked, "{:?}", explained.codes());
    }
}

#[test]
fn a_cpu_that_is_taken_away_is_late_by_any_time() {
    let thefts = |asked: bool| {
        sleeps(asked, |n, _| match n {
            12 => 240,
            26 => 250,
            33 => 90,
            _ => 1,
        })
    };
    for asked in [true, false] {
        let explained = thefts(asked);
        assert_blames(explained.worst(), Cause::Stolen, None);
        assert!(explained.codes().contains(&"stolen"), "{:?}", explained.codes());
    }
    // Every time for as long, however long it slept.
    let constant = sleeps(false, |_, _| 150);
    assert_blames(constant.worst(), Cause::Stolen, None);
    // While the clock is slewed as well.
    let both = sleeps(false, |n, wait| if n == 30 { 700 } else { wait * 8 / 100 + 1 });
    assert_blames(both.worst(), Cause::Stolen, None);
}

/// The victim loses its CPU for 0.2 ms once, and waits 30 ms for a program of higher priority in another period.
#[test]
fn a_theft_that_is_little_beside_the_worst_delay_is_a_note() {
    let hog = rt("hog", 50, 90);
    let severity = |thefts: &[i64], waits: i64| {
        let mut scene =
            Scene::new().cpu(1).at(0).unseen_switch_to(APP).call(sys::READ, [3, 0, 0]).ret(sys::READ);
        scene = scene.at(10).run(VICTIM);
        let mut begin = 20;
        for n in 0..30 {
            let due = begin + 5_000 + n * 700;
            let handled = due + if thefts.contains(&n) { 200 } else { 1 };
            scene = scene.at(begin).arm(TIMER, due).at(begin + 3).sleep(APP);
            scene = scene.at(handled).vector("local_timer").at(handled + 1).fire(TIMER).wake(VICTIM, 1);
            scene = scene.event(EventKind::HrtimerExpireExit { hrtimer: TIMER }).vector_exit("local_timer");
            let mut ran = handled + 4;
            if n == 20 {
                scene = scene.at(ran).wake(hog, 1).at(ran + 1).run(hog);
                ran += waits;
                scene = scene.at(ran).sleep(VICTIM);
            } else {
                scene = scene.at(ran).run(VICTIM);
            }
            begin = ran + 40;
        }
        let explained = scene.at(begin).sleep(APP).explain("victim");
        explained.finding("stolen").expect("a finding").severity
    };
    assert_eq!(severity(&[25], 30_000), Severity::Info);
    assert_eq!(severity(&[25], 10_000), Severity::Warning, "a fiftieth of it");
    assert_eq!(severity(&[25, 27], 30_000), Severity::Warning, "twice");
}
