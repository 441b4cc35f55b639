//! Frames as text, of any size.

use super::*;
use whylate_base::Cpu;
use whylate_investigate::measure::SpikeKind;
use whylate_probes::{Counts, Spike};
use whylate_stats::Maxima;
use whylate_sys::SchedParams;

fn cpu(number: u32, latencies: &[i64]) -> CpuResult {
    CpuResult {
        cpu: Cpu(number),
        bound: true,
        tid: Tid(100 + number as i32),
        counts: Counts::None,
        sched: SchedParams::OTHER,
        histogram: latencies.iter().map(|&latency| Ns(latency)).collect(),
        maxima: Maxima::new(Ns::from_secs(1)),
        missed: 0,
        minor_faults: None,
        major_faults: None,
        preemptions: None,
        smis: None,
        unreported_spikes: 0,
        stuck_since: None,
    }
}

fn spike(due: Ns, latency: Ns) -> ExplainedSpike {
    ExplainedSpike {
        measured: Spike { cpu: Cpu(1), tid: Tid(1), due, woken: due + latency },
        kind: SpikeKind::Worst,
        answer: Err(NotExplained::NoTrace),
        saved: None,
    }
}

fn frame<'a>(elapsed: i64, cpus: &'a [CpuResult], spikes: &'a [ExplainedSpike]) -> Frame<'a> {
    let seconds = Ns::from_secs;
    Frame {
        elapsed: seconds(elapsed),
        duration: seconds(7_200),
        now: seconds(100 + elapsed),
        cpus,
        spikes,
        news: &[],
    }
}

#[test]
fn each_cpu_has_its_bars_its_maximum_and_the_age_of_it() {
    let mut view = View::default();
    let first = [cpu(0, &[2_000, 2_000, 90_000]), cpu(1, &[3_000])];
    view.lines(&frame(1, &first, &[]), 80, 24, false);
    let second = [cpu(0, &[2_000, 2_000, 90_000]), cpu(1, &[3_000, 331_000])];
    let late = [spike(Ns::from_secs(101), Ns::from_us(90)), spike(Ns::from_secs(108), Ns::from_us(331))];
    let lines = view.lines(&frame(9, &second, &late), 80, 24, false);
    assert_eq!(lines[0], "9 s of 2 h 0 min: 5 samples, max 331.0 us (CPU 1), 0 s ago");
    assert_eq!(lines[2].trim(), "1us         10us        100us");
    assert!(lines[3].starts_with("CPU 0            90.00 us 8 s ago"), "{}", lines[3]);
    assert!(lines[4].starts_with("CPU 1            331.0 us 0 s ago"), "{}", lines[4]);
    assert_eq!(lines[3].matches(['█', '▅', '▆']).count(), 2, "two places: {}", lines[3]);
    let spikes: Vec<&str> = lines[7..].iter().map(String::as_str).collect();
    let expected = [
        "     0 s ago  CPU 1     331.0 us  no trace was recorded",
        "     7 s ago  CPU 1     90.00 us  no trace was recorded",
    ];
    assert_eq!(spikes, expected);
}

#[test]
fn whatever_the_terminal_s_size_it_fits() {
    let cpus: Vec<CpuResult> = (0..64).map(|at| cpu(at, &[1_000, i64::from(at) * 1_000 + 1_500])).collect();
    let spikes: Vec<ExplainedSpike> = (0..100).map(|at| spike(Ns::from_secs(at), Ns::from_us(50))).collect();
    for (columns, rows) in [(1, 1), (20, 5), (43, 6), (80, 24), (200, 100)] {
        for cpus in [&cpus[..], &cpus[..1], &[]] {
            let lines = View::default().lines(&frame(3, cpus, &spikes), columns, rows, false);
            assert!(lines.len() <= rows, "{columns}x{rows}: {} lines", lines.len());
            let widest = lines.iter().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{columns}x{rows}: {widest:?}");
        }
    }
    let small = View::default().lines(&frame(3, &cpus, &[]), 80, 12, false);
    assert!(small.iter().any(|line| line.starts_with("CPU 63 ")), "the largest is seen: {small:#?}");
    assert!(small.iter().any(|line| line == "59 more threads, none of them later"), "{small:#?}");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let cpus = [cpu(0, &[5_000])];
    let plain = View::default().lines(&frame(1, &cpus, &[]), 80, 24, false).concat();
    assert!(!plain.contains('\x1b'));
    assert!(View::default().lines(&frame(1, &cpus, &[]), 80, 24, true).concat().contains("\x1b[36m"));
}

#[test]
fn what_a_name_holds_moves_no_cursor() {
    assert_eq!(cut("a\x1b[2J\tb\u{7}", 80), "a[2Jb");
}

#[test]
fn times_are_whole() {
    let of = |seconds| time(Ns::from_secs(seconds));
    assert_eq!(
        [of(0), of(59), of(61), of(3_700), of(90_000)],
        ["0 s", "59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]
    );
    assert_eq!(
        (short(2), short(3), short(7), short(10)),
        ("100ns".into(), "1us".into(), "10ms".into(), "10s".into())
    );
}
