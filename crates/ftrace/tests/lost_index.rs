//! trace.dat v7 files without their index, which trace-cmd writes last: the pages that are
//! left are given to their CPUs, or left out, and never to a wrong one.

mod common;

use common::{Dat, Machine, Packing, Value, recordings, records};
use whylate_base::{Cpu, Ns};
use whylate_events::{Damage, Event, EventSource, KindSet, drain};
use whylate_ftrace::dat::{DatError, TraceFile};
use whylate_ftrace::format::EventFormat;

const PAGE: usize = 1024;

/// What a file gives: its events, and its damage.
fn read(bytes: &[u8]) -> Result<(Vec<Event>, Vec<Damage>), DatError> {
    let file = TraceFile::from_bytes(bytes.to_vec())?;
    let mut source = file.events(KindSet::ALL);
    let events: Vec<Event> = records(drain(&mut source)).collect();
    assert_eq!(events.len() as u64, source.info().events);
    Ok((events, source.info().damage.clone()))
}

/// Number, place and size of a v7 file's sections; none of a v6 file.
fn sections(bytes: &[u8]) -> Vec<(u16, usize, usize)> {
    let number = |at: usize, size: usize| {
        bytes.get(at..at + size).map(|part| part.iter().rev().fold(0usize, |n, &byte| n << 8 | byte as usize))
    };
    let after = |at: usize| bytes[at..].iter().position(|&byte| byte == 0).map(|end| at + end + 1);
    if !bytes[10..].starts_with(b"7\0\0") {
        return Vec::new();
    }
    let mut at = after(18).and_then(after).expect("the initial format") + 8;
    let mut sections = Vec::new();
    while let (Some(id), Some(size)) = (number(at, 2), number(at + 8, 8)) {
        sections.push((id as u16, at, size));
        at += 16 + size;
    }
    sections
}

/// One CPU's events.
fn of(events: &[Event], cpu: Cpu) -> Vec<Event> {
    events.iter().filter(|event| event.cpu == cpu).copied().collect()
}

/// Whether each CPU's events are the first ones that the whole recording has of it.
fn assert_beginnings(some: &[Event], whole: &[Event], place: &str) {
    for cpu in (0..64).map(Cpu) {
        assert!(of(whole, cpu).starts_with(&of(some, cpu)), "{place}: CPU {cpu}");
    }
}

/// The count in `N events of CPUs ... were recovered`.
fn recovered(damage: &[Damage]) -> Option<usize> {
    let what = &damage.iter().find(|damage| damage.what.contains("were recovered"))?.what;
    what.rsplit_once(": ")?.1.split_once(' ')?.0.parse().ok()
}

#[test]
fn recordings_without_their_index() {
    let mut seen = 0;
    for path in recordings() {
        let bytes = std::fs::read(&path).expect("readable");
        let sections = sections(&bytes);
        let last = |id| sections.iter().rev().find(|section| section.0 == id).copied();
        let (Some((_, data, size)), Some((_, index, index_size))) = (last(3), last(0)) else { continue };
        if index < data {
            continue; // A recording of this project: its index stands before the pages.
        }
        seen += 1;
        let place = path.display().to_string();
        let (whole, damage) = read(&bytes).expect("opens");
        assert_eq!(damage, [], "{place}");

        // All the pages, and no index: cut off, overwritten, or not where the header has them.
        let (events, damage) = read(&bytes[..index]).expect("opens");
        assert_eq!((events == whole, recovered(&damage)), (true, Some(whole.len())), "{place}: {damage:?}");
        assert_eq!((damage.len(), damage[0].offset), (1, Some(index as u64)), "{place}: {damage:?}");
        let mut wiped = bytes.clone();
        wiped[index + 16..index + 16 + index_size].fill(0);
        assert_eq!(read(&wiped).expect("opens").0, whole, "{place}");
        let mut unnumbered = bytes.clone();
        unnumbered[index] = 99;
        assert_eq!(read(&unnumbered).expect("opens").0, whole, "{place}");
        let mut astray = bytes.clone();
        let header = sections[0].1;
        astray[header - 8..header].fill(0);
        let (events, damage) = read(&astray).expect("opens");
        assert_eq!((events == whole, damage.len()), (true, 1), "{place}: {damage:?}");

        // Cut inside the pages: the beginnings, and their count.
        let mut most = 0;
        for part in [2, 6, 9] {
            let cut = data + 16 + size * part / 10;
            match read(&bytes[..cut]) {
                Ok((events, damage)) => {
                    assert_beginnings(&events, &whole, &place);
                    assert_eq!(recovered(&damage), Some(events.len()), "{place}: {damage:?}");
                    assert!(events.len() >= most && events.len() < whole.len(), "{place} cut at {cut}");
                    most = events.len();
                }
                Err(error) => assert!(most == 0 && matches!(error, DatError::Cut { .. }), "{error}"),
            }
        }
        assert!(most > 0, "{place}: nothing was recovered");
        // Cut before the pages, there is nothing.
        let error = read(&bytes[..data]).expect_err("no pages");
        assert!(error.to_string().contains("no event is left"), "{error}");
    }
    assert!(seen > 0, "no recording has its index at the end");
}

/// Three CPUs, the second without events, the third's after the first's. The first shows
/// its idle task if `idle` is set.
fn dat(idle: bool, counted: bool) -> Dat {
    let machine = Machine::PC;
    let fields = [
        "char prev_comm[16]",
        "pid_t prev_pid",
        "int prev_prio",
        "long prev_state",
        "char next_comm[16]",
        "pid_t next_pid",
        "int next_prio",
    ];
    let switch = machine.format("sched_switch", 300, &fields, "\"\"");
    let format = EventFormat::parse("sched", &switch).expect("a format");
    let pages = |cpu: u64, first: u64, pages: u64| -> Vec<u8> {
        let page = |page: u64| {
            let start = first + page * 10_000;
            let comm = if idle { format!("swapper/{cpu}") } else { "worker".to_owned() };
            let values = [("prev_comm", Value::Text(&comm)), ("next_pid", Value::Int(cpu as i64 + 1))];
            let record = machine.record(&format, &values);
            let data: Vec<u8> = (0..8).flat_map(|n| machine.event(n * 10, &record)).collect();
            machine.page(PAGE, start, &data, None)
        };
        (0..pages).flat_map(page).collect()
    };
    Dat {
        machine,
        page_size: PAGE,
        ftrace: Vec::new(),
        systems: vec![("sched".into(), vec![switch.clone()])],
        kallsyms: String::new(),
        comms: String::new(),
        clock: "mono".into(),
        cpus: vec![pages(0, 1_000_000, 3), Vec::new(), pages(2, 2_000_000, 5)],
        counts: if counted { vec![24, 0, 40] } else { Vec::new() },
        options: Vec::new(),
        instances: Vec::new(),
    }
}

/// A file without its index: cut off at the last options section.
fn without_index(dat: &Dat, packing: Packing) -> Vec<u8> {
    let mut bytes = dat.v7(packing, false);
    // Its section of pages has no size, like that of a writer that was interrupted.
    let options = 16 + 6 + 8 + 1 + "mono\0".len() + 8 + 20 * dat.cpus.len() + 6 + 8;
    bytes.truncate(bytes.len() - options);
    bytes
}

#[test]
fn time_alone_does_not_tell_cpus_apart() {
    // The last CPU's pages follow the first one's in time as well.
    let whole = read(&dat(true, true).v7(Packing::None, false)).expect("opens").0;
    assert_eq!((whole.len(), of(&whole, Cpu(2))[0].ts), (64, Ns(2_000_000)));
    for idle in [true, false] {
        let (events, damage) = read(&without_index(&dat(idle, true), Packing::None)).expect("opens");
        let cpus = |events: &[Event]| events.iter().map(|event| (event.ts, event.cpu)).collect::<Vec<_>>();
        assert_eq!(cpus(&events), cpus(&whole), "counted: {damage:?}");
        assert_eq!(recovered(&damage), Some(64));
    }
    for idle in [true, false] {
        let error =
            read(&without_index(&dat(idle, false), Packing::None)).expect_err("pages of no known CPU");
        assert!(error.to_string().contains("no page shows its CPU"), "{error}");
    }
}

#[test]
fn compressed_runs_are_told_by_count_or_by_idle_task() {
    for packing in [Packing::Zstd, Packing::Zlib] {
        for (idle, counted) in [(true, true), (true, false), (false, true)] {
            let (events, damage) = read(&without_index(&dat(idle, counted), packing)).expect("opens");
            assert_eq!((of(&events, Cpu(0)).len(), of(&events, Cpu(2)).len()), (24, 40), "{damage:?}");
        }
        assert!(read(&without_index(&dat(false, false), packing)).is_err(), "{packing:?}");
    }
}

#[test]
fn counts_that_contradict_the_pages_are_not_used() {
    let mut wrong = dat(true, true);
    wrong.counts = vec![0, 24, 40];
    let (events, damage) = read(&without_index(&wrong, Packing::Zstd)).expect("opens");
    // The first run's idle task is CPU 0's, and CPU 1's count: no CPU's.
    assert_eq!((of(&events, Cpu(0)).len(), of(&events, Cpu(1)).len()), (0, 0), "{damage:?}");
    assert_eq!(of(&events, Cpu(2)).len(), 40);
    assert!(damage.iter().any(|damage| damage.what.contains("24 events in")), "{damage:?}");
}

#[test]
fn symbols_that_cannot_be_read_are_named() {
    let mut bytes = dat(true, true).v7(Packing::Zstd, false);
    let symbols = sections(&bytes).into_iter().find(|section| section.0 == 19).expect("symbols").1;
    bytes[symbols + 24..symbols + 28].fill(0xff);
    let (_, damage) = read(&bytes).expect("opens");
    let [damage] = &damage[..] else { panic!("{damage:?}") };
    assert_eq!(damage.offset, Some(symbols as u64));
    assert!(damage.what.contains("functions have no names"), "{damage}");
}
