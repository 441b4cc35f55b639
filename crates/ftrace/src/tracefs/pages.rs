//! Raw ring-buffer pages of one CPU, as the kernel hands them out: `trace_pipe_raw`.

use super::TracefsError;
use crate::bytes::Endian;
use crate::format::HeaderPage;
use crate::page::PageLayout;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;
use whylate_base::Cpu;

/// The pages an instance's buffers are made of (the kernel's "sub-buffers").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKind {
    /// Bytes of a page, header included.
    pub size: usize,
    /// Where in it is what.
    pub layout: PageLayout,
}

/// The bits of `commit` that count bytes; the rest are flags.
const COMMIT_BYTES: u64 = (1 << 27) - 1;
/// Set in `commit` when the number of lost events is stored after the data.
const MISSED_STORED: u64 = 1 << 30;

impl PageKind {
    /// Pages of `size` bytes as the text of `events/header_page` describes them. The text
    /// itself has the kernel's default size only. `None` when it is not understood.
    pub fn new(header_page: &str, size: usize) -> Option<PageKind> {
        let layout = PageLayout::of_header(Endian::NATIVE, &HeaderPage::parse(header_page)?);
        (layout.data_offset < size).then_some(PageKind { size, layout })
    }

    /// Bytes of events in a page, and of the count of lost ones after them.
    fn used(&self, page: &[u8]) -> Option<(usize, usize)> {
        let long = self.layout.long_size;
        let commit = self.layout.endian.long(page, self.layout.data_offset.checked_sub(long)?, long)?;
        let events = usize::try_from(commit & COMMIT_BYTES).ok()?;
        Some((events, if commit & MISSED_STORED != 0 { long } else { 0 }))
    }
}

/// Takes pages out of one CPU's buffer; what it took is gone from the buffer.
#[derive(Debug)]
pub struct PageReader {
    file: File,
    path: PathBuf,
    cpu: Cpu,
    kind: PageKind,
}

impl PageReader {
    pub(super) fn new(file: File, path: PathBuf, cpu: Cpu, kind: PageKind) -> PageReader {
        PageReader { file, path, cpu, kind }
    }

    /// Whose events they are.
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> usize {
        self.kind.size
    }

    /// Moves the next page into `page`, which must be [`page_size`](Self::page_size) long,
    /// and returns how many of its bytes hold events; `None` when the buffer is empty.
    /// While tracing is on, the last page comes half full; the kernel goes on in the next.
    ///
    /// # Errors
    /// [`TracefsError::Io`] when the kernel refuses, and when `page` has the wrong size.
    pub fn read_page(&mut self, page: &mut [u8]) -> Result<Option<usize>, TracefsError> {
        if page.len() != self.kind.size {
            let what = format!("page buffer of {} bytes, must be {}", page.len(), self.kind.size);
            return Err(TracefsError::io(
                "read",
                &self.path,
                io::Error::new(io::ErrorKind::InvalidInput, what),
            ));
        }
        let mut filled = 0;
        while let Some(rest) = page.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read(rest) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(TracefsError::io("read", &self.path, e)),
            }
        }
        if filled == 0 {
            return Ok(None);
        }
        let malformed = |what: String| TracefsError::Malformed { path: self.path.clone(), what };
        if filled != page.len() {
            return Err(malformed(format!("a page of {} bytes came with {filled} only", page.len())));
        }
        let (events, count) = self.kind.used(page).unwrap_or((usize::MAX, 0));
        // Beyond the events a page holds old data, which must not leak.
        match self
            .kind
            .layout
            .data_offset
            .checked_add(events)
            .and_then(|end| page.get_mut(end.checked_add(count)?..))
        {
            Some(rest) => rest.fill(0),
            None => return Err(malformed(format!("a page claims to hold {events} bytes of events"))),
        }
        Ok(Some(events))
    }
}

/// Sleeps until one of the buffers has filled to its instance's `buffer_percent`, or until
/// `timeout`, or a signal. Returns the indexes of those that have.
///
/// # Errors
/// [`TracefsError::Io`] when `poll(2)` fails.
pub fn wait_for_pages(readers: &[PageReader], timeout: Duration) -> Result<Vec<usize>, TracefsError> {
    let mut polled: Vec<_> = readers.iter().map(|r| PollFd::new(&r.file, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(timeout).ok();
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(errno) => {
            let path = readers.first().map(|r| r.path.clone()).unwrap_or_default();
            return Err(TracefsError::io("wait for", &path, errno.into()));
        }
    }
    Ok(polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty()).map(|(index, _)| index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                          \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                          \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
                          \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    #[test]
    fn the_size_is_the_buffers_and_the_layout_the_kernels() {
        let kind = PageKind::new(HEADER, 8192).expect("pages");
        assert_eq!((kind.size, kind.layout.data_offset, kind.layout.long_size), (8192, 16, 8));
        assert_eq!(PageKind::new(HEADER, 16), None, "no room for events");
        assert_eq!(PageKind::new("", 4096), None);
    }

    #[test]
    fn flags_are_no_length() {
        let kind = PageKind::new(HEADER, 4096).expect("pages");
        let mut page = vec![0; 4096];
        page[8..16].copy_from_slice(&(100u64 | 1 << 31 | MISSED_STORED).to_ne_bytes());
        assert_eq!(kind.used(&page), Some((100, 8)));
        page[8..16].copy_from_slice(&(100u64 | 1 << 31).to_ne_bytes());
        assert_eq!(kind.used(&page), Some((100, 0)));
        assert_eq!(kind.used(&page[..10]), None);
    }
}
