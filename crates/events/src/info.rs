//! What a recording says about itself, and what of it could not be read.

use crate::{Breakdown, KindSet, LatencyTrace};
use std::fmt;
use whylate_base::Ns;

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
    /// The trace clock's name (`local`, `mono` ...); `None` where the file does not say.
    pub clock: Option<String>,
    /// The kernel's release (`6.1.0-18-rt-amd64`), where the file says.
    pub kernel_release: Option<String>,
    /// The machine's architecture as `uname -m` names it, where the file says.
    pub machine: Option<String>,
    /// The kinds of events that were switched on or seen. `None` where only what was seen
    /// is known, as in text; an absent kind may then just not have happened.
    pub recorded: Option<KindSet>,
    /// First and last instant.
    pub span: Option<(Ns, Ns)>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    /// The one latency a latency tracer kept this trace for.
    pub latency: Option<LatencyTrace>,
    /// Latencies that another tool has already taken apart; such a file may have no events.
    pub breakdowns: Vec<Breakdown>,
}

/// A place in a file that could not be read, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset in the file (line number for text), where it is known.
    pub offset: Option<u64>,
    /// What was wrong and what it cost, such as `page ends in the middle of an event: rest of the page skipped`.
    pub what: String,
}

impl Damage {
    /// Damage at a known place.
    pub fn at(offset: u64, what: impl Into<String>) -> Self {
        Damage { offset: Some(offset), what: what.into() }
    }

    /// Damage of the file as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Damage { offset: None, what: what.into() }
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
