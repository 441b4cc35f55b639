//! Non-maskable interrupts, which `nmi:nmi_handler` traces at their end with their length.

use crate::support::{Explained, Scene, assert_charges, rt};
use whylate_base::{Cpu, Ns};
use whylate_events::EventKind;
use whylate_ledger::Cause;

const VICTIM: crate::support::Thread = rt("victim", 10, 80);
const NMI: EventKind = EventKind::Nmi { delta: Ns::from_us(300) };

/// The victim wakes at 1 000, runs from 1 005 on and sleeps at 1 500; `meanwhile` at 1 400.
fn scene(meanwhile: impl FnOnce(Scene) -> Scene) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(crate::support::IDLE).cpu(0).at(0).run(VICTIM);
    let scene = scene.at(100).sleep(crate::support::IDLE).at(1_000).timer_wakes(VICTIM);
    let scene = meanwhile(scene.at(1_005).run(VICTIM).at(1_400));
    scene.cpu(0).at(1_500).sleep(crate::support::IDLE).at(2_000).explain("victim")
}

#[test]
fn an_nmi_is_charged_for_its_length_to_the_thread_that_it_interrupts() {
    let explained = scene(|scene| scene.event(NMI));
    let worst = explained.worst();
    assert_charges(worst, &[(Cause::Dispatch, 5), (Cause::OwnWork, 195), (Cause::Nmi, 300)]);
    assert_eq!((worst.verdict.cause, worst.verdict.by), (Cause::Nmi, None), "{:?}", worst.verdict);
    let nmi = worst.ledger.iter().find(|segment| segment.cause == Cause::Nmi).expect("a segment");
    assert_eq!((nmi.start, nmi.end, nmi.cpu), (Ns::from_us(1_100), Ns::from_us(1_400), Cpu(0)));
}

#[test]
fn an_nmi_before_the_timers_interrupt_delays_it() {
    let scene = Scene::new().cpu(0).at(0).run(VICTIM).at(50).arm(0xffff_000a, 1_000);
    let scene = scene.at(100).sleep(crate::support::IDLE).at(1_300).event(NMI);
    let explained = scene.timer_wakes(VICTIM).at(1_305).run(VICTIM).at(1_400).sleep(crate::support::IDLE);
    let explained = explained.at(2_000).explain("victim");
    assert_charges(explained.worst(), &[(Cause::Nmi, 300), (Cause::Dispatch, 5), (Cause::OwnWork, 95)]);
}

#[test]
fn an_nmi_on_another_cpu_is_not_charged() {
    let explained = scene(|scene| scene.cpu(1).event(NMI));
    assert_charges(explained.worst(), &[(Cause::Dispatch, 5), (Cause::OwnWork, 495)]);
}

#[test]
fn an_nmi_is_not_longer_than_the_time_since_the_event_before() {
    let explained =
        scene(|scene| scene.at(1_350).sign(whylate_events::ContextFlags::default()).at(1_400).event(NMI));
    assert_charges(explained.worst(), &[(Cause::Dispatch, 5), (Cause::OwnWork, 445), (Cause::Nmi, 50)]);
}

#[test]
fn without_its_event_an_nmi_stays_with_the_thread() {
    let explained = scene(|scene| scene);
    assert_charges(explained.worst(), &[(Cause::Dispatch, 5), (Cause::OwnWork, 495)]);
}
