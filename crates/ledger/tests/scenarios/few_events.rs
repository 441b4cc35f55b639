//! Recordings with few kinds of events, or of some threads only: what they do not show, no thread is accused of.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_base::{Confidence, Ns, Priority, Severity};
use whylate_events::{ContextFlags, EventKind, Fact, TaskState};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 50);
const APP: Thread = fair("app", 30);
const HOG: Thread = rt("hog", 20, 1);

/// The victim is woken on CPU 1, and runs 3 ms later; the thread that had the CPU goes on until then. `before` has other events.
fn does_not_give_way(before: impl Fn(Scene) -> Scene) -> Activation {
    let scene = before(Scene::new().cpu(1).at(0).run(APP).fact(Fact::Hypervisor(false)).at(10));
    let scene = scene.cpu(0).at(50).run(fair("waker", 40)).at(100).wake(VICTIM, 1).cpu(1);
    scene.at(3_100).run(VICTIM).at(3_200).sleep(APP).explain("victim").only().clone()
}

#[test]
fn without_softirqs_a_thread_that_does_not_give_way_may_be_below_one() {
    let irqs = |scene: Scene| scene.irq(7, "eth0").irq_exit(7);
    let softirqs = |scene: Scene| scene.at(20).softirq(3).softirq_exit(3);
    let both = does_not_give_way(|scene| softirqs(irqs(scene)));
    assert_blames(&both, Cause::PreemptionDisabled, Some(APP));
    assert_eq!(both.verdict.confidence, Confidence::Medium);
    let fewer: [fn(Scene) -> Scene; 3] =
        [|scene| scene, |scene| scene.irq(7, "eth0").irq_exit(7), |scene| scene.softirq(3).softirq_exit(3)];
    for before in fewer {
        let verdict = does_not_give_way(before).verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::PreemptionDisabled, Confidence::Low));
    }
}

#[test]
fn an_idle_cpu_of_which_only_switches_are_recorded_did_not_stand_still() {
    let idle = |before: fn(Scene) -> Scene| {
        let scene = before(Scene::new().cpu(1).at(0).run(APP).at(10).sleep(IDLE).at(20));
        let scene = scene.at(100).wake(VICTIM, 1).at(44_100).run(VICTIM).at(44_200).sleep(IDLE);
        scene.explain("victim")
    };
    let shown = idle(|scene| scene.vector("local_timer").vector_exit("local_timer"));
    assert_blames(shown.only(), Cause::Stolen, None);
    let explained = idle(|scene| scene);
    assert_blames(explained.only(), Cause::Unexplained, None);
    assert!(explained.finding("stolen").is_none(), "{:?}", explained.codes());
}

#[test]
fn a_thread_that_was_preempted_before_an_unseen_switch_is_not_passed_over() {
    // The middle thread is preempted, runs again and goes to sleep. Its own switches were not recorded.
    let middle = rt("middle", 21, 30);
    let with = |unseen: bool| {
        let scene = Scene::new().kernel("6.1.0").cpu(1).at(0).run(middle).at(MS).timer_wakes(VICTIM);
        let scene = scene.at(MS + 5).run(VICTIM).at(2 * MS).sleep(middle);
        let mut scene = scene.at(3 * MS).timer_wakes(VICTIM).at(3 * MS + 5).run(VICTIM).at(4 * MS);
        if unseen {
            // The switches to the middle thread and from there to idle.
            scene = scene.unseen_switch_to(IDLE).at(5 * MS).timer_wakes(VICTIM).at(5 * MS + 5).run(VICTIM);
        }
        let scene = scene.at(6 * MS).sleep(IDLE).at(13 * MS).timer_wakes(VICTIM);
        scene.at(13 * MS + 5).run(VICTIM).at(14 * MS).sleep(IDLE).explain("victim")
    };
    assert!(with(true).finding("rt-throttled").is_none(), "{:?}", with(true).codes());
}

/// A hog is taken off the CPU for 50 ms, and a SCHED_OTHER thread runs; the victim waits meanwhile.
fn passed_over_for(scene: Scene) -> super::support::Explained {
    let scene = scene.cpu(1).at(0).run(HOG).at(950 * MS).run(APP).at(960 * MS).timer_wakes(VICTIM);
    scene.at(1_000 * MS).run(VICTIM).at(1_000 * MS + 200).sleep(HOG).explain("victim")
}

#[test]
fn without_the_kernels_version_neither_throttling_nor_the_fair_server_is_accused() {
    let explained = passed_over_for(Scene::new());
    assert_eq!(explained.only().verdict.confidence, Confidence::Low);
    assert!(explained.finding("rt-throttled").is_none() && explained.finding("fair-server").is_none());
    let finding = explained.finding("unexplained").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.title.contains("RT throttling") && finding.title.contains("fair server"),
        "{}",
        finding.title
    );
    assert!(finding.why.contains("version"), "{}", finding.why);
    for (kernel, code) in [("6.1.0-18-amd64", "rt-throttled"), ("6.12.9-amd64", "fair-server")] {
        let finding = passed_over_for(Scene::new().kernel(kernel)).finding(code).cloned();
        assert_eq!(finding.map(|finding| finding.severity), Some(Severity::Error), "{kernel}");
    }
}

#[test]
fn a_wait_for_the_lock_of_a_file_is_part_of_the_activation() {
    const FLOCK: i64 = 73;
    let owner = fair("owner", 40);
    let scene = Scene::new().cpu(1).at(0).run(owner).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene = scene.at(200).call(FLOCK, [3, 2, 0]).at(210).sleep(owner);
    let scene = scene.at(5_000).call(FLOCK, [3, 8, 0]).at(5_010).wake(VICTIM, 1).at(5_015).run(VICTIM);
    let scene = scene.at(5_020).ret(FLOCK).at(5_100).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let explained = scene.at(5_110).sleep(owner).explain("victim");
    assert_blames(explained.only(), Cause::LockWait, Some(owner));
    assert_eq!(explained.only().response(), whylate_base::Ns::from_us(5_010));
    let advised: String = explained.only().verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
    assert!(advised.contains("the lock of a file") && !advised.contains("mutexattr"), "{advised}");
}

#[test]
fn a_thread_whose_return_from_its_sleep_was_lost_was_not_slow_in_it() {
    // It works for 3 ms after its sleep and is preempted; whether the return from the call was recorded is the difference.
    let works = |returns: bool| {
        let scene = Scene::new().cpu(1).at(0).run(VICTIM).fact(Fact::Hypervisor(true));
        let scene = scene.at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(60).sleep(IDLE);
        let high = rt("high", 12, 60);
        let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(3_100).wake(high, 1);
        let mut scene = scene.at(3_103).run(high).at(3_200).sleep(VICTIM).at(3_210);
        if returns {
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
        }
        let scene = scene.at(3_250).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(3_260).sleep(IDLE);
        scene.explain("victim").worst().verdict.cause
    };
    assert_eq!((works(true), works(false)), (Cause::Stolen, Cause::OwnWork));
}

#[test]
fn who_woke_a_thread_is_not_known_where_an_interrupt_may_have_come_upon_the_one_that_ran() {
    // The victim sleeps in a driver until an event upon another thread wakes it.
    let asleep = |before: fn(Scene) -> Scene, after: fn(Scene) -> Scene| {
        let scene = before(Scene::new().cpu(1).at(0).run(VICTIM));
        let scene = scene.at(50).sleep(APP).at(100).wake(VICTIM, 1).at(105).run(VICTIM).at(150).block(APP);
        let scene = scene.at(8_150).wake(VICTIM, 1).at(8_155).run(VICTIM).at(8_200).sleep(APP);
        after(scene).explain("victim").worst().clone()
    };
    let holds = asleep(|scene| scene, |scene| scene);
    assert_blames(&holds, Cause::LockWait, Some(APP));
    let unknown = asleep(|scene| scene, Scene::without_contexts);
    assert_eq!((unknown.verdict.cause, unknown.verdict.confidence), (Cause::BlockIo, Confidence::Low));
    assert!(unknown.verdict.why.contains("for a device, a lock or a timer"), "{}", unknown.verdict.why);
    assert_eq!(unknown.verdict.by, None, "{:?}", unknown.verdict);
    // With interrupts in the recording this would have been one.
    let shown = asleep(|scene| scene.irq(7, "eth0").irq_exit(7), Scene::without_contexts);
    assert_blames(&shown, Cause::LockWait, Some(APP));
}

#[test]
fn a_thread_woken_on_its_way_to_sleep_was_not_passed_over() {
    // The scheduler has chosen the idle task when an interrupt wakes the victim: its state is printed as runnable.
    let leaves = |woken: i64| {
        let scene = Scene::new().kernel("3.0.8").cpu(1).at(0).run(VICTIM).at(50).sleep(IDLE).at(100);
        let scene = scene.timer_wakes(VICTIM).at(105).run(VICTIM).at(woken).wake(VICTIM, 1);
        scene.at(300).run(IDLE).at(364).run(VICTIM).at(400).sleep(IDLE).explain("victim").worst().clone()
    };
    let passed = |activation: &Activation| {
        activation
            .ledger
            .iter()
            .any(|segment| matches!(segment.cause, Cause::RtThrottled | Cause::FairServer))
    };
    assert!(!passed(&leaves(292)), "{:?}", leaves(292).ledger);
    assert!(passed(&leaves(110)), "{:?}", leaves(110).ledger);
}

/// LTTng's text without the thread's context: only a switch shows which thread ran.
#[test]
fn a_thread_of_which_nothing_is_known_is_no_culprit() {
    const UNKNOWN: Thread = fair("", -1);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(UNKNOWN)
        .at(100)
        .wake(fair("nginx", 45), 1)
        .at(600)
        .run(fair("nginx", 45))
        .at(700)
        .sleep(IDLE)
        .explain("nginx");
    let waited = |cause| explained.only().ledger.iter().any(|segment| segment.cause == cause);
    assert!(!waited(Cause::FairQueue) && waited(Cause::Unexplained), "{:#?}", explained.only().ledger);
}

/// Until 2.6.23 threads of SCHED_OTHER had no turns: one of a better nice level was to preempt the others.
#[test]
fn before_the_fair_scheduler_a_better_nice_level_had_no_turn_to_wait_for() {
    let confidence = |release: &str| {
        let player = Thread { prio: 105, ..fair("player", 45) };
        let scene = Scene::new().kernel(release).cpu(1).at(0).run(APP).at(100).wake(player, 1);
        let explained = scene.at(2_000).run(player).at(2_100).sleep(IDLE).explain("player");
        assert_blames(explained.only(), Cause::FairQueue, Some(APP));
        explained.only().verdict.confidence
    };
    assert_eq!((confidence("2.6.12-RT"), confidence("6.12.0")), (Confidence::Low, Confidence::High));
}

/// Of the tick only the beginning of its callback is recorded, as in an excerpt. It did not go on until the next switch.
#[test]
fn a_callback_without_a_recorded_end_does_not_last_until_the_next_switch() {
    const TICK: u64 = 0xffff_8881_0000_1000;
    let ticked = |scene: Scene| {
        let scene = scene.run(APP).at(10).sleep(IDLE).at(100).wake(VICTIM, 1).at(105).run(VICTIM);
        scene.at(200).fire_named(TICK, "tick_sched_timer").no_longer_in_interrupt()
    };
    let with_flags = ticked(Scene::new().cpu(1).at(0)).at(240).sign(ContextFlags::default());
    let without_flags = ticked(Scene::new().cpu(1).at(0)).without_contexts();
    for scene in [with_flags, without_flags] {
        let explained = scene.at(9 * MS).sleep(IDLE).explain("victim");
        let activation = explained.only();
        let is_irq = activation.ledger.iter().any(|segment| segment.cause == Cause::Irq);
        assert!(!is_irq, "{:?}", activation.ledger);
    }
}

/// A recording of some threads' own events lacks the switches by which these came to a CPU: a stopper takes the victim off CPU
/// 0, which then idles, and the victim is next seen as it leaves CPU 1.
#[test]
fn a_thread_that_went_to_another_cpu_unseen_was_not_stopped() {
    let stopper = rt("migration/0", 11, 99);
    for victim in [rt("app", 30, 80), fair("app", 30)] {
        let scene = Scene::new().cpu(0).at(0).run(victim).at(50).switch_as(TaskState::Runnable, stopper);
        let scene = scene.at(90).sleep(IDLE).cpu(1).at(40 * MS).unseen_switch_to(victim);
        let scene = scene.sleep(IDLE).at(60 * MS).sign(ContextFlags::default());
        let explained = scene.explain("app");
        let blamed = [Cause::RtThrottled, Cause::CgroupQuota];
        let ledger = &explained.only().ledger;
        assert!(!ledger.iter().any(|segment| blamed.contains(&segment.cause)), "{ledger:?}");
        assert!(explained.codes().is_empty(), "{:?}", explained.codes());
    }
}

/// Of what lines that were left out show, nothing is known: a thread that ran before and after may have been away meanwhile.
#[test]
fn lines_left_out_within_a_wait_lower_the_confidence() {
    let judged = |marked_at: i64| {
        let scene = Scene::new().cpu(1).at(0).run(rt("hog", 20, 90)).at(100).wake(VICTIM, 1);
        let scene = scene.at(9_000).run(VICTIM).at(9_100).sleep(IDLE).at(marked_at).left_out();
        let explained = scene.at(MS * 20).sign(ContextFlags::default()).explain("victim");
        let verdict = explained.only().verdict.clone();
        assert_eq!(verdict.cause, Cause::HigherPriorityTask);
        (verdict.confidence, verdict.evidence.iter().any(|seen| seen.what.contains("line 7 of the text")))
    };
    assert_eq!(judged(100), (Confidence::Medium, true));
    assert_eq!(judged(5_000), (Confidence::Medium, true));
    assert_eq!(judged(9_200), (Confidence::High, false));
}

/// The thread may have slept in the lines that were left out, and been woken again.
#[test]
fn own_work_across_lines_left_out_is_in_doubt() {
    let judged = |marked_at: i64| {
        let scene = Scene::new().cpu(1).at(0).wake(VICTIM, 1).at(5).run(VICTIM).at(marked_at).left_out();
        let explained = scene.at(80 * MS).sleep(IDLE).explain("victim");
        let verdict = explained.only().verdict.clone();
        assert_eq!(verdict.cause, Cause::OwnWork);
        let is_hedged = verdict.why.starts_with("as far as the lines show, nothing delayed");
        (verdict.confidence, is_hedged, verdict.evidence.iter().any(|seen| seen.what.contains("line 7")))
    };
    assert_eq!(judged(5), (Confidence::Low, true, true));
    assert_eq!(judged(40 * MS), (Confidence::Low, true, true));
    assert_eq!(judged(80 * MS), (Confidence::Medium, false, false));
}

/// What is no more than likely is less so where lines are missing.
#[test]
fn lines_left_out_lower_a_medium_confidence_too() {
    let unranked = |thread: Thread| Thread { prio: Priority::UNKNOWN.0, ..thread };
    let judged = |marked_at: i64| {
        let scene = Scene::new().cpu(1).at(0).run(unranked(rt("hog", 20, 90)));
        let scene = scene.at(100).wake(unranked(VICTIM), 1).at(9_000).run(unranked(VICTIM));
        let scene = scene.at(9_100).sleep(IDLE).at(marked_at).left_out();
        let explained = scene.at(MS * 20).sign(ContextFlags::default()).explain("victim");
        let verdict = explained.only().verdict.clone();
        assert_eq!(verdict.cause, Cause::OtherTask);
        (verdict.confidence, verdict.evidence.iter().any(|seen| seen.what.contains("line 7")))
    };
    assert_eq!(judged(5_000), (Confidence::Low, true));
    assert_eq!(judged(9_200), (Confidence::Medium, false));
}

#[test]
fn a_cpu_that_made_the_wake_up_itself_had_left_its_idle_state() {
    for (maker, cause) in [(1, Cause::Dispatch), (0, Cause::IdleExit)] {
        let scene =
            Scene::new().cpu(0).at(0).run(APP).at(5).sleep(IDLE).cpu(1).at(6).run(APP).at(10).sleep(IDLE);
        let scene = scene.cpu(maker).at(100).wake(VICTIM, 1).cpu(1).at(220).run(VICTIM).at(300).sleep(IDLE);
        let explained = scene.explain("victim");
        let verdict = &explained.only().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (cause, Confidence::Low), "by CPU {maker}");
    }
}

#[test]
fn a_kworker_whose_items_are_not_recorded_may_have_ended_any_sleep() {
    for (name, confidence) in [("kworker/u:0H", Confidence::Low), ("jbd2/sda1", Confidence::Medium)] {
        let scene = Scene::new().cpu(1).at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(IDLE);
        let waker = fair(name, 40);
        let scene = scene.cpu(0).at(4_000).run(waker).at(4_050).wake(VICTIM, 1).cpu(1).at(4_060).run(VICTIM);
        let explained = scene.at(4_100).sleep(IDLE).explain("victim");
        let verdict = &explained.only().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::BlockIo, confidence), "{name}");
        let is_named = verdict.evidence.iter().any(|one| one.what.contains("kworker/u:0H:40"));
        assert_eq!(is_named, confidence == Confidence::Low, "{:?}", verdict.evidence);
    }
}

/// `perf script --tid`: without the state of the CPU beside each event.
#[test]
fn an_event_of_a_thread_that_was_recorded_alone_ends_its_sleep() {
    let unknown = ContextFlags::IRQS_UNKNOWN;
    let scene = Scene::new().cpu(1).at(0).unseen_switch_to(VICTIM).sign(unknown).at(100).block(IDLE);
    let scene = scene.unseen_switch_to(VICTIM).at(800).sign(unknown).at(850).block(IDLE);
    let scene = scene.unseen_switch_to(VICTIM).at(5_000).sign(unknown).at(5_100).sleep(IDLE);
    let late = scene.without_contexts().explain("victim").only().clone();
    let asleep = late.ledger.iter().filter(|segment| segment.cause == Cause::BlockIo);
    let asleep: Vec<Ns> = asleep.map(|segment| segment.length()).collect();
    assert_eq!(asleep, [Ns::from_us(700), Ns::from_us(4_150)]);
}

#[test]
fn a_thread_that_ended_a_wait_and_was_not_seen_before_held_it_perhaps() {
    let dd = fair("dd", 30);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(VICTIM).at(105);
    let scene = scene.run(VICTIM).at(150).block(IDLE).cpu(4).unseen_switch_to(dd).at(8_150);
    let scene = scene.wake(VICTIM, 1).cpu(1).at(8_155).run(VICTIM).at(8_200).sleep(IDLE);
    let late = scene.explain("victim").only().clone();
    assert_blames(&late, Cause::LockWait, Some(dd));
    assert_eq!(late.verdict.confidence, Confidence::Low);
}

#[test]
fn a_recording_that_ends_when_a_thread_is_due_shows_no_time_of_it() {
    let scene = Scene::new().cpu(1).at(0).run(APP).at(50).sleep(IDLE).at(100).wakeup(VICTIM, 1);
    let why = scene.explain("victim").only().verdict.why.clone();
    assert_eq!(why, "the recording shows no time of victim (rt 50) here");
}

#[test]
fn without_flags_the_handler_before_it_wakes_the_thread_of_an_interrupt() {
    let handler = fair("irq/7-eth0", 60);
    let woken_by = |behind: i64| {
        let scene = Scene::new().cpu(1).at(0).run(APP).at(100).irq(7, "eth0").at(104).irq_exit(7);
        let scene = scene.at(104 + behind).event_with(
            ContextFlags::IRQS_UNKNOWN,
            EventKind::Wakeup { wake: Scene::wake_event(handler, 1), new: false },
        );
        scene.at(400 + behind).run(handler).at(500 + behind).sleep(IDLE).explain("irq/7-eth0")
    };
    assert_eq!(woken_by(11).only().due, Ns::from_us(100), "since the handler began");
    assert_eq!(woken_by(2 * MS).only().due, Ns::from_us(104 + 2 * MS), "by the thread that has the CPU");
}

#[test]
fn a_sleep_that_ends_with_the_recording_does_not_outlast_it() {
    let kthread = fair("kthread", 61);
    let asleep = || {
        let scene = Scene::new().cpu(1).at(0).run(APP).at(MS).wake(kthread, 1).at(MS + 5).run(kthread);
        scene.at(MS + 20).block(APP).at(100 * MS)
    };
    let to_the_end = |scene: Scene| {
        let verdict = scene.explain("kthread").only().verdict.clone();
        assert_eq!(verdict.cause, Cause::BlockIo);
        verdict.why.contains("the recording ends before it is woken")
    };
    assert!(to_the_end(asleep().sign(ContextFlags::default())));
    assert!(!to_the_end(asleep().waking(kthread, 1)));
}

#[test]
fn a_clock_that_counts_ticks_is_named() {
    let of = |step: i64| {
        let mut scene = Scene::new().clock("local").cpu(1).at(0).run(APP);
        for period in 1..=5 {
            let at = period * 10 * MS;
            scene = scene.at(at).wake(VICTIM, 1).at(at + step).run(VICTIM).at(at + 2 * step).sleep(APP);
            scene = scene.sign(ContextFlags::default()).sign(ContextFlags::default());
        }
        scene.explain("victim")
    };
    let coarse = of(0);
    assert_eq!(coarse.finding("coarse-clock").expect("a clock of ticks").severity, Severity::Info);
    assert!(of(3).finding("coarse-clock").is_none());
}

/// The victim sleeps uninterruptibly until a server wakes it, which another thread keeps off the CPU for 5 ms: one that it has just
/// set off itself, or one that had the CPU before. Neither system calls nor locks are recorded.
fn woken_by_a_server(asks: bool) -> Activation {
    let (server, hog) = (fair("server", 40), rt("hog", 50, 30));
    let scene = Scene::new().cpu(1).at(0).run(server);
    let scene = if asks { scene.at(10).sleep(IDLE) } else { scene };
    let scene = scene.at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(110).timer_wakes(hog).at(140);
    let scene = if asks { scene.wake(server, 1) } else { scene };
    let scene = scene.at(150).block(hog).at(5_150).sleep(server).at(5_250).wake(VICTIM, 1);
    scene.at(5_255).run(VICTIM).at(5_300).sleep(server).at(5_400).sleep(IDLE).explain("victim").only().clone()
}

#[test]
fn who_ends_an_uninterruptible_sleep_answers_or_holds_a_lock() {
    let asked = woken_by_a_server(true).verdict;
    assert_eq!((asked.cause, asked.confidence), (Cause::OwnWait, Confidence::Medium));
    assert!(asked.why.contains("until server:40 (nice 0) woke it"), "{}", asked.why);
    let shared = woken_by_a_server(false).verdict;
    assert_eq!((shared.cause, shared.confidence), (Cause::LockInversion, Confidence::Medium));
}

/// Forty periods of 10 ms of the victim, whose timer's interrupt is not recorded either. In the thirtieth it asks a server, which
/// wakes it 25 ms later; it sleeps for its period as well where it `waits_for_both`.
fn sleeps_in_a_period(waits_for_both: bool) -> Explained {
    let server = fair("server", 40);
    let hardirq = ContextFlags::HARDIRQ;
    let mut scene = Scene::new().cpu(1).at(0).run(server).at(10).sleep(IDLE);
    let is_left_out = |n: i64| !waits_for_both && (n == 31 || n == 32);
    for n in (1..40).filter(|&n| !is_left_out(n)) {
        let due = n * 10 * MS;
        scene = scene
            .at(due)
            .event_with(hardirq, EventKind::Wakeup { wake: Scene::wake_event(VICTIM, 1), new: false });
        scene = scene.at(due + 5).run(VICTIM).at(due + 100);
        if n == 30 && !waits_for_both {
            scene = scene.wake(server, 1).at(due + 103).sleep(server).at(due + 25 * MS).wake(VICTIM, 1);
            scene = scene.at(due + 25 * MS + 5).run(VICTIM).at(due + 25 * MS + 100).sleep(server);
            scene = scene.at(due + 25 * MS + 200).sleep(IDLE);
        } else {
            scene = scene.at(due + 103).sleep(IDLE);
        }
    }
    scene.explain("victim")
}

#[test]
fn a_thread_that_sleeps_through_periods_until_another_wakes_it_is_not_on_time() {
    let explained = sleeps_in_a_period(false);
    let finding = explained.finding("periods-left-out").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.title, "victim:10 slept through 2 periods of 10.00 ms");
    assert!(finding.evidence[0].what.ends_with("until server:40 woke it"), "{:?}", finding.evidence);
    assert!(sleeps_in_a_period(true).finding("periods-left-out").is_none());
}

/// Without interrupts in the recording: the CPU itself wakes the thread, upon its idle task.
#[test]
fn a_cpu_that_wakes_a_thread_itself_has_left_its_idle_state() {
    let wake = EventKind::Waking(Scene::wake_event(VICTIM, 1));
    let woken = EventKind::Wakeup { wake: Scene::wake_event(VICTIM, 1), new: false };
    let scene = Scene::new().cpu(1).at(0).run(APP).at(10).sleep(IDLE).at(100);
    let scene =
        scene.event_with(ContextFlags::HARDIRQ, wake).at(178).event_with(ContextFlags::HARDIRQ, woken);
    let explained = scene.at(206).run(VICTIM).at(260).sleep(IDLE).explain("victim");
    assert_blames(explained.only(), Cause::Dispatch, None);
    assert_eq!(explained.only().latency(), Some(Ns::from_us(106)));
}

/// A text of chosen rows: that of another CPU comes much later.
#[test]
fn a_thread_behind_the_last_row_of_its_cpu_was_not_seen_to_wait() {
    let scene = Scene::new().cpu(1).at(0).run(APP).at(10).sleep(IDLE).at(100).wake(VICTIM, 1);
    let explained = scene.cpu(0).at(150 * MS).run(APP).at(151 * MS).sleep(IDLE).explain("victim");
    assert!(explained.only().response() < Ns::from_us(10), "{:?}", explained.only());
}

#[test]
fn of_an_activation_that_goes_on_behind_a_text_the_start_is_known() {
    let woken = || Scene::new().cpu(1).at(0).run(APP).at(100).wake(VICTIM, 1).at(113).run(VICTIM).at(115);
    let text = woken().sign(ContextFlags::default()).explain("victim").only().verdict.clone();
    assert_eq!((text.cause, text.charged), (Cause::Dispatch, Ns::from_us(13)));
    assert!(text.why.ends_with("; when it is done is not shown"), "{}", text.why);
    let done = woken().sleep(IDLE).explain("victim").only().verdict.clone();
    assert_eq!(done.cause, Cause::OwnWork);
    // Its work is the longer part, as far as it is shown.
    let longer = woken().at(400).sign(ContextFlags::default()).explain("victim").only().verdict.clone();
    assert_eq!((longer.cause, longer.confidence), (Cause::OwnWork, Confidence::Low));
}

#[test]
fn advice_asks_for_no_event_that_the_text_has() {
    let fix = |scene: Scene| scene.explain("victim").only().verdict.fix[0].text.clone();
    let asleep = || Scene::new().cpu(1).at(0).run(VICTIM).at(1_000).block(APP).at(90_000);
    assert!(fix(asleep().sign(ContextFlags::default())).contains("record sched:sched_waking and"));
    let shown = fix(asleep().waking(rt("other", 40, 3), 1));
    assert!(shown.ends_with("or record sched:sched_blocked_reason as well"), "{shown}");
}

/// Rows that were picked out by a word, as `grep sched_` does: ticks (tick_sched_timer) begin and never end, and no row has flags.
#[test]
fn a_tick_of_which_no_end_shows_had_the_cpu_up_to_a_row_of_its_thread_at_most() {
    for (calls, confidence) in [(false, Confidence::Low), (true, Confidence::Medium)] {
        let scene = Scene::new().cpu(1).at(0).run(VICTIM).at(50).sleep(IDLE).at(1_000).wake(VICTIM, 1);
        let scene = scene.at(1_010).run(VICTIM).at(1_100).fire_named(7, "tick_sched_timer").at(1_105);
        let scene = scene.arm_named(7, "tick_sched_timer", 5_000).at(1_110);
        let scene = if calls { scene.call(sys::READ, [3, 0, 1]).ret(sys::READ) } else { scene };
        // In the thread's context, and perhaps in the interrupt.
        let scene = scene.at(2_000).wake(fair("other", 30), 1).at(2_005).sleep(IDLE);
        let explained = scene.without_contexts().explain("victim");
        let activation = explained.worst();
        let irq: Vec<_> = activation.ledger.iter().filter(|one| one.cause == Cause::Irq).collect();
        assert!(irq.iter().all(|one| one.confidence == Confidence::Low), "{irq:?}");
        assert_eq!(irq.iter().any(|one| one.length() > Ns::from_us(100)), !calls, "{irq:?}");
        assert_eq!(activation.verdict.confidence, confidence, "{}", activation.verdict.why);
    }
}
