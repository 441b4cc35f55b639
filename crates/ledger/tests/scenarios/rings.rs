//! Waits in io_uring: for its own timeout, a message, or a device.

use super::requests::{IO_URING_ENTER, NET_RX, READER, VICTIM, longest};
use super::support::*;
use whylate_base::Ns;
use whylate_ledger::Cause;

/// Periods of 10 ms, by timeouts of io_uring; in the last one the victim waits in the ring once more, for 7 ms, until `wakes`.
fn waits_in_ring(wakes: impl Fn(Scene) -> Scene) -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).run(VICTIM);
    for period in 1..=6 {
        let due = period * 10 * MS;
        scene = scene.at(due - 9_900).call(IO_URING_ENTER, [4, 1, 1]).arm_named(0xb0, "io_timeout_fn", due);
        scene = scene.arm(0xb1, i64::MAX / 1_000).at(due - 9_890).sleep(IDLE);
        scene = scene.at(due).fire_named(0xb0, "io_timeout_fn").wake(VICTIM, 1).fired(0xb0);
        scene = scene.at(due + 5).run(VICTIM).ret(IO_URING_ENTER);
    }
    scene = wakes(scene.at(60_050).call(IO_URING_ENTER, [4, 1, 1]).sleep(READER).at(67_050));
    scene = scene.at(67_060).run(VICTIM).ret(IO_URING_ENTER).at(67_100);
    scene.call(IO_URING_ENTER, [4, 1, 1]).sleep(IDLE).at(67_110).sign(Default::default()).explain("victim")
}

#[test]
fn a_timeout_of_io_uring_begins_a_period_and_a_message_is_no_device() {
    let ends = |explained: &Explained| {
        explained.in_order().iter().map(|one| (one.due, one.verdict.cause)).collect::<Vec<_>>()
    };
    let is_short = |explained: &Explained| longest(explained).response() < Ns::from_us(200);
    let timeout = |callback: &'static str| {
        waits_in_ring(move |scene| scene.fire_named(0xb2, callback).wake(VICTIM, 1).fired(0xb2))
    };
    let packet = waits_in_ring(|scene| scene.softirq(NET_RX).wake(VICTIM, 1).softirq_exit(NET_RX));
    let message = waits_in_ring(|scene| scene.wake(VICTIM, 1));
    for explained in [timeout("io_timeout_fn"), timeout("hrtimer_wakeup"), packet, message] {
        assert!(is_short(&explained) && explained.in_order().len() >= 7, "{:?}", ends(&explained));
    }
    // Such a timer is a driver's.
    for explained in [
        timeout("io_link_timeout_fn"),
        timeout("null_cmd_timer_expired"),
        waits_in_ring(|scene| scene.irq(11, "nvme0q1").wake(VICTIM, 1).irq_exit(11)),
    ] {
        assert_blames(&longest(&explained), Cause::BlockIo, None);
        assert_eq!(longest(&explained).verdict.charged, Ns::from_us(7_000));
    }
}
