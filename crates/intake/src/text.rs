//! Text: the tracefs `trace` file, `trace-cmd report`, the latency tracers' form, `perf script`, and what
//! `rtla` reports.
//!
//! Nearly every one of them is lines of thread, CPU, time and event:
//!
//! ```text
//!           <idle>-0     [000] d..2.  1310.796265: sched_switch: prev_comm=swapper/0 ...
//! infinite_loop_f-2053 [004] 44501.327176: irq_handler_exit: irq=10 ret=handled
//! multipat-1456      1d...3..  389us :     1456:  0:S ==> [001]   12905: 19:R cyclictest
//!            perf  7783/7783 [000] 22334.269527: sched:sched_waking: comm=migration/0 ...
//!  0) + 16.556 us   |      } /* hrtimer_start_range_ns */
//! ```
//!
//! Lines are read by what they hold and not by the column titles above them, which some
//! kernels print shifted, and which a pasted trace lacks. Between the lines there may be
//! prose, which costs no events; what looks like a trace's line and is not read may be one.
//!
//! ```text
//! lines ──> line (thread, CPU, time) ──> body (event) ──> reader ──> window (order) ──> events
//!       ├─> graph: calls, with a clock of their own          ▲
//!       ├─> header: `#` lines, notes of losses ──> facts ────┘──> TraceInfo
//!       └─> rtla: analyses ──> TraceInfo::breakdowns
//! ```
//!
//! A text may be of any size: it is read as its events are asked for, and at most [`window::WINDOW`] of them
//! are held back to put lines in order.

mod body;
mod buffers;
mod carriers;
mod cases;
mod collected;
mod commented;
mod counts;
mod current;
mod decimals;
mod delay_table;
mod event_head;
mod fields;
mod figures;
mod foreign;
mod fragment;
mod further;
mod getdelays;
mod graph;
mod header;
mod held;
mod hwlatdetect;
mod jack;
mod kernel_log;
mod known;
mod line;
mod lines;
mod lttng;
mod names;
mod old_priorities;
mod others;
mod pieces;
mod priorities;
mod programs;
mod prose;
mod reader;
mod remarks;
mod ros2;
mod rt_trace_bcc;
mod rtla;
mod sched;
mod seen_cpus;
mod squeezed;
mod statistics;
mod switch_heads;
mod syscalls;
mod tables;
mod tally;
mod timehist;
mod tracers;
mod window;
mod woken_by_name;

pub(crate) use hwlatdetect::Hwlatdetect;
pub use kernel_log::KernelLog;
use lines::Lines;
use reader::Reader;
pub(crate) use rtla::{Analyses, StageCell, StageLatencies, TimerlatRow};
use std::io::{self, Read};
pub(crate) use tables::{Other, STACKS, what_is};
pub(crate) use timehist::delay_of_row;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, EventSource, KindSet, LatencyTrace, TraceInfo};
use window::WINDOW;

/// Why a text was not opened.
#[derive(Debug)]
pub(crate) enum TextError {
    /// In no line is there an event, or an analysis of one.
    NoEvents {
        /// How many lines were looked at.
        lines: u64,
        /// False when some of it is no UTF-8, and so perhaps no text at all.
        is_utf8: bool,
        /// What it is instead.
        other: Option<Other>,
        /// It has the header of this tracer.
        tracer: Option<String>,
        /// What the header of a latency tracer reports.
        latency: Option<Box<LatencyTrace>>,
        /// What the headers behind it report.
        further: Vec<LatencyTrace>,
        /// The first line below the header that begins as a row does, in no known form.
        strange_row: Option<u64>,
        /// The lines of the text were put into one.
        has_lost_breaks: bool,
    },
    /// Its events have numbers in front of them that are no times.
    NoTimes {
        /// What it is.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// It could not be read as far as the first event.
    Io(io::Error),
}

/// The events of a text trace, read as they are asked for.
pub(crate) struct TextSource<R> {
    lines: Lines<R>,
    reader: Reader,
    has_ended: bool,
    current: Option<Event>,
    info: TraceInfo,
}

/// Opens the text that `start` begins and `rest` goes on with, to yield events of the `wanted` kinds.
///
/// Lines are read ahead until the window of events held back is full, or the text ends: what a short text
/// has of descriptions and thread names is complete from the start.
///
/// # Errors
/// [`TextError`], when it holds no event with a time.
pub(crate) fn open<R: Read>(
    mut start: Vec<u8>,
    rest: R,
    wanted: KindSet,
) -> Result<TextSource<R>, TextError> {
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    let mut reader = Reader::new(wanted);
    reader.current.look_ahead(&start);
    let mut source = TextSource {
        lines: Lines::new(start, rest),
        reader,
        has_ended: false,
        current: None,
        info: TraceInfo::default(),
    };
    let failed = source.fill();
    if !source.reader.has_content() {
        let info = source.reader.info();
        let latency = info.latency.filter(|trace| trace.latency > Ns::ZERO).map(Box::new);
        let tracer = info.tracer;
        let further = source.reader.further_headers();
        let other = source.reader.named_other();
        let Reader { lines, is_utf8, has_lost_breaks, strange_row, .. } = source.reader;
        let none = TextError::NoEvents {
            lines,
            is_utf8,
            other,
            tracer,
            latency,
            further,
            strange_row,
            has_lost_breaks,
        };
        return Err(failed.map_or(none, TextError::Io));
    }
    if source.reader.counts.are_no_times() {
        let (what, advice) = counts::NO_TIMES;
        return Err(TextError::NoTimes { what, advice });
    }
    source.reader.tell_first_facts();
    source.info = source.reader.info();
    Ok(source)
}

impl<R: Read> TextSource<R> {
    /// True where all of the text has been read, though events of it are left.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Reads on until the window is full; at the end, with the error if it is not the text's own end.
    fn fill(&mut self) -> Option<io::Error> {
        while !self.has_ended && self.reader.collected.window.len() < WINDOW {
            match self.lines.next() {
                Some(Ok(line)) => {
                    self.reader.is_utf8 &= line.is_utf8;
                    self.reader.line(&line.text, line.is_cut);
                }
                end => {
                    self.has_ended = true;
                    let error = end.and_then(Result::err);
                    error.iter().for_each(|error| self.reader.failed(error));
                    self.reader.end();
                    return error;
                }
            }
        }
        None
    }
}

impl<R: Read> EventSource for TextSource<R> {
    fn next_event(&mut self) -> Option<&Event> {
        if !self.has_ended {
            self.fill();
            if self.has_ended {
                self.info = self.reader.info();
            }
        }
        self.current = self.reader.collected.next();
        self.current.as_ref()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.reader.names.all()
    }
}

#[cfg(test)]
mod tests;
