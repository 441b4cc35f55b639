//! How grave a finding is about a thread that delayed others.

use super::support::{Explained, IDLE, MS, Scene, Thread, fair, rt, sys};
use whylate_base::{Action, Ns, Severity, Tid};
use whylate_events::{ContextFlags, EventKind, TaskState};
use whylate_ledger::{Cause, Options, Select};

const MAIN: Thread = rt("program", 10, 40);
const HELPER: Thread = rt("helper", 11, 40);
const WRITE: i64 = 1;

/// Of a process, or of one that forked: `flags` are those of clone(2). The first thread sets the other to work, and goes on, at last
/// for 5 ms.
fn sets_to_work(flags: u64, waker: Thread) -> Explained {
    const CLONE: i64 = 56;
    let scene = Scene::new().cpu(1).at(0).run(MAIN).at(10).call(CLONE, [flags, 0, 0]).at(15);
    let scene = scene.fork(MAIN, HELPER).at(20).ret(CLONE).at(30).wake(HELPER, 1).at(40).sleep(HELPER);
    let scene = (1..=16).fold(scene.at(60).sleep(IDLE), |scene, n| {
        let (due, work) = (n * 20 * MS, if n > 13 { 5 * MS } else { 100 });
        let scene = scene.at(due).timer_wakes(MAIN).at(due + 5).run(MAIN).at(due + 50);
        let scene = if waker.tid == MAIN.tid { scene.wake(HELPER, 1) } else { scene.timer_wakes(HELPER) };
        scene.at(due + work).sleep(HELPER).at(due + work + 50).sleep(IDLE)
    });
    let tasks = [HELPER, MAIN].map(|thread| Select::Comm(thread.name.into())).to_vec();
    scene.explain_with(&Options { tasks, ..Options::default() })
}

#[test]
fn a_helper_waits_for_the_thread_of_its_process_that_set_it_to_work() {
    const CLONE_VM_AND_THREAD: u64 = 0x1_0100;
    const SIGCHLD: u64 = 17;
    let severity = |explained: Explained| {
        explained.finding("equal-priority-task").map(|finding| finding.severity).expect("a finding")
    };
    let helped = sets_to_work(CLONE_VM_AND_THREAD, MAIN);
    let finding = helped.finding("equal-priority-task").expect("a finding");
    assert!(finding.why.starts_with("it had set them to work itself"), "{finding:?}");
    let own = finding.evidence.last().map(|seen| seen.what.as_str());
    assert_eq!(own, Some("program:10 itself took 5.00 ms (own-work: 5.00 ms)"));
    assert!(finding.fix.iter().all(|fix| !fix.text.contains("priority")), "{finding:?}");
    assert_eq!(severity(helped), Severity::Info);
    // A fork is a process of its own, and a timer of its own no work that the other one hands over.
    assert_eq!(severity(sets_to_work(SIGCHLD, MAIN)), Severity::Warning);
    assert_eq!(severity(sets_to_work(CLONE_VM_AND_THREAD, IDLE)), Severity::Warning);
}

#[test]
fn a_fork_is_no_thread_of_the_same_program() {
    let higher = rt("helper", 11, 50);
    let advice = |flags: u64| {
        let scene = Scene::new().cpu(1).at(0).run(MAIN).at(10).call(56, [flags, 0, 0]).at(15);
        let scene = scene.fork(MAIN, higher).at(20).ret(56).at(30).wake(higher, 1).at(40).sleep(higher);
        let scene = scene.at(60).sleep(IDLE).at(20 * MS).timer_wakes(higher).at(20 * MS + 5).run(higher);
        let scene = scene.at(20 * MS + 10).timer_wakes(MAIN).at(25 * MS).sleep(MAIN);
        let explained = scene.at(25 * MS + 50).sleep(IDLE).explain("program");
        let late =
            explained.0.activations.iter().find(|late| late.verdict.cause == Cause::HigherPriorityTask);
        let fixes = late.expect("it waited").verdict.fix.iter().map(|fix| fix.text.clone());
        fixes.collect::<Vec<_>>().join("; ")
    };
    let (thread, process) = (advice(0x1_0100), advice(17));
    assert!(thread.contains("a thread of the same program"), "{thread}");
    assert!(!process.contains("same program") && !process.contains("service"), "{process}");
}

/// Forty activations, one every 20 ms, of which another thread delays one for so long.
fn late_once(us: i64, deadline: Option<Ns>) -> Severity {
    let (victim, other, client) = (rt("victim", 20, 60), rt("other", 21, 90), fair("client", 22));
    let scene = (0..40).fold(Scene::new().cpu(1).at(0).sign(ContextFlags::default()), |scene, n| {
        let due = n * 20 * MS + 100;
        let late = if n == 30 { us } else { 0 };
        let scene = scene.at(due - 60).run(client).at(due - 50);
        let scene = match late {
            0 => scene.at(due).wake(victim, 1).at(due + 5).switch_as(TaskState::Runnable, victim),
            late => {
                let scene = scene.wake(other, 1).at(due - 40).run(other).at(due).wake(victim, 1);
                scene.at(due + late).sleep(victim)
            }
        };
        scene.at(due + late + 50).sleep(client).at(due + late + 60).sleep(IDLE)
    });
    let options = Options { tasks: vec![Select::Comm("victim".into())], deadline, ..Options::default() };
    let explained = scene.explain_with(&options);
    explained.finding("higher-priority-task").map(|finding| finding.severity).expect("a finding")
}

#[test]
fn a_short_delay_of_one_activation_of_many_is_a_note() {
    assert_eq!(late_once(300, None), Severity::Info);
    assert_eq!(late_once(300, Some(Ns::from_us(200))), Severity::Warning);
    assert_eq!(late_once(1_500, None), Severity::Warning);
}

/// A client asks a server of a lower priority, and runs before it when it has the answer.
#[test]
fn a_client_runs_before_the_thread_that_answered_it() {
    let (client, server) = (rt("client", 30, 60), rt("server", 31, 55));
    let scene = Scene::new().cpu(1).at(0).run(client).at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(55);
    let scene = (1..=30).fold(scene.sleep(IDLE), |scene, n| {
        let (due, serves, work) =
            (n * 10 * MS, if n == 20 { 2 * MS } else { 40 }, if n == 20 { 3 * MS } else { 800 });
        let scene = scene.at(due).timer_wakes(client).at(due + 5).run(client).ret(sys::CLOCK_NANOSLEEP);
        let scene = scene.at(due + 50).call(WRITE, [4, 0, 0]).wake(server, 1).at(due + 55).ret(WRITE);
        let scene = scene.at(due + 60).call(sys::READ, [3, 0, 0]).at(due + 65).sleep(server).ret(sys::READ);
        let answered = due + 65 + serves;
        let scene = scene.at(answered).call(WRITE, [5, 0, 0]).wake(client, 1).at(answered + 5).run(client);
        let done = answered + work;
        let scene = scene.ret(sys::READ).at(done).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(done + 5);
        let scene = scene.sleep(server).ret(WRITE).at(done + 20).call(sys::READ, [4, 0, 0]);
        scene.at(done + 25).sleep(IDLE)
    });
    let explained = scene.explain("server");
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert_eq!(finding.severity, Severity::Info, "{finding:?}");
}

/// Short programs, one after the other, each of which keeps the CPU for 5 ms.
#[test]
fn what_is_over_soon_is_not_moved_by_its_id() {
    let (shell, victim) = (fair("shell", 5), rt("victim", 20, 60));
    let advice = |ends: bool| {
        let scene = (0..6).fold(Scene::new().cpu(1).at(0).run(shell), |scene, n| {
            let (due, job) = (n * 20 * MS + 100, rt("job", 30 + i32::try_from(n).expect("few"), 70));
            let scene = scene.at(due).fork(shell, job).wake(job, 1).at(due + 5).sleep(job);
            let scene = scene.at(due + 10).timer_wakes(victim).at(due + 5 * MS);
            let exits = EventKind::Exit { tid: Tid(job.tid) };
            let scene = if ends { scene.event(exits).die(victim) } else { scene.sleep(victim) };
            scene.at(due + 6 * MS).sleep(IDLE).at(due + 7 * MS).wake(shell, 1).at(due + 7 * MS + 5).run(shell)
        });
        let explained = scene.explain("victim");
        let fix = explained.finding("higher-priority-task").expect("a finding").fix[0].clone();
        let Action::Thread { set } = &fix.action else { panic!("{fix:?}") };
        (fix.text.clone(), set[0].tid.is_some())
    };
    let (text, has_id) = advice(true);
    assert!(
        text.starts_with("start job:")
            && text.contains("as it ends soon")
            && text.ends_with("; or isolate the CPU of the late thread"),
        "{text}"
    );
    assert!(!has_id);
    let (text, has_id) = advice(false);
    assert!(text.starts_with("move job:") && has_id, "{text}");
}
