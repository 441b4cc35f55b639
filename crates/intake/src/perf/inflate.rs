//! Records that perf compressed (`perf record -z`): one zstd stream through all compressed records,
//! in which a record may begin in one and end in the next.

use super::record_header::{kind, plausible};
use super::sample::HEADER;
use std::ops::Range;
use whylate_ftrace::bytes::Endian;
use zstd::stream::raw::{Decoder, Operation};

/// Unpacked at a time, whatever a compressed record claims to hold.
const STEP: usize = 128 << 10;

#[derive(Default)]
pub(super) struct Inflater {
    decoder: Option<Decoder<'static>>,
    /// The stream broke: nothing behind can be unpacked.
    broken: bool,
    packed: Vec<u8>,
    packed_at: usize,
    /// Nothing more comes out of what was fed.
    dry: bool,
    output: Vec<u8>,
    unpacked: Vec<u8>,
    unpacked_at: usize,
    /// Where in the file the packed bytes are.
    pub(super) file_offset: u64,
}

impl Inflater {
    pub(super) fn used(&self) -> bool {
        self.decoder.is_some()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.unpacked
    }

    /// Takes the next compressed record; what was fed before has been used up.
    pub(super) fn feed(&mut self, endian: Endian, record_kind: u32, record: &[u8]) -> Result<(), String> {
        if self.broken {
            return Ok(());
        }
        let body = record.get(HEADER..).unwrap_or_default();
        let packed = match record_kind {
            // The later kind is padded and has the size of its data.
            kind::COMPRESSED2 => {
                let size = endian.u64(body, 0).and_then(|size| usize::try_from(size).ok());
                let end = size.and_then(|size| size.checked_add(8));
                end.and_then(|end| body.get(8..end)).ok_or("a compressed record is shorter than it claims")?
            }
            _ => body,
        };
        self.packed.clear();
        self.packed.extend_from_slice(packed);
        self.packed_at = 0;
        self.dry = false;
        if self.decoder.is_none() {
            self.decoder = Some(Decoder::new().map_err(|error| format!("zstd: {error}"))?);
        }
        Ok(())
    }

    /// Kind and place of the next record; `None` when more must be fed.
    pub(super) fn next(&mut self, endian: Endian) -> Result<Option<(u32, Range<usize>)>, String> {
        loop {
            let left = self.unpacked.get(self.unpacked_at..).unwrap_or_default();
            if left.len() >= HEADER {
                let Some((kind, size)) = plausible(endian, left) else {
                    return self.give_up("a compressed record holds no record");
                };
                if size <= left.len() {
                    let start = self.unpacked_at;
                    self.unpacked_at += size;
                    return Ok(Some((kind, start..start + size)));
                }
            }
            if !self.unpack()? {
                return Ok(None);
            }
        }
    }

    /// Unpacks some more; false when nothing is left to unpack.
    fn unpack(&mut self) -> Result<bool, String> {
        if self.broken || self.dry {
            return Ok(false);
        }
        let Some(decoder) = &mut self.decoder else { return Ok(false) };
        self.unpacked.drain(..self.unpacked_at);
        self.unpacked_at = 0;
        self.output.resize(STEP, 0);
        let input = self.packed.get(self.packed_at..).unwrap_or_default();
        match decoder.run_on_buffers(input, &mut self.output) {
            Ok(status) => {
                self.packed_at += status.bytes_read;
                self.unpacked.extend_from_slice(self.output.get(..status.bytes_written).unwrap_or_default());
                // What did not fill the room was all there is.
                self.dry = self.packed_at >= self.packed.len() && status.bytes_written < STEP;
                let stuck = status.bytes_read == 0 && status.bytes_written == 0;
                self.dry |= stuck;
                Ok(!stuck)
            }
            Err(error) => self.give_up(&format!("not valid zstd: {error}")).map(|_: Option<()>| false),
        }
    }

    fn give_up<T>(&mut self, what: &str) -> Result<Option<T>, String> {
        self.broken = true;
        self.unpacked.clear();
        self.unpacked_at = 0;
        Err(what.to_owned())
    }
}
