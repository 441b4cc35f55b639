//! Takes pages out of the kernel's buffers while it traces, into one unnamed file per CPU.

use super::error::RecordError;
use super::report::CpuReport;
use super::session::Session;
use rustix::fs::FallocateFlags;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use whylate_base::Cpu;
use whylate_ftrace::dat::write::{Buffer, CpuPages, Pages};
use whylate_ftrace::tracefs::{PageReader, wait_for_pages};

/// Pages gathered before they are written: fewer system calls, and still in the L2 cache.
const BATCH_BYTES: usize = 128 << 10;
/// The least time between two rounds that found little: see [`Lane::wait`].
const PAUSE: Duration = Duration::from_millis(10);
/// How often the stop condition is looked at, at least.
const TICK: Duration = Duration::from_millis(50);
/// How often the other threads look whether it is over: seldom, since each look disturbs
/// some CPU. Tracing is off by then, so nothing is recorded while they are waited for.
const SELDOM: Duration = Duration::from_millis(200);

/// Kept free on the disk from the beginning, for what a file has beside its pages: some 2 MiB, most of it the symbols.
const RESERVE: u64 = 8 << 20;

/// All buffers of a session, and the pages taken out of them so far.
///
/// Each CPU's are taken out by a thread of its own. One thread for all was tried, on two
/// CPUs that did nothing but switch threads while other programs wanted them too: it used
/// as much CPU time, and lost 2 to 7 % of the events, because it got one thread's share of a
/// busy machine. These lost none in two runs of three, and 0.7 % in the third.
pub(super) struct Drain {
    lanes: Vec<Lane>,
    /// `None` once it was needed.
    reserve: Option<File>,
    is_full: bool,
}

/// One CPU's buffers: a reader of each, and what it took out.
struct Lane {
    readers: Vec<PageReader>,
    /// As many, in the same order.
    stores: Vec<Store>,
    batch: Vec<u8>,
    /// Which store the batch could not be written to.
    unwritten: Option<usize>,
    directory: PathBuf,
}

/// One CPU's pages of one buffer.
struct Store {
    /// Its place among the session's buffers.
    buffer: usize,
    file: File,
    bytes: u64,
}

impl Drain {
    pub(super) fn new(session: &Session, directory: PathBuf) -> Result<Drain, RecordError> {
        let mut lanes: BTreeMap<Cpu, Lane> = BTreeMap::new();
        for (buffer, (_, instance)) in session.buffers().enumerate() {
            for cpu in session.cpus_of(instance)? {
                // What there is of other CPUs than the recorded ones is little: no thread of its own.
                let is_recorded = session.cpus().is_none_or(|recorded| recorded.contains(cpu));
                let lane = match lanes.first_entry().filter(|_| !is_recorded) {
                    Some(first) => first.into_mut(),
                    None => lanes.entry(cpu).or_insert_with(|| Lane::new(directory.clone())),
                };
                lane.add(buffer, instance.open_pages(cpu)?)?;
            }
        }
        let reserve = tempfile::tempfile_in(&directory)
            .map_err(|source| RecordError::Store { directory: directory.clone(), source })?;
        // A disk that is nearly full may still take a short recording: half of what is left is for it.
        let left = rustix::fs::fstatvfs(&reserve)
            .map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        let _ = rustix::fs::fallocate(&reserve, FallocateFlags::empty(), 0, RESERVE.min(left / 2));
        Ok(Drain { lanes: lanes.into_values().collect(), reserve: Some(reserve), is_full: false })
    }

    /// Takes out pages as the buffers fill, for as long as `time_left` returns some.
    /// It is asked at least every [`TICK`], in this thread, and stops the tracing before it
    /// states that there is none.
    pub(super) fn run(&mut self, mut time_left: impl FnMut() -> Option<Duration>) -> Result<(), RecordError> {
        let done = &AtomicBool::new(false);
        let Some((first, others)) = self.lanes.split_first_mut() else { return Ok(()) };
        thread::scope(|scope| {
            let drain = |lane: &mut Lane| {
                let mut result = Ok(());
                while result.is_ok() && !done.load(Ordering::Relaxed) {
                    result = lane.wait(SELDOM);
                }
                done.store(true, Ordering::Relaxed);
                result
            };
            let threads: Vec<_> = others.iter_mut().map(|lane| scope.spawn(move || drain(lane))).collect();
            let mut result = Ok(());
            while result.is_ok() && !done.load(Ordering::Relaxed) {
                match time_left() {
                    Some(limit) => result = first.wait(limit.min(TICK)),
                    None => break,
                }
            }
            done.store(true, Ordering::Relaxed);
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).fold(result, Result::and)
        })
    }

    /// Ends taking out, because pages cannot be put aside any more: what was taken out by then is kept. For after
    /// tracing has stopped.
    pub(super) fn end_early(&mut self) -> Result<(), RecordError> {
        self.reserve = None;
        self.is_full = true;
        self.lanes.iter_mut().try_for_each(Lane::write_again)
    }

    /// Takes out everything that is left; for after tracing has stopped.
    pub(super) fn rest(&mut self) -> Result<(), RecordError> {
        self.lanes.iter_mut().try_for_each(Lane::rest)
    }

    /// Each CPU's counts as the kernel has them at the end: the texts for the file, of each
    /// buffer, and the sums over the buffers.
    pub(super) fn stats(&self, session: &Session) -> Result<(Vec<Vec<String>>, Vec<CpuReport>), RecordError> {
        let mut texts = Vec::new();
        let mut reports: BTreeMap<Cpu, CpuReport> = BTreeMap::new();
        for (buffer, (_, instance)) in session.buffers().enumerate() {
            let mut of_buffer = Vec::new();
            for (reader, _) in self.of_buffer(buffer) {
                let cpu = reader.cpu();
                let (stats, text) = instance.stats(cpu)?;
                let report = reports.entry(cpu).or_insert(CpuReport { cpu, ..CpuReport::default() });
                // What was not taken out is not in the file.
                let left = if self.is_full { stats.entries } else { 0 };
                report.events += stats.recorded() - left;
                report.lost += stats.lost().saturating_add(left);
                of_buffer.push(text);
            }
            texts.push(of_buffer);
        }
        Ok((texts, reports.into_values().collect()))
    }

    /// The readers of a buffer, by its place in the session, with what they took out, in the order of CPUs.
    fn of_buffer(&self, buffer: usize) -> Vec<(&PageReader, &Store)> {
        let lanes = self.lanes.iter();
        let mut all: Vec<(&PageReader, &Store)> =
            lanes.flat_map(|lane| lane.readers.iter().zip(&lane.stores)).collect();
        all.retain(|(_, store)| store.buffer == buffer);
        all.sort_by_key(|(reader, _)| reader.cpu());
        all
    }

    /// The pages as a file's buffers.
    pub(super) fn buffers<'a>(&'a self, session: &'a Session, stats: &'a [Vec<String>]) -> Vec<Buffer<'a>> {
        let pages = |index: usize, stats: &'a [String]| {
            let of_cpu = |((reader, store), stats): ((&'a PageReader, &'a Store), &'a String)| {
                let pages = Pages::Spool { file: &store.file, bytes: store.bytes };
                CpuPages { cpu: reader.cpu(), pages, stats }
            };
            self.of_buffer(index).into_iter().zip(stats).map(of_cpu).collect()
        };
        let buffers = session.buffers().zip(stats).enumerate();
        buffers
            .map(|(index, ((name, _), stats))| Buffer {
                name,
                clock: session.clock(),
                cpus: pages(index, stats),
            })
            .collect()
    }
}

impl Lane {
    fn new(directory: PathBuf) -> Lane {
        let batch = Vec::with_capacity(BATCH_BYTES);
        Lane { readers: Vec::new(), stores: Vec::new(), batch, unwritten: None, directory }
    }

    fn add(&mut self, buffer: usize, reader: PageReader) -> Result<(), RecordError> {
        let file = tempfile::tempfile_in(&self.directory)
            .map_err(|source| RecordError::Store { directory: self.directory.clone(), source })?;
        self.readers.push(reader);
        self.stores.push(Store { buffer, file, bytes: 0 });
        Ok(())
    }

    /// Waits at most `limit` for buffers that fill up, and takes out what is in them.
    ///
    /// The kernel wakes us when a buffer has filled to the session's mark. Kernels before
    /// 6.1 do so at every event instead; a pause after a round that brought little keeps
    /// us from recording mostly ourselves there.
    fn wait(&mut self, limit: Duration) -> Result<(), RecordError> {
        let mut taken = 0;
        let ready = wait_for_pages(&self.readers, limit)?;
        for &index in &ready {
            taken += self.take(index, false)?;
        }
        if !ready.is_empty() && taken < BATCH_BYTES as u64 {
            thread::sleep(PAUSE.min(limit));
        }
        Ok(())
    }

    /// Writes what could not be written, now that there is some room again.
    fn write_again(&mut self) -> Result<(), RecordError> {
        let Some(store) = self.unwritten.take().and_then(|index| self.stores.get_mut(index)) else {
            return Ok(());
        };
        let written = store.write(&self.batch);
        written.map_err(|source| RecordError::Store { directory: self.directory.clone(), source })
    }

    fn rest(&mut self) -> Result<(), RecordError> {
        (0..self.readers.len()).try_for_each(|index| self.take(index, true).map(drop))
    }

    /// Takes a CPU's pages until its buffer is empty; or, unless `all`, until a page comes
    /// that is not full, as the one being written to, so that a CPU that fills its buffer
    /// without end does not keep us from the others. Returns the bytes taken.
    fn take(&mut self, index: usize, all: bool) -> Result<u64, RecordError> {
        let (Some(reader), Some(store)) = (self.readers.get_mut(index), self.stores.get_mut(index)) else {
            return Ok(0);
        };
        let store_error = |source| RecordError::Store { directory: self.directory.clone(), source };
        let size = reader.page_size();
        let before = store.bytes;
        self.batch.clear();
        loop {
            let start = self.batch.len();
            self.batch.resize(start + size, 0);
            let page = self.batch.get_mut(start..).unwrap_or_default();
            let events = reader.read_page(page)?;
            if events.is_none() {
                self.batch.truncate(start);
            }
            let is_last = events.is_none_or(|events| !all && events < size - size / 8);
            if is_last || self.batch.len() + size > BATCH_BYTES {
                if let Err(error) = store.write(&self.batch) {
                    self.unwritten = Some(index);
                    return Err(store_error(error));
                }
                self.batch.clear();
            }
            if is_last {
                return Ok(store.bytes - before);
            }
        }
    }
}

impl Store {
    /// All of the pages or none.
    fn write(&mut self, pages: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(pages) {
            self.file.seek(SeekFrom::Start(self.bytes))?;
            return Err(error);
        }
        self.bytes += pages.len() as u64;
        Ok(())
    }
}
