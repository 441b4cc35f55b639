//! The events of a guard, as text, JSON and metrics.

use crate::schema_check::violations;
use whylate_base::{Cpu, Ns, Policy, Tid};
use whylate_report::guard::text::LogLevel;
use whylate_report::guard::{json, metrics, text};
use whylate_sys::SchedParams;
use whylate_threads::guard::{
    BoostEnd, CpuHog, GuardCounts, GuardEvent, StarvingThread, ThreadEvent, ThreadEventKind, WatchedThread,
};
use whylate_threads::select::ThreadName;

fn thread(tid: i32, comm: &str, policy: Policy, priority: u32) -> WatchedThread {
    let name = ThreadName { pid: Tid(tid), tid: Tid(tid), comm: comm.to_owned() };
    WatchedThread { name, started: 1, policy: Some(policy), priority }
}

fn event(kind: ThreadEventKind, by: bool) -> GuardEvent {
    let by = by.then(|| CpuHog { thread: thread(456, "hog\x1b[2J", Policy::Fifo, 50), share: 0.998 });
    let starving = StarvingThread {
        thread: thread(123, "kworker/1:1", Policy::Other, 0),
        cpu: Cpu(1),
        waited: Ns(20_100_000_000),
        by,
    };
    GuardEvent::Thread(ThreadEvent { at: Ns(5), starving, kind })
}

fn events() -> Vec<GuardEvent> {
    let restored = |end| ThreadEventKind::Restored {
        to: SchedParams::OTHER,
        after: Ns(12_000_000),
        ran: Some(Ns(300_000)),
        end,
    };
    let boosted = ThreadEventKind::Boosted {
        lent: SchedParams::fifo(51),
        slices: Some(Ns(1_000_000)),
        longest: Ns(3_000_000_000),
        instead: Some("EPERM".to_owned()),
    };
    let counts =
        GuardCounts { looks: 4, starving: 1, boosted: 1, elapsed: Ns(1_000), ..GuardCounts::default() };
    vec![
        GuardEvent::Started(vec!["nothing else helps".to_owned()]),
        event(ThreadEventKind::Starving, true),
        event(ThreadEventKind::Starving, false),
        event(boosted, true),
        event(ThreadEventKind::Refused { reason: "EPERM".to_owned() }, true),
        event(restored(BoostEnd::Asleep), true),
        event(restored(BoostEnd::Failed("EPERM".to_owned())), true),
        event(restored(BoostEnd::ChangedMeanwhile), true),
        GuardEvent::Looked(counts),
        GuardEvent::Stopped(counts),
    ]
}

#[test]
fn each_event_is_a_line_that_names_both_threads() {
    let lines: Vec<(LogLevel, String)> = events().iter().flat_map(text::lines).collect();
    assert_eq!(lines.len(), events().len() - 1, "a look is no line");
    assert_eq!(
        lines[1],
        (
            LogLevel::Warning,
            "starving: kworker/1:1:123 (SCHED_OTHER) has waited for CPU 1 for 20.100 s without running; \
             hog\u{fffd}[2J:456 (SCHED_FIFO priority 50) had 99.8 % of that CPU"
                .to_owned()
        )
    );
    assert!(lines[2].1.contains("cannot tell"), "{}", lines[2].1);
    assert!(lines.iter().all(|(_, line)| !line.contains(['\x1b', '\n'])), "{lines:?}");
    let warnings = lines.iter().filter(|(level, _)| *level == LogLevel::Warning).count();
    assert_eq!(warnings, 4, "{lines:?}");
}

#[test]
fn each_event_obeys_the_schema() {
    let schema = json::schema();
    let lines: Vec<_> = events().iter().filter_map(|event| json::line(event, Ns(7))).collect();
    for line in &lines {
        assert_eq!(violations(&schema, line), Vec::<String>::new(), "{line}");
    }
    let named: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(named[..5], ["started", "starving", "starving", "boosted", "refused"]);
    assert_eq!(
        (lines[1]["by"]["tid"].as_i64(), lines[1]["waited_ns"].as_i64()),
        (Some(456), Some(20_100_000_000))
    );
    assert!(lines[2]["by"].is_null());
}

#[test]
fn metrics_are_lines_of_a_name_and_a_number() {
    let counts = GuardCounts { starving: 3, longest_wait: Ns(1_500_000_000), ..GuardCounts::default() };
    let text = whylate_metrics::text(&metrics::families(&counts), whylate_metrics::TextFormat::Prometheus);
    assert!(text.contains("\nwhylate_guard_starving_total 3\n"), "{text}");
    assert!(text.contains("\nwhylate_guard_longest_wait_seconds 1.5\n"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.split_once(' ').expect("two words");
        assert!(name.starts_with("whylate_guard_") && value.parse::<f64>().is_ok(), "{line}");
    }
}
