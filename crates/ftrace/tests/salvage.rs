//! Cut, overwritten and wrongly timed recordings: every event that is still there is given, the damage has
//! its place, and the quality shows the effect.

mod common;

use common::sample::{PAGE, dat};
use common::{Machine, Packing, recordings, records};
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_events::{Damage, Event, EventKind, EventSource, KindSet, Quality, TraceInfo, drain};
use whylate_ftrace::dat::{Compression, DatError, TraceFile};

fn read(bytes: &[u8]) -> Result<(Vec<Event>, TraceInfo), DatError> {
    let file = TraceFile::from_bytes(bytes.to_vec())?;
    let mut source = file.events(KindSet::ALL);
    let events = drain(&mut source).collect();
    Ok((events, source.info().clone()))
}

/// Where an event of a CPU ends in the file: of a buffer that is not packed, the end of its bytes; of a
/// packed one, the end of its chunk.
fn ends(bytes: &[u8]) -> BTreeMap<Cpu, Vec<(u64, u64)>> {
    let file = TraceFile::from_bytes(bytes.to_vec()).expect("opens");
    let layout = file.page_layout();
    let mut ends: BTreeMap<Cpu, Vec<(u64, u64)>> = BTreeMap::new();
    for buffer in file.buffers() {
        for data in &buffer.cpus {
            let ends = ends.entry(data.cpu).or_default();
            let mut pages = |at: u64, pages: &[u8], end: Option<u64>| {
                for (index, page) in pages.chunks(buffer.page_size).enumerate() {
                    let Some(mut cursor) = layout.open(page) else { continue };
                    let start = at + (index * buffer.page_size) as u64;
                    while let Some(record) = cursor.next(page) {
                        ends.push((record.timestamp, end.unwrap_or(start + record.bytes.end as u64)));
                    }
                }
            };
            let part = |from: u64, size: u64| &bytes[from as usize..(from + size) as usize];
            if !buffer.compressed {
                pages(data.offset, part(data.offset, data.size), None);
                continue;
            }
            let number = |at: u64| u64::from(layout.endian.u32(part(at, 4), 0).expect("4 bytes"));
            let mut at = data.offset + 4;
            for _ in 0..if data.size > 0 { number(data.offset) } else { 0 } {
                let packed = part(at + 8, number(at));
                let unpacked = match file.compression() {
                    Compression::Zstd => zstd::bulk::decompress(packed, 1 << 24).expect("zstd"),
                    _ => {
                        let mut unpacked = Vec::new();
                        std::io::Read::read_to_end(
                            &mut flate2::read::ZlibDecoder::new(packed),
                            &mut unpacked,
                        )
                        .expect("zlib");
                        unpacked
                    }
                };
                at += 8 + number(at);
                pages(at, &unpacked, Some(at));
            }
        }
    }
    // Buffers of a CPU are merged.
    ends.values_mut().for_each(|ends| ends.sort());
    ends
}

/// Small numbers that do not change from run to run.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    }
}

/// Whether `some` are events of `whole`, in its order.
fn is_part(some: &[Event], whole: &[Event]) -> bool {
    let mut rest = whole.iter();
    some.iter().all(|event| rest.any(|other| other == event))
}

/// Cuts a recording at each of `cuts` and holds what is read against what must still be there; gives how many
/// of the cuts left something.
fn assert_cut(bytes: &[u8], cuts: impl Iterator<Item = usize>, place: &str) -> usize {
    let (whole, info) = read(bytes).expect("opens");
    assert_eq!((&info.damage[..], info.quality()), (&[][..], Quality::Whole), "{place}");
    let whole: Vec<Event> = records(whole.into_iter()).collect();
    let ends = ends(bytes);
    assert_eq!(whole.len(), ends.values().map(Vec::len).sum::<usize>(), "{place}");
    let mut left = 0;
    for cut in cuts {
        let there = |ends: &Vec<(u64, u64)>| ends.iter().filter(|(_, end)| *end <= cut as u64).count();
        let expected: BTreeMap<Cpu, usize> = ends.iter().map(|(&cpu, ends)| (cpu, there(ends))).collect();
        let all: usize = expected.values().sum();
        let (events, info) = match read(&bytes[..cut]) {
            Ok(read) => read,
            Err(error) => {
                assert_eq!(all, 0, "{place} cut at {cut}: {error}");
                continue;
            }
        };
        left += usize::from(all > 0);
        let recorded: Vec<Event> = records(events.iter().copied()).collect();
        assert!(is_part(&recorded, &whole), "{place} cut at {cut}: events that were not recorded");
        for (&cpu, &expected) in &expected {
            let given = recorded.iter().filter(|event| event.cpu == cpu).count();
            // Of a chunk that was cut, the beginning may be there as well.
            assert!(given >= expected, "{place} cut at {cut}: {given} of {expected} of CPU {cpu}: {info:?}");
        }
        if recorded.len() < whole.len() {
            assert_ne!(info.quality(), Quality::Whole, "{place} cut at {cut}");
            let at = |damage: &Damage| damage.offset.is_some_and(|at| at <= cut as u64);
            assert!(info.damage.iter().any(at), "{place} cut at {cut}: {:?}", info.damage);
            assert!(
                events.iter().any(|event| matches!(event.kind, EventKind::Lost { .. })),
                "{place} cut at {cut}: the loss is part of the stream"
            );
        }
    }
    left
}

#[test]
fn a_cut_costs_no_event_in_front_of_it() {
    for machine in Machine::ALL {
        let mut dat = dat(machine);
        dat.counts = vec![61, 60];
        let packings = [Packing::None, Packing::Zstd, Packing::Zlib];
        let forms = packings.map(|packing| dat.v7(packing, false)).into_iter().chain([dat.v6()]);
        for (form, bytes) in forms.enumerate() {
            let mut random = random(form as u64);
            let length = bytes.len();
            let data = 2 * 6 * if form % 3 == 0 { PAGE } else { PAGE / 8 };
            let cuts = (0..30).map(|n| length - random(if n % 2 == 0 { length } else { data }));
            assert!(assert_cut(&bytes, cuts, &format!("{machine:?} form {form}")) > 10);
        }
    }
}

#[test]
fn recordings_that_were_cut_give_all_events_before_the_cut() {
    let mut seen = [0, 0];
    for (index, path) in recordings().into_iter().enumerate() {
        let bytes = std::fs::read(&path).expect("readable");
        let mut random = random(index as u64);
        let data = bytes.len() / 3;
        let cuts =
            [bytes.len() - 9_000, bytes.len() - 1, bytes.len() - random(data), bytes.len() - random(data)];
        let left = assert_cut(&bytes, cuts.into_iter(), &path.display().to_string());
        seen[usize::from(bytes[10] == b'7')] += left;
    }
    // The project has a recording of each version.
    assert!(seen.iter().all(|&left| left > 1), "{seen:?}");
}

#[test]
fn zeros_cost_the_pages_they_stand_in() {
    let file = dat(Machine::PC).v6();
    let (whole, _) = read(&file).expect("opens");
    let data = TraceFile::from_bytes(file.clone()).expect("opens").buffers()[0].cpus[0];
    for (first, pages) in [(0, 1), (1, 2), (3, 1), (4, 2)] {
        let mut bytes = file.clone();
        let start = data.offset as usize + first * PAGE;
        bytes[start..start + pages * PAGE].fill(0);
        let (events, info) = read(&bytes).expect("opens");
        let gone = 10 * pages + usize::from(first + pages == 6);
        let recorded: Vec<Event> = records(events.iter().copied()).collect();
        assert_eq!(recorded.len(), 121 - gone, "{first} {pages}");
        assert!(is_part(&recorded, &whole));
        let [damage] = &info.damage[..] else { panic!("{info:?}") };
        assert_eq!((damage.offset, damage.unread), (Some(start as u64), Some((pages * PAGE) as u64)));
        assert_eq!(info.quality(), Quality::Damaged);
        let lost = |event: &&Event| matches!(event.kind, EventKind::Lost { count: None, .. });
        assert_eq!(events.iter().filter(lost).count(), 1, "{first} {pages}: the gap is shown");
    }
}

#[test]
fn a_clock_that_was_set_back_costs_nothing() {
    let machine = Machine::ALL[3];
    let mut back = dat(machine);
    let (whole, _) = read(&back.v6()).expect("opens");
    for page in 3..6 {
        let at = page * PAGE;
        let time = u64::from_be_bytes(back.cpus[1][at..at + 8].try_into().expect("8 bytes"));
        back.cpus[1][at..at + 8].copy_from_slice(&(time - 500_000_000).to_be_bytes());
    }
    for bytes in [back.v6(), back.v7(Packing::None, false)] {
        let (events, info) = read(&bytes).expect("opens");
        let tids = |events: &[Event]| {
            let of = events.iter().filter(|event| event.cpu == Cpu(1));
            of.map(|event| event.context.tid).collect::<Vec<_>>()
        };
        assert_eq!(tids(&events), tids(&whole), "all, and in their order");
        assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
        let [damage] = &info.damage[..] else { panic!("{info:?}") };
        assert!(damage.what.contains("the clock steps back by 300"), "{damage}");
        assert!(damage.offset.is_some());
        assert_eq!(info.quality(), Quality::Poor);
        // Behind the step, times run on from the last.
        let ts: Vec<Ns> = events.iter().filter(|event| event.cpu == Cpu(1)).map(|event| event.ts).collect();
        assert_eq!((ts[31], ts[32].since(ts[31])), (ts[30], Ns(1000)));
    }
    // In chunks, the time of the page that follows is not always at hand: the first one may be lost.
    let (events, info) = read(&back.v7(Packing::Zlib, false)).expect("opens");
    assert_eq!((info.events, info.quality()), (111, Quality::Poor), "{info:?}");
    assert!(is_part(&events[..30], &whole));
}

#[test]
fn a_section_that_is_missing_costs_what_it_describes() {
    let whole = dat(Machine::PC).v7(Packing::Zstd, false);
    let (expected, _) = read(&whole).expect("opens");
    for (id, quality) in [
        (16u16, Quality::Whole),
        (17, Quality::Damaged),
        (18, Quality::Damaged),
        (19, Quality::Whole),
        (21, Quality::Whole),
    ] {
        let option = [&id.to_le_bytes()[..], &8u32.to_le_bytes()].concat();
        let at = whole.windows(6).position(|window| window == option).expect("the option");
        let section = usize::from(whole[at + 6]) | usize::from(whole[at + 7]) << 8;
        let mut bytes = whole.clone();
        bytes[section..section + 40].fill(0xee);
        let (events, info) = read(&bytes).expect("opens");
        assert_eq!(info.quality(), quality, "{id}: {info:?}");
        assert_eq!(info.events, 121, "{id}");
        assert!(info.damage.iter().any(|damage| damage.offset == Some(section as u64)), "{id}: {info:?}");
        if id != 17 && id != 18 {
            assert_eq!(events, expected, "{id}");
        }
    }
}

#[test]
fn bytes_that_two_cpus_claim_are_read_once() {
    let machine = Machine::PC;
    let mut file = dat(machine).v6();
    let buffer = TraceFile::from_bytes(file.clone()).expect("opens").buffers()[0].clone();
    let entry = |index: usize| {
        let data = buffer.cpus[index];
        [machine.number(data.offset, 8), machine.number(data.size, 8)].concat()
    };
    let at = file.windows(16).position(|window| window == entry(1)).expect("the table of CPUs");
    file[at..at + 16].copy_from_slice(&entry(0));
    let (events, info) = read(&file).expect("opens");
    assert_eq!((info.events, info.cpus), (61, 2));
    assert!(events.iter().all(|event| event.cpu == Cpu(0)));
    let [damage] = &info.damage[..] else { panic!("{info:?}") };
    assert!(damage.what.starts_with("CPU 1: its data overlaps another CPU's"), "{damage}");
}
