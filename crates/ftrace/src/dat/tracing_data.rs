//! The event formats inside a perf.data: perf copies them as trace-cmd did before its files had
//! options, header and formats one after the other (`tools/perf/util/trace-event-read.c`).

use super::compress::Compression;
use super::container::Container;
use super::error::{DatError, Trouble};
use super::head::MAGIC;
use super::input::Input;
use crate::bytes::{Endian, until_nul};
use crate::format::EventFormats;
use std::path::Path;
use whylate_base::{Comm, Tid};
use whylate_events::Damage;

/// The content of a perf.data's `HEADER_TRACING_DATA`.
pub struct TracingData {
    /// The traced machine's byte order.
    pub endian: Endian,
    /// The formats of the recorded events.
    pub formats: EventFormats,
    /// A copy of the kernel's symbols; perf mostly leaves it empty.
    pub kallsyms: Vec<u8>,
    /// Names of threads, where it has them (version 0.6).
    pub comms: Vec<(Tid, Comm)>,
    /// What of it could not be read; offsets count from its own first byte.
    pub damage: Vec<Damage>,
}

impl TracingData {
    /// Reads it from its bytes; `path` is what errors call the file.
    ///
    /// # Errors
    /// [`DatError`], when not one event format can be read.
    pub fn read(bytes: Vec<u8>, path: &Path) -> Result<TracingData, DatError> {
        let mut input = Input::new(&bytes, 0, Endian::Little);
        let mut container = Container::new(6, Endian::Little, 8);
        let mut kallsyms = Vec::new();
        if let Err(trouble) = read(&mut container, &mut kallsyms, &mut input) {
            if container.formats.is_empty() {
                return Err(trouble.at_path(path));
            }
            container.damage.push(trouble.damage("events whose formats would follow cannot be read"));
        }
        let comms = container.comms.iter().map(|(&tid, comm)| (Tid(tid), Comm::from(comm.as_str())));
        let comms = comms.collect();
        let Container { endian, formats, damage, .. } = container;
        Ok(TracingData { endian, formats, kallsyms, comms, damage })
    }
}

fn read(container: &mut Container, kallsyms: &mut Vec<u8>, input: &mut Input<'_>) -> Result<(), Trouble> {
    input.expect(MAGIC, "the magic bytes of the event formats")?;
    let version = input.string(16, "the version of the event formats")?;
    container.compression = Compression::None;
    input.endian = match input.u8("the byte order of the event formats")? {
        0 => Endian::Little,
        _ => Endian::Big,
    };
    container.endian = input.endian;
    container.long_size = usize::from(input.u8("the size of a long")?);
    input.u32("the page size")?;
    container.read_headers(input)?;
    container.read_ftrace_formats(input)?;
    container.read_event_formats(input)?;
    let size = input.u32("the kernel symbols")?;
    *kallsyms = input.take(u64::from(size), "the kernel symbols")?;
    let size = input.u32("the printk formats")?;
    input.take(u64::from(size), "the printk formats")?;
    if version != "0.5" {
        let comms = input.sized64("the thread names")?;
        container.read_comms(until_nul(&comms));
    }
    Ok(())
}
