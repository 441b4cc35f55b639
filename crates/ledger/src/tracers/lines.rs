//! The lines of a latency tracer's file, as far as they show functions: which, in which thread, with what disabled.

use super::handlers::CALLERS;
use super::interrupted::{is_mark, is_primitive};
use crate::model::section::{CpuContext, Gap};
use crate::timeline::clocks::TICKS;
use std::collections::HashMap;
use std::fmt;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{ContextFlags, Event, EventKind, Symbol, interrupt_entry};

/// More lines than this are not kept: no tracer's buffer of one CPU holds as many.
const MAX_LINES: usize = 1 << 20;
/// The threads on other CPUs that are remembered.
const MOST_ELSEWHERE: usize = 128;
/// A kernel stack is no deeper.
const MAX_FRAMES: usize = 128;

/// Lines for each step of a coarse clock, at least.
const COARSE: usize = 4;

/// Functions are entered more often than this.
const SPARSE: Ns = Ns::from_us(20);

/// Lines of one CPU, in time order.
pub(super) struct Lines {
    cpu: Cpu,
    lines: Vec<Line>,
    names: Vec<Symbol>,
    numbers: HashMap<Symbol, u32>,
    /// The last stack, innermost first.
    stack: Vec<Symbol>,
    stack_ended: bool,
    /// The functions of kernel threads, by the stacks that were saved in them: the one that `kthread` calls
    /// (kernel/kthread.c).
    pub(super) kernel_threads: HashMap<Tid, Symbol>,
    /// When a thread was last switched to, by id.
    pub(super) switched_to: HashMap<Tid, Ns>,
    /// When a thread first had a line on another CPU, by id.
    elsewhere: HashMap<Tid, Ns>,
    /// When a thread was last woken, by id.
    pub(super) woken: HashMap<Tid, Ns>,
    /// The last wake-up on another CPU whose stack was not saved so far.
    woken_elsewhere: Option<(Cpu, Ns)>,
    /// How long the tracer took to save the stacks of those wake-ups.
    pub(super) saving_elsewhere: Ns,
    /// True when lines were left out.
    pub(super) cut: bool,
}

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Within { length, function, .. } = self;
        write!(f, "the lines on both sides of the longest time without one, {length}, are within {function}")
    }
}

#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) at: Ns,
    pub(super) tid: Tid,
    pub(super) flags: ContextFlags,
    pub(super) preempt_depth: Option<u8>,
    pub(super) what: What,
    /// The function that called the one it names.
    caller: Option<u32>,
}

/// The longest stretch between two lines, and the function that both of them are within.
pub(super) struct Within<'a> {
    pub(super) start: Ns,
    pub(super) length: Ns,
    pub(super) function: &'a str,
}

/// Functions are by number, see [`Lines::name`].
#[derive(Clone, Copy, PartialEq)]
pub(super) enum What {
    Function(u32),
    Entry {
        function: u32,
        depth: u32,
    },
    Exit {
        function: u32,
        depth: u32,
        duration: Ns,
    },
    /// A stack that the tracer has just saved.
    Stack,
    Other,
}

impl Line {
    /// The function it names, if it shows that one begin.
    pub(super) fn function(&self) -> Option<u32> {
        match self.what {
            What::Function(function) | What::Entry { function, .. } => Some(function),
            What::Exit { .. } | What::Stack | What::Other => None,
        }
    }

    /// The tracer saved a stack: what came before took its time.
    pub(super) fn is_stack(&self) -> bool {
        self.what == What::Stack
    }

    /// The function it names.
    pub(super) fn named(&self) -> Option<u32> {
        match self.what {
            What::Function(function) | What::Entry { function, .. } | What::Exit { function, .. } => {
                Some(function)
            }
            What::Stack | What::Other => None,
        }
    }

    /// How deep a call of the function graph is.
    fn depth(&self) -> Option<u32> {
        match self.what {
            What::Entry { depth, .. } | What::Exit { depth, .. } => Some(depth),
            What::Function(_) | What::Stack | What::Other => None,
        }
    }

    pub(super) fn within(&self) -> CpuContext {
        if self.flags.contains(ContextFlags::HARDIRQ) {
            CpuContext::Irq
        } else if self.flags.contains(ContextFlags::SOFTIRQ) {
            CpuContext::Softirq
        } else {
            CpuContext::Thread
        }
    }
}

impl Lines {
    pub(super) fn of(cpu: Cpu) -> Lines {
        Lines {
            cpu,
            lines: Vec::new(),
            names: Vec::new(),
            numbers: HashMap::new(),
            stack: Vec::new(),
            stack_ended: true,
            kernel_threads: HashMap::new(),
            switched_to: HashMap::new(),
            elsewhere: HashMap::new(),
            woken: HashMap::new(),
            woken_elsewhere: None,
            saving_elsewhere: Ns::ZERO,
            cut: false,
        }
    }

    pub(super) fn see(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::Marker(_)) {
            return;
        }
        // The waker may have been on another CPU.
        if let EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } = event.kind {
            self.woken.insert(wake.tid, event.ts);
            self.woken_elsewhere = (event.cpu != self.cpu).then_some((event.cpu, event.ts));
        }
        if event.cpu != self.cpu {
            if let (EventKind::StackFrame { .. }, Some((cpu, at))) = (event.kind, self.woken_elsewhere)
                && cpu == event.cpu
            {
                self.woken_elsewhere = None;
                self.saving_elsewhere += event.ts - at;
            }
            if self.elsewhere.len() < MOST_ELSEWHERE {
                self.elsewhere.entry(event.context.tid).or_insert(event.ts);
            }
            return;
        }
        if let EventKind::StackFrame { name } = event.kind {
            if std::mem::take(&mut self.stack_ended) {
                self.stack.clear();
                self.keep(event, What::Stack);
            }
            if self.stack.len() < MAX_FRAMES {
                if let Some(&function) = self.stack.last().filter(|_| name.as_str() == "kthread")
                    && self.kernel_threads.len() < MOST_ELSEWHERE
                {
                    self.kernel_threads.entry(event.context.tid).or_insert(function);
                }
                self.stack.push(name);
            }
            return;
        }
        self.stack_ended = true;
        let what = match event.kind {
            EventKind::Function { name, .. } => What::Function(self.number(name)),
            EventKind::FunctionEntry { name, depth } => What::Entry { function: self.number(name), depth },
            EventKind::FunctionExit { name, depth, duration } => {
                What::Exit { function: self.number(name), depth, duration }
            }
            EventKind::Lost { .. } => return,
            EventKind::Switch(switch) => {
                self.switched_to.insert(switch.next_tid, event.ts);
                What::Other
            }
            _ => What::Other,
        };
        self.keep(event, what);
    }

    fn keep(&mut self, event: &Event, what: What) {
        if self.lines.len() == MAX_LINES {
            self.cut = true;
            return;
        }
        let (at, context) = (event.ts, event.context);
        let caller = match event.kind {
            EventKind::Function { caller, .. } if !caller.is_empty() => Some(self.number(caller)),
            _ => None,
        };
        let (flags, preempt_depth) = (context.flags, context.preempt_depth);
        self.lines.push(Line { at, tid: context.tid, flags, preempt_depth, what, caller });
    }

    fn number(&mut self, name: Symbol) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name.as_str())
    }

    /// The function in which a line shows the CPU: of a tracer's own mark, the caller.
    pub(super) fn shown(&self, line: &Line) -> Option<u32> {
        line.function().and_then(|function| match is_mark(self.name(function)) {
            true => line.caller,
            false => Some(function),
        })
    }

    /// True where functions were traced after `start` and before `end`, and not only what begins and ends a section there:
    /// the tracers print that in any case. `ends` are the functions in which it begins and ends, by the header.
    pub(super) fn shows_functions(
        &self,
        within: &[Line],
        (start, end): (Ns, Ns),
        ends: [Option<&str>; 2],
    ) -> bool {
        let is_call = |line: &&Line| line.named().is_some();
        let mut calls: Vec<&Line> = within.iter().filter(is_call).collect();
        let of_mark = |line: &Line| line.named().is_some_and(|function| is_mark(self.name(function)));
        // Such a line shows what called the tracer, or its caller; the function graph has none.
        let names = |line: &Line, end: Option<&str>| {
            let shown = [line.named().filter(|_| line.depth().is_none()), line.caller];
            end.is_some_and(|end| shown.into_iter().flatten().any(|function| self.name(function) == end))
        };
        let [opened, closed] = ends;
        if calls.first().is_some_and(|line| of_mark(line) || names(line, opened)) {
            calls.remove(0);
        }
        // At the end there are two, of which the second is a mark by its name.
        calls.retain(|line| !of_mark(line));
        if calls.last().is_some_and(|line| names(line, closed)) {
            calls.pop();
        }
        calls.iter().any(|line| line.at > start && line.at < end) || self.has_calls_behind(end)
    }

    /// True where a line behind `end` is of a call by the function in the line before it: functions were traced, so that within the
    /// section none was called.
    fn has_calls_behind(&self, end: Ns) -> bool {
        let first = self.lines.partition_point(|line| line.at <= end);
        let is_call = |pair: &[Line]| match pair {
            [caller, called] => {
                let marks = [caller, called]
                    .iter()
                    .any(|line| line.named().is_none_or(|name| is_mark(self.name(name))));
                called.caller.is_some() && called.caller == caller.named() && !marks
            }
            _ => false,
        };
        self.lines.get(first..).unwrap_or(&[]).windows(2).any(is_call)
    }

    /// The functions that most of these lines name, most first.
    pub(super) fn most_named(&self, lines: &[Line], most: usize) -> Vec<(&str, usize)> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        lines
            .iter()
            .filter_map(|line| self.shown(line))
            .for_each(|function| *counts.entry(function).or_default() += 1);
        let mut named: Vec<(&str, usize)> =
            counts.into_iter().map(|(function, count)| (self.name(function), count)).collect();
        named.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        named.truncate(most);
        named
    }

    /// Those in `from..=to`.
    pub(super) fn between(&self, from: Ns, to: Ns) -> &[Line] {
        let first = self.lines.partition_point(|line| line.at < from);
        let last = self.lines.partition_point(|line| line.at <= to);
        self.lines.get(first..last.max(first)).unwrap_or(&[])
    }

    /// When another thread was first shown to be due, by the flag need-resched; `from` where it was due already.
    pub(super) fn need_resched(&self, from: Ns, to: Ns) -> Option<Ns> {
        let is_set = |line: &Line| line.flags.contains(ContextFlags::NEED_RESCHED);
        let lines = self.between(from, to);
        let first = lines.iter().position(is_set)?;
        Some(if first == 0 { from } else { lines[first].at })
    }

    /// How long after the first line of the other CPUs a thread had one there.
    pub(super) fn ran_elsewhere(&self, tid: Tid) -> Option<Ns> {
        Some(*self.elsewhere.get(&tid)? - *self.elsewhere.values().min()?)
    }

    /// From the first line to the last that is no stack.
    pub(super) fn span(&self) -> Ns {
        let last = self.lines.iter().rfind(|line| !line.is_stack());
        self.first().zip(last).map_or(Ns::ZERO, |(first, last)| last.at - first.at)
    }

    pub(super) fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    pub(super) fn first(&self) -> Option<&Line> {
        self.lines.first()
    }

    /// The step of a clock that is coarse: 1 ms, 4 ms or 10 ms, as machines have that keep time by the tick.
    pub(super) fn clock_step(lines: &[Line]) -> Option<Ns> {
        let (first, last) = (lines.first()?.at, lines.last()?.at);
        let is_multiple = |step: &Ns| lines.iter().all(|line| (line.at - first).0 % step.0 == 0);
        let moves = lines.windows(2).filter(|pair| pair[1].at > pair[0].at).count();
        // Few lines may be a multiple apart by chance; of a fine clock hardly any two are simultaneous.
        let is_coarse = last > first && moves * COARSE <= lines.len();
        is_coarse.then(|| TICKS.into_iter().find(is_multiple))?
    }

    /// The step of the trace's clock, if it is coarse.
    pub(super) fn step(&self) -> Option<Ns> {
        Lines::clock_step(&self.lines)
    }

    /// How long the tracer took to save stacks.
    pub(super) fn saving_stacks(lines: &[Line]) -> Ns {
        lines.windows(2).filter(|pair| pair[1].is_stack()).map(|pair| pair[1].at - pair[0].at).sum()
    }

    pub(super) fn stack(&self) -> Vec<String> {
        self.stack.iter().map(|name| name.as_str().to_owned()).collect()
    }

    /// The last stack, where the tracer saved it at `from` or later.
    pub(super) fn stack_since(&self, from: Ns) -> Vec<String> {
        let saved = self.lines.iter().rfind(|line| line.is_stack());
        if saved.is_some_and(|saved| saved.at >= from) { self.stack() } else { Vec::new() }
    }

    /// The `most` longest stretches between two lines, longest first. To save a stack takes the tracer itself long.
    pub(super) fn gaps(&self, lines: &[Line], most: usize) -> Vec<Gap> {
        let mut pairs: Vec<&[Line]> =
            lines.windows(2).filter(|pair| pair[1].at > pair[0].at && !pair[1].is_stack()).collect();
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair[1].at - pair[0].at), pair[0].at));
        let named = |line: &Line| self.place(line).map_or_else(String::new, str::to_owned);
        let gap = |pair: &&[Line]| Gap {
            start: pair[0].at,
            length: pair[1].at - pair[0].at,
            after: named(&pair[0]),
            before: named(&pair[1]),
        };
        pairs.iter().take(most).map(gap).collect()
    }

    /// What a line names; in place of a tracer's mark its caller, except on the way into an interrupt, where the mark shows
    /// how far the CPU came.
    fn place(&self, line: &Line) -> Option<&str> {
        let name = self.name(line.named()?);
        let caller = line.caller.map(|caller| self.name(caller)).filter(|_| is_mark(name));
        Some(caller.filter(|caller| interrupt_entry(&[caller]).is_none()).unwrap_or(name))
    }

    /// The longest stretch between two lines, where their callers show that both are within one function.
    pub(super) fn longest_within(&self, lines: &[Line]) -> Option<Within<'_>> {
        let longest =
            lines.windows(2).max_by_key(|pair| (pair[1].at - pair[0].at, std::cmp::Reverse(pair[0].at)));
        let (before, after) = (longest?.first()?, longest?.last()?);
        let is_same = before.tid == after.tid && before.within() == after.within();
        let called = after.caller.filter(|_| after.caller == before.named() || after.caller == before.caller);
        let function = called.filter(|_| is_same).map(|function| self.name(function))?;
        let (start, length) = (before.at, after.at - before.at);
        (!is_primitive(function)).then_some(Within { start, length, function })
    }

    /// The functions from which most of these lines were called, at most `most` of them, the one with the most lines first.
    pub(super) fn callers<'a>(&self, lines: impl Iterator<Item = &'a Line>, most: usize) -> Vec<&str> {
        let mut callers: Vec<(u32, usize)> = Vec::new();
        for caller in lines.filter_map(|line| line.caller) {
            match callers.iter_mut().find(|(known, _)| *known == caller) {
                Some((_, times)) => *times += 1,
                None => callers.push((caller, 1)),
            }
        }
        callers.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let names = callers.into_iter().map(|(caller, _)| self.name(caller));
        names.filter(|name| !is_primitive(name)).take(most).collect()
    }

    /// The one handler of a device's interrupt that these lines show, by its caller.
    pub(super) fn handler(&self, lines: &[Line]) -> Option<&str> {
        let is_caller = |number: u32| CALLERS.contains(&self.name(number));
        let called = lines.iter().filter(|line| line.caller.is_some_and(is_caller));
        let mut handlers = called.filter_map(Line::named).map(|number| self.name(number));
        let is_handler = |name: &&str| !CALLERS.contains(name) && !is_primitive(name);
        let first = handlers.find(is_handler)?;
        handlers.filter(is_handler).all(|other| other == first).then_some(first)
    }

    /// The function from which the first of these lines of a thread was called; none where one of them names `of_stack`, which then has
    /// a part in them itself.
    pub(super) fn called_from(&self, lines: &[Line], of_stack: &str) -> Option<&str> {
        let names = |number: u32| self.name(number) == of_stack;
        if lines.iter().any(|line| line.named().is_some_and(names) || line.caller.is_some_and(names)) {
            return None;
        }
        let callers = lines.iter().filter(|line| !line.flags.in_interrupt()).filter_map(|line| line.caller);
        callers.map(|number| self.name(number)).find(|name| !is_primitive(name))
    }

    /// True where interrupts were off from one line of a thread to the next, outside of interrupts. Where lines are left out
    /// (`is_cut`), only if both are within one function.
    pub(super) fn is_irqs_off(&self, line: &Line, next: Option<&Line>, is_cut: bool) -> bool {
        let is_off = |line: &Line| line.flags.irqs_off() && !line.flags.in_interrupt();
        next.is_some_and(|next| {
            let same = next.tid == line.tid && is_off(line) && is_off(next);
            let called =
                next.caller.is_some_and(|_| next.caller == line.named() || next.caller == line.caller);
            same && (called || !is_cut)
        })
    }

    /// The longest run of lines of one thread for which `holds`, without a long time between two of them.
    pub(super) fn longest_run(lines: &[Line], holds: impl Fn(&Line) -> bool) -> Option<&[Line]> {
        let mut longest: Option<&[Line]> = None;
        // What was so in few lines far apart need not have been so between them.
        let near = |a: &Line, b: &Line| b.at - a.at <= SPARSE;
        let runs = lines.chunk_by(|a, b| a.tid == b.tid && holds(a) == holds(b) && near(a, b));
        for run in runs.filter(|run| run.first().is_some_and(&holds)) {
            let length = |run: &[Line]| match run {
                [first, .., last] => last.at - first.at,
                _ => Ns::ZERO,
            };
            if longest.is_none_or(|longest| length(run) > length(longest)) {
                longest = Some(run);
            }
        }
        longest
    }
}
