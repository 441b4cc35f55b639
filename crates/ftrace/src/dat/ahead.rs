//! The merged events, made on a thread of its own while its user is at those before.
//!
//! ```text
//! streams ──(decode threads)──> lanes ──(this thread)──> batches ──> user
//! ```

use super::events::CpuEvents;
use super::lanes::Lanes;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use whylate_events::Event;

/// Events of a batch: enough that waking the other thread for each costs nothing to speak of.
const BATCH: usize = 2048;
/// Batches on their way. With those at both ends they stay within a CPU's cache.
const ON_THE_WAY: usize = 3;

/// Events on their way from [`Lanes`] on another thread.
pub(super) struct Ahead {
    current: Vec<Event>,
    next: usize,
    full: Option<Receiver<Vec<Event>>>,
    /// What was used, to be filled again.
    used: Sender<Vec<Event>>,
    thread: Option<JoinHandle<Vec<CpuEvents>>>,
}

impl Ahead {
    /// Starts the thread; where none can be started, the lanes come back.
    pub(super) fn start(lanes: Box<Lanes>) -> Result<Ahead, Box<Lanes>> {
        let (full_in, full) = sync_channel(ON_THE_WAY);
        let (used, used_out) = channel();
        let (give, given) = channel::<Box<Lanes>>();
        let work = move || match given.recv() {
            Ok(lanes) => merge(*lanes, &full_in, &used_out),
            Err(_) => Vec::new(),
        };
        let Ok(thread) = std::thread::Builder::new().name("whylate-merge".to_owned()).spawn(work) else {
            return Err(lanes);
        };
        give.send(lanes).map_err(|back| back.0)?;
        Ok(Ahead { current: Vec::new(), next: 0, full: Some(full), used, thread: Some(thread) })
    }

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        self.next >= self.current.len() && !self.receive()
    }

    /// The next event of all, after [`is_at_end`](Self::is_at_end) said that there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        self.next += 1;
        self.current.get(self.next - 1)
    }

    /// All events at hand, after [`is_at_end`](Self::is_at_end) said that there are some.
    pub(super) fn rest(&mut self) -> &[Event] {
        let from = std::mem::replace(&mut self.next, self.current.len());
        self.current.get(from..).unwrap_or_default()
    }

    /// The streams, which have come to their end; once.
    ///
    /// # Panics
    /// When the thread did.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(streams)) => streams,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Vec::new(),
        }
    }

    /// After the end there are these.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        (self.current, self.next) = (events, 0);
    }

    #[cold]
    fn receive(&mut self) -> bool {
        // The thread may have ended already: then nobody wants it.
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

impl Drop for Ahead {
    fn drop(&mut self) {
        // It ends when nobody takes its batches.
        self.full = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so on standard error.
            let _ = thread.join();
        }
    }
}

fn merge(mut lanes: Lanes, full: &SyncSender<Vec<Event>>, used: &Receiver<Vec<Event>>) -> Vec<CpuEvents> {
    while !lanes.is_at_end() {
        let mut batch = used.try_recv().unwrap_or_default();
        batch.clear();
        batch.reserve(BATCH);
        while batch.len() < BATCH && !lanes.is_at_end() {
            batch.extend(lanes.next());
        }
        if full.send(batch).is_err() {
            break;
        }
    }
    lanes.ended()
}
