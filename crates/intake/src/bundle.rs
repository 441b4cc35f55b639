//! The measurements in a bundle of `whylate bundle`. The trace in it is found by [`open`](crate::open()).

use crate::unpack::archive;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use whylate_base::bundle::{MANIFEST, MEASUREMENTS, OWN_MEASUREMENT, TRACE};

/// The longest measurement: a document of a week has some 100 MB.
const MOST_BYTES: u64 = 512 << 20;
/// How far into a bundle its measurements are at most.
const MOST_BEFORE: u64 = 4 << 30;

/// The measurements of a bundle as paths below the path of the bundle, those that it was given first and its own last;
/// `None` of another file, or of none.
///
/// # Errors
/// If it is a bundle and cannot be read.
pub fn measurements(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let Some(archive) = open(path)? else { return Ok(None) };
    let mut names = Vec::new();
    let mut is_bundle = false;
    each(archive, |name, _| {
        is_bundle |= name == MANIFEST;
        if name.starts_with(MEASUREMENTS) {
            names.push(name.to_owned());
        }
        Ok(true)
    })?;
    names.sort_by_key(|name| name == OWN_MEASUREMENT);
    Ok(is_bundle.then(|| names.iter().map(|name| path.join(name)).collect()))
}

/// The bytes of a measurement of a bundle, by its path of [`measurements`]; `None` where the path is of no bundle.
///
/// # Errors
/// If the bundle cannot be read.
pub fn measurement(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some((bundle, name)) = path.ancestors().skip(1).find_map(|bundle| {
        let name = path.strip_prefix(bundle).ok()?.to_str()?;
        bundle.is_file().then_some((bundle, name))
    }) else {
        return Ok(None);
    };
    let Some(archive) = open(bundle)? else { return Ok(None) };
    let mut found = None;
    each(archive, |entry, content| {
        if entry == name {
            let mut bytes = Vec::new();
            content.take(MOST_BYTES).read_to_end(&mut bytes)?;
            found = Some(bytes);
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

/// The archive in a regular file; `None` of a file that is no zstd-compressed tar.
fn open(path: &Path) -> io::Result<Option<tar::Archive<impl Read + use<>>>> {
    if !path.is_file() {
        return Ok(None);
    }
    let start = |reader: &mut dyn Read, most: u64| {
        let mut start = Vec::new();
        reader.take(most).read_to_end(&mut start).map(|_| start)
    };
    let decoder = || zstd::Decoder::new(File::open(path)?);
    if !start(&mut File::open(path)?, 4)?.starts_with(&zstd::zstd_safe::MAGICNUMBER.to_le_bytes()) {
        return Ok(None);
    }
    // What is damaged may be no bundle: who opens it otherwise says what is wrong with it.
    match start(&mut decoder()?, 512) {
        Ok(start) if archive::begins(&start) => {}
        _ => return Ok(None),
    }
    Ok(Some(tar::Archive::new(BufReader::new(decoder()?.take(MOST_BEFORE)))))
}

/// Calls `visit` with each file before the trace, until it returns false.
fn each(
    mut archive: tar::Archive<impl Read>,
    mut visit: impl FnMut(&str, &mut dyn Read) -> io::Result<bool>,
) -> io::Result<()> {
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if name == TRACE || !visit(&name, &mut entry)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(directory: &Path, files: &[(&str, &[u8])]) -> PathBuf {
        let path = directory.join("bundle.tar.zst");
        let file = File::create(&path).expect("a file");
        let mut tar = tar::Builder::new(zstd::Encoder::new(file, 1).expect("an encoder"));
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, name, *bytes).expect("written");
        }
        tar.into_inner().and_then(zstd::Encoder::finish).expect("written");
        path
    }

    #[test]
    fn measurements_are_found_by_their_paths_and_the_own_one_comes_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = bundle(
            directory.path(),
            &[
                (MANIFEST, b"{}"),
                (OWN_MEASUREMENT, b"own"),
                ("measurements/stock.json", b"stock"),
                (TRACE, b"no measurement"),
            ],
        );
        let found = measurements(&path).expect("read").expect("a bundle");
        assert_eq!(found, [path.join("measurements/stock.json"), path.join(OWN_MEASUREMENT)]);
        let bytes: Vec<_> =
            found.iter().map(|path| measurement(path).expect("read").expect("there")).collect();
        assert_eq!(bytes, [b"stock".to_vec(), b"own".to_vec()]);
        assert_eq!(measurement(&path.join("measurements/other.json")).expect("read"), None);
    }

    #[test]
    fn other_files_are_no_bundles() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = bundle(directory.path(), &[("notes.txt", b"a tar of something else")]);
        assert_eq!(measurements(&path).expect("read"), None);
        std::fs::write(&path, b"{}").expect("written");
        assert_eq!(measurements(&path).expect("read"), None);
        assert_eq!(measurements(&directory.path().join("absent")).expect("no error"), None);
        assert_eq!(measurement(&directory.path().join("absent/x")).expect("no error"), None);
    }
}
