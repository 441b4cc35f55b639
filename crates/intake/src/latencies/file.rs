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

/// So much of a text shows what it is.
const MOST_OF_BEGINNING: u64 = 2 << 20;

/// How a file begins, unpacked.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Whole lines.
    pub bytes: Vec<u8>,
    /// More follows.
    pub goes_on: bool,
}

/// The beginning of a file, whatever it is: a few bytes can unpack to any length.
///
/// # Errors
/// If it cannot be read.
pub fn beginning(path: &Path) -> io::Result<Beginning> {
    let mut reader: Box<dyn Read + Send> = Box::new(File::open(path)?);
    for _ in 0..MOST_LAYERS {
        // As many as show that it is a tar archive.
        let mut start = Vec::new();
        reader.by_ref().take(512).read_to_end(&mut start)?;
        let packing = Packing::of(&start).filter(|packing| *packing != Packing::Tar);
        reader = Box::new(Cursor::new(start).chain(reader));
        let Some(packing) = packing else { break };
        reader = unpack(packing, reader, &Notes::default())?;
    }
    let mut bytes = Vec::new();
    reader.take(MOST_OF_BEGINNING + 1).read_to_end(&mut bytes)?;
    let goes_on = bytes.len() as u64 > MOST_OF_BEGINNING;
    if goes_on {
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(end);
    }
    Ok(Beginning { bytes, goes_on })
}

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
