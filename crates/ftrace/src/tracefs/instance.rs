//! One tracing instance of our own: made, set up, read, and gone when dropped.

use super::{CpuStats, PageKind, PageReader, Tracefs, TracefsError, name, text};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use whylate_base::{Cpu, CpuSet, Tid};

/// What a full buffer does with the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// Loses the oldest events, and marks the loss in the pages.
    Overwrite,
    /// Loses the newest.
    Stop,
}

/// A tracefs instance (`instances/whylate-...`) that is removed when this is dropped.
///
/// It is made with tracing off. Every [`PageReader`] of it should be dropped before it:
/// the kernel does not remove an instance whose files are open.
#[derive(Debug)]
pub struct Instance {
    tracefs: Tracefs,
    path: PathBuf,
    marker: Option<File>,
    copies_markers: bool,
}

/// Whether the top level's `trace_marker` writes into this instance, too (Linux 6.16).
const COPY_MARKERS: &str = "options/copy_trace_marker";

impl Instance {
    /// Makes a new, empty instance with tracing off.
    ///
    /// # Errors
    /// [`TracefsError::Permission`] without the right to, [`TracefsError::Io`] when the
    /// kernel has no memory for it.
    pub fn create(tracefs: &Tracefs) -> Result<Instance, TracefsError> {
        let path = tracefs.root().join("instances").join(name::fresh_name());
        fs::create_dir(&path).map_err(|e| TracefsError::io("create", &path, e))?;
        let instance = Instance { tracefs: tracefs.clone(), path, marker: None, copies_markers: false };
        instance.set_tracing(false)?;
        Ok(instance)
    }

    /// The instance's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tracefs it lives in.
    pub fn tracefs(&self) -> &Tracefs {
        &self.tracefs
    }

    /// Starts or stops recording. What is in the buffers stays.
    pub fn set_tracing(&self, on: bool) -> Result<(), TracefsError> {
        // A write to `trace_marker` fails where one of the buffers that get the line is off.
        if self.copies_markers && !on {
            self.write(COPY_MARKERS, "0")?;
        }
        self.write("tracing_on", if on { "1" } else { "0" })?;
        if self.copies_markers && on {
            self.write(COPY_MARKERS, "1")?;
        }
        Ok(())
    }

    /// Has what programs write to the top level's `trace_marker` in this instance as well, whenever it traces; false where the
    /// kernel cannot (`copy_trace_marker`, Linux 6.16).
    pub fn copy_markers(&mut self) -> bool {
        self.copies_markers = self.path.join(COPY_MARKERS).exists();
        self.copies_markers
    }

    /// Chooses the instance's tracer, by its name in `available_tracers`; `nop` is none. Only few tracers may be had in
    /// an instance, and some of them have settings that all instances share.
    pub fn set_tracer(&self, tracer: &str) -> Result<(), TracefsError> {
        self.write("current_tracer", tracer)
    }

    /// The names of the tracers that may be had in an instance.
    pub fn tracers(&self) -> Result<Vec<String>, TracefsError> {
        Ok(self.read("available_tracers")?.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// Adds functions to those that the function tracer records, by a name in which `*` stands for anything
    /// (`set_ftrace_filter`); without any it records all of them.
    ///
    /// # Errors
    /// [`TracefsError::Io`] where no function has such a name.
    pub fn add_function(&self, pattern: &str) -> Result<(), TracefsError> {
        // Without a blank behind it the kernel looks for the name only when the file is closed, and reports nothing.
        self.append("set_ftrace_filter", &format!("{pattern}\n"))
    }

    /// The names of the clocks this kernel can stamp events with, and which is chosen.
    ///
    /// # Errors
    /// When `trace_clock` cannot be read, or names no clock as chosen.
    pub fn clocks(&self) -> Result<(Vec<String>, String), TracefsError> {
        let text = self.read("trace_clock")?;
        let mut chosen = None;
        let bare = |word: &str| match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            Some(word) => {
                chosen = Some(word.to_owned());
                word.to_owned()
            }
            None => word.to_owned(),
        };
        let all = text.split_ascii_whitespace().map(bare).collect();
        let what = "no clock is marked as chosen".to_owned();
        let malformed = || TracefsError::Malformed { path: self.path.join("trace_clock"), what };
        Ok((all, chosen.ok_or_else(malformed)?))
    }

    /// Chooses the clock events are stamped with, by its name in `trace_clock`.
    /// Whatever is in the buffers is lost.
    pub fn set_clock(&self, clock: &str) -> Result<(), TracefsError> {
        self.write("trace_clock", clock)
    }

    /// Sets the size of every CPU's buffer, in KiB.
    pub fn set_buffer_kib(&self, per_cpu: u64) -> Result<(), TracefsError> {
        self.write("buffer_size_kb", &per_cpu.to_string())
    }

    /// Sets the size of one CPU's buffer, in KiB.
    pub fn set_buffer_kib_of(&self, cpu: Cpu, kib: u64) -> Result<(), TracefsError> {
        self.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), &kib.to_string())
    }

    /// Records the events of these CPUs only, [markers](Self::mark) included (`tracing_cpumask`). The other CPUs' buffers
    /// stay empty.
    pub fn set_cpus(&self, cpus: &CpuSet) -> Result<(), TracefsError> {
        self.write("tracing_cpumask", &mask(cpus))
    }

    /// How full a buffer must be, in percent, for [`wait_for_pages`](super::wait_for_pages)
    /// to wake. Kernels before 5.0 have no such file and wake for every event.
    pub fn set_wake_percent(&self, percent: u8) -> Result<(), TracefsError> {
        self.write("buffer_percent", &percent.to_string())
    }

    /// Chooses which events a full buffer loses.
    pub fn set_on_full(&self, on_full: OnFull) -> Result<(), TracefsError> {
        self.write("options/overwrite", if on_full == OnFull::Overwrite { "1" } else { "0" })
    }

    /// Switches an event (`group:name`) or a whole group on.
    ///
    /// # Errors
    /// [`TracefsError::NoSuchEvent`] when this kernel does not have it.
    pub fn enable(&self, event: &str) -> Result<(), TracefsError> {
        let directory = self.event_directory(event)?;
        text::write(&directory.join("enable"), "1")
    }

    /// Switches an event (`group:name`) or a whole group off.
    ///
    /// # Errors
    /// As [`enable`](Self::enable).
    pub fn disable(&self, event: &str) -> Result<(), TracefsError> {
        let directory = self.event_directory(event)?;
        text::write(&directory.join("enable"), "0")
    }

    /// Records an event only where the filter expression holds (`prev_prio < 100`; see the
    /// kernel's `Documentation/trace/events.rst`). `0` takes the filter away.
    ///
    /// # Errors
    /// As [`enable`](Self::enable), and [`TracefsError::Io`] when the kernel does not
    /// understand the expression.
    pub fn set_filter(&self, event: &str, filter: &str) -> Result<(), TracefsError> {
        let directory = self.event_directory(event)?;
        text::write(&directory.join("filter"), filter)
    }

    /// Records only what these threads do, and with `follow_forks` what they start does.
    /// The kernel does not ask whether they exist. An empty list records every thread.
    pub fn set_threads(&self, threads: &[Tid], follow_forks: bool) -> Result<(), TracefsError> {
        self.write("options/event-fork", if follow_forks { "1" } else { "0" })?;
        self.write("set_event_pid", "")?;
        threads.iter().try_for_each(|&thread| self.add_thread(thread))
    }

    /// Adds a thread to those of [`set_threads`](Self::set_threads). With `follow_forks`
    /// it leaves the list by itself when it ends.
    pub fn add_thread(&self, thread: Tid) -> Result<(), TracefsError> {
        self.append("set_event_pid", &thread.to_string())
    }

    /// Writes a line into the instance's buffer of the CPU this thread runs on, as an
    /// `ftrace:print` event. Nothing is written while tracing is off.
    pub fn mark(&mut self, line: &str) -> Result<(), TracefsError> {
        let path = self.path.join("trace_marker");
        let marker = match &mut self.marker {
            Some(marker) => marker,
            None => {
                let file = OpenOptions::new().write(true).open(&path);
                self.marker.insert(file.map_err(|e| TracefsError::io("write", &path, e))?)
            }
        };
        match marker.write_all(format!("{line}\n").as_bytes()) {
            // EBADF is what a marker answers while tracing is off.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error()) => Ok(()),
            Err(e) => Err(TracefsError::write(line, &path, e)),
            Ok(()) => Ok(()),
        }
    }

    /// The CPUs that have a buffer: all that may ever be online.
    pub fn cpus(&self) -> Result<Vec<Cpu>, TracefsError> {
        let path = self.path.join("per_cpu");
        let entries = fs::read_dir(&path).map_err(|e| TracefsError::io("read", &path, e))?;
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok();
        let mut cpus: Vec<Cpu> = entries.flatten().filter_map(number).map(Cpu).collect();
        cpus.sort_unstable();
        Ok(cpus)
    }

    /// How the pages of this instance look. Read after the sizes are set.
    pub fn page_layout(&self) -> Result<PageKind, TracefsError> {
        let header_page = self.header("header_page")?;
        // Since Linux 6.8 an instance's pages may be larger than a memory page.
        let size = match self.read("buffer_subbuf_size_kb") {
            Ok(kib) => kib.trim().parse::<usize>().ok().and_then(|kib| kib.checked_mul(1024)),
            Err(_) => Some(rustix::param::page_size()),
        };
        size.and_then(|size| PageKind::new(&header_page, size)).ok_or_else(|| TracefsError::Malformed {
            path: self.path.join("events/header_page"),
            what: format!("no page layout known to whylate (page size {size:?}): {header_page:?}"),
        })
    }

    /// The text of `events/header_page` or `events/header_event`, this instance's own where it has one.
    pub(super) fn header(&self, file: &str) -> Result<String, TracefsError> {
        let own = self.path.join("events").join(file);
        let path = if own.exists() { own } else { self.tracefs.root().join("events").join(file) };
        text::read(&path)
    }

    /// Opens a CPU's buffer for reading pages.
    pub fn open_pages(&self, cpu: Cpu) -> Result<PageReader, TracefsError> {
        let kind = self.page_layout()?;
        let path = self.path.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        let file = file.map_err(|e| TracefsError::io("read", &path, e))?;
        Ok(PageReader::new(file, path, cpu, kind))
    }

    /// A CPU's counts, with the file's own text (a trace.dat carries it).
    pub fn stats(&self, cpu: Cpu) -> Result<(CpuStats, String), TracefsError> {
        let text = self.read(&format!("per_cpu/cpu{cpu}/stats"))?;
        Ok((CpuStats::parse(&text), text))
    }

    /// The text of one of the instance's files.
    pub fn read(&self, file: &str) -> Result<String, TracefsError> {
        let path = self.path.join(file);
        text::read(&path)
    }

    fn event_directory(&self, event: &str) -> Result<PathBuf, TracefsError> {
        let missing = |path| TracefsError::NoSuchEvent { event: event.to_owned(), path };
        let path = self.path.join("events").join(event.replacen(':', "/", 1));
        // The name comes from a user: it must not lead out of the directory, nor name all events.
        let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('/');
        if !event.splitn(2, ':').all(plain) || !path.join("enable").exists() {
            return Err(missing(path));
        }
        Ok(path)
    }

    fn write(&self, file: &str, value: &str) -> Result<(), TracefsError> {
        text::write(&self.path.join(file), value)
    }

    /// Writes to a list that a file opened in another way would begin anew.
    fn append(&self, file: &str, text: &str) -> Result<(), TracefsError> {
        let path = self.path.join(file);
        let mut file =
            OpenOptions::new().append(true).open(&path).map_err(|e| TracefsError::io("write", &path, e))?;
        file.write_all(text.as_bytes()).map_err(|e| TracefsError::write(text, &path, e))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.marker = None;
        // A failure cannot be reported here; the next run removes what is left.
        let _ = self.set_tracing(false);
        for _ in 0..50 {
            match fs::remove_dir(&self.path) {
                // A reader's file may be a moment from being closed by another thread.
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
    }
}

/// A set of CPUs as the kernel reads a mask: words of 32 bits in hexadecimal, the highest first (`bitmap_parse`,
/// `lib/bitmap-str.c`).
fn mask(cpus: &CpuSet) -> String {
    let words = cpus.iter().map(|cpu| cpu.index() / 32 + 1).max().unwrap_or(1);
    let bits = |word: usize| {
        let of_word = cpus.iter().filter(|cpu| cpu.index() / 32 == word);
        of_word.fold(0u32, |bits, cpu| bits | 1 << (cpu.index() % 32))
    };
    (0..words).rev().map(|word| format!("{:08x}", bits(word))).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_as_the_kernel_reads_them() {
        for (list, expected) in [
            ("0", "00000001"),
            ("0-1,31", "80000003"),
            ("32", "00000001,00000000"),
            ("2,33,64-65", "00000003,00000002,00000004"),
            ("", "00000000"),
        ] {
            assert_eq!(mask(&list.parse().expect("a list")), expected, "{list}");
        }
    }
}
