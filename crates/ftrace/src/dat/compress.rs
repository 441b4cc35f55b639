//! The compressions a trace.dat v7 may use.

use super::zstd_codec;
use std::io::Read;

/// How a file's sections are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard frames.
    Zstd,
    /// zlib streams (RFC 1950).
    Zlib,
}

/// A section that claims more than this after unpacking is damaged.
pub(super) const LARGEST_SECTION: usize = 256 << 20;
/// The same for a chunk of pages; those of trace-cmd have ten pages.
pub(super) const LARGEST_CHUNK: usize = 64 << 20;
/// Nothing real unpacks to more than this many times its size, zlib cannot, and what is small may.
const LARGEST_GAIN: usize = 1100;
const SMALL: usize = 8 << 20;

impl Compression {
    /// By the name in the file's header.
    pub(super) fn of_name(name: &str) -> Option<Compression> {
        match name {
            "none" | "" => Some(Compression::None),
            "zstd" => Some(Compression::Zstd),
            "zlib" => Some(Compression::Zlib),
            _ => None,
        }
    }

    /// The name in the file's header.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Zstd => "zstd",
            Compression::Zlib => "zlib",
        }
    }
}

/// Unpacks chunks of up to `largest` bytes.
#[derive(Clone, Copy)]
pub(super) struct Unpacker {
    compression: Compression,
    largest: usize,
}

impl Unpacker {
    pub(super) fn new(compression: Compression, largest: usize) -> Unpacker {
        Unpacker { compression, largest }
    }

    /// The claimed size, if the packed bytes can plausibly unpack to it.
    fn believed(&self, size: u32, packed: usize) -> Option<usize> {
        let limit = packed.saturating_mul(LARGEST_GAIN).max(SMALL).min(self.largest);
        Some(size as usize).filter(|&size| size <= limit)
    }

    /// Unpacks `packed` into `unpacked`, which should come to `size` bytes. What did come
    /// out stays in `unpacked` where it is shorter.
    pub(super) fn unpack(&self, packed: &[u8], size: u32, unpacked: &mut Vec<u8>) -> Result<(), String> {
        unpacked.clear();
        let Some(size) = self.believed(size, packed.len()) else {
            return Err(format!("{} bytes claim to unpack to {size}", packed.len()));
        };
        match self.compression {
            Compression::None => unpacked.extend_from_slice(packed),
            Compression::Zstd => zstd_codec::unpack(packed, size, unpacked)
                .map_err(|error| format!("not valid zstd: {error}"))?,
            Compression::Zlib => {
                flate2::read::ZlibDecoder::new(packed)
                    .take(size as u64)
                    .read_to_end(unpacked)
                    .map_err(|error| format!("not valid zlib: {error}"))?;
            }
        }
        match unpacked.len() == size {
            true => Ok(()),
            false => Err(format!("{} bytes instead of {size}", unpacked.len())),
        }
    }

    /// Unpacks the beginning of what should come to `size` bytes, as far as it goes.
    pub(super) fn unpack_beginning(&self, packed: &[u8], size: u32, unpacked: &mut Vec<u8>) {
        unpacked.clear();
        let limit = (size as usize).min(self.largest) as u64;
        // What comes out before the error stays; that there is one is known.
        let _ = match self.compression {
            Compression::None => packed.take(limit).read_to_end(unpacked).map(drop),
            Compression::Zlib => {
                flate2::read::ZlibDecoder::new(packed).take(limit).read_to_end(unpacked).map(drop)
            }
            Compression::Zstd => zstd_codec::unpack_beginning(packed, limit, unpacked),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_cannot_be_are_not_believed() {
        let zeros = vec![0; 1 << 20];
        let packed = zstd::bulk::compress(&zeros, 3).expect("zstd");
        let unpacker = Unpacker::new(Compression::Zstd, LARGEST_SECTION);
        let mut unpacked = Vec::new();
        assert_eq!(unpacker.unpack(&packed, 1 << 20, &mut unpacked), Ok(()));
        assert_eq!(unpacked, zeros);
        assert!(
            unpacker.unpack(&packed, u32::MAX, &mut unpacked).is_err_and(|what| what.contains("claim to"))
        );
        assert!(unpacker.unpack(&packed, 1 << 19, &mut unpacked).is_err(), "more than was promised");
        let strict = Unpacker::new(Compression::Zstd, 1000);
        assert!(strict.unpack(&packed, 1 << 20, &mut unpacked).is_err());
        assert!(unpacked.capacity() < 2 << 20, "{}", unpacked.capacity());
    }

    #[test]
    fn the_beginning_of_what_was_cut_is_unpacked() {
        let text: Vec<u8> =
            (0..400_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for compression in [Compression::Zstd, Compression::Zlib, Compression::None] {
            let packed = match compression {
                Compression::None => text.clone(),
                Compression::Zstd => zstd::bulk::compress(&text, 1).expect("zstd"),
                Compression::Zlib => {
                    let mut packed = Vec::new();
                    flate2::read::ZlibEncoder::new(&text[..], flate2::Compression::fast())
                        .read_to_end(&mut packed)
                        .expect("zlib");
                    packed
                }
            };
            let mut unpacked = Vec::new();
            let unpacker = Unpacker::new(compression, LARGEST_SECTION);
            unpacker.unpack_beginning(&packed[..packed.len() / 2], text.len() as u32, &mut unpacked);
            // The decoder in pure Rust keeps what is in its window.
            let least = match compression {
                Compression::Zstd if cfg!(not(feature = "zstd")) => 0,
                _ => text.len() / 4,
            };
            assert!(unpacked.len() >= least && text.starts_with(&unpacked), "{compression:?}");
        }
    }
}
