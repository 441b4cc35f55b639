//! The call stack behind the switch of a thread that goes to sleep shows what it waits for.

use super::support::{IDLE, Scene, Thread, assert_blames, fair, rt};
use whylate_base::Confidence;
use whylate_events::{ContextFlags, EventKind};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 50);
const OTHER: Thread = fair("other", 30);

/// The victim sleeps from 150 us to 8,150 us, in these functions, innermost first; `ends` it.
fn sleeps(stack: &[&str], ends: impl FnOnce(Scene) -> Scene) -> Activation {
    let scene = Scene::new().cpu(2).at(0).run(OTHER).cpu(1).sign(ContextFlags::default());
    let mut scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(IDLE);
    for name in stack {
        // Events up to the switch itself have the thread before as their context.
        scene = scene.unseen_switch_to(VICTIM).event(EventKind::StackFrame { name: (*name).into() });
    }
    let scene = ends(scene.unseen_switch_to(IDLE).at(8_150));
    scene.at(8_155).run(VICTIM).at(8_200).sleep(IDLE).explain("victim").only().clone()
}

#[test]
fn the_functions_in_which_a_thread_sleeps_show_what_for() {
    let by_other = |scene: Scene| scene.cpu(2).wake(VICTIM, 1).cpu(1);
    let by_idle = |scene: Scene| scene.wake(VICTIM, 1);
    let lock = ["__schedule", "schedule_rtlock", "rtlock_slowlock_locked", "rt_spin_lock", "unix_release"];
    let late = sleeps(&lock, by_other);
    assert_blames(&late, Cause::LockWait, Some(OTHER));
    let seen = &late.verdict.evidence;
    let function = "slept for 8.00 ms in rt_spin_lock, called from unix_release (its stack)";
    assert!(seen.iter().any(|one| one.what == function), "{seen:?}");

    let io = sleeps(&["__schedule", "schedule", "io_schedule", "folio_wait_bit", "filemap_read"], by_idle);
    assert_eq!((io.verdict.cause, io.verdict.confidence), (Cause::BlockIo, Confidence::High));
    let delay = sleeps(&["__schedule", "schedule_timeout", "msleep", "my_ioctl"], by_idle);
    assert_eq!((delay.verdict.cause, delay.verdict.confidence), (Cause::KernelSleep, Confidence::Medium));
    // It shows nothing.
    let unknown = sleeps(&["__schedule", "schedule", "my_wait", "my_ioctl"], by_idle);
    assert_eq!((unknown.verdict.cause, unknown.verdict.confidence), (Cause::BlockIo, Confidence::Low));
}

/// The stack of a wake-up is the waker's.
#[test]
fn the_stack_of_another_event_shows_nothing_of_a_sleep() {
    let late = sleeps(&[], |scene| {
        let woken = scene.cpu(2).waking(VICTIM, 1);
        let woken = woken.event(EventKind::StackFrame { name: "msleep".into() }).wakeup(VICTIM, 1);
        woken.cpu(1)
    });
    assert_blames(&late, Cause::LockWait, Some(OTHER));
}
