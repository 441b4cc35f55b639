//! Handlers and threads of which nothing is traced for long: did they work, or did the CPU stand still?

use super::support::{IDLE, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use super::timers::{APP, TIMER, VICTIM, handled_late, last, sleeping, texts};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContextFlags, EventKind, Fact};
use whylate_ledger::{Activation, Cause};

#[test]
fn silence_in_the_timer_interrupt_is_stolen_time_and_a_long_callback_is_not() {
    let ticks = |callback: i64, after: i64| {
        let end = 110 + callback;
        sleeping(Scene::new(), IDLE)
            .at(101)
            .vector("local_timer")
            .at(102)
            .fire(TIMER)
            .wake(VICTIM, 1)
            .event(EventKind::HrtimerExpireExit { hrtimer: TIMER })
            .at(105)
            .callback(7, "tick_nohz_handler", end - 105)
            .at(end + after)
            .vector_exit("local_timer")
            .at(end + after + 3)
            .run(VICTIM)
            .at(end + after + 50)
            .sleep(IDLE)
            .explain("victim")
    };
    let explained = ticks(5, 2_000);
    assert_blames(explained.worst(), Cause::Stolen, None);
    assert_eq!(explained.worst().verdict.charged, Ns::from_us(2_000));
    let explained = ticks(2_000, 5);
    assert_eq!(explained.worst().verdict.cause, Cause::Irq);
}

/// In a tick without an event of its callbacks, nothing happens for 2 ms behind a wake-up; one of three ticks is as long.
#[test]
fn where_callbacks_are_not_recorded_a_long_timer_interrupt_of_a_guest_is_in_doubt() {
    for (guest, confidence) in [(true, Confidence::Low), (false, Confidence::High)] {
        let mut scene =
            Scene::new().cpu(1).at(0).fact(Fact::Hypervisor(guest)).run(VICTIM).at(25).sleep(IDLE);
        for n in 1..=60 {
            let at = n * 4_000;
            scene = scene.at(at).vector("local_timer").at(at + 2);
            if n == 60 {
                scene = scene.wake(VICTIM, 1);
            }
            scene = scene.at(at + if n % 3 == 0 { 2_000 } else { 5 }).vector_exit("local_timer");
        }
        let explained = scene.at(242_005).run(VICTIM).at(242_050).sleep(IDLE).explain("victim");
        let verdict = &explained.worst().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::Irq, confidence), "{guest} {}", verdict.why);
    }
}

/// The timer's callback, of this name, does nothing for `silence` us before it wakes the victim.
fn silent_callback(guest: bool, function: &str, silence: i64) -> Activation {
    silent_callback_in(Scene::new().cpu(1).fact(Fact::Hypervisor(guest)), function, silence)
}

fn silent_callback_in(scene: Scene, function: &str, silence: i64) -> Activation {
    let scene = sleeping(scene, IDLE).at(101).vector("local_timer");
    let scene = scene.at(102).fire_named(TIMER, function).at(102 + silence).wake(VICTIM, 1);
    let scene = scene.event(EventKind::HrtimerExpireExit { hrtimer: TIMER }).vector_exit("local_timer");
    let explained = scene.at(105 + silence).run(VICTIM).at(150 + silence).sleep(IDLE).explain("victim");
    explained.worst().clone()
}

#[test]
fn a_callback_that_only_wakes_a_thread_takes_no_milliseconds() {
    for (guest, function, silence, cause) in [
        (true, "hrtimer_wakeup", 300, Cause::Stolen),
        (false, "hrtimer_wakeup", 300, Cause::Irq),
        (false, "hrtimer_wakeup", 2_000, Cause::Stolen),
        (true, "drivers_callback", 2_000, Cause::Irq),
    ] {
        let verdict = silent_callback(guest, function, silence).verdict;
        // To the microsecond in which the interrupt began.
        let silent = verdict.charged >= Ns::from_us(silence) && verdict.charged <= Ns::from_us(silence + 1);
        assert!(verdict.cause == cause && silent, "{function}: {verdict:?}");
    }
}

#[test]
fn a_module_from_outside_the_kernels_tree_is_noted_where_its_function_is_named() {
    let tainted = Fact::TaintedModule { name: "vboxdrv".to_owned(), taints: "OE".to_owned() };
    for (function, noted) in [("tick [vboxdrv]", true), ("tick [ext4]", false), ("vboxdrv", false)] {
        let scene = Scene::new().cpu(1).fact(Fact::Hypervisor(false)).fact(tainted.clone());
        let evidence = silent_callback_in(scene, function, 2_000).verdict.evidence;
        let has = |words: &str| evidence.iter().any(|seen| seen.what.contains(words));
        assert!(has(function), "{function}: {evidence:?}");
        assert_eq!(
            has("vboxdrv is not from the kernel's tree (taint OE)"),
            noted,
            "{function}: {evidence:?}"
        );
    }
}

/// Sixty handlers of `usual` us, and one of 5 ms in which nothing is traced, over the running victim.
fn long_handler(usual: i64, irq: u32, name: &str) -> Activation {
    handler_of(Scene::new(), usual, 5_000, (irq, name))
}

/// The same; the last one takes `longest` us.
fn handler_of(scene: Scene, usual: i64, longest: i64, (irq, name): (u32, &str)) -> Activation {
    let mut scene = scene.cpu(1).at(0).sign(ContextFlags::default());
    for n in 0..60 {
        scene = scene.at(n * 10_000).irq(irq, name).at(n * 10_000 + usual).irq_exit(irq);
    }
    scene
        .at(700_000)
        .timer_wakes(VICTIM)
        .at(700_005)
        .run(VICTIM)
        .at(700_100)
        .irq(irq, name)
        .at(700_100 + longest)
        .irq_exit(irq)
        .at(700_200 + longest)
        .sleep(IDLE)
        .explain("victim")
        .only()
        .clone()
}

#[test]
fn a_handler_that_was_never_so_long_and_does_nothing_has_not_the_cpu() {
    let timer = long_handler(4, 11, "arch_timer");
    assert_blames(&timer, Cause::Stolen, None);
    assert_eq!(timer.verdict.confidence, Confidence::Medium);
    // A device may have had that much to do for once.
    let device = long_handler(4, 16, "eth0");
    assert_eq!((device.verdict.cause, device.verdict.confidence), (Cause::Irq, Confidence::Low));
    let doubt = "nothing was recorded in it: a hypervisor or the firmware may have had the CPU";
    assert!(device.verdict.evidence.iter().any(|seen| seen.what.contains(doubt)), "{device:?}");
    let device = long_handler(4_800, 16, "eth0");
    assert_eq!((device.verdict.cause, device.verdict.confidence), (Cause::Irq, Confidence::High));
}

#[test]
fn where_the_machine_may_be_a_guest_part_of_a_millisecond_is_in_doubt() {
    let guest = |is: bool| Scene::new().fact(Fact::Hypervisor(is));
    let (timer, device) = ((11, "arch_timer"), (16, "eth0"));
    for (scene, of, cause, confidence) in [
        // All that it does is traced.
        (guest(true), timer, Cause::Stolen, Confidence::Medium),
        (guest(false), timer, Cause::Stolen, Confidence::Medium),
        (guest(true), device, Cause::Irq, Confidence::Low),
        (guest(false), device, Cause::Irq, Confidence::High),
        (Scene::new(), device, Cause::Irq, Confidence::Low),
    ] {
        let verdict = handler_of(scene, 4, 700, of).verdict;
        assert_eq!((verdict.cause, verdict.confidence), (cause, confidence), "{of:?}: {verdict:?}");
    }
}

#[test]
fn where_cpus_stand_still_again_and_again_a_long_handler_shows_nothing() {
    let confidence = |guest: bool, standstills: i64| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
        let scene = scene.at(700).timer_wakes(VICTIM).at(705).run(VICTIM);
        let mut scene = scene.at(1_000).softirq(7).at(3_500).softirq_exit(7).at(3_600).sleep(IDLE);
        for n in 1..=standstills {
            scene = scene.at(n * 10_000).vector("local_timer").callback(7, "tick_nohz_handler", 5);
            scene = scene.at(n * 10_000 + 3_000).vector_exit("local_timer");
        }
        let verdict = scene.at(90_000).sign(ContextFlags::default()).explain("victim").only().verdict.clone();
        assert_eq!(verdict.cause, Cause::Softirq);
        verdict.confidence
    };
    assert_eq!(confidence(true, 3), Confidence::Low);
    assert_eq!(confidence(true, 2), Confidence::High);
    assert_eq!(confidence(false, 3), Confidence::High);
}

/// On two virtual CPUs that one CPU of the host has in turn, most standstills end when the next timer is due: within a softirq, too.
#[test]
fn a_softirq_that_stands_still_within_a_wakeup_did_not_have_the_cpu() {
    const WOKEN: Thread = rt("woken", 31, 5);
    let late = |guest: bool, ends_here: bool| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
        let scene = scene.at(700).timer_wakes(VICTIM).at(705).run(VICTIM);
        let scene = scene.at(1_000).softirq(1).at(1_004).waking(WOKEN, 1).at(1_008);
        let scene = scene.sign(ContextFlags::default()).at(2_400);
        let scene = if ends_here { scene.wakeup(WOKEN, 1) } else { scene.sign(ContextFlags::default()) };
        let scene = scene.at(2_405).softirq_exit(1).at(2_500).sleep(IDLE);
        scene.at(90_000).sign(ContextFlags::default()).explain("victim").only().clone()
    };
    let of_softirq = |late: &Activation| {
        let segments = late.ledger.iter().filter(|segment| segment.cause == Cause::Softirq);
        segments.map(|segment| segment.confidence).max()
    };
    let stands_still = late(true, true);
    assert_eq!(stands_still.verdict.cause, Cause::Stolen);
    assert_eq!(of_softirq(&stands_still), Some(Confidence::Low), "the rest of it may have been stolen, too");
    let cause = |guest, ends_here| late(guest, ends_here).verdict.cause;
    assert_eq!(cause(true, false), Cause::Softirq, "it may have run a timer's callback");
    assert_eq!(cause(false, true), Cause::Softirq, "another CPU may have held the lock of the runqueue");
}

#[test]
fn what_cannot_be_moved_is_not_to_be_moved() {
    for (irq, name, moves) in [(11, "arch_timer", false), (1, "IPI", false), (16, "eth0", true)] {
        let fix = texts(&long_handler(4_800, irq, name).verdict.fix);
        assert_eq!(fix.contains("smp_affinity_list"), moves, "{name}: {fix}");
    }
}

/// The victim works in a system call from 105 us to 3 ms, and a timer of 500 us is handled at 2.8 ms; `guest`: on one.
fn works_while_a_timer_is_due(guest: bool, kind: impl Fn(Scene) -> Scene) -> Activation {
    let tick = 0xffff_8881_0000_2000;
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
    let scene = scene.at(50).arm(tick, 500).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene = kind(scene.at(110)).at(2_990).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let explained = scene.at(3_000).sleep(IDLE).explain("victim");
    explained.only().clone()
}

fn handled_at_2800(scene: Scene) -> Scene {
    let tick = 0xffff_8881_0000_2000;
    scene.at(2_800).vector("local_timer").fire(tick).fired(tick).vector_exit("local_timer")
}

#[test]
fn own_work_while_a_timer_was_due_is_not_sure() {
    for (guest, confidence) in [(true, Confidence::Low), (false, Confidence::Medium)] {
        let in_kernel = |scene: Scene| handled_at_2800(scene.call(sys::READ, [3, 0, 0]));
        let verdict = works_while_a_timer_is_due(guest, in_kernel).verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, confidence));
    }
}

/// The victim works from 105 us to 3 ms; no event shows that from `silent` on, until a timer that was due at 2.4 ms is
/// handled 400 us late.
fn works_unseen(silent: i64) -> Activation {
    let tick = 0xffff_8881_0000_2000;
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(true));
    let scene = scene.at(50).arm(tick, 2_400).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene = handled_at_2800(scene.at(silent).sign(ContextFlags::default()));
    let scene = scene.at(2_990).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(3_000).sleep(IDLE);
    scene.explain("victim").only().clone()
}

#[test]
fn a_cpu_that_stood_still_may_have_done_so_before_the_timer_was_due() {
    let verdict = works_unseen(110).verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, Confidence::Low));
    // 400 us of 2.9 ms are in doubt.
    let verdict = works_unseen(2_390).verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, Confidence::Medium));
}

#[test]
fn what_may_be_a_guest_is_in_doubt_once_its_cpus_stood_still() {
    let confidence = |stood_still: bool| {
        let tick = 0xffff_8881_0000_2000;
        let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
        if stood_still {
            scene = scene.at(1_000).vector("local_timer").callback(7, "tick_nohz_handler", 5);
            scene = scene.at(4_000).vector_exit("local_timer");
        }
        let scene = scene.at(10_050).arm(tick, 12_400).at(10_100).timer_wakes(VICTIM).at(10_105).run(VICTIM);
        let scene = scene.at(10_110).sign(ContextFlags::default()).at(12_800).vector("local_timer");
        let scene = scene.fire(tick).fired(tick).vector_exit("local_timer").at(12_990);
        let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(13_000).sleep(IDLE);
        let verdict = scene.explain("victim").only().verdict.clone();
        assert_eq!(verdict.cause, Cause::OwnWork);
        verdict.confidence
    };
    assert_eq!(confidence(false), Confidence::Medium);
    assert_eq!(confidence(true), Confidence::Low);
}

#[test]
fn a_thread_in_front_is_in_doubt_as_long_as_no_event_shows_its_cpu() {
    let hog = rt("hog", 20, 90);
    let tick = 0xffff_8881_0000_2000;
    let behind = |silent: i64| {
        let scene = sleeping(Scene::new().fact(Fact::Hypervisor(true)), hog).at(30).arm(tick, 2_400);
        let scene = scene.at(100).wake(VICTIM, 1).at(silent).sign(ContextFlags::default());
        let scene = scene.at(2_800).fire(tick).fired(tick).at(2_850).sleep(VICTIM).at(2_900).sleep(IDLE);
        let activation = scene.explain("victim").worst().clone();
        assert_blames(&activation, Cause::HigherPriorityTask, Some(hog));
        activation.verdict.confidence
    };
    assert_eq!(behind(110), Confidence::Low);
    assert_eq!(behind(2_390), Confidence::High);
}

#[test]
fn the_way_back_from_a_sleep_does_no_work() {
    let woken = |guest: bool, returned: i64| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
        let scene = scene.at(10).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.at(15).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let scene = scene.at(returned).ret(sys::CLOCK_NANOSLEEP);
        let scene = scene.at(3_990).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(4_000).sleep(IDLE);
        scene.explain("victim").in_order().last().map(|&activation| activation.clone()).expect("one")
    };
    let guest = woken(true, 3_105);
    assert_blames(&guest, Cause::Stolen, None);
    assert_eq!((guest.verdict.charged, guest.verdict.confidence), (Ns::from_us(3_000), Confidence::Medium));
    assert_eq!(woken(false, 3_105).verdict.cause, Cause::OwnWork, "no hypervisor takes a CPU there");
    assert_eq!(woken(true, 108).verdict.cause, Cause::OwnWork);
}

#[test]
fn the_way_into_a_sleep_does_no_work() {
    let going = |guest: bool, call: i64| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
        let scene = scene.at(10).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.at(15).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let scene = scene.at(108).ret(sys::CLOCK_NANOSLEEP).at(300).call(call, sys::UNTIL);
        let scene = scene.at(302).arm(TIMER, 2_100).at(2_400).sleep(IDLE);
        scene.explain("victim").in_order().last().map(|&activation| activation.clone()).expect("one")
    };
    let guest = going(true, sys::CLOCK_NANOSLEEP);
    assert_blames(&guest, Cause::Stolen, None);
    assert_eq!((guest.verdict.charged, guest.verdict.confidence), (Ns::from_us(2_098), Confidence::Medium));
    assert_eq!(going(false, sys::CLOCK_NANOSLEEP).verdict.cause, Cause::OwnWork);
    assert_eq!(going(true, sys::READ).verdict.cause, Cause::OwnWork, "a read may take that long");
}

#[test]
fn a_thread_preempted_on_its_way_back_from_a_sleep_has_done_no_work_either() {
    let hog = rt("hog", 20, 90);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(true));
    let scene = scene.at(10).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let scene = scene.at(15).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let scene = scene.at(3_105).wake(hog, 1).at(3_108).run(hog).at(3_200).sleep(VICTIM);
    let scene = scene.at(5_200).ret(sys::CLOCK_NANOSLEEP).at(5_300).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let explained = scene.at(5_305).sleep(IDLE).explain("victim");
    assert_blames(explained.worst(), Cause::Stolen, None);
    assert_eq!(explained.worst().verdict.charged, Ns::from_us(3_003 + 2_000));
}

#[test]
fn a_softirq_that_no_interrupt_interrupts_has_not_the_cpu() {
    let in_softirq = |scene: Scene| handled_at_2800(scene.softirq(7)).at(2_810).softirq_exit(7);
    let guest = works_while_a_timer_is_due(true, in_softirq);
    assert_blames(&guest, Cause::Stolen, None);
    assert_eq!((guest.verdict.charged, guest.verdict.confidence), (Ns::from_us(2_690), Confidence::Medium));
    let hardware = works_while_a_timer_is_due(false, in_softirq).verdict;
    assert_eq!((hardware.cause, hardware.confidence), (Cause::Softirq, Confidence::Low));
    // The tick comes in time.
    let busy = works_while_a_timer_is_due(true, |scene| {
        let scene = scene.softirq(7).at(505).vector("local_timer").fire(0xffff_8881_0000_2000);
        let scene = scene.fired(0xffff_8881_0000_2000).vector_exit("local_timer");
        scene.at(2_810).softirq_exit(7)
    });
    assert_eq!((busy.verdict.cause, busy.verdict.confidence), (Cause::Softirq, Confidence::High));
    // A callback of RCU may disable interrupts.
    let in_rcu = |scene: Scene| handled_at_2800(scene.softirq(9)).at(2_810).softirq_exit(9);
    let verdict = works_while_a_timer_is_due(true, in_rcu).verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::Softirq, Confidence::Low));
}

#[test]
fn timers_of_two_cpus_late_at_once_are_stolen_time() {
    let other = 0xffff_8881_0000_1000;
    let scene = Scene::new().cpu(2).at(5).unseen_switch_to(fair("other", 40)).arm(other, 120);
    let scene = handled_late(sleeping(scene, APP)).cpu(2).at(301).fire(other).fired(other);
    let activation = last(scene);
    assert_charges(&activation, &[(Cause::Stolen, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(&activation, Cause::Stolen, None);
    assert_eq!(activation.verdict.confidence, Confidence::High);
}

/// The victim waits from 100 us on for a thread that outranks it, on whose CPU a timer of 150 us is handled at 400 us;
/// `then` happens at once.
fn behind_a_silent(hog: Thread, scene: Scene, then: impl FnOnce(Scene) -> Scene) -> Activation {
    let tick = 0xffff_8881_0000_2000;
    let scene = sleeping(scene, hog).at(30).arm(tick, 150).at(100).wake(VICTIM, 1);
    let scene = then(scene.at(400).fire(tick).fired(tick));
    let explained = scene.cpu(1).at(450).sleep(VICTIM).at(500).sleep(IDLE).explain("victim");
    (*explained.in_order().last().expect("an activation")).clone()
}

#[test]
fn what_was_stolen_from_a_thread_in_front_is_not_that_threads() {
    let hog = rt("hog", 20, 90);
    let other = 0xffff_8881_0000_1000;
    let scene = Scene::new().cpu(2).at(5).unseen_switch_to(fair("other", 40)).arm(other, 160);
    let fire_other = |scene: Scene| scene.cpu(2).at(401).fire(other).fired(other).cpu(1);
    let activation = behind_a_silent(hog, scene, fire_other);
    assert_charges(
        &activation,
        &[(Cause::HigherPriorityTask, 50 + 50), (Cause::Stolen, 250), (Cause::OwnWork, 50)],
    );
    assert_blames(&activation, Cause::Stolen, None);
}

#[test]
fn where_it_may_have_been_stolen_from_the_thread_in_front_that_one_is_less_surely_blamed() {
    let hog = rt("hog", 20, 90);
    let activation = behind_a_silent(hog, Scene::new(), |scene| scene);
    assert_charges(&activation, &[(Cause::HigherPriorityTask, 350), (Cause::OwnWork, 50)]);
    assert_blames(&activation, Cause::HigherPriorityTask, Some(hog));
    assert!(activation.verdict.confidence < Confidence::High, "{:?}", activation.verdict);
}

/// A thread in front is in its call that sleeps from 1 ms on, and no event happens for `silent` us; a timer of the victim is due meanwhile.
/// Where `fair_front`, the victim outranks that thread.
fn behind_a_sleeper(guest: bool, call: i64, fair_front: bool) -> Activation {
    let front = if fair_front { fair("front", 20) } else { rt("front", 20, 90) };
    let tick = 0xffff_8881_0000_2000;
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
    let scene = scene.at(5).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let scene = scene.arm(TIMER, 1_500).at(10).sleep(IDLE).at(900).timer_wakes(front).at(905).run(front);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(950).wake(VICTIM, 1);
    let scene = scene.at(1_000).call(call, sys::UNTIL).arm(tick, 9_000);
    let scene = if fair_front { scene.at(1_002).sign(ContextFlags::default()) } else { scene };
    let scene = scene.at(6_000).vector("local_timer").at(6_003).vector_exit("local_timer");
    let explained = scene.at(6_010).sleep(VICTIM).at(6_100).sleep(IDLE).explain("victim");
    explained.worst().clone()
}

#[test]
fn a_cpu_that_stands_still_under_a_thread_does_so_for_those_that_wait_for_it() {
    for fair_front in [false, true] {
        let late = behind_a_sleeper(true, sys::CLOCK_NANOSLEEP, fair_front);
        assert_blames(&late, Cause::Stolen, None);
        assert_eq!(late.verdict.confidence, Confidence::Medium);
        let cause = |guest, call| behind_a_sleeper(guest, call, fair_front).verdict.cause;
        assert_ne!(cause(false, sys::CLOCK_NANOSLEEP), Cause::Stolen, "no hypervisor takes a CPU there");
        assert_ne!(cause(true, sys::READ), Cause::Stolen, "a read may take that long");
    }
}

#[test]
fn a_timer_that_is_due_while_a_thread_goes_to_sleep_shows_no_disabled_interrupts() {
    let late = |guest: bool| {
        let front = fair("front", 20);
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
        let scene = scene.at(5).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.arm(TIMER, 1_500).at(10).sleep(IDLE).at(900).timer_wakes(front).at(905).run(front);
        let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(950).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.arm(0xffff_8881_0000_2000, 9_000).at(6_000).vector("local_timer").fire(TIMER);
        let scene = scene.wake(VICTIM, 1).fired(TIMER).vector_exit("local_timer").at(6_005).run(VICTIM);
        scene.at(6_050).sleep(IDLE).explain("victim").worst().verdict.clone()
    };
    assert_eq!(late(true).cause, Cause::Stolen);
    assert_eq!(late(false).cause, Cause::IrqsDisabled);
}

/// As [`behind_a_sleeper`], but the timer of the thread in front has expired when the CPU stands still: it has only to return.
fn behind_a_return(guest: bool, call: i64) -> Activation {
    let front = rt("front", 20, 90);
    let (own, tick) = (0xffff_8881_0000_3000, 0xffff_8881_0000_2000);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(guest));
    let scene = scene.at(5).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let scene = scene.arm(TIMER, 1_500).at(10).sleep(IDLE).at(900).timer_wakes(front).at(905).run(front);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(910).call(call, sys::UNTIL).arm(own, 940);
    let scene = scene.at(945).vector("local_timer").fire(own).wake(front, 1).fired(own);
    let scene = scene.at(950).wake(VICTIM, 1).arm(tick, 5_000).vector_exit("local_timer");
    let scene = scene.at(5_000).vector("local_timer").at(5_003).vector_exit("local_timer");
    let scene = scene.at(5_010).ret(call).at(5_040).sleep(VICTIM).at(5_100).sleep(IDLE);
    scene.explain("victim").worst().clone()
}

#[test]
fn a_thread_whose_sleep_is_over_does_not_work_on_its_way_back() {
    let late = behind_a_return(true, sys::CLOCK_NANOSLEEP);
    assert_blames(&late, Cause::Stolen, None);
    assert_eq!(late.verdict.confidence, Confidence::Medium);
    for (guest, call) in [(false, sys::CLOCK_NANOSLEEP), (true, sys::READ)] {
        assert_ne!(behind_a_return(guest, call).verdict.cause, Cause::Stolen);
    }
}
