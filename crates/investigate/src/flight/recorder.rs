//! The running flight recorder: a tracing session that overwrites itself, and the windows
//! its pages are drained into.

use super::fresh::FreshPages;
use super::reader::Reader;
use super::window::{Capture, StreamPosition, Window};
use crate::record::{RecordError, Session, SessionOptions};
use std::num::NonZero;
use std::path::Path;
use std::{fs, thread};
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_ftrace::tracefs::{PageReader, TracefsError};
use whylate_sys::Clock;

/// What all CPUs' kernel buffers together may take by default, so that a machine with hundreds
/// of CPUs keeps its memory for its work. Beyond 1024 CPUs it is more: 256 KiB for each.
const TOTAL_KIB: u64 = 256 << 10;

/// 4 MiB for each CPU (seconds of an ordinary load), less beyond 64 CPUs, never under 256 KiB.
fn default_kib(cpus: usize) -> u64 {
    (TOTAL_KIB / (cpus as u64).max(1)).clamp(256, 4096)
}

/// How many CPUs may ever be online: each has a buffer.
fn possible_cpus() -> usize {
    let list = fs::read_to_string("/sys/devices/system/cpu/possible").ok();
    let possible = list.and_then(|list| list.trim().parse::<CpuSet>().ok());
    possible.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), |cpus| cpus.len())
}

/// A flight recorder at work. Dropping it stops the trace and removes its instance.
#[derive(Debug)]
pub struct FlightRecorder {
    // The pages' files must be closed before the kernel removes the instance: fields are
    // dropped in this order.
    cpus: Vec<CpuRecorder>,
    session: Session,
    page: Vec<u8>,
    pages_per_drain: usize,
}

#[derive(Debug)]
struct CpuRecorder {
    pages: PageReader,
    window: Window,
}

impl FlightRecorder {
    /// Starts recording what the ledger needs on every CPU, with `buffer_kib` of kernel
    /// buffer for each and the same again for its window; `None` for 4096, or less on a
    /// machine with more than 64 CPUs. The trace clock is `mono`, so
    /// times of CLOCK_MONOTONIC are the trace's.
    ///
    /// # Errors
    /// [`RecordError`], with what is missing and how to get it.
    pub fn start(buffer_kib: Option<u64>) -> Result<FlightRecorder, RecordError> {
        let buffer_kib = buffer_kib.unwrap_or_else(|| default_kib(possible_cpus()));
        let options = SessionOptions {
            clock: Some("mono".to_owned()),
            buffer_kib,
            thread_events: false,
            ..SessionOptions::default()
        };
        FlightRecorder::of(Session::start(&options, false)?, buffer_kib, buffer_kib)
    }

    /// Records for months: as [`start`](Self::start) does, with windows of `window_bytes` on all CPUs together.
    ///
    /// # Errors
    /// [`RecordError`], with what is missing and how to get it.
    pub fn start_stream(
        options: SessionOptions,
        buffer_kib: Option<u64>,
        window_bytes: u64,
    ) -> Result<FlightRecorder, RecordError> {
        let cpus = possible_cpus();
        let buffer_kib = buffer_kib.unwrap_or_else(|| default_kib(cpus));
        let options = SessionOptions { buffer_kib, ..options };
        let window_kib = (window_bytes >> 10) / cpus.max(1) as u64;
        FlightRecorder::of(Session::start(&options, false)?, buffer_kib, window_kib.clamp(64, buffer_kib))
    }

    fn of(session: Session, buffer_kib: u64, window_kib: u64) -> Result<FlightRecorder, RecordError> {
        let main = session.main();
        let bytes_of = |kib: u64| usize::try_from(kib).unwrap_or(usize::MAX).saturating_mul(1024);
        let (bytes, window_bytes) = (bytes_of(buffer_kib), bytes_of(window_kib));
        let open =
            |cpu: Cpu| Ok(CpuRecorder { pages: main.open_pages(cpu)?, window: Window::new(window_bytes) });
        let cpus = main.cpus()?.into_iter().map(open).collect::<Result<Vec<_>, TracefsError>>()?;
        let page_size = main.page_layout()?.size;
        Ok(FlightRecorder {
            cpus,
            session,
            page: vec![0; page_size],
            // What a full buffer holds, and what was written meanwhile: then it is the next CPU's turn.
            pages_per_drain: (bytes / page_size.max(1)).saturating_mul(2).saturating_add(2),
        })
    }

    /// Empties the kernel's buffers into the windows. Everything that happened before the
    /// returned instant, and was not overwritten, is in them.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel refuses to hand out a page.
    pub fn drain(&mut self) -> Result<Ns, TracefsError> {
        let now = whylate_sys::now(Clock::Monotonic);
        for CpuRecorder { pages, window } in &mut self.cpus {
            for _ in 0..self.pages_per_drain {
                if pages.read_page(&mut self.page)?.is_none() {
                    break;
                }
                window.push_bytes(&self.page);
            }
        }
        Ok(now)
    }

    /// Takes what the windows hold of `from..to`, on all CPUs. To be drained after `to`.
    pub fn capture(&self, from: Ns, to: Ns) -> Capture {
        let part = |cpu: &CpuRecorder| cpu.window.cover(cpu.pages.cpu(), from, to);
        Capture { from, to, cpus: self.cpus.iter().map(part).collect() }
    }

    /// The pages that were drained since the last call, of a stream that is read from its `position` on.
    pub fn fresh(&self, position: &mut StreamPosition) -> FreshPages {
        position.0.resize(self.cpus.len(), 0);
        let mut after_hole = Vec::with_capacity(self.cpus.len());
        let mut part = |(recorder, next): (&CpuRecorder, &mut u64)| {
            let (part, hole, after) = recorder.window.since(recorder.pages.cpu(), *next);
            after_hole.push(hole);
            *next = after;
            part
        };
        let cpus = self.cpus.iter().zip(&mut position.0).map(&mut part).collect();
        FreshPages { capture: Capture { from: Ns::ZERO, to: Ns::MAX, cpus }, after_hole }
    }

    /// The session that records.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The same, to change what it records.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Stops recording. What is in the kernel's buffers can still be drained.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel refuses.
    pub fn pause(&self) -> Result<(), TracefsError> {
        self.session.stop()
    }

    /// How many events were recorded since the start, the overwritten ones included.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel's counts cannot be read.
    pub fn recorded(&self) -> Result<u64, TracefsError> {
        let main = self.session.main();
        let count = |cpu: &CpuRecorder| {
            let (stats, _) = main.stats(cpu.pages.cpu())?;
            Ok(stats.recorded().saturating_add(stats.overrun))
        };
        self.cpus.iter().map(count).sum()
    }

    /// The directory of its tracefs instance.
    pub fn instance(&self) -> &Path {
        self.session.main().path()
    }

    /// What was not recorded and why, in sentences; empties the list.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.session.take_notes()
    }

    /// What a stream of months is read with: of the kernel's functions it knows those that timers call, which are a
    /// twentieth of all; each kept window holds a copy.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel's description of its events cannot be read.
    pub fn stream_reader(&self) -> Result<Reader, TracefsError> {
        let session = &self.session;
        let mut description = session.describe()?;
        if let Some(symbols) = &mut description.kernel_symbols {
            *symbols = timer_functions(symbols);
        }
        Ok(Reader::of_stream(description, session.clock().to_owned(), session.facts().to_vec()))
    }

    /// What the captures are read with.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel's description of its events cannot be read.
    pub fn reader(&self) -> Result<Reader, TracefsError> {
        let session = &self.session;
        Ok(Reader::new(session.describe()?, session.clock().to_owned(), session.facts().to_vec()))
    }
}

/// Parts of the names of functions that timers call.
const OF_TIMERS: [&str; 9] =
    ["timer", "tick", "wakeup", "alarm", "it_real_fn", "watchdog", "sched_rt_period", "dl_task", "posix"];

/// Those lines of `/proc/kallsyms` that name a function which a timer may call.
fn timer_functions(symbols: &str) -> String {
    let is_code = |kind: &str| kind.eq_ignore_ascii_case("t") || kind.eq_ignore_ascii_case("w");
    let is_wanted = |line: &&str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        is_code(kind) && OF_TIMERS.iter().any(|part| name.contains(part))
    };
    symbols.split_inclusive('\n').filter(is_wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_timers_keep_their_addresses() {
        let symbols = "ffff0010 T hrtimer_wakeup\nffff0020 t foo\nffff0030 D tick_data\nffff0040 t tick_nohz_handler\t[x]\n";
        let kept = timer_functions(symbols);
        assert_eq!(kept, "ffff0010 T hrtimer_wakeup\nffff0040 t tick_nohz_handler\t[x]\n");
    }

    #[test]
    fn the_buffers_share_the_total_and_none_is_too_small() {
        for (cpus, kib) in [(0, 4096), (1, 4096), (64, 4096), (256, 1024), (8192, 256)] {
            assert_eq!(default_kib(cpus), kib);
        }
    }
}
