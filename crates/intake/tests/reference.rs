//! Text that real machines wrote: our fixtures, and where the shared recordings are at
//! hand, trace-cmd's reports of them and deliberately broken files.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use whylate_base::{Cpu, Ns, Policy, Tid};
use whylate_events::{Damage, Event, EventKind, EventSource, Fact, KindSet, TraceInfo};
use whylate_intake::{from_reader, open};
use whylate_testing::{Need, skip};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn drain(mut source: Box<dyn EventSource>) -> (Vec<Event>, TraceInfo) {
    let events = whylate_events::drain(&mut source).collect();
    (events, source.info().clone())
}

fn read(path: &Path) -> (Vec<Event>, TraceInfo) {
    drain(open(path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}")))
}

/// The shared recordings are not part of the project; a fresh clone does without.
fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("WHYLATE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"), PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    skip(Need::Recordings, format_args!("{} does not exist", path.display()));
    None
}

fn switches(events: &[Event]) -> Vec<(Ns, Cpu, Tid, Tid)> {
    events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Switch(switch) => Some((event.ts, event.cpu, switch.prev_tid, switch.next_tid)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_throttled_cpu_is_idle_for_50_ms() {
    let (events, info) = read(&fixture("throttled_excerpt.txt"));
    assert_eq!(info.format, "ftrace text");
    assert_eq!((info.events, info.cpus, info.damage), (68, 5, vec![]));
    let switches = switches(&events);
    let (hog, ksoftirqd, idle) = (Tid(2053), Tid(62), Tid(0));
    let pairs: Vec<_> = switches.iter().map(|&(_, _, prev, next)| (prev, next)).collect();
    assert_eq!(pairs, [(hog, ksoftirqd), (ksoftirqd, idle), (idle, hog)]);
    assert_eq!(switches[2].0 - switches[0].0, Ns(50_043_000));
    let ticks = events.iter().filter(|event| matches!(event.kind, EventKind::HrtimerExpire(_))).count();
    assert_eq!(ticks, 5);
}

#[test]
fn multipathd_holds_the_cpu_before_cyclictest() {
    let (events, info) = read(&fixture("wakeup_rt_excerpt.txt"));
    assert_eq!(info.format, "wakeup_rt latency trace v1.1.5");
    assert_eq!(info.kernel_release.as_deref(), Some("5.4.140-rt64"));
    assert_eq!((info.events, info.cpus), (10, 4));
    // The two elisions.
    assert_eq!(info.damage.len(), 1);
    assert!(
        info.damage[0].what.contains("no trace lines: 2, the first is line 19: `[omitted for brevity]`"),
        "{:?}",
        info.damage
    );
    let facts: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Marker(text) => Fact::parse(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(facts.contains(&Fact::Policy {
        tid: Tid(12905),
        policy: Policy::Fifo,
        priority: 80,
        comm: "cyclictest".into()
    }));
    let woken = events.iter().find_map(|event| match event.kind {
        EventKind::Wakeup { wake, .. } => Some((event.ts, wake.tid, wake.prio.realtime_user())),
        _ => None,
    });
    assert_eq!(woken, Some((Ns::from_us(1), Tid(12905), Some(80))));
    let rogue: Vec<_> =
        events.iter().filter(|event| event.context.tid == Tid(1456)).map(|event| event.ts).collect();
    assert_eq!((rogue.first(), rogue.last()), (Some(&Ns::from_us(58)), Some(&Ns::from_us(389))));
    let Some(EventKind::Switch(last)) = events.last().map(|event| event.kind) else {
        panic!("{:?}", events.last())
    };
    assert_eq!((last.prev_comm.as_str(), last.prev_prio.realtime_user()), ("multipat", Some(99)));
    assert_eq!((last.next_comm.as_str(), last.next_tid), ("cyclictest", Tid(12905)));
}

#[test]
fn a_tracefs_file_is_read_without_a_line_left_over() {
    let (events, info) = read(&fixture("tracefs_naps.txt"));
    assert_eq!(info.format, "ftrace text");
    assert_eq!((info.cpus, info.damage.as_slice()), (2, [].as_slice()));
    // As the kernel counted them in its header.
    assert_eq!(info.events, 89);
    assert!(events.iter().all(|event| event.kind != EventKind::Other));
    assert!(events.iter().all(|event| event.context.preempt_depth.is_some()));
    let naps = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Switch(s) if s.next_comm.as_str() == "python3" && s.next_prio.0 == 49))
        .count();
    assert!(naps >= 3, "{naps}");
}

#[test]
fn standard_input_reads_the_same() {
    let text = std::fs::read(fixture("tracefs_naps.txt")).expect("fixture");
    let piped = drain(
        from_reader(Cursor::new(text), "a pipe", KindSet::ALL).unwrap_or_else(|error| panic!("{error}")),
    );
    assert_eq!(piped, read(&fixture("tracefs_naps.txt")));
}

#[test]
fn foreign_texts_are_read_whole() {
    for (name, count, places) in [
        ("trappy_trace_empty.txt", 51, 0),
        ("trappy_trace_failed_to_parse.txt", 11, 0),
        ("trappy_trace_filesystem.txt", 69, 0),
        // Its last line ends in the middle of a sched_switch.
        ("trappy_trace_idle_unsorted.txt", 15, 1),
        ("trappy_trace_no_trailing_line.txt", 10, 0),
        ("trappy_trace_sched.txt", 11, 0),
    ] {
        let Some(path) = shared(name) else { continue };
        let (_, info) = read(&path);
        let skipped: Vec<&Damage> = info.damage.iter().filter(|damage| damage.offset.is_some()).collect();
        assert_eq!((info.events, skipped.len()), (count, places), "{name}: {:?}", info.damage);
        let is_unsorted = info.damage.iter().any(|damage| damage.what.contains("backwards"));
        assert_eq!(is_unsorted, name.contains("unsorted"), "{name}");
    }
}
