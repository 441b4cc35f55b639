//! Several culprits, and the findings about them.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_base::Severity;
use whylate_events::ContextFlags;
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 80);

#[test]
fn of_two_culprits_in_one_activation_both_are_findings() {
    let (first, second) = (rt("first", 20, 90), rt("second", 21, 90));
    let titles = |ms: i64| {
        let scene = Scene::new().cpu(1).at(0).run(first).at(10).timer_wakes(VICTIM).wake(second, 1);
        let scene = scene.at(30 * MS).sleep(second).at((30 + ms) * MS).sleep(VICTIM);
        let explained = scene.at((30 + ms) * MS + 50).sleep(IDLE).explain("victim");
        assert_blames(explained.only(), Cause::HigherPriorityTask, Some(first));
        explained.0.findings.iter().map(|finding| finding.title.clone()).collect::<Vec<_>>()
    };
    let both = titles(20);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[0].starts_with("first:20 (rt 90) delayed victim:10 (rt 80) by up to 29.99 ms"), "{both:?}");
    assert!(both[1].starts_with("second:21 (rt 90) delayed victim:10 (rt 80) by up to 20.00 ms"), "{both:?}");
    assert_eq!(titles(2).len(), 1);
}

#[test]
fn threads_of_one_name_and_priority_are_one_culprit() {
    let title = |workers: &[Thread]| {
        let scene = Scene::new().cpu(1).at(0).run(workers[0]).at(10).timer_wakes(VICTIM);
        let scene = workers[1..].iter().fold(scene, |scene, worker| scene.wake(*worker, 1));
        let ends = workers[1..].iter().zip(1..);
        let scene = ends.fold(scene, |scene, (worker, n)| scene.at(10 * MS * n).sleep(*worker));
        let end = 10 * MS * workers.len() as i64;
        let explained = scene.at(end).sleep(VICTIM).at(end + 50).sleep(IDLE).explain("victim");
        let [finding] = explained.0.findings.as_slice() else { panic!("{:?}", explained.0.findings) };
        (finding.title.clone(), finding.why.clone())
    };
    let worker = |tid| rt("worker", tid, 90);
    let (several, why) = title(&[worker(20), worker(21), worker(22)]);
    let expected = "worker:21 (rt 90) and 2 more of that name delayed victim:10 (rt 80) by up to 29.99 ms";
    assert!(several.starts_with(expected), "{several}");
    assert_eq!(why, "they delayed activations by 29.99 ms in all");
    let (one, why) = title(&[worker(20)]);
    assert!(one.starts_with("worker:20 (rt 90) delayed victim:10 (rt 80) by up to 9.99 ms"), "{one}");
    assert_eq!(why, "it delayed one activation by 9.99 ms");
}

/// Forty periods of 20 ms: in every fourth `seldom` runs before the victim for 9 ms, and in the others, for as long as `charged` says,
/// another thread does.
fn late_beside_the_worst(charged: impl Fn(i64) -> i64) -> Vec<(String, Severity)> {
    let (other, seldom) = (rt("other", 20, 90), rt("seldom", 21, 90));
    let scene = (0..40).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
        let due = n * 20 * MS + 100;
        let (by, late) = if n % 4 == 3 { (seldom, 9 * MS) } else { (other, charged(n)) };
        let scene = match late {
            0 => scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM),
            late => {
                let scene = scene.at(due - 50).wake(by, 1).at(due - 40).run(by).at(due).timer_wakes(VICTIM);
                scene.at(due + late).sleep(VICTIM)
            }
        };
        scene.at(due + late + 50).sleep(IDLE)
    });
    let explained = scene.explain("victim");
    explained.0.findings.iter().map(|finding| (finding.title.clone(), finding.severity)).collect()
}

#[test]
fn what_delays_others_than_the_worst_activations_is_a_finding_too() {
    let often = late_beside_the_worst(|_| 3 * MS);
    assert_eq!(often.len(), 2, "{often:?}");
    assert!(
        often[0].0.starts_with("seldom:21 (rt 90) delayed victim:10 (rt 80) by up to 9.00 ms"),
        "{often:?}"
    );
    let second =
        "victim:10 (rt 80) was often late: higher-priority-task by other:20 (rt 90), by 3.00 ms on average";
    assert_eq!(often[1], (second.to_owned(), Severity::Info));
    let twice = late_beside_the_worst(|n| if n == 8 || n == 16 { 6 * MS } else { 0 });
    let second = "other:20 (rt 90) delayed victim:10 (rt 80) by up to 6.00 ms: higher priority";
    assert_eq!(twice[1], (second.to_owned(), Severity::Warning), "{twice:?}");
    assert_eq!(late_beside_the_worst(|n| if n == 8 { MS } else { 0 }).len(), 1);
}

#[test]
fn several_threads_that_run_first_are_one_delay() {
    let victim = fair("victim", 10);
    let others = [21, 22, 23].map(|tid| Thread { tid, ..fair("other", 20) });
    let scene = Scene::new().cpu(1).at(0).run(others[0]).at(100).wake(victim, 1);
    let scene = scene.at(2_100).run(others[1]).at(4_100).run(others[2]).at(6_100).run(victim);
    let explained = scene.at(9_100).sleep(IDLE).explain("victim");
    let activation = explained.only();
    assert_eq!(activation.verdict.cause, Cause::FairQueue);
    let seen: Vec<&str> = activation.verdict.evidence.iter().map(|seen| seen.what.as_str()).collect();
    assert!(seen.contains(&"2 other threads ran before it as well: 4.00 ms in all"), "{seen:?}");
}

#[test]
fn a_culprit_that_records_traces_is_named_as_such() {
    for (name, is_recorder) in [("trace-cmd", true), ("perfect", false)] {
        let scene = Scene::new().cpu(1).at(0).run(rt(name, 20, 90)).at(100).timer_wakes(VICTIM).at(5 * MS);
        let explained = scene.sleep(VICTIM).at(5 * MS + 50).sleep(IDLE).explain("victim");
        let mut evidence = explained.only().verdict.evidence.iter();
        assert_eq!(evidence.any(|one| one.what.contains("records traces")), is_recorder, "{name}");
    }
}

/// The worst activations worked for 9 ms themselves; another thread ran before one of them for `in_worst`, and for 3 ms before another one.
#[test]
fn a_finding_beside_the_worst_activations_tells_what_it_took_of_those() {
    let other = rt("other", 20, 90);
    let said = |in_worst: i64| {
        let scene = (0..40).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
            let due = n * 20 * MS + 100;
            let work = if n % 4 == 3 { 9 * MS } else { 50 };
            let late = match n {
                7 => in_worst,
                8 => 3 * MS,
                _ => 0,
            };
            let scene = match late {
                0 => scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM),
                late => {
                    let scene = scene.at(due - 50).wake(other, 1).at(due - 40).run(other);
                    scene.at(due).timer_wakes(VICTIM).at(due + late).sleep(VICTIM)
                }
            };
            scene.at(due + late + work).sleep(IDLE)
        });
        let explained = scene.explain("victim");
        assert_blames(explained.worst(), Cause::OwnWork, None);
        let finding = explained.finding("higher-priority-task").expect("a finding").clone();
        (finding.why, finding.evidence[0].what.clone())
    };
    let (why, evidence) = said(1_500);
    assert!(why.ends_with("name another cause; it took 4.50 ms in all"), "{why}");
    assert_eq!(evidence, "in 2 of 40 activations, 1 of them among the worst (up to 1.50 ms there)");
    let (why, evidence) = said(0);
    assert!(why.ends_with("in others it took 3.00 ms in all"), "{why}");
    assert_eq!(evidence, "in 1 of 40 activations, of which none is among the worst");
}

/// A thread in the middle keeps the owner of a lock off the CPU for 12 ms in every fifth activation; the owner itself holds it for 2.5 ms of these.
#[test]
fn the_owner_in_an_inversion_is_no_second_culprit() {
    let (low, middle) = (rt("low", 20, 10), rt("middle", 30, 30));
    let scene = (0..40).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
        let due = n * 20 * MS + 100;
        if n % 5 != 4 {
            let scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
            return scene.at(due + 50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 52).sleep(IDLE);
        }
        let scene = scene.at(due - 50).wake(low, 1).at(due - 40).run(low).at(due).timer_wakes(VICTIM);
        let scene =
            scene.at(due + 5).run(VICTIM).at(due + 50).call(sys::FUTEX, sys::LOCK).at(due + 52).sleep(low);
        let scene = scene.at(due + MS).timer_wakes(middle).at(due + MS + 5).run(middle);
        let scene = scene.at(due + 13 * MS).sleep(low).at(due + 14_500).wake(VICTIM, 1);
        let scene = scene.at(due + 14_505).run(VICTIM).ret(sys::FUTEX);
        let scene = scene.at(due + 14_600).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 14_602).sleep(low);
        scene.at(due + 14_700).sleep(IDLE)
    });
    let explained = scene.explain("victim");
    assert_blames(explained.worst(), Cause::LockInversion, Some(middle));
    assert!(explained.finding("lock-wait").is_none(), "{:?}", explained.0.findings);
}

/// A thread of higher priority that delays each activation a little, and one by its end.
#[test]
fn a_delay_by_the_end_of_a_program_is_told_as_such() {
    let sensor = rt("sensor", 20, 90);
    let scene = (0..25).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
        let due = n * 20 * MS + 100;
        let late = if n == 24 { 10 * MS } else { 40 };
        let scene = scene.at(due - 50).wake(sensor, 1).at(due - 40).run(sensor).at(due).timer_wakes(VICTIM);
        let scene = match n {
            24 => scene.at(due + MS).call(sys::EXIT_GROUP, [0, 0, 0]).at(due + late).die(VICTIM),
            _ => scene.at(due + late).sleep(VICTIM),
        };
        scene.at(due + late + 50).sleep(IDLE)
    });
    let explained = scene.explain("victim");
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert!(finding.why.ends_with("in all, most of it once"), "{}", finding.why);
    let what = "sensor:20 (rt 90) ended: its end is a part of this delay";
    assert!(finding.evidence.iter().any(|seen| seen.what == what), "{:?}", finding.evidence);
}

/// Another thread runs before it in every activation, and takes 30 us; in one of those that are not among the worst it takes 4 ms.
#[test]
fn a_delay_far_beyond_the_usual_one_of_its_culprit_is_a_finding() {
    let other = rt("other", 20, 90);
    let found = |most: i64| {
        let scene = (0..40).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
            let due = n * 20 * MS + 100;
            let (late, work) = (if n == 8 { most } else { 30 }, if n % 4 == 3 { 9 * MS } else { 50 });
            let scene = scene.at(due - 50).wake(other, 1).at(due - 40).run(other);
            let scene = scene.at(due).timer_wakes(VICTIM).at(due + late).sleep(VICTIM);
            scene.at(due + late + work).sleep(IDLE)
        });
        let explained = scene.explain("victim");
        assert_blames(explained.worst(), Cause::OwnWork, None);
        explained.finding("higher-priority-task").map(|finding| (finding.severity, finding.title.clone()))
    };
    let (severity, title) = found(4 * MS).expect("a finding");
    assert_eq!(severity, Severity::Warning);
    assert!(title.contains("delayed victim:10 (rt 80) by up to 4.00 ms"), "{title}");
    assert_eq!(found(100), None, "it is always there, and takes little");
}

/// A SCHED_OTHER thread, which a real-time one delays by 15 ms in most of its worst activations, takes turns with another one.
#[test]
fn turns_far_longer_than_one_slice_are_named_beside_another_fault() {
    let (hog, other, victim) = (rt("hog", 20, 90), fair("other", 21), fair("victim", 10));
    let found = |turn: i64, faults: bool| {
        let scene = (0..48).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
            let due = n * 20 * MS + 100;
            let (by, late) = match n % 4 {
                3 if faults => (hog, 15 * MS),
                0 => (other, turn),
                _ => (other, 10),
            };
            let scene = scene.at(due - 50).wake(by, 1).at(due - 40).run(by).at(due).timer_wakes(victim);
            scene.at(due + late).sleep(victim).at(due + late + 50).sleep(IDLE)
        });
        scene.explain("victim").finding("fair-queue").map(|finding| (finding.severity, finding.title.clone()))
    };
    let (severity, title) = found(8 * MS, true).expect("a finding");
    assert_eq!(severity, Severity::Info);
    assert!(title.starts_with("other:21 (nice 0) delayed victim:10 (nice 0) by up to 8.00 ms"), "{title}");
    assert_eq!(found(3 * MS, true), None, "one slice is a turn");
    assert_eq!(found(8 * MS, false), None, "its verdicts have it");
}
