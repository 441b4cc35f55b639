//! Recordings of other machines, made of real ones: each record is encoded anew, with the byte order, the word size and the
//! numbers of system calls of that machine. They are fixtures of `whylate explain` as well.

mod common;

use common::{Dat, Machine, Packing, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use whylate_base::Tid;
use whylate_events::{Event, EventKind, EventSource, KindSet, drain};
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::dat::{RawEvent, TraceFile};
use whylate_ftrace::format::{EventFormat, Field, ValueAt};

const PAGE: usize = 4096;

/// What is made: `uname -m`, the machine, and what its files are called.
const MACHINES: [(&str, Machine); 4] = [
    ("aarch64", Machine { endian: Endian::Little, long: 8 }),
    ("armv7l", Machine { endian: Endian::Little, long: 4 }),
    ("aarch64_be", Machine { endian: Endian::Big, long: 8 }),
    ("armv7b", Machine { endian: Endian::Big, long: 4 }),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures")
}

/// The number that a call of x86-64 has on arm64 (`scripts/syscall.tbl`) and on arm (`arch/arm/tools/syscall.tbl`). Calls that
/// do not matter to an explanation get numbers of no call.
fn call_number(x86_64: i64, long: usize) -> i64 {
    let (arm64, arm) = match x86_64 {
        0 => (63, 3),
        1 => (64, 4),
        7 => (73, 336),
        61 => (260, 114),
        202 => (98, 240),
        203 => (122, 241),
        230 => (115, 265),
        314 => (274, 380),
        other => (other + 1_000, other + 1_000),
    };
    if long == 8 { arm64 } else { arm }
}

/// A field's declaration in words whose size is known.
fn declaration(field: &Field) -> String {
    let pc = Machine::PC.format("x", 1, &[&field.declaration], "");
    let format = EventFormat::parse("x", &pc).expect("a format");
    let known = format.field(&field.name).is_some_and(|own| own.size == field.size);
    if known || field.array || field.place != ValueAt::Here {
        return field.declaration.clone();
    }
    format!("{}{} {}", if field.signed { "s" } else { "u" }, field.size * 8, field.name)
}

/// Whether a field has the size of a long, on any machine.
fn is_long(field: &Field) -> bool {
    let size = |long| {
        let text = Machine { endian: Endian::Little, long }.format("x", 1, &[&declaration(field)], "");
        EventFormat::parse("x", &text).and_then(|format| Some(format.field(&field.name)?.size))
    };
    size(4) != size(8)
}

/// A format of another machine.
#[derive(Clone)]
struct OwnFormat {
    system: String,
    text: String,
    parsed: EventFormat,
    /// Of each field whether it is a long.
    longs: Vec<bool>,
}

/// A recording as another machine would have written it.
struct Foreign {
    machine: Machine,
    formats: BTreeMap<u16, OwnFormat>,
    symbols: BTreeMap<u64, String>,
}

impl Foreign {
    fn format(&mut self, format: &EventFormat) -> OwnFormat {
        let machine = self.machine;
        let made = self.formats.entry(format.id).or_insert_with(|| {
            let fields: Vec<String> = format.own_fields().map(declaration).collect();
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            let text = machine.format(&format.name, format.id, &fields, &format.print_fmt);
            let parsed = EventFormat::parse(&format.system, &text).expect("a format");
            let longs = format.fields.iter().map(is_long).collect();
            OwnFormat { system: format.system.clone(), text, parsed, longs }
        });
        made.clone()
    }

    fn record(&mut self, event: &RawEvent<'_>, file: &TraceFile) -> Vec<u8> {
        let format = event.format.expect("a format");
        let own = self.format(format);
        let (machine, is_call) = (self.machine, matches!(format.name.as_str(), "sys_enter" | "sys_exit"));
        let int = |name: &str| event.int(name).unwrap_or_default();
        let mut longs: Vec<(&str, Vec<u64>)> = Vec::new();
        let mut values: Vec<(&str, Value<'_>)> = Vec::new();
        for (field, &is_long) in format.fields.iter().zip(&own.longs) {
            let name = field.name.as_str();
            if name == "common_type" {
                continue;
            }
            if field.array && field.place == ValueAt::Here && field.declaration.contains("long ") {
                let bytes = event.bytes(name).expect("an array");
                let all =
                    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
                longs.push((name, all.map(|word| word & 0xffff_ffff).collect()));
            } else if field.array || field.place != ValueAt::Here {
                let text = std::str::from_utf8(event.text(name).expect("a text")).expect("UTF-8");
                values.push((name, Value::Text(text)));
            } else {
                let value = match (int(name), is_long) {
                    (value, true) if is_call && name == "id" => call_number(value, machine.long),
                    // What fits 32 bits on all of them, so that all of them show the same.
                    (value, true) if field.signed => i64::from(value as i32),
                    (value, true) => {
                        let symbol = String::from_utf8_lossy(file.symbols().name(value as u64)).into_owned();
                        let value = value & 0xffff_ffff;
                        if !symbol.is_empty() {
                            self.symbols.insert(value as u64, symbol);
                        }
                        value
                    }
                    (value, false) => value,
                };
                values.push((name, Value::Int(value)));
            }
        }
        values.extend(longs.iter().map(|(name, all)| (*name, Value::Longs(all))));
        machine.record(&own.parsed, &values)
    }
}

/// A recording of the fixtures, as this machine would have written it.
fn made(of: &str, name: &str, machine: Machine) -> Vec<u8> {
    let file = TraceFile::open(fixtures().join(of)).expect("the recording");
    let mut foreign = Foreign { machine, formats: BTreeMap::new(), symbols: BTreeMap::new() };
    let mut cpus: Vec<Vec<u8>> = Vec::new();
    let mut open: Vec<Option<(u64, u64, Vec<u8>)>> = Vec::new();
    let mut threads = BTreeSet::new();
    let mut events = file.raw_events();
    while let Some(event) = events.next() {
        assert_eq!(event.lost, None);
        let cpu = event.cpu.0 as usize;
        if cpus.len() <= cpu {
            cpus.resize(cpu + 1, Vec::new());
            open.resize(cpu + 1, None);
        }
        threads.insert(event.context.tid.0);
        let (time, record) = (event.ts.0 as u64, foreign.record(&event, &file));
        if let Some((first, _, data)) =
            open[cpu].take_if(|(_, _, data)| data.len() + record.len() + 40 > PAGE)
        {
            cpus[cpu].extend(machine.page(PAGE, first, &data, None));
        }
        let (_, last, data) = open[cpu].get_or_insert((time, time, Vec::new()));
        data.extend(machine.event(time - *last, &record));
        *last = time;
    }
    for (pages, open) in cpus.iter_mut().zip(open) {
        if let Some((first, _, data)) = open {
            pages.extend(machine.page(PAGE, first, &data, None));
        }
    }
    let mut systems: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for OwnFormat { system, text, .. } in foreign.formats.values() {
        systems.entry(system.clone()).or_default().push(text.clone());
    }
    let ftrace = systems.remove("ftrace").unwrap_or_default();
    let comms = threads.iter().filter_map(|&tid| Some(format!("{tid} {}\n", file.comm(Tid(tid))?)));
    let kallsyms = foreign.symbols.iter().map(|(at, name)| format!("{at:08x} T {name}\n"));
    let dat = Dat {
        machine,
        page_size: PAGE,
        ftrace,
        systems: systems.into_iter().collect(),
        kallsyms: kallsyms.collect(),
        comms: comms.collect(),
        clock: "mono".into(),
        cpus,
        counts: Vec::new(),
        options: vec![(5, format!("Linux node 6.1.0-rt-made {name}\0").into_bytes())],
        instances: Vec::new(),
    };
    dat.v7(Packing::Zstd, false)
}

fn events(bytes: Vec<u8>) -> Vec<Event> {
    let file = TraceFile::from_bytes(bytes).expect("opens");
    let mut source = file.events(KindSet::ALL);
    let events = drain(&mut source).collect();
    assert!(source.info().damage.is_empty(), "{:?}", source.info().damage);
    events
}

/// The same events, but for the numbers of calls, which belong to the machine.
#[test]
fn a_recording_is_read_the_same_from_any_machine() {
    for of in ["6.1-higher.dat", "6.1-lock-chain.dat"] {
        let read = |(name, machine)| {
            let mut events = events(made(of, name, machine));
            for event in &mut events {
                match &mut event.kind {
                    EventKind::SyscallEnter(call) => call.nr = 0,
                    EventKind::SyscallExit(call) => call.nr = 0,
                    _ => {}
                }
            }
            events
        };
        let own = read(MACHINES[0]);
        assert!(own.len() > 1_000, "{}", own.len());
        for machine in &MACHINES[1..] {
            let other = read(*machine);
            let differs = own.iter().zip(&other).position(|(own, other)| own != other);
            assert!(
                own.len() == other.len() && differs.is_none(),
                "{of} {machine:?}: {:?}",
                differs.map(|at| (&own[at], &other[at]))
            );
        }
    }
}

/// The fixtures of `whylate explain` are these encodings: WHYLATE_BLESS=1 writes them anew.
#[test]
fn the_fixtures_are_what_is_encoded_here() {
    for (name, machine) in MACHINES {
        let path = fixtures().join(format!("made-{name}-lock-chain.dat.gz"));
        let made = made("6.1-lock-chain.dat", name, machine);
        if std::env::var_os("WHYLATE_BLESS").is_some() {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut packed, &made).expect("packed");
            std::fs::write(&path, packed.finish().expect("packed")).expect("written");
        }
        let packed = std::fs::read(&path).expect("the fixture");
        let mut fixture = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut fixture)
            .expect("unpacked");
        // Another version of the zstd library packs otherwise: what is read counts.
        assert!(events(fixture) == events(made), "{name}: WHYLATE_BLESS=1 writes it anew");
    }
}
