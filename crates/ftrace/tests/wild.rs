//! What trace.dat files of the wild have besides plain events: shifted times, several buffers, pages of
//! other sizes, a latency tracer's text.

mod common;

use common::sample::{PAGE, dat};
use common::{Dat, Instance, Machine, Packing};
use std::process::Command;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, EventKind, EventSource, KindSet, Quality, TraceInfo, drain};
use whylate_ftrace::dat::{DatError, TraceFile};
use whylate_testing::{Need, skip};

fn open(bytes: Vec<u8>) -> TraceFile {
    TraceFile::from_bytes(bytes).expect("opens")
}

fn read(file: &TraceFile) -> (Vec<Event>, TraceInfo) {
    let mut source = file.events(KindSet::ALL);
    let events = drain(&mut source).collect();
    (events, source.info().clone())
}

/// Both versions of a recording.
fn versions(dat: &Dat) -> [Vec<u8>; 3] {
    [dat.v6(), dat.v7(Packing::None, false), dat.v7(Packing::Zstd, false)]
}

/// Instants of a CPU's events.
fn times(events: &[Event], cpu: u32) -> Vec<i64> {
    events.iter().filter(|event| event.cpu == Cpu(cpu)).map(|event| event.ts.0).collect()
}

/// A TIME_SHIFT option: for each CPU, rows of time, offset, scaling and fraction.
fn time_shift(machine: Machine, flags: u64, cpus: &[&[[i64; 4]]]) -> Vec<u8> {
    let n = |value: u64, size| machine.number(value, size);
    let mut data = [n(0xabcd, 8), n(flags, 4), n(cpus.len() as u64, 4)].concat();
    for rows in cpus {
        data.extend(n(rows.len() as u64, 4));
        for column in 0..3 {
            rows.iter().for_each(|row| data.extend(n(row[column] as u64, 8)));
        }
    }
    cpus.iter().flat_map(|rows| rows.iter()).for_each(|row| data.extend(n(row[3] as u64, 8)));
    data
}

#[test]
fn times_are_shifted_as_the_file_says() {
    for machine in Machine::ALL {
        let plain = dat(machine);
        let (unshifted, info) = read(&open(plain.v6()));
        assert!(!info.time_shifted);
        // Of two comparisons the first one counts at any time, as in trace-cmd.
        let cpu0: &[[i64; 4]] = &[[0, 1_000, 3, 1], [200_000_000, 2_000, 3, 1]];
        let cpu1: &[[i64; 4]] = &[[5, -7, 1, 0]];
        let n = |value: u64, size| machine.number(value, size);
        let tsc2nsec = [n(2, 4), n(1, 4), n(99, 8)].concat();
        let options = [
            (1, b"0x3\0".to_vec()),
            (7, b"-500\0".to_vec()),
            (12, time_shift(machine, 0, &[cpu0, cpu1])),
            (14, tsc2nsec),
        ];
        let shifted = Dat { options: options.to_vec(), ..plain };
        for bytes in versions(&shifted) {
            let file = open(bytes);
            let (events, info) = read(&file);
            assert!(info.time_shifted && info.damage.is_empty(), "{info:?}");
            assert_eq!(file.session().host, Some(0xabcd));
            let expected: Vec<i64> =
                times(&unshifted, 0).into_iter().map(|at| at * 3 / 2 + 1_000 + 3_000 - 500).collect();
            assert_eq!(times(&events, 0), expected, "{machine:?}");
            let expected: Vec<i64> =
                times(&unshifted, 1).into_iter().map(|at| at - 7 + 3_000 - 500).collect();
            assert_eq!(times(&events, 1), expected, "{machine:?}");
            assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
            let mut raw = file.raw_events();
            let mut raw_times = Vec::new();
            while let Some(event) = raw.next() {
                raw_times.push((event.ts, event.cpu));
            }
            let typed = events.iter().filter(|event| !matches!(event.kind, EventKind::Lost { .. }));
            assert_eq!(raw_times, typed.map(|event| (event.ts, event.cpu)).collect::<Vec<_>>());
        }
    }
}

/// `trace-cmd report` shifts the times in the same way, where it is installed.
#[test]
fn trace_cmd_shifts_them_alike() {
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let machine = Machine::PC;
    let rows: &[[i64; 4]] =
        &[[0, 4_000, 1, 0], [400_000_000, 50_000_000, 1, 0], [600_000_000, 90_000_000, 1, 0]];
    for (flags, cpus) in [(0, [rows, &rows[..1]]), (1, [rows, &rows[..2]])] {
        let options =
            vec![(1, b"0x3\0".to_vec()), (7, b"-500\0".to_vec()), (12, time_shift(machine, flags, &cpus))];
        let bytes = Dat { options, ..dat(machine) }.v6();
        let (events, _) = read(&open(bytes.clone()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shifted.dat");
        std::fs::write(&path, bytes).expect("written");
        let report =
            Command::new("trace-cmd").args(["report", "-t", "-i"]).arg(&path).output().expect("runs");
        let text = String::from_utf8_lossy(&report.stdout);
        let theirs: Vec<(u32, i64)> = text.lines().filter_map(time_of).collect();
        if !report.status.success() || theirs.is_empty() {
            skip(Need::Machine, format_args!("in part: trace-cmd printed nothing ({})", report.status));
            continue;
        }
        let typed = events.iter().filter(|event| !matches!(event.kind, EventKind::Lost { .. }));
        let ours: Vec<(u32, i64)> = typed.map(|event| (event.cpu.0, event.ts.0)).collect();
        assert_eq!(ours, theirs, "{flags}");
    }
}

/// CPU and nanoseconds of a line such as `task-7 [001]  1.200000123: sched_switch: ...`.
fn time_of(line: &str) -> Option<(u32, i64)> {
    let (_, rest) = line.split_once(" [")?;
    let (cpu, rest) = rest.split_once("] ")?;
    let (seconds, fraction) = rest.trim_start().split_once(':')?.0.split_once('.')?;
    (fraction.len() == 9).then_some(())?;
    Some((cpu.parse().ok()?, seconds.parse::<i64>().ok()? * 1_000_000_000 + fraction.parse::<i64>().ok()?))
}

#[test]
fn hosts_and_guests_know_each_other() {
    for machine in Machine::ALL {
        let n = |value: u64, size| machine.number(value, size);
        let pairs = [n(0, 4), n(4711, 4), n(1, 4), n(4712, 4)].concat();
        let guest = [b"vm one\0".to_vec(), n(77, 8), n(2, 4), pairs].concat();
        let options = vec![(11, n(42, 8)), (13, guest), (9, b"trace-cmd 3.2\0".to_vec())];
        for bytes in versions(&Dat { options, ..dat(machine) }) {
            let file = open(bytes);
            let session = file.session();
            assert_eq!((session.id, session.host), (Some(42), None));
            let cpus = vec![(Cpu(0), Tid(4711)), (Cpu(1), Tid(4712))];
            let guests = session.guests.iter().map(|guest| (guest.name.as_str(), guest.id, &guest.cpus));
            assert!(guests.eq([("vm one", 77, &cpus)]), "{:?}", session.guests);
            assert_eq!(file.writer(), Some("trace-cmd 3.2"));
            assert_eq!(read(&file).1.damage, []);
        }
    }
}

#[test]
fn options_that_make_no_sense_are_noted() {
    for id in [1, 7, 12, 13, 14] {
        for bytes in versions(&Dat { options: vec![(id, b"?\0".to_vec())], ..dat(Machine::PC) }) {
            let (events, info) = read(&open(bytes));
            assert_eq!(
                (events.len(), info.damage.len(), info.quality()),
                (122, 1, Quality::Whole),
                "{info:?}"
            );
            assert!(info.damage[0].offset.is_some());
        }
    }
}

#[test]
fn buffers_may_differ_in_clock_and_page_size() {
    for machine in Machine::ALL {
        let top = dat(machine);
        let instance = |name: &str, clock: &str, page_size: usize| {
            // The same pages, at the beginning of larger ones.
            let grow = |pages: &Vec<u8>| -> Vec<u8> {
                pages
                    .chunks(PAGE)
                    .flat_map(|page| {
                        let mut page = page.to_vec();
                        page.resize(page_size, 0);
                        page
                    })
                    .collect()
            };
            let cpus = top.cpus.iter().map(grow).collect();
            Instance { name: name.into(), clock: clock.into(), page_size, cpus }
        };
        let same = Dat { instances: vec![instance("one", "mono", PAGE)], ..top.clone() };
        for bytes in versions(&same) {
            let file = open(bytes);
            let names: Vec<_> = file.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
            assert_eq!(names, ["", "one"]);
            let (events, info) = read(&file);
            assert_eq!((events.len(), info.events, info.lost_events), (244, 242, 154));
            assert_eq!((info.cpus, &info.damage[..]), (2, &[][..]));
        }
        let large = Dat { instances: vec![instance("large", "mono", 64 << 10)], ..top.clone() };
        for packing in [Packing::None, Packing::Zstd] {
            let (events, info) = read(&open(large.v7(packing, false)));
            assert_eq!((events.len(), info.damage.len()), (244, 0), "{packing:?}");
        }
        let clocks = Dat { instances: vec![instance("two", "local", PAGE)], ..top.clone() };
        let (events, info) = read(&open(clocks.v7(Packing::None, false)));
        assert_eq!((events.len(), info.quality()), (244, Quality::Poor));
        assert!(info.damage[0].what.contains("different clocks (mono, local)"), "{:?}", info.damage);
    }
}

#[test]
fn a_clock_that_counts_ticks_is_named() {
    let mut counted = dat(Machine::PC);
    counted.clock = "x86-tsc".into();
    for bytes in versions(&counted) {
        let (events, info) = read(&open(bytes));
        assert_eq!((events.len(), info.quality()), (122, Quality::Poor));
        assert!(info.damage[0].what.contains("x86-tsc counts ticks"), "{:?}", info.damage);
    }
    let n = |value: u64, size| Machine::PC.number(value, size);
    counted.options = vec![(14, [n(1 << 20, 4), n(20, 4), n(0, 8)].concat())];
    for bytes in versions(&counted) {
        let (events, info) = read(&open(bytes));
        assert_eq!((info.quality(), events[0].ts), (Quality::Whole, Ns(1_000_000)));
    }
}

#[test]
fn a_latency_tracers_text_is_handed_on() {
    const TEXT: &str = "# tracer: wakeup_rt\n#\n# wakeup_rt latency trace v1.1.5 on 6.1.0-rt\n";
    let machine = Machine::ALL[3];
    let forms = [
        dat(machine).v6_latency(TEXT),
        dat(machine).v7_latency(Packing::None, TEXT),
        dat(machine).v7_latency(Packing::Zstd, TEXT),
        dat(machine).v7_latency(Packing::Zlib, TEXT),
    ];
    for bytes in forms {
        let error = TraceFile::from_bytes(bytes).err().expect("no events");
        let DatError::Text { text, .. } = error else { panic!("{error}") };
        assert_eq!(String::from_utf8_lossy(&text.0), TEXT);
    }
    // Cut: what is there.
    let cut = dat(machine).v6_latency(&TEXT[..30]);
    assert!(matches!(TraceFile::from_bytes(cut), Err(DatError::Text { text, .. }) if text.0.len() == 30));
    let packed = dat(machine).v7_latency(Packing::Zstd, TEXT);
    for at in 0..packed.len() {
        if let Err(DatError::Text { text, .. }) = TraceFile::from_bytes(packed[..at].to_vec()) {
            assert!(TEXT.as_bytes().starts_with(&text.0));
        }
    }
}
