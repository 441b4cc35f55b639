//! A ledger shows what was so at its time: names, priorities and CPUs, whatever became of them later.

use crate::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Priority, Severity};
use whylate_events::{ContextFlags, Fact, Signal};
use whylate_ledger::{Cause, Culprit, OnCpu, Options, Trigger};

const VICTIM: Thread = rt("victim", 10, 50);

fn asleep() -> Scene {
    Scene::new().cpu(1).at(0).run(IDLE).cpu(0).at(0).run(VICTIM).at(100).sleep(IDLE)
}

#[test]
fn a_culprit_has_the_name_that_it_had_then() {
    let (before, after) = (rt("loader", 20, 90), rt("worker", 20, 90));
    let scene = asleep().at(MS).run(before).at(2 * MS).wake(VICTIM, 0).at(3 * MS).sleep(VICTIM);
    // It has another name when the activation ends.
    let scene =
        scene.at(3 * MS + 200).wake(after, 0).at(3 * MS + 210).run(after).at(3 * MS + 300).sleep(VICTIM);
    let explained = scene.at(4 * MS).sleep(IDLE).at(5 * MS).explain("victim");
    let worst = explained.worst();
    let names: Vec<&str> = worst
        .ledger
        .iter()
        .filter_map(|segment| match &segment.by {
            Some(Culprit::Task { comm, .. }) => Some(comm.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["loader", "worker"]);
    let lanes = worst.tracks.iter().flat_map(|track| &track.slices);
    let shown: Vec<&str> = lanes
        .filter_map(|slice| match &slice.on_cpu {
            OnCpu::Task { tid, comm, .. } if tid.0 == 20 => Some(comm.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, ["loader", "worker"]);
}

#[test]
fn a_waker_has_the_name_that_it_had_then() {
    let (before, after) = (fair("loader", 20), fair("worker", 20));
    let scene = asleep().at(MS).run(before).at(2 * MS).wake(VICTIM, 0).at(2 * MS + 5).run(VICTIM);
    let scene = scene.at(2 * MS + 500).run(after).at(2 * MS + 600).run(VICTIM).at(3 * MS).sleep(after);
    let explained = scene.at(5 * MS).explain("victim");
    let waker = explained.worst().trigger;
    assert!(matches!(waker, Trigger::Thread { comm, .. } if comm.as_str() == "loader"), "{waker:?}");
}

#[test]
fn an_activation_has_the_priority_that_its_thread_had_when_it_was_due() {
    let lowered = rt("victim", 10, 5);
    let scene = asleep().at(MS).timer_wakes(VICTIM).at(MS + 5).run(VICTIM).at(2 * MS).run(IDLE);
    let explained = scene.at(2 * MS + 5).run(lowered).at(3 * MS).sleep(IDLE).at(4 * MS).explain("victim");
    let worst = explained.worst();
    assert_eq!((worst.due.0, worst.priority), (1_000_000, Priority::realtime(50)));
    assert_eq!(explained.0.tasks[0].priority, Priority::realtime(50), "the summary is of most activations");
}

#[test]
fn a_lent_priority_counts_from_when_it_is_lent() {
    // The owner of the lock waits behind a thread of middle priority until it is lent the victim's, and not after.
    let (owner, middle) = (rt("owner", 20, 10), rt("middle", 30, 30));
    let lent = Thread { prio: VICTIM.prio, ..owner };
    let scene = asleep().at(MS).run(owner).at(MS + 100).wake(middle, 0).at(MS + 105).run(middle);
    let scene = scene.at(2 * MS).timer_wakes(VICTIM).at(2 * MS + 5).run(VICTIM);
    let scene = scene.at(2 * MS + 100).inherit(owner, owner, VICTIM).sleep(middle);
    let scene = scene.sign(ContextFlags::default()).at(2 * MS + 110).run(lent);
    let scene =
        scene.at(2 * MS + 400).inherit(owner, lent, owner).wake(VICTIM, 0).at(2 * MS + 405).run(VICTIM);
    let explained = scene.at(3 * MS).sleep(owner).at(4 * MS).explain("victim");
    let wrong = explained.worst().ledger.iter().find(|segment| segment.cause == Cause::LockInversion);
    assert!(wrong.is_none(), "the lock does inherit priority: {wrong:?}");
}

#[test]
fn a_cpu_that_is_allowed_later_is_no_placement() {
    let hog = rt("hog", 20, 90);
    let scene = asleep()
        .at(200)
        .fact(Fact::Affinity { tid: whylate_base::Tid(VICTIM.tid), cpus: "0".parse().expect("a list") });
    let scene = scene.at(MS).run(hog).at(2 * MS).wake(VICTIM, 0).at(4 * MS).sleep(VICTIM);
    // Now it may use CPU 1 as well, which was idle all the time, and goes there in the same activation.
    let scene = scene.at(4 * MS + 10).call(sys::SCHED_SETAFFINITY, [0, 8, 0]);
    let scene = scene.at(4 * MS + 20).ret(sys::SCHED_SETAFFINITY).at(4 * MS + 30).run(IDLE);
    let scene = scene.migrate(VICTIM, 0, 1).cpu(1).at(4 * MS + 40).run(VICTIM);
    let explained = scene.at(5 * MS).sleep(IDLE).at(6 * MS).explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::HigherPriorityTask, Some(hog));
    assert!(worst.ledger.iter().all(|segment| segment.cause != Cause::WakePlacement), "{:?}", worst.ledger);
}

#[test]
fn a_cpu_that_was_allowed_then_is_a_placement() {
    let hog = rt("hog", 20, 90);
    let scene = asleep()
        .at(200)
        .fact(Fact::Affinity { tid: whylate_base::Tid(VICTIM.tid), cpus: "0-1".parse().expect("a list") });
    let scene = scene.at(MS).run(hog).at(2 * MS).wake(VICTIM, 0).at(4 * MS).sleep(VICTIM);
    // It pins itself after the wait.
    let scene = scene.at(4 * MS + 10).call(sys::SCHED_SETAFFINITY, [0, 8, 0]);
    let explained =
        scene.at(4 * MS + 20).ret(sys::SCHED_SETAFFINITY).at(5 * MS).sleep(IDLE).at(6 * MS).explain("victim");
    assert_charges(explained.worst(), &[(Cause::WakePlacement, 2 * MS), (Cause::OwnWork, MS)]);
}

/// A hog uses 950 ms of CPU 1; then the CPU idles while the victim is runnable.
fn throttled() -> Scene {
    let scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::RtRuntimeUs(950_000));
    let scene = scene.run(rt("hog", 20, 1)).at(950 * MS).run(IDLE).at(960 * MS).timer_wakes(VICTIM);
    scene.at(1_000 * MS).run(VICTIM).at(1_000 * MS + 200).sleep(rt("hog", 20, 1))
}

#[test]
fn bandwidth_control_is_what_was_set_then() {
    let explained = throttled().at(1_100 * MS).fact(Fact::RtRuntimeUs(-1)).at(1_200 * MS).explain("victim");
    assert_blames(explained.only(), Cause::RtThrottled, Some(rt("hog", 20, 1)));
    assert!(explained.only().verdict.why.contains("950.0 ms of 1.000 s"), "{}", explained.only().verdict.why);
    assert!(explained.finding("rt-throttled").is_some(), "{:?}", explained.codes());
}

#[test]
fn a_finding_has_the_names_and_priorities_of_its_time() {
    let renamed = rt("polite", 20, 5);
    let explained = throttled().at(1_100 * MS).sleep(IDLE).at(1_200 * MS).wake(renamed, 1).run(renamed);
    let explained = explained.at(1_300 * MS).sleep(IDLE).explain("victim");
    let finding = explained.finding("rt-throttled").expect("a finding");
    assert!(finding.why.contains("hog:20 (rt 1) used most of it"), "{}", finding.why);

    let (app, later) = (fair("app", 10), fair("server", 10));
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(app).at(105);
    let scene = scene.run(app).call(sys::SCHED_SETSCHEDULER, [0, 1, 0]).fail(sys::SCHED_SETSCHEDULER, 1);
    let scene = scene.at(200).sleep(IDLE).at(300).timer_wakes(later).at(305).run(later).at(400).sleep(IDLE);
    let scene = scene.at(500).timer_wakes(later).at(505).run(later).at(600).sleep(IDLE);
    let explained = scene.explain_with(&Options::default());
    let finding = explained.finding("realtime-refused").expect("a finding");
    assert!(finding.title.starts_with("app:10 asked for SCHED_FIFO"), "{}", finding.title);
    assert!(finding.evidence[0].what.ends_with("; the thread is called server otherwise"), "{finding:?}");

    let spinner = rt("spinner", 10, 50);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).timer_wakes(spinner).at(5);
    let scene = scene.run(spinner).at(200 * MS).vector("local_timer");
    let scene = scene.kernel_sends(spinner, Signal::SIGXCPU).vector_exit("local_timer");
    let scene = scene.at(201 * MS).sleep(IDLE).at(300 * MS).timer_wakes(later).at(300 * MS + 5).run(later);
    let explained = scene.at(301 * MS).sleep(IDLE).explain_with(&Options::default());
    let finding = explained.finding("rttime-exceeded").expect("a finding");
    assert!(finding.title.starts_with("spinner:10 (rt 50) ran for"), "{}", finding.title);
}

#[test]
fn a_wait_after_a_thread_rose_and_fell_is_not_that_of_one_that_pinned_itself_first() {
    // It pins itself, rises at once, and is SCHED_OTHER again when it waits.
    let (hog, before, raised) = (rt("hog", 20, 1), fair("rtapp", 10), rt("rtapp", 10, 80));
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(before);
    let scene = scene.at(105).run(before).call(sys::SCHED_SETAFFINITY, [0, 8, 0]);
    let scene = scene.ret(sys::SCHED_SETAFFINITY).at(120).call(sys::SCHED_SETSCHEDULER, [0, 1, 0]);
    let scene = scene.ret(sys::SCHED_SETSCHEDULER).unseen_switch_to(raised).at(200).sleep(hog);
    let scene = scene.at(10 * MS).timer_wakes(raised).run(raised).at(10 * MS + 50);
    let scene = scene.call(sys::SCHED_SETSCHEDULER, [0, 0, 0]).unseen_switch_to(before).at(10 * MS + 60);
    let explained =
        scene.run(hog).at(900 * MS).sleep(before).ret(sys::SCHED_SETSCHEDULER).at(901 * MS).sleep(IDLE);
    let explained = explained.explain_with(&Options::default());
    assert_blames(explained.worst(), Cause::HigherPriorityTask, Some(hog));
    assert!(explained.finding("pinned-before-priority").is_none(), "{:?}", explained.codes());
}

/// An equal of the victim's runs, lowers itself, and goes on until the victim is switched in.
fn lowers_itself(scene: Scene, kernel: &str) -> Scene {
    let (peer, lowered) = (rt("chrt", 20, 50), rt("prog", 20, 1));
    let scene = scene.kernel(kernel).cpu(1).at(0).run(IDLE).cpu(0).at(0).run(peer);
    let scene = scene.at(MS).wake(VICTIM, 0).at(MS + 500).unseen_switch_to(lowered);
    let scene = scene.sign(ContextFlags::default()).at(4 * MS).run(VICTIM);
    scene.at(5 * MS).sleep(lowered).at(6 * MS)
}

#[test]
fn a_thread_that_lowers_itself_had_its_priority_until_then() {
    for kernel in ["6.1.0-18-amd64", "6.12.9-amd64", "7.2.0"] {
        let explained = lowers_itself(Scene::new(), kernel).explain("victim");
        assert_charges(explained.only(), &[(Cause::EqualPriorityTask, 3 * MS), (Cause::OwnWork, MS)]);
        assert!(explained.only().verdict.why.contains("prog:20 (rt 50)"), "{}", explained.only().verdict.why);
        let codes = explained.codes();
        assert!(!codes.contains(&"rt-throttled") && !codes.contains(&"fair-server"), "{codes:?}");
    }
}

#[test]
fn where_the_call_was_seen_a_priority_changes_there() {
    let (app, raised) = (fair("app", 20), rt("app", 20, 90));
    let scene = Scene::new().cpu(0).at(0).run(app).at(MS).wake(fair("other", 30), 0);
    let scene = scene.at(2 * MS).call(sys::SCHED_SETSCHEDULER, [0, 1, 0]).ret(sys::SCHED_SETSCHEDULER);
    let scene = scene.unseen_switch_to(raised).at(5 * MS).sleep(fair("other", 30)).at(6 * MS).sleep(IDLE);
    let explained = scene.explain("other");
    assert_charges(
        explained.only(),
        &[(Cause::FairQueue, MS), (Cause::HigherPriorityTask, 3 * MS), (Cause::OwnWork, MS)],
    );
}

/// What rt-tests do at their end: SCHED_OTHER, and then the kernel lets another thread run at once.
#[test]
fn a_thread_that_lowered_itself_waits_with_the_priority_that_it_has_then() {
    let (other, lowered) = (rt("other", 20, 1), fair("victim", 10));
    let scene = Scene::new().cpu(1).at(0).run(other).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene =
        scene.at(120).call(sys::SCHED_SETSCHEDULER, [0, 0, 0]).unseen_switch_to(lowered).at(130).run(other);
    let explained =
        scene.at(10_130).sleep(lowered).ret(sys::SCHED_SETSCHEDULER).at(10_200).sleep(IDLE).explain("victim");
    let verdict = &explained.only().verdict;
    assert_blames(explained.only(), Cause::HigherPriorityTask, Some(other));
    assert!(verdict.why.contains("has priority over victim (nice 0)"), "{}", verdict.why);
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert_eq!(finding.severity, Severity::Info, "{}", finding.title);
    assert!(finding.title.contains("delayed victim:10 (nice 0) by up to 10.00 ms"), "{}", finding.title);
}

/// `pthread_create` with a priority: the new thread has that of the one that creates it until that sets it.
#[test]
fn a_thread_waits_with_the_priority_that_another_thread_has_given_it() {
    let (parent, hog) = (rt("parent", 30, 60), rt("hog", 20, 35));
    let (born, given) = (rt("victim", 10, 60), rt("victim", 10, 10));
    let scene = Scene::new().cpu(1).at(0).run(hog).at(50).timer_wakes(parent).at(60).run(parent).at(100);
    let scene = scene.wake(born, 1).at(104).call(sys::SCHED_SETSCHEDULER, [10, 1, 0]);
    let scene = scene.at(110).ret(sys::SCHED_SETSCHEDULER).at(120).sleep(hog).at(40_120).sleep(given);
    let explained = scene.at(40_200).sleep(IDLE).explain("victim");
    assert_blames(explained.only(), Cause::HigherPriorityTask, Some(hog));
    assert!(
        explained.only().verdict.why.contains("has priority over victim (rt 10)"),
        "{}",
        explained.only().verdict.why
    );
}

/// RT throttling and the fair server stop the one that runs as well.
#[test]
fn while_a_real_time_thread_runs_none_is_throttled() {
    let hog = rt("hog", 20, 35);
    let scene = Scene::new().cpu(1).at(0).run(IDLE).at(100).timer_wakes(VICTIM).at(103).run(hog);
    let explained = scene.at(40_100).sleep(VICTIM).at(40_200).sleep(IDLE).explain("victim");
    assert_blames(explained.only(), Cause::Unexplained, None);
}
