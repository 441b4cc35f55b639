//! Threads that ask others in their periods, and threads that wake each other in turn.

use super::requests::longest;
use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::ContextFlags;
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 50);
const SERVER: Thread = rt("server", 20, 60);
const OWN: u64 = 0xffff_8881_0000_3000;

/// Thirty periods of 10 ms in each of which the server runs for 0.4 ms; it is woken by a timer, or by the victim.
fn served(called: bool) -> Explained {
    served_for(called, |n| 400 + n * 10, 900)
}

/// The same, for so long in each period; the victim is done `done` us after it was due.
fn served_for(called: bool, length: impl Fn(i64) -> i64, done: i64) -> Explained {
    let mut scene = Scene::new().cpu(1);
    for n in 0..30 {
        let due = n * 10 * MS + 100;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 50);
        scene = if called { scene.wake(SERVER, 1) } else { scene.timer_wakes(SERVER) };
        scene =
            scene.at(due + 52).run(SERVER).at(due + 52 + length(n)).sleep(VICTIM).at(due + done).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn what_a_server_usually_takes_that_the_thread_woke_itself_is_no_delay() {
    let unasked = served(false);
    assert_blames(unasked.worst(), Cause::HigherPriorityTask, Some(SERVER));
    assert_eq!(unasked.finding("higher-priority-task").expect("a finding").severity, Severity::Warning);
    let called = served(true);
    let is_accused =
        |one: &&Activation| one.verdict.cause == Cause::HigherPriorityTask && !one.verdict.fix.is_empty();
    assert!(!called.in_order().iter().any(is_accused));
    assert!(called.0.findings.iter().all(|one| one.severity == Severity::Info), "{:?}", called.codes());
    // Where that is most of it, the answer names it: the thread's own work is little beside it.
    let mostly = served_for(true, |_| 400, 600);
    assert_blames(mostly.in_order()[0], Cause::HigherPriorityTask, Some(SERVER));
    let why = &mostly.in_order()[0].verdict.why;
    assert!(why.contains("threads ran before it that it had woken itself, server:20 (rt 60)"), "{why}");
    let findings = &mostly.0.findings;
    assert!(findings.iter().all(|one| one.severity == Severity::Info), "{:?}", mostly.codes());
}

/// How the victim is answered in `asks_a_server`.
#[derive(Clone, Copy, PartialEq)]
enum Answered {
    /// By the server that it woke.
    Asked,
    /// By one that timers wake.
    Unasked,
    /// By the server that it woke, which asks another one first.
    Relayed,
    /// By the server, which another thread woke just before it did in the last period.
    Busy,
    /// By the server that it woke, twice in each period; the last time late.
    Twice,
    /// By the server that it woke; no event of a timer is recorded.
    WithoutTimers,
}

/// Thirty periods of 10 ms. In each the victim asks a server by a socket and sleeps until that answers, which it does at once or, in
/// the last one, after a hog has had the CPU for `hogged`.
fn asks_a_server(how: Answered, hogged: i64) -> Explained {
    let server = fair("server", 20);
    let store = fair("store", 21);
    let client = fair("client", 22);
    let hog = rt("hog", 50, 40);
    let mut scene = Scene::new().cpu(1).at(0).run(server).at(20).sleep(IDLE);
    for n in 0..30 {
        let due = n * 10 * MS + 1_000;
        let late = if n == 29 { hogged } else { 0 };
        if how == Answered::Busy && n == 29 {
            scene = scene.at(due - 10).run(client).wake(server, 1).at(due - 5).sleep(server);
        }
        scene = match how {
            Answered::WithoutTimers => scene.at(due).wake(VICTIM, 1),
            _ => scene.at(due).timer_wakes(VICTIM),
        };
        scene = scene.at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP).at(due + 10);
        if how == Answered::Twice {
            scene = scene.wake(server, 1).call(sys::READ, [3, 0, 100]).sleep(server);
            scene = scene.at(due + 30).wake(VICTIM, 1).at(due + 35).sleep(VICTIM).ret(sys::READ).at(due + 50);
        }
        scene = match how {
            Answered::Unasked => scene.timer_wakes(server),
            Answered::Busy if n == 29 => scene,
            _ => scene.wake(server, 1),
        };
        scene = scene.at(due + 60).call(sys::READ, [3, 0, 100]);
        if late > 0 {
            scene = scene.sleep(hog).at(due + 60 + late).sleep(server);
        } else {
            scene = scene.sleep(server);
        }
        if how == Answered::Relayed {
            scene = scene.at(due + 70 + late).wake(store, 1).sleep(store);
            scene = scene.at(due + 80 + late).wake(server, 1).sleep(server);
        }
        let answered = due + 100 + late;
        scene = scene.at(answered).wake(VICTIM, 1).at(answered + 5).run(VICTIM).ret(sys::READ);
        scene = scene.at(answered + 50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(server);
        scene = scene.at(answered + 60).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn an_answer_that_takes_a_notable_part_of_the_period_is_part_of_it() {
    for how in [Answered::Asked, Answered::Relayed, Answered::Busy, Answered::WithoutTimers] {
        for late_by in [15 * MS, 5 * MS] {
            let explained = asks_a_server(how, late_by);
            let late = longest(&explained);
            assert_eq!(late.response(), Ns::from_us(late_by + 150));
            assert_blames(&late, Cause::OwnWait, Some(fair("server", 20)));
            assert_eq!(late.verdict.confidence, Confidence::Medium);
            let by = format!("waited for the CPU that hog:50 (rt 40) had for {}.00 ms", late_by / MS);
            let by = format!("server:20 (nice 0), which was to answer, {by}");
            assert!(late.verdict.evidence.iter().any(|one| one.what == by), "{:?}", late.verdict.evidence);
            let fix = late.verdict.fix.first().map(|fix| fix.text.as_str());
            assert_eq!(
                fix,
                Some("give server:20 (nice 0) a priority above hog:50 (rt 40): chrt -f -p PRIORITY TID")
            );
            let finding = explained.finding("own-wait").expect("a finding");
            assert_eq!(finding.severity, Severity::Warning);
            assert!(
                finding.title.starts_with("server:20 (nice 0) answered victim:10 (rt 50) late: after up to ")
            );
        }
    }
    let again = asks_a_server(Answered::Twice, 15 * MS);
    assert_blames(&longest(&again), Cause::OwnWait, Some(fair("server", 20)));
}

#[test]
fn an_answer_at_once_begins_an_activation_and_input_that_was_not_asked_for_is_waited_for_as_well() {
    assert!(longest(&asks_a_server(Answered::Asked, 0)).response() < Ns::from_us(100));
    let unasked = longest(&asks_a_server(Answered::Unasked, 15 * MS));
    assert_blames(&unasked, Cause::OwnWait, Some(fair("server", 20)));
    assert!(!unasked.verdict.evidence.iter().any(|seen| seen.what.contains("was to answer")));
}

/// The server has a priority above that of its client, as it should, and takes 4 ms in one of forty periods.
#[test]
fn a_server_that_the_thread_woke_itself_is_no_warning() {
    let driver = rt("driver", 20, 70);
    let scene = (0..40).fold(Scene::new().cpu(1).at(0).run(driver).at(50).sleep(IDLE), |scene, n| {
        let due = n * 10 * MS + 1_000;
        let answers = due + 180 + if n == 20 { 4 * MS } else { 0 };
        let scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 20);
        let scene = scene.wake(driver, 1).at(due + 22).run(driver).at(answers).sleep(VICTIM);
        scene.at(answers + 40).sleep(IDLE)
    });
    let explained = scene.explain("victim");
    let late = longest(&explained);
    assert_blames(&late, Cause::HigherPriorityTask, Some(driver));
    let fix = &late.verdict.fix[0].text;
    assert!(fix.starts_with("let driver:20 (rt 70) do less for one request"), "{fix}");
    let finding = explained.finding("higher-priority-task").expect("a finding");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.evidence.iter().any(|evidence| evidence.what.contains("waits for an answer")));
}

/// The victim asks a proxy in each period, and that a server; both have priority over it, and it goes on when they are done.
#[test]
fn a_server_that_another_one_asks_for_the_thread_works_for_it_as_well() {
    let (proxy, server) = (rt("proxy", 20, 70), rt("server", 21, 60));
    let relayed = |asked: bool| {
        let mut scene = Scene::new().cpu(1);
        for n in 0..30 {
            let due = n * 10 * MS + 1_000;
            let work = if n == 20 { 3 * MS } else { 200 };
            scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
            scene = scene.at(due + 20).wake(proxy, 1).at(due + 22).run(proxy).at(due + 40);
            scene = if asked { scene.wake(server, 1) } else { scene.timer_wakes(server) };
            scene = scene.sleep(server).at(due + 40 + work).sleep(VICTIM).at(due + 80 + work);
            scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
        }
        longest(&scene.explain("victim"))
    };
    let late = relayed(true);
    assert_blames(&late, Cause::HigherPriorityTask, Some(server));
    let verdict = &late.verdict;
    assert!(verdict.why.contains("has priority over victim (rt 50) and works for it"), "{}", verdict.why);
    assert!(
        matches!(&verdict.fix[..], [fix] if fix.text.contains("do less for one request")),
        "{:?}",
        verdict.fix
    );
    // One that a timer woke has work of its own.
    let late = relayed(false);
    assert_blames(&late, Cause::HigherPriorityTask, Some(server));
    assert!(late.verdict.fix.len() > 1, "{:?}", late.verdict.fix);
}

/// An equal of the victim.
const PEER: Thread = rt("peer", 20, 50);

/// Eight periods of 1 ms in each of which the victim waits for a lock of its equal, which goes on for `gives_way(n)` us
/// after it woke the victim.
fn in_turn(gives_way: impl Fn(i64) -> i64) -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..8 {
        let from = 1_000 * (n + 1);
        scene = scene.at(from).timer_wakes(VICTIM).at(from + 5).run(VICTIM);
        scene = scene.at(from + 20).wake(PEER, 1).call(sys::FUTEX, sys::LOCK).at(from + 25).sleep(PEER);
        scene = scene.at(from + 40).wake(VICTIM, 1).at(from + 40 + gives_way(n)).sleep(VICTIM);
        scene = scene.ret(sys::FUTEX).at(from + 60 + gives_way(n));
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn a_waker_that_takes_as_long_as_ever_to_give_way_delays_no_thread() {
    let verdicts = |explained: &Explained| {
        let own = |activation: &&Activation| activation.verdict.cause == Cause::OwnWork;
        explained.0.activations.iter().filter(own).count()
    };
    let explained = in_turn(|n| if n == 5 { 42 } else { 18 });
    assert_eq!(verdicts(&explained), 8, "{:?}", explained.codes());
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
    assert_eq!(charged_to(explained.worst(), Cause::EqualPriorityTask, PEER), Ns::from_us(42));

    let explained = in_turn(|n| if n == 5 { 90 } else { 18 });
    assert_eq!(verdicts(&explained), 7);
    assert_blames(explained.worst(), Cause::EqualPriorityTask, Some(PEER));
    assert!(explained.finding("equal-priority-task").is_some());
}

#[test]
fn each_of_two_wakers_gives_way_in_its_own_activations() {
    // The victim wakes its peer and sleeps until that wakes it, and then until its timer does.
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..8 {
        let (from, slow) = (1_000 * (n + 1), if n == 5 { 15 } else { 0 });
        scene = scene.at(from).timer_wakes(VICTIM).at(from + 5).run(VICTIM);
        scene = scene.at(from + 20).wake(PEER, 1).call(sys::READ, [3, 0, 0]).at(from + 25).sleep(PEER);
        scene = scene.at(from + 40).wake(VICTIM, 1).at(from + 58 + slow).sleep(VICTIM).ret(sys::READ);
        scene = scene.at(from + 80 + slow).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    assert_eq!(explained.0.activations.len(), 10, "the worst of 16");
    assert_eq!(charged_to(explained.worst(), Cause::EqualPriorityTask, PEER), Ns::from_us(33));
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

/// How the victim sleeps in `leaves_to_a_program`.
#[derive(Clone, Copy, PartialEq)]
enum Left {
    /// Uninterruptibly in open(2) of a file that a program watches.
    Open,
    /// In open(2) of a file system that a program serves.
    ServedOpen,
    /// In a page fault.
    Fault,
    /// Before open(2), which a filter leaves to a program. That waits for a semaphore of the filter.
    Filter,
    /// Uninterruptibly in open(2), as it woke that thread before.
    WokeBefore,
    /// Uninterruptibly in read(2), of a block device that is a program; a kworker takes the answer.
    Device,
    /// The same of a disk: the kworker comes by an interrupt.
    Disk,
}

const IOCTL: i64 = 16;
const OPENAT: i64 = 257;
const KWORKER: Thread = fair("kworker/u5:0", 40);

/// Four periods of 20 ms. In each the kernel leaves a call or a page fault to a daemon, which answers at once or, in the last one, after
/// a hog has had the CPU for 7 ms.
fn leaves_to_a_program(how: Left) -> Activation {
    let (daemon, hog) = (fair("daemon", 20), rt("hog", 50, 40));
    let receives = |scene: Scene| match how {
        Left::Filter => scene.call(IOCTL, [3, 0xc050_2100, 0]).contend_as(9, 0),
        _ => scene,
    };
    let mut scene = receives(Scene::new().cpu(1).at(0).run(daemon).fault(0x1000).at(20)).sleep(IDLE);
    for n in 0..4 {
        let (due, late) = (n * 20 * MS + 1_000, if n == 3 { 7 * MS } else { 0 });
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 6).contend(7).at(due + 7).acquire(7).at(due + 10);
        let asks = |scene: Scene| match how {
            Left::Fault => scene.fault(0x7000),
            Left::Filter => scene,
            _ => scene.call(OPENAT, [3, 0, 0]),
        };
        scene = match how {
            Left::WokeBefore => asks(
                scene.call(sys::FUTEX, [0x7f00_0000, 0x81, 1]).wake(daemon, 1).ret(sys::FUTEX).at(due + 15),
            ),
            _ => asks(scene).at(due + 15).wake(daemon, 1),
        };
        let next = if late > 0 { hog } else { daemon };
        scene = scene.at(due + 20);
        scene = match how {
            Left::Open | Left::WokeBefore | Left::Device | Left::Disk => scene.block(next),
            Left::ServedOpen | Left::Fault | Left::Filter => scene.sleep(next),
        };
        if late > 0 {
            scene = scene.at(due + 20 + late).sleep(daemon);
        }
        scene = match how {
            Left::Device => scene.at(due + 50 + late).wake(KWORKER, 1).at(due + 52 + late).run(KWORKER),
            Left::Disk => scene.at(due + 50 + late).timer_wakes(KWORKER).at(due + 52 + late).run(KWORKER),
            _ => scene,
        };
        scene = scene.at(due + 60 + late).wake(VICTIM, 1).at(due + 65 + late).run(VICTIM);
        scene = match how {
            Left::Fault => scene,
            Left::Filter => scene.call(OPENAT, [3, 0, 0]).ret(OPENAT),
            _ => scene.ret(OPENAT),
        };
        scene = scene.at(due + 100 + late).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        scene = match how {
            Left::Device | Left::Disk => scene.sleep(KWORKER).at(due + 110 + late).sleep(daemon),
            _ => scene.sleep(daemon),
        };
        scene = receives(scene.at(due + 120 + late)).sleep(IDLE);
    }
    longest(&scene.explain("victim"))
}

/// The recording begins in the middle of the thread's sleep, and shows one period.
#[test]
fn a_thread_that_has_returned_from_its_call_sleeps_for_its_page_fault() {
    let daemon = fair("daemon", 20);
    let scene = Scene::new().cpu(1).at(0).run(daemon).at(20).sleep(IDLE).at(1_000).timer_wakes(VICTIM);
    let scene = scene.at(1_005).run(VICTIM).ret(sys::CLOCK_NANOSLEEP).at(1_010).fault(0x7000).at(1_015);
    let scene = scene.wake(daemon, 1).at(1_020).sleep(daemon).at(8_000).wake(VICTIM, 1).at(8_005);
    let scene = scene.run(VICTIM).at(8_100).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(daemon);
    let late = longest(&scene.explain("victim"));
    assert_blames(&late, Cause::OwnWait, Some(daemon));
    assert!(late.verdict.why.contains("in a page fault, until daemon:20"), "{}", late.verdict.why);
}

#[test]
fn a_call_or_a_page_fault_that_the_kernel_leaves_to_a_program_is_a_request() {
    let daemon = fair("daemon", 20);
    for (how, why, advice) in [
        (Left::Open, "in the system call openat, until daemon:20", "make the call before the loop"),
        (Left::ServedOpen, "in the system call openat, until daemon:20", "make the call before the loop"),
        (Left::Fault, "in a page fault, until daemon:20", "touch the memory that the loop uses"),
        (
            Left::Filter,
            "a filter (seccomp) leaves a system call to daemon:20",
            "make the call before the loop",
        ),
        (Left::Device, "for a block device that is a program, daemon:20", "read and write the device before"),
    ] {
        let late = leaves_to_a_program(how);
        assert_blames(&late, Cause::OwnWait, Some(daemon));
        assert_eq!(late.verdict.confidence, Confidence::Medium);
        assert!(late.verdict.why.contains(why), "{}", late.verdict.why);
        let what =
            "daemon:20 (nice 0), which was to answer, waited for the CPU that hog:50 (rt 40) had for 7.00 ms";
        assert!(late.verdict.evidence.iter().any(|one| one.what == what), "{:?}", late.verdict.evidence);
        let fixes: Vec<_> = late.verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
        let raised = "give daemon:20 (nice 0) a priority above hog:50 (rt 40): chrt -f -p PRIORITY TID";
        assert!(fixes[0] == raised && fixes.last().is_some_and(|last| last.starts_with(advice)), "{fixes:?}");
    }
    for how in [Left::WokeBefore, Left::Disk] {
        let other = leaves_to_a_program(how);
        assert!(other.verdict.evidence.iter().all(|one| !one.what.contains("which was to answer")));
    }
}

/// Thirty periods of 10 ms; in each the victim waits for a message of the server that it woke. In the last one the server first runs for 5 ms,
/// for most of which it has another priority than at their beginning and end, or sleeps for so long.
fn serves_itself(sleeps: bool) -> Activation {
    let server = rt("server", 20, 40);
    let raised = Thread { prio: VICTIM.prio, ..server };
    let mut scene = Scene::new().cpu(1).at(0).run(server).at(20).sleep(IDLE);
    for n in 0..30 {
        let due = n * 10 * MS + 1_000;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 50).wake(server, 1).at(due + 60).call(sys::READ, [3, 0, 100]).sleep(server);
        let mut answered = due + 100;
        if n == 29 && sleeps {
            scene =
                scene.at(due + 70).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(OWN, due + 5 * MS).sleep(IDLE);
            scene =
                scene.at(due + 5 * MS).fire(OWN).wake(server, 1).fired(OWN).at(due + 5 * MS + 5).run(server);
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
            answered = due + 5 * MS + 30;
        } else if n == 29 {
            scene = scene
                .at(due + 70)
                .inherit(server, server, raised)
                .at(due + 90)
                .inherit(server, raised, server);
            answered = due + 5 * MS;
        }
        scene = scene.at(answered).wake(VICTIM, 1).at(answered + 5).sleep(VICTIM).ret(sys::READ);
        scene = scene.at(answered + 50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(server);
        scene = scene.at(answered + 60).call(sys::READ, [3, 0, 100]).sleep(IDLE);
    }
    longest(&scene.explain("victim"))
}

#[test]
fn what_a_server_does_itself_is_what_the_advice_is_about() {
    for (sleeps, first) in [
        (true, "let server:20 (rt 40) answer before it sleeps, or find what it sleeps for: "),
        (false, "let server:20 (rt 40) do less before it answers: "),
    ] {
        let late = serves_itself(sleeps);
        assert_blames(&late, Cause::OwnWait, Some(rt("server", 20, 40)));
        assert!(late.verdict.fix[0].text.starts_with(first), "{:?}", late.verdict);
    }
}

/// As [`asks_a_server`], of a worker, by this call; in the last period the worker runs for `late`.
fn sets_off_a_worker(call: i64, late: i64) -> Explained {
    let worker = fair("worker", 20);
    let mut scene = Scene::new().cpu(1).at(0).run(worker).at(20).sleep(IDLE);
    for n in 0..30 {
        let due = n * 10 * MS + 1_000;
        let done = due + 60 + if n == 29 { late } else { 30 };
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 50).wake(worker, 1).call(call, [0x7ffe_0000, 2, 0]).sleep(worker);
        scene = scene.at(done).wake(VICTIM, 1).at(done + 5).run(VICTIM).ret(call).at(done + 50);
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(worker).at(done + 60).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn a_wait_for_one_of_several_futexes_is_a_wait_for_an_answer() {
    const FUTEX_WAITV: i64 = 449;
    let explained = sets_off_a_worker(FUTEX_WAITV, 5 * MS);
    let late = longest(&explained);
    assert_blames(&late, Cause::OwnWait, Some(fair("worker", 20)));
    assert_eq!(late.response(), Ns::from_us(5 * MS + 110));
}
