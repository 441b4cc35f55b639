//! Traces without an active real-time thread: which threads are named, and which explained.

use super::support::{Explained, IDLE, Scene, Thread, fair, rt};
use std::convert::Infallible;
use whylate_base::{Ns, Policy, Tid};
use whylate_events::Fact;
use whylate_ledger::{CandidateKind, Candidates, Cause, Options, explain_any};

const WORKER: Thread = fair("worker", 40);
const SHELL: Thread = fair("sh", 41);
const FLUSH: Thread = fair("kworker/u4:2", 42);
const DRIVER: Thread = fair("acme-poll", 43);

/// `thread` is woken `late` us before it runs, for 50 us.
fn activation(scene: Scene, thread: Thread, at: i64, late: i64) -> Scene {
    scene.at(at).wake(thread, 1).at(at + late).run(thread).at(at + late + 50).sleep(IDLE)
}

fn shown(scene: Scene) -> Candidates {
    scene.explain_with(&Options::default()).0.candidates.expect("candidates")
}

fn names(candidates: &Candidates) -> Vec<&str> {
    candidates.threads.iter().map(|candidate| candidate.comm.as_str()).collect()
}

/// Of programs and of the kernel: by its name, and by its parent.
fn fair_threads() -> Scene {
    let scene = Scene::new()
        .cpu(1)
        .at(0)
        .run(fair("kthreadd", 2))
        .fork(fair("kthreadd", 2), DRIVER)
        .at(10)
        .sleep(IDLE);
    let scene = activation(scene, SHELL, 100, 30);
    let scene = activation(scene, FLUSH, 1_000, 900);
    let scene = activation(scene, DRIVER, 3_000, 800);
    let scene = activation(scene, WORKER, 5_000, 200);
    activation(scene, WORKER, 6_000, 20)
}

#[test]
fn threads_of_programs_come_first_and_each_by_worst_latency() {
    let candidates = shown(fair_threads());
    assert_eq!(names(&candidates), ["worker", "sh", "kworker/u4:2", "acme-poll", "kthreadd"]);
    let of = |name: &str| candidates.threads.iter().find(|one| one.comm.as_str() == name).expect(name);
    assert_eq!((of("worker").activations, of("worker").latency), (2, Some(Ns::from_us(200))));
    assert_eq!(of("kthreadd").latency, None, "the trace begins in the middle of it");
    let kinds: Vec<CandidateKind> = candidates.threads.iter().map(|one| one.kind).collect();
    let (program, kernel) = (CandidateKind::Program, CandidateKind::Kernel);
    assert_eq!(kinds, [program, program, kernel, kernel, kernel]);
    assert!(candidates.shows_policies && !candidates.kernel_realtime && candidates.idle_realtime.is_empty());
}

#[test]
fn what_makes_system_calls_is_no_kernel_thread_whatever_its_name() {
    let scene =
        fair_threads().at(8_000).wake(FLUSH, 1).at(8_100).run(FLUSH).call(1, [0; 3]).at(8_200).sleep(IDLE);
    assert_eq!(names(&shown(scene))[0], "kworker/u4:2");
}

#[test]
fn the_worst_few_are_explained_as_if_they_had_been_chosen() {
    let again = || Ok::<_, Infallible>(Some(fair_threads().source()));
    let options = Options { deadline: Some(Ns(1)), ..Options::default() };
    let Ok(explanation) = explain_any(fair_threads().source(), &options, again);
    let explained = Explained::of(explanation);
    let candidates = explained.0.candidates.as_ref().expect("candidates");
    let marked: Vec<&str> =
        candidates.threads.iter().filter(|one| one.is_explained).map(|one| one.comm.as_str()).collect();
    assert_eq!(marked, ["worker", "sh"], "the kernel's own are hardly meant");
    assert_eq!(explained.0.tasks.len(), 2);
    assert!(explained.finding("deadline-missed").is_none(), "the deadline is of another thread");
    let chosen = fair_threads().explain("worker");
    let of_worker = explained.0.activations.iter().find(|one| one.tid == Tid(40)).expect("an activation");
    assert_eq!(of_worker.verdict.cause, chosen.worst().verdict.cause);
    assert_eq!(of_worker.ledger, chosen.worst().ledger);
    assert_eq!(of_worker.ledger[0].cause, Cause::Dispatch);
}

#[test]
fn late_real_time_threads_of_the_kernel_come_before_programs_that_are_not_late() {
    let irq = rt("irq/17-acme", 50, 50);
    let scene = Scene::new().cpu(1).at(0).run(WORKER).at(10).sleep(IDLE);
    let scene = activation(activation(scene, irq, 1_000, 25), FLUSH, 2_000, 900);
    assert_eq!(names(&shown(scene)), ["irq/17-acme", "worker", "kworker/u4:2"]);
    let scene = activation(Scene::new().cpu(1).at(0).run(irq).at(10).sleep(IDLE), WORKER, 1_000, 3);
    assert_eq!(names(&shown(activation(scene, irq, 3_000, 15))), ["worker", "irq/17-acme"]);
}

#[test]
fn recorders_come_after_other_programs() {
    let recorder = fair("trace-cmd", 50);
    let candidates = shown(activation(fair_threads(), recorder, 9_000, 950));
    assert_eq!(names(&candidates)[..4], ["worker", "sh", "trace-cmd", "kworker/u4:2"]);
}

#[test]
fn the_recorded_command_comes_first_with_what_it_started() {
    let child = fair("sh", 44);
    let scene = fair_threads().at(8_000).fork(SHELL, child).at(8_001).fact(Fact::Workload { tid: Tid(41) });
    let candidates = shown(activation(scene, child, 9_000, 10));
    let shown: Vec<_> = candidates.threads.iter().map(|one| (one.tid.0, one.kind)).collect();
    assert_eq!(
        shown[..3],
        [(41, CandidateKind::Command), (44, CandidateKind::Command), (40, CandidateKind::Program)]
    );
}

#[test]
fn without_wake_ups_latencies_are_not_known() {
    let scene =
        Scene::new().cpu(1).at(0).run(IDLE).at(100).run(WORKER).at(200).sleep(IDLE).at(300).run(SHELL);
    let scene = scene.at(400).sleep(WORKER).at(500).sleep(IDLE);
    let candidates = shown(scene);
    let of: Vec<_> =
        candidates.threads.iter().map(|one| (one.comm.as_str(), one.activations, one.latency)).collect();
    assert_eq!(of, [("worker", 2, None), ("sh", 1, None)]);
}

#[test]
fn what_cannot_be_read_twice_is_named() {
    let Ok(explanation) =
        explain_any(fair_threads().source(), &Options::default(), || Ok::<_, Infallible>(None));
    let candidates = explanation.candidates.expect("candidates");
    assert_eq!(candidates.threads.len(), 5);
    assert!(explanation.tasks.is_empty() && candidates.threads.iter().all(|one| !one.is_explained));
}

#[test]
fn an_active_real_time_thread_or_a_choice_leaves_none() {
    let victim = rt("victim", 10, 80);
    let explained = activation(fair_threads(), victim, 9_000, 10).explain_with(&Options::default());
    assert!(explained.0.candidates.is_none() && explained.0.tasks.len() == 1);
    assert!(fair_threads().explain("nothing").0.candidates.is_none());
    assert!(Scene::new().at(0).waking(WORKER, 1).explain_with(&Options::default()).0.candidates.is_none());
}

#[test]
fn real_time_threads_that_were_never_active_are_named() {
    let fact = |tid, comm: &str| Fact::Policy {
        tid: Tid(tid),
        policy: Policy::Fifo,
        priority: 99,
        comm: comm.into(),
    };
    let scene = Scene::new().cpu(1).at(0).fact(fact(8, "multipathd")).fact(fact(9, "migration/0"));
    let candidates = shown(activation(activation(scene, WORKER, 100, 30), SHELL, 1_000, 5));
    assert_eq!(candidates.idle_realtime, [(Tid(8), "multipathd".into())]);
    assert!(candidates.kernel_realtime);
    assert_eq!(names(&candidates), ["worker", "sh"]);
}

#[test]
fn many_candidates_are_counted() {
    let mut scene = Scene::new().cpu(1).at(0).run(IDLE);
    for tid in 0..30 {
        scene = activation(scene, fair("one-of-many", 100 + tid), 1_000 * i64::from(tid + 1), 5);
    }
    let candidates = shown(scene);
    assert_eq!((candidates.threads.len(), candidates.more), (10, 20));
}

#[test]
fn without_wake_ups_the_list_goes_by_waits() {
    let preempted = || {
        let scene = Scene::new().cpu(1).at(0).run(WORKER).at(10).run(SHELL).at(1_700).sleep(WORKER);
        scene.at(1_750).sleep(SHELL).at(1_800).sleep(IDLE)
    };
    let candidates = shown(preempted());
    assert_eq!((names(&candidates), candidates.shows_wakeups), (vec!["worker", "sh"], false));
    let worker = &candidates.threads[0];
    assert_eq!((worker.latency, worker.wait), (None, Some(Ns::from_us(1_690))));
    // Where they are recorded, a wait without one is no news of a thread with periods.
    let woken = shown(activation(preempted(), SHELL, 3_000, 30));
    assert_eq!((names(&woken), woken.shows_wakeups), (vec!["sh", "worker"], true));
}

/// Where a text does not name the thread that comes, one id stands for it on each CPU.
#[test]
fn threads_that_the_recording_cannot_name_have_not_moved() {
    let unnamed = fair("", -1);
    let leaves =
        |scene: Scene, cpu: u32, at: i64| scene.cpu(cpu).at(at).run(SHELL).at(at + 20).sleep(unnamed);
    let scene = leaves(leaves(Scene::new(), 0, 100), 1, 1_000);
    let explained = scene.explain_with(&Options::default());
    assert!(explained.finding("unseen-switches").is_none(), "{:#?}", explained.0.findings);
}

#[test]
fn a_thread_woken_on_a_cpu_that_was_not_recorded_is_not_the_latest() {
    let scene = activation(Scene::new().cpu(1).at(0).run(IDLE), WORKER, 100, 30);
    let scene = scene.at(1_000).run(SHELL).at(1_010).wake(DRIVER, 7).at(90_000).sleep(IDLE);
    assert_eq!(names(&shown(scene)), ["worker", "sh"]);
}

#[test]
fn a_kernel_thread_that_starves_comes_before_a_real_time_one_that_is_hardly_late() {
    let poll = rt("irq/17-acme", 50, 50);
    let scene = |of_poll, late| {
        let scene = activation(Scene::new().cpu(1).at(0).run(IDLE), poll, 100, of_poll);
        names(&shown(activation(scene, FLUSH, 1_000, late))).join(" ")
    };
    assert_eq!(scene(39, 2_000), "irq/17-acme kworker/u4:2");
    assert_eq!(scene(39, 128_000), "kworker/u4:2 irq/17-acme");
    // Of one that starts within some microseconds there is nothing to explain.
    assert_eq!(scene(6, 2_000), "kworker/u4:2 irq/17-acme");
    assert_eq!(scene(6, 100), "irq/17-acme kworker/u4:2");
}

/// It waits on one CPU, and on another one.
#[test]
fn a_wait_goes_on_where_a_thread_is_moved() {
    let scene = Scene::new().cpu(0).at(0).run(WORKER).at(10).run(SHELL);
    let scene = scene.at(400).migrate(WORKER, 0, 1).cpu(1).at(700).run(WORKER).at(800).sleep(IDLE);
    let candidates = shown(scene);
    let worker = candidates.threads.iter().find(|one| one.comm.as_str() == "worker").expect("worker");
    assert_eq!(worker.wait, Some(Ns::from_us(690)));
}

/// A worker is kept off the CPU for `wait` us by a real-time thread that starts `late` us after it is due.
fn beside(wait: i64, late: i64) -> Option<(Tid, Option<Ns>)> {
    let control = rt("control", 10, 80);
    let scene = Scene::new().cpu(1).at(0).run(WORKER).at(100).wake(control, 1).at(100 + late).run(control);
    let scene = scene.at(100 + late + wait).sleep(WORKER).at(200 + late + wait).sleep(IDLE);
    let explained = scene.explain_with(&Options::default());
    assert_eq!(explained.0.tasks.len(), 1);
    explained.0.waits_beside.map(|one| (one.tid, one.wait))
}

#[test]
fn a_thread_that_waits_far_longer_than_those_explained_is_named() {
    assert_eq!(beside(300_000, 5), Some((Tid(WORKER.tid), Some(Ns::from_us(300_000)))));
    assert_eq!(beside(9_000, 5), None, "a busy CPU");
    assert_eq!(beside(300_000, 20_000), None, "the late one is the one to explain");
}

#[test]
fn a_thread_of_the_kernel_that_goes_first_and_waits_longer_is_named() {
    // A program of priority 10 starts after 5 us; the interrupt's thread waits for 300 us behind another thread of the kernel.
    let beside = |priority: i32, waits: i64| {
        let (program, handler) = (rt("control", 10, 10), rt("irq/17-acme", 50, priority));
        let scene =
            Scene::new().cpu(1).at(0).run(FLUSH).at(100).wake(handler, 1).at(100 + waits).run(handler);
        let scene = scene.at(200 + waits).sleep(IDLE).at(2_000).timer_wakes(program).at(2_005).run(program);
        let explained = scene.at(2_050).sleep(IDLE).explain_with(&Options::default());
        assert_eq!(explained.0.tasks.len(), 1);
        explained.0.waits_beside.map(|one| (one.tid, one.wait))
    };
    assert_eq!(beside(50, 300), Some((Tid(50), Some(Ns::from_us(300)))));
    assert_eq!(beside(50, 150), None, "it is hardly late");
    assert_eq!(beside(5, 300), None, "the program goes before it");
}

#[test]
fn a_program_without_a_whole_activation_comes_behind_the_kernels_that_have_one() {
    let seen_last = || Scene::new().cpu(1).at(0).run(WORKER).at(10).sleep(IDLE);
    let other = fair("kworker/1:1", 45);
    let scene = || activation(seen_last(), FLUSH, 1_000, 90).at(2_000).run(other).at(2_010).sleep(IDLE);
    assert_eq!(names(&shown(scene())), ["kworker/u4:2", "worker", "kworker/1:1"]);
    let Ok(explanation) =
        explain_any(scene().source(), &Options::default(), || Ok::<_, Infallible>(Some(scene().source())));
    let explained: Vec<&str> = explanation.tasks.iter().map(|task| task.comm.as_str()).collect();
    assert_eq!(explained, ["kworker/u4:2"], "of the other nothing is seen either");
    let scene = activation(activation(seen_last(), FLUSH, 1_000, 90), SHELL, 3_000, 5);
    assert_eq!(names(&shown(scene)), ["sh", "worker", "kworker/u4:2"], "a program has one");
    // It waits longer than the kernel's thread was late.
    let scene = Scene::new().cpu(1).at(0).run(WORKER).at(10).run(SHELL).at(500).sleep(WORKER);
    let scene = activation(scene.at(600).sleep(IDLE), FLUSH, 1_000, 90);
    assert_eq!(names(&shown(scene))[0], "worker");
}

#[test]
fn a_wait_far_longer_than_those_of_the_candidates_that_are_explained_is_named() {
    let source = |wait: i64| {
        let scene = Scene::new().cpu(1).at(0).run(IDLE);
        let scene = activation(activation(scene, WORKER, 100, 200), SHELL, 1_000, 150);
        let scene = activation(scene, fair("app", 46), 2_000, 100);
        // It starts soon, and is preempted then.
        let scene = scene.at(10_000).wake(fair("draw", 47), 1).at(10_005).run(fair("draw", 47));
        let scene = scene.at(10_050).run(SHELL).at(10_050 + wait).sleep(fair("draw", 47));
        scene.at(10_100 + wait).sleep(IDLE).source()
    };
    let beside = |wait: i64| {
        let again = || Ok::<_, Infallible>(Some(source(wait)));
        let Ok(explanation) = explain_any(source(wait), &Options::default(), again);
        explanation.waits_beside.map(|one| (one.tid, one.wait))
    };
    assert_eq!(beside(4_000), Some((Tid(47), Some(Ns::from_us(4_000)))));
    assert_eq!(beside(900), None, "a busy CPU");
}
