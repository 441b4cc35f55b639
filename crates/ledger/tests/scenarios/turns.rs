//! The turns of SCHED_OTHER threads.

use super::support::{IDLE, MS, Scene, Thread, fair, rt};
use whylate_events::{ContextFlags, TaskState};
use whylate_ledger::{Cause, Options, Select, Verdict};

/// A thread that waits for 4 ms behind each of these.
fn behind(late: Thread, others: &[Thread]) -> Verdict {
    let scene = Scene::new().cpu(1).at(0).run(others[0]).at(10).timer_wakes(late);
    let next = others[1..].iter().copied().chain([late]).zip(1..);
    let scene =
        next.fold(scene, |scene, (next, n)| scene.at(4 * MS * n).switch_as(TaskState::Runnable, next));
    let end = 4 * MS * others.len() as i64 + 200;
    scene.at(end).sleep(IDLE).explain("late").only().verdict.clone()
}

#[test]
fn threads_of_one_name_are_summed_and_nice_values_are_compared() {
    let load = |tid, nice| Thread { prio: 120 + nice, ..fair("load", tid) };
    let late = |nice| Thread { prio: 120 + nice, ..fair("late", 10) };
    let verdict = behind(late(5), &[load(20, 0), load(21, 0), load(22, 0)]);
    assert_eq!(verdict.cause, Cause::FairQueue);
    let expected = "waited 11.99 ms for its turn behind 3 threads named load, 4.00 ms of it behind load:";
    assert!(verdict.why.contains(expected), "{}", verdict.why);
    assert!(verdict.why.contains("by its nice value, 5 beside 0, its share of the CPU is 3.1 times smaller"));
    assert!(verdict.fix[0].text.contains("renice -n 0"), "{:?}", verdict.fix);
    let alike = behind(late(0), &[load(20, 0)]);
    assert!(alike.why.ends_with("waited 3.99 ms for its turn behind load:20 (nice 0)"), "{}", alike.why);
    assert!(!alike.fix.iter().any(|fix| fix.text.contains("renice")), "{:?}", alike.fix);
}

/// A real-time thread, and a SCHED_OTHER one 1 ms later, wait for a thread that goes on for 8 ms.
#[test]
fn behind_a_thread_that_is_not_preempted_a_real_time_priority_does_not_help_alone() {
    let (urgent, late) = (rt("urgent", 11, 50), fair("late", 10));
    let (section, other) = (fair("section", 20), fair("other", 21));
    let fixes = |behind: Thread| {
        let scene = Scene::new().cpu(1).at(0).run(section).at(10).timer_wakes(urgent).at(20);
        // It is to yield, and does not.
        let scene = scene.sign(ContextFlags::NEED_RESCHED).at(8 * MS);
        let scene = scene.switch_as(TaskState::Runnable, urgent).at(8 * MS + 50).sleep(behind);
        let scene = scene.at(9 * MS).timer_wakes(late).at(13 * MS).switch_as(TaskState::Runnable, late);
        let tasks = ["urgent", "late"].map(|comm| Select::Comm(comm.into())).to_vec();
        let explained =
            scene.at(13 * MS + 100).sleep(IDLE).explain_with(&Options { tasks, ..Options::default() });
        let mut all = explained.0.activations.iter();
        let verdict = &all.find(|one| one.comm == "late".into()).expect("it was late").verdict;
        assert_eq!(verdict.cause, Cause::FairQueue);
        verdict.fix.iter().map(|fix| fix.text.clone()).collect::<Vec<_>>()
    };
    let kept = fixes(section);
    assert!(kept[0].contains("preempt=full"), "{kept:?}");
    let raised = kept.last().expect("a fix");
    assert!(raised.contains("chrt -f -p") && raised.contains("alone that does not help"), "{raised}");
    assert_eq!(fixes(other), ["give the thread a real-time priority: chrt -f -p PRIORITY TID"]);
}
