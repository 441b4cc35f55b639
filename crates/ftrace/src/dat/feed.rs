//! Decoding ahead: one CPU's events in batches, made on other threads while the last ones are used.
//!
//! ```text
//! user:    take batch n of CPU 0 ──> hand its stream back, to decode batch n+1 ──> use batch n
//! worker:  next stream that was handed back ──> decode ──> ready
//! ```
//!
//! Each stream has one batch in use and one under way, so memory is bounded, and a user who needs a batch
//! that nobody has begun decodes it himself: with one CPU, or a busy machine, nothing waits for a thread
//! that does not run.

use super::events::CpuEvents;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use whylate_events::Event;

/// A stream with the events that it gave last.
pub(super) struct Batch {
    pub(super) stream: Box<CpuEvents>,
    pub(super) events: Vec<Event>,
    /// When each of them happened: all that merging needs to see.
    pub(super) times: Vec<i64>,
}

impl Batch {
    /// Of a stream that has given none yet.
    pub(super) fn of(stream: CpuEvents) -> Batch {
        Batch { stream: Box::new(stream), events: Vec::new(), times: Vec::new() }
    }

    fn fill(&mut self, size: usize) {
        self.stream.fill_timed(&mut self.events, &mut self.times, size);
    }
}

/// The streams that were handed out to be decoded.
pub(super) struct Feed {
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
    /// A worker panicked: what it had will not come.
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

impl Feed {
    /// A place for `streams` streams, in batches of `batch_size` events, with `workers` threads to decode them.
    pub(super) fn new(streams: usize, batch_size: usize, workers: usize) -> Feed {
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
            // Without threads the user decodes everything himself.
            thread.spawn(move || shared.decode_until_closed()).ok()
        };
        let workers = (0..workers).filter_map(start).collect();
        Feed { shared, workers }
    }

    /// Hands a stream out to be decoded; it comes back by [`take`](Self::take).
    pub(super) fn give(&self, index: usize, batch: Batch) {
        let mut state = self.shared.lock();
        state.slots[index] = Slot::Waiting(batch);
        if !self.workers.is_empty() {
            state.queue.push_back(index);
            self.shared.work.notify_one();
        }
    }

    /// The next batch of a stream that was handed out; `None` of one that was not.
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

impl Drop for Feed {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has said so on standard error.
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
                // The user was quicker.
                other => state.slots[index] = other,
            }
        }
    }
}

/// Tells the user when a worker panics: he would wait for ever.
struct Decoding<'a>(&'a Shared);

impl Drop for Decoding<'_> {
    fn drop(&mut self) {
        self.0.lock().broken = true;
        self.0.done.notify_all();
    }
}
