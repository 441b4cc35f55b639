//! The lines of a latency tracer's file, as far as they show functions: which, in which thread, with what disabled.

use crate::model::section::{CpuContext, Gap};
use std::collections::HashMap;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{ContextFlags, Event, EventKind, Fact, LatencyTrace, Symbol, TraceInfo};

/// More lines than this are not kept: no tracer's buffer of one CPU holds as many.
const MAX_LINES: usize = 1 << 20;
/// A kernel stack is no deeper.
const MAX_FRAMES: usize = 128;

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
    /// When a thread was last switched to, by id.
    pub(super) switched_to: HashMap<Tid, Ns>,
    /// Whether the kernel is a PREEMPT_RT one, where the header tells.
    pub(super) preempt_rt: Option<bool>,
    /// True when lines were left out.
    pub(super) cut: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) at: Ns,
    pub(super) tid: Tid,
    pub(super) flags: ContextFlags,
    pub(super) preempt_depth: Option<u8>,
    pub(super) what: What,
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
            switched_to: HashMap::new(),
            preempt_rt: None,
            cut: false,
        }
    }

    pub(super) fn see(&mut self, event: &Event) {
        if let EventKind::Marker(text) = event.kind
            && let Some(Fact::PreemptRt(on)) = Fact::parse(text.as_str())
        {
            self.preempt_rt = Some(on);
            return;
        }
        if event.cpu != self.cpu {
            return;
        }
        if let EventKind::StackFrame { name } = event.kind {
            if std::mem::take(&mut self.stack_ended) {
                self.stack.clear();
                self.keep(event, What::Stack);
            }
            if self.stack.len() < MAX_FRAMES {
                self.stack.push(name);
            }
            return;
        }
        self.stack_ended = true;
        let what = match event.kind {
            EventKind::Function { name } => What::Function(self.number(name)),
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
        let line =
            Line { at, tid: context.tid, flags: context.flags, preempt_depth: context.preempt_depth, what };
        self.lines.push(line);
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

    /// Those in `from..=to`.
    pub(super) fn between(&self, from: Ns, to: Ns) -> &[Line] {
        let first = self.lines.partition_point(|line| line.at < from);
        let last = self.lines.partition_point(|line| line.at <= to);
        self.lines.get(first..last.max(first)).unwrap_or(&[])
    }

    pub(super) fn first(&self) -> Option<&Line> {
        self.lines.first()
    }

    /// How long the tracer took to save stacks.
    pub(super) fn saving_stacks(lines: &[Line]) -> Ns {
        lines.windows(2).filter(|pair| pair[1].what == What::Stack).map(|pair| pair[1].at - pair[0].at).sum()
    }

    pub(super) fn stack(&self) -> Vec<String> {
        self.stack.iter().map(|name| name.as_str().to_owned()).collect()
    }

    /// The `most` longest stretches between two lines, longest first. To save a stack takes the tracer itself long.
    pub(super) fn gaps(&self, lines: &[Line], most: usize) -> Vec<Gap> {
        let mut pairs: Vec<&[Line]> =
            lines.windows(2).filter(|pair| pair[1].at > pair[0].at && pair[1].what != What::Stack).collect();
        pairs.sort_by_key(|pair| (std::cmp::Reverse(pair[1].at - pair[0].at), pair[0].at));
        let named = |line: &Line| match line.what {
            What::Function(function) | What::Entry { function, .. } | What::Exit { function, .. } => {
                self.name(function).to_owned()
            }
            What::Stack | What::Other => String::new(),
        };
        let gap = |pair: &&[Line]| Gap {
            start: pair[0].at,
            length: pair[1].at - pair[0].at,
            after: named(&pair[0]),
            before: named(&pair[1]),
        };
        pairs.iter().take(most).map(gap).collect()
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

/// How many lines the tracer printed and how many of them the file has, if the file is an excerpt.
pub(super) fn excerpt(info: &TraceInfo, trace: &LatencyTrace) -> Option<(u64, u64)> {
    let entries = trace.entries?;
    (info.events.saturating_mul(10) < entries.saturating_mul(9)).then_some((entries, info.events))
}
