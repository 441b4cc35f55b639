//! The parts of a bundle, and the archive of them.

use crate::atomic_file;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use whylate_base::bundle::{MANIFEST, MEASUREMENTS, TRACE};

const SCHEMA: &str = "whylate.bundle/1";

/// What was gathered so far.
#[derive(Default)]
pub(super) struct Parts {
    files: Vec<Part>,
    trace: Option<(File, &'static str)>,
    missing: Vec<(&'static str, String)>,
}

struct Part {
    name: String,
    about: &'static str,
    bytes: Vec<u8>,
}

impl Parts {
    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, about: &'static str, bytes: Vec<u8>) {
        self.files.push(Part { name: name.to_owned(), about, bytes });
    }

    /// Adds a measurement under the name of its file, with a number where another one has that name.
    pub(super) fn add_measurement(&mut self, file: &Path, about: &'static str, bytes: Vec<u8>) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let mut path = format!("{MEASUREMENTS}{name}");
        for number in 2.. {
            if !self.files.iter().any(|part| part.name == path) {
                break;
            }
            path = format!("{MEASUREMENTS}{number}-{name}");
        }
        self.add(&path, about, bytes);
    }

    /// Adds the trace.
    pub(super) fn add_trace(&mut self, file: File, about: &'static str) {
        self.trace = Some((file, about));
    }

    /// Notes that a part could not be made, and why.
    pub(super) fn lack(&mut self, what: &'static str, why: String) {
        self.missing.push((what, why));
    }

    /// The parts that could not be made, with the reasons.
    pub(super) fn missing(&self) -> &[(&'static str, String)] {
        &self.missing
    }

    /// Name and purpose of each part.
    pub(super) fn list(&self) -> impl Iterator<Item = (&str, &str)> {
        let trace = self.trace.as_ref().map(|(_, about)| (TRACE, *about));
        self.files.iter().map(|part| (part.name.as_str(), part.about)).chain(trace)
    }

    /// Writes the archive, for its owner alone; returns how many bytes it has.
    pub(super) fn write(&self, path: &Path) -> Result<u64> {
        atomic_file::write_private(path, |out| {
            let mut tar = tar::Builder::new(zstd::Encoder::new(out, 9)?);
            let manifest = serde_json::to_vec_pretty(&self.manifest())?;
            append(&mut tar, MANIFEST, manifest.len() as u64, &manifest[..])?;
            for Part { name, bytes, .. } in &self.files {
                append(&mut tar, name, bytes.len() as u64, &bytes[..])?;
            }
            if let Some((trace, _)) = &self.trace {
                let mut trace = trace;
                trace.rewind().context("cannot read the trace")?;
                let size = trace.metadata().context("cannot read the trace")?.len();
                append(&mut tar, TRACE, size, trace)?;
            }
            Ok(tar.into_inner()?.finish()?.flush()?)
        })
    }

    fn manifest(&self) -> Value {
        let parts: Vec<Value> =
            self.list().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        let missing: Vec<Value> =
            self.missing.iter().map(|(what, why)| json!({ "what": what, "why": why })).collect();
        let by = format!("whylate {}", env!("CARGO_PKG_VERSION"));
        json!({ "schema": SCHEMA, "by": by, "parts": parts, "missing": missing })
    }
}

fn append(tar: &mut tar::Builder<impl Write>, name: &str, size: u64, content: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, content)
}
