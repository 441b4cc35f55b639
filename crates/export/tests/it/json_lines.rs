//! JSON lines, parsed back.

use crate::any_event::{events, kind, of_tracers, source};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, SyscallReturn};
use whylate_export::{Cut, Tracepoint, json_lines};

fn written(events: Vec<Event>) -> Vec<Value> {
    let mut out = Vec::new();
    let written =
        json_lines::write(&mut source(events, Some("6.1.0")), &Cut::default(), &mut out).expect("written");
    let lines: Vec<Value> = String::from_utf8(out)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(written.events + 1, lines.len() as u64);
    lines
}

#[test]
fn a_line_has_all_that_the_event_has() {
    let context = Context {
        tid: Tid(312),
        flags: ContextFlags::IRQS_OFF | ContextFlags::SOFTIRQ,
        preempt_depth: Some(2),
    };
    let kind = EventKind::SyscallExit(SyscallReturn { nr: 202, ret: -110 });
    let lines = written(vec![Event { ts: Ns(1_999_123_456_789), cpu: Cpu(1), context, kind }]);
    assert_eq!(
        lines,
        [
            json!({
                "schema": "whylate.events/1", "format": "made here", "cpus": 4, "clock": "mono",
                "kernel_release": "6.1.0", "machine": "x86_64",
            }),
            json!({
                "ts": 1_999_123_456_789_i64, "cpu": 1, "tid": 312, "flags": ["irqs_off", "softirq"],
                "preempt_depth": 2, "group": "raw_syscalls", "event": "sys_exit",
                "fields": {"id": 202, "ret": -110},
            }),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x6a73_6f6e), cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_event_has_its_line(events in events(prop_oneof![8 => kind(), 1 => of_tracers()], true)) {
        let lines = written(events.clone());
        for (event, line) in events.iter().zip(&lines[1..]) {
            let point = Tracepoint::of(&event.kind);
            prop_assert_eq!(&line["event"], point.name.as_ref());
            prop_assert_eq!(&line["ts"], event.ts.0);
            prop_assert!(line["fields"].is_object());
        }
    }
}
