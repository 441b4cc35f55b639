//! A recording's description of itself, and the damage that its reader found.

use crate::{Breakdown, KindSet, LatencyTrace, Stacks};
use std::fmt;
use std::sync::Arc;
use whylate_base::{CpuSet, Ns};

/// A recording's own description. A reader fills it as it goes: counts and damage are
/// complete once the stream has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceInfo {
    /// What the file is, in a few words: `trace.dat v7 (zstd)`, `ftrace text`, `wakeup_rt latency trace`.
    pub format: String,
    /// Events read, of every kind.
    pub events: u64,
    /// Events the kernel lost, as far as it counted them.
    pub lost_events: u64,
    /// How many CPUs the recording covers.
    pub cpus: u32,
    /// The CPUs that a text shows, where it does not have their number: the machine may have others beside them. Empty elsewhere.
    pub cpus_seen: CpuSet,
    /// The trace clock's name (`local`, `mono` ...); `None` where the file does not name it.
    pub clock: Option<String>,
    /// The kernel's release (`6.1.0-18-rt-amd64`), where the file has it.
    pub kernel_release: Option<String>,
    /// The machine's architecture as `uname -m` names it, where the file has it.
    pub machine: Option<String>,
    /// The recorded machine's name, where the file has it.
    pub host: Option<String>,
    /// The kinds of events that were switched on or seen. `None` where only what was seen
    /// is known, as in text; an absent kind may then just not have happened.
    pub recorded: Option<KindSet>,
    /// First and last instant.
    pub span: Option<(Ns, Ns)>,
    /// True where the file itself requests to show other times than the trace clock's: a date, an offset, or
    /// a guest's events in its host's time.
    pub time_shifted: bool,
    /// How many bytes of events the file has, or should have; `None` where that is not known.
    pub data_bytes: Option<u64>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    /// Where a mark in a text shows that lines were left out (`...`), or a piece of a recording ends.
    pub left_out: Vec<LeftOut>,
    /// The tracer that the file names (`current_tracer`), where it does.
    pub tracer: Option<String>,
    /// The one latency a latency tracer kept this trace for.
    pub latency: Option<LatencyTrace>,
    /// Latencies that another tool has already taken apart; such a file may have no events.
    pub breakdowns: Vec<Breakdown>,
    /// What probes of whylate's own show of a program's activations (`whylate record --at`); `None` without them.
    pub probed: Option<ProbedActivations>,
    /// Call stacks of threads, where they were sampled (`whylate record --stacks`).
    pub stacks: Option<Arc<Stacks>>,
}

/// A place where lines of a text were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// When the last event before it was.
    pub at: Ns,
    /// The number of the line with the mark, or of the first one between two pieces.
    pub line: u64,
    /// True where a piece ends and another begins: the events of the one do not follow on those of the other. A mark may
    /// stand for lines that do not matter.
    pub ends_piece: bool,
}

/// What probes show of a program's activations, as [`PROBED_BEGIN`](crate::PROBED_BEGIN) and
/// [`PROBED_END`](crate::PROBED_END).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbedActivations {
    /// Their beginnings only: each lasts until the next.
    Begin,
    /// Beginnings and ends.
    BeginAndEnd,
}

impl TraceInfo {
    /// Takes in that there were events from `first` to `last`.
    pub fn cover(&mut self, (first, last): (Ns, Ns)) {
        let span = self.span.unwrap_or((first, last));
        self.span = Some((span.0.min(first), span.1.max(last)));
    }

    /// Where pieces of a recording in one text end that others follow; none in a recording, or of one piece.
    pub fn cuts(&self) -> impl Iterator<Item = &LeftOut> {
        self.left_out.iter().filter(|left_out| left_out.ends_piece)
    }

    /// How many lines a latency tracer printed and how many of them the file has, if the file is an excerpt.
    pub fn excerpt(&self) -> Option<(u64, u64)> {
        let entries = self.latency.as_ref()?.entries?;
        (self.events.saturating_mul(10) < entries.saturating_mul(9)).then_some((entries, self.events))
    }

    /// True of tables of `rtla osnoise top` or `rtla hwnoise` alone, by which no CPU lost any time.
    pub fn is_without_noise(&self) -> bool {
        self.events == 0
            && !self.breakdowns.is_empty()
            && self.breakdowns.iter().all(Breakdown::is_without_noise)
    }

    /// How far the recording can be relied on. Events that the kernel lost do not count: they are
    /// part of the stream, and weighed where they are.
    pub fn quality(&self) -> Quality {
        let worst = self.damage.iter().map(|damage| damage.effect).max().unwrap_or(Effect::Detail);
        match (worst, self.unread_share()) {
            (Effect::Doubt, _) => Quality::Poor,
            (_, Some(share)) if share >= MOSTLY_READ => Quality::Poor,
            (Effect::Gap, _) => Quality::Damaged,
            (Effect::Detail, _) => Quality::Whole,
        }
    }

    /// The share of the trace data that could not be read, 0 to 1, as far as the damage shows.
    pub fn unread_share(&self) -> Option<f64> {
        let unread = self.damage.iter().filter_map(|damage| damage.unread).fold(0, u64::saturating_add);
        let bytes = self.data_bytes.filter(|&bytes| bytes > 0)?;
        Some((unread as f64 / bytes as f64).min(1.0))
    }
}

/// Where less than this share of the data can be read, the rest does not show what is usual.
const MOSTLY_READ: f64 = 0.5;

/// How far a recording can be relied on, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quality {
    /// Much is missing, or what is there may be wrong: whose it is, when it was.
    Poor,
    /// Events are missing at known places; the others are as good as ever.
    Damaged,
    /// All events are there.
    Whole,
}

impl Quality {
    /// The word for it: `whole`, `damaged`, `poor`.
    pub fn name(self) -> &'static str {
        match self {
            Quality::Poor => "poor",
            Quality::Damaged => "damaged",
            Quality::Whole => "whole",
        }
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What damage does to the events, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing: a name, a description or the like is missing.
    Detail,
    /// Some are missing.
    Gap,
    /// Those that were read may be wrong in what is essential: their CPU, their time, their order.
    Doubt,
}

/// A place in a file that could not be read, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset in the file (line number for text), where it is known.
    pub offset: Option<u64>,
    /// What was wrong and what it cost, such as `page ends in the middle of an event: rest of the page skipped`.
    pub what: String,
    /// What it does to the events.
    pub effect: Effect,
    /// How many bytes of events were not read because of it, where that is known.
    pub unread: Option<u64>,
}

impl Damage {
    /// Damage at a known place, which costs events.
    pub fn at(offset: u64, what: impl Into<String>) -> Self {
        Damage { offset: Some(offset), ..Damage::whole(what) }
    }

    /// Damage of the file as a whole, which costs events.
    pub fn whole(what: impl Into<String>) -> Self {
        Damage { offset: None, what: what.into(), effect: Effect::Gap, unread: None }
    }

    /// The same, of no event.
    pub fn detail(self) -> Self {
        Damage { effect: Effect::Detail, ..self }
    }

    /// The same, which leaves events that may be wrong.
    pub fn doubt(self) -> Self {
        Damage { effect: Effect::Doubt, ..self }
    }

    /// The same, with how many bytes of events it cost.
    pub fn unread(self, bytes: u64) -> Self {
        Damage { unread: Some(bytes), ..self }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "at {offset}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_is_what_the_damage_leaves() {
        let gap = || Damage::at(7, "a page");
        for (damage, bytes, quality) in [
            (vec![], None, Quality::Whole),
            (vec![gap().detail()], Some(100), Quality::Whole),
            (vec![gap()], None, Quality::Damaged),
            (vec![gap().unread(24), gap().detail()], Some(100), Quality::Damaged),
            (vec![gap().unread(30), gap().unread(20)], Some(100), Quality::Poor),
            (vec![gap().unread(u64::MAX), gap().unread(5)], Some(100), Quality::Poor),
            (vec![gap().unread(5)], Some(0), Quality::Damaged),
            (vec![gap(), gap().doubt()], Some(100), Quality::Poor),
        ] {
            let info = TraceInfo { damage, data_bytes: bytes, ..TraceInfo::default() };
            assert_eq!(info.quality(), quality, "{info:?}");
        }
        assert!(Quality::Poor < Quality::Damaged && Quality::Damaged < Quality::Whole);
        assert_eq!(Quality::Damaged.to_string(), "damaged");
    }
}
