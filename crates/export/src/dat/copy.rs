//! A trace.dat cut down: records as the kernel wrote them.

use super::spool::Spool;
use crate::cut::Cut;
use crate::raw;
use crate::sink::Written;
use crate::tracepoint::Tracepoint;
use std::io::{self, Seek, Write};
use std::path::Path;
use whylate_base::{Comm, Tid};
use whylate_events::Kind;
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::dat::write::{Description, EventFormat};
use whylate_ftrace::encode::{HEADER_EVENT, format_text, header_page};
use whylate_ftrace::page::PageLayout;

/// The kernel's usual page, for a recording that has no buffer.
const USUAL_PAGE: usize = 4096;

/// True when the records of `file` can stay as they are: it is of a machine with this one's byte order and
/// word size. Those of others are decoded and written anew ([`write`](super::write)).
pub fn can_copy(file: &TraceFile) -> bool {
    file.page_layout() == PageLayout::of_long_size(Endian::NATIVE, 8) && cfg!(target_pointer_width = "64")
}

/// Writes the events of `file` that `cut` keeps; pages wait in files without a name in `directory`.
///
/// # Errors
/// What `out` and `directory` answer.
pub fn copy(
    file: &TraceFile,
    cut: &Cut,
    directory: &Path,
    out: &mut (impl Write + Seek),
) -> io::Result<Written> {
    let mut written = Written::default();
    let page_size = file.buffers().iter().map(|buffer| buffer.page_size).max().unwrap_or(USUAL_PAGE);
    let clock = clock(file);
    let buffers = file.buffers().iter().map(|buffer| (buffer.name.clone(), clock.clone())).collect();
    let mut spool = Spool::new(directory, page_size, buffers);
    let lost = raw::each(file, cut, &mut written, |event| {
        if let Some(lost) = event.lost {
            spool.lose(event.buffer, event.cpu, lost)?;
        }
        spool.push(event.buffer, event.cpu, event.ts, event.payload)
    })?;
    lost.into_iter().try_for_each(|end| spool.lose(end.buffer, end.cpu, end.lost))?;
    spool.write(&describe(file, cut, page_size, &clock), out)?;
    Ok(written)
}

/// The clock's name as trace-cmd has it: ticks that the reader has turned into nanoseconds are no longer those
/// of the TSC.
fn clock(file: &TraceFile) -> String {
    let clock = file.info().clock.clone().unwrap_or_default();
    if clock == "x86-tsc" && file.in_nanoseconds() { "tsc2nsec".to_owned() } else { clock }
}

fn describe(file: &TraceFile, cut: &Cut, page_size: usize, clock: &str) -> Description {
    let info = file.info();
    // The formats of a file show what was recorded: of what is cut out of it, nothing was.
    let decoders = raw::decoders(file);
    let kept = |id: u16, point: &Tracepoint<'_>| cut.takes(decoders.kind(id).unwrap_or(Kind::Other), point);
    let (mut ftrace_formats, mut event_formats) = (Vec::new(), Vec::new());
    for format in file.formats().iter() {
        if !kept(format.id, &Tracepoint::new(&format.system, &format.name)) {
            continue;
        }
        let text = format_text(format);
        match format.system.as_str() {
            "ftrace" => ftrace_formats.push(text),
            group => event_formats.push(EventFormat { group: group.to_owned(), text }),
        }
    }
    event_formats.sort_by(|a, b| a.group.cmp(&b.group));
    let text = |bytes: &[u8]| (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned());
    Description {
        page_size,
        header_page: header_page(page_size),
        header_event: HEADER_EVENT.to_owned(),
        ftrace_formats,
        event_formats,
        kernel_symbols: text(file.symbols().text()),
        printk_formats: text(file.printk_formats()),
        thread_names: thread_names(&raw::comms(file)),
        clock: chosen(clock),
        uname: uname(info.kernel_release.as_deref(), info.machine.as_deref()),
        cpus: info.cpus,
        stacks: file.stacks(),
    }
}

/// `trace_clock`; empty where the clock is not known.
pub(super) fn chosen(clock: &str) -> String {
    if clock.is_empty() { String::new() } else { format!("[{clock}]") }
}

/// `saved_cmdlines`
pub(super) fn thread_names(comms: &[(Tid, Comm)]) -> String {
    let one_line = |comm: &Comm| comm.as_str().replace(char::is_control, " ");
    comms.iter().map(|(tid, comm)| format!("{tid} {}\n", one_line(comm))).collect()
}

/// What `uname -snrm` prints, without the host's name: reading a trace does not need it.
pub(super) fn uname(release: Option<&str>, machine: Option<&str>) -> String {
    match (release, machine) {
        (None, None) => String::new(),
        (release, machine) => {
            format!("Linux (none) {} {}", release.unwrap_or("unknown"), machine.unwrap_or("unknown"))
        }
    }
}
