//! Takes records out of the rings of all CPUs, in time order, and turns samples into stacks.

use crate::lock_reader::LockReader;
use crate::python::{self, PythonReader};
use crate::record::{Body, CodeMapping, Record, Sample};
use crate::shared::Shared;
use crate::table::StackTable;
use crate::{Mapping, ModuleFiles, Unwinder};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use whylate_base::{Ns, Tid};
use whylate_events::{AddressId, SampleKind, StackSample, Stacks};
use whylate_sys::{Clock, PerfRing, now};

/// How long records may wait for company: each look at the rings disturbs a CPU. A wait for a lock that takes longer is seen
/// while it lasts.
const PAUSE: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Bytes of records that wait.
const MOST_WAITING: usize = 128 << 20;

/// Unwinding the first sample of a large program takes long; the rings fill meanwhile.
const AT_ONCE: Ns = Ns::from_ms(20);

/// The rings, and what was made of their records so far.
pub(crate) struct Collector {
    rings: Vec<PerfRing>,
    shared: Arc<Shared>,
    unwinder: Unwinder,
    table: StackTable,
    locks: LockReader,
    python: PythonReader,
    /// Records that are not looked at yet, in time order; of samples only those of the chosen spans will be.
    waiting: VecDeque<(Ns, Box<[u8]>)>,
    /// For how long, and how many bytes of them there are.
    chosen_after: Option<Ns>,
    waiting_bytes: usize,
    /// Processes whose mappings are known: from `/proc` or from their exec.
    known: HashSet<Tid>,
    /// The records that wait for the next round, one behind the other, and where each begins with its time.
    bytes: Vec<u8>,
    order: Vec<(Ns, usize, usize)>,
    stack: Vec<AddressId>,
}

impl Collector {
    pub(crate) fn new(rings: Vec<PerfRing>, shared: Arc<Shared>, chosen_after: Option<Ns>) -> Collector {
        Collector {
            rings,
            shared,
            unwinder: Unwinder::new(),
            table: StackTable::default(),
            locks: LockReader::default(),
            python: PythonReader::default(),
            waiting: VecDeque::new(),
            chosen_after,
            waiting_bytes: 0,
            known: HashSet::new(),
            bytes: Vec::new(),
            order: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Takes records out until the sampling is over.
    pub(crate) fn run(&mut self) {
        while !self.shared.is_over.load(Ordering::Acquire) {
            let mut files: Vec<PollFd<'_>> =
                self.rings.iter().map(|ring| PollFd::new(ring, PollFlags::IN)).collect();
            // Interrupted or not: a round finds what there is.
            let _ = poll(&mut files, Some(&PAUSE));
            self.round(now(Clock::Monotonic));
        }
        self.round(Ns::MAX);
        self.choose(Ns::MAX, Ns::MAX);
    }

    /// What was sampled, and the files that the code is from.
    pub(crate) fn finish(self) -> (Stacks, ModuleFiles) {
        let files = self.unwinder.into_files();
        let mut stacks = self.table.finish();
        python::name(&mut stacks, &self.python.finish());
        stacks.mutexes = self.locks.finish();
        stacks.modules = files.modules();
        (stacks, files)
    }

    /// One look at every ring. The records of different CPUs are put in order, so that a mapping comes before the samples in
    /// it: those that are later than the look waits for the next one, because earlier ones of another CPU may still come.
    fn round(&mut self, until: Ns) {
        let (mut bytes, mut order) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.order));
        for ring in &mut self.rings {
            ring.read(|record| {
                let Some(Record { time, .. }) = Record::parse(record) else { return };
                order.push((time, bytes.len(), record.len()));
                bytes.extend_from_slice(record);
            });
        }
        order.sort_unstable();
        let later = order.split_off(order.partition_point(|&(time, ..)| time <= until));
        for &(_, start, length) in &order {
            let Some(bytes) = bytes.get(start..start + length) else { continue };
            match (Record::parse(bytes), self.chosen_after) {
                (Some(record), None) => self.apply(&record),
                (Some(record), Some(_)) => self.wait(&record, bytes),
                (None, _) => {}
            }
        }
        self.keep(&bytes, &later);
        self.locks.look();
        if let Some(after) = self.chosen_after {
            let now = now(Clock::Monotonic);
            self.choose(now - after, now + AT_ONCE);
        }
    }

    /// Keeps records for the next round.
    fn keep(&mut self, bytes: &[u8], records: &[(Ns, usize, usize)]) {
        for &(time, start, length) in records {
            self.order.push((time, self.bytes.len(), length));
            self.bytes.extend_from_slice(bytes.get(start..start + length).unwrap_or_default());
        }
    }

    /// Puts a record aside. Where too many wait, the oldest samples are given up.
    fn wait(&mut self, record: &Record<'_>, bytes: &[u8]) {
        if let Body::Sample(sample) = &record.body {
            // It may have ended by the time at which the sample is looked at.
            self.know(sample.pid);
        }
        self.waiting_bytes += bytes.len();
        self.waiting.push_back((record.time, bytes.into()));
        while self.waiting_bytes > MOST_WAITING
            && let Some((_, bytes)) = self.waiting.pop_front()
        {
            self.waiting_bytes -= bytes.len();
            if let Some(record) = Record::parse(&bytes) {
                match &record.body {
                    Body::Sample(_) => self.table.lost(1),
                    _ => self.apply(&record),
                }
            }
        }
    }

    /// Looks at the records before an instant, for as long as there is time, and forgets the samples that are not chosen any
    /// more.
    fn choose(&mut self, before: Ns, until: Ns) {
        let spans = self.shared.spans.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_chosen = |time: Ns| spans.iter().any(|&(from, to)| (from..=to).contains(&time));
        while self.waiting.front().is_some_and(|&(time, _)| time < before)
            && let Some((time, bytes)) = self.waiting.pop_front()
        {
            self.waiting_bytes -= bytes.len();
            let Some(record) = Record::parse(&bytes) else { continue };
            if !matches!(record.body, Body::Sample(_)) {
                self.apply(&record);
            } else if is_chosen(time) {
                self.apply(&record);
                if now(Clock::Monotonic) > until {
                    break;
                }
            }
        }
        if self.chosen_after.is_some() {
            self.table.retain(is_chosen);
        }
    }

    fn apply(&mut self, record: &Record<'_>) {
        match &record.body {
            Body::Sample(sample) => self.sample(record.time, sample),
            Body::Mapped { pid, mapping } => {
                self.know(*pid);
                let path = Path::new(OsStr::from_bytes(mapping.path)).to_owned();
                let &CodeMapping { start, length, file_offset, inode, .. } = mapping;
                let inode = inode.unwrap_or_default();
                self.unwinder.mapped(*pid, &Mapping { start, length, file_offset, inode, path });
            }
            Body::Executed { pid } => {
                self.unwinder.executed(*pid);
                self.python.forget(*pid);
                self.known.insert(*pid);
            }
            Body::Forked { pid, parent } if pid != parent => {
                self.know(*parent);
                self.unwinder.forked(*pid, *parent);
                self.known.insert(*pid);
            }
            Body::Exited { pid, tid } if pid == tid => {
                self.unwinder.exited(*pid);
                self.python.forget(*pid);
                self.known.remove(pid);
            }
            Body::Lost(count) => {
                self.table.lost(*count);
                // Mappings may be among what was lost.
                self.known.clear();
            }
            Body::Forked { .. } | Body::Exited { .. } | Body::Other => {}
        }
    }

    /// Reads what a process had mapped before its records began, or went on after a loss.
    fn know(&mut self, pid: Tid) {
        if self.known.insert(pid) {
            // It may have ended: its stacks then have addresses without modules.
            let _ = self.unwinder.read_maps(pid);
        }
    }

    fn sample(&mut self, time: Ns, sample: &Sample<'_>) {
        let sources = self.shared.source_of.lock().unwrap_or_else(PoisonError::into_inner);
        let source = sources.get(&sample.event).and_then(|&index| self.shared.sources.get(index));
        let Some(kind) = source.and_then(|source| source.kind(sample)) else { return };
        drop(sources);
        self.locks.sampled(sample.pid, sample.tid, kind == SampleKind::SwitchOut);
        self.know(sample.pid);
        self.stack.clear();
        let user = sample.user.map(|(registers, stack)| {
            let frames = self.unwinder.frames(sample.pid, &registers, &stack);
            let calls = self.python.calls(&self.unwinder, (sample.pid, time), &frames, (&registers, &stack));
            (frames, calls)
        });
        let (frames, calls) = user.unwrap_or_default();
        // As the user's: all but the first are return addresses, and the call is before them.
        let kernel = sample.kernel.iter().enumerate().map(|(depth, address)| match depth {
            0 => address,
            _ => address.saturating_sub(1),
        });
        for address in kernel {
            let place = self.unwinder.locate(sample.pid, address);
            self.stack.push(self.table.address(place.module, place.offset));
        }
        let mut calls = calls.into_iter().peekable();
        for (depth, frame) in frames.iter().enumerate() {
            // What the interpreter does, it does for the function of Python: that is the inner frame.
            if let Some((_, call)) = calls.next_if(|&(of, _)| of == depth) {
                let module = self.unwinder.generated(sample.pid);
                self.stack.push(self.table.address(module, call.offset()));
            }
            let place = self.unwinder.locate(sample.pid, frame.address);
            self.stack.push(self.table.address(place.module, place.offset));
        }
        let stack = self.table.stack(&self.stack);
        let (tid, pid, cpu) = (sample.tid, sample.pid, sample.cpu);
        self.table.sample(StackSample { time, tid, pid, cpu, kind, stack });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(body: Body<'_>, time: i64) -> Record<'_> {
        Record { time: Ns(time), body }
    }

    #[test]
    fn after_a_loss_mappings_are_read_again() {
        let own = Tid(std::process::id() as i32);
        let mut collector = Collector::new(Vec::new(), Arc::new(Shared::default()), None);
        // A process whose mappings were all lost.
        collector.apply(&record(Body::Executed { pid: own }, 1));
        let here = after_a_loss_mappings_are_read_again as *const () as usize as u64;
        collector.know(own);
        assert_eq!(collector.unwinder.locate(own, here).module, None);
        collector.apply(&record(Body::Lost(1), 2));
        collector.know(own);
        assert!(collector.unwinder.locate(own, here).module.is_some());
    }
}
