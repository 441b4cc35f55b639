//! RT throttling and the fair server: times a runnable real-time thread is passed over.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, deadline, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContextFlags, Fact, TaskState};
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
    let explained = taken_off(Scene::new().kernel("6.1.0-18-amd64"), IDLE).explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    let finding = explained.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("50.00 ms") && finding.title.contains("CPU 1"), "{}", finding.title);
}

#[test]
fn a_loss_ends_what_is_known_of_throttling() {
    let explained = Scene::new()
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
    assert_charges(explained.only(), &[(Cause::Dispatch, 100), (Cause::OwnWork, 200)]);
    assert!(explained.finding("rt-throttled").is_none());
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
    let explained = scene.explain("victim");
    assert_eq!(explained.0.activations.len(), 3);
    for activation in &explained.0.activations {
        assert_charges(activation, &[(Cause::RtThrottled, 47 * MS), (Cause::OwnWork, 200)]);
        assert_blames(activation, Cause::RtThrottled, Some(HOG));
    }
    let finding = explained.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("3 times, every 1.000 s, 50.00 ms each"), "{}", finding.title);
}

#[test]
fn a_throttled_thread_itself_is_charged_while_it_is_off() {
    let explained = Scene::new()
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
    let activation = explained.only();
    let own = 950 * MS - 5 + 500 * MS;
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, own), (Cause::RtThrottled, 50 * MS)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
}

#[test]
fn only_fair_threads_in_front_on_a_new_kernel_is_the_fair_server() {
    let sshd = fair("sshd", 30);
    let explained = taken_off(
        Scene::new()
            .kernel("6.12.9-amd64")
            .cpu(1)
            .at(0)
            .fact(Fact::RtGroupSched(false))
            .fact(Fact::FairServerNs(50_000_000)),
        sshd,
    )
    .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::FairServer, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::FairServer, Some(sshd));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    assert!(explained.finding("fair-server").is_some(), "{:?}", explained.codes());
}

#[test]
fn only_fair_threads_in_front_on_an_old_kernel_is_throttling() {
    let explained = taken_off(Scene::new().kernel("6.1.0-18-amd64"), fair("sshd", 30)).explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
}

#[test]
fn throttling_may_begin_when_another_thread_goes_to_sleep() {
    let sshd = fair("sshd", 30);
    let explained = Scene::new()
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
    let activation = explained.worst();
    assert_charges(activation, &[(Cause::RtThrottled, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(activation, Cause::RtThrottled, Some(HOG));
    let finding = explained.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("50.00 ms"), "{}", finding.title);
}

#[test]
fn a_hog_that_was_preempted_and_moved_away_is_not_passed_over() {
    let explained = Scene::new()
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
    assert!(explained.finding("rt-throttled").is_none(), "{:?}", explained.codes());
}

#[test]
fn the_server_is_charged_to_the_thread_that_it_ran() {
    let (first, starving) = (fair("kworker/1:1", 30), fair("starving", 31));
    let explained = Scene::new()
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
    assert_charges(explained.only(), &[(Cause::FairServer, 50 * MS), (Cause::OwnWork, 200)]);
    assert_blames(explained.only(), Cause::FairServer, Some(starving));
}

#[test]
fn an_idle_cpu_on_a_kernel_that_cannot_throttle_is_not_explained_away() {
    let explained =
        taken_off(Scene::new().kernel("6.12.9-amd64").cpu(1).at(0).fact(Fact::RtGroupSched(false)), IDLE)
            .explain("victim");
    assert_charges(explained.only(), &[(Cause::Unexplained, 40 * MS), (Cause::OwnWork, 200)]);
    assert_blames(explained.only(), Cause::Unexplained, None);
}

#[test]
fn throttling_far_under_the_limit_is_the_clocks_fault() {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::RtRuntimeUs(950_000));
    for period in 0..200 {
        scene = scene.at(period * 4 * MS).timer_wakes(VICTIM).at(period * 4 * MS + 2).run(VICTIM);
        scene = scene.at(period * 4 * MS + 202).sleep(IDLE);
    }
    let explained = scene
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
    let activation = explained.worst();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 2), (Cause::OwnWork, 200), (Cause::CoarseClockThrottled, 50 * MS)],
    );
    assert_blames(activation, Cause::CoarseClockThrottled, Some(VICTIM));
    assert_eq!(activation.response(), Ns::from_us(50 * MS + 202));
    let said = activation.verdict.evidence.iter().map(|evidence| evidence.what.as_str());
    let used: Vec<&str> = said.filter(|what| what.contains("real-time threads had used")).collect();
    assert!(used.iter().any(|what| what.contains("40.10 ms (5 %) of the 800.1 ms before")), "{used:?}");
    let finding = explained.finding("coarse-clock-throttled").expect("a finding");
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
    let explained = scene
        .at(800 * MS)
        .timer_wakes(VICTIM)
        .at(800 * MS + 5)
        .sign(whylate_events::ContextFlags::default())
        .at(850 * MS)
        .run(VICTIM)
        .at(850 * MS + 400)
        .sleep(IDLE)
        .explain("victim");
    assert_blames(explained.worst(), Cause::CoarseClockThrottled, Some(VICTIM));
    let finding = explained.finding("coarse-clock-throttled").expect("a finding");
    assert!(finding.evidence[0].what.contains("80.00 ms (10 %) of the 800.0 ms before"), "{finding:?}");
}

#[test]
fn a_thread_that_its_cpu_has_yet_to_take_in_is_not_passed_over() {
    // Woken from CPU 0: CPU 1 takes it in by an interrupt, and switches to the idle task before that comes.
    let app = fair("app", 30);
    let explained = Scene::new()
        .kernel("6.1.0-18-amd64")
        .cpu(1)
        .at(0)
        .run(app)
        .cpu(0)
        .at(0)
        .run(fair("waker", 40))
        .at(1_000 * MS)
        .waking(VICTIM, 1)
        .cpu(1)
        .at(1_000 * MS + 10)
        .sleep(IDLE)
        .at(1_000 * MS + 300)
        .vector("reschedule")
        .wakeup(VICTIM, 1)
        .at(1_000 * MS + 302)
        .vector_exit("reschedule")
        .at(1_000 * MS + 305)
        .run(VICTIM)
        .at(1_001 * MS)
        .sleep(IDLE)
        .explain("victim");
    let charged = |cause| explained.only().ledger.iter().any(|segment| segment.cause == cause);
    assert!(
        !charged(Cause::RtThrottled) && !charged(Cause::CoarseClockThrottled),
        "{:?}",
        explained.only().ledger
    );
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

/// The victim is queued on CPU 1, which goes idle, and runs on CPU 0 in the end: it was moved.
fn moved(recorded: bool) -> Scene {
    let app = fair("app", 30);
    let scene = Scene::new().kernel("6.1.0-18-amd64").cpu(0).at(0).run(app).cpu(1).at(0).run(HOG);
    let scene = scene.at(950 * MS).timer_wakes(VICTIM).at(950 * MS + 2).run(VICTIM);
    let scene = scene.at(951 * MS).timer_wakes(rt("other", 40, 90)).run(rt("other", 40, 90));
    let scene = scene.at(951 * MS + 100).sleep(IDLE).cpu(0).at(960 * MS);
    let scene = if recorded { scene.migrate(VICTIM, 1, 0) } else { scene };
    scene.at(960 * MS + 5).run(VICTIM).at(961 * MS).sleep(IDLE).at(970 * MS)
}

#[test]
fn a_thread_that_was_moved_without_an_event_is_not_passed_over() {
    let explained = moved(false).explain("victim");
    let codes = explained.codes();
    assert!(!codes.iter().any(|code| code.ends_with("throttled")), "{codes:?}");
    let throttled = |cause: Cause| cause.code().ends_with("throttled");
    assert!(
        explained.worst().ledger.iter().all(|segment| !throttled(segment.cause)),
        "{:?}",
        explained.worst().ledger
    );
    // Where the migration was recorded, the CPU idled with the thread on its runqueue until then.
    let explained = moved(true).explain("victim");
    assert_blames(explained.worst(), Cause::RtThrottled, Some(HOG));
}

#[test]
fn a_scheduler_clock_of_microseconds_charges_no_whole_ticks() {
    let explained = |clock: &str| {
        let mut scene = Scene::new().kernel("6.1.0-18-amd64").clock(clock).cpu(1).at(0);
        for period in 0..200 {
            scene = scene.at(period * 4 * MS).timer_wakes(VICTIM).at(period * 4 * MS + 2).run(VICTIM);
            scene = scene.at(period * 4 * MS + 202).sleep(IDLE);
        }
        let scene = scene.at(800 * MS).timer_wakes(VICTIM).at(800 * MS + 2).run(VICTIM);
        let scene = scene.at(800 * MS + 102).run(IDLE).at(850 * MS + 102).run(VICTIM);
        scene.at(850 * MS + 202).sleep(IDLE).explain("victim")
    };
    assert_eq!(explained("mono").worst().verdict.cause, Cause::CoarseClockThrottled);
    let explained = explained("local");
    assert_eq!((explained.worst().verdict.cause, explained.codes()), (Cause::Unexplained, vec![]));
}

#[test]
fn one_wait_with_interrupts_in_it_is_one_window() {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).run(HOG).at(950 * MS).sleep(IDLE);
    scene = scene.at(955 * MS).timer_wakes(VICTIM).at(956 * MS).run(fair("app", 30));
    for tick in 0..5 {
        let at = (957 + 4 * tick) * MS;
        scene = scene.at(at).vector("local_timer").at(at + 5).vector_exit("local_timer");
    }
    let explained = scene.at(1_000 * MS).run(VICTIM).at(1_001 * MS).sleep(IDLE).explain("victim");
    let finding = explained.finding("rt-throttled").expect("a finding");
    assert!(finding.title.contains("real-time threads: once"), "{}", finding.title);
}

#[test]
fn a_deadline_thread_that_leaves_the_cpu_runnable_has_used_up_its_runtime() {
    let victim = deadline("dl", 10);
    let other = fair("other", 20);
    let stopped = |instead: Thread| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(victim);
        let scene = scene.at(105).run(victim).at(3_105).switch_as(TaskState::Preempted, instead);
        let scene = scene.at(20_100).vector("local_timer").vector_exit("local_timer").at(20_105);
        scene.run(victim).at(21_000).sleep(IDLE).explain("dl")
    };
    for instead in [other, IDLE] {
        let explained = stopped(instead);
        let activation = explained.only();
        assert_blames(activation, Cause::DeadlineThrottled, None);
        assert_eq!(activation.verdict.confidence, Confidence::High);
        assert!(activation.verdict.why.contains("had used up the runtime"), "{}", activation.verdict.why);
    }
    // Another one may have an earlier deadline.
    assert_blames(
        stopped(deadline("earlier", 30)).only(),
        Cause::DeadlineTask,
        Some(deadline("earlier", 30)),
    );
}
