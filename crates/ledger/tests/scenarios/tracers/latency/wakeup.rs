//! Wake-ups: one activation, as long as the tracer measured.

use super::latency_trace;
use crate::tracers::{CPU, check_tiling, event, explained, frame, function};
use proptest::prelude::*;
use whylate_base::{Confidence, Ns, Priority, Tid};
use whylate_events::{Event, EventKind, LatencyTracer, Switch, TaskState, TraceInfo, Wake};
use whylate_ledger::{Cause, Culprit};

/// The trace of a Raspberry Pi: multipathd in front of cyclictest.
pub(super) fn multipathd() -> (TraceInfo, Vec<Event>) {
    let info = latency_trace(LatencyTracer::WakeupRt, 390_000, "cyclictest", 12_905, 80);
    let wake = Wake { comm: "cyclictest".into(), tid: Tid(12_905), prio: Priority(19), target_cpu: CPU };
    let switch = EventKind::Switch(Switch {
        prev_comm: "multipathd".into(),
        prev_tid: Tid(1456),
        prev_prio: Priority(0),
        prev_state: TaskState::Interruptible,
        next_comm: "cyclictest".into(),
        next_tid: Tid(12_905),
        next_prio: Priority(19),
    });
    let mut events = vec![event(0, 12_898, "dNh", EventKind::Wakeup { wake, new: false })];
    events.extend((1..=4).map(|i| event(i * 12_000, 12_898, "dN", function("update_curr"))));
    events.push(event(55_000, 12_898, "dN", function("__switch_to")));
    events.extend((58..382).map(|us| event(us * 1_000, 1456, "", function("uevent_listen"))));
    events.push(event(389_000, 1456, "d", function("__schedule")));
    events.push(event(389_000, 1456, "d", switch));
    // The tracer saves its stack before it stops.
    events.push(frame(402_000, 1456, "probe_wakeup_sched_switch"));
    (info, events)
}

#[test]
fn a_wakeup_trace_is_one_activation() {
    let (info, events) = multipathd();
    let explained = explained(info, events);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!((activation.tid, activation.latency()), (Tid(12_905), Some(Ns(389_000))));
    assert_eq!((activation.done, activation.end), (None, Ns(389_000)));
    assert_eq!(activation.verdict.cause, Cause::HigherPriorityTask);
    assert!(matches!(activation.verdict.by, Some(Culprit::Task { tid: Tid(1456), .. })));
    assert!(!activation.verdict.why.contains("end of the trace"), "{}", activation.verdict.why);
    let seen = |word: &str| activation.verdict.evidence.iter().any(|seen| seen.what.contains(word));
    assert!(seen("need-resched was set"), "{:#?}", activation.verdict.evidence);
    assert!(seen("still ran for 43.00 us, between update_curr and __switch_to"), "{activation:#?}");
    assert!(!explained.codes().contains(&"unseen-switches"), "{:?}", explained.codes());
}

#[test]
fn a_wakeup_trace_without_its_first_lines_keeps_its_length() {
    let (info, events) = multipathd();
    let explained = explained(info, events[100..].to_vec());
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(activation.latency(), Some(Ns(390_000)));
    let unexplained: Ns =
        activation.ledger.iter().filter(|s| s.cause == Cause::Unexplained).map(|s| s.length()).sum();
    let first = events[100].ts;
    assert_eq!(unexplained, first + Ns(1_000), "the header's 390 us end at 389 us");
}

#[test]
fn lines_that_show_far_less_than_the_tracer_measured_accuse_no_thread() {
    let (mut info, events) = multipathd();
    info.latency.as_mut().expect("of a tracer").latency = Ns(16_023_000);
    let explained = explained(info, events);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(activation.latency(), Some(Ns(16_023_000)));
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::Unexplained, Confidence::Low));
    let seen = |word: &str| verdict.evidence.iter().any(|seen| seen.what.contains(word));
    assert!(seen("the wake-up and the switch 389.0 us apart"), "{:#?}", verdict.evidence);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_wakeup_trace_keeps_its_length(from in 0..330_usize, latency in 1_000..900_000_i64) {
        let (mut info, events) = multipathd();
        info.latency.as_mut().expect("of a tracer").latency = Ns(latency);
        let explained = explained(info, events[from.min(events.len())..].to_vec());
        explained.0.activations.iter().for_each(check_tiling);
    }
}

/// A thread is asked to give way again and again, in rows that show preemption enabled: this kernel does not preempt there.
#[test]
fn rows_with_preemption_enabled_are_no_section_with_preemption_disabled() {
    let explain = |depth: Option<u8>| {
        let info = latency_trace(LatencyTracer::WakeupRt, 390_000, "cyclictest", 12_905, 80);
        let called = || EventKind::Function { name: "delay_tsc".into(), caller: "send_bit".into() };
        let rows = (1..30).map(|i| {
            let mut row = event(i * 13_000, 1456, "N", called());
            row.context.preempt_depth = depth;
            row
        });
        explained(info, rows.collect())
    };
    let open = explain(Some(0));
    let verdict = &open.only().verdict;
    assert_eq!(verdict.cause, Cause::PreemptionDisabled);
    assert!(verdict.why.contains("29 of its rows have preemption enabled; this kernel"), "{}", verdict.why);
    assert!(verdict.fix.iter().all(|fix| !fix.text.contains("preemptoff")), "{:?}", verdict.fix);
    assert!(verdict.evidence.iter().any(|seen| seen.what.ends_with("called from send_bit")), "{verdict:#?}");
    let finding = open.finding("preemption-disabled").expect("a finding");
    assert!(finding.title.ends_with(": no preemption within the kernel"), "{}", finding.title);
    for depth in [Some(1), None] {
        let disabled = explain(depth);
        let verdict = &disabled.only().verdict;
        assert!(!verdict.why.contains("this kernel"), "{}", verdict.why);
        assert!(verdict.fix.iter().any(|fix| fix.text.contains("preemptoff")), "{:?}", verdict.fix);
    }
}
