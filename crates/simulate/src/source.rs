//! A simulation as a stream of events: to the ledger it is one more recording.

use crate::engine::Simulation;
use crate::model::Model;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, EventSource, Kind, KindSet, TraceInfo};

/// So many events are handed on at once.
const BATCH: usize = 1000;

/// The events of a simulated machine. Its memory does not grow with the length of the run.
pub struct SimulatedSource<'m> {
    simulation: Simulation<'m>,
    batch: Vec<Event>,
    next: usize,
    info: TraceInfo,
    is_over: bool,
}

impl<'m> SimulatedSource<'m> {
    /// A run of `duration`; the same `seed` gives the same run.
    pub fn new(model: &'m Model, duration: Ns, seed: u64) -> SimulatedSource<'m> {
        let recorded = Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Lost | Kind::Other));
        let info = TraceInfo {
            format: "simulation".to_owned(),
            cpus: model.machine.cpus,
            clock: Some("mono".to_owned()),
            kernel_release: Some(model.machine.kernel.to_string()),
            machine: Some("x86_64".to_owned()),
            recorded: Some(recorded.collect::<KindSet>()),
            span: Some((Ns::ZERO, Ns::ZERO)),
            ..TraceInfo::default()
        };
        SimulatedSource {
            simulation: Simulation::new(model, duration, seed, true),
            batch: Vec::with_capacity(2 * BATCH),
            next: 0,
            info,
            is_over: false,
        }
    }

    /// What the run shows beside its events, once it is over.
    pub(crate) fn simulation(&self) -> &Simulation<'m> {
        &self.simulation
    }

    fn fill(&mut self) {
        self.next = 0;
        while !self.is_over && self.simulation.event_count() < BATCH {
            self.is_over = !self.simulation.advance();
        }
        self.simulation.take_events(&mut self.batch);
        self.info.events += self.batch.len() as u64;
        if let Some(last) = self.batch.last() {
            self.info.span = Some((Ns::ZERO, last.ts));
        }
    }
}

impl EventSource for SimulatedSource<'_> {
    fn next_event(&mut self) -> Option<&Event> {
        if self.next >= self.batch.len() {
            self.fill();
        }
        let event = self.batch.get(self.next)?;
        self.next += 1;
        Some(event)
    }

    fn next_batch(&mut self) -> &[Event] {
        if self.next >= self.batch.len() {
            self.fill();
        }
        let from = std::mem::replace(&mut self.next, self.batch.len());
        self.batch.get(from..).unwrap_or_default()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.simulation.comms()
    }
}
