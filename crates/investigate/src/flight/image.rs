//! A capture as a trace.dat: what is written is the pages themselves, without a copy of them in memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Seek, Write};
use whylate_base::Cpu;
use whylate_ftrace::dat::write::{Buffer, CpuPages, Description, Pages, write};

/// Written at once.
const BLOCK: usize = 1 << 18;

/// See the module.
#[derive(Debug)]
pub struct CaptureFile<'a> {
    pub(super) description: Cow<'a, Description>,
    pub(super) clock: &'a str,
    pub(super) cpus: Vec<(Cpu, Vec<Cow<'a, [u8]>>)>,
    /// The facts, in a buffer of their own.
    pub(super) marks: Vec<u8>,
}

/// What a file of a store has.
pub trait FileData {
    /// Bytes that it has at least.
    fn least_bytes(&self) -> u64;

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of the file.
    fn write(&self, file: &mut File) -> io::Result<()>;
}

impl<T: AsRef<[u8]>> FileData for T {
    fn least_bytes(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn write(&self, file: &mut File) -> io::Result<()> {
        file.write_all(self.as_ref())
    }
}

impl FileData for CaptureFile<'_> {
    fn least_bytes(&self) -> u64 {
        let pages = self.cpus.iter().flat_map(|(_, pages)| pages);
        pages.map(|page| page.len() as u64).sum()
    }

    fn write(&self, file: &mut File) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BLOCK, file);
        self.write_to(&mut out)?;
        out.flush()
    }
}

impl CaptureFile<'_> {
    /// All of it.
    pub(super) fn into_bytes(self) -> io::Result<Vec<u8>> {
        let mut out = Cursor::new(Vec::with_capacity(self.least_bytes() as usize));
        self.write_to(&mut out)?;
        Ok(out.into_inner())
    }

    fn write_to(&self, out: impl Write + Seek) -> io::Result<u64> {
        let part = |cpu: Cpu, pages| CpuPages { cpu, pages: Pages::Memory(pages), stats: "" };
        let cpus =
            self.cpus.iter().map(|(cpu, pages)| part(*cpu, pages.iter().map(|page| &**page).collect()));
        let mut buffers = vec![Buffer { name: "", clock: self.clock, cpus: cpus.collect() }];
        if let Some((cpu, _)) = self.cpus.first().filter(|_| !self.marks.is_empty()) {
            let page_size = self.description.page_size.max(1);
            let cpus = vec![part(*cpu, self.marks.chunks(page_size).collect())];
            buffers.push(Buffer { name: "facts", clock: self.clock, cpus });
        }
        write(out, &self.description, &buffers)
    }
}
