//! From documents and measurements to rows. Each part writes the rows of one sort of input.

mod check;
mod doctor;
mod explain;
mod facts;
mod measure;
mod watch;

pub(crate) use facts::{MachineFacts, RunFacts};

use crate::batch::{Batch, Cell};
use crate::run_id::RunId;
use crate::schema::TABLES;
use std::collections::HashMap;
use std::io;
use whylate_base::Ns;
use whylate_report::tables::TopCause;

/// Where rows go: memory, or files.
pub(crate) trait Sink {
    /// The waiting rows of a table, by its name.
    fn batch(&mut self, table: &str) -> &mut Batch;
    /// Called now and then: may write what waits.
    fn relieve(&mut self) -> io::Result<()>;
}

/// What the rows of an input show in a few words.
pub(crate) struct Summary {
    pub(crate) causes: Vec<TopCause>,
    pub(crate) hardware: Vec<(&'static str, String)>,
}

/// More different culprits than this are not summed up: a summary lists a dozen.
const MOST_CAUSES: usize = 10_000;

/// The rows of one input on their way.
pub(crate) struct Rows<'s> {
    run: String,
    machine: Option<String>,
    sink: &'s mut dyn Sink,
    causes: HashMap<(String, String), TopCause>,
    hardware: Vec<(&'static str, String)>,
}

impl<'s> Rows<'s> {
    pub(crate) fn new(run: RunId, machine: Option<String>, sink: &'s mut dyn Sink) -> Rows<'s> {
        Rows { run: run.to_string(), machine, sink, causes: HashMap::new(), hardware: Vec::new() }
    }

    /// Adds a row to a table: the columns after machine and run.
    fn push<const N: usize>(&mut self, table: &str, cells: [Cell<'_>; N]) {
        let first = [Cell::from(self.machine.as_ref()), Cell::from(&self.run)];
        self.sink.batch(table).push(first.into_iter().chain(cells));
    }

    fn relieve(&mut self) -> io::Result<()> {
        self.sink.relieve()
    }

    /// What made activations late, and what was seen of the machine's hardware.
    pub(crate) fn finish(self) -> Summary {
        Summary { causes: self.causes.into_values().collect(), hardware: self.hardware }
    }

    fn count_cause(&mut self, cause: &str, culprit: Option<&str>, charged: i64, response: i64) {
        let key = (cause.to_owned(), culprit.unwrap_or_default().to_owned());
        if self.causes.len() >= MOST_CAUSES && !self.causes.contains_key(&key) {
            return;
        }
        let entry = self.causes.entry(key).or_insert_with_key(|(cause, culprit)| TopCause {
            cause: cause.clone(),
            culprit: culprit.clone(),
            activations: 0,
            charged: Ns::ZERO,
            worst: Ns::ZERO,
        });
        entry.activations += 1;
        entry.charged = Ns(entry.charged.0.saturating_add(charged));
        entry.worst = entry.worst.max(Ns(response));
    }
}

/// Rows in memory.
pub(crate) struct InMemory(pub(crate) Vec<Batch>);

impl InMemory {
    pub(crate) fn new() -> InMemory {
        InMemory(TABLES.iter().map(Batch::new).collect())
    }
}

impl Sink for InMemory {
    fn batch(&mut self, table: &str) -> &mut Batch {
        let at = TABLES.iter().position(|one| one.name == table).unwrap_or_default();
        &mut self.0[at]
    }

    fn relieve(&mut self) -> io::Result<()> {
        Ok(())
    }
}
