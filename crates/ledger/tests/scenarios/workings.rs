//! What a thread does itself: work, page faults, devices.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::{BlockedReason, ContextFlags, EventKind, Kind, PageFault, Work, WorkStep};
use whylate_ledger::{Cause, Options};

pub(super) const VICTIM: Thread = rt("victim", 10, 80);

/// One period of 10 ms: woken at its beginning, running 5 us later, at work for `work`.
fn period(scene: Scene, n: i64, work: i64) -> Scene {
    let start = n * 10 * MS + 100;
    scene.at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM).at(start + 5 + work).sleep(IDLE)
}

pub(super) fn idle() -> Scene {
    Scene::new().cpu(1).at(0).sign(ContextFlags::default())
}

#[test]
fn a_healthy_thread_accuses_no_other() {
    let mut scene = idle();
    for n in 0..10 {
        scene = period(scene, n, 50);
    }
    let explained = scene.explain_with(&Options::default());
    assert_eq!(explained.0.activations.len(), 10);
    for activation in &explained.0.activations {
        assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 50)]);
        assert_blames(activation, Cause::OwnWork, None);
        assert!(activation.verdict.why.starts_with("nothing delayed victim"), "{}", activation.verdict.why);
    }
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
    let summary = &explained.0.tasks[0];
    assert_eq!((summary.activations, summary.priority.0), (10, VICTIM.prio));
    let latency = summary.latency.expect("it ran");
    assert_eq!((latency.min, latency.max), (Ns::from_us(5), Ns::from_us(5)));
    assert_eq!(summary.causes, [(Cause::OwnWork, Ns::from_us(500)), (Cause::Dispatch, Ns::from_us(50))]);
}

#[test]
fn much_more_own_work_than_usual_is_its_own_fault() {
    let mut scene = idle();
    for n in 0..9 {
        scene = period(scene, n, 300);
    }
    let explained = period(scene, 9, 12 * MS).explain_with(&Options::default());
    let worst = explained.worst();
    assert_charges(worst, &[(Cause::Dispatch, 5), (Cause::OwnWork, 12 * MS)]);
    assert_blames(worst, Cause::OwnWork, None);
    assert!(worst.verdict.why.contains("itself ran for 12.00 ms"), "{}", worst.verdict.why);
    for usual in &explained.0.activations[1..] {
        assert!(usual.verdict.why.starts_with("nothing delayed"), "{}", usual.verdict.why);
    }
}

#[test]
fn work_that_grows_from_one_activation_to_the_next_is_a_trend() {
    let text = |work: fn(i64) -> i64| {
        let explained = (0..40).fold(idle(), |scene, n| period(scene, n, work(n))).explain("victim");
        assert_blames(explained.worst(), Cause::OwnWork, None);
        let verdict = &explained.worst().verdict;
        format!("{}; {}", verdict.why, verdict.fix[0].text)
    };
    let trend = text(|n| 200 + 100 * n);
    assert!(trend.contains("the 10 longest are the last ones, from 3.21 ms to 4.11 ms"), "{trend}");
    assert!(trend.contains("find what grows") && !trend.contains("differently"), "{trend}");
    // The longest ones are not the last ones, or not in order.
    for work in [|n| 200 + 100 * (n % 30), |n| 200 + 90 * n + 500 * (n % 3)] as [fn(i64) -> i64; 2] {
        let exception = text(work);
        assert!(exception.contains("differently in this activation"), "{exception}");
    }
}

#[test]
fn own_work_may_be_page_faults_where_none_were_recorded() {
    let run = |faults: bool| {
        let mut scene = idle();
        for n in 0..9 {
            scene = period(scene, n, 300);
        }
        let scene = if faults { scene.fault(0x1000) } else { scene };
        period(scene, 9, 12 * MS).explain_with(&Options::default())
    };
    for (faults, confidence) in [(true, Confidence::High), (false, Confidence::Medium)] {
        let explained = run(faults);
        let verdict = &explained.worst().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, confidence));
        assert_eq!(verdict.why.contains("page faults, which were not recorded"), !faults, "{}", verdict.why);
        let missing = explained.0.missing.iter().any(|missing| missing.kind == Kind::PageFault);
        assert_eq!(missing, !faults);
    }
}

#[test]
fn a_small_delay_outweighs_the_work_that_is_always_there() {
    let hog = rt("hog", 20, 90);
    let mut scene = idle();
    for n in 0..9 {
        scene = period(scene, n, 3 * MS);
    }
    let explained = scene
        .at(90 * MS + 100)
        .timer_wakes(hog)
        .run(hog)
        .timer_wakes(VICTIM)
        .at(91 * MS + 100)
        .sleep(VICTIM)
        .at(94 * MS + 100)
        .sleep(IDLE)
        .explain("victim");
    assert_charges(explained.worst(), &[(Cause::HigherPriorityTask, MS), (Cause::OwnWork, 3 * MS)]);
    assert_blames(explained.worst(), Cause::HigherPriorityTask, Some(hog));
}

#[test]
fn a_small_delay_beside_long_work_is_no_verdict_where_no_usual_time_is_known() {
    let hog = rt("hog", 20, 90);
    let delayed = |work: i64| {
        let by = 900;
        let scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let scene = scene.at(1_000).timer_wakes(hog).run(hog).at(1_000 + by).sleep(VICTIM);
        scene.at(105 + work + by).sleep(IDLE).explain("victim")
    };
    let (little, much) = (delayed(40 * MS), delayed(4 * MS));
    assert_blames(little.only(), Cause::OwnWork, None);
    let why = &little.only().verdict.why;
    assert!(why.contains("900.0 us was higher-priority-task; it has too few activations (1)"), "{why}");
    assert!(little.only().verdict.fix.is_empty());
    assert_blames(much.only(), Cause::HigherPriorityTask, Some(hog));
}

#[test]
fn a_burst_of_minor_faults_is_charged_by_what_one_costs() {
    let mut scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    for n in 0..100 {
        scene = scene.at(110 + 2 * n).fault(0x7000_0000 + 4096 * n as u64);
    }
    let explained = scene.at(400).sleep(IDLE).explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 5 + 90), (Cause::PageFault, 200)]);
    assert_blames(activation, Cause::PageFault, None);
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
}

#[test]
fn a_major_fault_is_charged_while_the_page_is_read() {
    let explained = idle()
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .fault(0x7000_0000)
        .at(111)
        .block(IDLE)
        .at(3_111)
        .irq(30, "nvme0q1")
        .wake(VICTIM, 1)
        .irq_exit(30)
        .at(3_115)
        .run(VICTIM)
        .at(3_200)
        .sleep(IDLE)
        .explain("victim");
    // It wakes inside the fault's handler, whose way out is taken to cost what a fault usually does.
    let activation = explained.only();
    assert_charges(
        activation,
        // What is left of the handler after the sleep has no event of its own: a fault's usual cost.
        &[
            (Cause::Dispatch, 5),
            (Cause::IdleExit, 4),
            (Cause::OwnWork, 5 + 84),
            (Cause::PageFault, 3_001 + 1),
        ],
    );
    assert_blames(activation, Cause::PageFault, None);
}

#[test]
fn the_way_from_a_fault_to_its_sleep_is_the_faults_as_well() {
    let explained = idle()
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .fault(0x7000_0000)
        .at(150)
        .block(IDLE)
        .at(3_150)
        .irq(30, "nvme0q1")
        .wake(VICTIM, 1)
        .irq_exit(30)
        .at(3_154)
        .run(VICTIM)
        .at(3_200)
        .sleep(IDLE)
        .explain("victim");
    assert_charges(
        explained.only(),
        &[
            (Cause::Dispatch, 5),
            (Cause::IdleExit, 4),
            (Cause::OwnWork, 5 + 45),
            (Cause::PageFault, 3_040 + 1),
        ],
    );
}

/// The victim sleeps uninterruptibly from 150 us on, and this device's interrupt comes at 2,150 us.
fn blocked_until(device: &str) -> Scene {
    let works = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    works.at(150).block(IDLE).at(2_150).irq(30, device)
}

#[test]
fn a_sleep_on_a_device_belongs_to_the_activation() {
    let explained = blocked_until("nvme0q1")
        .wake(VICTIM, 1)
        .irq_exit(30)
        .at(2_155)
        .run(VICTIM)
        .at(2_200)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 45 + 45), (Cause::BlockIo, 2_000)],
    );
    assert_blames(activation, Cause::BlockIo, None);
}

/// Where the kernel traces what a thread slept in, an interrupt that ends it shows no device.
#[test]
fn an_uninterruptible_sleep_is_for_input_or_output_where_the_kernel_counts_it() {
    for (io_wait, cause, confidence) in
        [(true, Cause::BlockIo, Confidence::High), (false, Cause::Unexplained, Confidence::Low)]
    {
        let explained = blocked_until("gpu")
            .waking(VICTIM, 1)
            .event(EventKind::BlockedReason(BlockedReason {
                tid: Tid(VICTIM.tid),
                io_wait,
                caller: "gpu_wait".into(),
            }))
            .wakeup(VICTIM, 1)
            .irq_exit(30)
            .at(2_155)
            .run(VICTIM)
            .at(2_200)
            .sleep(IDLE)
            .explain("victim");
        let activation = explained.only();
        assert_charges(
            activation,
            &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 45 + 45), (cause, 2_000)],
        );
        assert_eq!((activation.verdict.cause, activation.verdict.confidence), (cause, confidence));
        let seen = &activation.verdict.evidence;
        assert!(seen.iter().any(|one| one.what.starts_with("slept for 2.00 ms in gpu_wait,")), "{seen:?}");
    }
}

#[test]
fn a_thread_that_ends_is_done() {
    let explained =
        idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(300).die(IDLE).explain("victim");
    let activation = explained.only();
    assert_eq!(activation.done, Some(Ns::from_us(300)));
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 195)]);
}

/// Twelve periods, slept through with these arguments of `clock_nanosleep`.
pub(super) fn sleeps(args: [u64; 3]) -> Scene {
    let mut scene = idle();
    for n in 0..12 {
        let start = n * 10 * MS + 100;
        scene = scene.at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM);
        if n > 0 {
            scene = scene.ret(sys::CLOCK_NANOSLEEP);
        }
        scene = scene.at(start + 50).call(sys::CLOCK_NANOSLEEP, args).at(start + 52).sleep(IDLE);
    }
    scene
}

#[test]
fn what_the_kernel_does_in_a_fault_shows_how_long_it_lasts() {
    let start = 120 * MS + 100;
    let work = Work { work: 0xdef0, function: "vmpressure_work_fn".into(), step: WorkStep::Queued };
    let scene = sleeps(sys::UNTIL).at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(start + 10).fault(0x1000).at(start + 4_000);
    let scene = scene.vector("local_timer").at(start + 4_005).vector_exit("local_timer").at(start + 8_010);
    let scene = scene.event(EventKind::Work(work)).at(start + 8_100).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let explained = scene.at(start + 8_102).sleep(IDLE).explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::PageFault, None);
    assert_eq!((worst.verdict.charged, worst.verdict.confidence), (Ns::from_us(7_995), Confidence::Medium));
}

#[test]
fn after_a_fault_that_may_have_taken_long_own_work_is_not_sure() {
    let worst = |work: i64, faults: bool| {
        let start = 120 * MS + 100;
        let scene = sleeps(sys::UNTIL).at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM);
        let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(start + 10);
        let scene = if faults { scene.fault(0x1000) } else { scene };
        let scene = scene.at(start + 10 + work).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        scene.at(start + 12 + work).sleep(IDLE).explain("victim").worst().verdict.clone()
    };
    for (work, faults, confidence) in
        [(8_000, true, Confidence::Low), (8_000, false, Confidence::Medium), (800, true, Confidence::High)]
    {
        let verdict = worst(work, faults);
        assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, confidence), "{verdict:?}");
        let doubt =
            verdict.evidence.iter().any(|seen| seen.what.starts_with("a page fault began, and nothing"));
        assert_eq!(doubt, confidence == Confidence::Low, "{verdict:?}");
    }
}

/// The page of an instruction is there at once, and the thread computes: at its end an interrupt wakes a thread for softirqs.
#[test]
fn a_fault_for_an_instruction_takes_no_milliseconds() {
    let start = 120 * MS + 100;
    let (address, timers) = (0x40_1000, fair("ktimers/1", 17));
    let scene = sleeps(sys::UNTIL).at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(start + 10);
    let fault = PageFault { address, ip: address, user: true, error_code: 0x14 };
    let scene = scene.event(EventKind::PageFault(fault)).at(start + 4_000).vector("local_timer");
    let scene = scene.at(start + 4_005).vector_exit("local_timer").at(start + 4_006).wake(timers, 1);
    let scene = scene.at(start + 8_010).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let worst = scene.at(start + 8_012).sleep(IDLE).explain("victim").worst().clone();
    assert_blames(&worst, Cause::OwnWork, None);
    assert!(worst.verdict.charged > Ns::from_us(7_990), "{:?}", worst.verdict);
    assert!(worst.verdict.confidence > Confidence::Low, "{:?}", worst.verdict);
}

#[test]
fn a_fault_is_over_when_the_thread_calls_the_kernel() {
    let start = 120 * MS + 100;
    let scene = sleeps(sys::UNTIL).at(start).timer_wakes(VICTIM).at(start + 5).run(VICTIM);
    let scene = scene.ret(sys::CLOCK_NANOSLEEP).at(start + 10).fault(0x1000).at(start + 20);
    let scene = scene.call(sys::READ, [3, 0, 0]).at(start + 8_000).ret(sys::READ);
    let scene = scene.at(start + 8_010).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
    let verdict = scene.at(start + 8_012).sleep(IDLE).explain("victim").worst().verdict.clone();
    assert_eq!((verdict.cause, verdict.confidence), (Cause::OwnWork, Confidence::High), "{verdict:?}");
    assert!(!verdict.evidence.iter().any(|seen| seen.what.contains("a page fault began")), "{verdict:?}");
}

/// Pages of 4 KB up to the one at 2 MB, behind which the next one is `distance` further, 7 ms later.
#[test]
fn a_fault_that_maps_a_huge_page_ends_where_that_does() {
    let verdict = |distance: u64| {
        let mut scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let huge = 0x20_0000;
        for n in 0..10 {
            scene = scene.at(110 + 30 * n).fault(huge - 4096 * (10 - n as u64));
        }
        scene = scene.at(410).fault(huge);
        for n in 0..10 {
            scene = scene.at(7_410 + 30 * n).fault(huge + distance + 4096 * n as u64);
        }
        scene.at(7_800).sleep(IDLE).explain("victim").only().verdict.clone()
    };
    let huge = verdict(2 << 20);
    assert_eq!((huge.cause, huge.confidence), (Cause::PageFault, Confidence::Medium));
    let what = "21 page faults, one of them of 7.00 ms (a huge page: the next fault is where that ends)";
    assert!(huge.evidence.iter().any(|seen| seen.what == what), "{huge:?}");
    assert_eq!(verdict(4096).confidence, Confidence::Low, "the thread may have worked between them");
}

#[test]
fn a_fair_thread_without_a_policy_is_not_selected_by_default() {
    let explained = idle()
        .at(100)
        .timer_wakes(fair("app", 30))
        .at(105)
        .run(fair("app", 30))
        .at(300)
        .sleep(IDLE)
        .explain_with(&Options::default());
    assert!(explained.0.tasks.is_empty() && explained.0.activations.is_empty());
}

/// A driver's own timer ends what the victim waits for: null_blk completes its requests so.
fn completes_by_a_timer(scene: Scene) -> Scene {
    scene
        .at(3_150)
        .vector("local_timer")
        .fire_named(0x77, "null_cmd_timer_expired")
        .wake(VICTIM, 1)
        .fired(0x77)
        .vector_exit("local_timer")
        .at(3_155)
        .run(VICTIM)
        .at(3_200)
        .sleep(IDLE)
}

#[test]
fn a_device_that_completes_by_a_timer_is_a_device() {
    let scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
    let explained =
        completes_by_a_timer(scene.at(150).call(sys::READ, [3, 0, 4096]).block(IDLE)).explain("victim");
    assert_charges(
        explained.only(),
        &[(Cause::Dispatch, 5), (Cause::IdleExit, 5), (Cause::OwnWork, 45 + 45), (Cause::BlockIo, 3_000)],
    );
    assert_blames(explained.only(), Cause::BlockIo, None);
}

#[test]
fn a_page_that_is_there_before_its_reader_is_off_the_cpu_ends_nothing() {
    let explained = idle()
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .fault(0x7000_0000)
        .at(112)
        .vector("local_timer")
        .fire_named(0x77, "null_cmd_timer_expired")
        .wake(VICTIM, 1)
        .fired(0x77)
        .vector_exit("local_timer")
        .at(900)
        .sleep(IDLE)
        .explain("victim");
    assert_eq!(explained.only().response(), Ns::from_us(800));
}

#[test]
fn a_page_that_a_softirq_brings_is_a_page_fault() {
    let scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(110).fault(0x7000_0000);
    let explained = scene
        .at(111)
        .block(IDLE)
        .at(3_111)
        .softirq(4)
        .wake(VICTIM, 1)
        .softirq_exit(4)
        .at(3_115)
        .run(VICTIM)
        .at(3_200)
        .sleep(IDLE)
        .explain("victim");
    assert_blames(explained.only(), Cause::PageFault, None);
}

/// The victim calls a driver and sleeps in it from 150 on; what ends that at 8,150 is the answer.
fn asleep_in_a_driver(wake: impl FnOnce(Scene) -> Scene) -> Explained {
    let scene = idle().at(100).timer_wakes(VICTIM).at(105).run(VICTIM).at(150).block(IDLE).at(8_150);
    wake(scene).at(8_155).run(VICTIM).at(8_200).sleep(IDLE).explain("victim")
}

#[test]
fn what_ends_an_uninterruptible_sleep_is_what_it_waited_for() {
    let of = |explained: &Explained| {
        let verdict = &explained.only().verdict;
        (verdict.cause, verdict.confidence)
    };
    let by_softirq = |vec| asleep_in_a_driver(|scene| scene.softirq(vec).wake(VICTIM, 1).softirq_exit(vec));
    // msleep() of a driver, and BLOCK of a device.
    assert_eq!(of(&by_softirq(1)), (Cause::KernelSleep, Confidence::Medium));
    assert_eq!(of(&by_softirq(4)), (Cause::BlockIo, Confidence::Medium));
    // A callback of RCU, for which the call waited.
    assert_eq!(of(&by_softirq(9)), (Cause::OwnWait, Confidence::High));
    let by_timer = |function| {
        asleep_in_a_driver(|scene| {
            scene
                .vector("local_timer")
                .fire_named(0x78, function)
                .wake(VICTIM, 1)
                .fired(0x78)
                .vector_exit("local_timer")
        })
    };
    let explained = by_timer("hrtimer_wakeup");
    assert_eq!(of(&explained).0, Cause::KernelSleep);
    assert!(
        explained.only().verdict.why.contains("until a timer woke it"),
        "{}",
        explained.only().verdict.why
    );
    assert_eq!(of(&by_timer("null_cmd_timer_expired")).0, Cause::BlockIo);
    let by_irq = |irq, name| asleep_in_a_driver(|scene| scene.irq(irq, name).wake(VICTIM, 1).irq_exit(irq));
    assert_eq!(of(&by_irq(16, "gp_timer")).0, Cause::KernelSleep);
    assert_eq!(of(&by_irq(30, "nvme0q1")).0, Cause::BlockIo);
    // No event shows what ended it.
    assert_eq!(of(&asleep_in_a_driver(|scene| scene.wake(VICTIM, 1))), (Cause::BlockIo, Confidence::Low));
}
