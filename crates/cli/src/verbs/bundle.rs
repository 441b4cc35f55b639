//! `whylate bundle`: all that a report of a latency problem needs, in one file.

mod parts;

use super::{explain, record, runs, snapshot};
use crate::args::BundleArgs;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{atomic_file, output, signals};
use anyhow::{Context, Result, anyhow};
use parts::Parts;
use serde_json::Value;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use whylate_base::bundle::{OWN_MEASUREMENT, SNAPSHOT};
use whylate_base::{Severity, printable};
use whylate_checks::{CheckOptions, Profile, Selection};
use whylate_host::{FsRoot, Redaction, Snapshot};
use whylate_investigate::measure::{MeasureOptions, measure};
use whylate_investigate::record::{self as recorder, RecordOptions, RecordReport, SessionOptions, Stop};
use whylate_ledger::{Explanation, Options, Select};
use whylate_report::check::Checked;
use whylate_report::explain::Explained;
use whylate_report::{Format, Render, Rendered, Style};

pub(crate) fn run(args: &BundleArgs) -> Result<ExitStatus> {
    atomic_file::check(&args.output)?;
    let inputs = args.measurement.iter().chain(&args.trace);
    inputs.clone().try_for_each(|input| output::spare(input, &args.output))?;
    // What cannot be read is found before the long part.
    let given = args.measurement.iter().map(measurement).collect::<Result<Vec<_>>>()?;
    let trace =
        args.trace.as_deref().map(|file| Ok::<_, anyhow::Error>((open(file)?, explained(file, args)?)));
    let trace = trace.transpose()?;
    let stop = signals::stop_flags()?;
    let redaction = Redaction::of(&FsRoot::live());
    let mut parts = Parts::default();

    parts.add(SNAPSHOT, "the machine: whylate check --root FILE", {
        let mut bytes = Vec::new();
        snapshot::taken(Path::new("/"), true)?.write(&mut bytes)?;
        bytes
    });
    check(&mut parts, &redaction);
    for (file, bytes) in args.measurement.iter().zip(given) {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => redaction.text(&text).into_bytes(),
            Err(error) => error.into_bytes(),
        };
        parts.add_measurement(file, "a measurement that was given", bytes);
    }
    match trace {
        Some((file, explanation)) => {
            explanations(&mut parts, &explanation, &redaction);
            parts.add_trace(file, "the trace that was given: whylate explain FILE");
        }
        None if args.no_record => {}
        None => {
            if let Err(error) = recording(args, &stop, &mut parts, &redaction) {
                parts.lack("a recording", format!("{error:#}"));
            }
        }
    }
    if !args.no_measure {
        measured(args, &stop, &mut parts, &redaction);
    }

    let (output, bytes) = match parts.write(&args.output) {
        Ok(bytes) => (args.output.clone(), bytes),
        Err(error) => elsewhere(&parts, &args.output, error)?,
    };
    output::print(&listed(&output, bytes, &parts))?;
    Ok(match output == args.output {
        false => ExitStatus::Failed,
        true if parts.missing().is_empty() => ExitStatus::Done,
        true => ExitStatus::CannotTell,
    })
}

/// What was recorded and measured cannot be so again: where its place is full, it goes to the directory for temporary files.
fn elsewhere(parts: &Parts, wanted: &Path, error: anyhow::Error) -> Result<(PathBuf, u64)> {
    let name = wanted.file_name().unwrap_or_default().to_string_lossy();
    let other = std::env::temp_dir().join(format!("whylate-{}-{name}", std::process::id()));
    match parts.write(&other) {
        Ok(bytes) => {
            message!("{error:#}; it is in {} instead", other.display());
            Ok((other, bytes))
        }
        Err(_) => Err(error),
    }
}

fn check(parts: &mut Parts, redaction: &Redaction) {
    let host = Snapshot::read(&FsRoot::live());
    let report = whylate_checks::check(&host, &CheckOptions::of(Profile::Realtime), &Selection::default());
    let checked = Checked { report: &report, fail_on: Severity::Error };
    document(parts, "check", "what whylate check found", &checked, redaction);
}

/// Records, explains the recording, and adds both.
fn recording(args: &BundleArgs, stop: &Stop, parts: &mut Parts, redaction: &Redaction) -> Result<()> {
    let name = args.output.file_name().unwrap_or_default().to_string_lossy();
    let beside = args.output.with_file_name(format!(".{name}.{}.dat", std::process::id()));
    let duration = Duration::from_nanos(args.duration.0.unsigned_abs());
    let command = (!args.command.is_empty()).then(|| args.command.clone());
    if command.is_none() {
        message!("recording for {} ...", args.duration);
    }
    let options = RecordOptions {
        output: beside,
        duration: command.is_none().then_some(duration),
        command,
        session: SessionOptions { host_name: false, symbols: !args.no_symbols, ..SessionOptions::default() },
        ..RecordOptions::default()
    };
    let report = recorder::record(&options, stop)?;
    // Its place is none that the user knows.
    record::report_recording(&RecordReport { path: "recording".into(), ..report });
    let trace = File::open(&options.output).context("cannot read the recording back")?;
    // From here on nothing is left of it, even if this process is killed.
    std::fs::remove_file(&options.output).context("cannot remove the recording's own file")?;
    let explanation = explained(Path::new(&format!("/proc/self/fd/{}", trace.as_raw_fd())), args)?;
    explanations(parts, &explanation, redaction);
    parts.add_trace(trace, "the recording: whylate explain FILE");
    Ok(())
}

fn explained(trace: &Path, args: &BundleArgs) -> Result<Explanation> {
    let tasks = args.tasks.iter().map(|task| Select::parse(task)).collect();
    let options = Options { tasks, deadline: args.deadline, ..Options::default() };
    explain::explain_recording(trace, &options)
}

fn explanations(parts: &mut Parts, explanation: &Explanation, redaction: &Redaction) {
    let report = Explained { explanation, fail_on: Severity::Error };
    document(parts, "explain", "what whylate explain found", &report, redaction);
}

fn measured(args: &BundleArgs, stop: &Stop, parts: &mut Parts, redaction: &Redaction) {
    const WHAT: &str = "a measurement of this machine";
    if stop.asked.load(Ordering::Acquire) {
        return parts.lack(WHAT, "interrupted before it began".to_owned());
    }
    message!("measuring for {} ...", args.duration);
    let options = MeasureOptions { duration: Some(args.duration), ..MeasureOptions::default() };
    match measure(&options, &stop.asked, &mut |_| {}) {
        Ok(report) => {
            if let Some(bytes) = rendered(&report, Format::Json, redaction) {
                parts.add(OWN_MEASUREMENT, "this machine: whylate compare FILE", bytes);
            }
            if let Some(bytes) = rendered(&report, Format::Html, redaction) {
                parts.add("measure.html", "the same as a page", bytes);
            }
        }
        Err(error) => parts.lack(WHAT, format!("{:#}", anyhow!(error))),
    }
}

/// Adds a report as JSON and as a page.
fn document(parts: &mut Parts, name: &str, about: &'static str, report: &impl Render, redaction: &Redaction) {
    for (format, about) in [(Format::Json, about), (Format::Html, "the same as a page")] {
        if let Some(bytes) = rendered(report, format, redaction) {
            parts.add(&format!("{name}{}", format.ending()), about, bytes);
        }
    }
}

fn rendered(report: &impl Render, format: Format, redaction: &Redaction) -> Option<Vec<u8>> {
    let rendered = match report.render(format, &Style::default())? {
        Rendered::Text(text) => Rendered::Text(redaction.text(&text)),
        Rendered::Document(mut document) => {
            redact(&mut document, redaction);
            Rendered::Document(document)
        }
    };
    let mut bytes = Vec::new();
    rendered.write(&mut bytes).ok().map(|()| bytes)
}

/// Values only: the host's name may be a word of the document's own.
fn redact(value: &mut Value, redaction: &Redaction) {
    match value {
        Value::String(text) => *text = redaction.text(text),
        Value::Array(values) => values.iter_mut().for_each(|value| redact(value, redaction)),
        Value::Object(members) => members.values_mut().for_each(|value| redact(value, redaction)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The bytes of a file that is a measurement.
fn measurement(file: &PathBuf) -> Result<Vec<u8>> {
    runs::read(std::slice::from_ref(file))?;
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

fn open(file: &Path) -> Result<File> {
    File::open(file).with_context(|| format!("cannot read {}", file.display()))
}

fn listed(path: &Path, bytes: u64, parts: &Parts) -> String {
    let mut text = format!("{}: {:.1} MB\n", path.display(), bytes as f64 / 1e6);
    for (name, about) in parts.list() {
        text.push_str(&format!("  {:<30} {about}\n", printable(name)));
    }
    for (what, why) in parts.missing() {
        text.push_str(&format!("  missing: {what}: {}\n", printable(why)));
    }
    text.push_str(
        "The host's name, hardware addresses, UUIDs and IPv4 addresses are replaced. Names of threads, users, programs and\n\
         kernel modules are not, nor is anything in a trace that was given: review the file before you publish it.\n",
    );
    text
}
