//! rtla's analysis: activations of the same ledger.

use super::{charged, check_tiling, explained};
use crate::support::Explained;
use proptest::prelude::*;
use whylate_base::{Confidence, Cpu, Ns, Tid};
use whylate_events::{Breakdown, BreakdownPart, PartKind, Tool, TraceInfo, VecSource};
use whylate_ledger::{Cause, Culprit, Options, OutsideTrace, Scope, explain, is_stand_in};

fn part(kind: PartKind, name: &str, id: Option<u32>, ns: i64, is_sum: bool) -> BreakdownPart {
    BreakdownPart { kind, name: name.into(), id, time: Ns(ns), is_sum }
}

/// The example of rtla-timerlat-top(1).
fn objtool() -> Breakdown {
    Breakdown {
        tool: Tool::RtlaTimerlat,
        cpu: Cpu(23),
        total: Ns(41_960),
        is_cut: false,
        parts: vec![
            part(PartKind::IrqDelay, "", None, 27_490, false),
            part(PartKind::IrqLatency, "", None, 28_130, false),
            part(PartKind::TimerIrq, "", None, 9_590, false),
            part(PartKind::BlockingThread, "", None, 3_790, true),
            part(PartKind::BlockingThread, "objtool", Some(49_256), 3_790, false),
        ],
        stack: [
            "timerlat_irq",
            "asm_sysvec_apic_timer_interrupt",
            "_raw_spin_unlock_irqrestore",
            "cgroup_rstat_flush_locked",
        ]
        .map(String::from)
        .to_vec(),
        line: 33,
    }
}

/// Lengths alone have no instants, but a CPU.
#[test]
fn an_analysis_is_selected_by_its_cpu_and_not_by_a_time() {
    let of = |scope: Scope| {
        let info = TraceInfo { breakdowns: vec![objtool()], ..TraceInfo::default() };
        let options = Options { scope, ..Options::default() };
        explain(VecSource::new(Vec::new(), info, false), &options)
    };
    let cpus = |list: &str| Scope { cpus: Some(list.parse().expect("a list")), ..Scope::default() };
    let there = of(cpus("20-23"));
    assert_eq!((there.activations.len(), there.scope.and_then(|scope| scope.outside)), (1, None));
    let elsewhere = of(cpus("3"));
    assert!(elsewhere.activations.is_empty());
    let seen = "23".parse().expect("a list");
    let outside = Some(OutsideTrace::Cpus { asked: "3".parse().expect("a list"), seen });
    assert_eq!(elsewhere.scope.and_then(|scope| scope.outside), outside);
    let timed = of(Scope { from: Some("1".parse().expect("an instant")), ..Scope::default() });
    assert_eq!(timed.scope.and_then(|scope| scope.outside), Some(OutsideTrace::NoTimes));
}

fn broken_down(breakdown: Breakdown) -> Explained {
    explained(TraceInfo { breakdowns: vec![breakdown], ..TraceInfo::default() }, Vec::new())
}

#[test]
fn rtlas_analysis_is_an_activation_of_the_same_ledger() {
    let explained = broken_down(objtool());
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(activation.latency(), Some(Ns(41_960)));
    assert_eq!((activation.comm, activation.cpu), ("timerlat/23".into(), Cpu(23)));
    assert!(is_stand_in(activation.tid), "rtla does not give the thread's id");
    assert_eq!(
        charged(activation),
        [
            (Cause::IrqsDisabled, 27_490),
            (Cause::Irq, 9_590),
            (Cause::PreemptionDisabled, 3_790),
            (Cause::Unexplained, 1_090),
        ]
    );
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::IrqsDisabled, Confidence::Medium));
    assert!(matches!(verdict.by, Some(Culprit::Task { tid: Tid(49_256), .. })));
    assert!(
        verdict.evidence.iter().any(|seen| seen.what.contains("cgroup_rstat_flush_locked")),
        "{verdict:#?}"
    );
    assert!(explained.0.missing.is_empty());
}

#[test]
fn parts_that_exceed_their_total_are_cut_and_the_confidence_is_low() {
    let mut breakdown = objtool();
    breakdown.total = Ns(30_000);
    let explained = broken_down(breakdown);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(charged(activation), [(Cause::IrqsDisabled, 27_490), (Cause::Irq, 2_510)]);
    assert_eq!(activation.verdict.confidence, Confidence::Low);
    assert!(activation.verdict.evidence.iter().any(|seen| seen.what.contains("more than")));
}

#[test]
fn an_interrupt_before_the_timers_own_explains_some_of_its_delay() {
    let mut breakdown = objtool();
    breakdown.parts[0].is_sum = true;
    breakdown.parts.insert(1, part(PartKind::IrqDelay, "up to, by an interrupt before", None, 7_490, false));
    let explained = broken_down(breakdown);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(charged(activation)[..2], [(Cause::Irq, 7_490), (Cause::IrqsDisabled, 20_000)]);
    assert_eq!(activation.ledger[0].confidence, Confidence::Low);
}

#[test]
fn an_analysis_that_is_cut_has_no_latency_and_is_not_sure() {
    let explained = broken_down(Breakdown { total: Ns(40_870), is_cut: true, ..objtool() });
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!((activation.latency(), activation.response()), (None, Ns(40_870)));
    assert_eq!(activation.woken, Some(Ns(27_490)), "the handler is among the parts");
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::IrqsDisabled, Confidence::Low));
    assert!(verdict.evidence.iter().any(|seen| seen.what.contains("at least 40.87 us")), "{verdict:#?}");
}

#[test]
fn rtlas_table_of_noise_is_a_finding() {
    let explained = broken_down(Breakdown {
        tool: Tool::RtlaOsnoise,
        total: Ns::from_us(710),
        is_cut: false,
        parts: Vec::new(),
        stack: Vec::new(),
        ..objtool()
    });
    assert!(explained.0.activations.is_empty() && explained.0.concludes());
    let finding = explained.finding("os-noise").expect("a finding");
    assert_eq!(finding.title, "CPU 23 lost up to 710.0 us at once to noise");
}

#[test]
fn the_sums_and_counts_of_rtlas_table_of_noise_are_shown() {
    let row = |cpu: u32, single: i64, most: i64, noise: i64, counts: [u32; 3]| Breakdown {
        parts: vec![
            part(PartKind::Measured, "", None, 50_000_000_000, false),
            part(PartKind::Noise, "", Some(50), noise * 1_000, false),
            part(PartKind::LargestNoise, "", None, most * 1_000, false),
            part(PartKind::Hardware, "", Some(counts[0]), 0, false),
            part(PartKind::Irq, "", Some(counts[1]), 0, false),
            part(PartKind::Thread, "", Some(counts[2]), 0, false),
        ],
        ..Breakdown::new(Tool::RtlaOsnoise, Cpu(cpu), Ns::from_us(single), 4)
    };
    let info = TraceInfo {
        breakdowns: vec![row(0, 60, 91, 1_031, [0, 52_285, 101]), row(3, 23, 277, 8_274, [7, 53_778, 660])],
        ..TraceInfo::default()
    };
    let explained = explained(info, Vec::new());
    let finding = explained.finding("os-noise").expect("a finding");
    assert_eq!(
        finding.title,
        "CPU 3 lost 0.02 % of 50.000 s to noise, up to 277.0 us in one period, 23.00 us at once"
    );
    let seen: Vec<&str> = finding.evidence.iter().map(|seen| seen.what.as_str()).collect();
    let expected = [
        "lost 0.02 % of 50.000 s to noise, up to 277.0 us in one period, 23.00 us at once: 8.27 ms in all, by 53778 interrupts and 660 threads",
        "lost <0.01 % of 50.000 s to noise, up to 91.00 us in one period, 60.00 us at once: 1.03 ms in all, by 52285 interrupts and 101 threads",
    ];
    assert_eq!(seen, expected);
    let hardware = explained.finding("hardware-noise").expect("a finding");
    assert!(hardware.title.starts_with("7 noises without any interference"), "{}", hardware.title);
}

#[test]
fn a_cpu_that_lost_no_time_to_noise_is_no_finding() {
    let row = |cpu: u32, single: i64| Breakdown {
        parts: vec![
            part(PartKind::Measured, "", None, 40_000_000, false),
            part(PartKind::Noise, "", Some(0), single * 1_000, false),
            part(PartKind::LargestNoise, "", None, single * 1_000, false),
        ],
        ..Breakdown::new(Tool::RtlaOsnoise, Cpu(cpu), Ns::from_us(single), 4)
    };
    let of =
        |breakdowns: Vec<Breakdown>| explained(TraceInfo { breakdowns, ..TraceInfo::default() }, Vec::new());
    let quiet = of(vec![row(2, 0), row(3, 0)]);
    assert!(quiet.finding("os-noise").is_none() && quiet.0.trace.is_without_noise());
    let one = of(vec![row(2, 0), row(3, 7)]);
    let finding = one.finding("os-noise").expect("a finding");
    assert!(finding.title.starts_with("CPU 3 lost") && finding.evidence.len() == 1, "{finding:#?}");
    assert!(!one.0.trace.is_without_noise());
}

#[test]
fn an_analysis_of_an_interrupt_alone_ends_in_it() {
    let explained = broken_down(Breakdown {
        total: Ns(80_000),
        is_cut: false,
        parts: vec![
            part(PartKind::IrqDelay, "", None, 78_000, false),
            part(PartKind::IrqLatency, "", None, 80_000, false),
            part(PartKind::BlockingThread, "swapper/3", Some(0), 0, false),
        ],
        stack: Vec::new(),
        ..objtool()
    });
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(charged(activation), [(Cause::IdleExit, 78_000), (Cause::Irq, 2_000)]);
    assert_eq!(activation.running, None);
}

/// rtla that stopped upon the interrupt's latency, and saw no delay before its handler.
fn unseen_delay(stack: &[&str], thread: (&str, u32)) -> Breakdown {
    Breakdown {
        total: Ns(640_000),
        is_cut: false,
        parts: vec![
            part(PartKind::IrqDelay, "", None, 0, false),
            part(PartKind::IrqLatency, "", None, 640_000, false),
            part(PartKind::BlockingThread, "", None, 0, true),
            part(PartKind::BlockingThread, thread.0, Some(thread.1), 0, false),
        ],
        stack: stack.iter().map(|&frame| frame.to_owned()).collect(),
        ..objtool()
    }
}

#[test]
fn what_a_late_timer_interrupt_hit_is_the_answer_and_not_its_handler() {
    let entry = ["timerlat_irq", "hrtimer_interrupt", "asm_sysvec_apic_timer_interrupt"];
    let of = |below: &[&'static str]| [&entry, below].concat();
    let ethtool = ("ethtool", 411);
    let idle = ("swapper/23", 0);
    for (stack, thread, cause, by, confidence) in [
        (
            of(&["nic_flush_registers", "nic_set_mode"]),
            ethtool,
            Cause::TimerLate,
            Some(411),
            Confidence::Medium,
        ),
        (
            of(&["finish_task_switch", "__schedule"]),
            ethtool,
            Cause::IrqsDisabled,
            Some(411),
            Confidence::Medium,
        ),
        (of(&[]), ethtool, Cause::TimerLate, None, Confidence::Low),
        (vec![], ethtool, Cause::TimerLate, Some(411), Confidence::Low),
        (of(&["pv_native_safe_halt", "do_idle"]), idle, Cause::IdleExit, None, Confidence::Medium),
        (vec![], idle, Cause::IdleExit, None, Confidence::Medium),
    ] {
        let explained = broken_down(unseen_delay(&stack, thread));
        let activation = explained.only();
        check_tiling(activation);
        assert_eq!(charged(activation), [(cause, 640_000)], "{stack:?}");
        let verdict = &activation.verdict;
        let tid = match verdict.by {
            Some(Culprit::Task { tid, .. }) => Some(tid.0),
            _ => None,
        };
        assert_eq!((verdict.cause, tid, verdict.confidence), (cause, by, confidence), "{stack:?}");
    }
    let explained = broken_down(unseen_delay(&of(&["nic_flush_registers", "nic_set_mode"]), ethtool));
    let verdict = &explained.only().verdict;
    assert!(verdict.why.contains("ethtool:411") && !verdict.why.contains("local_timer"), "{}", verdict.why);
    assert!(
        verdict
            .evidence
            .iter()
            .any(|seen| seen.what.contains("in nic_flush_registers, called by nic_set_mode"))
    );
    // An idle CPU does not take this long to wake up.
    let mut breakdown = unseen_delay(&[], idle);
    breakdown.total = Ns(5_000_000);
    breakdown.parts[1].time = Ns(5_000_000);
    assert_eq!(charged(broken_down(breakdown).only()), [(Cause::TimerLate, 5_000_000)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_analysis_of_rtla_adds_up(
        total in -5..100_000_i64,
        parts in proptest::collection::vec((0..9_usize, 0..3_usize, proptest::option::of(0..9_u32), -9..60_000_i64, any::<bool>()), 0..12),
    ) {
        use PartKind::*;
        let kinds = [IrqDelay, IrqLatency, TimerIrq, BlockingThread, Nmi, Irq, Softirq, Thread, Hardware];
        let names = ["", "swapper/1", "migration/1"];
        let parts = parts.iter().map(|&(kind, name, id, ns, is_sum)| part(kinds[kind], names[name], id, ns, is_sum));
        let explained = broken_down(Breakdown { total: Ns(total), parts: parts.collect(), ..objtool() });
        let activation = explained.only();
        check_tiling(activation);
        prop_assert_eq!(activation.response(), Ns(total.max(0)));
    }
}

#[test]
fn an_nmi_of_rtlas_analysis_is_charged() {
    let mut breakdown = objtool();
    breakdown.total = Ns(90_000);
    breakdown.parts.push(part(PartKind::Nmi, "", None, 48_000, true));
    let explained = broken_down(breakdown);
    let activation = explained.only();
    check_tiling(activation);
    assert!(charged(activation).contains(&(Cause::Nmi, 48_000)), "{activation:#?}");
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::Nmi, Confidence::High));
    assert!(verdict.why.starts_with("non-maskable interrupts took 48.00 us of CPU 23"), "{}", verdict.why);
}
