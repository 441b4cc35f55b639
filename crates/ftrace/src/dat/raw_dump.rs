//! Ring-buffer pages that were copied out of tracefs (`per_cpu/cpuN/trace_pipe_raw`) with the files
//! that describe them, read as a trace.dat's are.

use super::buffer::{Buffer, RawBuffer};
use super::container::{Container, Kallsyms};
use super::describe::describe;
use super::extent::clip;
use super::file::TraceFile;
use super::read_at::ReadAt;
use crate::bytes::{Endian, until_nul};
use crate::decode::Decoders;
use crate::format::{EventFormats, HeaderPage};
use std::sync::Arc;
use whylate_events::Damage;

/// What a copy of tracefs has. Pages and symbols are places in one source of bytes, which may join
/// many files.
pub struct RawDump {
    /// The traced machine's byte order.
    pub endian: Endian,
    /// `events/header_page`; without it the kernel is taken to be a 64-bit one.
    pub header_page: Option<HeaderPage>,
    /// `events/*/*/format`.
    pub formats: EventFormats,
    /// The text of `saved_cmdlines`; empty where it was not copied.
    pub comms: Vec<u8>,
    /// Where a copy of `/proc/kallsyms` is: offset and size.
    pub kallsyms: Option<(u64, u64)>,
    /// The ring buffers: the top one and those of instances.
    pub buffers: Vec<RawBuffer>,
    /// What of the copy could not be read.
    pub damage: Vec<Damage>,
}

/// The largest sub-buffer a kernel can be set to hold (`buffer_subbuf_size_kb`), with room.
const LARGEST_PAGE: usize = 64 << 20;
/// A sub-buffer's size where there is no `header_page`: a page of most machines.
const USUAL_PAGE: usize = 4096;

impl TraceFile {
    /// Makes a recording of pages that were copied from a machine's tracefs.
    pub fn from_raw(source: Arc<dyn ReadAt>, dump: RawDump) -> TraceFile {
        let long_size = dump.header_page.map_or(8, |header| header.commit_size);
        let mut container = Container::new(6, dump.endian, long_size);
        container.header_page = dump.header_page;
        container.damage = dump.damage;
        container.read_comms(until_nul(&dump.comms));
        container.kallsyms = dump.kallsyms.map(|(at, size)| Kallsyms::Plain { at, size });
        let page_size = match dump.header_page {
            // What a header claims beyond reason costs memory for each CPU.
            Some(header) => {
                header.data_offset.saturating_add(header.data_size).clamp(USUAL_PAGE, LARGEST_PAGE)
            }
            None => USUAL_PAGE,
        };
        container.buffers = dump.buffers.into_iter().map(|raw| Buffer::of_raw(raw, page_size)).collect();
        clip(&mut container, source.size());
        let formats = Arc::new(dump.formats);
        let decoders = Arc::new(Decoders::new(&formats, container.endian));
        let mut info = describe(&container);
        info.format = "raw ring-buffer pages (trace_pipe_raw)".to_owned();
        TraceFile::new(source, container, formats, decoders, info)
    }
}
