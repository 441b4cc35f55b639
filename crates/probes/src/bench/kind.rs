//! The subjects of a bench, and their names.

use std::fmt;
use std::str::FromStr;

/// What a bench is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchKind {
    /// Clock sources, clocks and timers.
    Clock,
    /// Small messages.
    Socket,
    /// Page faults and locked memory.
    Memory,
    /// Threads, processes, and how one wakes another.
    Thread,
}

impl BenchKind {
    /// All of them.
    pub const ALL: [BenchKind; 4] =
        [BenchKind::Clock, BenchKind::Socket, BenchKind::Memory, BenchKind::Thread];

    /// Its name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            BenchKind::Clock => "clock",
            BenchKind::Socket => "socket",
            BenchKind::Memory => "memory",
            BenchKind::Thread => "thread",
        }
    }
}

impl fmt::Display for BenchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BenchKind {
    type Err = String;

    fn from_str(name: &str) -> Result<BenchKind, String> {
        let found = BenchKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("`{name}` is no kind of bench: clock, socket, memory or thread"))
    }
}
