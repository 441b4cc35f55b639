//! An input, told by its content, and its rows.

mod documents;
mod facts;
mod recording;

use crate::batch::Batch;
use crate::content::{Content, Input};
use crate::error::TablesError;
use crate::options::TableOptions;
use crate::rows::{InMemory, Rows, RunFacts, Sink, Summary};
use crate::run_id::RunId;
use facts::file_name;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use whylate_host::FsRoot;
use whylate_intake::{OpenError, bundle, latencies};
use whylate_investigate::watch::WATCH_FILE;
use whylate_ledger::WANTED;

/// The inputs in a file or a directory: one, or the parts of a bundle.
///
/// # Errors
/// If it cannot be read, or is nothing that has tables.
pub(crate) fn inputs(path: &Path, options: &TableOptions) -> Result<Vec<Input>, TablesError> {
    let run = RunId::of(path)?;
    let cannot = |error| TablesError::Read { path: path.to_owned(), error };
    let Some(measurements) = bundle::measurements(path).map_err(cannot)? else {
        return Ok(vec![facts::named(path, run, content(path)?, options)]);
    };
    let mut inputs = Vec::new();
    for measurement in measurements {
        let Some(bytes) = bundle::measurement(&measurement).map_err(cannot)? else { continue };
        let content = documents::measurement(&measurement, &bytes)?;
        let part = run.part(&file_name(&measurement));
        inputs.push(facts::named(&measurement, part, content, options));
    }
    if let Ok(root) = FsRoot::open(path) {
        inputs.push(facts::named(path, run.part("machine"), Content::Snapshot(Box::new(root)), options));
    }
    match whylate_intake::open(path, WANTED) {
        Ok(_) => inputs.push(facts::named(path, run, Content::Recording, options)),
        // A bundle may have none: what could not be recorded.
        Err(error) if inputs.is_empty() => return Err(error.into()),
        Err(_) => {}
    }
    Ok(inputs)
}

fn content(path: &Path) -> Result<Content, TablesError> {
    let cannot = |error| TablesError::Read { path: path.to_owned(), error };
    let journal = path.join(WATCH_FILE);
    if path.is_dir() && journal.is_file() {
        let bytes = latencies::contents(&journal)?;
        return documents::read(&journal, &bytes);
    }
    if path.is_dir() && ["proc", "sys", "etc"].iter().any(|name| path.join(name).is_dir()) {
        match FsRoot::open(path) {
            Ok(root) => return Ok(Content::Snapshot(Box::new(root))),
            Err(error) => return Err(cannot(std::io::Error::other(error))),
        }
    }
    if path.is_file() && is_json(path).map_err(cannot)? {
        let bytes = latencies::contents(path)?;
        return documents::read(path, &bytes);
    }
    let error = match whylate_intake::open(path, WANTED) {
        Ok(_) => return Ok(Content::Recording),
        Err(error @ (OpenError::Missing { .. } | OpenError::Permission { .. })) => return Err(error.into()),
        Err(error) => error,
    };
    if path.is_file() {
        if let Ok(root) = FsRoot::open(path) {
            return Ok(Content::Snapshot(Box::new(root)));
        }
        if let Ok(content) = latencies::contents(path)
            .map_err(TablesError::from)
            .and_then(|bytes| documents::read(path, &bytes))
        {
            return Ok(content);
        }
    }
    // The reader of recordings reports best what is wrong with a file.
    Err(error.into())
}

/// True when the first byte that is no space begins a JSON object.
fn is_json(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4096).read_to_end(&mut start)?;
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
}

/// A document or a measurement in memory as an input.
pub(crate) fn document(name: &str, bytes: &[u8], options: &TableOptions) -> Result<Input, TablesError> {
    let path = Path::new(name);
    Ok(facts::named(path, RunId::of_bytes(bytes), documents::read(path, bytes)?, options))
}

/// A machine's state as an input of its day: it is the same for as long as nothing changed.
pub(crate) fn machine(root: FsRoot, options: &TableOptions) -> Input {
    let state = facts::state(&root);
    let mut input = facts::named(Path::new("machine"), state, Content::Snapshot(Box::new(root)), options);
    input.run = state.part(&format!("{:?} {:?}", input.machine, input.date));
    input
}

/// The rows of an input in memory: a batch for each table, in the order of [`TABLES`](crate::schema::TABLES).
///
/// # Errors
/// If it cannot be read, or is nothing that has tables.
pub fn rows_of(path: &Path, options: &TableOptions) -> Result<Vec<Batch>, TablesError> {
    let mut sink = InMemory::new();
    for input in inputs(path, options)? {
        input.rows(options, &mut sink)?;
    }
    Ok(sink.0)
}

/// The rows of an explanation in memory; `path` is its recording.
///
/// # Errors
/// If the recording cannot be read: its content is the run's identity.
pub fn rows_of_explanation(
    path: &Path,
    document: &whylate_report::explain::json::document::Document,
) -> Result<Vec<Batch>, TablesError> {
    let content = Content::Explanation(Box::new(document.clone()));
    in_memory(&facts::named(path, RunId::of(path)?, content, &TableOptions::default()))
}

/// The rows of a simulation in memory: `text` is its task set, called `name`, and `document` what the ledger explains of it.
///
/// # Errors
/// None that memory has.
pub fn rows_of_simulation(
    name: &str,
    text: &[u8],
    document: &whylate_report::explain::json::document::Document,
) -> Result<Vec<Batch>, TablesError> {
    let failed = |error| TablesError::Write { path: name.into(), error };
    let mut sink = InMemory::new();
    let mut rows = Rows::new(RunId::of_bytes(text), None, &mut sink);
    let mut run = RunFacts { source: file_name(Path::new(name)), ..RunFacts::default() };
    documents::recording_facts(document, &mut run, &mut rows);
    run.kind = "simulation";
    rows.explanation(document).map_err(failed)?;
    rows.run(&run);
    Ok(sink.0)
}

/// The rows of a check in memory.
///
/// # Errors
/// None that memory has.
pub fn rows_of_check(
    document: &whylate_report::check::json::document::Document,
) -> Result<Vec<Batch>, TablesError> {
    let run = RunId::of_bytes(&serde_json::to_vec(document).unwrap_or_default());
    let content = Content::Check(Box::new(document.clone()));
    in_memory(&facts::named(Path::new("check"), run, content, &TableOptions::default()))
}

/// The rows of a measurement in memory, by its document's text.
///
/// # Errors
/// If it is no measurement.
pub fn rows_of_measurement(text: &str) -> Result<Vec<Batch>, TablesError> {
    let path = Path::new("measurement");
    let content = documents::measurement(path, text.as_bytes())?;
    in_memory(&facts::named(path, RunId::of_bytes(text.as_bytes()), content, &TableOptions::default()))
}

fn in_memory(input: &Input) -> Result<Vec<Batch>, TablesError> {
    let mut sink = InMemory::new();
    input.rows(&TableOptions::default(), &mut sink)?;
    Ok(sink.0)
}

impl Input {
    /// Puts its rows into `sink`.
    pub(crate) fn rows(&self, options: &TableOptions, sink: &mut dyn Sink) -> Result<Summary, TablesError> {
        let failed = |error| TablesError::Write { path: self.path.clone(), error };
        let mut rows = Rows::new(self.run, self.machine.clone(), sink);
        let source = if options.hide_names.is_some() { "(hidden)".to_owned() } else { file_name(&self.path) };
        let mut run = RunFacts { source, future: self.future(), ..RunFacts::default() };
        match &self.content {
            Content::Recording => recording::rows(&self.path, options, &mut run, &mut rows)?,
            Content::Explanation(document) => {
                documents::recording_facts(document, &mut run, &mut rows);
                rows.explanation(document).map_err(failed)?;
            }
            Content::Measurement(measurement) => {
                measurement.rows(&mut run, &mut rows).map_err(failed)?;
            }
            Content::Check(document) => documents::check(document, &mut run, &mut rows),
            Content::Doctor(document) => {
                run.kind = "doctor";
                run.tool = Some("whylate doctor".to_owned());
                run.duration_ns = Some(document.duration_ns);
                rows.doctor(document);
            }
            Content::Watch(lines) => {
                documents::watch_facts(lines, &mut run);
                rows.watch(lines).map_err(failed)?;
            }
            Content::Snapshot(root) => facts::snapshot(root, &mut run, &mut rows),
        }
        rows.run(&run);
        Ok(rows.finish())
    }
}
