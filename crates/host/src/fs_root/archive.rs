//! A capture as a file: a zstd-compressed tar with a manifest of every path that was read.
//!
//! ```text
//! manifest.json   schema, and for each path: its size, its names, its target, or why there is nothing
//! root/proc/...   the files, under their own names
//! ```
//! `tar -xf` unpacks it; `check --root` reads the unpacked directory like the archive.
//!
//! A bundle of `whylate bundle` has such an archive among its files.
//!
//! Others' archives are read as well: what one takes in memory has a bound, whatever its few bytes unpack to.

use super::bounded::Lines;
use super::capture::{Capture, EntryKind};
use super::directory::Directory;
use super::source::{MOST_BYTES, why};
use crate::{HostError, Why};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use whylate_base::bundle;

const SCHEMA: &str = "whylate.snapshot/1";
const MANIFEST: &str = "manifest.json";
/// What an archive may take.
struct Limits {
    /// Its files together, with their names.
    files: usize,
    /// All that it unpacks to, with what is skipped.
    unpacked: u64,
}

/// A machine of 512 CPUs has some 20 MiB.
const LIMITS: Limits = Limits { files: 128 << 20, unpacked: 512 << 20 };
/// What a file takes beside its bytes.
const PER_FILE: usize = 256;
/// The longest name of a file (PATH_MAX, limits.h), and the extended header around it (pax(1)).
const LONGEST_NAME: usize = 4 << 10;
const LONGEST_EXTENSION: usize = 64 << 10;
/// The largest window of the zstd stream, as a power of two: `zstd -19` has 23.
const MOST_WINDOW_LOG: u32 = 25;
/// The paths in a manifest.
const MOST_ENTRIES: usize = 1 << 18;

#[derive(Serialize, Deserialize)]
struct Manifest {
    schema: String,
    /// The program that took it.
    by: String,
    #[serde(deserialize_with = "super::bounded::entries::<_, _, MOST_ENTRIES>")]
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
    #[serde(default, skip_serializing_if = "Lines::is_empty")]
    names: Lines,
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
                    Lines(String::from_utf8_lossy(text).into_owned())
                }
                _ => Lines::default(),
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
    let mut files = unpack(file, &LIMITS).map_err(|error| foreign(error.to_string()))?;
    if let Some(snapshot) = files.remove(bundle::SNAPSHOT) {
        files = unpack(&snapshot[..], &LIMITS).map_err(|error| foreign(error.to_string()))?;
    }
    let manifest = files.remove(MANIFEST).ok_or_else(|| foreign(format!("it has no {MANIFEST}")))?;
    let manifest = parse(&manifest).map_err(foreign)?;
    Ok(capture(manifest, |path| files.remove(&format!("root{path}")).ok_or(Why::NotCollected)))
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

/// The files of an archive by name. Extended headers are read here rather than by the library, which reads them whole.
fn unpack(file: impl Read, limits: &Limits) -> io::Result<HashMap<String, Vec<u8>>> {
    let mut decoder = zstd::Decoder::new(file)?;
    decoder.window_log_max(MOST_WINDOW_LOG)?;
    let mut files = HashMap::new();
    let (mut total, mut long_name) = (0, None);
    let mut archive = tar::Archive::new(Bounded { inner: decoder, left: limits.unpacked });
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            long_name = Some(extension(&mut entry)?);
        } else if kind.is_pax_local_extensions() {
            let found = pax_path(&extension(&mut entry)?);
            long_name = found.or(long_name);
        } else if kind.is_file() {
            let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len()).min(LONGEST_NAME);
            let name = String::from_utf8_lossy(&name[..end]).trim_start_matches("./").to_owned();
            if name == bundle::TRACE {
                // What comes last in a bundle is no part of the machine, and may be large.
                break;
            }
            total += name.len() + PER_FILE;
            let mut bytes = Vec::new();
            entry.take(limits.files.saturating_sub(total) as u64 + 1).read_to_end(&mut bytes)?;
            total += bytes.len();
            if total > limits.files {
                return Err(io::Error::other(format!("its files have more than {} MiB", limits.files >> 20)));
            }
            files.insert(name, bytes);
        } else if !kind.is_gnu_longlink() && !kind.is_pax_global_extensions() {
            long_name = None;
        }
    }
    Ok(files)
}

/// The data of an extended header.
fn extension(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(LONGEST_EXTENSION as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > LONGEST_EXTENSION {
        true => {
            Err(io::Error::other(format!("a file's header has more than {} KiB", LONGEST_EXTENSION >> 10)))
        }
        false => Ok(bytes),
    }
}

/// The path among pax records.
fn pax_path(records: &[u8]) -> Option<Vec<u8>> {
    let mut records = tar::PaxExtensions::new(records).filter_map(Result::ok);
    records.find(|record| record.key_bytes() == b"path").map(|record| record.value_bytes().to_vec())
}

/// A stream that must end.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other("it unpacks to far more than the files of a machine"))?;
        Ok(count)
    }
}

fn parse(manifest: &[u8]) -> Result<Manifest, String> {
    let manifest: Manifest =
        serde_json::from_slice(manifest).map_err(|error| format!("its {MANIFEST} is damaged: {error}"))?;
    match manifest.schema == SCHEMA {
        true => Ok(manifest),
        false => Err(format!("its schema is {}, this program reads {SCHEMA}", manifest.schema)),
    }
}

fn capture(manifest: Manifest, mut file: impl FnMut(&str) -> Result<Vec<u8>, Why>) -> Capture {
    let mut capture = Capture::refusing(Why::NotCollected);
    for entry in manifest.entries {
        let value = match (entry.why, entry.kind) {
            (Some(why), _) => Err(why),
            (None, EntryKind::File) => file(&entry.path),
            (None, EntryKind::Directory | EntryKind::Link | EntryKind::Holders) => {
                Ok(entry.names.0.into_bytes())
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
    use tar::EntryType;

    fn packed(write: impl FnOnce(&mut tar::Builder<&mut zstd::Encoder<'_, Vec<u8>>>)) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        let mut tar = tar::Builder::new(&mut encoder);
        write(&mut tar);
        tar.finish().expect("written");
        drop(tar);
        encoder.finish().expect("written")
    }

    fn add(
        tar: &mut tar::Builder<&mut zstd::Encoder<'_, Vec<u8>>>,
        kind: EntryType,
        name: &str,
        size: u64,
        byte: u8,
    ) {
        let mut header = tar::Header::new_gnu();
        header.set_path(name).expect("short");
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        tar.append(&header, io::repeat(byte).take(size)).expect("written");
    }

    const SMALL: Limits = Limits { files: 1 << 20, unpacked: 4 << 20 };

    fn refused(archive: &[u8]) -> String {
        assert!(archive.len() < 1 << 16, "{} bytes", archive.len());
        unpack(archive, &SMALL).err().map_or_else(|| "it was read".to_owned(), |error| error.to_string())
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        for kind in [EntryType::GNULongName, EntryType::XHeader] {
            let bomb = packed(|tar| add(tar, kind, "x", 2 << 20, b'a'));
            assert_eq!(refused(&bomb), "a file's header has more than 64 KiB");
        }
        let large = packed(|tar| add(tar, EntryType::Regular, "x", 2 << 20, 0));
        assert_eq!(refused(&large), "its files have more than 1 MiB");
        let skipped = packed(|tar| add(tar, EntryType::Directory, "x", 5 << 20, 0));
        assert!(refused(&skipped).contains("unpacks to far more"), "{}", refused(&skipped));
        let many = packed(|tar| (0..5_000).for_each(|_| add(tar, EntryType::Regular, "x", 0, 0)));
        assert_eq!(refused(&many), "its files have more than 1 MiB");
    }

    #[test]
    fn a_manifest_takes_no_more_than_its_text() {
        let names = format!("\"\"{}", ",\"\"".repeat(200_000));
        let entry = format!("{{\"path\":\"/a\",\"kind\":\"directory\",\"names\":[{names}]}}");
        let of = |entries: &str| {
            format!("{{\"schema\":\"{SCHEMA}\",\"by\":\"x\",\"entries\":[{entries}]}}").into_bytes()
        };
        let manifest = parse(&of(&entry)).expect("many names");
        assert!(manifest.entries[0].names.0.capacity() <= 4 * 200_000);
        let small = "{\"path\":\"\",\"kind\":\"file\"}";
        let many = format!("{small}{}", format!(",{small}").repeat(MOST_ENTRIES));
        let error = parse(&of(&many)).err().expect("too many");
        assert!(error.contains("more than 262144 entries"), "{error}");
    }

    #[test]
    fn long_names_of_any_tar_are_read() {
        let long = format!("root/{}/value", "directory/".repeat(20));
        let archive = packed(|tar| {
            append(tar, &long, b"gnu").expect("written");
            let record = format!("path={long}.pax\n");
            let mut length = record.len() + 2;
            while format!("{length} {record}").len() != length {
                length += 1;
            }
            let record = format!("{length} {record}");
            let mut header = tar::Header::new_ustar();
            header.set_path("pax").expect("short");
            header.set_entry_type(EntryType::XHeader);
            header.set_size(record.len() as u64);
            header.set_cksum();
            tar.append(&header, record.as_bytes()).expect("written");
            add(tar, EntryType::Regular, "short", 3, b'p');
            add(tar, EntryType::Regular, "./root/own", 1, b'o');
        });
        let files = unpack(&archive[..], &LIMITS).expect("read");
        assert_eq!(files[&long], b"gnu");
        assert_eq!(files[&format!("{long}.pax")], b"ppp");
        assert_eq!(files["root/own"], b"o");
        assert_eq!(files.len(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_archives_are_refused_or_read(at in 0usize..2000, byte: u8, cut in 0usize..2000) {
            let mut archive = Vec::new();
            Capture::of_files(&[("/proc/version", "Linux"), ("/sys/a/b", "1")]).write(&mut archive).expect("write");
            let at = at % archive.len();
            archive[at] = byte;
            archive.truncate(archive.len().saturating_sub(cut % archive.len()));
            let _ = unpack(&archive[..], &LIMITS).map(|files| files.get(MANIFEST).map(|bytes| parse(bytes).map(drop)));
        }
    }
}
