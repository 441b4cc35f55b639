//! Recordings of the events of few threads, as `trace-cmd record -P` makes them: what others do to timers does not show.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, rt};
use whylate_base::Confidence;
use whylate_events::Fact;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("control", 10, 70);
const HOG: Thread = rt("hog", 20, 90);
const TICK: u64 = 0x7;

/// An interrupt of the CPU's timer upon the current thread, in which the tick fires and is armed again.
fn tick(scene: Scene, at: i64) -> Scene {
    let scene = scene.at(at).vector("local_timer").at(at + 1).fire_named(TICK, "tick_sched_timer");
    let scene = scene.at(at + 3).fired(TICK).at(at + 4).arm_named(TICK, "tick_sched_timer", at + 4 * MS);
    scene.at(at + 5).vector_exit("local_timer")
}

/// Each 10 ms on a guest, an interrupt wakes the victim upon the idle task, and ticks while it runs. In the last period another
/// thread has the CPU from 1 ms on, up to 45 ms, ticks not shown. `interrupts`: those upon the idle task are recorded as well.
fn kept(interrupts: bool) -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).fact(Fact::Hypervisor(true)).sleep(IDLE);
    for n in 1..=5 {
        let due = n * 10 * MS;
        scene = match interrupts {
            true => tick(scene, due - 10),
            false => scene.at(due - 10),
        };
        scene = scene.at(due).wake(VICTIM, 1).at(due + 10).run(VICTIM).at(due + 12).ret(230);
        scene = tick(scene, due + 500);
        scene = match n {
            5 => scene.at(due + MS).wake(HOG, 1).at(due + MS + 5).run(HOG).at(due + 45 * MS).sleep(VICTIM),
            _ => scene,
        };
        scene = tick(scene, due + if n == 5 { 45 * MS + 200 } else { MS });
        scene = scene.at(due + if n == 5 { 46 * MS } else { 2 * MS }).call(230, [1, 1, 0]).sleep(IDLE);
    }
    scene.explain("control")
}

#[test]
fn a_timer_that_others_may_have_armed_again_was_not_late() {
    let explained = kept(false);
    let worst = explained.worst();
    assert_blames(worst, Cause::HigherPriorityTask, Some(HOG));
    assert_eq!(worst.verdict.confidence, Confidence::High);
    let missing: Vec<_> = explained.0.missing.iter().filter(|missing| missing.is_partial).collect();
    assert!(missing[0].cannot_tell.contains("few threads"), "{missing:?}");
}

#[test]
fn where_interrupts_upon_the_idle_task_show_the_timer_was_late() {
    let explained = kept(true);
    assert_blames(explained.worst(), Cause::Stolen, None);
    assert!(explained.0.missing.iter().all(|missing| !missing.is_partial));
}

/// The recording begins within the interrupt that wakes the victim, as a piece around a late wake-up does. A tick upon the victim is late.
#[test]
fn a_wakeup_whose_interrupt_began_before_the_recording_shows_no_filter() {
    let scene = Scene::new().cpu(1).at(0).fact(Fact::Hypervisor(true)).at(5).wake(VICTIM, 1);
    let scene = tick(scene.at(10).run(VICTIM).at(12).ret(230), 500);
    // Armed for 4.5 ms.
    let scene = tick(scene, 9 * MS).at(9 * MS + 500).call(230, [1, 1, 0]).sleep(IDLE);
    let explained = scene.explain("control");
    let stolen = explained.worst().ledger.iter().filter(|segment| segment.cause == Cause::Stolen);
    assert_eq!(stolen.count(), 1, "{:?}", explained.worst().ledger);
}
