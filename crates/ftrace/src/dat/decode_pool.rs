//! A pool of threads that decodes the next batch of each stream while the consumer uses the last one.
//!
//! ```text
//! consumer: take batch n of CPU 0 ──> give its stream back, to decode batch n+1 ──> use batch n
//! worker:   next stream in the queue ──> decode ──> ready
//! ```
//!
//! Each stream has one batch in use and one being decoded, so memory is bounded. A consumer that needs a batch which
//! no worker has begun decodes it itself: with one CPU, or on a busy machine, nothing waits for a thread that does
//! not run.

use super::cpu_events::CpuEvents;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use whylate_events::Event;

/// A stream with its last batch of events.
pub(super) struct Batch {
    pub(super) stream: Box<CpuEvents>,
    pub(super) events: Vec<Event>,
    /// The time of each event: all that merging compares.
    pub(super) times: Vec<i64>,
}

impl Batch {
    /// An empty batch of a stream that was not read yet.
    pub(super) fn of(stream: CpuEvents) -> Batch {
        Batch { stream: Box::new(stream), events: Vec::new(), times: Vec::new() }
    }

    fn fill(&mut self, size: usize) {
        self.stream.fill_timed(&mut self.events, &mut self.times, size);
    }
}

/// The streams that wait for decoding, and the threads that decode them.
pub(super) struct DecodePool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to decode, or the end.
    work: Condvar,
    /// Something was decoded.
    done: Condvar,
    batch_size: usize,
}

struct State {
    slots: Vec<Slot>,
    /// Slots to decode, the longest waiting first; some may have been taken meanwhile.
    queue: VecDeque<usize>,
    closing: bool,
    /// A worker panicked: its batch is lost.
    broken: bool,
}

enum Slot {
    /// In use, or at its end.
    Empty,
    /// To be decoded.
    Waiting(Batch),
    /// Being decoded.
    Busy,
    /// Decoded.
    Ready(Batch),
}

impl DecodePool {
    /// A pool for `streams` streams, in batches of `batch_size` events, with `workers` threads.
    pub(super) fn new(streams: usize, batch_size: usize, workers: usize) -> DecodePool {
        let mut slots = Vec::new();
        slots.resize_with(streams, || Slot::Empty);
        let state = Mutex::new(State {
            slots,
            queue: VecDeque::with_capacity(streams),
            closing: false,
            broken: false,
        });
        let shared = Arc::new(Shared { state, work: Condvar::new(), done: Condvar::new(), batch_size });
        let start = |_| {
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name("whylate-decode".to_owned());
            // Without threads the consumer decodes everything itself.
            thread.spawn(move || shared.decode_until_closed()).ok()
        };
        let workers = (0..workers).filter_map(start).collect();
        DecodePool { shared, workers }
    }

    /// Queues a stream for decoding; [`take`](Self::take) returns it.
    pub(super) fn give(&self, index: usize, batch: Batch) {
        let mut state = self.shared.lock();
        state.slots[index] = Slot::Waiting(batch);
        if !self.workers.is_empty() {
            state.queue.push_back(index);
            self.shared.work.notify_one();
        }
    }

    /// The next batch of a queued stream; `None` for a stream that was not queued.
    pub(super) fn take(&self, index: usize) -> Option<Batch> {
        let mut state = self.shared.lock();
        loop {
            match std::mem::replace(state.slots.get_mut(index)?, Slot::Empty) {
                Slot::Empty => return None,
                Slot::Ready(batch) => return Some(batch),
                Slot::Waiting(mut batch) => {
                    drop(state);
                    batch.fill(self.shared.batch_size);
                    return Some(batch);
                }
                Slot::Busy => {
                    assert!(!state.broken, "a decoding thread panicked");
                    state.slots[index] = Slot::Busy;
                    state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl Drop for DecodePool {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has reported that on standard error.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decode_until_closed(&self) {
        let mut state = self.lock();
        loop {
            if state.closing {
                return;
            }
            let Some(index) = state.queue.pop_front() else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match std::mem::replace(&mut state.slots[index], Slot::Busy) {
                Slot::Waiting(mut batch) => {
                    drop(state);
                    let busy = Decoding(self);
                    batch.fill(self.batch_size);
                    std::mem::forget(busy);
                    state = self.lock();
                    state.slots[index] = Slot::Ready(batch);
                    self.done.notify_all();
                }
                // The consumer took it first.
                other => state.slots[index] = other,
            }
        }
    }
}

/// Wakes the consumer when a worker panics; without it the consumer would wait for ever.
struct Decoding<'a>(&'a Shared);

impl Drop for Decoding<'_> {
    fn drop(&mut self) {
        self.0.lock().broken = true;
        self.0.done.notify_all();
    }
}
