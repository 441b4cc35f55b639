//! Which CPUs the recorded threads may use, while it records: a trace shows that a thread calls
//! `sched_setaffinity(2)`, and not with which CPUs.

use super::affinity::fact;
use super::session::Session;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Tid};
use whylate_events::Fact;
use whylate_ftrace::tracefs::TracefsError;

/// Threads settle early in their lives: the first look is soon, and each later one twice as late.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// Every thread's affinity is a system call.
const LAST_PAUSE: Duration = Duration::from_secs(2);
/// More threads than this are not looked at: the list is a sample then.
const MAX_THREADS: usize = 1_000;

/// What was written of each thread, and when to look again.
pub(super) struct AffinityWatch {
    written: HashMap<Tid, CpuSet>,
    next: Instant,
    pause: Duration,
}

impl AffinityWatch {
    /// Begins with what the session wrote when it started.
    pub(super) fn new(session: &Session) -> AffinityWatch {
        let written = session.facts().iter().filter_map(|fact| match fact {
            Fact::Affinity { tid, cpus } => Some((*tid, cpus.clone())),
            _ => None,
        });
        AffinityWatch { written: written.collect(), next: Instant::now() + FIRST_LOOK, pause: FIRST_LOOK }
    }

    /// Writes what has changed, when it is time to look. What cannot be read or written is left
    /// out: no recording fails for it.
    pub(super) fn look(&mut self, session: &mut Session) {
        let now = Instant::now();
        if now >= self.next {
            self.pause = (self.pause * 2).min(LAST_PAUSE);
            self.next = now + self.pause;
            let _ = self.write_changes(session);
        }
    }

    fn write_changes(&mut self, session: &mut Session) -> Result<(), TracefsError> {
        for tid in session.followed()?.into_iter().take(MAX_THREADS) {
            let Some(Fact::Affinity { cpus, .. }) = fact(tid) else { continue };
            if self.written.get(&tid) != Some(&cpus) {
                session.fact(&Fact::Affinity { tid, cpus: cpus.clone() })?;
                self.written.insert(tid, cpus);
            }
        }
        Ok(())
    }
}
