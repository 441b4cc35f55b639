//! The guest's side of the join: when each of its CPUs traced nothing.

use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_events::{EventKind, EventSource};

/// Shorter gaps bound nothing that longer ones do not.
pub(super) const SHORTEST: Ns = Ns::from_us(20);
/// More gaps of a CPU than this are thinned out: the shorter half goes.
const MOST: usize = 1 << 21;

/// When the CPUs of a recording traced nothing.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    cpus: BTreeMap<Cpu, CpuGaps>,
}

/// The gaps of one CPU, in time order.
#[derive(Clone, Debug)]
pub(super) struct CpuGaps {
    pub(super) first: Ns,
    pub(super) last: Ns,
    pub(super) gaps: Vec<(Ns, Ns)>,
    shortest: Ns,
}

impl Gaps {
    /// Reads all of a recording.
    pub(super) fn of(mut source: impl EventSource) -> Gaps {
        let mut gaps = Gaps::default();
        loop {
            let batch = source.next_batch();
            if batch.is_empty() {
                return gaps;
            }
            // A loss has the instant of the next event, and its CPU may have been away.
            for event in batch.iter().filter(|event| !matches!(event.kind, EventKind::Lost { .. })) {
                gaps.see(event.cpu, event.ts);
            }
        }
    }

    pub(super) fn see(&mut self, cpu: Cpu, at: Ns) {
        let Some(seen) = self.cpus.get_mut(&cpu) else {
            let gaps = CpuGaps { first: at, last: at, gaps: Vec::new(), shortest: SHORTEST };
            self.cpus.insert(cpu, gaps);
            return;
        };
        if at - seen.last >= seen.shortest {
            seen.gaps.push((seen.last, at));
            if seen.gaps.len() > MOST {
                seen.thin_out();
            }
        }
        seen.last = seen.last.max(at);
    }

    /// The CPUs with events.
    pub(super) fn cpus(&self) -> impl Iterator<Item = (Cpu, &CpuGaps)> {
        self.cpus.iter().map(|(&cpu, gaps)| (cpu, gaps))
    }

    /// The first and the last event of all CPUs.
    pub(super) fn span(&self) -> Option<(Ns, Ns)> {
        let first = self.cpus.values().map(|cpu| cpu.first).min()?;
        Some((first, self.cpus.values().map(|cpu| cpu.last).max()?))
    }
}

impl CpuGaps {
    fn thin_out(&mut self) {
        self.shortest = self.shortest + self.shortest;
        let shortest = self.shortest;
        self.gaps.retain(|&(from, to)| to - from >= shortest);
    }
}
