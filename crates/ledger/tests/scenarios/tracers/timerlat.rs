//! Samples of the timerlat tracer: activations of its thread.

use super::{CC1, CPU, TIMERLAT, charged, check_tiling, event, explained, frame, noise, sample};
use crate::support::assert_charges;
use proptest::prelude::*;
use whylate_base::{Comm, Confidence, Cpu, Ns, Priority, Tid};
use whylate_events::{Event, EventKind, NoiseSource, Switch, TaskState, TimerlatContext, TraceInfo, Wake};
use whylate_ledger::{Activation, Cause, Culprit};

/// The example of timerlat-tracer.rst: a late interrupt, two interrupts and cc1 in front of the thread.
fn of_the_documentation(stack: &[&str]) -> Vec<Event> {
    use TimerlatContext::{Irq, Thread};
    let mut events = vec![
        sample(548_771_078_000, CC1, 402_268, Irq, 13_585),
        noise(548_771_082_000, CC1, NoiseSource::Irq, "local_timer", 236, 548_771_077_442, 7_597),
        noise(548_771_099_000, CC1, NoiseSource::Irq, "qxl", 21, 548_771_085_439, 7_139),
        noise(548_771_102_000, CC1, NoiseSource::Thread, "cc1", CC1 as u32, 548_771_078_243, 9_909),
        sample(548_771_104_375, TIMERLAT, 402_268, Thread, 39_960),
    ];
    events.extend(stack.iter().map(|name| frame(548_771_105_000, TIMERLAT, name)));
    events
}

#[test]
fn a_timerlat_sample_is_an_activation_of_its_thread() {
    let explained = explained(TraceInfo::default(), of_the_documentation(&[]));
    let activation = explained.only();
    assert_eq!((activation.tid, activation.cpu), (Tid(TIMERLAT), CPU));
    assert_eq!(activation.comm, Comm::from("timerlat/5"));
    assert_eq!(activation.latency(), Some(Ns(39_960)));
    assert_eq!(activation.done, None);
    check_tiling(activation);
    // Due at .771064415: the interrupt began 13.027 us later. Interrupts are above the thread, whose time is net.
    assert_eq!(
        charged(activation),
        [
            (Cause::TimerLate, 13_027),
            (Cause::Irq, 7_597),
            (Cause::PreemptionDisabled, 400),
            (Cause::Irq, 7_139),
            (Cause::PreemptionDisabled, 9_509),
            (Cause::Dispatch, 2_288),
        ]
    );
    let by: Vec<_> = activation.ledger.iter().map(|segment| segment.by).collect();
    assert_eq!(by[0], None, "nothing shows who disabled interrupts");
    assert_eq!(by[1], Some(Culprit::Irq { irq: None, name: "local_timer".into() }));
    assert_eq!(by[3], Some(Culprit::Irq { irq: Some(21), name: "qxl".into() }));
    let cc1 = Culprit::Task { tid: Tid(CC1), comm: "cc1".into(), priority: Priority::UNKNOWN };
    assert_eq!(by[2], Some(cc1));
    // That cc1 has no higher priority is not recorded.
    assert_eq!(activation.ledger[2].confidence, Confidence::Medium);
}

/// `tail` on the trace leaves the interrupt's sample out.
#[test]
fn without_the_sample_of_its_interrupt_no_thread_has_priority_over_the_tracers() {
    let of = |start: i64, events: &[(&str, i32)]| {
        let mut at = 1_000_000 + start;
        let mut all = Vec::new();
        for &(name, tid) in events {
            all.push(noise(at + 10_000, tid, NoiseSource::Thread, name, tid as u32, at, 10_000));
            at += 10_000;
        }
        all.push(sample(at + 1_000, TIMERLAT, 7, TimerlatContext::Thread, at + 1_000 - 1_000_000));
        let explained = explained(TraceInfo::default(), all);
        let activation = explained.only();
        check_tiling(activation);
        assert!(explained.finding("higher-priority-task").is_none(), "{activation:#?}");
        charged(activation)
    };
    let was_hit =
        [(Cause::Unexplained, 1_500), (Cause::PreemptionDisabled, 10_000), (Cause::Unexplained, 1_000)];
    assert_eq!(of(1_500, &[("cc1", CC1)]), was_hit);
    // Of what ran behind it, and of what began long after the expiry, the text does not show why it went first.
    let behind = of(1_500, &[("cc1", CC1), ("sh", 77)]);
    assert_eq!(behind[1..], [(Cause::PreemptionDisabled, 10_000), (Cause::Unexplained, 11_000)]);
    assert_eq!(of(300_000, &[("cc1", CC1)]), [(Cause::Unexplained, 311_000)]);
    // The kernel's own thread that goes before all others is known by its name.
    let stopper = of(1_500, &[("migration/5", 44)]);
    assert_eq!(stopper[1], (Cause::StopTask, 10_000));
}

#[test]
fn a_return_before_the_thread_ran_leaves_the_rest_of_the_sample() {
    let of = |returned: i64| {
        use TimerlatContext::{Irq, Thread, UserReturn};
        let events = vec![
            sample(900_000, CC1, 7, Irq, 587),
            sample(904_000, TIMERLAT, 7, Thread, 8_712),
            sample(906_000, TIMERLAT, 7, UserReturn, returned),
        ];
        let explained = explained(TraceInfo::default(), events);
        let activation = explained.only();
        (activation.latency(), activation.done.is_some())
    };
    assert_eq!((of(9_900), of(462)), ((Some(Ns(8_712)), true), (Some(Ns(8_712)), false)));
}

#[test]
fn the_stack_shows_which_thread_disabled_interrupts() {
    let entry = ["timerlat_irq", "hrtimer_interrupt", "asm_sysvec_apic_timer_interrupt"];
    let with = |below: &[&'static str]| {
        let stack: Vec<&str> = entry.iter().chain(below).copied().collect();
        let explained = explained(TraceInfo::default(), of_the_documentation(&stack));
        let activation = explained.only().clone();
        check_tiling(&activation);
        activation
    };
    let enabling = with(&["_raw_spin_unlock_irqrestore", "cgroup_rstat_flush_locked"]);
    assert_eq!(enabling.ledger[0].cause, Cause::IrqsDisabled);
    assert!(matches!(enabling.ledger[0].by, Some(Culprit::Task { tid: Tid(CC1), .. })));
    assert_eq!(enabling.ledger[0].confidence, Confidence::Medium);
    let evidence = |activation: &Activation, word: &str| {
        activation.verdict.evidence.iter().any(|seen| seen.what.contains(word))
    };
    assert!(evidence(&enabling, "cgroup_rstat_flush_locked"), "{:#?}", enabling.verdict);
    // Interrupts may have been on there all the time: no thread is accused of the delay.
    let elsewhere = with(&["delay_tsc", "dummy_load"]);
    assert_eq!((elsewhere.ledger[0].cause, elsewhere.ledger[0].by), (Cause::TimerLate, None));
    assert!(evidence(&elsewhere, "delay_tsc"), "{:#?}", elsewhere.verdict);
    let user = with(&[]);
    assert_eq!((user.ledger[0].cause, user.ledger[0].by), (Cause::TimerLate, None));
    assert!(evidence(&user, "user code"), "{:#?}", user.verdict);
}

/// Architectures give their timers a line and a name of their own.
#[test]
fn the_interrupt_in_which_the_sample_was_taken_is_the_own_timer() {
    use TimerlatContext::{Irq, Thread};
    let events = |timer: &str, line| {
        vec![
            noise(900_000, CC1, NoiseSource::Irq, "eth0", 41, 890_000, 9_000),
            sample(1_045_000, CC1, 7, Irq, 45_000),
            noise(1_110_000, CC1, NoiseSource::Irq, timer, line, 1_010_000, 94_000),
            noise(1_150_000, CC1, NoiseSource::Irq, "eth0", 41, 1_120_000, 20_000),
            sample(1_230_000, TIMERLAT, 7, Thread, 230_000),
            // Of the next sample only the interrupt was recorded.
            noise(2_110_000, CC1, NoiseSource::Irq, timer, line, 2_000_000, 104_000),
        ]
    };
    for (timer, line, shown) in [
        ("timer", 206, Culprit::Irq { irq: None, name: "local_timer".into() }),
        ("gp_tick", 9, Culprit::Irq { irq: None, name: "local_timer".into() }),
        ("arch_timer", 11, Culprit::Irq { irq: Some(11), name: "arch_timer".into() }),
    ] {
        let explained = explained(TraceInfo::default(), events(timer, line));
        let activation = explained.only();
        check_tiling(activation);
        let by: Vec<_> =
            activation.ledger.iter().filter(|one| one.cause == Cause::Irq).map(|one| one.by).collect();
        assert_eq!(by, [Some(shown), Some(Culprit::Irq { irq: Some(41), name: "eth0".into() })], "{timer}");
        let noise = explained.finding("os-noise").expect("a finding");
        assert!(noise.fix[0].text.contains("cannot be moved"), "{:?}", noise.fix);
        assert!(explained.finding("irq").is_none(), "the interrupt that woke it delayed no thread");
    }
}

#[test]
fn a_sample_on_an_idle_cpu_came_out_of_idle() {
    use TimerlatContext::{Irq, Thread};
    let events = vec![
        noise(900_000, 0, NoiseSource::Irq, "local_timer", 236, 890_000, 2_000),
        sample(1_060_000, 0, 7, Irq, 60_000),
        noise(1_065_000, 0, NoiseSource::Irq, "local_timer", 236, 1_058_000, 6_000),
        sample(1_072_000, TIMERLAT, 7, Thread, 72_000),
    ];
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    check_tiling(activation);
    assert_charges(activation, &[(Cause::IdleExit, 58), (Cause::Irq, 6), (Cause::Dispatch, 8)]);
    assert_eq!(activation.verdict.cause, Cause::IdleExit);
}

#[test]
fn a_timerlat_thread_is_not_accused_of_delaying_itself() {
    use TimerlatContext::{Irq, Thread};
    let mut events = vec![
        sample(1_031_000, TIMERLAT, 7, Irq, 31_000),
        noise(1_050_000, TIMERLAT, NoiseSource::Irq, "local_timer", 236, 1_030_000, 18_000),
        sample(1_060_000, TIMERLAT, 7, Thread, 60_000),
    ];
    let stack = [
        "timerlat_irq",
        "asm_sysvec_apic_timer_interrupt",
        "_raw_spin_unlock_irqrestore",
        "wait_next_period",
    ];
    events.extend(stack.map(|name| frame(1_061_000, TIMERLAT, name)));
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!((activation.ledger[0].cause, activation.ledger[0].by), (Cause::TimerLate, None));
    assert!(explained.finding("irqs-disabled").is_none(), "{:?}", explained.codes());
}

/// As Linux 6.12 printed it: an interrupt came between the sample and its stack, and idle is a thread's noise.
#[test]
fn no_thread_kept_an_idle_cpu() {
    use TimerlatContext::{Irq, Thread};
    let mut events = vec![
        sample(15_958_782_000, 0, 3_120, Irq, 1_418),
        noise(15_958_802_000, 0, NoiseSource::Irq, "local_timer", 236, 15_958_780_090, 20_964),
        noise(15_958_805_000, 0, NoiseSource::Thread, "swapper/5", 0, 15_958_780_924, 3_608),
        sample(15_958_808_000, TIMERLAT, 3_120, Thread, 27_886),
        noise(15_958_813_000, TIMERLAT, NoiseSource::Irq, "irq_work", 246, 15_958_809_096, 2_712),
    ];
    let stack = ["timerlat_irq", "asm_sysvec_apic_timer_interrupt", "pv_native_safe_halt", "do_idle"];
    events.extend(stack.map(|name| frame(15_958_814_000, TIMERLAT, name)));
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    check_tiling(activation);
    assert!(
        activation.ledger.iter().all(|segment| segment.cause != Cause::PreemptionDisabled),
        "{activation:#?}"
    );
    let evidence = &activation.verdict.evidence;
    assert!(
        evidence.iter().any(|seen| seen.what.contains("the idle CPU in pv_native_safe_halt")),
        "{evidence:#?}"
    );
}

#[test]
fn without_osnoise_events_the_wait_is_not_explained() {
    use TimerlatContext::{Irq, Thread};
    let events = vec![sample(1_002_000, CC1, 7, Irq, 2_000), sample(1_500_000, TIMERLAT, 7, Thread, 500_000)];
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    check_tiling(activation);
    assert_charges(activation, &[(Cause::TimerLate, 2), (Cause::Unexplained, 498)]);
    assert_eq!((activation.verdict.cause, activation.verdict.by), (Cause::Unexplained, None));
    let missing: Vec<&str> =
        explained.0.missing.iter().map(|missing| missing.kind.tracepoints()[0]).collect();
    assert_eq!(missing, ["osnoise", "ftrace:kernel_stack"]);
}

#[test]
fn the_return_to_user_space_ends_a_timerlat_activation() {
    use TimerlatContext::{Irq, Thread, UserReturn};
    let events = vec![
        sample(1_002_000, CC1, 7, Irq, 2_000),
        sample(1_010_000, TIMERLAT, 7, Thread, 10_000),
        noise(1_015_000, TIMERLAT, NoiseSource::Irq, "eth0", 30, 1_011_000, 4_000),
        sample(1_020_000, TIMERLAT, 7, UserReturn, 20_000),
        sample(2_002_000, CC1, 8, Irq, 2_000),
    ];
    let explained = explained(TraceInfo::default(), events);
    let first = explained.in_order()[0];
    check_tiling(first);
    assert_eq!((first.latency(), first.response()), (Some(Ns(10_000)), Ns(20_000)));
    assert!(first.is_whole());
    let work: Vec<_> = charged(first).into_iter().filter(|(cause, _)| *cause != Cause::Unexplained).collect();
    assert_eq!(
        work[work.len() - 3..],
        [(Cause::OwnWork, 1_000), (Cause::Irq, 4_000), (Cause::OwnWork, 5_000)]
    );
    // The trace stopped in the next one's interrupt.
    let second = explained.in_order()[1];
    assert_eq!((second.running, second.response()), (None, Ns(2_000)));
}

#[test]
fn the_schedulers_own_events_go_before_samples() {
    use TimerlatContext::{Irq, Thread};
    let timerlat =
        Wake { comm: "timerlat/5".into(), tid: Tid(TIMERLAT), prio: Priority::realtime(95), target_cpu: CPU };
    let switch = |prev: (&str, i32, i32), state, next: (&str, i32, i32)| {
        EventKind::Switch(Switch {
            prev_comm: prev.0.into(),
            prev_tid: Tid(prev.1),
            prev_prio: Priority(prev.2),
            prev_state: state,
            next_comm: next.0.into(),
            next_tid: Tid(next.1),
            next_prio: Priority(next.2),
        })
    };
    let (idle, thread) = (("swapper/5", 0, 120), ("timerlat/5", TIMERLAT, 4));
    let events = vec![
        sample(1_002_000, 0, 7, Irq, 2_000),
        event(1_003_000, 0, "dh", EventKind::Waking(timerlat)),
        event(1_004_000, 0, "dh", EventKind::Wakeup { wake: timerlat, new: false }),
        event(1_010_000, 0, "d", switch(idle, TaskState::Runnable, thread)),
        sample(1_011_000, TIMERLAT, 7, Thread, 11_000),
        event(1_012_000, TIMERLAT, "d", switch(thread, TaskState::Interruptible, idle)),
    ];
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    assert_eq!(activation.done, Some(Ns(1_012_000)), "by the switches: {activation:#?}");
}

fn any_noise() -> impl Strategy<Value = (usize, i64, i64, u32, i64)> {
    (0..4_usize, 0..3_000_i64, 0..2_000_i64, 0..4_u32, 0..600_i64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_samples_and_noises_are_charged_to_the_nanosecond(
        samples in proptest::collection::vec((0..3_000_i64, 0..3_u32, 0..3_usize, -10..2_500_i64, 0..4_i32), 0..12),
        noises in proptest::collection::vec(any_noise(), 0..20),
        frames in proptest::collection::vec(0..3_000_i64, 0..4),
    ) {
        use TimerlatContext::{Irq, Thread, UserReturn};
        let mut events: Vec<Event> = samples
            .iter()
            .map(|&(ns, seq, context, latency, tid)| sample(ns, tid, seq, [Irq, Thread, UserReturn][context], latency))
            .collect();
        let sources = [NoiseSource::Nmi, NoiseSource::Irq, NoiseSource::Softirq, NoiseSource::Thread];
        events.extend(noises.iter().map(|&(source, ns, start, id, duration)| {
            noise(ns, 0, sources[source], "x", id, start, duration)
        }));
        events.extend(frames.iter().map(|&ns| frame(ns, 0, "asm_sysvec_apic_timer_interrupt")));
        events.sort_by_key(|event| event.ts);
        let explained = explained(TraceInfo::default(), events);
        explained.0.activations.iter().for_each(check_tiling);
    }
}

#[test]
fn an_nmi_is_charged_as_the_tracer_measured_it() {
    use TimerlatContext::{Irq, Thread};
    let explained = explained(
        TraceInfo::default(),
        vec![
            sample(1_003_000, 0, 7, Irq, 3_000),
            noise(1_004_000, 0, NoiseSource::Irq, "local_timer", 236, 1_001_000, 3_000),
            noise(1_095_000, 0, NoiseSource::Nmi, "nmi", 0, 1_005_000, 90_000),
            sample(1_097_000, TIMERLAT, 7, Thread, 97_000),
        ],
    );
    let activation = explained.only();
    check_tiling(activation);
    let nmi: i64 =
        charged(activation).iter().filter(|(cause, _)| *cause == Cause::Nmi).map(|part| part.1).sum();
    assert_eq!(nmi, 90_000, "{activation:#?}");
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.by, verdict.confidence), (Cause::Nmi, None, Confidence::High));
    assert_eq!(verdict.why, "non-maskable interrupts took 90.00 us of CPU 5 while timerlat/5 (rt 95) waited");
    assert!(verdict.fix[0].text.contains("nmi_watchdog"), "{:?}", verdict.fix);
    assert!(verdict.evidence.iter().any(|seen| seen.what == "nmi, 90.00 us"), "{:?}", verdict.evidence);
}

#[test]
fn interferences_by_a_coarse_clock_are_not_used() {
    use TimerlatContext::{Irq, Thread};
    let events = vec![
        sample(50_000_000, CC1, 7, Irq, 110_000),
        noise(50_000_000, CC1, NoiseSource::Irq, "timer", 206, 49_000_000, 1_000_000),
        noise(50_000_000, CC1, NoiseSource::Thread, "cc1", CC1 as u32, 50_000_000, 0),
        sample(50_000_000, TIMERLAT, 7, Thread, 407_000),
    ];
    let explained = explained(TraceInfo::default(), events);
    let activation = explained.only();
    check_tiling(activation);
    assert!(activation.ledger.iter().all(|segment| segment.cause != Cause::Irq), "{activation:#?}");
    assert_eq!(activation.verdict.confidence, Confidence::Low);
    let seen = |word: &str| activation.verdict.evidence.iter().any(|seen| seen.what.contains(word));
    assert!(seen("whole milliseconds"), "{:#?}", activation.verdict.evidence);
    assert!(explained.finding("os-noise").is_none() && explained.finding("irq").is_none());
}

#[test]
fn noise_that_delayed_a_timerlat_thread_is_reported_as_that() {
    use TimerlatContext::{Irq, Thread};
    let why = |cpu: u32| {
        let kind = noise(850_900, TIMERLAT, NoiseSource::Thread, "cc1", CC1 as u32, 20_000, 820_000).kind;
        let events = vec![
            sample(15_000, CC1, 7, Irq, 10_000),
            super::on(Cpu(cpu), 850_900, TIMERLAT, "", kind),
            sample(851_000, TIMERLAT, 7, Thread, 846_000),
        ];
        explained(TraceInfo::default(), events).finding("os-noise").expect("a finding").why.clone()
    };
    let delayed = why(5);
    assert!(delayed.ends_with("part of it delayed timerlat/5:1035 (rt 95), as explained there"), "{delayed}");
    assert!(why(6).contains("it made no thread late"), "{}", why(6));
}
