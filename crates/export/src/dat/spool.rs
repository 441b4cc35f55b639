//! Pages on their way: a trace.dat has its CPUs one after the other, a trace has its events by time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use whylate_base::{Cpu, Ns};
use whylate_ftrace::dat::write::{Buffer, CpuPages, Description, Pages, write};
use whylate_ftrace::encode::PageWriter;
use whylate_ftrace::page::LostBefore;

/// Bytes gathered before a file is written to.
const GATHERED: usize = 64 << 10;

/// The pages of each CPU of each buffer, in files without names beside the output.
pub(super) struct Spool<'p> {
    directory: &'p Path,
    page_size: usize,
    buffers: Vec<SpoolBuffer>,
}

struct SpoolBuffer {
    name: String,
    clock: String,
    cpus: BTreeMap<Cpu, PageWriter<BufWriter<File>>>,
}

impl<'p> Spool<'p> {
    /// For buffers of these names and clocks.
    pub(super) fn new(directory: &'p Path, page_size: usize, buffers: Vec<(String, String)>) -> Spool<'p> {
        let buffer = |(name, clock)| SpoolBuffer { name, clock, cpus: BTreeMap::new() };
        Spool { directory, page_size, buffers: buffers.into_iter().map(buffer).collect() }
    }

    /// Adds a record.
    pub(super) fn push(&mut self, buffer: usize, cpu: Cpu, ts: Ns, record: &[u8]) -> io::Result<()> {
        // The ring buffer's times have no sign; nothing was recorded before the clock's origin.
        let ts = u64::try_from(ts.0).unwrap_or(0);
        self.pages(buffer, cpu)?.map_or(Ok(()), |pages| pages.push(ts, record))
    }

    /// Notes that events of a CPU were lost before its next record.
    pub(super) fn lose(&mut self, buffer: usize, cpu: Cpu, lost: LostBefore) -> io::Result<()> {
        self.pages(buffer, cpu)?.map_or(Ok(()), |pages| pages.lose(lost))
    }

    fn pages(&mut self, buffer: usize, cpu: Cpu) -> io::Result<Option<&mut PageWriter<BufWriter<File>>>> {
        let Some(buffer) = self.buffers.get_mut(buffer) else { return Ok(None) };
        Ok(Some(match buffer.cpus.entry(cpu) {
            Entry::Occupied(pages) => pages.into_mut(),
            Entry::Vacant(place) => {
                let file = BufWriter::with_capacity(GATHERED, tempfile::tempfile_in(self.directory)?);
                place.insert(PageWriter::new(file, self.page_size))
            }
        }))
    }

    /// Writes the whole trace.dat.
    pub(super) fn write(self, description: &Description, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut buffers = Vec::new();
        for buffer in self.buffers {
            let mut cpus = Vec::new();
            for (cpu, pages) in buffer.cpus {
                let (file, bytes) = pages.finish()?;
                cpus.push((cpu, file.into_inner().map_err(io::IntoInnerError::into_error)?, bytes));
            }
            buffers.push((buffer.name, buffer.clock, cpus));
        }
        let buffers: Vec<Buffer<'_>> = buffers
            .iter()
            .map(|(name, clock, cpus)| Buffer {
                name,
                clock,
                cpus: cpus
                    .iter()
                    .map(|&(cpu, ref file, bytes)| CpuPages {
                        cpu,
                        pages: Pages::Spool { file, bytes },
                        stats: "",
                    })
                    .collect(),
            })
            .collect();
        write(out, description, &buffers).map(drop)
    }
}
