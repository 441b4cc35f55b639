//! `whylate.open(path).events()`: the events of a recording as a stream.

use crate::arrow::{schema_capsule, schema_of, stream};
use crate::errors::{Error, failed};
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use whylate_events::{Event, KindSet};
use whylate_export::Tracepoint;
use whylate_export::json_lines::fields;
use whylate_tables::schema::Holds;

/// Events of a batch.
const BATCH: usize = 1 << 14;
/// Batches that wait for the consumer: memory stays bounded.
const AHEAD: usize = 2;

/// A recording.
#[pyclass(module = "whylate", frozen)]
pub(crate) struct Recording {
    path: PathBuf,
    #[pyo3(get)]
    format: String,
    #[pyo3(get)]
    cpus: u32,
    #[pyo3(get)]
    kernel: Option<String>,
    #[pyo3(get)]
    machine: Option<String>,
    #[pyo3(get)]
    clock: Option<String>,
}

/// Opens a recording of any format that `whylate explain` reads.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: PathBuf) -> PyResult<Recording> {
    py.detach(|| {
        let source = whylate_intake::open(&path, KindSet::ALL).map_err(failed)?;
        let info = source.info().clone();
        drop(source);
        Ok(Recording {
            path,
            format: info.format,
            cpus: info.cpus,
            kernel: info.kernel_release,
            machine: info.host,
            clock: info.clock,
        })
    })
}

#[pymethods]
impl Recording {
    /// The events in the order of time, as a stream that can be consumed once.
    fn events(&self) -> PyResult<EventStream> {
        let (to, batches) = sync_channel(AHEAD);
        let path = self.path.clone();
        let schema = schema();
        let own = schema.clone();
        let reading = move || read(&path, &own, &to);
        thread::Builder::new().name("whylate-events".into()).spawn(reading).map_err(failed)?;
        Ok(EventStream(Mutex::new(Some(Batches { schema, batches }))))
    }

    fn __repr__(&self) -> String {
        format!("<whylate.Recording {}: {}, {} CPUs>", self.path.display(), self.format, self.cpus)
    }
}

/// Events as batches of Arrow: `pyarrow.RecordBatchReader.from_stream(s)`, `polars.DataFrame(s)`, `duckdb.sql("from s")`.
#[pyclass(module = "whylate", frozen)]
pub(crate) struct EventStream(Mutex<Option<Batches>>);

#[pymethods]
impl EventStream {
    /// The stream of the Arrow C interface. It can be taken once.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let once = "this stream of events was consumed already: call events() again";
        stream(py, batches.ok_or_else(|| Error::new_err(once))?)
    }

    /// The schema of the Arrow C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &schema())
    }
}

/// The consumer's end.
struct Batches {
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.recv().ok()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn schema() -> SchemaRef {
    use Holds::{Int, Text};
    let columns =
        [("ts_ns", Int), ("cpu", Int), ("tid", Int), ("group", Text), ("event", Text), ("fields", Text)];
    schema_of(&columns, &[("whylate.schema", whylate_export::json_lines::SCHEMA)])
}

/// Reads all events; ends early where no consumer is left.
fn read(path: &Path, schema: &SchemaRef, to: &SyncSender<Result<RecordBatch, ArrowError>>) {
    let mut source = match whylate_intake::open(path, KindSet::ALL) {
        Ok(source) => source,
        Err(error) => {
            let _ = to.send(Err(ArrowError::ExternalError(Box::new(error))));
            return;
        }
    };
    let mut columns = Columns::default();
    let mut waiting = 0;
    while let Some(event) = source.next_event() {
        columns.push(event);
        waiting += 1;
        if waiting == BATCH {
            waiting = 0;
            if to.send(columns.finish(schema)).is_err() {
                return;
            }
        }
    }
    if waiting > 0 {
        let _ = to.send(columns.finish(schema));
    }
}

#[derive(Default)]
struct Columns {
    ts: Int64Builder,
    cpu: Int64Builder,
    tid: Int64Builder,
    group: StringBuilder,
    event: StringBuilder,
    fields: StringBuilder,
}

impl Columns {
    fn push(&mut self, event: &Event) {
        let point = Tracepoint::of(&event.kind);
        self.ts.append_value(event.ts.0);
        self.cpu.append_option(event.cpu.known().map(i64::from));
        self.tid.append_value(event.context.tid.0.into());
        self.group.append_value(point.group);
        self.event.append_value(point.name.as_ref());
        self.fields.append_value(fields(event).to_string());
    }

    fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(
            schema.clone(),
            vec![
                Arc::new(self.ts.finish()),
                Arc::new(self.cpu.finish()),
                Arc::new(self.tid.finish()),
                Arc::new(self.group.finish()),
                Arc::new(self.event.finish()),
                Arc::new(self.fields.finish()),
            ],
        )
    }
}
