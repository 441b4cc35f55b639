//! A recording of some CPUs only (`record --cpus`): what it leaves open, and whom it therefore does not accuse.

use super::support::{
    Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, charged_to, fair, rt,
};
use whylate_base::{Confidence, Ns, Severity, Tid};
use whylate_events::{ContextFlags, Fact};
use whylate_ledger::{Cause, Trigger};

const VICTIM: Thread = rt("victim", 10, 80);
const LOW: Thread = fair("low", 20);
const HIGH: Thread = rt("high", 30, 90);

fn cpus(list: &str) -> whylate_base::CpuSet {
    list.parse().expect("a list")
}

/// A recording of CPU 1 alone, of a thread that may use the CPUs of `affinity`.
fn of_cpu_1(affinity: Option<&str>) -> Scene {
    let scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::RecordedCpus(cpus("1")));
    let allowed = |list| Fact::Affinity { tid: Tid(VICTIM.tid), cpus: cpus(list) };
    affinity.into_iter().fold(scene, |scene, list| scene.fact(allowed(list))).sign(ContextFlags::default())
}

/// The victim is preempted by a higher thread.
fn preempted(scene: Scene) -> Scene {
    scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(200).timer_wakes(HIGH).run(HIGH)
}

/// The victim is preempted by a higher thread, and a lower one runs after that, for 50 ms.
fn passed_over(scene: Scene) -> Explained {
    preempted(scene)
        .at(5 * MS)
        .sleep(LOW)
        .at(55 * MS)
        .run(VICTIM)
        .at(55 * MS + 100)
        .sleep(IDLE)
        .explain("victim")
}

#[test]
fn a_thread_that_may_be_elsewhere_proves_no_throttling() {
    let pinned = passed_over(of_cpu_1(Some("1")));
    assert_blames(pinned.worst(), Cause::RtThrottled, None);
    for affinity in [None, Some("1-2")] {
        let explained = passed_over(of_cpu_1(affinity));
        let worst = explained.worst();
        assert!(worst.ledger.iter().all(|segment| segment.cause != Cause::RtThrottled), "{worst:#?}");
        assert!(worst.response() < Ns::from_ms(1), "it was elsewhere when LOW was chosen: {worst:#?}");
        assert!(explained.finding("rt-throttled").is_none(), "{:?}", explained.codes());
    }
}

#[test]
fn a_wakeup_by_another_cpu_is_counted_as_unseen() {
    let scene = of_cpu_1(Some("1")).at(100).run(VICTIM).at(150).sleep(IDLE);
    let explained = scene.at(400).run(VICTIM).at(450).sleep(IDLE).explain("victim");
    let last = explained.in_order().last().copied().expect("an activation");
    assert_eq!((last.due, last.latency()), (Ns::from_us(400), None), "how long it had waited is not known");
    let finding = explained.finding("cpus-not-recorded").expect("a finding");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.title.contains("CPUs 1 ") && finding.title.contains("1 wake-up"), "{finding:#?}");
    let whole = Scene::new().cpu(1).at(100).run(VICTIM).at(150).sleep(IDLE).explain("victim");
    assert!(whole.finding("cpus-not-recorded").is_none());
}

#[test]
fn a_wait_that_the_thread_may_have_spent_elsewhere_is_less_certain() {
    let explained = |affinity| {
        let scene = of_cpu_1(Some(affinity)).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(200);
        let scene = scene.timer_wakes(HIGH).run(HIGH).at(5 * MS).sleep(VICTIM);
        scene.at(5 * MS + 100).sleep(IDLE).explain("victim")
    };
    for (affinity, confidence) in [("1", Confidence::High), ("1-2", Confidence::Medium)] {
        let explained = explained(affinity);
        let activation = explained.only();
        assert_eq!(charged_to(activation, Cause::HigherPriorityTask, HIGH), Ns::from_us(4_800), "{affinity}");
        assert_eq!(activation.verdict.confidence, confidence, "{affinity}");
    }
}

/// The idle task is chosen only where no thread waits: the one that was queued has been taken to another CPU.
#[test]
fn a_thread_that_was_taken_away_before_it_ran_is_not_waiting() {
    let scene = of_cpu_1(None).at(50).run(HIGH).at(100).timer_wakes(VICTIM).at(300).sleep(IDLE);
    let explained = scene.at(5_000 * MS).run(HIGH).at(5_000 * MS + 10).sleep(IDLE).explain("victim");
    assert!(explained.only().response() < Ns::from_ms(1), "{:#?}", explained.only());
}

/// Woken for a CPU that is not recorded, it comes back 5 s later: that is no response of 5 s.
#[test]
fn what_a_thread_does_on_another_cpu_is_no_lateness() {
    let away =
        of_cpu_1(None).at(100).wake(VICTIM, 2).at(5_000 * MS).run(VICTIM).at(5_000 * MS + 100).sleep(IDLE);
    let moved = of_cpu_1(None)
        .at(100)
        .timer_wakes(VICTIM)
        .at(110)
        .migrate(VICTIM, 1, 2)
        .at(5_000 * MS)
        .run(VICTIM)
        .at(5_000 * MS + 100)
        .sleep(IDLE);
    for scene in [away, moved] {
        let explained = scene.explain("victim");
        for activation in explained.in_order() {
            assert!(activation.response() < Ns::from_ms(1), "{activation:#?}");
            assert!(activation.latency().is_none_or(|latency| latency < Ns::from_ms(1)), "{activation:#?}");
        }
        let back = explained.in_order().last().copied().expect("an activation");
        assert_eq!(back.trigger, Trigger::TraceStart);
    }
}

/// Its timer was armed here and fired elsewhere; the one that fires now was armed elsewhere, at the same address.
#[test]
fn a_timer_that_may_have_been_armed_again_elsewhere_is_not_late() {
    let explained = |affinity| {
        let scene = of_cpu_1(Some(affinity)).at(50).run(VICTIM).at(60).arm(7, 200).at(70).sleep(IDLE);
        let scene = scene.at(900 * MS).fire(7).wake(VICTIM, 1).fired(7).at(900 * MS + 5).run(VICTIM);
        scene.at(900 * MS + 50).sleep(IDLE).explain("victim")
    };
    let late = explained("1");
    assert!(late.worst().response() > Ns::from_ms(800), "{:#?}", late.worst());
    let unknown = explained("1-2");
    assert!(unknown.worst().response() < Ns::from_ms(1), "{:#?}", unknown.worst());
}

/// The wait for the lock may have ended on another CPU: the sleep that ends here may be another one.
#[test]
fn a_lock_is_not_charged_through_a_time_out_of_sight() {
    use super::support::sys;
    let explained = |affinity| {
        let scene = of_cpu_1(Some(affinity)).at(50).timer_wakes(VICTIM).run(VICTIM).at(60);
        let scene = scene.call(sys::FUTEX, sys::LOCK).at(70).sleep(LOW).at(700 * MS);
        scene.wake(VICTIM, 1).run(VICTIM).ret(sys::FUTEX).at(700 * MS + 50).sleep(IDLE).explain("victim")
    };
    let waited = |explained: &Explained| {
        let of = |cause| move |segment: &&whylate_ledger::Segment| segment.cause == cause;
        let all = explained.in_order().into_iter().flat_map(|activation| &activation.ledger);
        let locks = all.filter(of(Cause::LockWait)).chain(
            explained
                .in_order()
                .into_iter()
                .flat_map(|activation| &activation.ledger)
                .filter(of(Cause::LockInversion)),
        );
        locks.map(|segment| segment.length()).sum::<Ns>()
    };
    assert!(waited(&explained("1")) > Ns::from_ms(600));
    assert_eq!(waited(&explained("1-2")), Ns::ZERO);
}

#[test]
fn what_happens_on_recorded_cpus_to_a_pinned_thread_is_charged_as_ever() {
    let explained =
        preempted(of_cpu_1(Some("1"))).at(1_200).sleep(VICTIM).at(1_300).sleep(IDLE).explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 5), (Cause::OwnWork, 95 + 100), (Cause::HigherPriorityTask, 1_000)],
    );
    assert_eq!(activation.verdict.confidence, Confidence::High);
}
