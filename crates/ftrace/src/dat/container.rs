//! What both versions of the container come down to: descriptions, and where each CPU's pages are.

use super::buffer::Buffer;
use super::compress::Compression;
use super::error::Trouble;
use super::input::Input;
use super::latency_text::TextAt;
use super::lost_index::LostIndex;
use super::session::Session;
use super::time::Times;
use crate::bytes::Endian;
use crate::format::{EventFormat, EventFormats, HeaderPage};
use crate::page::PageLayout;
use std::collections::BTreeMap;
use whylate_base::Cpu;
use whylate_events::Damage;

/// A trace.dat's description of itself.
pub(super) struct Container {
    pub(super) version: u8,
    pub(super) endian: Endian,
    pub(super) compression: Compression,
    /// The user-space `long` of the traced machine, from the file's header.
    pub(super) long_size: usize,
    pub(super) header_page: Option<HeaderPage>,
    pub(super) formats: EventFormats,
    pub(super) kallsyms: Option<Kallsyms>,
    pub(super) comms: BTreeMap<i32, String>,
    /// The text of `printk_formats`: addresses of strings that events point at.
    pub(super) printk_formats: Vec<u8>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) uname: Option<String>,
    pub(super) cpu_count: u32,
    pub(super) clock: Option<String>,
    pub(super) times: Times,
    pub(super) session: Session,
    /// The program that wrote it, by version.
    pub(super) writer: Option<String>,
    pub(super) damage: Vec<Damage>,
    /// How much more damage there is than is listed.
    pub(super) unlisted: u64,
    /// A latency tracer's text, in place of events.
    pub(super) text: Option<TextAt>,
    /// CPUs of which the last events are gone, or all, and how many.
    pub(super) gone: Vec<(Cpu, u64)>,
    /// About how many bytes of events a file without its index had beyond those that are there.
    pub(super) gone_bytes: u64,
    /// What is left where the index is not all there.
    pub(super) lost: Option<LostIndex>,
}

/// Where the symbol table is; it is read when a name is first needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kallsyms {
    /// As it is, at an offset of the file.
    Plain { at: u64, size: u64 },
    /// A v7 section.
    Section { at: u64 },
}

/// CPUs of all buffers together: as many as a kernel supports, in several instances. Each takes memory.
const MOST_STREAMS: usize = 32 * 1024;
/// More instances than any recording has.
const MOST_BUFFERS: usize = 4096;
/// Damage of descriptions that is listed one by one.
const MOST_DAMAGE: usize = 1000;
/// Sub-buffers the kernel can be set to hold up to 2^8 pages of 64 KiB; leave room.
const LARGEST_PAGE: usize = 64 << 20;

impl Container {
    pub(super) fn new(version: u8, endian: Endian, long_size: usize) -> Container {
        Container {
            version,
            endian,
            compression: Compression::None,
            long_size,
            header_page: None,
            formats: EventFormats::default(),
            kallsyms: None,
            comms: BTreeMap::new(),
            printk_formats: Vec::new(),
            buffers: Vec::new(),
            uname: None,
            cpu_count: 0,
            clock: None,
            times: Times::default(),
            session: Session::default(),
            writer: None,
            damage: Vec::new(),
            unlisted: 0,
            text: None,
            gone: Vec::new(),
            gone_bytes: 0,
            lost: None,
        }
    }

    /// How the pages are laid out.
    pub(super) fn page_layout(&self) -> PageLayout {
        match &self.header_page {
            Some(header) => PageLayout::of_header(self.endian, header),
            None => PageLayout::of_long_size(self.endian, self.long_size),
        }
    }

    /// Adds damage to the list, while that is not too long to be of use.
    pub(super) fn note(&mut self, damage: Damage) {
        match self.damage.len() < MOST_DAMAGE {
            true => self.damage.push(damage),
            false => self.unlisted += 1,
        }
    }

    /// Adds a buffer that the file describes at `at`; false where there are more than any machine has.
    pub(super) fn add_buffer(&mut self, buffer: Buffer, at: u64) -> bool {
        let streams: usize = self.buffers.iter().map(|buffer| buffer.cpus.len()).sum();
        if self.buffers.len() >= MOST_BUFFERS || streams + buffer.cpus.len() > MOST_STREAMS {
            let what = format!("buffer {} is more than can be: skipped", buffer.name);
            let bytes = buffer.cpus.iter().fold(0, |sum: u64, data| sum.saturating_add(data.size));
            self.note(Damage::at(at, what).unread(bytes));
            return false;
        }
        self.buffers.push(buffer);
        true
    }

    /// The size of a buffer's pages, from the buffer's description and the page header.
    pub(super) fn page_size(&mut self, declared: u32, at: u64) -> Result<usize, Trouble> {
        let declared = declared as usize;
        let header = self.header_page.map(|header| header.data_offset.saturating_add(header.data_size));
        let plausible = |size: &usize| (32..=LARGEST_PAGE).contains(size);
        if plausible(&declared) {
            return Ok(declared);
        }
        let size = header
            .filter(plausible)
            .ok_or_else(|| Trouble::bad(at, format!("a page size of {declared} bytes makes no sense")))?;
        self.damage.push(
            Damage::at(
                at,
                format!(
                    "a page size of {declared} bytes makes no sense: {size} is used, from the page header"
                ),
            )
            .detail(),
        );
        Ok(size)
    }

    /// The `header_page` and `header_event` blocks.
    pub(super) fn read_headers(&mut self, input: &mut Input<'_>) -> Result<(), Trouble> {
        let at = input.place();
        input.expect(b"header_page\0", "the page header")?;
        let text = input.sized64("the page header")?;
        self.header_page = HeaderPage::parse(&String::from_utf8_lossy(&text));
        if self.header_page.is_none() && !text.is_empty() {
            let what = "the page header's format was not understood: the usual one is assumed";
            self.damage.push(Damage::at(at, what).detail());
        }
        input.expect(b"header_event\0", "the event header")?;
        input.sized64("the event header")?;
        Ok(())
    }

    /// The formats of ftrace's own events: a count, then sized files.
    pub(super) fn read_ftrace_formats(&mut self, input: &mut Input<'_>) -> Result<(), Trouble> {
        for _ in 0..input.u32("the ftrace event formats")? {
            self.read_format(input, "ftrace")?;
        }
        Ok(())
    }

    /// The formats of all other events: systems, each with a count and sized files.
    pub(super) fn read_event_formats(&mut self, input: &mut Input<'_>) -> Result<(), Trouble> {
        for _ in 0..input.u32("the event formats")? {
            let system = input.string(4096, "the name of an event system")?;
            for _ in 0..input.u32("the event formats")? {
                self.read_format(input, &system)?;
            }
        }
        Ok(())
    }

    fn read_format(&mut self, input: &mut Input<'_>, system: &str) -> Result<(), Trouble> {
        let at = input.place();
        let text = input.sized64("an event format")?;
        match EventFormat::parse(system, &String::from_utf8_lossy(&text)) {
            Some(format) => self.formats.insert(format),
            None => {
                self.note(Damage::at(at, format!("a format of system {system} was not understood: skipped")))
            }
        }
        Ok(())
    }

    /// `saved_cmdlines`: a thread id and its name per line.
    pub(super) fn read_comms(&mut self, text: &[u8]) {
        for line in String::from_utf8_lossy(text).lines() {
            if let Some((tid, comm)) = line.trim_start().split_once(' ')
                && let Ok(tid) = tid.parse()
            {
                self.comms.insert(tid, comm.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dat::buffer::CpuData;

    #[test]
    fn more_buffers_than_a_machine_has_are_skipped_and_reported() {
        let buffer = |cpus: u32, size| Buffer {
            name: "x".to_owned(),
            clock: None,
            page_size: 4096,
            compressed: false,
            cpus: (0..cpus).map(|cpu| CpuData { cpu: Cpu(cpu), offset: 0, size }).collect(),
        };
        let mut container = Container::new(6, Endian::Little, 8);
        let added: Vec<bool> = (0..6).map(|_| container.add_buffer(buffer(8192, 2), 7)).collect();
        assert_eq!(added, [true, true, true, true, false, false]);
        assert_eq!(container.damage.len(), 2);
        assert_eq!((container.damage[0].offset, container.damage[0].unread), (Some(7), Some(2 * 8192)));
        let mut container = Container::new(6, Endian::Little, 8);
        assert_eq!((0..5000).filter(|_| container.add_buffer(buffer(1, 0), 0)).count(), MOST_BUFFERS);
    }
}
