//! What `rtla` prints: its auto-analysis of a timerlat sample, and the rows of its tables.
//!
//! ```text
//! ## CPU 3 hit stop tracing, analyzing it ##
//!   IRQ handler delay:            (exit from idle)        36.51 us (41.43 %)
//!   IRQ latency:                                          38.01 us
//!   Timerlat IRQ duration:                                 9.59 us (10.88 %)
//!   Blocking thread:                                      23.79 us (27.00 %)
//!                         kworker/u8:2:4532              23.79 us
//!     Blocking thread stack trace
//!                 -> timerlat_irq
//!   IRQ interference                                       3.80 us (4.31 %)
//!                      local_timer:236                     3.80 us
//! ------------------------------------------------------------------------
//!   Thread latency:                                       88.12 us (100%)
//!
//! Max timerlat IRQ latency from idle: 1.47 us in cpu 3
//! Printing CPU tasks:
//!     [000]                 swapper/0:0
//! ```
//!
//! Facts: `timerlat_thread_analysis` in tools/tracing/rtla/src/timerlat_aa.c of the kernel (since 6.5). A
//! latency of the interrupt alone has no time for the blocking thread, which is then 0. `rtla osnoise` analyses
//! nothing; of its table, each CPU's longest single noise is taken, a breakdown without parts.

mod osnoise_table;
mod timerlat_row;

use super::fields::{self, decimal, microseconds};
use super::held::Shape;
use osnoise_table::{OsnoiseTable, TableLine};
pub(crate) use timerlat_row::{StageCell, StageLatencies, TimerlatRow};
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Breakdown, BreakdownPart, Damage, PartKind, Tool};

/// More than any machine has CPUs; what a file of garbage may make us keep.
const MOST_BREAKDOWNS: usize = 8192;
const MOST_PARTS: usize = 4096;
const MOST_FRAMES: usize = 256;

/// The analyses found so far.
#[derive(Default)]
pub(crate) struct Analyses {
    pub(crate) breakdowns: Vec<Breakdown>,
    /// The one whose lines are being read: until its total is, it is not among the others.
    current: Option<Breakdown>,
    /// An interrupt before the timer's own, printed before the delay it is part of.
    previous: Option<BreakdownPart>,
    /// One of its titles was read: tables may follow, whose lines alone show nothing.
    has_title: bool,
    /// The tables count in nanoseconds.
    in_nanoseconds: bool,
    /// The rows of osnoise's table, once its head was read.
    osnoise_table: Option<OsnoiseTable>,
    /// The largest latency in the last line of a table of timerlat, which is of all its rows, and that line.
    of_all: Option<(Ns, u64)>,
    /// The threads that were on each CPU in the end follow.
    tasks: bool,
}

/// What a line was to the analysis.
#[derive(Debug, PartialEq)]
pub(crate) enum RtlaLine {
    /// One of rtla's lines.
    Read,
    /// The thread that was on a CPU in the end.
    Task(Tid, Comm),
    /// Within an analysis, and in no known form.
    Strange,
    /// Not rtla's.
    Nothing,
}

const KNOWN: &[(&str, PartKind)] = &[
    ("IRQ handler delay:", PartKind::IrqDelay),
    ("IRQ latency:", PartKind::IrqLatency),
    ("Timerlat IRQ duration:", PartKind::TimerIrq),
    ("Blocking thread:", PartKind::BlockingThread),
    ("NMI interference", PartKind::Nmi),
    ("IRQ interference", PartKind::Irq),
    ("Softirq interference", PartKind::Softirq),
    ("Thread interference", PartKind::Thread),
];

/// The name of an interrupt before the timer's own: the delay has at most its length of it.
const UP_TO: &str = "up to, by an interrupt before";

/// How lines begin that only rtla prints, and that hold nothing to keep.
const TITLES: &[&str] = &[
    "# RTLA ",
    "Max timerlat IRQ latency from idle:",
    "rtla timerlat hit stop tracing",
    "rtla osnoise hit stop tracing",
    "timerlat hit stop tracing",
    "osnoise hit stop tracing",
    "Saving trace to ",
    "Timer Latency",
    "Operating System Noise",
    "Hardware-related Noise",
];

/// The titles of the columns of `rtla timerlat top`, which no other tool prints.
const TOP_TABLE: &str = "CPU COUNT";

/// How other lines of its tables begin.
const TABLES: &[&str] = &[
    "duration:",
    "CPU COUNT",
    "CPU Period",
    "Index ",
    "over:",
    "count:",
    "min:",
    "avg:",
    "max:",
    "ALL:",
    "ALL #",
    "---------------|",
    "# Time unit is ",
    "# Duration:",
];

impl Analyses {
    /// Takes a line without blanks around it.
    pub(crate) fn line(&mut self, number: u64, line: &str) -> RtlaLine {
        if let Some(rest) = line.strip_prefix("## CPU ") {
            let cpu = rest.split_once(" hit stop tracing").and_then(|(cpu, _)| fields::cpu_from(cpu));
            if let Some(cpu) = cpu {
                self.begin(cpu, number);
                return RtlaLine::Read;
            }
        }
        if self.current.is_some() {
            return self.within(line);
        }
        let line = without_colours(line);
        if line == "Printing CPU tasks:" {
            self.tasks = true;
            return RtlaLine::Read;
        }
        if let Some((tid, comm)) = self.tasks.then(|| task(line)).flatten() {
            return RtlaLine::Task(tid, comm);
        }
        if TITLES.iter().any(|&title| line.starts_with(title)) || line.starts_with(TOP_TABLE) {
            self.has_title = true;
            if line.starts_with(TOP_TABLE) {
                self.of_all = None;
            }
            self.in_nanoseconds |= line.ends_with("(ns)");
            return RtlaLine::Read;
        }
        // An analysis whose first line is missing.
        if is_of_analysis(line) && KNOWN.iter().any(|(label, _)| line.starts_with(label)) {
            self.begin(Cpu::UNKNOWN, number);
            return self.within(line);
        }
        // The titles may have been left out.
        self.has_title |= OsnoiseTable::is_head(line);
        if !self.has_title {
            return RtlaLine::Nothing;
        }
        if TABLES.iter().any(|&head| line.starts_with(head)) {
            if line.starts_with("CPU Period") {
                self.osnoise_table = Some(OsnoiseTable::below(line));
            }
            let all = TimerlatRow::of(line).filter(|row| row.cpu.is_none()).and_then(|all| all.max());
            let largest = all.and_then(|most| i64::try_from(most).ok()?.checked_mul(self.unit()).map(Ns));
            self.of_all = largest.map(|most| (most, number)).or(self.of_all);
            return RtlaLine::Read;
        }
        match self.osnoise_table.as_mut().and_then(|table| table.line(line, number)) {
            Some(TableLine::Row(row)) => {
                self.breakdowns.retain(|other| other.tool != Tool::RtlaOsnoise || other.cpu != row.cpu);
                self.keep(row);
                return RtlaLine::Read;
            }
            Some(TableLine::Begun) => return RtlaLine::Read,
            None => {}
        }
        self.in_nanoseconds |= line.ends_with("Timer Latency (ns)");
        if let Some(row) = TimerlatRow::of(line).and_then(|row| of_row(&row, number, self.unit())) {
            self.breakdowns.retain(|other| other.tool != row.tool || other.cpu != row.cpu);
            self.keep(row);
            return RtlaLine::Read;
        }
        if is_row(line) { RtlaLine::Read } else { RtlaLine::Nothing }
    }

    /// Nanoseconds of the tables' unit.
    fn unit(&self) -> i64 {
        if self.in_nanoseconds { 1 } else { 1_000 }
    }

    /// What shows that rows of the table were left out.
    pub(crate) fn damage(&self) -> Option<Damage> {
        let rows = self.breakdowns.iter().filter(|row| row.tool == Tool::RtlaTimerlatTop);
        let most = rows.map(|row| row.total).max()?;
        let (of_all, line) = self.of_all.filter(|&(of_all, _)| of_all > most)?;
        Some(Damage::at(
            line,
            format!(
                "the table's line ALL has a latency of {of_all}, and no row has one above {most}: rows are missing"
            ),
        ))
    }

    /// What a line is by itself.
    pub(crate) fn shape(&self, line: &str) -> Shape {
        let line = without_colours(line);
        let is_known = |known: &[&str]| known.iter().any(|&begin| line.starts_with(begin));
        let is_whole = line.starts_with("## CPU ")
            || is_known(TITLES)
            || OsnoiseTable::is_head(line)
            || self.has_title && (is_known(TABLES) || is_row(line))
            || self.is_within() && is_of_analysis(line);
        if is_whole { Shape::Whole } else { Shape::Foreign }
    }

    /// True inside an analysis, whose lines look like no trace's.
    pub(crate) fn is_within(&self) -> bool {
        self.current.is_some()
    }

    fn begin(&mut self, cpu: Cpu, line: u64) {
        self.end();
        self.has_title = true;
        self.current = Some(Breakdown::new(Tool::RtlaTimerlat, cpu, Ns::ZERO, line));
    }

    /// The file ends, or another analysis begins: one that was cut took at least as long as its parts together.
    pub(crate) fn end(&mut self) {
        self.previous = None;
        let Some(mut cut) = self.current.take() else { return };
        if !cut.parts.is_empty() {
            (cut.total, cut.is_cut) = (together(&cut.parts), true);
            self.keep(cut);
        }
    }

    fn keep(&mut self, mut breakdown: Breakdown) {
        if breakdown.cpu == Cpu::UNKNOWN {
            let of_parts = breakdown.parts.iter().find_map(|part| cpu_of_thread(&part.name));
            breakdown.cpu = of_parts.unwrap_or(Cpu::UNKNOWN);
        }
        if self.breakdowns.len() < MOST_BREAKDOWNS {
            self.breakdowns.push(breakdown);
        }
    }

    fn within(&mut self, line: &str) -> RtlaLine {
        // A lost line end: what follows the total is a line of its own, and holds nothing to keep.
        let line = line.split_inclusive("(100%)").next().unwrap_or(line);
        let Some(current) = &mut self.current else { return RtlaLine::Nothing };
        if let Some(function) = line.strip_prefix("->") {
            if current.stack.len() < MOST_FRAMES {
                current.stack.push(fields::first_word(function).to_owned());
            }
            return RtlaLine::Read;
        }
        if line.starts_with("Blocking thread stack trace") || line.bytes().all(|byte| byte == b'-') {
            return RtlaLine::Read;
        }
        let (time, rest) = match time(line) {
            Some((rest, time)) => (Some(time), rest),
            None => (None, line),
        };
        let is_total = line.ends_with("(100%)");
        if is_total && (rest.starts_with("Thread latency:") || rest.starts_with("IRQ latency:")) {
            let Some(total) = time else { return RtlaLine::Strange };
            current.total = total;
            let done = self.current.take();
            self.previous = None;
            done.into_iter().for_each(|done| self.keep(done));
            return RtlaLine::Read;
        }
        if current.parts.len() >= MOST_PARTS {
            return RtlaLine::Strange;
        }
        let part = |kind, name: &str| BreakdownPart {
            kind,
            name: name.to_owned(),
            id: None,
            time: time.unwrap_or_default(),
            is_sum: false,
        };
        // Some versions of rtla end no line between these two.
        if let Some(("", both)) = line.split_once("Previous IRQ interference:")
            && let Some((previous, delay)) = both.split_once("IRQ handler delay:")
        {
            let (previous, delay) = (
                format!("Previous IRQ interference:{}", fields::trim_end(previous)),
                format!("IRQ handler delay:{delay}"),
            );
            self.within(&previous);
            return self.within(&delay);
        }
        if rest.starts_with("Previous IRQ interference:") {
            self.previous = Some(part(PartKind::IrqDelay, UP_TO));
            return if time.is_some() { RtlaLine::Read } else { RtlaLine::Strange };
        }
        if let Some(&(label, kind)) = KNOWN.iter().find(|(label, _)| rest.starts_with(label)) {
            if time.is_none() && kind != PartKind::BlockingThread {
                return RtlaLine::Strange;
            }
            let note =
                rest.get(label.len()..).map(|note| fields::trim(note).trim_matches(['(', ')'])).unwrap_or("");
            let previous = self.previous.take_if(|_| kind == PartKind::IrqDelay);
            current.parts.push(BreakdownPart { is_sum: previous.is_some(), ..part(kind, note) });
            current.parts.extend(previous);
            return RtlaLine::Read;
        }
        // A name with its number belongs to the sum above it.
        let Some((name, id)) = rest.rsplit_once(':').and_then(|(name, id)| Some((name, decimal(id)?))) else {
            return RtlaLine::Strange;
        };
        let Some(sum) = current.parts.iter_mut().rev().find(|part| part.id.is_none()) else {
            return RtlaLine::Strange;
        };
        let kind = sum.kind;
        sum.is_sum = true;
        current.parts.push(BreakdownPart { id: u32::try_from(id).ok(), ..part(kind, fields::trim(name)) });
        RtlaLine::Read
    }
}

/// What the parts took together: they are net of each other (`timerlat_thread_analysis`), but that a sum holds its list,
/// and the latency of the interrupt the delay of its handler and the beginning of the handler.
fn together(parts: &[BreakdownPart]) -> Ns {
    let is_of_irq = |part: &&BreakdownPart| matches!(part.kind, PartKind::IrqDelay | PartKind::IrqLatency);
    // An interrupt before the timer's own is within the delay, as far as it lasted into it.
    let parts = || parts.iter().filter(|part| part.name != UP_TO);
    let longest = |kind| parts().filter(|part| part.kind == kind).map(|part| part.time).max();
    let delay = longest(PartKind::IrqDelay).filter(|_| longest(PartKind::TimerIrq).is_some());
    let mut all = delay.or(longest(PartKind::IrqLatency)).or(longest(PartKind::IrqDelay)).unwrap_or(Ns::ZERO);
    let mut listed = Ns::ZERO;
    for part in parts().filter(|part| !is_of_irq(part)) {
        match (part.id, listed >= part.time) {
            // Within the sum above it, as far as that goes.
            (Some(_), true) => listed = listed.since(part.time),
            (Some(_), false) => {
                all = Ns(all.0.saturating_add(part.time.0.saturating_sub(listed.0)));
                listed = Ns::ZERO;
            }
            (None, _) => {
                all = Ns(all.0.saturating_add(part.time.0));
                listed = part.time;
            }
        }
    }
    all
}

/// The CPU of a thread that the kernel has for each: `swapper/3`.
fn cpu_of_thread(name: &str) -> Option<Cpu> {
    const PER_CPU: [&str; 7] =
        ["swapper", "ksoftirqd", "ktimers", "migration", "rcuc", "timerlat", "timerlatu"];
    let (name, cpu) = name.split_once('/')?;
    PER_CPU.contains(&name).then(|| fields::cpu_from(cpu))?
}

/// The row of a CPU: the largest latency of the interrupt, of the thread, and with `-u` of the return to user space.
fn of_row(row: &TimerlatRow, number: u64, unit: i64) -> Option<Breakdown> {
    let part = |kind, time| BreakdownPart { kind, name: String::new(), id: None, time, is_sum: false };
    let time = |value: u64| i64::try_from(value).ok()?.checked_mul(unit).map(Ns);
    let (irq, thread) = (row.stage(0), row.stage(1));
    let largest = [(PartKind::IrqLatency, irq), (PartKind::Thread, thread)];
    let largest = largest.into_iter().filter_map(|(kind, stage)| Some(part(kind, time(stage?.max)?)));
    let mut parts: Vec<BreakdownPart> = largest.collect();
    // The latency of the thread, which is that from the interrupt on where it ran.
    let mean = |stage: Option<StageLatencies>| time(stage?.mean?);
    if let Some((irq, thread)) = mean(irq).zip(mean(thread)) {
        parts.extend([part(PartKind::MeanIrqLatency, irq), part(PartKind::MeanThreadLatency, thread)]);
    }
    let (cpu, total) = (row.cpu?, time(row.max()?)?);
    Some(Breakdown { parts, ..Breakdown::new(Tool::RtlaTimerlatTop, cpu, total, number) })
}

/// True of a line within an analysis that nothing is missing of: the time of all but the blocking thread.
fn is_of_analysis(line: &str) -> bool {
    let (rest, has_time) = time(line).map_or((line, false), |(rest, _)| (rest, true));
    let labelled = KNOWN.iter().find(|(label, _)| rest.starts_with(label));
    let has_id = || rest.rsplit_once(':').is_some_and(|(_, id)| decimal(id).is_some());
    match labelled {
        Some((_, kind)) => has_time || *kind == PartKind::BlockingThread,
        None => {
            line.starts_with("->")
                || line.starts_with("Blocking thread stack trace")
                || (has_time && rest.ends_with(':'))
                || has_id()
                || !line.is_empty() && line.bytes().all(|byte| byte == b'-')
        }
    }
}

/// Splits `label  9.59 us (10.88 %)` into its label and time.
fn time(line: &str) -> Option<(&str, Ns)> {
    let line = match line.rsplit_once(" us") {
        Some((line, share)) if share.is_empty() || share.trim_start().starts_with('(') => line,
        _ => return None,
    };
    let line = fields::trim_end(line);
    let start = line.bytes().rposition(|byte| !byte.is_ascii_digit() && byte != b'.').map_or(0, |at| at + 1);
    let time = microseconds(line.get(start..)?)?;
    Some((fields::trim_end(line.get(..start)?), time))
}

/// `[000]   swapper/0:0`, with a kworker's work behind it.
fn task(line: &str) -> Option<(Tid, Comm)> {
    let (cpu, who) = line.strip_prefix('[')?.split_once(']')?;
    fields::cpu_from(cpu)?;
    let who = who.split_once(" kworker:").map_or(who, |(who, _)| who);
    let (comm, pid) = fields::trim(who).rsplit_once(':')?;
    Some((Tid(i32::try_from(decimal(pid)?).ok()?), Comm::from(comm)))
}

/// A row of numbers: of a histogram, or of a table that begins `3 #8123`; or the head of one.
fn is_row(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let first = words.next().is_some_and(|word| fields::digits(word).is_some());
    let second = words.next();
    let is_head = line.ends_with("Timer Latency (us)") || line.ends_with("Timer Latency (ns)");
    let is_table =
        second.is_some_and(|word| word.strip_prefix('#').is_some_and(|n| fields::digits(n).is_some()));
    let is_number =
        |word: &str| word == "-" || word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_head || first && (is_table || second.is_some_and(is_number) && words.all(is_number))
}

/// rtla's titles are coloured: `ESC [2;37;40m`.
fn without_colours(mut line: &str) -> &str {
    while let Some((_, rest)) = line.strip_prefix('\x1b').and_then(|rest| rest.split_once('m')) {
        line = fields::trim_start(rest);
    }
    line.split('\x1b').next().map_or(line, fields::trim_end)
}

#[cfg(test)]
mod tests;
