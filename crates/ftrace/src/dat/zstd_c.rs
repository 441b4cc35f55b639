//! Zstandard by the C library: the feature `zstd`, which is the default.

use std::cell::RefCell;
use std::io::{self, Read};

/// The compression that files are written with, as their head names it.
pub(super) const NAME: &str = "zstd";
/// 1 compresses symbols, by far the largest section, 5 times in milliseconds; higher levels gain little.
const LEVEL: i32 = 1;

thread_local! {
    /// Its working memory is larger than many a chunk, and there may be thousands of CPUs.
    static DECODER: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Unpacks up to `size` bytes into the empty `unpacked`.
pub(super) fn unpack(packed: &[u8], size: usize, unpacked: &mut Vec<u8>) -> io::Result<()> {
    // Memory that is reserved and not written to is not taken from the machine.
    unpacked.reserve(size);
    DECODER.with_borrow_mut(|decoder| {
        let decoder = match decoder {
            Some(decoder) => decoder,
            none => none.insert(zstd::bulk::Decompressor::new()?),
        };
        decoder.decompress_to_buffer(packed, unpacked).map(drop)
    })
}

/// Unpacks the beginning, up to `limit` bytes; what was unpacked before an error stays.
pub(super) fn unpack_beginning(packed: &[u8], limit: u64, unpacked: &mut Vec<u8>) -> io::Result<()> {
    zstd::stream::read::Decoder::new(packed)?.take(limit).read_to_end(unpacked).map(drop)
}

/// The version of the library that [`pack`] uses.
pub(super) fn version() -> &'static str {
    zstd::zstd_safe::version_string()
}

/// Compresses a section of a file that is written.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
}
