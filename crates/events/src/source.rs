//! Where events come from.

use crate::{Damage, Event, TraceInfo};
use whylate_base::{Comm, Ns, Tid};

/// A time-ordered stream of events with a description of the recording behind it.
///
/// Reading never fails half way: what cannot be read becomes [`Damage`] in the info, and
/// the stream goes on with what can.
pub trait EventSource {
    /// The next event in time order, or `None` at the end. It is lent, so that none is copied on its
    /// way; [`drain`] copies them.
    fn next_event(&mut self) -> Option<&Event>;

    /// The next events in time order, as many as are at hand; none at the end. For consumers that want every event:
    /// one call for many.
    fn next_batch(&mut self) -> &[Event] {
        self.next_event().map_or(&[], std::slice::from_ref)
    }

    /// What is known of the recording so far; complete after the last event.
    fn info(&self) -> &TraceInfo;

    /// Names of threads that the recording gives beside its events; a thread whose events give
    /// another name has that one.
    fn comms(&self) -> Vec<(Tid, Comm)> {
        Vec::new()
    }
}

impl<S: EventSource + ?Sized> EventSource for Box<S> {
    fn next_event(&mut self) -> Option<&Event> {
        (**self).next_event()
    }

    fn next_batch(&mut self) -> &[Event] {
        (**self).next_batch()
    }

    fn info(&self) -> &TraceInfo {
        (**self).info()
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        (**self).comms()
    }
}

/// What is left of a stream, event by event.
pub fn drain<S: EventSource + ?Sized>(source: &mut S) -> impl Iterator<Item = Event> {
    std::iter::from_fn(|| source.next_event().copied())
}

/// Events that are in memory already, sorted by time.
pub struct VecSource {
    events: Vec<Event>,
    next: usize,
    info: TraceInfo,
}

impl VecSource {
    /// Sorts `events` by time, keeping the order of simultaneous ones, and completes the
    /// info's counts and span from them. Time that ran backwards is noted as damage when
    /// `order_expected`: text files are in order unless something is wrong.
    pub fn new(mut events: Vec<Event>, mut info: TraceInfo, order_expected: bool) -> Self {
        if order_expected {
            let backwards = events.windows(2).filter(|pair| pair[1].ts < pair[0].ts).count();
            if backwards > 0 {
                info.damage.push(Damage::whole(format!(
                    "time runs backwards at {backwards} places: the events were sorted"
                )));
            }
        }
        events.sort_by_key(|event| event.ts);
        info.events = events.len() as u64;
        info.span = span(&events);
        VecSource { events, next: 0, info }
    }
}

fn span(events: &[Event]) -> Option<(Ns, Ns)> {
    Some((events.first()?.ts, events.last()?.ts))
}

impl EventSource for VecSource {
    fn next_event(&mut self) -> Option<&Event> {
        let event = self.events.get(self.next)?;
        self.next += 1;
        Some(event)
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}
