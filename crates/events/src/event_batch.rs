//! Events at hand, lent one by one or all that are left.

use crate::Event;

/// A batch of events, and how many of them were taken.
#[derive(Default)]
pub struct EventBatch {
    events: Vec<Event>,
    taken: usize,
}

impl EventBatch {
    /// True when none is left.
    #[inline]
    pub fn is_used_up(&self) -> bool {
        self.taken >= self.events.len()
    }

    /// Puts others in place of the events that were taken, whose memory may be used again.
    pub fn replace(&mut self, others: impl FnOnce(Vec<Event>) -> Vec<Event>) {
        self.taken = 0;
        self.events = others(std::mem::take(&mut self.events));
    }

    /// Takes the next one.
    #[inline]
    pub fn take_next(&mut self) -> Option<&Event> {
        let next = self.events.get(self.taken)?;
        self.taken += 1;
        Some(next)
    }

    /// Takes all that are left.
    #[inline]
    pub fn take_rest(&mut self) -> &[Event] {
        let from = std::mem::replace(&mut self.taken, self.events.len());
        self.events.get(from..).unwrap_or_default()
    }
}
