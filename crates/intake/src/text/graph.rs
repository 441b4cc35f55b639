//! Lines of the function_graph tracer: calls as they nest, with what they took.
//!
//! ```text
//!  0)   0.253 us    |        func();                       a leaf: entered and left
//!  0)               |      func() {
//!  0) + 12.345 us   |      } /* func */                    the name by option, or where the entry was lost
//!    30.797932 |   0)  busybox-130   |  d..2. |   0.253 us    |  func();
//!        17 us |   0)  ...                                 relative time, in latency tracers
//!  0)               |  /* sched_switch: prev_comm=... */   an event among the calls
//!  0)   busybox-130   =>    rcuc/0-23                       another thread runs on that CPU
//! ```
//!
//! Facts: `print_graph_function_flags`, kernel/trace/trace_functions_graph.c.

mod bare;
mod call;
mod nesting;

use super::fields::{self, comm_pid, microseconds, symbol};
use super::line::{MARKS, interrupt_state};
use crate::pasted;
pub(crate) use bare::parse as parse_bare;
pub(crate) use bare::{BareCalls, Taken};
pub(crate) use call::{Call, CallPart};
use nesting::Braces;
use std::collections::HashMap;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{ContextFlags, Symbol};

/// A line of the tracer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GraphLine<'a> {
    /// Where the option for it, absolute or relative, is on.
    pub(crate) ts: Option<Ns>,
    pub(crate) cpu: Cpu,
    /// Its comm cut to 7 characters; by option.
    pub(crate) thread: Option<(&'a str, Tid)>,
    /// Interrupt flags and preemption depth, in latency format.
    pub(crate) state: Option<(ContextFlags, Option<u8>)>,
    pub(crate) what: What<'a>,
}

/// Its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What<'a> {
    /// A call, or its return.
    Call(Call),
    /// An event's text.
    Comment(&'a str),
    /// From here on that thread runs on the CPU.
    Switch(&'a str, Tid),
    /// An arrow where an interrupt begins or ends.
    Ornament,
    /// A mark in place of calls: they were left out.
    LeftOut,
}

/// Signs of lines and arrows that are drawn with a remark.
const DRAWN: [char; 9] = ['|', '+', '>', '-', '<', '│', '└', '├', '┌'];

/// Reads a line without blanks around it; `None` when it is not the tracer's.
pub(crate) fn parse(line: &str) -> Option<GraphLine<'_>> {
    if !line.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let (ts, rest) = match line.split_once('|').and_then(|(time, rest)| Some((time_column(time)?, rest))) {
        Some((ts, rest)) => (Some(ts), rest),
        None => (None, line),
    };
    let (cpu, mut rest) = rest.split_once(')')?;
    let cpu = fields::cpu_from(fields::trim(cpu))?;
    let mut columns = GraphLine { ts, cpu, thread: None, state: None, what: What::Ornament };
    if let Some((_, next)) = rest.split_once(" => ").filter(|(left, _)| !left.contains('|')) {
        let (comm, tid) = comm_pid(fields::trim(next))?;
        columns.what = What::Switch(comm, tid);
        return Some(columns);
    }
    // Thread and state come before the duration, each with its bar.
    loop {
        let (column, after) = rest.split_once('|')?;
        let word = fields::trim(column);
        if columns.state.is_none()
            && !word.is_empty()
            && !word.contains(' ')
            && interrupt_state(word).is_some()
        {
            columns.state = interrupt_state(word);
        } else if let (None, Some(thread)) = (columns.thread, comm_pid(word)) {
            columns.thread = Some(thread);
        } else {
            columns.what = what(word, after)?;
            return Some(columns);
        }
        rest = after;
    }
}

/// `30.797932`, or `17 us`.
fn time_column(text: &str) -> Option<Ns> {
    let text = fields::trim(text);
    match text.strip_suffix("us") {
        Some(us) => {
            Some(Ns(i64::try_from(fields::decimal(fields::trim_end(us))?).ok()?.checked_mul(1_000)?))
        }
        None => text.contains('.').then(|| fields::billionths(text).map(Ns))?,
    }
}

fn what<'a>(duration: &str, text: &'a str) -> Option<What<'a>> {
    if matches!(duration, "==========>" | "<==========") {
        return Some(What::Ornament);
    }
    let comment = fields::trim(text).strip_prefix("/*").and_then(|text| text.strip_suffix("*/"));
    match comment {
        Some(comment) if duration.is_empty() => Some(What::Comment(fields::trim(comment))),
        None if pasted::leaves_out(fields::trim(text)) => Some(What::LeftOut),
        _ => call(duration, text).map(What::Call),
    }
}

/// Reads the duration's column and the text behind its bar; two blanks more are one call deeper.
pub(crate) fn call(duration: &str, text: &str) -> Option<Call> {
    let duration = match fields::trim(duration) {
        "" => None,
        text => {
            let us = fields::trim_start(text.trim_start_matches(MARKS)).strip_suffix("us")?;
            Some(microseconds(fields::trim_end(us))?)
        }
    };
    let trimmed = fields::trim(text);
    let function = trimmed.get(annotation(trimmed)..)?;
    let blanks = text.chars().count() - fields::trim_start(text).chars().count() + trimmed.chars().count()
        - function.chars().count();
    let depth = u32::try_from(blanks.saturating_sub(2) / 2).ok()?.min(u32::from(u8::MAX));
    let is_indented = blanks >= 2;
    if let Some(rest) = function.strip_prefix('}') {
        let name = rest.split_once("/*").map(|(_, name)| symbol(name)).unwrap_or_default();
        return Some(Call { name, depth, is_indented, part: CallPart::Exit(duration?) });
    }
    let (before, after) = function.split_once('(')?;
    if before.is_empty() || without_module(before).contains(' ') || before.starts_with(DRAWN) {
        return None;
    }
    let code = after.split_once("/*").map_or(after, |(code, _)| fields::trim_end(code));
    let part = match duration {
        Some(duration) if code.ends_with(';') => CallPart::Leaf(duration),
        None if code.ends_with(';') || code.ends_with('{') => CallPart::Entry,
        _ => return None,
    };
    Some(Call { name: symbol(before), depth, is_indented, part })
}

/// The name of a function without the module that it is in: `nvme_irq [nvme]` (`%ps` in lib/vsprintf.c).
fn without_module(name: &str) -> &str {
    match name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")) {
        Some((name, module)) if !module.is_empty() && !module.contains([' ', '[', ']']) => name,
        _ => name,
    }
}

/// How many bytes before a call, or before its brace, are a remark that was drawn into its line: `+---->f();`,
/// `(~7 us) |  f() {`, `|    }`. The call keeps its column.
fn annotation(text: &str) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let is_drawn = |before: &str| before.ends_with(|c: char| !is_name(c)) && before.contains(DRAWN);
    let is_call = |(name, _): (&str, &str)| !without_module(name).contains(' ');
    if text.starts_with(is_name) && text.split_once('(').is_some_and(is_call) || text.starts_with('}') {
        return 0;
    }
    let code = text.split_once(" /*").map_or(text, |(code, _)| fields::trim_end(code));
    let begin = match code.strip_suffix('}') {
        Some(before) => before.len(),
        None => match code.strip_suffix("();").or_else(|| code.strip_suffix("() {")) {
            Some(called) => without_module(called).trim_end_matches(is_name).len(),
            None => return 0,
        },
    };
    let before = text.get(..begin).unwrap_or_default();
    if is_drawn(before) || before.ends_with("  ") { begin } else { 0 }
}

/// The same two events as `trace-cmd report` prints them: `0.253 us   |  func();`, or raw
/// `func=0xff depth=1`.
pub(crate) fn reported(text: &str) -> Option<Call> {
    if let Some((duration, function)) = text.split_once('|') {
        return call(duration, function);
    }
    let function = fields::field(text, "func")?;
    let is_address = function.len() > 8 && fields::address(function).is_some();
    let name = if is_address { Symbol::default() } else { symbol(function) };
    let depth = fields::number::<u8>(fields::field(text, "depth")?)?.into();
    let time = |key| fields::field(text, key).and_then(fields::number::<i64>);
    let part = match (time("calltime"), time("rettime")) {
        (Some(call), Some(ret)) => {
            CallPart::Exit(Ns(ret.checked_sub(call).filter(|&duration| duration >= 0)?))
        }
        _ => CallPart::Entry,
    };
    Some(Call { name, depth, is_indented: true, part })
}

/// The running thread of each CPU, and a time for lines without one.
///
/// Such a line has the time of the line before it, or, on its own CPU, that at which the calls seen so
/// far have taken the time that they show: a bound from below, from an arbitrary start at 0. Calls are thus
/// never longer than they were, and lines keep their order.
#[derive(Default)]
pub(crate) struct Clock {
    last: Ns,
    cpus: HashMap<Cpu, OnCpu>,
    /// The first call of the text has its blanks; `None` before it.
    is_indented: Option<bool>,
}

#[derive(Default)]
struct OnCpu {
    until: Ns,
    thread: Option<Tid>,
    /// Where the blanks before calls were lost.
    braces: Braces,
    /// When the calls in progress were entered, by depth, and their functions.
    entered: Vec<(Ns, Symbol)>,
}

/// Times and durations may be rounded to microseconds, each by itself.
const ROUNDED: Ns = Ns::from_us(3);

/// FTRACE_RETFUNC_DEPTH of the kernel is 50; nothing is deeper in a trace that is none of garbage.
const DEEPEST: usize = 256;

impl Clock {
    /// The running thread, as far as lines show it.
    pub(crate) fn thread(&self, cpu: Cpu) -> Option<Tid> {
        self.cpus.get(&cpu)?.thread
    }

    /// From here on `thread` runs there.
    pub(crate) fn switch(&mut self, cpu: Cpu, thread: Tid) {
        let on = self.cpus.entry(cpu).or_default();
        if on.thread.replace(thread) != Some(thread) {
            on.braces.gap();
        }
    }

    /// The line, with its call at the depth that it has.
    pub(crate) fn nested<'a>(&mut self, line: GraphLine<'a>) -> GraphLine<'a> {
        match line.what {
            What::Call(call) => GraphLine { what: What::Call(self.placed(line.cpu, call)), ..line },
            What::LeftOut => {
                self.cpus.entry(line.cpu).or_default().braces.gap();
                line
            }
            _ => line,
        }
    }

    /// Lines are missing here.
    pub(crate) fn leaves_out(&mut self) {
        self.cpus.values_mut().for_each(|on| on.braces.gap());
    }

    /// A call on that CPU, at the depth that it has.
    pub(crate) fn placed(&mut self, cpu: Cpu, call: Call) -> Call {
        match *self.is_indented.get_or_insert(call.is_indented) {
            true => call,
            false => self.cpus.entry(cpu).or_default().braces.placed(call),
        }
    }

    /// The function that returns in a line that has a brace alone: the one that was entered last at its depth, where that
    /// was as long ago as the call took. Lines between the two may be missing; without times of their own they do not show it.
    pub(crate) fn returning(&self, line: &GraphLine<'_>, depth: u32, duration: Ns) -> Symbol {
        let entered = self.cpus.get(&line.cpu).and_then(|on| on.entered.get(depth as usize));
        match (line.ts, entered) {
            (Some(ts), Some(&(entered, name)))
                if (ts - entered - duration).0.saturating_abs() <= ROUNDED.0 + duration.0 / 50 =>
            {
                name
            }
            _ => Symbol::default(),
        }
    }

    /// When the call was entered that returns in this line without a time, where its thread was on another CPU then. That CPU may show
    /// no other thread since.
    fn entered_elsewhere(&mut self, line: &GraphLine<'_>) -> Option<Ns> {
        let What::Call(Call { name, depth, part: CallPart::Exit(_), .. }) = line.what else { return None };
        let (depth, thread) = (depth as usize, self.thread(line.cpu)?);
        let is_call = |entered: &(Ns, Symbol)| entered.1 == name;
        if line.ts.is_some()
            || name.is_empty()
            || self.cpus.get(&line.cpu)?.entered.get(depth).is_some_and(is_call)
        {
            return None;
        }
        let mut others = self.cpus.iter_mut().filter(|(cpu, _)| **cpu != line.cpu).map(|(_, on)| on);
        let other =
            others.find(|on| on.thread == Some(thread) && on.entered.get(depth).is_some_and(is_call))?;
        let entered = other.entered.get(depth).map(|(entered, _)| *entered);
        other.entered.truncate(depth);
        entered
    }

    /// When the line is, by its own time or by the clock.
    pub(crate) fn at(&mut self, line: &GraphLine<'_>) -> Ns {
        let moved = self.entered_elsewhere(line);
        let on = self.cpus.entry(line.cpu).or_default();
        let mut at = line.ts.unwrap_or(self.last.max(on.until));
        if let What::Call(Call { name, depth, part, .. }) = line.what {
            let depth = depth as usize;
            match part {
                CallPart::Entry if depth < DEEPEST => {
                    on.entered.resize(depth, (at, Symbol::default()));
                    on.entered.push((at, name));
                }
                CallPart::Exit(duration) => {
                    if let (None, Some(&(entered, _))) = (line.ts, on.entered.get(depth)) {
                        at = at.max(Ns(entered.0.saturating_add(duration.0)));
                    }
                    if let Some(entered) = moved {
                        at = at.max(Ns(entered.0.saturating_add(duration.0)));
                    }
                    on.entered.truncate(depth);
                }
                CallPart::Entry | CallPart::Leaf(_) => {}
            }
            on.until = match part {
                CallPart::Leaf(duration) => Ns(at.0.saturating_add(duration.0)),
                _ => at,
            };
        }
        self.last = at;
        at
    }
}

/// When a leaf returns that was entered at `entered`: not after its next line, whose time is in whole microseconds as well.
pub(super) fn returns(entered: Ns, duration: Ns) -> Ns {
    let exact = entered.0.saturating_add(duration.0);
    let us = Ns::from_us(1).0;
    Ns(if entered.0 % us == 0 { exact - exact.rem_euclid(us) } else { exact })
}

/// The lines that the function_graph tracer draws around a switch, and its count of overruns.
pub(super) fn is_ornament(text: &str) -> bool {
    text.len() >= 8 && text.bytes().all(|byte| byte == b'-') || text.starts_with("(Overruns: ")
}

#[cfg(test)]
mod tests;
