//! Real-time threads that get their input by threads of less priority.

use super::support::{Explained, IDLE, MS, Scene, Thread, fair, rt, sys};
use whylate_base::Severity;

const SENSOR: Thread = rt("sensor", 10, 70);
const ACTUATOR: Thread = rt("actuator", 12, 60);
const HOG: Thread = rt("hog", 50, 68);

/// Thirty periods of 10 ms in which the sensor wakes the filter, and that the actuator. In the last three the hog has the CPU for `hogged`
/// microseconds before the filter gets it. `set_off`: else a timer of its own wakes the filter.
fn filtered(filter: Thread, set_off: bool, hogged: i64) -> Explained {
    let mut scene = Scene::new().cpu(1);
    for n in 0..30 {
        let due = n * 10 * MS + 1_000;
        let late = if n >= 27 { hogged + n } else { 0 };
        scene =
            scene.at(due).timer_wakes(SENSOR).at(due + 5).run(SENSOR).ret(sys::CLOCK_NANOSLEEP).at(due + 10);
        scene = if set_off { scene.wake(filter, 1) } else { scene.timer_wakes(filter) };
        scene = scene.at(due + 20).call(sys::CLOCK_NANOSLEEP, [1, 1, 0]);
        scene =
            if late > 0 { scene.sleep(HOG).at(due + 20 + late).sleep(filter) } else { scene.sleep(filter) };
        let written = due + 40 + late;
        scene = scene.at(written).wake(ACTUATOR, 1).at(written + 2).run(ACTUATOR);
        scene = scene.at(written + 30).sleep(filter).at(written + 50).sleep(IDLE);
    }
    scene.explain("actuator")
}

#[test]
fn a_thread_that_is_fed_late_has_a_finding_about_the_one_that_feeds_it() {
    let late = filtered(fair("filter", 11), true, 5_000);
    let finding = late.finding("producer-late").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(
        finding.title,
        "filter:11 (nice 0) handed actuator:12 (rt 60) its input late: it waited 5.04 ms for a CPU"
    );
    assert!(finding.why.ends_with("it was late 3 times"), "{}", finding.why);
    let seen = &finding.evidence[0].what;
    assert!(seen.ends_with("for the CPU that hog:50 (rt 68) had for most of that time"), "{seen}");
    assert!(finding.fix[0].text.starts_with("give filter:11 (nice 0) a priority above hog:50 (rt 68)"));
}

#[test]
fn a_thread_that_feeds_another_one_is_late_only_where_it_waits_and_works_for_it() {
    for (filter, set_off, hogged, what) in [
        (fair("filter", 11), true, 500, "half a millisecond is a time slice of another one"),
        (fair("filter", 11), false, 5_000, "its own timer wakes it"),
        (rt("filter", 11, 65), true, 5_000, "it comes before the actuator"),
    ] {
        let explained = filtered(filter, set_off, hogged);
        assert!(explained.finding("producer-late").is_none(), "{what}");
    }
}

/// A player at FIFO that reads a pipe in each of forty periods of 10 ms, after which its source, which works without a pause, has nothing for it once: it
/// waits for `waits` microseconds, of which another thread has the CPU before the source for `hogged`.
fn starved(waits: i64, hogged: i64) -> Explained {
    let (player, source) = (rt("player", 12, 60), fair("source", 11));
    let mut scene = Scene::new().cpu(1).at(0).run(source);
    for n in 0..40 {
        let due = n * 10 * MS + 1_000;
        scene =
            scene.at(due).timer_wakes(player).at(due + 5).run(player).ret(sys::CLOCK_NANOSLEEP).at(due + 30);
        scene = scene.call(sys::CLOCK_NANOSLEEP, [1, 1, 0]).at(due + 32).sleep(source);
    }
    let due = 400 * MS + 1_000;
    scene = scene.at(due).timer_wakes(player).at(due + 5).run(player).ret(sys::CLOCK_NANOSLEEP).at(due + 30);
    scene = scene.call(sys::READ, [0, 0, 100]).at(due + 32).sleep(source).at(due + 40).wake(HOG, 1);
    scene = scene.at(due + 42).run(HOG).at(due + 42 + hogged).sleep(source).at(due + waits).wake(player, 1);
    scene = scene.at(due + waits + 5).run(player).ret(sys::READ).at(due + waits + 30);
    scene.call(sys::CLOCK_NANOSLEEP, [1, 1, 0]).at(due + waits + 32).sleep(source).explain("player")
}

#[test]
fn a_thread_that_waits_far_longer_than_usual_for_a_source_without_a_cpu_is_fed_late() {
    let finding = starved(80 * MS, 70 * MS).finding("producer-late").expect("a finding").clone();
    let title = "source:11 (nice 0) handed player:12 (rt 60) its input late: it waited 70.00 ms for a CPU";
    assert_eq!(finding.title, title);
    assert!(
        finding.why.contains("waited 79.97 ms for input, far longer than it usually takes"),
        "{}",
        finding.why
    );
    for (waits, hogged, what) in
        [(80, 30, "the source itself took longer"), (20, 18, "two periods are nothing unusual")]
    {
        assert!(starved(waits * MS, hogged * MS).finding("producer-late").is_none(), "{what}");
    }
}
