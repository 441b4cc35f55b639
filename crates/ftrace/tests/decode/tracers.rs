//! Events of the tracers: timerlat, osnoise, hwlat, and the function graph.

use crate::common::Value;
use crate::common::Value::{Int, Text};
use crate::decode;
use whylate_base::Ns;
use whylate_events::{EventKind, Kind, Noise, NoiseSource, OsnoiseSample, Timerlat, TimerlatContext};

/// Formats as in `kernel/trace/trace_entries.h` and `include/trace/events/osnoise.h`, of several versions.
#[test]
fn every_event_of_the_latency_tracers() {
    let sample = |context, latency| EventKind::Timerlat(Timerlat { seq: 7, context, latency: Ns(latency) });
    let noise = |source, name: &str, id| {
        let (start, duration) = (Ns(5_000_000_123), Ns(20_896));
        EventKind::Noise(Noise { source, name: name.into(), id, start, duration })
    };
    let with = |more: Vec<(&'static str, Value<'static>)>| {
        let mut values = vec![("start", Int(5_000_000_123)), ("duration", Int(20_896))];
        values.extend(more);
        values
    };
    let osnoise = EventKind::OsnoiseSample(OsnoiseSample {
        runtime: Ns(1_000_000_000),
        noise: Ns(190_000),
        max_sample: Ns(12_000),
        hw_count: 18,
        nmi_count: 1,
        irq_count: 1007,
        softirq_count: 19,
        thread_count: 2,
    });
    let summary = || {
        vec![
            ("runtime", Int(1_000_000)),
            ("noise", Int(190)),
            ("max_sample", Int(12)),
            ("hw_count", Int(18)),
            ("nmi_count", Int(1)),
            ("irq_count", Int(1007)),
            ("softirq_count", Int(19)),
            ("thread_count", Int(2)),
        ]
    };
    let timerlat = ["unsigned int seqnum", "int context", "u64 timer_latency"];
    type Case<'c> = (&'c str, &'c str, &'c [&'c str], Vec<(&'c str, Value<'c>)>, EventKind);
    let latency = |context, latency| {
        vec![("seqnum", Int(7)), ("context", Int(context)), ("timer_latency", Int(latency))]
    };
    let cases: Vec<Case<'_>> = vec![
        ("ftrace", "timerlat", &timerlat, latency(0, 932), sample(TimerlatContext::Irq, 932)),
        ("ftrace", "timerlat", &timerlat, latency(1, 1 << 33), sample(TimerlatContext::Thread, 1 << 33)),
        ("ftrace", "timerlat", &timerlat, latency(2, 0), sample(TimerlatContext::UserReturn, 0)),
        // A context that is not known yet.
        ("ftrace", "timerlat", &timerlat, latency(3, 0), EventKind::Other),
        (
            "osnoise",
            "timerlat_sample",
            &["u64 timer_latency", "unsigned int seqnum", "int context"],
            latency(0, 932),
            sample(TimerlatContext::Irq, 932),
        ),
        (
            "ftrace",
            "osnoise",
            &[
                "u64 noise",
                "u64 runtime",
                "u64 max_sample",
                "unsigned int hw_count",
                "unsigned int nmi_count",
                "unsigned int irq_count",
                "unsigned int softirq_count",
                "unsigned int thread_count",
            ],
            summary(),
            osnoise,
        ),
        (
            "osnoise",
            "osnoise_sample",
            &[
                "u64 runtime",
                "u64 noise",
                "u64 max_sample",
                "int hw_count",
                "int irq_count",
                "int nmi_count",
                "int softirq_count",
                "int thread_count",
            ],
            summary(),
            osnoise,
        ),
        (
            "osnoise",
            "irq_noise",
            &["u64 start", "u64 duration", "__data_loc char[] desc", "int vector"],
            with(vec![("desc", Text("local_timer")), ("vector", Int(236))]),
            noise(NoiseSource::Irq, "local_timer", 236),
        ),
        (
            "osnoise",
            "softirq_noise",
            &["u64 start", "u64 duration", "int vector"],
            with(vec![("vector", Int(9))]),
            noise(NoiseSource::Softirq, "RCU", 9),
        ),
        (
            "osnoise",
            "softirq_noise",
            &["u64 start", "u64 duration", "int vector"],
            with(vec![("vector", Int(10))]),
            noise(NoiseSource::Softirq, "", 10),
        ),
        (
            "osnoise",
            "thread_noise",
            &["char comm[16]", "u64 start", "u64 duration", "pid_t pid"],
            with(vec![("comm", Text("kworker/1:2")), ("pid", Int(4711))]),
            noise(NoiseSource::Thread, "kworker/1:2", 4711),
        ),
        (
            "osnoise",
            "nmi_noise",
            &["u64 start", "u64 duration"],
            with(vec![]),
            noise(NoiseSource::Nmi, "", 0),
        ),
        (
            "osnoise",
            "sample_threshold",
            &["u64 start", "u64 duration", "u64 interference"],
            with(vec![("interference", Int(5))]),
            EventKind::OsnoiseThreshold { start: Ns(5_000_000_123), duration: Ns(20_896), interferences: 5 },
        ),
        (
            "ftrace",
            "hwlat",
            &[
                "u64 duration",
                "u64 outer_duration",
                "u64 nmi_total_ts",
                "s64 tv_sec",
                "long tv_nsec",
                "unsigned int nmi_count",
                "unsigned int seqnum",
                "unsigned int count",
            ],
            vec![("duration", Int(84)), ("outer_duration", Int(124))],
            EventKind::Hwlat { inner: Ns(84_000), outer: Ns(124_000) },
        ),
    ];
    for (system, name, declarations, values, expected) in cases {
        let (kind, event) = decode(system, name, declarations, &values);
        assert_eq!(event, expected, "{name}");
        let of_slot = if expected == EventKind::Other { Kind::Timerlat } else { expected.kind() };
        assert_eq!(kind, Some(of_slot), "{name}");
    }
}

#[test]
fn calls_of_the_function_graph_tracer() {
    let entry = EventKind::FunctionEntry { name: "hrtimer_wakeup".into(), depth: 3 };
    let entries: [(&str, &[&str]); 4] = [
        ("funcgraph_entry", &["unsigned long func", "int depth"]),
        // 6.15 appends the arguments; later the depth is a long.
        ("funcgraph_entry", &["unsigned long func", "unsigned int depth", "unsigned long args[]"]),
        ("funcgraph_entry", &["unsigned long func", "unsigned long depth", "unsigned long args[]"]),
        ("fgraph_retaddr_entry", &["unsigned long func", "int depth", "unsigned long retaddr"]),
    ];
    for (name, declarations) in entries {
        let values = [("func", Int(0xc000_0100)), ("depth", Int(3))];
        assert_eq!(
            decode("ftrace", name, declarations, &values),
            (Some(Kind::FunctionGraph), entry),
            "{name}"
        );
    }
    let exits: [&[&str]; 3] = [
        // Until 6.13, with CONFIG_FUNCTION_GRAPH_RETVAL, and as it is in 6.14.
        &["unsigned long func", "int depth", "unsigned int overrun", "u64 calltime", "u64 rettime"],
        &[
            "unsigned long func",
            "unsigned long retval",
            "int depth",
            "unsigned int overrun",
            "u64 calltime",
            "u64 rettime",
        ],
        &["unsigned long func", "unsigned int depth", "unsigned int overrun", "u64 calltime", "u64 rettime"],
    ];
    for declarations in exits {
        // A clock that went back does not make a function shorter than nothing.
        for (call, ret, duration) in
            [(5 << 33, (5 << 33) + 1_454, 1_454), (9, 8, 0), (i64::MIN, i64::MAX, i64::MAX)]
        {
            let values = [
                ("func", Int(0xc000_0204)),
                ("depth", Int(2)),
                ("calltime", Int(call)),
                ("rettime", Int(ret)),
            ];
            let exit =
                EventKind::FunctionExit { name: "process_timeout".into(), depth: 2, duration: Ns(duration) };
            let decoded = decode("ftrace", "funcgraph_exit", declarations, &values);
            assert_eq!(decoded, (Some(Kind::FunctionGraph), exit));
        }
    }
}
