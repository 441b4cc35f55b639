//! Reading ahead: a thread of its own merges the next events while the consumer works on those before.
//!
//! ```text
//! streams ──(decode threads)──> merger ──(this thread)──> batches ──> consumer
//! ```

use super::cpu_events::CpuEvents;
use super::merger::Merger;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use whylate_events::Event;

/// Events of a batch: enough that the cost of waking the other thread does not matter.
const BATCH: usize = 2048;
/// Batches between the threads. Together with those at both ends they fit into a CPU's cache.
const ON_THE_WAY: usize = 3;

/// The events of a [`Merger`] that runs on another thread.
pub(super) struct ReadAhead {
    current: Vec<Event>,
    next: usize,
    full: Option<Receiver<Vec<Event>>>,
    /// Used batches, to be filled again.
    used: Sender<Vec<Event>>,
    thread: Option<JoinHandle<Vec<CpuEvents>>>,
}

impl ReadAhead {
    /// Starts the thread. Where no thread can be started, the merger is returned.
    pub(super) fn start(merger: Box<Merger>) -> Result<ReadAhead, Box<Merger>> {
        let (full_in, full) = sync_channel(ON_THE_WAY);
        let (used, used_out) = channel();
        let (give, given) = channel::<Box<Merger>>();
        let work = move || match given.recv() {
            Ok(merger) => merge(*merger, &full_in, &used_out),
            Err(_) => Vec::new(),
        };
        let Ok(thread) = std::thread::Builder::new().name("whylate-merge".to_owned()).spawn(work) else {
            return Err(merger);
        };
        give.send(merger).map_err(|back| back.0)?;
        Ok(ReadAhead { current: Vec::new(), next: 0, full: Some(full), used, thread: Some(thread) })
    }

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        self.next >= self.current.len() && !self.receive()
    }

    /// The next event, after [`is_at_end`](Self::is_at_end) returned false.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        self.next += 1;
        self.current.get(self.next - 1)
    }

    /// All events of the current batch, after [`is_at_end`](Self::is_at_end) returned false.
    pub(super) fn rest(&mut self) -> &[Event] {
        let from = std::mem::replace(&mut self.next, self.current.len());
        self.current.get(from..).unwrap_or_default()
    }

    /// The ended streams; only the first call returns them.
    ///
    /// # Panics
    /// When the thread panicked.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(streams)) => streams,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Vec::new(),
        }
    }

    /// Appends events after the end.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        (self.current, self.next) = (events, 0);
    }

    #[cold]
    fn receive(&mut self) -> bool {
        // A thread that has ended needs no batch.
        let _ = self.used.send(std::mem::take(&mut self.current));
        self.next = 0;
        match self.full.as_ref().map(Receiver::recv) {
            Some(Ok(batch)) => {
                self.current = batch;
                true
            }
            _ => false,
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        // The thread ends when its channel is closed.
        self.full = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has reported that on standard error.
            let _ = thread.join();
        }
    }
}

fn merge(mut merger: Merger, full: &SyncSender<Vec<Event>>, used: &Receiver<Vec<Event>>) -> Vec<CpuEvents> {
    while !merger.is_at_end() {
        let mut batch = used.try_recv().unwrap_or_default();
        batch.clear();
        batch.reserve(BATCH);
        while batch.len() < BATCH && !merger.is_at_end() {
            batch.extend(merger.next());
        }
        if full.send(batch).is_err() {
            break;
        }
    }
    merger.ended()
}
