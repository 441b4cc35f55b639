//! Documents of whylate, and measurements of any program.

use crate::content::{Content, Measurement};
use crate::error::TablesError;
use crate::rows::{MachineFacts, Rows, RunFacts};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;
use whylate_intake::latencies;
use whylate_report::{check, doctor, explain, measure, watch};
use whylate_stats::Run;

/// What a document is, read without the rest of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<String>,
}

/// The schema that the first object in some bytes names.
fn schema_of(bytes: &[u8]) -> Option<String> {
    serde_json::Deserializer::from_slice(bytes).into_iter::<Head>().next()?.ok()?.schema
}

/// The document in the bytes of a file, or another program's measurement.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Content, TablesError> {
    match schema_of(bytes).as_deref() {
        Some(name @ check::json::document::SCHEMA) => {
            parsed(path, bytes, name).map(|document| Content::Check(Box::new(document)))
        }
        Some(name @ doctor::json::document::SCHEMA) => {
            parsed(path, bytes, name).map(|document| Content::Doctor(Box::new(document)))
        }
        Some(name @ explain::json::document::SCHEMA) => {
            parsed(path, bytes, name).map(|document| Content::Explanation(Box::new(document)))
        }
        Some(name @ watch::json::document::SCHEMA) => watch_lines(path, bytes, name),
        Some(name) if name.starts_with("whylate.") && name != measure::json::document::SCHEMA => {
            Err(TablesError::Schema { path: path.to_owned(), schema: name.to_owned() })
        }
        _ => measurement(path, bytes),
    }
}

/// The lines of a watch. One that was killed may have left the last one unfinished.
fn watch_lines(path: &Path, bytes: &[u8], schema: &str) -> Result<Content, TablesError> {
    let mut lines = Vec::new();
    for line in serde_json::Deserializer::from_slice(bytes).into_iter() {
        match line {
            Ok(line) => lines.push(line),
            Err(error) if error.is_eof() && !lines.is_empty() => break,
            Err(error) => {
                return Err(TablesError::Document {
                    path: path.to_owned(),
                    schema: schema.to_owned(),
                    error,
                });
            }
        }
    }
    Ok(Content::Watch(lines))
}

fn parsed<D: DeserializeOwned>(path: &Path, bytes: &[u8], schema: &str) -> Result<D, TablesError> {
    serde_json::from_slice(bytes).map_err(|error| TablesError::Document {
        path: path.to_owned(),
        schema: schema.to_owned(),
        error,
    })
}

/// The measurement in the bytes of a file.
pub(super) fn measurement(path: &Path, bytes: &[u8]) -> Result<Content, TablesError> {
    let schema = measure::json::document::SCHEMA;
    let measurement = if schema_of(bytes).as_deref() == Some(schema) {
        let document: measure::json::document::Document = parsed(path, bytes, schema)?;
        Measurement { run: Run::from(document.clone()), document: Some(document) }
    } else {
        Measurement { run: latencies::read(path, bytes)?, document: None }
    };
    Ok(Content::Measurement(Box::new(measurement)))
}

impl Measurement {
    pub(crate) fn rows(&self, facts: &mut RunFacts, rows: &mut Rows<'_>) -> io::Result<()> {
        let run = &self.run;
        let all = run.all();
        let setting =
            |name: &str| run.machine.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let machine = MachineFacts {
            kernel: setting("/proc/sys/kernel/osrelease"),
            rt: setting("/proc/sys/kernel/version").map(|version| super::facts::is_rt(&version)),
            version: setting("/proc/sys/kernel/version"),
            online: setting("/sys/devices/system/cpu/online"),
            isolated: setting("/sys/devices/system/cpu/isolated").filter(|list| !list.is_empty()),
            cmdline: setting("/proc/cmdline"),
            clocksource: setting("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            profile: setting("/etc/tuned/active_profile"),
            ..MachineFacts::default()
        };
        facts.kind = "measurement";
        facts.tool = Some(run.tool.clone());
        facts.probe = Some(run.probe.clone());
        facts.duration_ns = run.elapsed.map(|elapsed| elapsed.0);
        facts.kernel = machine.kernel.clone();
        facts.samples = Some(all.count());
        facts.max_ns = all.max().map(|max| max.0);
        rows.machine(&machine);
        rows.settings(&run.machine);
        rows.measurement(run)?;
        if let Some(document) = &self.document {
            for activation in document.spikes.iter().filter_map(|spike| spike.activation.as_ref()) {
                rows.activation(activation, true)?;
            }
            document.findings.iter().for_each(|finding| rows.finding(finding));
        }
        Ok(())
    }
}

/// What an explanation shows of its recording.
pub(super) fn recording_facts(
    document: &explain::json::document::Document,
    run: &mut RunFacts,
    rows: &mut Rows<'_>,
) {
    let trace = &document.trace;
    run.kind = "recording";
    run.tool = Some(trace.format.clone());
    run.duration_ns = trace.start_ns.zip(trace.end_ns).map(|(start, end)| end.saturating_sub(start));
    run.kernel = trace.kernel_release.clone();
    run.events = Some(trace.events);
    run.lost_events = Some(trace.lost_events);
    run.quality = trace.quality.as_ref().map(super::facts::quality);
    run.damage = Some(trace.damage.len() as u64);
    run.max_ns = document.tasks.iter().filter_map(|task| Some(task.response_ns?.max)).max();
    run.unlisted_threads = Some(document.unlisted_tasks);
    rows.machine(&MachineFacts {
        kernel: trace.kernel_release.clone(),
        arch: trace.machine.clone(),
        cpus: Some(trace.cpus).filter(|&cpus| cpus > 0),
        ..MachineFacts::default()
    });
}

/// What a watch was.
pub(super) fn watch_facts(lines: &[watch::json::document::Line], run: &mut RunFacts) {
    run.kind = "watch";
    run.tool = Some("whylate watch".to_owned());
    run.max_ns = lines.iter().filter_map(|line| line.response_ns).max();
    let Some(summary) = lines.iter().filter_map(|line| line.summary.as_ref()).next_back() else { return };
    run.duration_ns = Some(summary.elapsed_ns);
    run.events = Some(summary.cost.events);
    run.lost_events = Some(summary.cost.lost);
    run.max_ns = summary.threads.iter().filter_map(|thread| thread.response.max_ns).max();
}

/// A document of `check`.
pub(super) fn check(
    document: &whylate_report::check::json::document::Document,
    run: &mut RunFacts,
    rows: &mut Rows<'_>,
) {
    let machine = document.machine.clone();
    run.kind = "check";
    run.tool = Some("whylate check".to_owned());
    run.kernel = machine.release.clone();
    rows.machine(&MachineFacts {
        rt: machine.version.as_deref().map(super::facts::is_rt),
        kernel: machine.release,
        version: machine.version,
        online: machine.cpus,
        board: machine.model,
        ..MachineFacts::default()
    });
    rows.checks(document);
}
