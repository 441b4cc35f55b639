//! Waits in the middle of a period for what other threads hand on: semaphores, conditions, Python's interpreter lock; and for
//! what a device was asked for.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::{ContextFlags, TaskState};
use whylate_ledger::{Cause, Options, Select};

const VICTIM: Thread = rt("victim", 10, 50);
const OWNER: Thread = fair("owner", 20);

/// Twelve periods of 10 ms; where `waits`, the thread waits for the owner's post in the middle.
fn periods(waits: impl Fn(i64) -> bool) -> Scene {
    periods_by(sys::FUTEX, [0x7f00_0000, 0x189, 0], [0x7f00_0000, 0x81, 1], waits)
}

/// The same with this call, and its arguments to wait and to post.
fn periods_by(call: i64, to_wait: [u64; 3], to_post: [u64; 3], waits: impl Fn(i64) -> bool) -> Scene {
    let mut scene = Scene::new().cpu(2).at(0).run(OWNER).cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..12 {
        let due = n * 10_000 + 100;
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
        }
        if waits(n) {
            scene = scene.at(due + 10).call(call, to_wait).at(due + 12).sleep(IDLE);
            scene = scene.cpu(2).at(due + 6_000).call(call, to_post).wake(VICTIM, 1).ret(call);
            scene = scene.cpu(1).at(due + 6_005).run(VICTIM).ret(call);
        }
        scene = scene.at(due + 6_050).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 6_052).sleep(IDLE);
    }
    scene
}

#[test]
fn a_semaphore_that_is_seldom_waited_for_is_a_lock() {
    let system_v = periods_by(sys::SEMOP, [3, 0x7ffc_0000, 1], [3, 0x7ffc_0010, 1], |n| n == 8);
    for scene in [periods(|n| n == 8), system_v] {
        let explained = scene.explain("victim");
        let waited: Vec<_> =
            explained.in_order().into_iter().filter(|one| one.due == Ns::from_us(80_100)).collect();
        let [waited] = waited[..] else { panic!("one activation, late by the wait: {waited:?}") };
        assert_eq!(charged_to(waited, Cause::LockWait, OWNER), Ns::from_us(5_988));
        assert_blames(waited, Cause::LockWait, Some(OWNER));
        assert_eq!(waited.verdict.confidence, Confidence::Medium);
    }
}

/// A request that is seldom made, as by lio_listio(3): where `asks`, the thread itself wakes the one that lets it go on.
fn seldom_asks(asks: bool) -> Explained {
    let (word, job) = (0x7ffc_9000, 0x7f00_0000);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).cpu(2).at(5).run(OWNER);
    let mut scene = scene.at(10).call(sys::FUTEX, [job, 0x80, 7]).at(12).sleep(IDLE);
    for n in 0..12 {
        let due = n * 10_000 + 100;
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
        }
        if n == 8 {
            scene = scene.at(due + 10).call(sys::FUTEX, [job, 0x81, 1]);
            scene = if asks { scene.wake(OWNER, 2) } else { scene };
            scene =
                scene.ret(sys::FUTEX).at(due + 12).call(sys::FUTEX, [word, 0x89, 1]).at(due + 14).sleep(IDLE);
            let owner = scene.cpu(2).at(due + 15);
            let owner = if asks { owner } else { owner.timer_wakes(OWNER) };
            let owner = owner.at(due + 20).run(OWNER).ret(sys::FUTEX).at(due + 6_000);
            scene = owner.call(sys::FUTEX, [word, 0x81, 1]).wake(VICTIM, 1).ret(sys::FUTEX);
            scene = scene.cpu(1).at(due + 6_005).run(VICTIM).ret(sys::FUTEX);
        }
        scene = scene.at(due + 6_050).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 6_052).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn a_thread_that_was_set_off_gives_an_answer_and_holds_no_lock() {
    for (asks, cause) in [(true, Cause::OwnWait), (false, Cause::LockWait)] {
        let explained = seldom_asks(asks);
        let in_order = explained.in_order();
        let waited = in_order.iter().find(|one| one.due == Ns::from_us(80_100)).expect("the ninth period");
        assert_blames(waited, cause, Some(OWNER));
        assert_eq!(waited.verdict.confidence, Confidence::Medium);
    }
}

#[test]
fn what_a_period_asks_of_a_device_is_part_of_it() {
    let asks = |in_period: bool| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100);
        let scene = match in_period {
            true => scene.timer_wakes(VICTIM),
            false => scene.irq(16, "eth0").wake(VICTIM, 1).irq_exit(16),
        };
        let scene = scene.at(110).run(VICTIM).at(150).call(sys::IO_GETEVENTS, [3, 1, 1]);
        let scene = scene.at(155).sleep(IDLE).at(4_000).irq(24, "nvme0q1").wake(VICTIM, 1);
        let scene = scene.at(4_005).irq_exit(24).run(VICTIM).ret(sys::IO_GETEVENTS).at(4_050);
        scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(4_055).sleep(IDLE).explain("victim")
    };
    let explained = asks(true);
    assert_blames(explained.only(), Cause::BlockIo, None);
    assert_eq!(explained.only().verdict.charged, Ns::from_us(3_845));
    assert_eq!(asks(false).0.activations.len(), 2, "a server begins anew with what is done");
}

#[test]
fn a_thread_that_waits_in_each_period_waits_for_messages() {
    let explained = periods(|_| true).explain("victim");
    assert!(explained.in_order().iter().all(|activation| activation.verdict.cause != Cause::LockWait));
}

/// Nine periods of 20 ms as of a thread of Python beside one that computes: it waits for the interpreter's lock up to a
/// timeout of 5 ms, asks for it, and waits until the other one hands it over; it hands it back before it sleeps, by a call
/// where `hands_on`. With `by_timeout`, a period is such a timeout itself, and no sleep.
fn interpreter(by_timeout: bool, hands_on: bool) -> Scene {
    let waits = |n: i64| [0x7f00_06f0 + 4 * (n as u64 % 2), 0x89, 0];
    let mut scene = Scene::new().cpu(2).at(0).run(OWNER).cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..9 {
        let due = n * 20_000 + 100;
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(if by_timeout { sys::FUTEX } else { sys::CLOCK_NANOSLEEP });
        }
        if !by_timeout {
            scene = scene.at(due + 10).call(sys::FUTEX, waits(n)).at(due + 12).sleep(IDLE);
            scene = scene.at(due + 5_010).timer_wakes(VICTIM).at(due + 5_015).run(VICTIM).ret(sys::FUTEX);
            scene = scene.at(due + 5_020).call(sys::FUTEX, waits(n)).at(due + 5_022).sleep(IDLE);
            scene = scene.cpu(2).at(due + 6_000).call(sys::FUTEX, [0x7f00_06f4, 0x81, 1]);
            scene = scene.wake(VICTIM, 1).ret(sys::FUTEX).cpu(1).at(due + 6_005).run(VICTIM).ret(sys::FUTEX);
        }
        if hands_on {
            scene = scene.at(due + 6_040).call(sys::FUTEX, [0x7f00_06f0, 0x81, 1]).ret(sys::FUTEX);
        }
        let (call, arguments) =
            if by_timeout { (sys::FUTEX, waits(n)) } else { (sys::CLOCK_NANOSLEEP, sys::UNTIL) };
        scene = scene.at(due + 6_050).call(call, arguments).at(due + 6_052).sleep(IDLE);
    }
    scene
}

#[test]
fn timed_waits_for_what_a_thread_hands_on_as_well_are_one_wait_for_a_lock() {
    for (hands_on, confidence) in [(true, Confidence::Medium), (false, Confidence::Low)] {
        let explained = interpreter(false, hands_on).explain("victim");
        // What it shares shows when it hands it on, or tries again, for the first time.
        let after_the_first: Vec<_> =
            explained.in_order().into_iter().filter(|one| one.due >= Ns::from_us(20_100)).collect();
        assert_eq!(after_the_first.len(), 8, "one activation in each period");
        for waited in after_the_first {
            assert_eq!(waited.done.map(|done| done - waited.due), Some(Ns::from_us(6_052)));
            assert_eq!(charged_to(waited, Cause::LockWait, OWNER), Ns::from_us(4_998 + 978));
            assert_blames(waited, Cause::LockWait, Some(OWNER));
            assert_eq!(waited.verdict.confidence, confidence);
        }
    }
}

/// As of a thread that sleeps 10 ms, and then 5 ms more on a condition by which it also wakes another one, each a sleep of its
/// own: the second one always ends by its timeout, and the thread works for 30 us after each.
#[test]
fn a_timeout_after_which_a_thread_waits_for_something_else_is_a_sleep_of_its_own() {
    let mut scene = Scene::new().cpu(2).at(0).run(OWNER).cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..6 {
        let due = n * 20_000 + 100;
        scene = scene.cpu(1).at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
        }
        scene = scene.at(due + 30).call(sys::FUTEX, [0x7f00_06f0, 0x89, 0]).at(due + 35).sleep(IDLE);
        scene = scene.at(due + 5_030).timer_wakes(VICTIM).at(due + 5_035).run(VICTIM).ret(sys::FUTEX);
        scene = scene.at(due + 5_040).call(sys::FUTEX, [0x7f00_06f4, 0x81, 1]).ret(sys::FUTEX);
        scene = scene.at(due + 5_065).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(due + 5_066).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    let activations = explained.in_order();
    assert_eq!(activations.len(), 10, "the worst of twelve");
    for one in activations {
        let response = one.done.map(|done| done - one.due);
        assert!(response <= Some(Ns::from_us(36)), "{response:?} of {one:?}");
        assert_eq!(one.ledger.iter().map(|part| part.length()).sum::<Ns>(), response.expect("done"));
    }
}

#[test]
fn a_period_may_be_the_timeout_of_a_wait_for_what_is_shared() {
    for hands_on in [true, false] {
        let explained = interpreter(true, hands_on).explain("victim");
        let activations = explained.in_order();
        assert_eq!(activations.len(), 9);
        assert!(activations.iter().all(|one| one.verdict.cause != Cause::LockWait));
    }
}

#[test]
fn a_waiter_that_is_shown_as_runnable_waits_for_whom_it_lends_its_priority() {
    let boosted = Thread { prio: VICTIM.prio, ..OWNER };
    let lock_wait = |leaves_to: Thread| {
        let scene = Scene::new().cpu(1).at(0).run(OWNER).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let scene =
            scene.at(150).inherit(OWNER, OWNER, boosted).at(152).switch_as(TaskState::Preempted, leaves_to);
        let scene = scene.at(452).inherit(OWNER, boosted, OWNER).wake(VICTIM, 1).at(457).run(VICTIM);
        charged_to(scene.at(502).sleep(IDLE).explain("victim").only(), Cause::LockWait, OWNER)
    };
    assert_eq!(lock_wait(boosted), Ns::from_us(300));
    // Another thread takes the CPU from it before it sleeps.
    assert_eq!(lock_wait(rt("other", 30, 60)), Ns::ZERO);
}

#[test]
fn a_thread_that_starts_a_program_waits_for_its_child_and_not_for_a_lock() {
    let child = Thread { prio: VICTIM.prio, ..fair("victim", 20) };
    let waits = |call: i64, flags: u64, forks: bool| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(VICTIM);
        let scene = scene.at(105).run(VICTIM).ret(sys::CLOCK_NANOSLEEP).at(150).call(call, [flags, 0, 0]);
        let scene = if forks { scene.fork(VICTIM, child) } else { scene };
        let scene = scene.at(152).block(IDLE).cpu(2).at(160).run(child).at(452).wake(VICTIM, 1);
        let scene = scene.cpu(1).at(457).run(VICTIM).ret(call).at(502);
        let explained = scene
            .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
            .sleep(IDLE)
            .explain_with(&Options { tasks: vec![Select::Tid(Tid(VICTIM.tid))], ..Options::default() });
        let activation = explained.only();
        [Cause::OwnWait, Cause::LockWait].map(|cause| charged_to(activation, cause, child))
    };
    const VFORK: i64 = 58;
    const CLONE: i64 = 56;
    const CLONE3: i64 = 435;
    let (own, lock) = ([Ns::from_us(300), Ns::ZERO], [Ns::ZERO, Ns::from_us(300)]);
    assert_eq!(waits(VFORK, 0, false), own);
    assert_eq!((waits(CLONE, 0x4100, false), waits(CLONE, 0x100, false)), (own, lock));
    // Its flags are not in the trace: another thread that wakes it held a lock.
    assert_eq!((waits(CLONE3, 0x7ffc_0000, true), waits(CLONE3, 0x7ffc_0000, false)), (own, lock));
}

/// A new thread has the priority of the one that creates it, until it sets its own; and one of PREEMPT_RT's locks may be in the way of the
/// wake-up at the end.
#[test]
fn a_child_is_shown_with_the_priority_that_it_had_for_most_of_the_wait_for_it() {
    const VFORK: i64 = 58;
    let child = fair("victim", 20);
    let boosted = Thread { prio: VICTIM.prio, ..child };
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(VICTIM);
    let scene = scene.at(105).run(VICTIM).ret(sys::CLOCK_NANOSLEEP).at(150).call(VFORK, [0, 0, 0]);
    let scene = scene.fork(VICTIM, boosted).wake(boosted, 2).at(152).block(IDLE);
    let scene = scene.cpu(2).at(160).run(child).at(5_452).wake(VICTIM, 1);
    let scene = scene.cpu(1).at(5_457).run(VICTIM).at(5_458).inherit(child, child, boosted);
    let scene = scene.at(5_459).switch_as(TaskState::Preempted, IDLE).cpu(2).at(5_470);
    let scene = scene.inherit(child, boosted, child).wake(VICTIM, 1).cpu(1).at(5_475).run(VICTIM).ret(VFORK);
    let explained = scene
        .at(5_502)
        .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
        .sleep(IDLE)
        .explain_with(&Options { tasks: vec![Select::Tid(Tid(VICTIM.tid))], ..Options::default() });
    let verdict = &explained.only().verdict;
    assert_blames(explained.only(), Cause::OwnWait, Some(child));
    assert!(verdict.why.contains("(nice 0)"), "{}", verdict.why);
    let fix: String = verdict.fix.iter().map(|fix| fix.text.clone()).collect();
    assert!(fix.contains("of a child that it starts") && !fix.contains("lock"), "{fix}");
}

/// In periods of 10 ms the victim starts a child each time, a new thread with a name of its program; a hog keeps those of `kept` off the CPU
/// for 6 ms, and they work for `work` us.
fn starts_children(kept: &[i64], work: i64) -> Explained {
    const VFORK: i64 = 58;
    let hog = rt("hog", 40, 30);
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..30 {
        let due = n * 10 * MS + 100;
        let child = Thread { tid: 100 + n as i32, ..fair("victim", 20) };
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 10).call(VFORK, [0, 0, 0]).fork(VICTIM, child).wake(child, 1);
        scene = scene.at(due + 20);
        let mut at = due + 20;
        if kept.contains(&n) {
            at += 6 * MS;
            scene = scene.wake(hog, 1).block(hog).at(at).sleep(child);
        } else {
            scene = scene.block(child);
        }
        at += if kept.contains(&n) || kept.is_empty() && n % 10 == 7 { work } else { 100 };
        scene = scene.at(at).wake(VICTIM, 1).at(at + 2).run(VICTIM).ret(VFORK);
        scene = scene.at(at + 10).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(at + 12).sleep(child);
        scene = scene.at(at + 20).die(IDLE);
    }
    scene.explain_with(&Options { tasks: vec![Select::Tid(Tid(VICTIM.tid))], ..Options::default() })
}

#[test]
fn waits_for_children_that_others_keep_off_the_cpu_are_one_finding() {
    let explained = starts_children(&[7, 13, 19], 100);
    let finding = explained.finding("own-wait").expect("a finding");
    assert!(
        finding.title.starts_with("victim:10 (rt 50) waited for its child victim:1"),
        "{}",
        finding.title
    );
    assert_eq!(finding.why, "it is part of 3 of the worst activations");
    assert!(finding.fix.iter().any(|fix| fix.text.starts_with("move hog:40 (rt 30)")), "{:?}", finding.fix);
    let verdict = &explained.worst().verdict;
    let seen =
        verdict.evidence.iter().any(|one| one.what.contains("waited for the CPU that hog:40 (rt 30) had"));
    assert!(seen, "{verdict:?}");
    // What a child does itself is the program's own choice.
    let explained = starts_children(&[], 6 * MS);
    assert_eq!(explained.worst().verdict.cause, Cause::OwnWait);
    assert!(explained.finding("own-wait").is_none());
}
