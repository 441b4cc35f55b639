//! Threads that pin themselves to a CPU before they are real-time.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Confidence, Severity};
use whylate_events::ContextFlags;
use whylate_ledger::{Activation, Cause, Options, Select};

/// The victim pins itself to the hog's CPU as SCHED_OTHER, and is moved there.
fn pins_itself_first(hog: Thread, victim: Thread) -> Scene {
    let stopper = rt("migration/2", 22, 99);
    Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .cpu(2)
        .at(0)
        .sign(ContextFlags::default())
        .at(10)
        .timer_wakes(victim)
        .at(12)
        .run(victim)
        .at(100)
        .call(sys::SCHED_SETAFFINITY, [0, 8, 0])
        .wake(stopper, 2)
        .at(102)
        .block(stopper)
        .at(104)
        .migrate(victim, 2, 1)
        .at(106)
        .wake(victim, 1)
        .at(108)
        .sleep(IDLE)
        .cpu(1)
}

/// What `rtapp`, which is selected by default, did.
fn of_rtapp(explained: &Explained) -> &Activation {
    explained.0.activations.iter().find(|activation| activation.tid.0 == 10).expect("selected by default")
}

#[test]
fn a_thread_that_pins_itself_first_and_is_raised_later_is_reported() {
    let (hog, victim, raised) = (rt("hog", 20, 1), fair("rtapp", 10), rt("rtapp", 10, 50));
    let explained = pins_itself_first(hog, victim)
        .at(5_000 * MS + 106)
        .sleep(victim)
        .at(5_000 * MS + 110)
        .ret(sys::SCHED_SETAFFINITY)
        .call(sys::SCHED_SETSCHEDULER, [0, 1, 0])
        .ret(sys::SCHED_SETSCHEDULER)
        .unseen_switch_to(raised)
        .at(5_000 * MS + 206)
        .sleep(IDLE)
        .explain_with(&Options::default());
    let activation = of_rtapp(&explained);
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 2),
            (Cause::OwnWork, 90 + 100),
            (Cause::Migration, 4),
            (Cause::PinnedBeforePriority, 5_000 * MS),
        ],
    );
    assert_blames(activation, Cause::PinnedBeforePriority, Some(hog));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    assert!(explained.finding("pinned-before-priority").is_some(), "{:?}", explained.codes());
}

/// The next period was due while it was stuck as well.
#[test]
fn the_time_for_which_several_periods_were_stuck_counts_once() {
    let (hog, victim, raised) = (rt("hog", 20, 1), fair("rtapp", 10), rt("rtapp", 10, 50));
    let scene = pins_itself_first(hog, victim).at(5_000 * MS + 106).sleep(victim).at(5_000 * MS + 110);
    let scene = scene.ret(sys::SCHED_SETAFFINITY).call(sys::SCHED_SETSCHEDULER, [0, 1, 0]);
    let scene = scene.ret(sys::SCHED_SETSCHEDULER).unseen_switch_to(raised).at(5_000 * MS + 206);
    let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(0xa000, 10 * MS).at(5_000 * MS + 208);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(5_000 * MS + 306).sleep(IDLE);
    let explained = scene.explain_with(&Options::default());
    let stuck = |one: &&Activation| one.verdict.cause == Cause::PinnedBeforePriority;
    assert_eq!(explained.0.activations.iter().filter(stuck).count(), 2);
    let finding = explained.finding("pinned-before-priority").expect("a finding");
    assert!(finding.why.starts_with("hog:20 (rt 1) held that CPU for 5.000 s: only then"), "{}", finding.why);
}

#[test]
fn a_thread_that_pins_itself_first_and_is_never_raised_is_reported() {
    let (hog, victim) = (rt("hog", 20, 1), fair("rtapp", 10));
    let explained = pins_itself_first(hog, victim)
        .at(5_000 * MS + 106)
        .sign(ContextFlags::default())
        .explain_with(&Options::default());
    let activation = of_rtapp(&explained);
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 2),
            (Cause::OwnWork, 90),
            (Cause::Migration, 4),
            (Cause::PinnedBeforePriority, 5_000 * MS),
        ],
    );
    assert_blames(activation, Cause::PinnedBeforePriority, Some(hog));
    let finding = explained.finding("pinned-before-priority").expect("a finding");
    assert!(finding.why.contains("never got to raise"), "{}", finding.why);
}

/// As taskset(1) that starts chrt(1): both work for 40 ms, and a real-time thread comes before them for 5 ms.
#[test]
fn a_thread_that_mostly_worked_was_not_stuck() {
    for (works, is_reported) in [(40 * MS, false), (MS, true)] {
        let (hog, victim, raised) = (rt("hog", 20, 1), fair("rtapp", 10), rt("rtapp", 10, 50));
        let scene = pins_itself_first(hog, victim).at(5 * MS + 106).sleep(victim);
        let scene = scene.at(5 * MS + 110).ret(sys::SCHED_SETAFFINITY).at(5 * MS + 110 + works);
        let scene = scene.call(sys::SCHED_SETSCHEDULER, [0, 1, 0]).ret(sys::SCHED_SETSCHEDULER);
        let scene = scene.unseen_switch_to(raised).at(5 * MS + works + 200).sleep(IDLE);
        let explained = scene.explain_with(&Options::default());
        let finding = explained.finding("pinned-before-priority");
        assert_eq!(finding.map(|finding| finding.severity), is_reported.then_some(Severity::Warning));
    }
}

#[test]
fn a_thread_that_pins_itself_first_is_not_stuck_behind_the_kernels_own_threads() {
    let (ktimers, victim) = (rt("ktimers/1", 20, 1), fair("rtapp", 10));
    let explained = pins_itself_first(ktimers, victim)
        .at(5_000 * MS + 106)
        .sign(ContextFlags::default())
        .explain_with(&Options { tasks: vec![Select::parse("rtapp")], ..Options::default() });
    assert_blames(explained.worst(), Cause::HigherPriorityTask, Some(ktimers));
    assert!(explained.finding("pinned-before-priority").is_none(), "{:?}", explained.codes());
}

#[test]
fn a_fair_thread_that_did_not_pin_itself_is_simply_outranked() {
    let (hog, victim) = (rt("hog", 20, 1), fair("victim", 10));
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(victim)
        .at(50 * MS)
        .sleep(victim)
        .at(51 * MS)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 50 * MS - 100), (Cause::OwnWork, MS)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
}
