//! A ring of small records for one writer and one reader, all atomics: the writer never waits, and what
//! does not fit is counted.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// Records that a thread may give between two looks of the controller.
const CAPACITY: usize = 1024;

/// Records of N numbers on their way from a measuring thread: of a spike when it was due, when it woke and on which CPU;
/// of a stretch of time when it began and its largest latency.
pub(crate) struct Ring<const N: usize> {
    slots: Box<[[AtomicI64; N]]>,
    /// How many were ever written; only the writer stores it.
    written: AtomicUsize,
    /// How many were ever read; only the reader stores it.
    read: AtomicUsize,
    dropped: AtomicU64,
}

impl<const N: usize> Ring<N> {
    pub(crate) fn new() -> Self {
        Ring {
            slots: (0..CAPACITY).map(|_| [const { AtomicI64::new(0) }; N]).collect(),
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// The writer's side; one thread only.
    pub(crate) fn push(&self, record: [i64; N]) {
        let written = self.written.load(Ordering::Relaxed);
        // Acquire: the reader is done with the slot before it is written again.
        let read = self.read.load(Ordering::Acquire);
        match self.slots.get(written % CAPACITY) {
            Some(slot) if written.wrapping_sub(read) < CAPACITY => {
                slot.iter().zip(record).for_each(|(place, number)| place.store(number, Ordering::Relaxed));
                // Release: the slot is complete before the reader can see it.
                self.written.store(written.wrapping_add(1), Ordering::Release);
            }
            _ => self.dropped.store(self.dropped.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
        }
    }

    /// The reader's side; one thread only.
    pub(crate) fn pop(&self) -> Option<[i64; N]> {
        let read = self.read.load(Ordering::Relaxed);
        if read == self.written.load(Ordering::Acquire) {
            return None;
        }
        let slot = self.slots.get(read % CAPACITY)?;
        let record = std::array::from_fn(|at| slot[at].load(Ordering::Relaxed));
        self.read.store(read.wrapping_add(1), Ordering::Release);
        Some(record)
    }

    /// How many did not fit.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Writes to every slot, so that none is touched for the first time later. Only before
    /// the first push.
    pub(crate) fn touch(&self) {
        self.slots.iter().flatten().for_each(|place| place.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_the_rest_is_in_order() {
        let ring = Ring::new();
        for i in 0..CAPACITY as i64 + 3 {
            ring.push([i, 2 * i]);
        }
        assert_eq!(ring.dropped(), 3);
        for i in 0..CAPACITY as i64 {
            assert_eq!(ring.pop(), Some([i, 2 * i]));
        }
        assert_eq!(ring.pop(), None);
        ring.push([7, 8]);
        assert_eq!(ring.pop(), Some([7, 8]));
    }

    #[test]
    fn records_arrive_whole_and_in_order_between_threads() {
        const SENT: i64 = 100_000;
        let ring = Ring::new();
        let mut got = 0;
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..SENT).for_each(|i| ring.push([i, -i, i + 1])));
            let mut last = -1;
            loop {
                let ended = writer.is_finished();
                while let Some([first, second, third]) = ring.pop() {
                    assert!(first > last);
                    assert_eq!((second, third), (-first, first + 1));
                    last = first;
                    got += 1;
                }
                if ended {
                    break;
                }
                std::thread::yield_now();
            }
        });
        assert_eq!(got + ring.dropped() as i64, SENT);
    }
}
