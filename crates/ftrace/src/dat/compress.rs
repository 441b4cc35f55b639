//! The compressions a trace.dat v7 may use.

use super::error::Trouble;
use std::io::Read;

/// How a file's sections are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard frames.
    Zstd,
    /// zlib streams (RFC 1950).
    Zlib,
}

/// A chunk or section that claims more than this after unpacking is damaged; trace-cmd
/// writes chunks of tens of pages.
const LARGEST: u32 = 256 << 20;

impl Compression {
    /// By the name in the file's header.
    pub(super) fn of_name(name: &str) -> Result<Compression, Trouble> {
        match name {
            "none" | "" => Ok(Compression::None),
            "zstd" => Ok(Compression::Zstd),
            "zlib" => Ok(Compression::Zlib),
            other => Err(Trouble::Algorithm(other.to_owned())),
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

/// Unpacks chunk after chunk with one set of working memory.
pub(super) struct Unpacker {
    compression: Compression,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    pub(super) fn new(compression: Compression) -> Unpacker {
        Unpacker { compression, zstd: None }
    }

    /// Unpacks `packed` into `unpacked`, which should come to `size` bytes. What did come
    /// out stays in `unpacked` where it is shorter.
    pub(super) fn unpack(&mut self, packed: &[u8], size: u32, unpacked: &mut Vec<u8>) -> Result<(), String> {
        unpacked.clear();
        if size > LARGEST {
            return Err(format!("a chunk claims {size} bytes"));
        }
        let size = size as usize;
        match self.compression {
            Compression::None => unpacked.extend_from_slice(packed),
            Compression::Zstd => {
                // Memory that is reserved and not written to is not taken from the machine.
                unpacked.reserve(size);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?),
                };
                zstd.decompress_to_buffer(packed, unpacked)
                    .map_err(|error| format!("not valid zstd: {error}"))?;
            }
            Compression::Zlib => {
                flate2::read::ZlibDecoder::new(packed)
                    .take(size as u64)
                    .read_to_end(unpacked)
                    .map_err(|error| format!("not valid zlib: {error}"))?;
            }
        }
        match unpacked.len() == size {
            true => Ok(()),
            false => Err(format!("{} bytes where {size} were promised", unpacked.len())),
        }
    }
}
