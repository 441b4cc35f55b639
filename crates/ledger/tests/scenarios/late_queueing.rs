//! A wake-up that takes long before the thread is on another CPU's runqueue: what runs there keeps nothing back yet.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, fair, rt};
use whylate_events::Fact;
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 80);
const WAKER: Thread = fair("waker", 40);
const OTHER: Thread = fair("other", 41);

/// CPU 0 wakes the victim, which is on CPU 1's runqueue 800 us later: put there by CPU `by`.
fn woken_by(guest: bool, by: u32, before: Thread) -> Activation {
    let scene = Scene::new().fact(Fact::Hypervisor(guest)).cpu(0).at(0).run(WAKER);
    let scene = scene.cpu(1).at(0).run(VICTIM).at(10).sleep(before);
    let scene = scene.cpu(0).at(MS).waking(VICTIM, 1).cpu(by).at(MS + 800).wakeup(VICTIM, 1);
    scene.cpu(1).at(MS + 805).run(VICTIM).at(MS + 900).sleep(IDLE).explain("victim").worst().clone()
}

#[test]
fn who_runs_there_has_kept_nothing_back_until_the_waker_queues_the_thread() {
    for before in [OTHER, IDLE] {
        let late = woken_by(false, 0, before);
        assert_blames(&late, Cause::Unexplained, None);
        let late = woken_by(true, 0, before);
        assert_blames(&late, Cause::Stolen, None);
    }
    // That CPU took it in by an interrupt, which did not come before.
    assert_blames(&woken_by(false, 1, OTHER), Cause::IrqsDisabled, Some(OTHER));
    assert_blames(&woken_by(false, 1, IDLE), Cause::IdleExit, None);
}
