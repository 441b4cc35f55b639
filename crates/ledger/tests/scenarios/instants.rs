//! A ledger shows what was so at its time: names, priorities and CPUs, whatever became of them later.

use crate::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::Priority;
use whylate_events::{ContextFlags, Fact};
use whylate_ledger::{Cause, Culprit, OnCpu, Trigger};

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
    let told = scene.at(4 * MS).sleep(IDLE).at(5 * MS).explain("victim");
    let worst = told.worst();
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
    let told = scene.at(5 * MS).explain("victim");
    let waker = told.worst().trigger;
    assert!(matches!(waker, Trigger::Thread { comm, .. } if comm.as_str() == "loader"), "{waker:?}");
}

#[test]
fn an_activation_has_the_priority_that_its_thread_had_when_it_was_due() {
    let lowered = rt("victim", 10, 5);
    let scene = asleep().at(MS).timer_wakes(VICTIM).at(MS + 5).run(VICTIM).at(2 * MS).run(IDLE);
    let told = scene.at(2 * MS + 5).run(lowered).at(3 * MS).sleep(IDLE).at(4 * MS).explain("victim");
    let worst = told.worst();
    assert_eq!((worst.due.0, worst.priority), (1_000_000, Priority::realtime(50)));
    assert_eq!(told.0.tasks[0].priority, Priority::realtime(5), "the summary has the last one");
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
    let told = scene.at(3 * MS).sleep(owner).at(4 * MS).explain("victim");
    let wrong = told.worst().ledger.iter().find(|segment| segment.cause == Cause::LockInversion);
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
    let told = scene.at(5 * MS).sleep(IDLE).at(6 * MS).explain("victim");
    let worst = told.worst();
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
    let told =
        scene.at(4 * MS + 20).ret(sys::SCHED_SETAFFINITY).at(5 * MS).sleep(IDLE).at(6 * MS).explain("victim");
    assert_charges(told.worst(), &[(Cause::WakePlacement, 2 * MS), (Cause::OwnWork, MS)]);
}
