//! Recordings made up byte by byte, after the kernel's and trace-cmd's own descriptions,
//! on any kind of machine: both byte orders, both word sizes, both container versions.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod ask;
pub(crate) mod sample;

use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use whylate_base::{Cpu, Ns};
use whylate_events::{Event, EventKind};
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::format::{EventFormat, ValueAt};
use whylate_testing::{Need, skip};

/// That many cases, the same in every run.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(0x7761_6b65), ..ProptestConfig::with_cases(cases) }
}

/// The first event of each record: a stack is one record, and an event for each of its functions. Losses are
/// no records.
pub(crate) fn records(events: impl Iterator<Item = Event>) -> impl Iterator<Item = Event> {
    let mut stack: Option<(Cpu, Ns)> = None;
    events.filter(move |event| match event.kind {
        EventKind::Lost { .. } => false,
        EventKind::StackFrame { .. } => stack.replace((event.cpu, event.ts)) != Some((event.cpu, event.ts)),
        _ => {
            stack = None;
            true
        }
    })
}

/// The traced machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    pub(crate) endian: Endian,
    pub(crate) long: usize,
}

impl Machine {
    pub(crate) const PC: Machine = Machine { endian: Endian::Little, long: 8 };
    pub(crate) const ALL: [Machine; 4] = [
        Machine::PC,
        Machine { endian: Endian::Little, long: 4 },
        Machine { endian: Endian::Big, long: 8 },
        Machine { endian: Endian::Big, long: 4 },
    ];

    /// The lowest `size` bytes of a number, in this machine's order.
    pub(crate) fn number(self, value: u64, size: usize) -> Vec<u8> {
        match self.endian {
            Endian::Little => value.to_le_bytes()[..size].to_vec(),
            Endian::Big => value.to_be_bytes()[8 - size..].to_vec(),
        }
    }

    pub(crate) fn header_page(self, page_size: usize) -> String {
        let data = 8 + self.long;
        format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:0;\n",
            self.long,
            page_size - data
        )
    }

    /// An event's header word.
    pub(crate) fn word(self, type_len: u32, delta: u32) -> Vec<u8> {
        let word = match self.endian {
            Endian::Little => delta << 5 | type_len,
            Endian::Big => type_len << 27 | delta,
        };
        self.number(u64::from(word), 4)
    }

    /// A data event, in the short form where it fits, behind a time extend where it must.
    pub(crate) fn event(self, delta: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if delta >= 1 << 27 {
            bytes.extend(self.word(30, (delta & ((1 << 27) - 1)) as u32));
            bytes.extend(self.number(delta >> 27, 4));
        }
        let delta = if delta >= 1 << 27 { 0 } else { delta as u32 };
        let mut payload = payload.to_vec();
        payload.resize(payload.len().next_multiple_of(4), 0);
        if (1..=28).contains(&(payload.len() / 4)) {
            bytes.extend(self.word(payload.len() as u32 / 4, delta));
        } else {
            bytes.extend(self.word(0, delta));
            bytes.extend(self.number(payload.len() as u64 + 4, 4));
        }
        bytes.extend(payload);
        bytes
    }

    /// A page around events that are already encoded. `lost`: events were lost before it,
    /// and how many where that is to be stored.
    pub(crate) fn page(self, size: usize, timestamp: u64, data: &[u8], lost: Option<Option<u64>>) -> Vec<u8> {
        let flags = match lost {
            None => 0,
            Some(None) => 1 << 31,
            Some(Some(_)) => 3 << 30,
        };
        let mut page = self.number(timestamp, 8);
        page.extend(self.number(data.len() as u64 | flags, self.long));
        page.extend(data);
        if let Some(Some(count)) = lost {
            page.extend(self.number(count, self.long));
        }
        assert!(page.len() <= size, "too much for a page");
        page.resize(size, 0);
        page
    }

    /// A format file; fields are laid out as a C compiler does.
    pub(crate) fn format(self, name: &str, id: u16, fields: &[&str], print_fmt: &str) -> String {
        let mut text = format!("name: {name}\nID: {id}\nformat:\n");
        let mut offset = 0;
        let common = [
            "unsigned short common_type",
            "unsigned char common_flags",
            "unsigned char common_preempt_count",
            "int common_pid",
        ];
        for declaration in common.iter().chain(fields) {
            let (size, align) = self.size_of(declaration);
            offset = usize::next_multiple_of(offset, align);
            let signed = !declaration.contains("unsigned") && !declaration.contains(['*', '[']);
            text += &format!(
                "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{};\n",
                signed as u8
            );
            offset += size;
        }
        text + &format!("\nprint fmt: {print_fmt}\n")
    }

    fn size_of(self, declaration: &str) -> (usize, usize) {
        if declaration.starts_with("__data_loc") || declaration.starts_with("__rel_loc") {
            return (4, 4);
        }
        let one = match declaration {
            d if d.contains('*') || d.contains("long ") => self.long,
            d if d.contains("64 ") => 8,
            d if d.contains("short") => 2,
            d if d.contains("char") => 1,
            _ => 4,
        };
        let count = match declaration.split_once('[') {
            Some((_, rest)) => rest.trim_end_matches(']').parse().unwrap_or(0),
            None => 1,
        };
        (one * count, one)
    }

    /// A record of that format. Fields that are not given are 0.
    pub(crate) fn record(self, format: &EventFormat, values: &[(&str, Value<'_>)]) -> Vec<u8> {
        let length = format.fields.iter().map(|field| field.offset + field.size).max().unwrap_or(0);
        let mut record = vec![0; length];
        record[..2].copy_from_slice(&self.number(u64::from(format.id), 2));
        for (name, value) in values {
            let field = format.field(name).unwrap_or_else(|| panic!("{} has no {name}", format.name));
            let bytes = match value {
                Value::Int(value) => self.number(*value as u64, field.size),
                Value::Longs(values) => {
                    // An array of no size ends with the record.
                    let each = if field.size == 0 { self.long } else { field.size / values.len() };
                    values.iter().flat_map(|&value| self.number(value, each)).collect()
                }
                Value::Text(text) if field.place != ValueAt::Here => {
                    let base = if field.place == ValueAt::RelLoc { field.offset + 4 } else { 0 };
                    let at = record.len() - base;
                    record.extend(text.as_bytes());
                    record.push(0);
                    self.number((text.len() as u64 + 1) << 16 | at as u64, 4)
                }
                Value::Text(text) => text.as_bytes().to_vec(),
            };
            if record.len() < field.offset + bytes.len() {
                record.resize(field.offset + bytes.len() + 1, 0);
            }
            record[field.offset..field.offset + bytes.len()].copy_from_slice(&bytes);
        }
        record
    }
}

/// A field's value.
pub(crate) enum Value<'v> {
    Int(i64),
    Longs(&'v [u64]),
    Text(&'v str),
}

/// A trace.dat in the making.
#[derive(Clone)]
pub(crate) struct Dat {
    pub(crate) machine: Machine,
    pub(crate) page_size: usize,
    /// Format texts of the group `ftrace`.
    pub(crate) ftrace: Vec<String>,
    /// Systems with their format texts.
    pub(crate) systems: Vec<(String, Vec<String>)>,
    pub(crate) kallsyms: String,
    pub(crate) comms: String,
    pub(crate) clock: String,
    /// Whole pages of each CPU.
    pub(crate) cpus: Vec<Vec<u8>>,
    /// How many events the kernel's statistics count on each CPU; none are written if empty.
    pub(crate) counts: Vec<u64>,
    /// Further options: number and data.
    pub(crate) options: Vec<(usize, Vec<u8>)>,
    pub(crate) instances: Vec<Instance>,
}

/// Another buffer than the top one.
#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) name: String,
    /// Of version 7 only: an older file has one clock.
    pub(crate) clock: String,
    /// Of version 7 only: an older file has one size.
    pub(crate) page_size: usize,
    pub(crate) cpus: Vec<Vec<u8>>,
}

/// The compression of a v7 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Zstd,
    Zlib,
}

impl Packing {
    fn name(self) -> &'static [u8] {
        match self {
            Packing::None => b"none\0\0",
            Packing::Zstd => b"zstd\x001.5\0",
            Packing::Zlib => b"zlib\x001.2\0",
        }
    }

    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Packing::None => bytes.to_vec(),
            Packing::Zstd => zstd::bulk::compress(bytes, 3).expect("zstd"),
            Packing::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                std::io::Write::write_all(&mut encoder, bytes).expect("zlib");
                encoder.finish().expect("zlib")
            }
        }
    }
}

impl Dat {
    fn n(&self, value: usize, size: usize) -> Vec<u8> {
        self.machine.number(value as u64, size)
    }

    fn sized(&self, text: &[u8], size: usize) -> Vec<u8> {
        [self.n(text.len(), size), text.to_vec()].concat()
    }

    fn initial(&self, version: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x17\x08\x44tracing".to_vec();
        bytes.extend(version);
        bytes.push((self.machine.endian == Endian::Big) as u8);
        bytes.push(self.machine.long as u8);
        bytes.extend(self.n(self.page_size, 4));
        bytes
    }

    fn headers(&self) -> Vec<u8> {
        let mut bytes = b"header_page\0".to_vec();
        bytes.extend(self.sized(self.machine.header_page(self.page_size).as_bytes(), 8));
        bytes.extend(b"header_event\0");
        bytes.extend(self.sized(b"# compressed entry header\n", 8));
        bytes
    }

    fn formats(&self, formats: &[String]) -> Vec<u8> {
        let texts = formats.iter().flat_map(|text| self.sized(text.as_bytes(), 8));
        self.n(formats.len(), 4).into_iter().chain(texts).collect()
    }

    fn event_formats(&self) -> Vec<u8> {
        let mut bytes = self.n(self.systems.len(), 4);
        for (system, formats) in &self.systems {
            bytes.extend(system.as_bytes());
            bytes.push(0);
            bytes.extend(self.formats(formats));
        }
        bytes
    }

    /// As version 6.
    pub(crate) fn v6(&self) -> Vec<u8> {
        let mut file = self.v6_head();
        let mut tables = vec![(0, &self.cpus)];
        for instance in &self.instances {
            // The place of its table is put in when that is written.
            file.extend(self.option(3, &[self.n(0, 8), instance.name.as_bytes().to_vec(), vec![0]].concat()));
            tables.push((file.len() - 8 - instance.name.len() - 1, &instance.cpus));
        }
        file.extend(self.n(0, 2));
        let mut entries = Vec::new();
        for (index, &(pointer, cpus)) in tables.iter().enumerate() {
            if index > 0 {
                let here = self.n(file.len(), 8);
                file[pointer..pointer + 8].copy_from_slice(&here);
            }
            file.extend(b"flyrecord\0");
            entries.push(file.len());
            file.resize(file.len() + 16 * cpus.len(), 0);
            if index == 0 {
                file.extend(self.sized(format!("local [{}] mono\n", self.clock).as_bytes(), 8));
            }
        }
        for (table, (_, cpus)) in entries.into_iter().zip(tables) {
            for (cpu, pages) in cpus.iter().enumerate() {
                file.resize(file.len().next_multiple_of(self.page_size), 0);
                let entry = [self.n(file.len(), 8), self.n(pages.len(), 8)].concat();
                file[table + 16 * cpu..][..16].copy_from_slice(&entry);
                file.extend(pages);
            }
        }
        file
    }

    /// As version 6, with a latency tracer's text in place of events.
    pub(crate) fn v6_latency(&self, text: &str) -> Vec<u8> {
        [self.v6_head(), self.n(0, 2), b"latency  \0".to_vec(), text.as_bytes().to_vec()].concat()
    }

    /// Up to the last of the options.
    fn v6_head(&self) -> Vec<u8> {
        let mut file = self.initial(b"6\0");
        file.extend(self.headers());
        file.extend(self.formats(&self.ftrace));
        file.extend(self.event_formats());
        file.extend(self.sized(self.kallsyms.as_bytes(), 4));
        file.extend(self.sized(b"", 4));
        file.extend(self.sized(self.comms.as_bytes(), 8));
        file.extend(self.n(self.cpus.len(), 4));
        file.extend(b"options  \0");
        file.extend(self.option(4, b""));
        file.extend(self.option(5, b"Linux node 6.1.0-rt-test machine\0"));
        file.extend(self.option(999, b"from the future"));
        self.options.iter().for_each(|(id, data)| file.extend(self.option(*id, data)));
        file
    }

    fn option(&self, id: usize, data: &[u8]) -> Vec<u8> {
        [self.n(id, 2), self.n(data.len(), 4), data.to_vec()].concat()
    }

    fn section(&self, file: &mut Vec<u8>, id: usize, packing: Packing, data: &[u8]) -> usize {
        let at = file.len();
        let packed = packing.pack(data);
        let body = match packing {
            Packing::None => packed,
            _ => [self.n(packed.len(), 4), self.n(data.len(), 4), packed].concat(),
        };
        file.extend(self.n(id, 2));
        file.extend(self.n((packing != Packing::None) as usize, 2));
        file.extend(self.n(0, 4));
        file.extend(self.sized(&body, 8));
        at
    }

    /// As version 7. With `short`, compressed sizes are recorded 4 bytes short, as some
    /// trace-cmd versions do.
    pub(crate) fn v7(&self, packing: Packing, short: bool) -> Vec<u8> {
        let (mut file, next) = self.v7_head(packing);
        let mut options =
            self.buffer(&mut file, packing, short, ("", &self.clock, self.page_size, &self.cpus));
        for Instance { name, clock, page_size, cpus } in &self.instances {
            options.extend(self.buffer(&mut file, packing, short, (name, clock, *page_size, cpus)));
        }
        self.v7_end(file, next, options)
    }

    /// As version 7, with a latency tracer's text in place of events.
    pub(crate) fn v7_latency(&self, packing: Packing, text: &str) -> Vec<u8> {
        let (mut file, next) = self.v7_head(packing);
        let half = text.len() / 2;
        let data = match packing {
            Packing::None => text.as_bytes().to_vec(),
            _ => {
                let chunks = [&text[..half], &text[half..]].map(|part| {
                    let packed = packing.pack(part.as_bytes());
                    [self.n(packed.len(), 4), self.n(part.len(), 4), packed].concat()
                });
                [self.n(2, 4), chunks.concat()].concat()
            }
        };
        let at = self.section(&mut file, 22, Packing::None, &data);
        file[at + 2..at + 4].copy_from_slice(&self.n((packing != Packing::None) as usize, 2));
        let option = self.option(22, &[self.n(at, 8), b"\0mono\0".to_vec()].concat());
        self.v7_end(file, next, option)
    }

    /// The descriptions, and where the place of the next options section is to be put.
    fn v7_head(&self, packing: Packing) -> (Vec<u8>, usize) {
        let mut file = self.initial(b"7\0");
        file.extend(packing.name());
        let first = file.len();
        file.extend(self.n(0, 8));
        let sections = [
            (16, self.headers()),
            (17, self.formats(&self.ftrace)),
            (18, self.event_formats()),
            (19, self.sized(self.kallsyms.as_bytes(), 4)),
            (21, self.sized(self.comms.as_bytes(), 8)),
        ];
        let mut options = Vec::new();
        for (id, data) in sections {
            let at = self.section(&mut file, id, packing, &data);
            options.extend(self.option(id, &self.n(at, 8)));
        }
        options.extend(self.option(5, b"Linux node 6.1.0-rt-test machine\0"));
        options.extend(self.option(8, &self.n(self.cpus.len(), 4)));
        options.extend(self.option(999, b"from the future"));
        self.options.iter().for_each(|(id, data)| options.extend(self.option(*id, data)));
        for (cpu, count) in self.counts.iter().enumerate() {
            let text = format!("CPU: {cpu}\nentries: 0\noverrun: 3\nread events: {count}\n\0");
            options.extend(self.option(2, text.as_bytes()));
        }
        // A chain of two: the second follows the data.
        let done = options.len() + 6;
        options.extend(self.option(0, &self.n(0, 8)));
        let options_at = self.section(&mut file, 0, Packing::None, &options);
        file[first..first + 8].copy_from_slice(&self.n(options_at, 8));
        (file, options_at + 16 + done)
    }

    /// Adds a buffer's section; gives the option that describes it.
    fn buffer(
        &self,
        file: &mut Vec<u8>,
        packing: Packing,
        short: bool,
        (name, clock, page_size, cpus): (&str, &str, usize, &[Vec<u8>]),
    ) -> Vec<u8> {
        let buffer_at = self.section(file, 3, Packing::None, b"");
        file[buffer_at + 2..buffer_at + 4].copy_from_slice(&self.n((packing != Packing::None) as usize, 2));
        let names = [name.as_bytes(), b"\0", clock.as_bytes(), b"\0"].concat();
        let mut buffer = [self.n(buffer_at, 8), names, self.n(page_size, 4), self.n(cpus.len(), 4)].concat();
        for (cpu, pages) in cpus.iter().enumerate() {
            file.resize(file.len().next_multiple_of(page_size), 0);
            let at = file.len();
            if packing == Packing::None {
                file.extend(pages);
            } else {
                let chunks: Vec<_> = pages.chunks(2 * page_size).collect();
                file.extend(self.n(chunks.len(), 4));
                for chunk in chunks {
                    let packed = packing.pack(chunk);
                    file.extend([self.n(packed.len(), 4), self.n(chunk.len(), 4), packed].concat());
                }
            }
            let size = file.len() - at - if short { 4 } else { 0 };
            buffer.extend([self.n(cpu, 4), self.n(at, 8), self.n(size, 8)].concat());
        }
        self.option(3, &buffer)
    }

    /// The last options section.
    fn v7_end(&self, mut file: Vec<u8>, next: usize, mut options: Vec<u8>) -> Vec<u8> {
        options.extend(self.option(0, &self.n(0, 8)));
        let options_at = self.section(&mut file, 0, Packing::None, &options);
        file[next..next + 8].copy_from_slice(&self.n(options_at, 8));
        file
    }
}

/// The recordings at hand: those the project ships for its command-line tests, and the
/// shared ones where they are.
pub(crate) fn recordings() -> Vec<std::path::PathBuf> {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("WHYLATE_SHARED").map_or(own.join("../../../shared/traces"), Into::into);
    let mut files = Vec::new();
    for folder in [own.join("../cli/tests/fixtures"), shared] {
        match std::fs::read_dir(&folder) {
            Ok(entries) => files.extend(
                entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .filter(|path| path.extension().is_some_and(|extension| extension == "dat")),
            ),
            Err(error) => skip(Need::Recordings, format_args!("in part: {}: {error}", folder.display())),
        }
    }
    files.sort();
    files
}
