//! Packets that a late work item or a late timer makes: the thread that they wake was due when that was.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns};
use whylate_events::{EventKind, Packet, PacketStep, Work, WorkStep};
use whylate_ledger::Cause;

const SLAVE: Thread = rt("slave", 10, 60);
const SENDER: Thread = rt("sender", 20, 70);
const HOG: Thread = rt("hog", 30, 30);
const KWORKER: Thread = fair("kworker/1:1", 40);
const SECOND: Thread = fair("kworker/1:2", 41);
const NET_RX: u32 = 3;
const HRTIMER: u32 = 8;

fn work(address: u64, function: &str, step: WorkStep) -> EventKind {
    EventKind::Work(Work { work: address, function: function.into(), step })
}

/// The slave has slept in read(2) since 20, and the others as well.
fn asleep() -> Scene {
    let scene = Scene::new().cpu(1).at(0).run(SLAVE).call(sys::READ, [3, 0, 100]).at(20).sleep(KWORKER);
    scene.at(40).sleep(SECOND).at(45).sleep(SENDER).at(50).sleep(IDLE)
}

/// The current thread raises the softirq that receives, in which this one is woken.
fn receives(scene: Scene, at: i64) -> Scene {
    let scene = scene.at(at).event(EventKind::SoftirqRaise { vec: NET_RX }).at(at + 2).softirq(NET_RX);
    scene.at(at + 5).wake(SLAVE, 1).at(at + 6).softirq_exit(NET_RX)
}

/// It works for 50 us, and reads again.
fn works(scene: Scene, at: i64, next: Thread) -> Scene {
    let scene = scene.at(at).run(SLAVE).ret(sys::READ).at(at + 50).call(sys::READ, [3, 0, 100]);
    scene.at(at + 52).sleep(next)
}

/// A sender queues an item at 1 ms + 10 us, on a CPU that the hog has until `begun`. The item queues a second one, that is for another
/// kworker, which sends: twice.
fn by_items(begun: i64) -> Explained {
    let scene = asleep().at(MS).timer_wakes(SENDER).at(MS + 5).run(SENDER);
    let scene = scene.at(MS + 10).event(work(0xe0, "encrypt_worker", WorkStep::Queued)).wake(KWORKER, 1);
    let scene = match begun > MS + 100 {
        true => scene.at(MS + 20).sleep(HOG).at(begun - 5).sleep(KWORKER),
        false => scene.at(MS + 20).sleep(KWORKER),
    };
    let scene = scene.at(begun).event(work(0xe0, "encrypt_worker", WorkStep::Started)).at(begun + 10);
    let scene = scene.event(work(0xf0, "tx_worker", WorkStep::Queued)).wake(SECOND, 1).at(begun + 20);
    let scene = scene.event(work(0xe0, "encrypt_worker", WorkStep::Ended)).at(begun + 25).sleep(SECOND);
    let scene = scene.at(begun + 30).event(work(0xf0, "tx_worker", WorkStep::Started));
    let scene = works(receives(scene, begun + 40), begun + 50, SECOND);
    let scene = works(receives(scene, begun + 140), begun + 150, SECOND);
    let scene = scene.at(begun + 220).event(work(0xf0, "tx_worker", WorkStep::Ended));
    scene.at(begun + 225).sleep(IDLE).explain("slave")
}

#[test]
fn a_thread_is_due_when_the_item_was_queued_that_made_its_packet() {
    let explained = by_items(60 * MS);
    let activations = explained.in_order();
    let [.., first, second] = activations[..] else { panic!("two activations") };
    assert_eq!(first.due, Ns::from_us(MS + 10));
    assert_blames(first, Cause::WorkItemDelayed, Some(HOG));
    assert_eq!(first.verdict.confidence, Confidence::High);
    assert_eq!(charged_to(first, Cause::WorkItemDelayed, HOG), Ns::from_us(60 * MS - 5 - MS - 20));
    assert!(first.verdict.why.contains("kworker/1:1:40"), "{}", first.verdict.why);
    // What comes behind the first packet may have been sent at any time.
    assert!(second.response() < Ns::from_us(200), "{:?}", second.response());
    assert!(explained.finding("work-item-delayed").is_some());
}

#[test]
fn an_item_that_was_not_late_changes_nothing() {
    let explained = by_items(MS + 25);
    for activation in explained.in_order().into_iter().skip(1) {
        assert!(activation.response() < Ns::from_us(200), "{:?}", activation.response());
        assert_eq!(charged_to(activation, Cause::WorkItemDelayed, HOG), Ns::ZERO);
    }
}

/// An item that does not end sends a packet so long after it was late that this is of another cause.
#[test]
fn what_comes_long_after_a_late_item_is_not_late_by_that() {
    let scene = asleep().at(MS).timer_wakes(SENDER).at(MS + 5).run(SENDER);
    let scene = scene.at(MS + 10).event(work(0xe0, "poll_worker", WorkStep::Queued)).wake(KWORKER, 1);
    let scene = scene.at(MS + 20).sleep(HOG).at(3 * MS).sleep(KWORKER).at(3 * MS + 5);
    let scene = scene.event(work(0xe0, "poll_worker", WorkStep::Started)).at(3 * MS + 20).block(IDLE);
    let scene = scene.at(90 * MS).wake(KWORKER, 1).at(90 * MS + 5).run(KWORKER);
    let scene = works(receives(scene, 90 * MS + 10), 90 * MS + 20, KWORKER).at(91 * MS);
    let explained = scene.event(work(0xe0, "poll_worker", WorkStep::Ended)).sleep(IDLE).explain("slave");
    let activations = explained.in_order();
    let last = activations.last().expect("an activation");
    assert_eq!(last.due, Ns::from_us(90 * MS + 10));
}

/// On PREEMPT_RT a timer of the kernel's own, due at 3 ms, runs in `ktimers/1` when the hog is done, and sends.
#[test]
fn a_thread_is_due_when_the_timer_was_that_sends_its_packet() {
    let ktimers = rt("ktimers/1", 15, 1);
    let packet = |step| EventKind::Packet(Packet { skb: 0xabc0, len: 16, dev: "can0".into(), step });
    let scene = asleep().at(60).run(ktimers).arm_named(0x77, "bcm_tx_timeout_handler", 3 * MS);
    let scene = scene.at(80).sleep(HOG).at(3 * MS + 5).vector("local_timer");
    let scene =
        scene.event(EventKind::SoftirqRaise { vec: HRTIMER }).wake(ktimers, 1).vector_exit("local_timer");
    let scene = scene.at(70 * MS).sleep(ktimers).at(70 * MS + 5).softirq(HRTIMER).at(70 * MS + 10);
    let scene = scene.fire_named(0x77, "bcm_tx_timeout_handler").at(70 * MS + 12);
    let scene = scene.event(packet(PacketStep::Queued)).event(packet(PacketStep::Looped));
    let scene = scene.event(EventKind::SoftirqRaise { vec: NET_RX }).at(70 * MS + 14).fired(0x77);
    let scene =
        scene.softirq_exit(HRTIMER).at(70 * MS + 20).softirq(NET_RX).event(packet(PacketStep::Received));
    let scene = scene.at(70 * MS + 22).wake(SLAVE, 1).at(70 * MS + 24).softirq_exit(NET_RX);
    let explained = works(scene, 70 * MS + 30, ktimers).at(71 * MS).sleep(IDLE).explain("slave");
    let activations = explained.in_order();
    let last = activations.last().expect("an activation");
    assert_eq!(last.due, Ns::from_us(3 * MS));
    assert_blames(last, Cause::SoftirqDeferred, Some(HOG));
    assert!(last.verdict.why.contains("ktimers/1:15"), "{}", last.verdict.why);
}
