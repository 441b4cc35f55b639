//! Activations from marker to marker.

use crate::support::{Explained, IDLE, Scene, Thread, fair, rt};
use whylate_base::Ns;
use whylate_ledger::{Cause, Culprit, Markers, Options, Trigger};

const WORKER: Thread = fair("worker", 500);
const HOG: Thread = rt("hog", 600, 90);
const SENDER: Thread = fair("sender", 700);

fn asked(end: Option<&str>) -> Options {
    let markers = Markers { begin: "begin".to_owned(), end: end.map(str::to_owned) };
    Options { markers: Some(markers), ..Options::default() }
}

fn from_marker_to_marker(scene: Scene) -> Explained {
    scene.explain_with(&asked(Some("end")))
}

/// A thread that has begun its work at 100.
fn working() -> Scene {
    Scene::new().cpu(1).at(0).run(IDLE).at(50).wake(WORKER, 1).at(60).run(WORKER).at(100).mark("begin 1")
}

#[test]
fn a_sleep_between_markers_belongs_to_the_activation() {
    let explained = from_marker_to_marker(
        working()
            .at(200)
            .sleep(IDLE)
            .at(900)
            .timer_wakes(WORKER)
            .at(910)
            .run(WORKER)
            .at(1_000)
            .mark("end 1")
            .at(1_100)
            .sleep(IDLE),
    );
    let only = explained.only();
    assert_eq!((only.due, only.done), (Ns::from_us(100), Some(Ns::from_us(1_000))));
    assert_eq!((only.trigger, only.latency()), (Trigger::Marker, None));
    let causes: Vec<(Cause, Ns)> = only.ledger.iter().map(|one| (one.cause, one.length())).collect();
    assert_eq!(causes[..2], [(Cause::OwnWork, Ns::from_us(100)), (Cause::OwnWait, Ns::from_us(700))]);
    assert_eq!(causes.last(), Some(&(Cause::OwnWork, Ns::from_us(90))));
    assert_eq!(only.verdict.cause, Cause::OwnWait);
}

/// As cyclictest with a limit and `--tracemark` does.
#[test]
fn what_a_program_writes_about_its_lateness_is_evidence() {
    let said = |text: &str| {
        let scene = Scene::new().cpu(1).at(0).run(IDLE).at(50).timer_wakes(WORKER).at(60).run(WORKER);
        let explained = scene.at(100).mark(text).at(200).sleep(IDLE).explain("worker");
        explained.only().verdict.evidence.iter().map(|seen| seen.what.clone()).collect::<Vec<_>>()
    };
    let text = "hit latency threshold (72 > 30)";
    assert!(said(text).contains(&format!("its own marker: {text}")), "{:?}", said(text));
    for other in ["step 3 of 7", "whylate: callback on_deadline"] {
        assert!(!said(other).iter().any(|seen| seen.contains("marker")), "{:?}", said(other));
    }
}

#[test]
fn who_woke_it_is_named_and_who_had_its_cpu_is_blamed() {
    let explained = from_marker_to_marker(
        working()
            .at(200)
            .sleep(SENDER)
            .at(300)
            .wake(WORKER, 1)
            .at(310)
            .run(HOG)
            .at(5_000)
            .sleep(WORKER)
            .at(5_100)
            .mark("end"),
    );
    let only = explained.only();
    let waited = only.ledger.iter().find(|one| one.cause == Cause::OwnWait).expect("it waited");
    assert!(matches!(waited.by, Some(Culprit::Task { comm, .. }) if comm.as_str() == "sender"), "{waited:?}");
    assert_eq!(only.verdict.cause, Cause::HigherPriorityTask);
}

#[test]
fn without_an_end_the_next_beginning_is_one() {
    let scene = working().at(400).mark("note").at(1_100).mark("begin 2").at(1_300).mark("begin 3");
    let explained = scene.explain_with(&asked(None));
    let spans: Vec<(i64, i64, bool)> = explained
        .in_order()
        .iter()
        .map(|one| (one.due.0 / 1_000, one.end.0 / 1_000, one.is_whole()))
        .collect();
    assert_eq!(spans, [(100, 1_100, true), (1_100, 1_300, true), (1_300, 1_300, false)]);
}

#[test]
fn an_end_that_was_lost_leaves_an_activation_that_is_not_whole() {
    let scene = working().at(1_100).mark("begin 2").at(1_300).mark("end").at(1_400).mark("end");
    let explained = from_marker_to_marker(scene);
    let spans: Vec<(i64, i64, bool)> = explained
        .in_order()
        .iter()
        .map(|one| (one.due.0 / 1_000, one.end.0 / 1_000, one.is_whole()))
        .collect();
    assert_eq!(spans, [(100, 1_100, false), (1_100, 1_300, true)]);
}

#[test]
fn threads_without_markers_are_not_explained() {
    let scene = working().at(200).mark("end").at(300).wake(HOG, 1).at(310).run(HOG).at(900).sleep(WORKER);
    let explained = from_marker_to_marker(scene);
    assert_eq!(explained.only().end, Ns::from_us(200));
}
