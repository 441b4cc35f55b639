//! The container of version 7: sections, found through a chain of options
//! (`trace-cmd.dat.v7(5)`).
//!
//! ```text
//! section = id u16 | flags u16 | description u32 | size u64 | data
//! packed  = packed size u32 | unpacked size u32 | bytes           (flag 1, all but trace data)
//! option  = id u16 | size u32 | data      the last, DONE, points to the next options section
//! ```

use super::compress::{Compression, Unpacker};
use super::container::{Buffer, Container, CpuData, Kallsyms, TscToNs, clock_in_use};
use super::error::Trouble;
use super::input::{Input, LARGEST_BLOCK};
use super::read_at::ReadAt;
use super::v6::{MOST_CPUS, option};
use crate::bytes::{Endian, until_nul};
use std::collections::BTreeSet;
use whylate_base::Cpu;
use whylate_events::Damage;

const OPTIONS: u16 = 0;
const HEADER_INFO: u16 = 16;
const FTRACE_EVENTS: u16 = 17;
const EVENT_FORMATS: u16 = 18;
const KALLSYMS: u16 = 19;
const CMDLINES: u16 = 21;
const BUFFER_TEXT: u16 = 22;

/// Section flag: the data is compressed.
const PACKED: u16 = 1;

/// Reads the options chain that begins at `first`, and the sections it names.
pub(super) fn read(container: &mut Container, source: &dyn ReadAt, first: u64) -> Result<(), Trouble> {
    let mut sections = Vec::new();
    let mut buffers = Vec::new();
    let mut holds_text = false;
    let (mut next, mut visited) = (first, BTreeSet::new());
    while next != 0 && visited.insert(next) {
        let options = match section(source, container.endian, container.compression, next, OPTIONS) {
            Ok(options) => options,
            Err(trouble) if visited.len() == 1 => return Err(trouble),
            Err(trouble) => {
                container.damage.push(trouble.damage("the descriptions from here on are lost"));
                break;
            }
        };
        let at = next;
        next = 0;
        for (id, data) in Options::new(&options, container.endian) {
            let offset = container.endian.u64(data, 0);
            let text = || String::from_utf8_lossy(until_nul(data)).into_owned();
            match id {
                option::DONE => next = offset.unwrap_or(0),
                option::BUFFER => buffers.push((at, data.to_vec())),
                option::TRACECLOCK => container.clock = clock_in_use(&text()),
                option::UNAME => container.uname = Some(text()),
                option::CPUCOUNT => container.cpu_count = container.endian.u32(data, 0).unwrap_or(0),
                option::TSC2NSEC => container.tsc = TscToNs::parse(container.endian, data),
                HEADER_INFO | FTRACE_EVENTS | EVENT_FORMATS | KALLSYMS | CMDLINES => {
                    sections.extend(offset.map(|offset| (id, offset)));
                }
                BUFFER_TEXT => holds_text = true,
                _ => {}
            }
        }
    }
    for (id, offset) in sections {
        read_section(container, source, id, offset);
    }
    for (at, data) in buffers {
        match read_buffer(container, source, &data, at) {
            Ok(buffer) => container.buffers.push(buffer),
            Err(trouble) => container.damage.push(trouble.damage("this buffer cannot be read")),
        }
    }
    match container.buffers.is_empty() {
        false => Ok(()),
        true if holds_text => Err(Trouble::Text),
        true => Err(Trouble::bad(first, "no option says where the trace data is")),
    }
}

/// A description that cannot be read costs only what it describes.
fn read_section(container: &mut Container, source: &dyn ReadAt, id: u16, offset: u64) {
    if id == KALLSYMS {
        container.kallsyms = Some(Kallsyms::Section { at: offset });
        return;
    }
    let result = section(source, container.endian, container.compression, offset, id).and_then(|bytes| {
        let mut input = Input::unpacked(&bytes, container.endian, offset);
        match id {
            HEADER_INFO => container.read_headers(&mut input),
            FTRACE_EVENTS => container.read_ftrace_formats(&mut input),
            EVENT_FORMATS => container.read_event_formats(&mut input),
            _ => {
                let text = input.sized64("the thread names")?;
                container.read_comms(until_nul(&text));
                Ok(())
            }
        }
    });
    if let Err(trouble) = result {
        let cost = match id {
            HEADER_INFO => "the usual page header is assumed",
            CMDLINES => "some threads have no name",
            _ => "events whose format is lost cannot be told apart",
        };
        container.damage.push(trouble.damage(cost));
    }
}

/// The kernel symbols of the section at `offset`.
pub(super) fn kallsyms(
    source: &dyn ReadAt,
    endian: Endian,
    compression: Compression,
    offset: u64,
) -> Result<Vec<u8>, Trouble> {
    let mut bytes = section(source, endian, compression, offset, KALLSYMS)?;
    // The size stands in front once more.
    bytes.drain(..bytes.len().min(4));
    Ok(bytes)
}

struct Header {
    id: u16,
    packed: bool,
    size: u64,
}

fn header(input: &mut Input<'_>) -> Result<Header, Trouble> {
    let (id, flags) = (input.u16("a section's header")?, input.u16("a section's header")?);
    input.u32("a section's header")?;
    Ok(Header { id, packed: flags & PACKED != 0, size: input.u64("a section's header")? })
}

/// A whole section, unpacked.
fn section(
    source: &dyn ReadAt,
    endian: Endian,
    compression: Compression,
    offset: u64,
    id: u16,
) -> Result<Vec<u8>, Trouble> {
    let mut input = Input::new(source, offset, endian);
    let header = header(&mut input)?;
    if header.id != id {
        return Err(Trouble::bad(
            offset,
            format!("section {} stands where section {id} should be", header.id),
        ));
    }
    if !header.packed {
        return input.take(header.size, "a section");
    }
    let (packed, unpacked) = (input.u32("a section")?, input.u32("a section")?);
    let bytes = input.take(u64::from(packed), "a section")?;
    let mut section = Vec::new();
    if u64::from(unpacked) > LARGEST_BLOCK {
        return Err(Trouble::bad(offset, format!("a section claims {unpacked} bytes")));
    }
    Unpacker::new(compression)
        .unpack(&bytes, unpacked, &mut section)
        .map_err(|what| Trouble::bad(offset, format!("section {id}: {what}")))?;
    Ok(section)
}

fn read_buffer(
    container: &mut Container,
    source: &dyn ReadAt,
    data: &[u8],
    at: u64,
) -> Result<Buffer, Trouble> {
    let data = data.to_vec();
    let mut input = Input::unpacked(&data, container.endian, at);
    let what = "the description of a buffer";
    let offset = input.u64(what)?;
    let name = input.string(4096, what)?;
    let clock = clock_in_use(&input.string(4096, what)?);
    let said_page_size = input.u32(what)?;
    let count = input.u32(what)?;
    let mut cpus = Vec::new();
    for _ in 0..count {
        let data = CpuData { cpu: Cpu(input.u32(what)?), offset: input.u64(what)?, size: input.u64(what)? };
        match data.cpu.0 < MOST_CPUS {
            true => cpus.push(data),
            false => {
                container.damage.push(Damage::at(at, format!("CPU {} makes no sense: skipped", data.cpu)))
            }
        }
    }
    let page_size = container.page_size(said_page_size, at)?;
    let compressed = match header(&mut Input::new(source, offset, container.endian)) {
        Ok(header) => header.packed && container.compression != Compression::None,
        Err(trouble) => {
            container.damage.push(Damage::at(
                offset,
                "the header of the trace data cannot be read: taken as compressed as the file is",
            ));
            if let Trouble::Io { .. } = trouble {
                return Err(trouble);
            }
            container.compression != Compression::None
        }
    };
    Ok(Buffer { name, clock, page_size, compressed, cpus })
}

/// Walks the options of a section; one that reaches past the end is the last.
struct Options<'d> {
    data: &'d [u8],
    endian: Endian,
}

impl<'d> Options<'d> {
    fn new(data: &'d [u8], endian: Endian) -> Self {
        Options { data, endian }
    }
}

impl<'d> Iterator for Options<'d> {
    type Item = (u16, &'d [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (id, size) = (self.endian.u16(self.data, 0)?, self.endian.u32(self.data, 2)? as usize);
        let option = self.data.get(6..)?.get(..size)?;
        self.data = &self.data[6 + size..];
        Some((id, option))
    }
}
