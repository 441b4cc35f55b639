//! Gaps that hardware and firmware make: the hwlat tracer, and the report of hwlatdetect.

use super::*;
use whylate_events::{Breakdown, PartKind};

#[test]
fn an_empty_trace_of_hwlat_is_an_answer_and_others_are_none() {
    let header = "# tracer: hwlat\n#\n# entries-in-buffer/entries-written: 0/0   #P:4\n#\n";
    let (events, info) = all(header);
    assert_eq!((events, info.tracer.as_deref(), info.damage), (vec![], Some("hwlat"), vec![]));
    for tracer in ["nop", "irqsoff", "timerlat"] {
        assert!(read(header.replace("hwlat", tracer).as_bytes(), KindSet::ALL).is_err(), "{tracer}");
    }
}

#[test]
fn hwlatdetect_reports_its_largest_gap() {
    let report = |largest: &str| {
        format!(
            "hwlatdetect:  test duration 120 seconds\n   detector: tracer\n   parameters:\n\
             \x20       Latency threshold: 10us\n        Sample window:     1000000us\n\
             \x20       Sample width:      500000us\n     Non-sampling period:  500000us\n\
             \x20       Output File:       None\n\nStarting test\ntest finished\nMax Latency: {largest}\n\
             Samples recorded: 1\nSamples exceeding threshold: 1\nts: 1499801089.066141940, inner:84, outer:0\n"
        )
    };
    let remark = "142us  \u{2190} SMI or hardware!";
    for (largest, total) in
        [("84us", Ns::from_us(84)), (remark, Ns::from_us(142)), ("Below threshold", Ns::ZERO)]
    {
        // Without a gap above the threshold no sample is listed.
        let sample = "ts: 1499801089.066141940, inner:84, outer:0\n";
        let text = report(largest).replace(if total == Ns::ZERO { sample } else { "" }, "");
        let (events, info) = all(&text);
        assert_eq!((events, info.damage, info.format.as_str()), (vec![], vec![], "hwlatdetect report"));
        let found: Vec<_> = info.breakdowns.iter().map(|one| (one.tool, one.cpu, one.total)).collect();
        assert_eq!(found, [(whylate_events::Tool::Hwlatdetect, Cpu::UNKNOWN, total)], "{largest}");
    }
    assert!(read(b"Max Latency: 84us\n", KindSet::ALL).is_err(), "it may be another tool's");
    // What newer ones add, and what guides put around it.
    let newer = report("84us").replace("ts:", "SMIs during run: 3\nreport saved to a (1 samples)\nts:");
    let commented: String = newer.lines().map(|line| format!("# {line}\n")).collect();
    for text in [&newer, &commented] {
        let (_, info) = all(text);
        let parts = |one: &Breakdown| {
            one.parts.iter().map(|part| (part.kind, part.id, part.time)).collect::<Vec<_>>()
        };
        let found: Vec<_> = info.breakdowns.iter().map(|one| (one.total, parts(one))).collect();
        let expected = vec![
            (PartKind::Measured, None, Ns::from_secs(120)),
            (PartKind::AboveThreshold, Some(1), Ns::from_us(10)),
            (PartKind::Smi, Some(3), Ns::ZERO),
        ];
        assert_eq!((found, info.damage), (vec![(Ns::from_us(84), expected)], vec![]));
    }
}

#[test]
fn gaps_of_hwlat_in_broken_lines_are_read() {
    let lines = "\
            <...>-8795    [001] dn...   613.749741: #1 inner/outer(us): \n\
  41/39    ts:1702045267.016266287 count:9976\n\
            <...>-8804    [000] d....   675.201727: #2 inner/outer(us): \n\
  12/40    ts:1702045328.469859973 count:6506\n";
    let (events, info) = all(&format!("# tracer: hwlat\n#\n{lines}"));
    let gap = |inner, outer| EventKind::Hwlat { inner: Ns::from_us(inner), outer: Ns::from_us(outer) };
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!((kinds, info.damage), (vec![gap(41, 39), gap(12, 40)], vec![]));
}

#[test]
fn osnoise_prints_lengths_with_a_unit() {
    for (length, nanoseconds, count) in [
        ("1452 ns interference 3", 1_452, 3),
        ("8 us interferences 2", 8_000, 2),
        ("512 ns interferences 0", 512, 0),
    ] {
        let (events, _) = all(&format!(
            " a-1 [002] d.h. 9.500000: sample_threshold: start 9.469564153 duration {length}\n"
        ));
        let EventKind::OsnoiseThreshold { start, duration, interferences } = events[0].kind else {
            panic!("{events:?}")
        };
        assert_eq!((start.0, duration.0, interferences), (9_469_564_153, nanoseconds, count), "{length}");
    }
    let (events, _) =
        all(" a-1 [002] d.h. 9.500000: irq_noise: local_timer:236 start 9.469564153 duration 8 us\n");
    assert!(matches!(events[0].kind, EventKind::Noise(noise) if noise.duration == Ns(8_000)), "{events:?}");
}
