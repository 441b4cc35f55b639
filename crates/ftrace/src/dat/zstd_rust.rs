//! Zstandard without a C compiler: the feature `ruzstd`. It decodes only, so files are written with zlib instead.

use flate2::Compression;
use flate2::read::ZlibEncoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, Read};

/// The compression that files are written with, as their head names it.
pub(super) const NAME: &str = "zlib";

/// Unpacks up to `size` bytes into the empty `unpacked`.
pub(super) fn unpack(packed: &[u8], size: usize, unpacked: &mut Vec<u8>) -> io::Result<()> {
    // A byte more shows that there is more than was promised.
    unpacked.reserve(size + 1);
    unpack_beginning(packed, size as u64 + 1, unpacked)
}

/// Unpacks the beginning, up to `limit` bytes. Before an error the decoder gives away only what lies before its window:
/// of a chunk that was cut that may be nothing.
pub(super) fn unpack_beginning(packed: &[u8], limit: u64, unpacked: &mut Vec<u8>) -> io::Result<()> {
    let decoder = StreamingDecoder::new(packed).map_err(io::Error::other)?;
    decoder.take(limit).read_to_end(unpacked).map(drop)
}

/// The version of the library that [`pack`] uses; trace-cmd writes that of zlib and reads none.
pub(super) fn version() -> &'static str {
    "1"
}

/// Compresses a section of a file that is written.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    ZlibEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed)?;
    Ok(packed)
}
