//! A capture as a file: a zstd-compressed tar with a manifest of every path that was read.
//!
//! ```text
//! manifest.json   schema, and for each path: its size, its names, its target, or why there is nothing
//! root/proc/...   the files, under their own names
//! ```
//! `tar -xf` unpacks it; `check --root` reads the unpacked directory like the archive.

use super::capture::{Capture, EntryKind};
use super::directory::Directory;
use super::source::{MOST_BYTES, why};
use crate::{HostError, Why};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

const SCHEMA: &str = "whylate.snapshot/1";
const MANIFEST: &str = "manifest.json";
/// Together the files of an archive may hold this much: a machine of 512 CPUs has some 20 MiB.
const MOST_IN_ALL: usize = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Manifest {
    schema: String,
    /// The program that took it.
    by: String,
    entries: Vec<ManifestEntry>,
}

#[derive(Serialize, Deserialize)]
struct ManifestEntry {
    path: String,
    kind: EntryKind,
    /// Why there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    /// The names in a directory, the target of a link, or the ids of processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

impl Capture {
    /// Writes the archive.
    ///
    /// # Errors
    /// If `file` cannot be written to.
    pub fn write(&self, file: impl Write) -> io::Result<()> {
        let mut tar = tar::Builder::new(zstd::Encoder::new(file, 9)?);
        let manifest = serde_json::to_vec_pretty(&self.manifest())?;
        append(&mut tar, MANIFEST, &manifest)?;
        for (path, kind, value) in self.entries() {
            if let (EntryKind::File, Ok(bytes)) = (kind, value) {
                append(&mut tar, &format!("root{path}"), bytes)?;
            }
        }
        tar.into_inner()?.finish()?.flush()
    }

    fn manifest(&self) -> Manifest {
        let entries = self.entries().map(|(path, kind, value)| {
            let names = match (kind, value) {
                (EntryKind::Directory | EntryKind::Link | EntryKind::Holders, Ok(text)) => {
                    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
                }
                _ => Vec::new(),
            };
            ManifestEntry { path: path.to_owned(), kind, why: value.as_ref().err().cloned(), names }
        });
        Manifest {
            schema: SCHEMA.to_owned(),
            by: format!("whylate {}", env!("CARGO_PKG_VERSION")),
            entries: entries.collect(),
        }
    }
}

fn append(tar: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, path, bytes)
}

/// Reads an archive.
pub(super) fn read(path: &Path) -> Result<Capture, HostError> {
    let file = File::open(path).map_err(|error| HostError::Open { path: path.to_owned(), error })?;
    let foreign = |reason: String| HostError::Foreign { path: path.to_owned(), reason };
    let files = unpack(file).map_err(|error| foreign(error.to_string()))?;
    let manifest = files.get(MANIFEST).ok_or_else(|| foreign(format!("it has no {MANIFEST}")))?;
    let manifest = parse(manifest).map_err(foreign)?;
    Ok(capture(manifest, |path| {
        let name = format!("root{path}");
        files.get(&name).cloned().ok_or(Why::NotCollected)
    }))
}

/// An archive that was unpacked into a directory; `None` for another kind of directory.
pub(super) fn unpacked(path: &Path, directory: &Directory) -> Result<Option<Capture>, HostError> {
    let manifest = match directory.file(MANIFEST, MOST_BYTES) {
        Ok(manifest) => manifest,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(HostError::Open { path: path.join(MANIFEST), error }),
    };
    let manifest =
        parse(&manifest).map_err(|reason| HostError::Foreign { path: path.join(MANIFEST), reason })?;
    Ok(Some(capture(manifest, |path| {
        directory.file(&format!("root{path}"), MOST_BYTES).map_err(|error| match why(&error) {
            Why::Missing => Why::NotCollected,
            why => why,
        })
    })))
}

/// The files of an archive by name.
fn unpack(file: impl Read) -> io::Result<HashMap<String, Vec<u8>>> {
    let mut files = HashMap::new();
    let mut total = 0;
    for entry in tar::Archive::new(zstd::Decoder::new(file)?).entries()? {
        let entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
        let mut bytes = Vec::new();
        entry.take((MOST_IN_ALL - total) as u64 + 1).read_to_end(&mut bytes)?;
        total += bytes.len();
        if total > MOST_IN_ALL {
            return Err(io::Error::other(format!("it holds more than {} MiB", MOST_IN_ALL >> 20)));
        }
        files.insert(name, bytes);
    }
    Ok(files)
}

fn parse(manifest: &[u8]) -> Result<Manifest, String> {
    let manifest: Manifest =
        serde_json::from_slice(manifest).map_err(|error| format!("its {MANIFEST} is damaged: {error}"))?;
    match manifest.schema == SCHEMA {
        true => Ok(manifest),
        false => Err(format!("its schema is {}, this program reads {SCHEMA}", manifest.schema)),
    }
}

fn capture(manifest: Manifest, file: impl Fn(&str) -> Result<Vec<u8>, Why>) -> Capture {
    let mut capture = Capture::refusing(Why::NotCollected);
    for entry in manifest.entries {
        let value = match (entry.why, entry.kind) {
            (Some(why), _) => Err(why),
            (None, EntryKind::File) => file(&entry.path),
            (None, EntryKind::Directory | EntryKind::Link | EntryKind::Holders) => {
                Ok(entry.names.join("\n").into_bytes())
            }
        };
        capture.insert(&entry.path, entry.kind, value);
    }
    capture
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_archives_are_refused_or_read(at in 0usize..2000, byte: u8, cut in 0usize..2000) {
            let mut archive = Vec::new();
            Capture::of_files(&[("/proc/version", "Linux"), ("/sys/a/b", "1")]).write(&mut archive).expect("write");
            let at = at % archive.len();
            archive[at] = byte;
            archive.truncate(archive.len().saturating_sub(cut % archive.len()));
            let _ = unpack(&archive[..]).map(|files| files.get(MANIFEST).map(|bytes| parse(bytes).map(drop)));
        }
    }
}
