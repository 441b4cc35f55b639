//! rtla's analysis: activations of the same ledger.

use super::{charged, check_tiling, told};
use crate::support::Told;
use proptest::prelude::*;
use whylate_base::{Confidence, Cpu, Ns, Tid};
use whylate_events::{Breakdown, BreakdownPart, PartKind, Tool, TraceInfo};
use whylate_ledger::{Cause, Culprit, is_stand_in};

fn part(kind: PartKind, name: &str, id: Option<u32>, ns: i64, is_sum: bool) -> BreakdownPart {
    BreakdownPart { kind, name: name.into(), id, time: Ns(ns), is_sum }
}

/// The example of rtla-timerlat-top(1).
fn objtool() -> Breakdown {
    Breakdown {
        tool: Tool::RtlaTimerlat,
        cpu: Cpu(23),
        total: Ns(41_960),
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

fn broken_down(breakdown: Breakdown) -> Told {
    told(TraceInfo { breakdowns: vec![breakdown], ..TraceInfo::default() }, Vec::new())
}

#[test]
fn rtlas_analysis_is_an_activation_of_the_same_ledger() {
    let told = broken_down(objtool());
    let activation = told.only();
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
    assert!(told.0.missing.is_empty());
}

#[test]
fn parts_that_exceed_their_total_are_cut_and_the_confidence_is_low() {
    let mut breakdown = objtool();
    breakdown.total = Ns(30_000);
    let told = broken_down(breakdown);
    let activation = told.only();
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
    let told = broken_down(breakdown);
    let activation = told.only();
    check_tiling(activation);
    assert_eq!(charged(activation)[..2], [(Cause::Irq, 7_490), (Cause::IrqsDisabled, 20_000)]);
    assert_eq!(activation.ledger[0].confidence, Confidence::Low);
}

#[test]
fn rtlas_table_of_noise_is_a_finding() {
    let told = broken_down(Breakdown {
        tool: Tool::RtlaOsnoise,
        total: Ns::from_us(710),
        parts: Vec::new(),
        stack: Vec::new(),
        ..objtool()
    });
    assert!(told.0.activations.is_empty() && told.0.concludes());
    let finding = told.finding("os-noise").expect("a finding");
    assert_eq!(finding.title, "CPU 23 lost up to 710.0 us at once to noise");
}

#[test]
fn an_analysis_of_an_interrupt_alone_ends_in_it() {
    let told = broken_down(Breakdown {
        total: Ns(80_000),
        parts: vec![
            part(PartKind::IrqDelay, "", None, 78_000, false),
            part(PartKind::IrqLatency, "", None, 80_000, false),
            part(PartKind::BlockingThread, "swapper/3", Some(0), 0, false),
        ],
        stack: Vec::new(),
        ..objtool()
    });
    let activation = told.only();
    check_tiling(activation);
    assert_eq!(charged(activation), [(Cause::IdleExit, 78_000), (Cause::Irq, 2_000)]);
    assert_eq!(activation.running, None);
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
        let told = broken_down(Breakdown { total: Ns(total), parts: parts.collect(), ..objtool() });
        let activation = told.only();
        check_tiling(activation);
        prop_assert_eq!(activation.response(), Ns(total.max(0)));
    }
}

#[test]
fn an_nmi_of_rtlas_analysis_is_charged() {
    let mut breakdown = objtool();
    breakdown.total = Ns(90_000);
    breakdown.parts.push(part(PartKind::Nmi, "", None, 48_000, true));
    let told = broken_down(breakdown);
    let activation = told.only();
    check_tiling(activation);
    assert!(charged(activation).contains(&(Cause::Nmi, 48_000)), "{activation:#?}");
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::Nmi, Confidence::High));
    assert!(verdict.why.starts_with("non-maskable interrupts took 48.00 us of CPU 23"), "{}", verdict.why);
}
