//! An opened trace.dat: its description of itself, and the ways to read its events.

use super::blocks::Blocks;
use super::buffer::Buffer;
use super::compress::{Compression, LARGEST_CHUNK, Unpacker};
use super::container::{Container, Kallsyms};
use super::cpu::CpuRecords;
use super::cpu_events::CpuEvents;
use super::describe::{TICKING, describe};
use super::error::{DatError, Trouble};
use super::events::TraceEvents;
use super::extent::clip;
use super::head::read_container;
use super::input::Input;
use super::raw::{RawEvents, RawStream};
use super::read_at::{FileSource, ReadAt};
use super::session::Session;
use super::{latency_reader, salvage, stacks, v7};
use crate::decode::Decoders;
use crate::format::EventFormats;
use crate::page::PageLayout;
use crate::symbols::{SymbolCache, Symbols};
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use whylate_base::{Comm, Tid};
use whylate_events::{Damage, Kind, KindSet, Stacks, TraceInfo};

/// Memory for the blocks of all CPUs together, and the bounds of one CPU's share: what is read shall still be in the
/// second cache when it is decoded, whichever of the CPUs' turn it is.
const ALL_BLOCKS: usize = 64 << 20;
const LARGEST_SHARE: usize = 128 << 10;
const SMALLEST_SHARE: usize = 64 << 10;
/// The same for chunks that are unpacked; trace-cmd's have ten pages.
const ALL_CHUNKS: usize = 256 << 20;
const SMALLEST_CHUNK: usize = 128 << 10;

/// A smaller file is read before a thread has started.
const WORTH_A_THREAD: u64 = 1 << 20;
/// One user takes no more events than this many threads decode.
const MOST_THREADS: usize = 4;

/// An opened trace.dat.
pub struct TraceFile {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) container: Container,
    pub(super) formats: Arc<EventFormats>,
    pub(super) decoders: Arc<Decoders>,
    /// With the damage, where the file has symbols that cannot be read.
    pub(super) symbols: OnceLock<(Arc<Symbols>, Option<Damage>)>,
    pub(super) info: TraceInfo,
    /// With the damage, where the file has stacks that cannot be read.
    pub(super) stacks: OnceLock<(Option<Arc<Stacks>>, Option<Damage>)>,
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
        if let Some(text) = container.text {
            let text = latency_reader::read(&source, container.endian, text);
            let text = text.map_err(|trouble| trouble.at_path(path))?;
            return Err(DatError::Text { path: path.to_owned(), text });
        }
        salvage::recover(&source, &mut container).map_err(|trouble| trouble.at_path(path))?;
        let clipped = clip(&mut container, source.size());
        if clipped.gone {
            let what = "the header, before the trace data".to_owned();
            return Err(DatError::Cut { path: path.to_owned(), offset: source.size(), what });
        }
        let info = describe(&container);
        let formats = Arc::new(std::mem::take(&mut container.formats));
        let release = info.kernel_release.as_deref();
        let decoders = Arc::new(Decoders::of_kernel(&formats, container.endian, release));
        Ok(TraceFile::new(source, container, formats, decoders, info))
    }

    /// Of what was read; symbols and stacks are read from the container when they are asked for.
    pub(super) fn new(
        source: Arc<dyn ReadAt>,
        container: Container,
        formats: Arc<EventFormats>,
        decoders: Arc<Decoders>,
        info: TraceInfo,
    ) -> TraceFile {
        let (symbols, stacks) = (OnceLock::new(), OnceLock::new());
        TraceFile { source, container, formats, decoders, symbols, info, stacks }
    }

    /// The file's description of itself. Counts, span and the damage of the trace data are
    /// known to the stream of [`events`](Self::events), once that has ended.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// The container's version: 6 or 7.
    pub fn version(&self) -> u8 {
        self.container.version
    }

    /// The version of the trace-cmd that wrote it, where the file has it.
    pub fn writer(&self) -> Option<&str> {
        self.container.writer.as_deref()
    }

    /// Which other files belong to it: the host's of a guest's, the guests' of a host's.
    pub fn session(&self) -> &Session {
        &self.container.session
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

    /// The text of the kernel's `printk_formats`: `0xADDRESS : "STRING"` a line, of the strings
    /// that `trace_printk` and `%s` arguments of events point at.
    pub fn printk_formats(&self) -> &[u8] {
        &self.container.printk_formats
    }

    /// Whether times are in nanoseconds: false where the clock ticks otherwise, and the file does not state how.
    pub fn in_nanoseconds(&self) -> bool {
        let clock = self.info.clock.as_deref();
        self.container.times.tsc.is_some() || !clock.is_some_and(|clock| TICKING.contains(&clock))
    }

    /// Byte order and word size of the machine that was traced.
    pub fn page_layout(&self) -> PageLayout {
        self.container.page_layout()
    }

    /// Kernel function names by address; an empty table where the file has none. That they
    /// could not be read is a damage of the [`events`](Self::events) that show them.
    pub fn symbols(&self) -> Arc<Symbols> {
        self.read_symbols().0.clone()
    }

    fn read_symbols(&self) -> &(Arc<Symbols>, Option<Damage>) {
        self.symbols.get_or_init(|| match self.kallsyms() {
            Ok(text) => (Arc::new(Symbols::parse(text)), None),
            Err(trouble) => (Arc::default(), Some(trouble.damage("functions have no names").detail())),
        })
    }

    /// The call stacks that were sampled beside the events, where the file has some.
    pub fn stacks(&self) -> Option<Arc<Stacks>> {
        self.read_stacks().0.clone()
    }

    fn read_stacks(&self) -> &(Option<Arc<Stacks>>, Option<Damage>) {
        self.stacks.get_or_init(|| match stacks::read(&*self.source, &self.container) {
            None => (None, None),
            Some(Ok(stacks)) => (Some(Arc::new(stacks)), None),
            Some(Err(trouble)) => (None, Some(trouble.damage("no line of code is known").detail())),
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
        let (stacks, damage) = self.read_stacks();
        info.stacks = stacks.clone();
        info.damage.extend(damage.clone());
        let gone = if wanted.contains(Kind::Lost) { self.container.gone.clone() } else { Vec::new() };
        TraceEvents::new(info, streams, self.threads(), comms.collect(), gone)
    }

    /// How many threads are worth their start to decode this file.
    fn threads(&self) -> usize {
        let cpus = self.container.buffers.iter().flat_map(|buffer| &buffer.cpus);
        let size: u64 = cpus.map(|data| data.size).fold(0, u64::saturating_add);
        let there = std::thread::available_parallelism().map_or(1, usize::from);
        if size < WORTH_A_THREAD { 0 } else { (there - 1).min(MOST_THREADS) }
    }

    /// The kinds of events that were switched on, where the file shows them: trace-cmd keeps the formats of
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
            .enumerate()
            .map(|(order, (_, records))| {
                let names = SymbolCache::new(symbols.clone());
                let times = self.container.times.of(records.cpu);
                CpuEvents::new(order, records, self.decoders.clone(), names, times, wanted)
            })
            .collect()
    }

    /// All events in time order with their recorded bytes.
    pub fn raw_events(&self) -> RawEvents {
        let streams = self.records().into_iter().map(|(buffer, records)| {
            let times = self.container.times.of(records.cpu);
            RawStream::new(buffer, records, times)
        });
        let (endian, gone) = (self.container.endian, self.container.gone.clone());
        RawEvents::new(self.formats.clone(), self.decoders.clone(), endian, streams.collect(), gone)
    }

    /// A reader for each CPU of each buffer, with the buffer's index.
    fn records(&self) -> Vec<(usize, CpuRecords)> {
        let Container { endian, compression, buffers, .. } = &self.container;
        let readers: usize = buffers.iter().map(|buffer| buffer.cpus.len()).sum();
        let share = (ALL_BLOCKS / readers.max(1)).clamp(SMALLEST_SHARE, LARGEST_SHARE);
        let chunk = (ALL_CHUNKS / readers.max(1)).clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
        let unpacker = Unpacker::new(*compression, chunk);
        let layout = self.container.page_layout();
        let mut records = Vec::with_capacity(readers);
        for (index, buffer) in buffers.iter().enumerate() {
            let block_size = (share / buffer.page_size).max(1) * buffer.page_size;
            for &data in &buffer.cpus {
                let blocks = match buffer.compressed {
                    true => Blocks::chunks(self.source.clone(), *endian, data, unpacker),
                    false => Blocks::plain(self.source.clone(), *endian, data, block_size),
                };
                let reader = CpuRecords::new(data.cpu, layout, buffer.page_size, blocks, buffer.compressed);
                records.push((index, reader));
            }
        }
        records
    }
}
