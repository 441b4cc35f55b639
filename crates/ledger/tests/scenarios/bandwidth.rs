//! RT throttling and the fair server: times a runnable real-time thread is passed over.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContextFlags, Fact};
use whylate_ledger::Cause;

const HOG: Thread = rt("hog", 20, 1);
const VICTIM: Thread = rt("victim", 10, 50);

/// The hog runs for 950 ms and is taken off CPU 1 for `instead`; the victim wakes 10 ms later, and
/// runs when a second is over.
fn taken_off(scene: Scene, instead: Thread) -> Scene {
    scene
        .cpu(1)
        .at(0)
        .run(HOG)
        .at(950 * MS)
        .run(instead)
        .at(960 * MS)
        .timer_wakes(VICTIM)
        .at(1_000 * MS)
        .run(VICTIM)
        .at(1_000 * MS + 200)
        .sleep(HOG)
}

#[test]
fn an_idle_cpu_with_a_runnable_thread_is_rt_throttling() {
    let told = taken_off(Scene::new().kernel("6.1.0-18-amd64"), IDLE).explain("victim");
    let activation = told.only();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    let finding = told.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("50.00 ms") && finding.title.contains("CPU 1"), "{}", finding.title);
}

#[test]
fn a_loss_ends_what_is_known_of_throttling() {
    let told = Scene::new()
        .kernel("6.1.0-18-amd64")
        .cpu(1)
        .at(0)
        .run(HOG)
        .at(950 * MS)
        .run(IDLE)
        .at(955 * MS)
        .sign(ContextFlags::default())
        .at(1_500 * MS)
        .lose()
        .sign(ContextFlags::default())
        .at(2_000 * MS)
        .timer_wakes(VICTIM)
        .at(2_000 * MS + 100)
        .run(VICTIM)
        .at(2_000 * MS + 300)
        .sleep(IDLE)
        .explain("victim");
    assert_charges(told.only(), &[(Cause::IdleExit, 100), (Cause::OwnWork, 200)]);
    assert!(told.finding("rt-throttled").is_none());
}

#[test]
fn throttling_three_times_has_a_rhythm() {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).run(HOG);
    for second in 0..3 {
        let start = second * 1_000 * MS;
        scene = scene
            .at(start + 950 * MS)
            .run(IDLE)
            .at(start + 953 * MS)
            .timer_wakes(VICTIM)
            .at(start + 1_000 * MS)
            .run(VICTIM)
            .at(start + 1_000 * MS + 200)
            .sleep(HOG);
    }
    let told = scene.explain("victim");
    assert_eq!(told.0.activations.len(), 3);
    for activation in &told.0.activations {
        assert_charges(activation, &[(Cause::RtThrottled, 47 * MS), (Cause::OwnWork, 200)]);
        assert_blames(activation, Cause::RtThrottled, Some(HOG));
    }
    let finding = told.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("3 times, every 1.000 s, 50.00 ms each"), "{}", finding.title);
}

#[test]
fn a_throttled_thread_itself_is_charged_while_it_is_off() {
    let told = Scene::new()
        .kernel("5.15.0")
        .cpu(1)
        .at(0)
        .timer_wakes(HOG)
        .at(5)
        .run(HOG)
        .at(950 * MS)
        .run(IDLE)
        .at(1_000 * MS)
        .run(HOG)
        .at(1_500 * MS)
        .sleep(IDLE)
        .explain("hog");
    let activation = told.only();
    let own = 950 * MS - 5 + 500 * MS;
    assert_charges(activation, &[(Cause::IdleExit, 5), (Cause::OwnWork, own), (Cause::RtThrottled, 50 * MS)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
}

#[test]
fn only_fair_threads_in_front_on_a_new_kernel_is_the_fair_server() {
    let sshd = fair("sshd", 30);
    let told = taken_off(
        Scene::new()
            .kernel("6.12.9-amd64")
            .cpu(1)
            .at(0)
            .fact(Fact::RtGroupSched(false))
            .fact(Fact::FairServerNs(50_000_000)),
        sshd,
    )
    .explain("victim");
    let activation = told.only();
    assert_charges(activation, &[(Cause::FairServer, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::FairServer, Some(sshd));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    assert!(told.finding("fair-server").is_some(), "{:?}", told.codes());
}

#[test]
fn only_fair_threads_in_front_on_an_old_kernel_is_throttling() {
    let told = taken_off(Scene::new().kernel("6.1.0-18-amd64"), fair("sshd", 30)).explain("victim");
    let activation = told.only();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
}

#[test]
fn throttling_may_begin_when_another_thread_goes_to_sleep() {
    let sshd = fair("sshd", 30);
    let told = Scene::new()
        .kernel("6.1.0-18-amd64")
        .cpu(1)
        .at(0)
        .run(HOG)
        .at(940 * MS)
        .timer_wakes(VICTIM)
        .run(VICTIM)
        // The hog is runnable, and passed over.
        .at(950 * MS)
        .sleep(sshd)
        .at(960 * MS)
        .timer_wakes(VICTIM)
        .at(1_000 * MS)
        .run(VICTIM)
        .at(1_000 * MS + 200)
        .sleep(HOG)
        .explain("victim");
    let activation = told.worst();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
    let finding = told.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("50.00 ms"), "{}", finding.title);
}

#[test]
fn a_hog_that_was_preempted_and_moved_away_is_not_passed_over() {
    let told = Scene::new()
        .kernel("6.1.0-18-amd64")
        .cpu(1)
        .at(0)
        .run(HOG)
        .at(940 * MS)
        .timer_wakes(VICTIM)
        .run(VICTIM)
        .at(941 * MS)
        .migrate(HOG, 1, 0)
        .at(950 * MS)
        .sleep(IDLE)
        .at(960 * MS)
        .sign(ContextFlags::default())
        .at(970 * MS)
        .explain("victim");
    assert!(told.finding("rt-throttled").is_none(), "{:?}", told.codes());
}

#[test]
fn the_server_is_charged_to_the_thread_that_it_ran() {
    let (first, starving) = (fair("kworker/1:1", 30), fair("starving", 31));
    let told = Scene::new()
        .kernel("6.12.9-amd64")
        .cpu(1)
        .at(0)
        .fact(Fact::RtGroupSched(false))
        .fact(Fact::FairServerNs(50_000_000))
        .run(HOG)
        .at(950 * MS)
        .timer_wakes(VICTIM)
        .run(first)
        .at(951 * MS)
        .sleep(starving)
        .at(1_000 * MS)
        .run(VICTIM)
        .at(1_000 * MS + 200)
        .sleep(HOG)
        .explain("victim");
    assert_charges(told.only(), &[(Cause::FairServer, 50 * MS), (Cause::OwnWork, 200)]);
    assert_blames(told.only(), Cause::FairServer, Some(starving));
}

#[test]
fn an_idle_cpu_on_a_kernel_that_cannot_throttle_is_not_explained_away() {
    let told =
        taken_off(Scene::new().kernel("6.12.9-amd64").cpu(1).at(0).fact(Fact::RtGroupSched(false)), IDLE)
            .explain("victim");
    assert_charges(told.only(), &[(Cause::Unexplained, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(told.only(), Cause::Unexplained, None);
}

#[test]
fn throttling_far_under_the_limit_is_the_clocks_fault() {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::RtRuntimeUs(950_000));
    for period in 0..200 {
        scene = scene.at(period * 4 * MS).timer_wakes(VICTIM).at(period * 4 * MS + 2).run(VICTIM);
        scene = scene.at(period * 4 * MS + 202).sleep(IDLE);
    }
    let told = scene
        .at(800 * MS)
        .timer_wakes(VICTIM)
        .at(800 * MS + 2)
        .run(VICTIM)
        .at(800 * MS + 102)
        .run(IDLE)
        .at(850 * MS + 102)
        .run(VICTIM)
        .at(850 * MS + 202)
        .sleep(IDLE)
        .explain("victim");
    let activation = told.worst();
    assert_charges(
        activation,
        &[(Cause::IdleExit, 2), (Cause::OwnWork, 200), (Cause::CoarseClockThrottled, 50 * MS)],
    );
    assert_blames(activation, Cause::CoarseClockThrottled, Some(VICTIM));
    assert_eq!(activation.response(), Ns::from_us(50 * MS + 202));
    let said = activation.verdict.evidence.iter().map(|evidence| evidence.what.as_str());
    let used: Vec<&str> = said.filter(|what| what.contains("real-time threads had used")).collect();
    assert!(used.iter().any(|what| what.contains("40.10 ms (5 %) of the 800.1 ms before")), "{used:?}");
    let finding = told.finding("coarse-clock-throttled").expect("a finding");
    assert!(finding.title.contains("50.00 ms"), "{}", finding.title);
}

#[test]
fn a_wake_up_into_throttling_far_under_the_limit_shows_what_was_used() {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::RtRuntimeUs(950_000));
    for period in 0..200 {
        scene = scene.at(period * 4 * MS).timer_wakes(VICTIM).at(period * 4 * MS + 2).run(VICTIM);
        scene = scene.at(period * 4 * MS + 402).sleep(IDLE);
    }
    // No switch away from a real-time thread shows it: it wakes, and the CPU idles on.
    let told = scene
        .at(800 * MS)
        .timer_wakes(VICTIM)
        .at(800 * MS + 5)
        .sign(whylate_events::ContextFlags::default())
        .at(850 * MS)
        .run(VICTIM)
        .at(850 * MS + 400)
        .sleep(IDLE)
        .explain("victim");
    assert_blames(told.worst(), Cause::CoarseClockThrottled, Some(VICTIM));
    let finding = told.finding("coarse-clock-throttled").expect("a finding");
    assert!(finding.evidence[0].what.contains("80.00 ms (10 %) of the 800.0 ms before"), "{finding:?}");
}
