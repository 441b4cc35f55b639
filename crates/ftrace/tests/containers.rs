//! trace.dat files of every form, made up here: all have the same events; cut or damaged ones
//! give what is left, and never make the reader panic or run for ever.

mod common;

use common::sample::{PAGE, dat};
use common::{Machine, Packing, recordings};
use proptest::prelude::*;
use std::sync::OnceLock;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Event, EventKind, EventSource, Kind, KindSet, TaskState, TraceInfo};
use whylate_ftrace::dat::{CpuEvents, DatError, TraceFile};

fn read(file: &TraceFile, wanted: KindSet) -> (Vec<Event>, TraceInfo) {
    let mut source = file.events(wanted);
    let events = whylate_events::drain(&mut source).collect();
    (events, source.info().clone())
}

fn all(bytes: Vec<u8>) -> (Vec<Event>, TraceInfo) {
    read(&TraceFile::from_bytes(bytes).expect("opens"), KindSet::ALL)
}

#[test]
fn every_form_says_the_same() {
    let (expected, expected_info) = all(dat(Machine::PC).v6());
    assert_eq!((expected_info.events, expected_info.lost_events, expected_info.cpus), (121, 77, 2));
    assert_eq!(expected_info.damage, []);
    assert_eq!(expected_info.clock.as_deref(), Some("mono"));
    assert_eq!(expected_info.kernel_release.as_deref(), Some("6.1.0-rt-test"));
    assert_eq!(expected_info.machine.as_deref(), Some("machine"));
    assert_eq!(expected_info.recorded, Some(KindSet::of(&[Kind::Switch, Kind::Marker, Kind::Lost])));
    assert_eq!(expected_info.span.map(|span| span.0), Some(Ns(1_000_000)));
    for machine in Machine::ALL {
        let dat = dat(machine);
        let forms = [
            ("trace.dat v6", dat.v6()),
            ("trace.dat v7", dat.v7(Packing::None, false)),
            ("trace.dat v7 (zstd)", dat.v7(Packing::Zstd, false)),
            ("trace.dat v7 (zstd)", dat.v7(Packing::Zstd, true)),
            ("trace.dat v7 (zlib)", dat.v7(Packing::Zlib, true)),
        ];
        for (format, bytes) in forms {
            let (events, info) = all(bytes);
            assert_eq!(events, expected, "{format} {machine:?}");
            let data_bytes = info.data_bytes;
            let expected_info = TraceInfo { format: format.into(), data_bytes, ..expected_info.clone() };
            assert_eq!(info, expected_info, "{machine:?}");
        }
    }
}

#[test]
fn events_are_decoded_merged_and_losses_reported() {
    let file = TraceFile::from_bytes(dat(Machine::PC).v6()).expect("opens");
    assert_eq!((file.comm(Tid(7)), file.comm(Tid(8))), (Some("a name"), None));
    let (events, _) = read(&file, KindSet::ALL);
    assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
    let EventKind::Switch(first) = events[0].kind else { panic!("{:?}", events[0]) };
    assert_eq!(
        (first.prev_comm, first.prev_prio, first.prev_state, first.next_comm, first.next_tid),
        (Comm::from("a name of 15 ch"), Priority(-1), TaskState::Preempted, Comm::from("task/0 0"), Tid(1))
    );
    assert!(events[0].context.flags.irqs_off());
    assert_eq!(events[0].context.preempt_depth, Some(2), "the upper half is not preemption");
    let lost = events.iter().position(|event| matches!(event.kind, EventKind::Lost { .. })).expect("a loss");
    assert!(matches!(events[lost].kind, EventKind::Lost { count: Some(77), .. }));
    let after = events[lost + 1];
    assert_eq!((events[lost].ts, events[lost].cpu), (after.ts, Cpu(1)));
    assert_eq!(after.context.tid, Tid(10), "the first event behind the loss follows it");
    assert!(events.iter().any(|event| event.kind == EventKind::Marker("hello, late world".into())));
}

#[test]
fn unwanted_kinds_are_counted_only() {
    let file = TraceFile::from_bytes(dat(Machine::PC).v7(Packing::Zstd, false)).expect("opens");
    let (_, everything) = read(&file, KindSet::ALL);
    for (wanted, count) in [
        (KindSet::NONE, 0),
        (KindSet::of(&[Kind::Marker]), 1),
        (KindSet::of(&[Kind::Lost]), 1),
        (KindSet::of(&[Kind::Switch]), 120),
    ] {
        let (events, info) = read(&file, wanted);
        assert_eq!(events.len(), count, "{wanted:?}");
        assert!(events.iter().all(|event| wanted.contains(event.kind.kind())));
        assert_eq!((info.events, info.lost_events, info.span), (121, 77, everything.span));
    }
}

#[test]
fn events_without_a_format_are_counted() {
    let mut dat = dat(Machine::PC);
    dat.systems[0].1.clear();
    let (events, info) = all(dat.v6());
    assert_eq!(info.events, 121);
    let others = events.iter().filter(|event| event.kind == EventKind::Other).count();
    assert_eq!(others, 120);
    assert!(
        info.damage.iter().any(|damage| damage.what.contains("120 events have id 300")),
        "{:?}",
        info.damage
    );
    assert_eq!(events[0].context.preempt_depth, Some(2), "the thread that ran is still known");
}

#[test]
fn a_page_with_a_wrong_time_is_skipped() {
    let whole = dat(Machine::PC);
    let (_, everything) = all(whole.v6());
    for wrong in [0u64, 1, 1 << 60, u64::MAX] {
        let mut dat = whole.clone();
        dat.cpus[1][2 * PAGE..2 * PAGE + 8].copy_from_slice(&wrong.to_le_bytes());
        let (events, info) = all(dat.v6());
        assert_eq!(info.events, everything.events - 10, "{wrong:#x}: only that page is lost");
        assert_eq!(info.damage.len(), 1, "{wrong:#x}: {:?}", info.damage);
        assert!(info.damage[0].what.starts_with("CPU 1: "), "{:?}", info.damage);
        assert!(info.damage[0].offset.is_some_and(|offset| offset % PAGE as u64 == 0));
        assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
        let lost = events.iter().filter(|event| matches!(event.kind, EventKind::Lost { count: None, .. }));
        assert_eq!(lost.count(), 1, "the gap is shown");
    }
}

#[test]
fn a_cut_file_gives_what_is_left() {
    let machine = Machine::PC;
    let whole = dat(machine).v6();
    let (everything, _) = all(whole.clone());
    // Two and a half pages of the last CPU are gone.
    let cut = whole[..whole.len() - 2 * PAGE - PAGE / 2].to_vec();
    let (mut events, info) = all(cut.clone());
    let lost = events.pop().expect("a loss");
    let since = events.iter().rev().find(|event| event.cpu == Cpu(1)).map(|event| event.ts);
    assert!(matches!(lost.kind, EventKind::Lost { count: None, since: at, .. } if at == since), "{lost:?}");
    assert_eq!(Some((lost.cpu, lost.ts)), info.span.map(|(_, last)| (Cpu(1), last)), "to the end of all");
    assert!((70..121).contains(&info.events), "{}", info.events);
    let note = info.damage.iter().find(|damage| damage.what.contains("before this CPU's data does"));
    assert_eq!(note.and_then(|damage| damage.offset), Some(cut.len() as u64), "{:?}", info.damage);
    let of = |events: &[Event], cpu| {
        events.iter().filter(|event| event.cpu == Cpu(cpu)).copied().collect::<Vec<_>>()
    };
    assert_eq!(of(&events, 0), of(&everything, 0));
    assert!(of(&everything, 1).starts_with(&of(&events, 1)));
    // Compressed: the index of a real file is at its end; here it is in front of what is cut off.
    let packed = dat(machine).v7(Packing::Zstd, false);
    let tail = packed.len() - 60;
    assert!(TraceFile::from_bytes(packed[..tail].to_vec()).is_err());
}

/// A v7 file with CPU 1's data moved to its end, so that a cut takes data and not the index,
/// and how long that data is.
fn with_data_at_the_end(packing: Packing) -> (Vec<u8>, usize) {
    let mut file = dat(Machine::PC).v7(packing, false);
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes")) as usize;
    let entry = (file.len() - 120..file.len() - 20)
        .find(|&at| file[at..at + 4] == [1, 0, 0, 0] && number(at + 4) % PAGE == 0 && number(at + 12) > 100)
        .expect("the entry of CPU 1");
    let (offset, size, moved) = (number(entry + 4), number(entry + 12), file.len() as u64);
    file.extend_from_within(offset..offset + size);
    file[entry + 4..entry + 12].copy_from_slice(&moved.to_le_bytes());
    (file, size)
}

#[test]
fn cut_data_behind_a_good_index_gives_what_is_left() {
    for packing in [Packing::None, Packing::Zstd, Packing::Zlib] {
        let (file, size) = with_data_at_the_end(packing);
        assert_eq!(all(file.clone()).1.damage, [], "{packing:?}");
        let (events, info) = all(file[..file.len() - size / 2].to_vec());
        let of_cpu_1 = events.iter().filter(|event| event.cpu == Cpu(1)).count();
        assert!((20..50).contains(&of_cpu_1), "{packing:?}: {of_cpu_1}");
        assert_eq!(events.iter().filter(|event| event.cpu == Cpu(0)).count(), 61);
        assert!(info.damage.iter().any(|damage| damage.what.contains("the file ends")), "{:?}", info.damage);
    }
}

#[test]
fn what_is_no_trace_is_refused_by_name() {
    let open = |bytes: &[u8]| TraceFile::from_bytes(bytes.to_vec()).err();
    assert!(matches!(open(b""), Some(DatError::Empty { .. })));
    assert!(matches!(open(b"# tracer: nop\n"), Some(DatError::NotTraceDat { .. })));
    assert!(matches!(open(b"\x17\x08\x44trac"), Some(DatError::NotTraceDat { .. })));
    assert!(matches!(open(b"\x17\x08\x44tracing9\0"), Some(DatError::Version { .. })));
    assert!(matches!(open(b"\x17\x08\x44tracing6\0\0\x08"), Some(DatError::Cut { .. })));
    let lz4 = b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0lz4\x001\0";
    assert!(matches!(open(lz4), Some(DatError::Compression { algorithm, .. }) if algorithm == "lz4"));
    let whole = dat(Machine::PC).v6();
    let error = open(&whole[..whole.len() - 2 * 6 * PAGE - PAGE]).expect("nothing is left");
    assert!(matches!(error, DatError::Cut { .. }), "{error}");
    let folder = TraceFile::open(env!("CARGO_MANIFEST_DIR")).err().expect("a folder is no trace");
    let why = std::error::Error::source(&folder).expect("what the system said").to_string();
    assert!(why.contains("directory"), "{folder}: {why}");
    let missing = TraceFile::open("no/such/file.dat").err().expect("no file");
    assert!(missing.to_string().starts_with("no/such/file.dat: failed to open"), "{missing}");
}

#[test]
fn raw_events_show_every_field() {
    let file = TraceFile::from_bytes(dat(Machine::ALL[3]).v7(Packing::Zlib, false)).expect("opens");
    let mut events = file.raw_events();
    let event = events.next().expect("an event");
    assert_eq!(event.format.map(|format| format.name.as_str()), Some("sched_switch"));
    assert_eq!(
        (event.int("prev_prio"), event.int("prev_state"), event.int("common_flags")),
        (Some(-1), Some(256), Some(1))
    );
    assert_eq!(event.text("next_comm"), Some(&b"task/0 0"[..]));
    assert_eq!((event.int("next_comm"), event.int("no_such_field"), event.buffer), (None, None, 0));
    let mut count = 1;
    while events.next().is_some() {
        count += 1;
    }
    assert_eq!(count, 121);
}

#[test]
fn cpus_can_be_read_on_threads_of_their_own() {
    let file = TraceFile::from_bytes(dat(Machine::PC).v7(Packing::Zstd, false)).expect("opens");
    let streams = file.cpu_events(KindSet::ALL);
    let count = |mut stream: CpuEvents| {
        let (mut batch, mut count) = (Vec::new(), 0);
        loop {
            stream.fill(&mut batch, 7);
            match batch.len() {
                0 => return (stream.cpu(), count),
                more => count += more,
            }
        }
    };
    let counts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = streams.into_iter().map(|stream| scope.spawn(move || count(stream))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(counts, [(Cpu(0), 61), (Cpu(1), 61)]);
}

/// Opens and reads a file to its end, whatever it is; gives how many events there were.
fn survive(bytes: Vec<u8>) -> u64 {
    let size = bytes.len() as u64;
    let Ok(file) = TraceFile::from_bytes(bytes) else { return 0 };
    let mut source = file.events(KindSet::ALL);
    let mut last = Ns(i64::MIN);
    while let Some(event) = source.next_event() {
        assert!(event.ts >= last, "time runs backwards");
        last = event.ts;
    }
    let events = source.info().events;
    // Packed bytes may hold many events; a file that is not packed has at least 8 bytes for each
    // unless CPUs share their pages.
    assert!(events <= size * 64, "{events} events in {size} bytes");
    events
}

fn forms() -> &'static [Vec<u8>] {
    static FORMS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let mut forms: Vec<_> = Machine::ALL.iter().map(|&machine| dat(machine).v6()).collect();
        for packing in [Packing::None, Packing::Zstd, Packing::Zlib] {
            forms.push(dat(Machine::PC).v7(packing, false));
        }
        forms
    })
}

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn flipped_bytes_are_survived(
        form in 0usize..7,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = forms()[form].clone();
        for (index, value) in flips {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        survive(bytes);
    }

    #[test]
    fn a_cut_anywhere_is_survived(form in 0usize..7, cut in any::<prop::sample::Index>()) {
        let bytes = &forms()[form];
        survive(bytes[..cut.index(bytes.len())].to_vec());
    }

    #[test]
    fn garbage_behind_the_magic_is_survived(version in 6u8..8, rest in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = b"\x17\x08\x44tracing".to_vec();
        bytes.extend([b'0' + version, 0, 0, 8]);
        bytes.extend(rest);
        survive(bytes);
    }
}

/// Real recordings, with bytes flipped and ends cut off at places that do not change from run to run.
#[test]
fn damaged_recordings_are_survived() {
    for path in recordings() {
        let bytes = std::fs::read(&path).expect("readable");
        let whole = survive(bytes.clone());
        assert!(whole > 0, "{}", path.display());
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..6 {
            let mut damaged = bytes.clone();
            for _ in 0..20 {
                let at = random(damaged.len());
                damaged[at] ^= 1 << random(8);
            }
            survive(damaged);
            survive(bytes[..random(bytes.len())].to_vec());
        }
    }
}
