//! Reading ahead: a thread of its own merges the next events while the consumer works on those before.
//!
//! ```text
//! streams ──(decode threads, where there are CPUs)──> merge ──(this thread)──> batches ──> consumer
//! ```

use super::cpu_events::CpuEvents;
use super::merger::Merger;
use super::record_merger::RecordMerger;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use whylate_events::Event;

/// Events of a batch: enough that the cost of waking the other thread does not matter.
const BATCH: usize = 2048;
/// Batches between the threads. Together with those at both ends they fit into a CPU's cache.
const ON_THE_WAY: usize = 3;

/// How the streams of a file become one.
pub(super) enum Merge {
    /// Decoded by the thread that merges them.
    Here(RecordMerger),
    /// Decoded by other threads.
    Pooled(Merger),
}

impl Merge {
    /// Merges `streams`; up to `threads` other threads decode them.
    pub(super) fn new(streams: Vec<CpuEvents>, threads: usize) -> Merge {
        match threads {
            0 => Merge::Here(RecordMerger::new(streams)),
            _ => Merge::Pooled(Merger::new(streams, threads)),
        }
    }

    /// Replaces what is in `batch` by the next events; none at the end.
    pub(super) fn fill(&mut self, batch: &mut Vec<Event>) {
        batch.clear();
        // A loss comes together with the event behind it.
        batch.reserve(BATCH + 1);
        match self {
            Merge::Here(merger) => merger.fill(batch, BATCH),
            Merge::Pooled(merger) => merger.fill(batch, BATCH),
        }
    }

    /// The streams that have ended.
    pub(super) fn into_ended(self) -> Vec<CpuEvents> {
        match self {
            Merge::Here(merger) => merger.into_ended(),
            Merge::Pooled(merger) => merger.into_ended(),
        }
    }
}

/// The events of a [`Merge`] that runs on another thread.
pub(super) struct ReadAhead {
    full: Option<Receiver<Vec<Event>>>,
    /// Used batches, to be filled again.
    used: Sender<Vec<Event>>,
    thread: Option<JoinHandle<Vec<CpuEvents>>>,
}

impl ReadAhead {
    /// Starts the thread. Where no thread can be started, the merge is returned.
    pub(super) fn start(merge: Box<Merge>) -> Result<ReadAhead, Box<Merge>> {
        let (full_in, full) = sync_channel(ON_THE_WAY);
        let (used, used_out) = channel();
        let (give, given) = channel::<Box<Merge>>();
        let work = move || match given.recv() {
            Ok(merge) => run(*merge, &full_in, &used_out),
            Err(_) => Vec::new(),
        };
        let Ok(thread) = std::thread::Builder::new().name("whylate-merge".to_owned()).spawn(work) else {
            return Err(merge);
        };
        give.send(merge).map_err(|back| back.0)?;
        Ok(ReadAhead { full: Some(full), used, thread: Some(thread) })
    }

    /// Exchanges a used batch for the next one, which is empty at the end.
    pub(super) fn exchange(&mut self, used: Vec<Event>) -> Vec<Event> {
        // A thread that has ended needs no batch.
        let _ = self.used.send(used);
        self.full.as_ref().and_then(|full| full.recv().ok()).unwrap_or_default()
    }

    /// The streams, which have ended; only the first call returns them.
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

fn run(mut merge: Merge, full: &SyncSender<Vec<Event>>, used: &Receiver<Vec<Event>>) -> Vec<CpuEvents> {
    loop {
        let mut batch = used.try_recv().unwrap_or_default();
        merge.fill(&mut batch);
        if batch.is_empty() || full.send(batch).is_err() {
            return merge.into_ended();
        }
    }
}
