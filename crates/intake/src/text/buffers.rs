//! The buffers of one recording, whose rows `trace-cmd report` prints together.

use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_events::{Event, Kind, KindSet};

/// What was read of each buffer, by its name. The first one has none.
#[derive(Default)]
pub(super) struct Buffers {
    read: Vec<(String, BTreeMap<u32, Seen>)>,
}

/// What was read of one CPU's part.
#[derive(Clone, Copy)]
struct Seen {
    last: Ns,
    kinds: KindSet,
}

/// What a buffer lost on one CPU.
pub(super) struct LostOf {
    /// When its last event before was; `None` where that is the last event of the CPU.
    pub(super) since: Option<Ns>,
    /// The kinds of its events.
    pub(super) kinds: KindSet,
}

impl Buffers {
    /// Takes in where and when an event of the buffer `name` was.
    pub(super) fn saw(&mut self, name: &str, at: &Event, kind: Kind) {
        let index = self.read.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.read.push((name.to_owned(), BTreeMap::new()));
            self.read.len() - 1
        });
        let seen = self.read[index].1.entry(at.cpu.0).or_insert(Seen { last: at.ts, kinds: KindSet::NONE });
        seen.last = at.ts;
        seen.kinds.insert(kind);
    }

    /// What the buffer `name` lost on the CPU with the number `cpu` behind the rows so far.
    pub(super) fn lost(&self, name: &str, cpu: u32) -> LostOf {
        let several = self.read.len() > 1;
        let buffer = self.read.iter().find(|(known, _)| several && known == name);
        match buffer.and_then(|(_, cpus)| cpus.get(&cpu)) {
            Some(seen) => LostOf { since: Some(seen.last), kinds: seen.kinds },
            None => LostOf { since: None, kinds: KindSet::NONE },
        }
    }
}
