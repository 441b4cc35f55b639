//! Reading ahead: a thread of its own reads the next events while the consumer works on those before.
//!
//! ```text
//! filler ──(its thread)──> full batches ──> consumer
//!        <──────────────── used ones ─────
//! ```

use crate::Event;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Events of a batch: enough that the cost of waking the other thread does not matter.
pub const BATCH: usize = 2048;
/// Batches between the threads. Together with those at both ends they fit into a CPU's cache.
const ON_THE_WAY: usize = 3;

/// What yields the batches of a [`ReadAhead`].
pub trait FillBatch: Send + 'static {
    /// Replaces what is in `batch` by the next events, about [`BATCH`] of them; none at the end.
    fn fill(&mut self, batch: &mut Vec<Event>);
}

/// The events of a [`FillBatch`] that runs on another thread. Dropped before the end, it leaves that thread to itself: it ends
/// with its next batch, and may wait for a stream until then.
pub struct ReadAhead<F> {
    full: Receiver<Vec<Event>>,
    /// Used batches, to be filled again.
    used: Sender<Vec<Event>>,
    thread: Option<JoinHandle<Option<Box<F>>>>,
}

impl<F: FillBatch> ReadAhead<F> {
    /// Starts the thread, by the name of `thread`.
    ///
    /// # Errors
    /// `filler` itself, where no thread can be started.
    pub fn start(filler: Box<F>, thread: &str) -> Result<ReadAhead<F>, Box<F>> {
        let (full_in, full) = sync_channel(ON_THE_WAY);
        let (used, used_out) = channel();
        let (give, given) = channel::<Box<F>>();
        let work = move || given.recv().ok().map(|filler| run(filler, &full_in, &used_out));
        let Ok(thread) = std::thread::Builder::new().name(thread.to_owned()).spawn(work) else {
            return Err(filler);
        };
        give.send(filler).map_err(|back| back.0)?;
        Ok(ReadAhead { full, used, thread: Some(thread) })
    }

    /// Exchanges a used batch for the next one, which is empty at the end.
    pub fn exchange(&mut self, used: Vec<Event>) -> Vec<Event> {
        // A thread that has ended needs no batch.
        let _ = self.used.send(used);
        self.full.recv().unwrap_or_default()
    }

    /// The filler, after its last batch; only the first call returns it.
    ///
    /// # Panics
    /// When its thread panicked.
    pub fn ended(&mut self) -> Option<Box<F>> {
        match self.thread.take()?.join() {
            Ok(filler) => filler,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn run<F: FillBatch>(
    mut filler: Box<F>,
    full: &SyncSender<Vec<Event>>,
    used: &Receiver<Vec<Event>>,
) -> Box<F> {
    loop {
        let mut batch = used.try_recv().unwrap_or_default();
        filler.fill(&mut batch);
        if batch.is_empty() || full.send(batch).is_err() {
            return filler;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, EventKind};
    use whylate_base::{Cpu, Ns};

    struct Counting {
        next: i64,
        end: i64,
    }

    impl FillBatch for Counting {
        fn fill(&mut self, batch: &mut Vec<Event>) {
            let until = self.end.min(self.next + 10);
            let event =
                |ts| Event { ts: Ns(ts), cpu: Cpu(0), context: Context::default(), kind: EventKind::Other };
            batch.clear();
            batch.extend((self.next..until).map(event));
            self.next = until;
        }
    }

    #[test]
    fn events_come_in_order_and_the_filler_at_the_end() {
        let Ok(mut ahead) = ReadAhead::start(Box::new(Counting { next: 0, end: 95 }), "test") else {
            panic!("no thread")
        };
        let (mut batch, mut seen) = (Vec::new(), Vec::new());
        loop {
            batch = ahead.exchange(batch);
            if batch.is_empty() {
                break;
            }
            seen.extend(batch.iter().map(|event| event.ts.0));
        }
        assert_eq!(seen, (0..95).collect::<Vec<i64>>());
        assert_eq!(ahead.ended().map(|filler| filler.next), Some(95));
        assert!(ahead.ended().is_none());
        assert!(ahead.exchange(batch).is_empty());
    }

    #[test]
    fn it_may_be_dropped_before_the_end() {
        let Ok(mut ahead) = ReadAhead::start(Box::new(Counting { next: 0, end: i64::MAX }), "test") else {
            panic!("no thread")
        };
        assert_eq!(ahead.exchange(Vec::new()).len(), 10);
    }
}
