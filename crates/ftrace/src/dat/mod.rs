//! trace.dat files, the recordings of `trace-cmd record` and of this project.
//!
//! ```text
//! v6/v7 container ──> formats, clock, symbols      (read once, when opened)
//!       │
//!       └─> per CPU: blocks ──> pages ──> records ──> events ──> merged by time
//! ```
//!
//! The container is described in `trace-cmd.dat.v6(5)` and `trace-cmd.dat.v7(5)`.

pub mod write;

mod blocks;
mod compress;
mod container;
mod cpu;
mod error;
mod events;
mod input;
mod raw;
mod read_at;
mod salvage;
mod v6;
mod v7;

pub use compress::Compression;
pub use container::{Buffer, CpuData};
pub use error::DatError;
pub use events::{CpuEvents, TraceEvents};
pub use raw::{RawEvent, RawEvents};
pub use read_at::ReadAt;

use crate::bytes::Endian;
use crate::decode::Decoders;
use crate::format::EventFormats;
use crate::symbols::{SymbolCache, Symbols};
use blocks::Blocks;
use container::{Container, Kallsyms};
use cpu::CpuRecords;
use error::Trouble;
use input::Input;
use raw::RawStream;
use read_at::FileSource;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use whylate_base::{Comm, Tid};
use whylate_events::{Damage, Kind, KindSet, TraceInfo};

/// What every trace.dat begins with, before its version.
const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// Memory for the blocks of all CPUs together, and the bounds of one CPU's share.
const ALL_BLOCKS: usize = 64 << 20;
const LARGEST_SHARE: usize = 1 << 20;
const SMALLEST_SHARE: usize = 64 << 10;

/// An opened trace.dat.
pub struct TraceFile {
    source: Arc<dyn ReadAt>,
    container: Container,
    formats: Arc<EventFormats>,
    decoders: Arc<Decoders>,
    /// And why there are none, where the file has some that cannot be read.
    symbols: OnceLock<(Arc<Symbols>, Option<Damage>)>,
    info: TraceInfo,
}

impl TraceFile {
    /// Opens a file and reads its descriptions.
    ///
    /// # Errors
    /// [`DatError`] when the file cannot be read, is no trace.dat, or is too damaged to
    /// give a single event.
    pub fn open(path: impl AsRef<Path>) -> Result<TraceFile, DatError> {
        let path = path.as_ref();
        let open = |source| DatError::Open { path: path.to_owned(), source };
        let file = File::open(path).and_then(FileSource::new).map_err(open)?;
        TraceFile::from_source(Arc::new(file), path)
    }

    /// Reads a trace.dat that is in memory.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<TraceFile, DatError> {
        TraceFile::from_source(Arc::new(bytes), Path::new("(memory)"))
    }

    /// Reads a trace.dat from anything that can be read by offset; `path` is what errors call it.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn from_source(source: Arc<dyn ReadAt>, path: &Path) -> Result<TraceFile, DatError> {
        let mut container = read_container(&*source, path)?;
        salvage::recover(&source, &mut container).map_err(|trouble| trouble.at_path(path))?;
        let clipped = clip(&mut container, source.size());
        if clipped.gone {
            let what = "the header, before the trace data".to_owned();
            return Err(DatError::Cut { path: path.to_owned(), offset: source.size(), what });
        }
        let formats = Arc::new(std::mem::take(&mut container.formats));
        let decoders = Arc::new(Decoders::new(&formats, container.endian));
        let info = describe(&container);
        Ok(TraceFile { source, container, formats, decoders, symbols: OnceLock::new(), info })
    }

    /// What the file says of itself. Counts, span and the damage of the trace data are
    /// known to the stream of [`events`](Self::events), once that has ended.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// The container's version: 6 or 7.
    pub fn version(&self) -> u8 {
        self.container.version
    }

    /// How the file is compressed.
    pub fn compression(&self) -> Compression {
        self.container.compression
    }

    /// The event formats it carries.
    pub fn formats(&self) -> &EventFormats {
        &self.formats
    }

    /// The ring buffers it holds: the top one first, then those of instances.
    pub fn buffers(&self) -> &[Buffer] {
        &self.container.buffers
    }

    /// A thread's name when the recording ended, where the kernel had kept it.
    pub fn comm(&self, tid: Tid) -> Option<&str> {
        self.container.comms.get(&tid.0).map(String::as_str)
    }

    /// Kernel function names by address; an empty table where the file has none. That they
    /// could not be read is a damage of the [`events`](Self::events) that show them.
    pub fn symbols(&self) -> Arc<Symbols> {
        self.read_symbols().0.clone()
    }

    fn read_symbols(&self) -> &(Arc<Symbols>, Option<Damage>) {
        self.symbols.get_or_init(|| match self.kallsyms() {
            Ok(text) => (Arc::new(Symbols::parse(text)), None),
            Err(trouble) => (Arc::default(), Some(trouble.damage("functions have no names"))),
        })
    }

    fn kallsyms(&self) -> Result<Vec<u8>, Trouble> {
        let Container { endian, compression, kallsyms, .. } = &self.container;
        match *kallsyms {
            None => Ok(Vec::new()),
            Some(Kallsyms::Plain { at, size }) => {
                Input::new(&*self.source, at, *endian).take(size, "the kernel symbols")
            }
            Some(Kallsyms::Section { at }) => v7::kallsyms(&*self.source, *endian, *compression, at),
        }
    }

    /// All events of the wanted kinds in time order, merged over CPUs and buffers; of
    /// simultaneous ones the lower CPU's first. Others are counted, not decoded.
    pub fn events(&self, wanted: KindSet) -> TraceEvents {
        let comms = self.container.comms.iter().map(|(&tid, comm)| (Tid(tid), Comm::from(comm.as_str())));
        let streams = self.cpu_events(wanted);
        let mut info = self.info.clone();
        info.recorded = self.selected();
        info.damage.extend(self.symbols.get().and_then(|(_, damage)| damage.clone()));
        TraceEvents::new(info, streams, comms.collect())
    }

    /// The kinds of events that were switched on, where the file tells: trace-cmd keeps the formats of
    /// the recorded events only, unless it copies a machine's whole list.
    fn selected(&self) -> Option<KindSet> {
        const A_SELECTION: usize = 400;
        let kinds = || self.formats.iter().filter_map(|format| self.decoders.kind(format.id)).collect();
        (self.formats.len() <= A_SELECTION).then(kinds)
    }

    /// The same, one stream for each CPU of each buffer.
    pub fn cpu_events(&self, wanted: KindSet) -> Vec<CpuEvents> {
        let named = [Kind::HrtimerStart, Kind::HrtimerExpire, Kind::TimerExpire, Kind::Function];
        let symbols = match named.iter().any(|&kind| wanted.contains(kind)) {
            true => self.symbols(),
            false => Arc::default(),
        };
        self.records()
            .into_iter()
            .map(|(_, records)| {
                let names = SymbolCache::new(symbols.clone());
                CpuEvents::new(records, self.decoders.clone(), names, self.container.tsc, wanted)
            })
            .collect()
    }

    /// All events in time order with their recorded bytes.
    pub fn raw_events(&self) -> RawEvents {
        let streams = self.records().into_iter().map(|(buffer, records)| RawStream::new(buffer, records));
        RawEvents {
            formats: self.formats.clone(),
            decoders: self.decoders.clone(),
            endian: self.container.endian,
            tsc: self.container.tsc,
            streams: streams.collect(),
        }
    }

    /// A reader for each CPU of each buffer, with the buffer's index.
    fn records(&self) -> Vec<(usize, CpuRecords)> {
        let Container { endian, compression, buffers, .. } = &self.container;
        let readers: usize = buffers.iter().map(|buffer| buffer.cpus.len()).sum();
        let share = (ALL_BLOCKS / readers.max(1)).clamp(SMALLEST_SHARE, LARGEST_SHARE);
        let layout = self.container.page_layout();
        let mut records = Vec::with_capacity(readers);
        for (index, buffer) in buffers.iter().enumerate() {
            let block_size = (share / buffer.page_size).max(1) * buffer.page_size;
            for &data in &buffer.cpus {
                let blocks = match buffer.compressed {
                    true => Blocks::chunks(self.source.clone(), *endian, data, *compression),
                    false => Blocks::plain(self.source.clone(), *endian, data, block_size),
                };
                let reader = CpuRecords::new(data.cpu, layout, buffer.page_size, blocks, buffer.compressed);
                records.push((index, reader));
            }
        }
        records
    }
}

/// Reads the initial format and the container that follows.
fn read_container(source: &dyn ReadAt, path: &Path) -> Result<Container, DatError> {
    if source.size() == 0 {
        return Err(DatError::Empty { path: path.to_owned() });
    }
    let mut input = Input::new(source, 0, Endian::Little);
    match input.take(MAGIC.len() as u64, "the magic bytes") {
        Ok(magic) if magic == MAGIC => {}
        Err(trouble @ Trouble::Io { .. }) => return Err(trouble.at_path(path)),
        _ => return Err(DatError::NotTraceDat { path: path.to_owned() }),
    }
    let version = input.string(16, "the version").map_err(|trouble| trouble.at_path(path))?;
    let number = match version.as_str() {
        "6" => 6,
        "7" => 7,
        _ => return Err(DatError::Version { path: path.to_owned(), version }),
    };
    read_versioned(source, &mut input, number).map_err(|trouble| trouble.at_path(path))
}

fn read_versioned(source: &dyn ReadAt, input: &mut Input<'_>, version: u8) -> Result<Container, Trouble> {
    input.endian = match input.u8("the initial format")? {
        0 => Endian::Little,
        1 => Endian::Big,
        other => return Err(Trouble::bad(input.at - 1, format!("byte order {other} is not known"))),
    };
    let long_size = match input.u8("the initial format")? {
        4 => 4,
        _ => 8,
    };
    let mut container = Container::new(version, input.endian, long_size);
    let page_size = input.u32("the initial format")?;
    if version == 6 {
        v6::read(&mut container, input, page_size)?;
    } else {
        let algorithm = input.string(256, "the compression's name")?;
        input.string(256, "the compression's version")?;
        container.compression = Compression::of_name(&algorithm)?;
        let options = input.u64("the initial format")?;
        v7::read(&mut container, source, &v7::Start { options, sections: input.at, page_size })?;
    }
    Ok(container)
}

struct Clipped {
    /// True when data was promised and none of it is there.
    gone: bool,
}

/// Notes which CPUs' data reaches past the end of the file. Of compressed data the
/// chunks themselves tell.
fn clip(container: &mut Container, file_size: u64) -> Clipped {
    let (mut promised, mut there) = (false, false);
    for (name, cpu) in
        container.buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|cpu| (&buffer.name, cpu)))
    {
        let end = cpu.offset.saturating_add(cpu.size);
        promised |= cpu.size > 0;
        there |= cpu.size > 0 && cpu.offset < file_size;
        if end > file_size && cpu.size > 0 {
            let missing = end - file_size.max(cpu.offset);
            container.damage.push(Damage::at(
                file_size,
                match name.as_str() {
                    "" => {
                        format!("CPU {}: the file ends {missing} bytes before this CPU's data does", cpu.cpu)
                    }
                    name => format!(
                        "CPU {} of buffer {name}: the file ends {missing} bytes before this CPU's data does",
                        cpu.cpu
                    ),
                },
            ));
        }
    }
    Clipped { gone: promised && !there }
}

fn describe(container: &Container) -> TraceInfo {
    let format = match (container.version, container.compression) {
        (6, _) => "trace.dat v6".to_owned(),
        (version, Compression::None) => format!("trace.dat v{version}"),
        (version, compression) => format!("trace.dat v{version} ({})", compression.name()),
    };
    let mut damage = container.damage.clone();
    let mut clocks: Vec<&str> =
        container.buffers.iter().filter_map(|buffer| buffer.clock.as_deref()).collect();
    clocks.dedup();
    if clocks.len() > 1 {
        damage.push(Damage::whole(format!(
            "the buffers were recorded with different clocks ({}): their events do not line up",
            clocks.join(", ")
        )));
    }
    let clock = clocks.first().map(|&clock| clock.to_owned()).or_else(|| container.clock.clone());
    let recorded_cpus =
        container.buffers.iter().flat_map(|buffer| &buffer.cpus).map(|data| data.cpu.0 + 1).max();
    // `Linux <node> <release> <machine>`
    let mut uname = container.uname.as_deref().unwrap_or_default().split_ascii_whitespace().rev();
    let machine = uname.next().map(str::to_owned);
    TraceInfo {
        format,
        cpus: container.cpu_count.max(recorded_cpus.unwrap_or(0)),
        clock,
        kernel_release: uname.next().map(str::to_owned),
        machine,
        damage,
        ..TraceInfo::default()
    }
}
