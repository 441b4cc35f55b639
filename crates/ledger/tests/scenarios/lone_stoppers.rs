//! Virtual CPUs that stand still under a stopper, in a tick, behind a page fault, or on the way into idle: no thread keeps them.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, fair, rt, sys};
use super::timers::{TIMER, VICTIM};
use whylate_base::Confidence;
use whylate_events::{ContextFlags, EventKind, Fact};
use whylate_ledger::{Activation, Cause};

const TICK: u64 = 0xffff_8881_0000_2000;
const STOPPER: Thread = rt("migration/1", 20, 99);

/// The victim waits for the stopper of CPU 1, on which a tick was due at 2 ms and came at 9 ms. Where `both`, that of CPU 0 runs as well.
/// Where `by_timer`, the victim's own timer is as late.
fn behind_stopper(guest: bool, both: bool, by_timer: bool) -> Activation {
    let scene = Scene::new().fact(Fact::Hypervisor(guest)).cpu(0).at(0).run(fair("app", 40));
    let scene = scene.cpu(1).at(5).unseen_switch_to(VICTIM).sign(ContextFlags::default());
    let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, 2_100).at(10).sleep(IDLE);
    let scene = scene.at(100).arm(TICK, 2_000).at(1_000).wake(STOPPER, 1).at(1_005).run(STOPPER);
    let scene = if both { scene.cpu(0).at(1_010).run(rt("migration/0", 19, 99)) } else { scene };
    let scene = if by_timer { scene.cpu(1) } else { scene.cpu(1).at(1_100).wake(VICTIM, 1) };
    let scene = scene.at(9_000).vector("local_timer").at(9_002).fire(TICK).fired(TICK);
    let scene = if by_timer { scene.fire(TIMER).wake(VICTIM, 1).fired(TIMER) } else { scene };
    let scene = scene.at(9_005).vector_exit("local_timer").at(9_010).sleep(VICTIM);
    let scene = scene.at(9_100).sleep(IDLE).cpu(0).at(9_110).run(fair("app", 40));
    scene.explain("victim").worst().clone()
}

#[test]
fn a_lone_stopper_keeps_no_interrupt_of_a_virtual_cpu_from_coming() {
    for by_timer in [false, true] {
        let late = behind_stopper(true, false, by_timer);
        assert_blames(&late, Cause::Stolen, None);
        let sure = |one: &whylate_ledger::Segment| {
            one.cause == Cause::StopTask && one.confidence > Confidence::Low && one.length().0 > 200_000
        };
        assert!(!late.ledger.iter().any(sure), "{:?}", late.ledger);
        // To stop the machine is the work of all stoppers, and hardware does not take its CPUs away.
        for (guest, both) in [(true, true), (false, false)] {
            assert_blames(&behind_stopper(guest, both, by_timer), Cause::StopTask, Some(STOPPER));
        }
    }
}

/// A guest whose CPU stood still so often while a program ran, as late timers showed.
fn stood_still(guest: bool, times: i64) -> Scene {
    let app = fair("app", 40);
    let scene = Scene::new().fact(Fact::Hypervisor(guest)).cpu(1).at(0).sign(ContextFlags::default());
    let mut scene = scene.run(app).at(5).call(sys::READ, [3, 0, 0]).at(10).ret(sys::READ);
    for n in 0..times {
        let due = 10_000 * (n + 1);
        scene = scene.at(due - 6_000).arm(TICK, due).at(due + 3_000).vector("local_timer").fire(TICK);
        scene = scene.fired(TICK).at(due + 3_005).vector_exit("local_timer");
    }
    scene.at(40_000).sleep(VICTIM)
}

#[test]
fn a_cpu_that_stands_still_all_the_time_does_so_behind_a_page_fault() {
    let late = |guest: bool, times: i64| {
        let scene = stood_still(guest, times).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, 42_000);
        let scene = scene.at(40_010).sleep(fair("app", 40)).at(41_000).fault(0x7f00_0000);
        let scene = scene.at(52_000).vector("local_timer").fire(TIMER).wake(VICTIM, 1).fired(TIMER);
        let scene = scene.at(52_005).vector_exit("local_timer").at(52_010).run(VICTIM).at(52_100).sleep(IDLE);
        scene.explain("victim").worst().verdict.clone()
    };
    let stolen = late(true, 3);
    assert_eq!((stolen.cause, stolen.confidence), (Cause::Stolen, Confidence::Low));
    for (guest, times) in [(true, 2), (false, 3)] {
        let unknown = late(guest, times);
        assert_eq!((unknown.cause, unknown.confidence), (Cause::TimerLate, Confidence::Low));
        // The recording has the system calls of all threads.
        let fix = &unknown.fix[0].text;
        assert!(fix.contains("hwnoise") && !fix.contains("raw_syscalls"), "{fix}");
    }
}

#[test]
fn a_tick_takes_no_milliseconds_where_cpus_stand_still() {
    let late = |guest: bool, function: &str| {
        let scene = stood_still(guest, 3).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, 42_010);
        let scene = scene.at(40_010).sleep(IDLE).at(41_999).vector("local_timer").at(42_001);
        let scene = scene.fire_named(TICK, function).at(52_000);
        let scene = scene.event(EventKind::HrtimerExpireExit { hrtimer: TICK }).at(52_001).fire(TIMER);
        let scene = scene.wake(VICTIM, 1).fired(TIMER).at(52_005).vector_exit("local_timer");
        let scene = scene.at(52_010).run(VICTIM).at(52_100).sleep(IDLE);
        scene.explain("victim").worst().verdict.cause
    };
    assert_eq!(late(true, "tick_nohz_handler"), Cause::Stolen);
    for (guest, function) in [(false, "tick_nohz_handler"), (true, "drivers_callback")] {
        assert_ne!(late(guest, function), Cause::Stolen, "{function}");
    }
}

#[test]
fn a_stopper_needs_no_milliseconds_to_move_a_thread_where_cpus_stand_still() {
    let late = |guest: bool, times: i64| {
        let app = fair("app", 40);
        let scene = stood_still(guest, times).call(sys::READ, [3, 0, 100]).at(40_010).sleep(app);
        let scene =
            scene.cpu(0).at(40_020).run(fair("waker", 50)).wake(STOPPER, 1).at(40_025).wake(VICTIM, 1);
        let scene = scene.cpu(1).at(40_030).run(STOPPER).at(43_000).migrate(app, 1, 0).at(43_010);
        scene.sleep(VICTIM).at(43_100).sleep(IDLE).explain("victim").worst().verdict.clone()
    };
    let stolen = late(true, 3);
    assert_eq!((stolen.cause, stolen.confidence), (Cause::Stolen, Confidence::Low), "{}", stolen.why);
    for (guest, times) in [(true, 2), (false, 3)] {
        assert_eq!(late(guest, times).cause, Cause::StopTask);
    }
}

/// Upon a thread that goes on for 5 ms before the victim, the interrupts of that time come all at once in the end; a tick was due meanwhile,
/// or none.
fn interrupts_at_once(guest: bool, with_tick: bool) -> Activation {
    let app = fair("app", 40);
    let scene = stood_still(guest, 3).call(sys::READ, [3, 0, 100]).at(40_010).sleep(app);
    let scene = if with_tick { scene.at(40_500).arm(TICK, 42_000) } else { scene };
    let scene = scene.at(41_000).fault(0x7f00_0000);
    let mut scene = scene.cpu(0).at(41_100).run(fair("waker", 50)).wake(VICTIM, 1).cpu(1);
    for at in [46_000, 46_150, 46_300] {
        let entry = EventKind::VectorEntry { name: "reschedule".into() };
        let flags = ContextFlags::NEED_RESCHED | ContextFlags::HARDIRQ;
        scene = scene.at(at).event_with(flags, entry).at(at + 2).vector_exit("reschedule");
    }
    let scene = scene.at(46_310).vector("local_timer");
    let scene = if with_tick { scene.fire(TICK).fired(TICK) } else { scene };
    let scene = scene.at(46_320).vector_exit("local_timer").at(46_330).run(VICTIM).at(46_400).sleep(IDLE);
    scene.explain("victim").worst().clone()
}

#[test]
fn interrupts_that_come_all_at_once_show_nothing_of_the_time_before() {
    let stolen = interrupts_at_once(true, true).verdict;
    assert_eq!((stolen.cause, stolen.confidence), (Cause::Stolen, Confidence::Low), "{}", stolen.why);
    for (guest, confidence) in [(true, Confidence::Low), (false, Confidence::High)] {
        let kept = interrupts_at_once(guest, false).verdict;
        assert_eq!((kept.cause, kept.confidence), (Cause::PreemptionDisabled, confidence), "{}", kept.why);
    }
}

/// The victim is put on the runqueue of a CPU 2 us before that one settles down in idle; an interrupt calls it back after 13 ms.
fn queued_on_the_way_into_idle(guest: bool) -> Cause {
    let mut scene = Scene::new().kernel("6.1.0-18-amd64").cpu(1).at(0).fact(Fact::Hypervisor(guest));
    scene = scene.fact(Fact::RtRuntimeUs(950_000));
    for period in 0..200 {
        let at = period * 4 * MS;
        scene = scene.at(at).vector("local_timer").wake(VICTIM, 1).vector_exit("local_timer").softirq(1);
        scene = scene.at(at + 1).softirq_exit(1).at(at + 3).run(VICTIM).at(at + 1_500).sleep(IDLE);
    }
    let scene = scene.cpu(0).at(800 * MS).run(fair("waker", 50)).wake(VICTIM, 1);
    let scene = scene.cpu(1).at(800 * MS + 2).sign(ContextFlags::default());
    let scene = scene.at(813 * MS).vector("reschedule").at(813 * MS + 3).vector_exit("reschedule");
    let scene = scene.at(813 * MS + 10).run(VICTIM).at(813 * MS + 100).sleep(IDLE);
    scene.explain("victim").worst().verdict.cause
}

#[test]
fn a_virtual_cpu_that_was_on_its_way_into_idle_is_not_throttled() {
    assert_eq!(queued_on_the_way_into_idle(true), Cause::Stolen);
    assert_eq!(queued_on_the_way_into_idle(false), Cause::RtThrottled);
}
