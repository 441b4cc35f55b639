//! A cgroup's CPU quota: runnable, and not run until the quota is refilled.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::Confidence;
use whylate_events::ContextFlags;
use whylate_ledger::Cause;

const VICTIM: Thread = fair("worker", 10);
const OTHER: Thread = fair("other", 20);
const PERIOD: u64 = 0xffff_8881_0889_2b48;

/// Quota timers of other cgroups, and the victim's own, expire before the scene begins.
fn scene() -> Scene {
    Scene::new().cpu(1).at(0).fire_named(PERIOD, "sched_cfs_period_timer").fired(PERIOD)
}

/// The victim works for 20 ms of each period of 100 ms and is then switched out, still runnable.
fn stopped(instead: Thread) -> Scene {
    let mut scene = scene().at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(20 * MS).run(instead);
    if instead == IDLE {
        scene =
            scene.at(24 * MS).vector("local_timer").vector_exit("local_timer").sign(ContextFlags::default());
    }
    scene
}

fn refilled(scene: Scene, function: &str) -> Scene {
    scene
        .at(100 * MS)
        .vector("local_timer")
        .fire_named(PERIOD, function)
        .fired(PERIOD)
        .at(100 * MS + 5)
        .vector_exit("local_timer")
        .at(100 * MS + 8)
        .run(VICTIM)
        .at(110 * MS)
        .sleep(IDLE)
}

#[test]
fn a_runnable_thread_on_an_idle_cpu_until_a_refill_had_no_quota() {
    let explained = refilled(stopped(IDLE), "sched_cfs_period_timer").explain("worker");
    let activation = explained.only();
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 5),
            (Cause::IdleExit, 3),
            (Cause::OwnWork, 20 * MS - 105 + 10 * MS - 8),
            (Cause::CgroupQuota, 80 * MS),
            (Cause::Irq, 5),
        ],
    );
    assert_blames(activation, Cause::CgroupQuota, None);
    assert_eq!(activation.verdict.confidence, Confidence::High);
    let evidence = &activation.verdict.evidence[0].what;
    assert!(evidence.contains("the quota of its cgroup was used up"), "{evidence}");
    let finding = explained.finding("cgroup-quota").expect("a finding");
    assert!(finding.title.contains("80.00 ms in 1 activations"), "{}", finding.title);
}

#[test]
fn the_timer_that_hands_out_what_is_left_refills_as_well() {
    let explained = refilled(stopped(IDLE), "sched_cfs_slack_timer").explain("worker");
    assert_blames(explained.only(), Cause::CgroupQuota, None);
    assert_eq!(explained.only().verdict.confidence, Confidence::High);
}

#[test]
fn refills_that_pay_what_was_used_too_much_end_no_wait() {
    let mut scene = stopped(IDLE);
    for at in [100 * MS, 200 * MS] {
        scene = scene.at(at).vector("local_timer").fire_named(PERIOD, "sched_cfs_period_timer").fired(PERIOD);
        scene = scene.at(at + 5).vector_exit("local_timer").sign(ContextFlags::default());
    }
    let scene =
        scene.at(300 * MS).vector("local_timer").fire_named(PERIOD, "sched_cfs_period_timer").fired(PERIOD);
    let scene = scene.at(300 * MS + 5).vector_exit("local_timer").at(300 * MS + 8).run(VICTIM).at(310 * MS);
    let explained = scene.sleep(IDLE).explain("worker");
    let activation = explained.only();
    assert_blames(activation, Cause::CgroupQuota, None);
    assert!(activation.verdict.charged >= whylate_base::Ns::from_ms(279), "{:?}", activation.ledger);
}

#[test]
fn a_thread_that_runs_meanwhile_is_not_accused() {
    let explained = refilled(stopped(OTHER), "sched_cfs_period_timer").explain("worker");
    let activation = explained.only();
    assert_blames(activation, Cause::CgroupQuota, None);
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
    assert_eq!(activation.verdict.charged, whylate_base::Ns::from_ms(80));
}

#[test]
fn a_thread_of_another_class_is_charged_for_its_own_time() {
    let hog = rt("hog", 30, 10);
    let scene = stopped(IDLE).at(40 * MS).timer_wakes(hog).run(hog).at(70 * MS).sleep(IDLE);
    let explained = refilled(scene, "sched_cfs_period_timer").explain("worker");
    let of = |cause| -> whylate_base::Ns {
        let of_it = explained.only().ledger.iter().filter(|segment| segment.cause == cause);
        of_it.map(|segment| segment.length()).sum()
    };
    assert_eq!(of(Cause::HigherPriorityTask), whylate_base::Ns::from_ms(30));
    assert_eq!(of(Cause::CgroupQuota), whylate_base::Ns::from_ms(50));
}

#[test]
fn a_short_turn_of_another_before_a_refill_is_just_its_turn() {
    // 4 ms behind an equal, and some cgroup's timer expires just then.
    let explained = scene()
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(96 * MS)
        .run(OTHER)
        .at(100 * MS)
        .fire_named(PERIOD, "sched_cfs_period_timer")
        .fired(PERIOD)
        .at(100 * MS + 8)
        .run(VICTIM)
        .at(110 * MS)
        .sleep(IDLE)
        .explain("worker");
    let has = |cause| explained.only().ledger.iter().any(|segment| segment.cause == cause);
    assert!(has(Cause::FairQueue) && !has(Cause::CgroupQuota));
}

#[test]
fn a_long_wait_that_no_refill_ended_is_the_fair_queues() {
    let explained = stopped(OTHER)
        .at(60 * MS)
        .fire_named(PERIOD, "sched_cfs_period_timer")
        .fired(PERIOD)
        .at(90 * MS)
        .run(VICTIM)
        .at(91 * MS)
        .sleep(IDLE)
        .explain("worker");
    assert_blames(explained.only(), Cause::FairQueue, Some(OTHER));
}

#[test]
fn an_idle_cpu_is_no_quotas_where_none_is_in_use() {
    // Timers are recorded by name, and no quota timer is among them.
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .fire(1)
        .fired(1)
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(20 * MS)
        .run(IDLE)
        .at(100 * MS)
        .run(VICTIM)
        .at(101 * MS)
        .sleep(IDLE)
        .explain("worker");
    assert_blames(explained.only(), Cause::Unexplained, None);
}

#[test]
fn with_its_quota_back_it_waits_for_its_turn_again() {
    // Stopped at 20 ms; the refill is at 100 ms, and the other's turn ends at a tick 4 ms later.
    let refilled = |runs_at: i64| {
        stopped(OTHER)
            .at(100 * MS)
            .fire_named(PERIOD, "sched_cfs_period_timer")
            .fired(PERIOD)
            .at(runs_at)
            .run(VICTIM)
            .at(runs_at + 10 * MS)
            .sleep(IDLE)
            .explain("worker")
    };
    let explained = refilled(104 * MS);
    assert_blames(explained.only(), Cause::CgroupQuota, None);
    assert_eq!(explained.only().verdict.confidence, Confidence::Medium);
    assert_eq!(explained.only().verdict.charged, whylate_base::Ns::from_ms(80));
    // Long after the refill it waits for its turn all the same: the refill was another cgroup's.
    assert_blames(refilled(130 * MS).only(), Cause::FairQueue, Some(OTHER));
}

#[test]
fn many_others_make_a_long_wait_of_many_turns() {
    // Eight others at 10 ms each, and some cgroup's timer expires meanwhile.
    let mut scene = stopped(OTHER);
    for (n, tid) in (21..28).enumerate() {
        scene = scene.at((30 + 10 * n as i64) * MS).run(fair("other", tid));
    }
    let explained = scene
        .at(98 * MS)
        .fire_named(PERIOD, "sched_cfs_period_timer")
        .fired(PERIOD)
        .at(100 * MS)
        .run(VICTIM)
        .at(110 * MS)
        .sleep(IDLE)
        .explain("worker");
    assert_eq!(explained.only().verdict.cause, Cause::FairQueue);
}

#[test]
fn at_the_end_of_the_trace_the_refill_is_yet_to_come() {
    let explained = stopped(IDLE).at(90 * MS).sign(ContextFlags::default()).explain("worker");
    let activation = explained.only();
    assert_blames(activation, Cause::CgroupQuota, None);
    assert_eq!((activation.done, activation.verdict.confidence), (None, Confidence::Medium));
}

#[test]
fn a_real_time_thread_has_no_such_quota() {
    let victim = rt("worker", 10, 50);
    let explained = Scene::new()
        .kernel("6.12.9")
        .cpu(1)
        .at(0)
        .fire_named(PERIOD, "sched_cfs_period_timer")
        .fired(PERIOD)
        .at(100)
        .timer_wakes(victim)
        .at(105)
        .run(victim)
        .at(20 * MS)
        .run(OTHER)
        .at(100 * MS)
        .fire_named(PERIOD, "sched_cfs_period_timer")
        .fired(PERIOD)
        .at(100 * MS + 8)
        .run(victim)
        .at(110 * MS)
        .sleep(IDLE)
        .explain("worker");
    assert!(!explained.only().ledger.iter().any(|segment| segment.cause == Cause::CgroupQuota));
}

/// An excerpt lacks whatever was left out: that the thread did not run soon, it does not show.
#[test]
fn without_a_sign_of_quotas_a_wait_up_to_the_end_of_the_trace_accuses_none() {
    let scene = Scene::new().cpu(1).at(0).run(OTHER).at(50).sleep(IDLE).at(100).wake(VICTIM, 1).at(200);
    let scene = scene.run(OTHER).at(250).sleep(IDLE).at(60 * MS).sign(ContextFlags::default());
    let explained = scene.at(90 * MS).sign(ContextFlags::default()).explain("worker");
    assert_blames(explained.only(), Cause::Unexplained, None);
    // One that was taken off the CPU, and the CPU left idle, was stopped.
    let scene = Scene::new().cpu(1).at(0).run(OTHER).at(50).sleep(VICTIM).at(20 * MS).run(IDLE);
    let explained = scene.at(90 * MS).sign(ContextFlags::default()).explain("worker");
    assert_blames(explained.only(), Cause::CgroupQuota, None);
}

/// Twelve periods of 100 ms in which the victim is stopped from the 30th millisecond on, or does not run from there to the 60th,
/// while two others take turns.
fn beside_others(is_stopped: bool) -> u64 {
    let third = fair("third", 30);
    let mut scene = scene().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    for period in 1..=12 {
        let begin = period * 100 * MS - 100 * MS;
        let mut at = begin + 30 * MS;
        let until = if is_stopped { begin + 100 * MS } else { begin + 60 * MS };
        while at < until {
            scene = scene.at(at).run(OTHER).at(at + 5 * MS).run(third);
            at += 10 * MS;
        }
        if !is_stopped {
            scene = scene.at(until + 3 * MS).run(VICTIM);
        }
        let refill = begin + 100 * MS;
        scene = scene.at(refill).fire_named(PERIOD, "sched_cfs_period_timer").fired(PERIOD);
        if is_stopped {
            scene = scene.at(refill + 3 * MS).run(VICTIM);
        }
    }
    let explained = scene.at(1_210 * MS).sleep(IDLE).explain("worker");
    let activation = explained.only();
    let by_quota = activation.ledger.iter().filter(|segment| segment.cause == Cause::CgroupQuota);
    by_quota.map(|segment| segment.length().0 as u64 / 1_000_000).sum()
}

#[test]
fn long_waits_that_refills_end_one_after_the_other_are_the_quotas_beside_others() {
    let by_quota = beside_others(true);
    assert!((560..=840).contains(&by_quota), "{by_quota} ms");
    assert_eq!(beside_others(false), 0);
}

/// The victim is real-time, and has no quota of its own.
#[test]
fn a_lock_of_a_thread_without_quota_is_that_threads_quota() {
    let control = rt("control", 40, 60);
    let explained = refilled(
        stopped(control)
            .call(sys::FUTEX, sys::LOCK)
            .at(20 * MS + 10)
            .sleep(IDLE)
            .at(24 * MS)
            .vector("local_timer")
            .vector_exit("local_timer")
            .sign(ContextFlags::default()),
        "sched_cfs_period_timer",
    );
    let explained = explained.at(111 * MS).run(VICTIM).wake(control, 1);
    let explained = explained.at(111 * MS + 5).run(control).ret(sys::FUTEX).at(112 * MS).sleep(IDLE);
    let explained = explained.explain("control");
    let worst = explained.worst();
    assert_blames(worst, Cause::CgroupQuota, Some(VICTIM));
    let why = &worst.verdict.why;
    assert!(why.contains("control (rt 60) waited 79.99 ms for a lock of worker:10"), "{why}");
    assert!(worst.verdict.fix[0].text.contains("PTHREAD_PRIO_INHERIT"), "{:?}", worst.verdict.fix);
    assert!(explained.finding("cgroup-quota").is_none(), "{:#?}", explained.finding("cgroup-quota"));
}
