//! gzip, zstd and tar around any trace, also several times around; and UTF-16 around any text.
//!
//! Text is read as it is unpacked. Formats that need random access go into an unlinked temporary file
//! ([`spool`]). A stream that ends early, or is damaged, gives what comes before.

pub(crate) mod archive;
pub(crate) mod spool;

use crate::pasted::Utf16;
use crate::with_info::WithInfo;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use whylate_events::{Damage, EventSource, TraceInfo};

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Tar,
    Utf16(Utf16),
}

/// More layers than any file has.
pub(crate) const MOST_LAYERS: usize = 4;

impl Packing {
    /// By the first bytes (RFC 1952, RFC 8878, tar(5)).
    pub(crate) fn of(start: &[u8]) -> Option<Packing> {
        match start {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ if archive::begins(start) => Some(Packing::Tar),
            _ => Utf16::of(start).map(Packing::Utf16),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Tar => "tar",
            Packing::Utf16(_) => "UTF-16",
        }
    }
}

/// Damage of the streams, shared by the unpacking reader and the source that reports it.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<Damage>>>);

impl Notes {
    fn add(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Damage::whole(what));
    }

    pub(crate) fn all(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What comes out of a packed stream. A damaged one ends where the damage is.
pub(crate) struct Unpacked<D> {
    decoder: D,
    packing: Packing,
    notes: Notes,
    bytes: u64,
    broken: bool,
}

/// Unpacks `packed`, and notes what is wrong with it.
pub(crate) fn unpack(
    packing: Packing,
    packed: Box<dyn Read + Send>,
    notes: &Notes,
) -> io::Result<Box<dyn Read + Send>> {
    let packed = BufReader::with_capacity(128 << 10, packed);
    let notes = notes.clone();
    let (bytes, broken) = (0, false);
    Ok(match packing {
        Packing::Gzip => {
            let decoder = flate2::bufread::MultiGzDecoder::new(packed);
            Box::new(Unpacked { decoder, packing, notes, bytes, broken })
        }
        Packing::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
            Box::new(Unpacked { decoder, packing, notes, bytes, broken })
        }
        Packing::Tar => Box::new(archive::trace(packed)?),
        Packing::Utf16(order) => Box::new(order.decoded(packed)),
    })
}

impl<D: Read> Read for Unpacked<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.broken {
            return Ok(0);
        }
        match self.decoder.read(buffer) {
            Ok(count) => {
                self.bytes += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            // The system's errors have a number; the others are the decoder's.
            Err(error) if error.raw_os_error().is_some() => Err(error),
            Err(error) => {
                self.broken = true;
                let (name, bytes) = (self.packing.name(), self.bytes);
                let how = match error.kind() {
                    io::ErrorKind::UnexpectedEof => "is cut off".to_owned(),
                    _ => format!("is damaged ({error})"),
                };
                self.notes
                    .add(format!("the {name} stream {how}: the {bytes} bytes unpacked until there are read"));
                Ok(0)
            }
        }
    }
}

/// A trace that was packed, with what was wrong with the packing.
pub(crate) fn packed<S: EventSource>(
    source: S,
    layers: &[Packing],
    notes: Notes,
) -> impl EventSource + use<S> {
    let layers = layers.iter().rev().map(|layer| layer.name()).collect::<Vec<_>>().join(" in ");
    WithInfo::new(source, move |info: &mut TraceInfo| {
        info.format = format!("{} in {layers}", info.format);
        info.damage.extend(notes.all());
    })
}
