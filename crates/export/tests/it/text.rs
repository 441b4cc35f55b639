//! Text, read back by the reader of texts.

use crate::any_event::{events, kind, of_tracers, source};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::Path;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, KindSet, OsnoiseSample, Symbol, drain};
use whylate_export::{Cut, text};
use whylate_ftrace::dat::TraceFile;

fn written(events: Vec<Event>) -> String {
    let mut out = Vec::new();
    text::write(&mut source(events, None), &Cut::default(), &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn read(text: &str) -> Vec<Event> {
    let reader = std::io::Cursor::new(text.as_bytes().to_vec());
    let mut source = whylate_intake::from_reader(reader, "here", KindSet::ALL).expect("a trace");
    let events = drain(&mut source).collect();
    assert_eq!(source.info().damage, [], "{text}");
    events
}

/// The interrupt states that every kernel's text has a letter for.
fn normal(mut event: Event) -> Event {
    let known = ContextFlags::IRQS_OFF
        | ContextFlags::NEED_RESCHED
        | ContextFlags::HARDIRQ
        | ContextFlags::SOFTIRQ
        | ContextFlags::IRQS_UNKNOWN;
    event.context.flags.0 &= known.0;
    event
}

#[test]
fn lines_are_those_of_the_kernel() {
    let context = Context { tid: Tid(312), flags: ContextFlags::IRQS_OFF, preempt_depth: Some(2) };
    let event = |ts, kind| Event { ts: Ns(ts), cpu: Cpu(1), context, kind };
    let events = vec![
        event(1_999_123_456_789, EventKind::SoftirqRaise { vec: 1 }),
        event(1_999_123_456_790, EventKind::Exit { tid: Tid(312) }),
        event(1_999_123_456_790, EventKind::StackFrame { name: Symbol::from("do_exit") }),
        event(1_999_123_456_790, EventKind::StackFrame { name: Symbol::from("do_group_exit") }),
        event(2_000_000_000_000, EventKind::Lost { count: Some(7), since: None, kinds: KindSet::NONE }),
        event(2_000_000_000_000, EventKind::CpuIdle { state: None }),
    ];
    let text = written(events.clone());
    let expected = "# whylate: clock=mono\ncpus=4\n           \
        <...>-312     [001] d..2.   1999.123456789: softirq_raise: vec=1 [action=TIMER]\n           \
        <...>-312     [001] d..2.   1999.123456790: sched_process_exit: comm=<...> pid=312 prio=?\n           \
        <...>-312     [001] d..2.   1999.123456790: kernel_stack: <stack trace>\n \
        => do_exit\n \
        => do_group_exit\n\
        CPU:1 [LOST 7 EVENTS]\n           \
        <...>-312     [001] d..2.   2000.000000000: cpu_idle: state=4294967295 cpu_id=1\n";
    assert_eq!(text, expected);
    assert_eq!(read(&text), events);
}

/// The kernel gives the summaries of these tracers in microseconds, and all else in nanoseconds.
#[test]
fn summaries_are_in_microseconds() {
    let context = Context { tid: Tid(312), flags: ContextFlags::default(), preempt_depth: Some(0) };
    let event = |kind| Event { ts: Ns(1_000), cpu: Cpu(1), context, kind };
    let sample = OsnoiseSample {
        runtime: Ns::from_ms(20),
        noise: Ns(2_273_000),
        max_sample: Ns(2_157_000),
        hw_count: 1,
        ..OsnoiseSample::default()
    };
    let events = vec![
        event(EventKind::Hwlat { inner: Ns(84_000), outer: Ns(124_000) }),
        event(EventKind::OsnoiseSample(sample)),
        event(EventKind::OsnoiseThreshold {
            start: Ns(5_000_001_000),
            duration: Ns(34_531),
            interferences: 5,
        }),
        event(EventKind::Preemptirq {
            what: whylate_events::Preemptirq::Interrupts,
            disables: true,
            caller: "console_unlock".into(),
        }),
    ];
    let text = written(events.clone());
    assert!(text.contains("inner:84 outer:124\n"), "{text}");
    assert!(text.contains("runtime:20000 noise:2273 max_sample:2157 hw:1 "), "{text}");
    assert_eq!(read(&text), events);
}

#[test]
fn a_trace_dat_is_printed_by_its_own_formats() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/6.1-higher.dat");
    let file = TraceFile::open(path).expect("opens");
    let cut = Cut { events: vec!["page-fault".parse().expect("a choice")], ..Cut::default() };
    let mut out = Vec::new();
    let written = text::write_recorded(&file, &cut, &mut out).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(written.events > 10 && written.events < written.read);
    assert!(
        text.starts_with("# whylate: clock=mono release=6.1.0-50-amd64 machine=x86_64\ncpus=1\n"),
        "{text}"
    );
    assert_eq!(text.lines().count() as u64, written.events + 2);
    let mut lines = text.lines().skip(2);
    assert!(lines.all(|line| line.contains(" page_fault_")), "{text}");
    // As the kernel printed it.
    assert!(text.contains("error_code=0x14"));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x7465_7874), cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn typed_events_come_back(events in any::<bool>().prop_flat_map(|flags_known| events(prop_oneof![8 => kind(), 1 => of_tracers()], flags_known))) {
        let expected: Vec<Event> = events.iter().copied().map(normal).collect();
        let text = written(events);
        let found: Vec<Event> = read(&text).into_iter().map(normal).collect();
        prop_assert_eq!(found, expected);
    }
}
