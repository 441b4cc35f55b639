//! The container of version 7: sections, found through a chain of options
//! (`trace-cmd.dat.v7(5)`).
//!
//! ```text
//! section = id u16 | flags u16 | description u32 | size u64 | data
//! packed  = packed size u32 | unpacked size u32 | bytes           (flag 1, all but trace data)
//! option  = id u16 | size u32 | data      the last, DONE, points to the next options section
//! ```

use super::buffer::{Buffer, CpuData, MOST_CPUS, clock_in_use};
use super::compress::{Compression, LARGEST_SECTION, Unpacker};
use super::container::{Container, Kallsyms};
use super::error::Trouble;
use super::input::Input;
use super::latency_text::TextAt;
use super::lost_index::{LostIndex, PageSection};
use super::options::{
    self as option, BUFFER_TEXT, CMDLINES, EVENT_FORMATS, FTRACE_EVENTS, HEADER_INFO, KALLSYMS, PRINTK,
    STRINGS,
};
use super::read_at::ReadAt;
use crate::bytes::{Endian, until_nul};
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::Cpu;
use whylate_events::Damage;

const OPTIONS: u16 = 0;

/// Section flag: the data is compressed.
const PACKED: u16 = 1;
/// Bytes of a section before its data.
const SECTION_HEADER: u64 = 16;

/// The places of a version 7 file's parts, from its head.
pub(super) struct Start {
    /// The first options section.
    pub(super) options: u64,
    /// The end of the initial format, where the first section begins.
    pub(super) sections: u64,
    pub(super) page_size: u32,
}

/// What the options have.
#[derive(Default)]
struct Index {
    /// Descriptions, by number and place.
    sections: BTreeMap<u16, u64>,
    /// Descriptions of buffers, and the options section each stands in.
    buffers: Vec<(u64, Vec<u8>)>,
    stats: Vec<String>,
    /// Sections of a latency tracer's text.
    texts: Vec<u64>,
    visited: BTreeSet<u64>,
    /// How many bytes of options were taken in.
    taken: u64,
}

/// Options of a whole file: those of a thousand instances of a large machine have a few megabytes.
const MOST_OPTIONS: u64 = 64 << 20;

/// Reads the options chain, and the sections it names. Where the chain is broken, the
/// sections are walked through instead: they follow each other.
pub(super) fn read(container: &mut Container, source: &dyn ReadAt, start: &Start) -> Result<(), Trouble> {
    let mut index = Index::default();
    let followed = index.follow(container, source, start.options);
    let broken = match followed {
        Err(trouble @ Trouble::Io { .. }) => return Err(trouble),
        Err(trouble) => Some(trouble),
        Ok(()) if index.buffers.is_empty() && index.texts.is_empty() => {
            Some(Trouble::bad(start.options, "no option gives the place of the trace data"))
        }
        Ok(()) => None,
    };
    if let Some(trouble) = broken {
        let (at, what) = match trouble {
            Trouble::Cut { at, what } => (at, format!("the file was cut inside {what}: its index is gone")),
            Trouble::Bad { at, what } if at >= source.size() => (source.size(), what),
            Trouble::Bad { at, what } => (at, format!("the file's index is damaged ({what})")),
            other => return Err(other),
        };
        let lost =
            LostIndex { at, what, sections: Vec::new(), stats: Vec::new(), page_size: start.page_size };
        container.lost = Some(index.walk(container, source, start.sections, lost));
    }
    for (&id, &offset) in &index.sections {
        read_section(container, source, id, offset);
    }
    for (at, data) in &index.buffers {
        match read_buffer(container, source, data, *at) {
            Ok(buffer) => {
                if !container.add_buffer(buffer, *at) {
                    break;
                }
            }
            Err(trouble) => container.note(trouble.damage("this buffer cannot be read")),
        }
    }
    match container.buffers.is_empty() && container.lost.is_none() {
        false => Ok(()),
        true if let Some(&at) = index.texts.first() => {
            let header = header(&mut Input::new(source, at, container.endian))?;
            let compression = if header.packed { container.compression } else { Compression::None };
            container.text = Some(TextAt { at: at + SECTION_HEADER, size: header.size, compression });
            Ok(())
        }
        true => Err(Trouble::bad(start.options, "no option gives the place of the trace data")),
    }
}

impl Index {
    /// Follows the chain of options sections to its end.
    fn follow(&mut self, container: &mut Container, source: &dyn ReadAt, first: u64) -> Result<(), Trouble> {
        let mut next = first;
        loop {
            if next >= source.size() {
                let what = format!("the file was cut, and its index, which stood at byte {next}, is gone");
                return Err(Trouble::bad(source.size(), what));
            }
            if !self.visited.insert(next) {
                return Err(Trouble::bad(next, "it leads back to itself"));
            }
            let options = self.options(container, source, next)?;
            match self.add(container, next, &options) {
                Some(0) => return Ok(()),
                Some(following) => next = following,
                None => return Err(Trouble::bad(next, "the options have no end")),
            }
        }
    }

    /// The options of the section at `at`, as long as they are not more than any file has.
    fn options(&mut self, container: &Container, source: &dyn ReadAt, at: u64) -> Result<Vec<u8>, Trouble> {
        if self.taken >= MOST_OPTIONS {
            return Err(Trouble::bad(at, "there are more options than can be"));
        }
        let options = section(source, container.endian, container.compression, at, OPTIONS);
        // What could not be unpacked took its time as well.
        self.taken += options.as_ref().map_or(1 << 20, |options| options.len() as u64);
        options
    }

    /// Takes the options of a section; gives the next section's place, 0 at the end of the
    /// chain, and nothing where the options break off.
    fn add(&mut self, container: &mut Container, at: u64, options: &[u8]) -> Option<u64> {
        for (id, data) in Options::new(options, container.endian) {
            let offset = container.endian.u64(data, 0);
            let text = || String::from_utf8_lossy(until_nul(data)).into_owned();
            match id {
                option::DONE => return offset,
                option::CPUSTAT => self.stats.push(text()),
                option::BUFFER => self.buffers.push((at, data.to_vec())),
                option::TRACECLOCK => container.clock = clock_in_use(&text()),
                HEADER_INFO | FTRACE_EVENTS | EVENT_FORMATS | KALLSYMS | PRINTK | CMDLINES => {
                    self.sections.extend(offset.map(|offset| (id, offset)));
                }
                BUFFER_TEXT => self.texts.extend(offset),
                _ => option::take(container, id, data, at),
            }
        }
        None
    }

    /// Walks through the sections from the first on, and adds what the chain did not show.
    fn walk(
        &mut self,
        container: &mut Container,
        source: &dyn ReadAt,
        first: u64,
        mut lost: LostIndex,
    ) -> LostIndex {
        // Where a section's own header is damaged, the walk goes on at the next known one.
        let known: BTreeSet<u64> = self.sections.values().chain(&self.visited).copied().collect();
        let mut at = first;
        while at < source.size() {
            let Some(header) = known_header(container.endian, source, at) else {
                if at + SECTION_HEADER <= source.size() {
                    let what = "no section begins where one should: skipped";
                    container.note(Damage::at(at, what));
                }
                // A number that was changed leaves the size, which then leads to a section.
                let end = header(&mut Input::new(source, at, container.endian))
                    .ok()
                    .and_then(|header| at.checked_add(SECTION_HEADER)?.checked_add(header.size))
                    .filter(|&end| known_header(container.endian, source, end).is_some());
                match end.or_else(|| known.range(at + 1..).next().copied()) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            let start = at + SECTION_HEADER;
            let mut declared_end = start.saturating_add(header.size);
            match header.id {
                OPTIONS if self.visited.insert(at) => {
                    if let Ok(options) = self.options(container, source, at) {
                        self.add(container, at, &options);
                    }
                }
                option::BUFFER => {
                    // trace-cmd puts the size in when the data is written.
                    let unfinished = header.size == 0
                        && known_header(container.endian, source, declared_end)
                            .is_none_or(|next| next.size == 0);
                    if unfinished {
                        declared_end = u64::MAX;
                    }
                    lost.sections.push(PageSection {
                        start,
                        end: declared_end.min(source.size()),
                        cut: declared_end > source.size(),
                        packed: header.packed,
                    });
                }
                HEADER_INFO | FTRACE_EVENTS | EVENT_FORMATS | KALLSYMS | PRINTK | CMDLINES => {
                    self.sections.entry(header.id).or_insert(at);
                }
                _ => {}
            }
            at = declared_end;
        }
        let described: BTreeSet<u64> = self
            .buffers
            .iter()
            .filter_map(|(_, data)| container.endian.u64(data, 0)?.checked_add(SECTION_HEADER))
            .collect();
        lost.sections.retain(|pages| !described.contains(&pages.start));
        lost.stats = std::mem::take(&mut self.stats);
        lost
    }
}

/// The header at `at`, if its number is one that sections have.
fn known_header(endian: Endian, source: &dyn ReadAt, at: u64) -> Option<Header> {
    let header = header(&mut Input::new(source, at, endian)).ok()?;
    matches!(header.id, OPTIONS | option::BUFFER | STRINGS..=option::LAST).then_some(header)
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
            PRINTK => {
                let size = u64::from(input.u32("the printk formats")?);
                container.printk_formats = input.take(size, "the printk formats")?;
                Ok(())
            }
            _ => {
                let text = input.sized64("the thread names")?;
                container.read_comms(until_nul(&text));
                Ok(())
            }
        }
    });
    if let Err(trouble) = result {
        let (cost, detail) = match id {
            HEADER_INFO => ("the usual page header is assumed", true),
            CMDLINES => ("some threads have no name", true),
            PRINTK => ("some messages of kernel functions have no text", true),
            _ => ("events whose format is lost cannot be decoded", false),
        };
        let damage = trouble.damage(cost);
        container.note(if detail { damage.detail() } else { damage });
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
pub(super) fn section(
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
    Unpacker::new(compression, LARGEST_SECTION)
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
    let declared_page_size = input.u32(what)?;
    let count = input.u32(what)?;
    let mut cpus: Vec<CpuData> = Vec::new();
    for read in 0..count {
        let mut entry =
            || Ok(CpuData { cpu: Cpu(input.u32(what)?), offset: input.u64(what)?, size: input.u64(what)? });
        let data = match entry() {
            Ok(data) => data,
            Err(trouble @ Trouble::Io { .. }) => return Err(trouble),
            Err(_) => {
                let what = format!("the description of a buffer ends after {read} of its {count} CPUs");
                container.note(Damage::at(at, what));
                break;
            }
        };
        match data.cpu.0 < MOST_CPUS && cpus.len() < MOST_CPUS as usize {
            true => cpus.push(data),
            false => container.note(Damage::at(at, format!("CPU {} makes no sense: skipped", data.cpu))),
        }
    }
    let page_size = container.page_size(declared_page_size, at)?;
    let compressed = match header(&mut Input::new(source, offset, container.endian)) {
        Ok(header) => header.packed && container.compression != Compression::None,
        Err(trouble @ Trouble::Io { .. }) => return Err(trouble),
        // Mostly because the file ends before it, and then none of the data is there either.
        Err(_) => {
            container.compression != Compression::None && cpus.iter().any(|cpu| cpu.offset < source.size())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_long_as_they_are_not_more_than_can_be() {
        let size = 4u64 << 20;
        let mut file = [&[0; 8][..], &size.to_le_bytes()].concat();
        file.resize(file.len() + size as usize, 0);
        let container = Container::new(7, Endian::Little, 8);
        let mut index = Index::default();
        let read = |index: &mut Index, at| index.options(&container, &file, at).map(|options| options.len());
        for _ in 0..MOST_OPTIONS / size {
            assert_eq!(read(&mut index, 0).ok(), Some(size as usize));
        }
        assert!(read(&mut index, 0).is_err());
        let mut index = Index::default();
        for _ in 0..1000 {
            assert!(read(&mut index, file.len() as u64).is_err());
        }
        assert_eq!(index.taken, MOST_OPTIONS, "what cannot be read is not tried for ever");
    }
}
