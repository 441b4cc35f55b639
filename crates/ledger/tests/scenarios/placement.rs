//! Waiting on a busy CPU while another one is idle: only where it is known that the thread may use it.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Action, Confidence, Cpu, Tid};
use whylate_events::{ContextFlags, Fact};
use whylate_ledger::Cause;

const HOG: Thread = fair("hog", 20);
const VICTIM: Thread = fair("victim", 10);

fn may_use(thread: Thread, cpus: &str) -> Fact {
    Fact::Affinity { tid: Tid(thread.tid), cpus: cpus.parse().expect("a list") }
}

/// CPU 2 idles, CPU 1 has the hog.
fn machine() -> Scene {
    Scene::new().cpu(2).at(0).sign(ContextFlags::default()).cpu(1).at(0).run(HOG)
}

/// The victim waits on CPU 1 from 1 to 4 ms.
fn waits(scene: Scene, victim: Thread) -> Scene {
    scene.at(MS).timer_wakes(victim).at(4 * MS).run(victim).at(4 * MS + 100).sleep(IDLE)
}

#[test]
fn an_idle_cpu_that_it_may_use_would_have_spared_the_wait() {
    let explained = waits(machine().fact(may_use(VICTIM, "1-2")), VICTIM).explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::WakePlacement, 3 * MS), (Cause::OwnWork, 100)]);
    assert_blames(activation, Cause::WakePlacement, Some(HOG));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    let evidence: Vec<&str> =
        activation.verdict.evidence.iter().map(|evidence| evidence.what.as_str()).collect();
    assert!(
        evidence.iter().any(|what| what.contains("CPU 2, which the thread may use, was idle")),
        "{evidence:?}"
    );
    assert!(explained.finding("wake-placement").is_some(), "{:?}", explained.codes());
}

#[test]
fn each_thread_is_to_get_an_idle_cpu_of_its_own() {
    const SECOND: Thread = fair("second", 30);
    const DAEMON: Thread = fair("ksoftirqd/1", 40);
    let scene =
        Scene::new().cpu(2).at(0).sign(ContextFlags::default()).cpu(3).at(0).sign(ContextFlags::default());
    let scene = scene.cpu(1).at(0).run(HOG).fact(may_use(VICTIM, "1-3"));
    let scene = scene.at(MS).timer_wakes(VICTIM).at(3 * MS).run(DAEMON).at(4 * MS).run(SECOND);
    let explained = scene.at(5 * MS).run(VICTIM).at(5 * MS + 100).sleep(IDLE).explain("victim");
    let fix = explained.only().verdict.fix.first().expect("an advice");
    let Action::Thread { set } = &fix.action else { panic!("{fix:?}") };
    let cpus: Vec<(&str, Option<&str>)> =
        set.iter().map(|one| (one.thread.as_str(), one.cpus.as_deref())).collect();
    assert_eq!(
        cpus,
        [("victim", Some("2")), ("hog", Some("3"))],
        "ksoftirqd/1 cannot leave, and no CPU is left"
    );
    assert!(fix.text.ends_with("taskset -pc 2 10 (victim), taskset -pc 3 20 (hog)"), "{}", fix.text);
}

#[test]
fn a_real_time_thread_behind_another_as_well() {
    let (hog, victim) = (rt("hog", 20, 80), rt("victim", 10, 50));
    let scene = Scene::new()
        .cpu(2)
        .at(0)
        .sign(ContextFlags::default())
        .cpu(1)
        .at(0)
        .run(hog)
        .fact(may_use(victim, "0-2"));
    assert_blames(waits(scene, victim).explain("victim").only(), Cause::WakePlacement, Some(hog));
}

#[test]
fn a_cpu_that_it_may_not_use_or_that_is_not_known_is_no_way_out() {
    let idles_on = |scene: Scene| scene.cpu(2).at(9 * MS).sign(ContextFlags::default());
    let pinned = idles_on(waits(machine().fact(may_use(VICTIM, "1")), VICTIM)).explain("victim");
    assert_blames(pinned.only(), Cause::FairQueue, Some(HOG));
    let advice = &pinned.only().verdict.fix.first().expect("an advice").text;
    assert!(advice.contains("chrt -f -p"), "{advice}");
    let last = |explained: &Explained| {
        let verdict = &explained.only().verdict;
        let seen = verdict.evidence.last().map(|seen| (seen.cpu, seen.what.clone()));
        (seen, verdict.fix.last().map(|fix| fix.text.clone()).unwrap_or_default())
    };
    let (seen, advice) = last(&pinned);
    let expected = (Some(Cpu(2)), "was idle for 3.00 ms meanwhile; victim may not use it".to_owned());
    assert_eq!(seen, Some(expected));
    assert!(advice.starts_with("let victim use CPU 2 as well"), "{advice}");
    let (_, advice) = last(&idles_on(waits(machine(), VICTIM)).explain("victim"));
    assert!(!advice.contains("CPU 2"), "of a thread that ran once, it is not known: {advice}");
    let unknown = waits(machine(), VICTIM).explain("victim");
    assert_blames(unknown.only(), Cause::FairQueue, Some(HOG));
    // CPU 3 is allowed, and nothing is known of it.
    let unseen = waits(machine().fact(may_use(VICTIM, "1,3")), VICTIM).explain("victim");
    assert_blames(unseen.only(), Cause::FairQueue, Some(HOG));
}

#[test]
fn a_worker_of_the_kernel_is_not_made_real_time() {
    let worker = fair("kworker/u8:0", 10);
    let explained = waits(machine().fact(may_use(worker, "1")), worker).explain("kworker/u8:0");
    assert_blames(explained.only(), Cause::FairQueue, Some(HOG));
    let advice = &explained.only().verdict.fix.first().expect("an advice").text;
    assert!(advice.contains("workqueue") && !advice.contains("chrt"), "{advice}");
}

#[test]
fn a_cpu_that_was_busy_for_some_of_the_wait_is_no_way_out() {
    let app = fair("app", 30);
    let explained = machine()
        .fact(may_use(VICTIM, "1-2"))
        .at(MS)
        .timer_wakes(VICTIM)
        .cpu(2)
        .at(2 * MS)
        .timer_wakes(app)
        .run(app)
        .at(2 * MS + 500)
        .sleep(IDLE)
        .cpu(1)
        .at(4 * MS)
        .run(VICTIM)
        .at(4 * MS + 100)
        .sleep(IDLE)
        .explain("victim");
    assert_blames(explained.only(), Cause::FairQueue, Some(HOG));
}

#[test]
fn the_time_it_takes_to_move_a_thread_accuses_no_thread() {
    let explained = machine()
        .fact(may_use(VICTIM, "1-2"))
        .at(MS)
        .timer_wakes(VICTIM)
        .at(MS + 150)
        .run(VICTIM)
        .at(2 * MS)
        .sleep(IDLE)
        .explain("victim");
    assert_charges(explained.only(), &[(Cause::FairQueue, 150), (Cause::OwnWork, 850)]);
}

#[test]
fn after_it_asked_for_other_cpus_its_old_ones_do_not_count() {
    let explained = machine()
        .fact(may_use(VICTIM, "1-2"))
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .call(sys::SCHED_SETAFFINITY, [0, 8, 0])
        .at(110)
        .ret(sys::SCHED_SETAFFINITY)
        .at(120)
        .sleep(HOG);
    assert_blames(waits(explained, VICTIM).explain("victim").worst(), Cause::FairQueue, Some(HOG));
}

#[test]
fn a_cpu_it_has_run_on_since_it_asked_is_one_it_may_use() {
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .call(sys::SCHED_SETAFFINITY, [0, 8, 0])
        .at(115)
        .ret(sys::SCHED_SETAFFINITY)
        .at(120)
        .sleep(IDLE)
        .cpu(1)
        .at(200)
        .run(HOG);
    let explained = waits(explained, VICTIM).explain("victim");
    assert_blames(explained.worst(), Cause::WakePlacement, Some(HOG));
    assert_eq!(explained.worst().verdict.confidence, Confidence::Medium);
}

#[test]
fn a_new_thread_inherits_the_cpus_of_the_one_that_starts_it() {
    let shell = fair("sh", 9);
    let scene = machine().fact(may_use(shell, "1-2")).at(50).fork(shell, VICTIM);
    assert_blames(waits(scene, VICTIM).explain("victim").only(), Cause::WakePlacement, Some(HOG));
}

#[test]
fn a_cpu_that_a_wake_up_left_idle_may_not_be_used_any_more() {
    // It had run on CPU 2, and its timer expired there; the kernel moved it to CPU 1 all the same: its cpuset has shrunk.
    let with = |moved: bool| {
        let scene = Scene::new().cpu(1).at(0).run(HOG).call(sys::READ, [0, 0, 0]);
        let scene = scene.cpu(2).at(0).run(VICTIM).at(200).sleep(IDLE).at(900);
        let scene = if moved { scene.waking(VICTIM, 2).migrate(VICTIM, 2, 1) } else { scene };
        let scene = scene.cpu(1).at(MS).wake(VICTIM, 1).at(4 * MS).run(VICTIM).at(4 * MS + 100).sleep(HOG);
        scene.explain("victim").worst().verdict.cause
    };
    assert_eq!((with(false), with(true)), (Cause::WakePlacement, Cause::FairQueue));
}

/// It waits on CPU 1 for 3 ms in each of ten periods, while CPU 2 is idle.
#[test]
fn an_idle_cpu_on_which_a_thread_never_ran_is_named() {
    let evidence = |moves: bool| {
        let scene = (0..10).fold(machine(), |scene, n| {
            let due = n * 20 * MS + MS;
            let scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 3 * MS).run(VICTIM);
            scene.at(due + 3 * MS + 100).sleep(HOG)
        });
        let scene = scene.cpu(2).at(300 * MS);
        let scene = if moves { scene.timer_wakes(VICTIM).at(300 * MS + 5).run(VICTIM) } else { scene };
        let scene = scene.at(300 * MS + 50);
        let scene = if moves { scene.sleep(IDLE) } else { scene.sign(ContextFlags::default()) };
        let verdict = scene.explain("victim").worst().verdict.clone();
        verdict.evidence.iter().map(|seen| seen.what.clone()).collect::<Vec<_>>().join("; ")
    };
    let seen = evidence(false);
    assert!(seen.ends_with("was idle for 3.00 ms meanwhile; victim never ran there"), "{seen}");
    assert!(!evidence(true).contains("never ran there"));
}
