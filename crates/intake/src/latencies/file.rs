//! The contents of a file with measurements, also packed with gzip or zstd.

use super::error::LatenciesError;
use crate::unpack::{MOST_LAYERS, Notes, Packing, unpack};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Longer files are no histograms: a day of `cyclictest -v` at 1 ms has 2 GiB.
const MOST_BYTES: u64 = 4 << 30;
/// A document of a week has some 100 MB. More in a packed file, or in a pipe, is none: a few bytes can unpack to any length.
const MOST_UNPACKED: u64 = 512 << 20;

/// All of a file, unpacked.
///
/// # Errors
/// If it cannot be read, is longer than any measurement, or its packing is damaged.
pub fn contents(path: &Path) -> Result<Vec<u8>, LatenciesError> {
    let file = |error| LatenciesError::File { path: path.to_owned(), error };
    let mut opened = File::open(path).map_err(file)?;
    let metadata = opened.metadata().map_err(file)?;
    if metadata.is_dir() {
        return Err(LatenciesError::Directory { path: path.to_owned() });
    }
    let most = if metadata.is_file() { MOST_BYTES } else { MOST_UNPACKED };
    let mut bytes = whole(path, &mut opened, most)?;
    for _ in 0..MOST_LAYERS {
        let packing = Packing::of(&bytes).filter(|packing| *packing != Packing::Tar);
        let Some(packing) = packing else { return Ok(bytes) };
        let notes = Notes::default();
        let mut unpacked = unpack(packing, Box::new(Cursor::new(bytes)), &notes).map_err(file)?;
        bytes = whole(path, &mut unpacked, MOST_UNPACKED)?;
        // The rest of a measurement may have its latest samples.
        if let Some(damage) = notes.all().pop() {
            return Err(LatenciesError::Packed { path: path.to_owned(), what: damage.what });
        }
    }
    Ok(bytes)
}

fn whole(path: &Path, from: &mut impl Read, most: u64) -> Result<Vec<u8>, LatenciesError> {
    let mut bytes = Vec::new();
    let read: io::Result<usize> = from.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| LatenciesError::File { path: path.to_owned(), error })?;
    match bytes.len() as u64 > most {
        true => Err(LatenciesError::Endless { path: path.to_owned(), mib: most >> 20 }),
        false => Ok(bytes),
    }
}
