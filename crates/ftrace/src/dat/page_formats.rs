//! Ring-buffer pages of a running tracer, read from memory: no file is written for it.

use super::buffer::{Buffer, RawBuffer};
use super::container::Container;
use super::describe::describe;
use super::extent::clip;
use super::file::TraceFile;
use super::read_at::ReadAt;
use super::write::Description;
use crate::bytes::Endian;
use crate::decode::Decoders;
use crate::format::{EventFormat, EventFormats, HeaderPage};
use crate::symbols::Symbols;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// What the pages of this kernel are read with: its description, parsed once for many traces.
pub struct PageFormats {
    page_size: usize,
    header_page: Option<HeaderPage>,
    formats: Arc<EventFormats>,
    decoders: Arc<Decoders>,
    symbols: Arc<Symbols>,
    comms: BTreeMap<i32, String>,
    printk_formats: Vec<u8>,
    uname: String,
    cpus: u32,
}

impl PageFormats {
    /// Parses the description of this machine's kernel. A format that is not understood is left out: its events are
    /// counted only.
    pub fn parse(description: &Description) -> PageFormats {
        let own = description.ftrace_formats.iter().filter_map(|text| EventFormat::parse("ftrace", text));
        let others = description
            .event_formats
            .iter()
            .filter_map(|event| EventFormat::parse(&event.group, &event.text));
        let mut formats = EventFormats::default();
        own.chain(others).for_each(|format| formats.insert(format));
        let mut container = Container::new(7, Endian::NATIVE, size_of::<usize>());
        container.read_comms(description.thread_names.as_bytes());
        container.uname = Some(description.uname.clone());
        let release = describe(&container).kernel_release;
        let symbols = description.kernel_symbols.clone().unwrap_or_default();
        PageFormats {
            page_size: description.page_size,
            header_page: HeaderPage::parse(&description.header_page),
            decoders: Arc::new(Decoders::of_kernel(&formats, Endian::NATIVE, release.as_deref())),
            formats: Arc::new(formats),
            symbols: Arc::new(Symbols::parse(symbols.into_bytes())),
            comms: container.comms,
            printk_formats: description.printk_formats.clone().unwrap_or_default().into_bytes(),
            uname: description.uname.clone(),
            cpus: description.cpus,
        }
    }

    /// Makes a recording of pages; `buffers` has the place of each CPU's in `pages`.
    pub fn open(&self, pages: Arc<dyn ReadAt>, buffers: Vec<RawBuffer>) -> TraceFile {
        let mut container = Container::new(7, Endian::NATIVE, size_of::<usize>());
        container.header_page = self.header_page;
        container.comms = self.comms.clone();
        container.printk_formats = self.printk_formats.clone();
        container.uname = Some(self.uname.clone());
        container.cpu_count = self.cpus;
        container.buffers = buffers.into_iter().map(|raw| Buffer::of_raw(raw, self.page_size)).collect();
        clip(&mut container, pages.size());
        let mut info = describe(&container);
        info.format = "ring-buffer pages".to_owned();
        let file = TraceFile::new(pages, container, self.formats.clone(), self.decoders.clone(), info);
        TraceFile { symbols: OnceLock::from((self.symbols.clone(), None)), ..file }
    }
}

impl fmt::Debug for PageFormats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageFormats").field("page_size", &self.page_size).finish_non_exhaustive()
    }
}
