//! Reports and events without what usually frames them: tables, fragments, noise without a summary, sections by events.

use super::{CPU, event, explained, named};
use crate::support::Explained;
use whylate_base::{Cpu, Ns, Priority, Severity, Tid};
use whylate_events::{
    Breakdown, BreakdownPart, Event, EventKind, KindSet, NoiseSource, PartKind, Preemptirq, Switch,
    TaskState, Tool, TraceInfo, VecSource,
};
use whylate_ledger::{Options, explain};

fn breakdown(tool: Tool, cpu: Cpu, total: i64) -> Breakdown {
    Breakdown::new(tool, cpu, Ns(total), 4)
}

fn of_breakdowns(breakdowns: Vec<Breakdown>) -> Explained {
    explained(TraceInfo { breakdowns, ..TraceInfo::default() }, Vec::new())
}

fn toggle(ns: i64, tid: i32, disables: bool, caller: &str) -> Event {
    let what = Preemptirq::Interrupts;
    event(ns, tid, "d", EventKind::Preemptirq { what, disables, caller: caller.into() })
}

#[test]
fn events_of_disabled_interrupts_are_a_critical_section() {
    let explained = explained(
        TraceInfo::default(),
        vec![
            toggle(1_000, 77, true, "first"),
            toggle(2_000, 77, false, "first"),
            toggle(10_000, 77, true, "flush_console"),
            toggle(9_010_000, 77, false, "flush_console"),
            // Its end is not in the trace.
            toggle(9_020_000, 77, true, "irq_entry"),
        ],
    );
    let [section] = explained.0.sections.as_slice() else { panic!("{:#?}", explained.0.sections) };
    assert_eq!((section.latency, section.cpu, section.start), (Ns(9_000_000), CPU, Ns(10_000)));
    assert!(section.why.contains("interrupts were off on CPU 5 for 9.00 ms, in flush_console, by tid 77"));
    let finding = explained.finding("irqs-disabled").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(explained.0.concludes() && explained.0.missing.is_empty());
}

#[test]
fn a_section_that_was_open_when_events_were_lost_is_not_measured() {
    let lost = EventKind::Lost { count: None, since: None, kinds: KindSet::NONE };
    let of = |between: Vec<Event>| {
        let mut events = vec![toggle(1_000, 77, true, "a")];
        events.extend(between);
        events.push(toggle(900_000, 77, false, "b"));
        explained(TraceInfo::default(), events)
            .0
            .sections
            .iter()
            .map(|section| section.latency.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(vec![]), [899_000]);
    assert_eq!(of(vec![event(500_000, 77, "d", lost)]), []);
    // A second entry means that the end of the first was not traced.
    assert_eq!(of(vec![toggle(800_000, 77, true, "c")]), [100_000]);
    // So does a switch: the thread slept meanwhile.
    let switch = Switch {
        prev_comm: "a".into(),
        prev_tid: Tid(77),
        prev_prio: Priority(120),
        prev_state: TaskState::Interruptible,
        next_comm: "b".into(),
        next_tid: Tid(78),
        next_prio: Priority(120),
    };
    assert_eq!(of(vec![event(500_000, 77, "d", EventKind::Switch(switch))]), []);
}

#[test]
fn the_scheduler_is_off_from_one_thread_to_the_next_and_nothing_is_off_for_no_time() {
    let switch = Switch {
        prev_comm: "a".into(),
        prev_tid: Tid(77),
        prev_prio: Priority(120),
        prev_state: TaskState::Interruptible,
        next_comm: "b".into(),
        next_tid: Tid(78),
        next_prio: Priority(120),
    };
    let lengths = |events: Vec<Event>| {
        let explained = explained(TraceInfo::default(), events);
        explained.0.sections.iter().map(|section| section.latency.0).collect::<Vec<_>>()
    };
    let events = vec![
        toggle(1_000, 77, true, "schedule"),
        event(5_000, 77, "d", EventKind::Switch(switch)),
        toggle(91_000, 78, false, "finish_task_switch"),
    ];
    assert_eq!(lengths(events), [90_000]);
    assert_eq!(lengths(vec![toggle(1_000, 77, true, "a"), toggle(1_000, 77, false, "a")]), []);
}

#[test]
fn an_idle_cpu_by_events_is_no_delay() {
    let events = vec![toggle(1_000, 0, true, "do_idle"), toggle(5_001_000, 0, false, "do_idle")];
    let explained = explained(TraceInfo::default(), events);
    assert!(!explained.0.sections[0].delays);
    assert_eq!(explained.finding("irqs-disabled").map(|finding| finding.severity), Some(Severity::Info));
}

#[test]
fn noise_without_a_summary_is_noise() {
    let noise =
        |ns, source, name, id, start, duration| super::noise(ns, 7, source, name, id, start, duration);
    let threshold = EventKind::OsnoiseThreshold { start: Ns(10_000), duration: Ns(41_500), interferences: 3 };
    let mut events = vec![
        noise(12_000, NoiseSource::Irq, "eth0", 44, 11_000, 900),
        noise(20_000, NoiseSource::Thread, "irq/44-eth0", 320, 14_000, 5_200),
        noise(50_000, NoiseSource::Thread, "kworker/5:1", 90, 22_000, 27_300),
        event(51_500, 7, "", threshold),
    ];
    let title = |events: &[Event]| {
        let explained = explained(TraceInfo::default(), events.to_vec());
        assert!(explained.0.concludes());
        explained.finding("os-noise").expect("a finding").title.clone()
    };
    assert_eq!(
        title(&events),
        "CPU 5 lost up to 41.50 us at once to noise; the largest recorded interference took 27.30 us: kworker/5:1:90"
    );
    // Without it, the longest interference is the least that was lost.
    events.pop();
    events.splice(..0, named("osnoise/5"));
    assert!(title(&events).starts_with("CPU 5 lost at least 27.30 us at once to noise"));
}

/// A row is a summary of many samples, and no activation.
#[test]
fn a_row_of_a_table_has_a_length_and_no_cause() {
    let part = |kind, us| BreakdownPart {
        kind,
        name: String::new(),
        id: None,
        time: Ns::from_us(us),
        is_sum: false,
    };
    let row = |cpu, us: i64| Breakdown {
        parts: vec![part(PartKind::IrqLatency, 12), part(PartKind::Thread, us)],
        ..breakdown(Tool::RtlaTimerlatTop, Cpu(cpu), us * 1_000)
    };
    let explained = of_breakdowns(vec![row(1, 31), row(3, 480)]);
    assert!(explained.0.activations.is_empty() && explained.0.tasks.is_empty() && explained.0.concludes());
    let finding = explained.finding("measured-latency").expect("a finding");
    assert_eq!(finding.title, "rtla timerlat measured latencies of up to 480.0 us on CPU 3");
    assert_eq!(finding.severity, Severity::Warning);
    let seen: Vec<_> = finding.evidence.iter().map(|seen| (seen.cpu, seen.what.as_str())).collect();
    let begins = |at: usize, cpu, text: &str| seen[at].0 == Some(Cpu(cpu)) && seen[at].1.starts_with(text);
    assert!(
        begins(0, 3, "the largest latency of the interrupt was 12.00 us, that of the thread 480.0 us"),
        "{seen:?}"
    );
    assert!(
        begins(1, 1, "the largest latency of the interrupt was 12.00 us, that of the thread 31.00 us"),
        "{seen:?}"
    );
    assert!(finding.fix[0].text.contains("--auto") && finding.fix[1].text.contains("whylate compare"));
    // No bound is exceeded, or a deadline.
    let severity = |deadline| {
        let info = TraceInfo { breakdowns: vec![row(1, 31)], ..TraceInfo::default() };
        let options = Options { deadline, ..Options::default() };
        let explained = explain(VecSource::new(Vec::new(), info, false), &options);
        explained.findings.first().map(|finding| finding.severity)
    };
    assert_eq!(severity(None), Some(Severity::Info));
    assert_eq!(severity(Some(Ns::from_us(20))), Some(Severity::Error));
    for (irq, thread, words) in [
        (3_339, 3_366, Some("on average 3.34 ms of 3.37 ms passed before the timer's interrupt")),
        (20, 400, Some("on average the interrupt came after 20.00 us of 400.0 us")),
        (300, 600, None),
        (20, 25, None),
    ] {
        let means = [part(PartKind::MeanIrqLatency, irq), part(PartKind::MeanThreadLatency, thread)];
        let parts = row(3, 480).parts.into_iter().chain(means).collect();
        let explained = of_breakdowns(vec![Breakdown { parts, ..row(3, 480) }]);
        let finding = explained.finding("measured-latency").expect("a finding");
        let of_means = finding.evidence.iter().find(|seen| seen.what.starts_with("on average"));
        assert_eq!(of_means.is_some(), words.is_some());
        assert!(words.is_none_or(|words| of_means.is_some_and(|seen| seen.what.starts_with(words))));
    }
    // An analysis of one of its samples is the answer.
    let explained = of_breakdowns(vec![row(3, 480), breakdown(Tool::RtlaTimerlat, Cpu(1), 600_000)]);
    assert_eq!(explained.only().comm.as_str(), "timerlat/1");
    assert!(explained.finding("measured-latency").is_none());
}

#[test]
fn an_analysis_of_an_unknown_cpu_names_none() {
    let explained = of_breakdowns(vec![breakdown(Tool::RtlaTimerlat, Cpu::UNKNOWN, 600_000)]);
    let activation = explained.only();
    assert_eq!((activation.comm.as_str(), activation.cpu), ("timerlat", Cpu::UNKNOWN));
    assert!(
        activation.verdict.evidence.iter().any(|seen| seen.what.contains("which CPU it was is not known"))
    );
    assert!(activation.tid < Tid(0));
}

#[test]
fn hardware_that_took_no_time_is_good_news() {
    let of_tracer =
        |events| explained(TraceInfo { tracer: Some("hwlat".into()), ..TraceInfo::default() }, events);
    for explained in [of_tracer(vec![]), of_breakdowns(vec![breakdown(Tool::Hwlatdetect, Cpu::UNKNOWN, 0)])] {
        let finding = explained.finding("hardware-noise").expect("a finding");
        assert!(finding.severity == Severity::Info && finding.title.contains("no gap above the threshold"));
        assert!(explained.0.concludes() && explained.0.missing.is_empty(), "{:?}", explained.0.missing);
    }
    let gap = event(1_000, 7, "", EventKind::Hwlat { inner: Ns(84_000), outer: Ns(0) });
    assert!(of_tracer(vec![gap]).finding("hardware-noise").is_none());
    // Of lines in no known form nothing is known.
    let info = TraceInfo { tracer: Some("hwlat".into()), events: 3, ..TraceInfo::default() };
    let unread = event(1_000, 7, "d", EventKind::Other);
    assert!(explained(info, vec![unread]).finding("hardware-noise").is_none());
    let gap = || breakdown(Tool::Hwlatdetect, Cpu::UNKNOWN, 84_000);
    let part = |kind, id, time| BreakdownPart { kind, name: String::new(), id, time, is_sum: false };
    for (smis, blames_smis) in [(None, true), (Some(0), false), (Some(2), true)] {
        let mut parts = vec![part(PartKind::Measured, None, Ns::from_secs(900))];
        parts.extend(smis.map(|smis| part(PartKind::Smi, Some(smis), Ns::ZERO)));
        let explained = of_breakdowns(vec![Breakdown { parts, ..gap() }]);
        let finding = explained.finding("stolen").expect("a finding");
        assert_eq!(finding.why.contains("(SMI, secure world)"), blames_smis, "{}", finding.why);
        assert_eq!(finding.fix.iter().any(|fix| fix.text.contains("SMI")), blames_smis, "{:?}", finding.fix);
        let seen: Vec<&str> = finding.evidence.iter().map(|seen| seen.what.as_str()).collect();
        assert!(seen[0].ends_with("hwlatdetect reports in 900.000 s"), "{seen:?}");
        assert_eq!(seen.get(1).is_some_and(|seen| seen.contains("SMIs")), smis.is_some(), "{seen:?}");
    }
    let above = part(PartKind::AboveThreshold, Some(37), Ns::from_us(10));
    let of_cpu = of_breakdowns(vec![Breakdown { parts: vec![above], cpu: Cpu(2), ..gap() }]);
    let finding = of_cpu.finding("stolen").expect("a finding");
    assert!(finding.title.starts_with("CPU 2 stood still for 84.00 us"), "{}", finding.title);
    assert_eq!(finding.evidence[1].what, "37 of its samples are above its threshold of 10.00 us");
    let explained = of_breakdowns(vec![gap()]);
    let finding = explained.finding("stolen").expect("a finding");
    assert!(finding.severity == Severity::Warning && finding.title.contains("84.00 us"), "{}", finding.title);
}
