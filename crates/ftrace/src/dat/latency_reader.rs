//! Reads a latency tracer's text out of a trace.dat.

use super::blocks::Blocks;
use super::buffer::CpuData;
use super::compress::{Compression, LARGEST_SECTION, Unpacker};
use super::error::Trouble;
use super::input::{Input, LARGEST_BLOCK};
use super::latency_text::{LatencyText, TextAt};
use super::read_at::ReadAt;
use crate::bytes::Endian;
use std::sync::Arc;
use whylate_base::Cpu;

const WHAT: &str = "a latency tracer's text";

/// Reads the whole text; of one that is damaged, as much as there is.
pub(super) fn read(source: &Arc<dyn ReadAt>, endian: Endian, text: TextAt) -> Result<LatencyText, Trouble> {
    let TextAt { at, size, compression } = text;
    let left = source.size().saturating_sub(at);
    if compression == Compression::None {
        let size = if size == 0 { left } else { size.min(left) };
        return Input::new(&**source, at, endian).take(size, WHAT).map(LatencyText);
    }
    let data = CpuData { cpu: Cpu(0), offset: at, size: left };
    let mut chunks =
        Blocks::chunks(source.clone(), endian, data, Unpacker::new(compression, LARGEST_SECTION));
    let (mut text, mut chunk, mut damage) = (Vec::new(), Vec::new(), Vec::new());
    while chunks.next(&mut chunk, &mut damage).is_some() {
        text.extend_from_slice(&chunk);
        if text.len() as u64 > LARGEST_BLOCK {
            return Err(Trouble::bad(at, format!("{WHAT} is larger than {LARGEST_BLOCK} bytes")));
        }
    }
    match damage.first().filter(|_| text.is_empty()) {
        Some(damage) => Err(Trouble::bad(damage.offset.unwrap_or(at), damage.what.clone())),
        None => Ok(LatencyText(text)),
    }
}
