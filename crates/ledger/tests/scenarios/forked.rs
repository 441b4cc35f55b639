//! Processes that a real-time thread forks: they have its priority, unless it has SCHED_RESET_ON_FORK.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, rt, sys};
use whylate_events::{ContextFlags, TaskState};
use whylate_ledger::Cause;

const SERVER: Thread = rt("server", 10, 50);
const CHILD: Thread = rt("child", 11, 50);
const FORK: i64 = 57;
const FIFO: u64 = 1;
const RR: u64 = 2;

/// The server, of this policy, forks a child, which has the CPU for 200 ms and then yields for once.
fn forks(policy: u64, cpus: u32) -> Explained {
    let scene = Scene::new().of_cpus(cpus).cpu(0).at(0).sign(ContextFlags::default()).timer_wakes(SERVER);
    let scene = scene.at(5).run(SERVER).call(sys::SCHED_SETSCHEDULER, [0, policy, 0]).at(7);
    let scene = scene.ret(sys::SCHED_SETSCHEDULER).at(20).call(FORK, [0, 0, 0]).fork(SERVER, CHILD);
    let scene = scene.at(30).wake(CHILD, 0).at(40).ret(FORK).at(50).sleep(CHILD);
    let scene = scene.at(MS).timer_wakes(SERVER).at(201 * MS).switch_as(TaskState::Runnable, SERVER);
    let scene = scene.at(202 * MS).sleep(CHILD).at(203 * MS).die(IDLE);
    scene.explain("server")
}

#[test]
fn a_fifo_thread_that_yields_for_once_takes_no_turns() {
    let explained = forks(FIFO, 1);
    assert_blames(explained.worst(), Cause::EqualPriorityTask, Some(CHILD));
    let why = &explained.worst().verdict.why;
    assert!(why.ends_with("a FIFO thread is not preempted by a thread of equal priority"), "{why}");
    let why = &forks(RR, 1).worst().verdict.why.clone();
    assert!(why.ends_with("threads of this priority take turns (SCHED_RR, or sched_yield)"), "{why}");
}

#[test]
fn a_child_has_its_priority_from_the_late_thread() {
    let explained = forks(FIFO, 1);
    let fix = &explained.worst().verdict.fix;
    assert!(fix[0].text.starts_with("child:11 (rt 50) was forked by server:10 (rt 50)"), "{fix:?}");
    assert!(fix[0].text.contains("SCHED_RESET_ON_FORK (chrt -R"), "{fix:?}");
    assert_eq!(explained.finding("equal-priority-task").map(|finding| &finding.fix), Some(fix));
}

#[test]
fn no_thread_is_moved_to_another_cpu_where_there_is_none() {
    let moves = |cpus| {
        let explained = forks(FIFO, cpus);
        let finding = explained.finding("equal-priority-task").expect("a finding").fix.clone();
        let all = explained.worst().verdict.fix.iter().chain(&finding);
        all.filter(|fix| fix.text.contains("on another CPU")).count()
    };
    // The number of CPUs may be unknown.
    assert_eq!([moves(0), moves(1), moves(2)], [2, 0, 2]);
}
