//! trace.dat files, written and read back.

use crate::any_event::{events, kind, measured, of_tracers, source};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::RngSeed;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, KindSet, Name, Symbol, drain};
use whylate_export::{Cut, dat};
use whylate_ftrace::dat::TraceFile;
use whylate_ledger::{Instant, Scope};

fn written(events: Vec<Event>, release: Option<&str>, cut: &Cut) -> TraceFile {
    let mut out = Cursor::new(Vec::new());
    let directory = std::env::temp_dir();
    dat::write(&mut source(events, release), cut, &directory, &mut out).expect("written");
    TraceFile::from_bytes(out.into_inner()).expect("a file of ours opens")
}

fn read(file: &TraceFile) -> Vec<Event> {
    let mut events = file.events(KindSet::ALL);
    let read = drain(&mut events).collect();
    assert_eq!(whylate_events::EventSource::info(&events).damage, []);
    read
}

fn event(ts: i64, cpu: u32, kind: EventKind) -> Event {
    let context = Context { tid: Tid(7), flags: ContextFlags::IRQS_OFF, preempt_depth: Some(1) };
    Event { ts: Ns(ts), cpu: Cpu(cpu), context, kind }
}

#[test]
fn losses_and_stacks_stand_where_they_were() {
    let lost = |count| EventKind::Lost { count, since: None, kinds: KindSet::NONE };
    let frame = |name: &str| EventKind::StackFrame { name: Symbol::from(name) };
    let exit = EventKind::IrqExit { irq: 3 };
    let events = vec![
        event(10, 0, exit),
        event(20, 1, EventKind::IrqEntry { irq: 4, name: Name::from("eth0") }),
        event(20, 1, frame("innermost")),
        event(25, 0, exit),
        event(20, 1, frame("outer")),
        event(30, 0, lost(Some(12))),
        event(30, 0, exit),
        event(40, 1, lost(None)),
        event(40, 1, exit),
    ];
    let file = written(events, None, &Cut::default());
    let mut counts = Vec::new();
    for event in read(&file) {
        if let EventKind::Lost { count, .. } = event.kind {
            counts.push((event.ts.0, event.cpu.0, count));
        }
    }
    assert_eq!(counts, [(30, 0, Some(12)), (40, 1, None)]);
    let stacks: Vec<(i64, u32, i64)> = {
        let mut raw = file.raw_events();
        let mut found = Vec::new();
        while let Some(event) = raw.next() {
            if event.format.is_some_and(|format| format.name == "kernel_stack") {
                found.push((event.ts.0, event.cpu.0, event.int("size").expect("a size")));
            }
        }
        found
    };
    assert_eq!(stacks, [(20, 1, 2)]);
    let frames = read(&file).into_iter().filter_map(|event| match event.kind {
        EventKind::StackFrame { name } => Some((event.ts.0, event.cpu.0, name.to_string())),
        _ => None,
    });
    let expected = [(20, 1, "innermost".to_owned()), (20, 1, "outer".to_owned())];
    assert_eq!(frames.collect::<Vec<_>>(), expected);
}

#[test]
fn losses_behind_the_last_event_are_carried_over() {
    let lost = |count| EventKind::Lost { count, since: None, kinds: KindSet::NONE };
    let exit = EventKind::IrqExit { irq: 3 };
    let events = vec![
        event(10, 0, exit),
        event(20, 1, exit),
        event(30, 1, lost(Some(5))),
        event(40, 0, lost(None)),
        // Of a CPU that has no event.
        event(40, 2, lost(Some(9))),
    ];
    let at_end = |file: &TraceFile| -> Vec<(u32, Option<u64>)> {
        let events = read(file);
        assert_eq!(events.iter().filter(|event| event.kind == exit).count(), 2, "{events:?}");
        let lost = events.iter().skip_while(|event| event.kind == exit);
        lost.map(|event| match event.kind {
            EventKind::Lost { count, .. } => (event.cpu.0, count),
            _ => panic!("{event:?}"),
        })
        .collect()
    };
    let expected = [(0, None), (1, Some(5)), (2, Some(9))];
    let file = written(events, None, &Cut::default());
    assert_eq!(at_end(&file), expected);
    let copy = TraceFile::from_bytes(copied(&file, &Cut::default())).expect("opens");
    assert_eq!(at_end(&copy), expected);
    // Of the CPU that was chosen alone, and of none whose end was cut off.
    let counts = |cut: Cut| -> Vec<Option<u64>> {
        let copy = TraceFile::from_bytes(copied(&file, &cut)).expect("opens");
        let lost = |event: Event| match event.kind {
            EventKind::Lost { count, .. } => Some(count),
            _ => None,
        };
        read(&copy).into_iter().filter_map(lost).collect()
    };
    let of = |scope: Scope| Cut { scope, ..Cut::default() };
    let cpus = Some([Cpu(1)].into_iter().collect());
    assert_eq!(counts(of(Scope { cpus, ..Scope::default() })), [Some(5)]);
    let to = Some(Instant::Clock(Ns(15)));
    assert_eq!(counts(of(Scope { to, ..Scope::default() })), []);
    let mut text = Vec::new();
    whylate_export::text::write_recorded(&file, &Cut::default(), &mut text).expect("written");
    let text = String::from_utf8(text).expect("UTF-8");
    let lines: Vec<&str> = text.lines().rev().take(3).collect();
    assert_eq!(lines, ["CPU:2 [9 EVENTS DROPPED]", "CPU:1 [5 EVENTS DROPPED]", "CPU:0 [EVENTS DROPPED]"]);
}

#[test]
fn trace_cmd_reads_typed_events() {
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.dat");
    for (flags_known, release) in [(true, Some("6.1.0-18-amd64")), (false, None)] {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let kinds = prop_oneof![8 => kind(), 1 => of_tracers()];
        let mut all = events(kinds, flags_known).new_tree(&mut runner).expect("events").current();
        let count = all.len();
        // Behind all of them, a page without a record.
        let last = all.last().map_or(0, |event| event.ts.0);
        let lost = EventKind::Lost { count: Some(3), since: None, kinds: KindSet::NONE };
        all.extend((0..4).map(|cpu| event(last, cpu, lost)));
        let mut file = std::fs::File::create(&path).expect("file");
        dat::write(&mut source(all, release), &Cut::default(), directory.path(), &mut file).expect("written");
        let report = Command::new("trace-cmd").args(["report", "-t"]).arg(&path).output().expect("trace-cmd");
        let text = String::from_utf8_lossy(&report.stdout).into_owned();
        let errors = String::from_utf8_lossy(&report.stderr);
        assert!(report.status.success(), "{errors}");
        let lines = text.lines().filter(|line| line.contains("] ") && line.contains(": ")).count();
        assert_eq!(lines, count, "{text}{errors}");
        assert!(!text.contains("FAILED TO PARSE") && !text.contains("UNKNOWN EVENT"), "{text}");
    }
}

/// The recordings of other crates' tests.
fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("fixtures")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "dat"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn copied(file: &TraceFile, cut: &Cut) -> Vec<u8> {
    assert!(dat::can_copy(file));
    let mut out = Cursor::new(Vec::new());
    dat::copy(file, cut, &std::env::temp_dir(), &mut out).expect("copied");
    out.into_inner()
}

#[test]
fn a_copy_of_everything_is_the_same_recording() {
    for path in fixtures() {
        let file = TraceFile::open(&path).expect("opens");
        let copy = TraceFile::from_bytes(copied(&file, &Cut::default())).expect("opens");
        let (mut original, mut other) = (file.events(KindSet::ALL), copy.events(KindSet::ALL));
        let pairs = drain(&mut original).zip(drain(&mut other)).inspect(|(a, b)| assert_eq!(a, b));
        assert!(pairs.count() > 100, "{}", path.display());
        assert_eq!(original.next(), None);
        assert_eq!(other.next(), None);
        assert_eq!(file.info().kernel_release, copy.info().kernel_release);
        assert_eq!(file.info().clock, copy.info().clock);
        let names = |file: &TraceFile| file.buffers().iter().map(|b| b.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&file), names(&copy));
        assert_eq!(file.symbols().text(), copy.symbols().text());
    }
}

#[test]
fn trace_cmd_prints_a_copy_as_it_prints_the_original() {
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    let report = |path: &Path| {
        let output =
            Command::new("trace-cmd").args(["report", "-t", "-q"]).arg(path).output().expect("trace-cmd");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .filter(|line| !line.starts_with("cpus=") && !line.ends_with("is empty"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let cut = Cut { events: vec!["sched_switch".parse().expect("a choice")], ..Cut::default() };
    for path in fixtures() {
        let file = TraceFile::open(&path).expect("opens");
        let original = report(&path);
        for (name, cut, kept) in [("all", Cut::default(), ""), ("switches", cut.clone(), " sched_switch:")] {
            let copy = directory.path().join(format!("{name}.dat"));
            std::fs::write(&copy, copied(&file, &cut)).expect("written");
            let expected: Vec<&String> = original.iter().filter(|line| line.contains(kept)).collect();
            let found = report(&copy);
            assert_eq!(found.len(), expected.len(), "{} {name}", path.display());
            for (found, expected) in found.iter().zip(expected) {
                assert_eq!(found, expected, "{}", path.display());
            }
        }
    }
}

/// What a kind without a form of its own in a trace.dat comes back as.
fn normal(mut event: Event, release: Option<&str>) -> Event {
    // That bit has another meaning in kernels before 6.12, which do not show this one.
    if release.is_some() {
        event.context.flags.0 &= !ContextFlags::NEED_RESCHED_LAZY.0;
    }
    event
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x6461_7400), cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn typed_events_come_back(
        (release, events) in (prop::sample::select(vec![None, Some("5.18.0-rt")]), any::<bool>())
            .prop_flat_map(|(release, flags_known)| {
                (Just(release), events(prop_oneof![8 => kind(), 1 => measured()], flags_known))
            })
    ) {
        let expected: Vec<Event> = events.iter().map(|&event| normal(event, release)).collect();
        let file = written(events, release, &Cut::default());
        prop_assert_eq!(file.info().kernel_release.as_deref(), release);
        prop_assert_eq!(read(&file), expected);
    }
}
