//! A wake-up of a thread that seems to run: it slept meanwhile, or is on its way to sleep.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContextFlags, EventKind};
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 80);
const WAKER: Thread = fair("waker", 40);
const HOG: Thread = rt("hog", 20, 90);

fn wakeup(scene: Scene, target: u32) -> Scene {
    scene.event(EventKind::Wakeup { wake: Scene::wake_event(VICTIM, target), new: false })
}

/// The victim runs on CPU 1, is woken, and runs on CPU 2 behind another thread: its switches in between are not recorded.
#[test]
fn a_thread_that_slept_unseen_is_late_from_its_wake_up_on() {
    let scene = Scene::new().cpu(2).at(0).run(HOG).cpu(1).at(10).wake(VICTIM, 1).at(15).run(VICTIM);
    let scene = wakeup(scene.cpu(0).at(20 * MS).run(WAKER).at(20 * MS + 10), 2);
    let explained = scene.cpu(2).at(23 * MS).run(VICTIM).at(24 * MS).sleep(IDLE).explain("victim");
    let late = explained.0.activations.iter().find(|one| one.due == Ns::from_us(20 * MS + 10));
    let late = late.expect("an activation from the wake-up on");
    assert_eq!(late.latency(), Some(Ns::from_us(3 * MS - 10)));
    assert_blames(late, Cause::HigherPriorityTask, Some(HOG));
}

/// Its own CPU shows it at the wake-up: that came before the thread had left the CPU, which it then did not.
#[test]
fn a_wake_up_before_the_thread_has_left_the_cpu_begins_nothing() {
    let scene = Scene::new().cpu(2).at(0).run(HOG).cpu(1).at(10).wake(VICTIM, 1).at(15).run(VICTIM);
    let scene = wakeup(scene.at(20 * MS).irq(40, "eth0"), 1).at(20 * MS + 5).irq_exit(40);
    let explained = scene.cpu(2).at(23 * MS).run(VICTIM).at(24 * MS).sleep(IDLE).explain("victim");
    assert_eq!(explained.0.tasks[0].activations, 1);
}

/// The handler of the CPU's own timer ends a sleep by itself, also where no event shows which timer.
#[test]
fn the_timer_interrupt_upon_the_thread_ends_what_it_did() {
    let begun = |name: &str| {
        let scene = Scene::new().cpu(1).at(0).irq(11, name);
        let scene = wakeup(scene.at(4), 1).at(6).irq_exit(11).at(15).run(VICTIM);
        let scene = wakeup(scene.at(2 * MS).irq(11, name).at(2 * MS + 5), 1).at(2 * MS + 9).irq_exit(11);
        let explained = scene.at(3 * MS).sleep(IDLE).explain("victim");
        let mut due: Vec<i64> = explained.0.activations.iter().map(|one| one.due.0 / 1_000).collect();
        due.sort_unstable();
        due
    };
    assert_eq!(begun("arch_timer"), [4, 2 * MS + 5]);
    assert_eq!(begun("eth0"), [0]);
}

/// Most of its latency is one notable delay: however long it works on, something delayed it.
#[test]
fn a_real_time_thread_that_starts_late_was_delayed() {
    let verdict = |victim: Thread, delay: i64| {
        let scene = Scene::new().cpu(1).at(0).irq(11, "arch_timer");
        let wake = EventKind::Wakeup { wake: Scene::wake_event(victim, 1), new: false };
        let scene = scene.at(4).event(wake).at(6).irq_exit(11).at(6 + delay).run(victim);
        let explained = scene.at(6 * MS).sleep(IDLE).explain("victim");
        explained.only().verdict.clone()
    };
    let (late, in_time) = (verdict(VICTIM, 180), verdict(VICTIM, 8));
    assert_eq!((late.cause, late.charged), (Cause::Dispatch, Ns::from_us(180)));
    assert!(!late.why.contains("nothing delayed"), "{}", late.why);
    assert!(in_time.why.contains("nothing delayed"), "{}", in_time.why);
    assert!(verdict(fair("victim", 10), 180).why.contains("nothing delayed"));
}

/// No event is a switch, and the recording ends behind the wake-up: the thread slept, as its CPU showed nothing of it since.
#[test]
fn without_switches_a_wake_up_ends_what_the_thread_did() {
    let scene = Scene::new()
        .cpu(1)
        .at(8)
        .wakeup(VICTIM, 1)
        .at(10)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(15)
        .sign(ContextFlags::default());
    let scene = scene.cpu(2).at(60).unseen_switch_to(WAKER).at(70);
    let explained = wakeup(scene, 1).at(75).sign(ContextFlags::default()).explain("victim");
    let ends: Vec<(Ns, Ns)> = explained.in_order().iter().map(|one| (one.due, one.end)).collect();
    assert_eq!(ends, [(8, 15), (70, 75)].map(|(due, end)| (Ns::from_us(due), Ns::from_us(end))));
    for activation in explained.in_order() {
        let verdict = &activation.verdict;
        assert_eq!(verdict.confidence, Confidence::Low);
        assert!(verdict.why.starts_with("cannot tell whether anything delayed victim"), "{}", verdict.why);
    }
    assert!(explained.0.shows_no_delays());
}

/// The CPU's switches are recorded, and none shows that the thread left: the wake-up came before it had.
#[test]
fn with_switches_a_thread_that_is_woken_last_ran_on() {
    let scene = Scene::new().cpu(1).at(10).wake(VICTIM, 1).at(15).run(VICTIM);
    let scene = wakeup(scene.cpu(2).at(60).run(WAKER).at(70), 1).at(75).sleep(IDLE);
    let explained = scene.explain("victim");
    assert_eq!(explained.0.tasks[0].activations, 1);
    assert!(!explained.0.shows_no_delays());
}

/// Most switches of the CPU were not recorded: an event of the thread after its wake-up shows no more than that it runs again.
#[test]
fn where_most_switches_are_missing_a_woken_thread_slept() {
    let scene = Scene::new().cpu(2).at(0).run(WAKER).wakeup(VICTIM, 1).cpu(1).at(1).run(HOG);
    let shown =
        |scene: Scene, at, thread| scene.at(at).unseen_switch_to(thread).sign(ContextFlags::default());
    let scene = shown(shown(shown(scene, 5, VICTIM), 8, HOG), 10, VICTIM);
    let scene = wakeup(scene.cpu(2).at(2 * MS), 1);
    let scene = scene.cpu(1).at(2 * MS + 400).sign(ContextFlags::default()).at(3 * MS).sleep(IDLE);
    let explained = scene.explain("victim");
    let woken = *explained.in_order().last().expect("an activation from the wake-up on");
    assert_eq!((woken.due, woken.latency()), (Ns::from_us(2 * MS), Some(Ns::from_us(400))));
    let before = explained.in_order()[0];
    assert_eq!((before.end, before.verdict.confidence), (Ns::from_us(10), Confidence::Low));
}
