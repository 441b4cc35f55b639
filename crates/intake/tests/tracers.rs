//! What real kernels' tracers and rtla wrote, file by file.

use std::path::{Path, PathBuf};
use whylate_base::{Cpu, Ns, Policy, Tid};
use whylate_events::{
    Event, EventKind, Kind, KindSet, LatencyTracer, PartKind, TimerlatContext, Tool, TraceInfo, drain,
};
use whylate_intake::open;

fn read(name: &str) -> (Vec<Event>, TraceInfo) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let mut source = open(&path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    let events = drain(&mut source).collect();
    let info = source.info().clone();
    assert_eq!(info.damage, [], "{name}");
    (events, info)
}

fn count(events: &[Event], kind: Kind) -> usize {
    events.iter().filter(|event| event.kind.kind() == kind).count()
}

#[test]
fn a_wakeup_is_told_from_its_call_to_its_switch() {
    let (events, info) = read("wakeup_rt_6.12.txt");
    let latency = info.latency.expect("a latency trace");
    assert_eq!(
        (latency.tracer, latency.latency, latency.cpu),
        (LatencyTracer::WakeupRt, Ns::from_us(103), Cpu(0))
    );
    let task = latency.task.expect("its thread");
    assert_eq!((task.tid, task.comm.as_str(), task.policy), (Tid(23), "rcuc/0", Some(Policy::Fifo)));
    assert_eq!((task.rt_priority, latency.entries), (1, Some(54)));
    assert_eq!((info.events, info.cpus), (54, 1));
    assert_eq!(info.kernel_release.as_deref(), Some("6.12.107+deb13-rt-amd64"));
    // Its own two lines, of 54; two stacks of 23 and of 15 frames, and functions.
    let kinds = [Kind::Wakeup, Kind::Switch, Kind::Stack, Kind::Function, Kind::Other];
    assert_eq!(kinds.map(|kind| count(&events, kind)), [1, 1, 38, 49, 1]);
    let first =
        events.iter().find(|event| matches!(event.kind, EventKind::Wakeup { .. })).expect("a wake-up");
    let last = events.iter().find(|event| matches!(event.kind, EventKind::Switch(_))).expect("a switch");
    assert_eq!((first.ts, first.context.tid, first.context.flags.irqs_off()), (Ns(0), Tid(141), true));
    assert!(matches!(last.kind, EventKind::Switch(switch) if switch.next_tid == Tid(23)));
}

#[test]
fn timerlat_has_its_samples_noises_and_stack() {
    let (events, info) = read("timerlat_trace_6.12.txt");
    let samples: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Timerlat(sample) => Some((sample.seq, sample.context, sample.latency)),
            _ => None,
        })
        .collect();
    assert_eq!(samples, [(3120, TimerlatContext::Irq, Ns(1418)), (3120, TimerlatContext::Thread, Ns(27886))]);
    let noises: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Noise(noise) => Some((noise.name.to_string(), noise.id, noise.duration)),
            _ => None,
        })
        .collect();
    assert_eq!(
        noises,
        [
            ("local_timer".to_owned(), 236, Ns(20964)),
            ("swapper/0".to_owned(), 0, Ns(3608)),
            ("irq_work".to_owned(), 246, Ns(2712))
        ]
    );
    assert_eq!((count(&events, Kind::Stack), info.events), (16, 6));
}

#[test]
fn osnoise_and_hwlat_have_theirs() {
    let (events, _) = read("osnoise_6.12.txt");
    let sample = events.iter().find_map(|event| match event.kind {
        EventKind::OsnoiseSample(sample) => Some(sample),
        _ => None,
    });
    let sample = sample.expect("a sample");
    assert_eq!(
        (sample.runtime, sample.noise, sample.max_sample),
        (Ns::from_us(20_000), Ns::from_us(2_274), Ns::from_us(2_160))
    );
    assert_eq!((sample.irq_count, sample.thread_count, sample.hw_count), (5, 8, 0));
    let (events, _) = read("hwlat_6.12.txt");
    let gaps: Vec<_> = events.iter().map(|event| event.kind).collect();
    let gap = |inner, outer| EventKind::Hwlat { inner: Ns::from_us(inner), outer: Ns::from_us(outer) };
    assert_eq!(gaps, [gap(84, 124), gap(86, 124), gap(165, 160)]);
}

/// The calls of a text: name of the function entered, or depth and duration of the one left.
fn calls(events: &[Event]) -> Vec<(String, u32, Option<Ns>)> {
    let call = |event: &Event| match event.kind {
        EventKind::FunctionEntry { name, depth } => Some((name.to_string(), depth, None)),
        EventKind::FunctionExit { depth, duration, .. } => Some((String::new(), depth, Some(duration))),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

#[test]
fn the_same_calls_in_both_layouts() {
    let (plain, _) = read("function_graph_6.12.txt");
    let (full, info) = read("function_graph_latency_format_6.12.txt");
    assert_eq!(info.latency, None);
    let (plain_calls, full_calls) = (calls(&plain), calls(&full));
    assert_eq!(plain_calls.get(..60), full_calls.get(..60));
    assert!(full.iter().all(|event| event.context.tid == Tid(122) || event.context.tid == Tid(123)));
    assert_eq!(full.first().map(|event| event.ts), Some(Ns(3_430_126_000)));
    // Without a clock of their own, calls take the time that they show at most.
    let entered =
        plain.iter().find(|event| matches!(event.kind, EventKind::FunctionEntry { .. })).expect("a call");
    let left = plain
        .iter()
        .find(|event| matches!(event.kind, EventKind::FunctionExit { depth: 0, .. }))
        .expect("its end");
    assert_eq!(left.ts - entered.ts, Ns(1_132_598));
    // Only the note of the next switch names the thread.
    assert_eq!(entered.context.tid, Tid(-1));
    assert!(plain.iter().any(|event| event.context.tid == Tid(123)));
}

#[test]
fn events_among_calls_are_events() {
    let (events, _) = read("function_graph_events_6.12.txt");
    assert!(count(&events, Kind::Switch) > 5 && count(&events, Kind::Waking) > 5);
    let mut current = None;
    for event in &events {
        if let EventKind::Switch(switch) = event.kind {
            assert!(current.is_none_or(|tid| tid == switch.prev_tid), "{switch:?}");
            current = Some(switch.next_tid);
        }
    }
}

#[test]
fn perf_script_is_read_as_its_recording() {
    let (events, info) = read("perf_script_6.18.txt");
    assert_eq!((info.format.as_str(), info.events, info.cpus), ("perf script text", 46, 2));
    assert_eq!(
        [Kind::Switch, Kind::Waking, Kind::Wakeup, Kind::Softirq]
            .map(|kind| count(&events, kind))
            .iter()
            .sum::<usize>(),
        46
    );
    let woken = events.iter().find_map(|event| match event.kind {
        EventKind::Waking(wake) if wake.comm.as_str() == "app:worker-91" => {
            Some((wake.tid, event.context.tid))
        }
        _ => None,
    });
    assert_eq!(woken, Some((Tid(26927), Tid(2614))));
}

#[test]
fn rtla_has_taken_its_latencies_apart() {
    let (events, info) = read("rtla_timerlat_thread_6.12.txt");
    assert_eq!((events.len(), info.format.as_str(), info.cpus), (0, "rtla report", 1));
    // The table above the analysis has a row for its CPU.
    let [row, found] = info.breakdowns.as_slice() else { panic!("{:?}", info.breakdowns) };
    assert_eq!((row.tool, row.cpu, row.total), (Tool::RtlaTimerlatTop, Cpu(0), Ns::from_us(32)));
    assert_eq!((found.tool, found.cpu, found.total, found.line), (Tool::RtlaTimerlat, Cpu(0), Ns(32_270), 8));
    let parts: Vec<_> = found.parts.iter().map(|part| (part.kind, part.id, part.time.0)).collect();
    assert_eq!(
        parts,
        [
            (PartKind::IrqDelay, None, 0),
            (PartKind::IrqLatency, None, 1_410),
            (PartKind::TimerIrq, None, 22_620),
            (PartKind::BlockingThread, None, 5_050),
            (PartKind::BlockingThread, Some(0), 5_050)
        ]
    );
    assert_eq!((found.stack.len(), found.stack[7].as_str()), (16, "default_idle"));
    let (_, info) = read("rtla_timerlat_irq_6.12.txt");
    assert_eq!(info.breakdowns.last().map(|found| found.total), Some(Ns(1_410)));
    let (_, info) = read("rtla_osnoise_6.1.txt");
    assert_eq!((info.breakdowns[0].tool, info.breakdowns[0].total), (Tool::RtlaOsnoise, Ns::from_us(546)));
}
