//! The start and the end of programs, whatever wakes their threads: no period waits for them.

use super::support::{Explained, IDLE, MS, Scene, Thread, fair, rt, sys};
use whylate_base::{Ns, Tid};
use whylate_events::{EventKind, Signal, TaskState};
use whylate_ledger::Activation;

const MAIN: Thread = rt("main", 10, 50);
const WORKER: Thread = rt("worker", 11, 50);
const CLIENT: Thread = rt("client", 20, 60);
const SHELL: Thread = fair("bash", 5);
const EXIT: i64 = 60;

fn exits(scene: Scene, thread: Thread) -> Scene {
    scene.event(EventKind::Exit { tid: Tid(thread.tid) })
}

/// The worker, which a client wakes in each of `periods` for 100 us of work. Then `ends`, from 100 ms on.
fn served(periods: i64, ends: impl Fn(Scene) -> Scene) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(MAIN).at(10).fork(MAIN, WORKER).at(20).sleep(WORKER);
    let scene = scene.at(40).call(sys::READ, [3, 0, 0]).sleep(IDLE);
    let scene = (1..periods).fold(scene, |scene, n| {
        let due = n * 10 * MS;
        let scene = scene.at(due).timer_wakes(CLIENT).at(due + 5).run(CLIENT).at(due + 10).wake(WORKER, 1);
        let scene = scene.at(due + 15).sleep(WORKER).at(due + 20).ret(sys::READ);
        scene.at(due + 115).call(sys::READ, [3, 0, 0]).sleep(IDLE)
    });
    ends(scene.at(100 * MS)).explain("worker")
}

/// The last activation, of those of the thread that are listed.
fn last(explained: &Explained) -> &Activation {
    explained.in_order().last().copied().expect("an activation")
}

/// A client wakes the worker, and has the CPU until it sleeps.
fn client_wakes(scene: Scene) -> Scene {
    let scene = scene.timer_wakes(CLIENT).at(100 * MS + 5).run(CLIENT).at(100 * MS + 10).wake(WORKER, 1);
    scene.at(100 * MS + 15)
}

#[test]
fn a_thread_that_recurs_ends_by_its_own_call_whatever_woke_it() {
    let by_itself = |scene: Scene| {
        let scene = client_wakes(scene).sleep(WORKER).at(100 * MS + 20).ret(sys::READ);
        let scene = scene.at(100 * MS + 100).call(EXIT, [0, 0, 0]).at(111 * MS);
        exits(scene, WORKER).at(111 * MS + 100).die(IDLE)
    };
    let explained = served(9, by_itself);
    assert!(last(&explained).ends_program && last(&explained).response() > Ns::from_ms(10));
    assert!(explained.0.tasks[0].response.map(|spread| spread.max) < Some(Ns::from_us(200)));
    // What runs once is all that there is.
    assert!(!last(&served(1, by_itself)).ends_program);
}

#[test]
fn a_thread_that_is_preempted_behind_its_exit_is_no_new_one() {
    let ended = |on_its_way: fn(Scene) -> Scene| {
        served(9, move |scene| {
            let scene = client_wakes(scene).sleep(WORKER).at(100 * MS + 20).ret(sys::READ);
            let scene = scene.at(100 * MS + 100).call(EXIT, [0, 0, 0]).at(100 * MS + 110);
            on_its_way(exits(scene, WORKER).at(100 * MS + 120)).at(102 * MS).die(IDLE)
        })
    };
    let preempted = ended(|scene| scene.timer_wakes(CLIENT).run(CLIENT).at(101 * MS).sleep(WORKER));
    let count = |explained: &Explained| explained.0.tasks[0].activations;
    assert_eq!(count(&preempted), count(&ended(|scene| scene)));
    assert!(last(&preempted).ends_program);
}

#[test]
fn a_thread_that_is_killed_ends_from_then_on() {
    let killed = |at: i64, until: i64| {
        served(9, move |scene| {
            let signal =
                Signal { sig: Signal::SIGKILL, code: 0, tid: Tid(WORKER.tid), comm: "worker".into() };
            let scene = client_wakes(scene).sleep(WORKER).at(100 * MS + 20).ret(sys::READ);
            let scene = scene.at(at).run(CLIENT).event(EventKind::Signal(signal)).at(until).sleep(WORKER);
            exits(scene.at(until + 100), WORKER).at(until + 110).die(IDLE)
        })
    };
    // The killer runs on, and the worker waits for it.
    assert!(last(&killed(100 * MS + 200, 105 * MS)).ends_program);
    // It had gone on for too long before.
    assert!(!last(&killed(150 * MS, 151 * MS)).ends_program);
}

#[test]
fn threads_end_with_their_process() {
    let killed = |call: i64, periods: i64| {
        served(periods, move |scene| {
            let scene =
                scene.wake(MAIN, 1).at(100 * MS + 5).run(MAIN).at(100 * MS + 10).call(call, [0, 0, 0]);
            let scene = scene.at(100 * MS + 15).wake(WORKER, 1).at(108 * MS);
            let scene = exits(scene, MAIN).at(108 * MS + 100).die(WORKER).at(109 * MS);
            exits(scene, WORKER).at(109 * MS + 10).die(IDLE)
        })
    };
    for periods in [1, 9] {
        assert!(last(&killed(sys::EXIT_GROUP, periods)).ends_program, "{periods}");
    }
    assert!(!last(&killed(sys::READ, 9)).ends_program, "what ended it is not known");
}

/// `main` is executed at a real-time priority and starts a worker, which wakes it once it is ready, or later on; then it works for
/// 300 ms before its periods begin. Then the worker wakes it once more, and it works for 20 ms.
fn starts(ready: bool) -> Explained {
    let scene = Scene::new().cpu(1).at(0).run(SHELL).at(10).fork(SHELL, MAIN).at(20).sleep(MAIN).at(30);
    let scene = scene.exec(MAIN).at(50 * MS).fork(MAIN, WORKER).wake(WORKER, 1);
    let scene = scene.at(50 * MS + 100).call(sys::FUTEX, [0x7000, 0x80, 0]).sleep(WORKER);
    let scene = match ready {
        true => scene,
        false => {
            let scene = scene.at(50 * MS + 150).call(sys::FUTEX, [0x7100, 0x80, 0]).sleep(IDLE);
            scene.at(51 * MS).timer_wakes(WORKER).at(51 * MS + 5).run(WORKER).ret(sys::FUTEX)
        }
    };
    let scene = scene.at(51 * MS + 100).wake(MAIN, 1).at(51 * MS + 110);
    let scene = scene.call(sys::FUTEX, [0x7100, 0x80, 0]).sleep(MAIN).ret(sys::FUTEX);
    // The worker is given work, and waits for the CPU until the start is over.
    let scene = scene.at(60 * MS).wake(WORKER, 1).at(350 * MS).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let scene = scene.sleep(WORKER).ret(sys::FUTEX).at(350 * MS + 50);
    let mut scene = scene.call(sys::FUTEX, [0x7100, 0x80, 0]).sleep(IDLE);
    for n in 36..50 {
        let due = n * 10 * MS;
        scene = scene.at(due).timer_wakes(MAIN).at(due + 5).run(MAIN).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 10).wake(WORKER, 1).at(due + 100).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        scene = scene.sleep(WORKER).ret(sys::FUTEX).at(due + 200).call(sys::FUTEX, [0x7100, 0x80, 0]);
        scene = scene.sleep(IDLE);
    }
    scene.explain_with(&Default::default())
}

#[test]
fn a_program_starts_until_the_threads_that_it_started_are_ready() {
    let of = |explained: &Explained, thread: Thread| -> Vec<(bool, Ns)> {
        let own = explained.in_order().into_iter().filter(|one| one.tid == Tid(thread.tid));
        own.map(|one| (one.starts_program, one.response())).collect()
    };
    let explained = starts(true);
    let (main, worker) = (of(&explained, MAIN), of(&explained, WORKER));
    assert!(main.iter().filter(|one| one.0).any(|one| one.1 > Ns::from_ms(200)), "{main:?}");
    assert!(main.iter().filter(|one| !one.0).all(|one| one.1 < Ns::from_ms(1)), "{main:?}");
    assert!(worker.iter().filter(|one| !one.0).all(|one| one.1 < Ns::from_ms(1)), "{worker:?}");
    assert!(worker.iter().any(|one| one.0 && one.1 > Ns::from_ms(200)), "{worker:?}");
    assert!(
        explained.0.findings.iter().all(|finding| !finding.title.contains(" ms")),
        "{:?}",
        explained.codes()
    );
    // What a worker asks of it later is its work, however long that takes.
    let main = of(&starts(false), MAIN);
    assert!(main.iter().any(|one| !one.0 && one.1 > Ns::from_ms(200)), "{main:?}");
}

/// A thread of several periods, without system calls. In the last one another thread has the CPU for 60 ms, after which it ends; it
/// gave way as `shown`.
fn ends_behind(shown: Thread) -> Activation {
    let hog = rt("hog", 30, 80);
    let periods = (0..6).fold(Scene::new().cpu(1), |scene, n| {
        let due = n * 10 * MS + 100;
        scene.at(due).timer_wakes(MAIN).at(due + 5).run(MAIN).at(due + 100).sleep(IDLE)
    });
    let scene = periods.at(100 * MS).timer_wakes(MAIN).at(100 * MS + 5).run(MAIN).at(100 * MS + 50);
    let scene = scene.timer_wakes(hog).at(100 * MS + 60).unseen_switch_to(shown);
    let scene = scene.switch_as(TaskState::Runnable, hog).at(160 * MS).sleep(shown).at(160 * MS + 100);
    last(&scene.die(IDLE).explain("main")).clone()
}

#[test]
fn a_thread_that_gives_up_its_priority_and_exits_ends_by_itself() {
    assert!(ends_behind(fair("main", MAIN.tid)).ends_program);
    let killed = ends_behind(MAIN);
    assert!(!killed.ends_program && killed.response() > Ns::from_ms(50), "{killed:?}");
}
