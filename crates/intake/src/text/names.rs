//! The name each line gives its thread.

use std::collections::HashMap;
use whylate_base::{Comm, Tid};

/// No more threads' names are kept: as many as 64-bit kernels have thread ids at first
/// (`/proc/sys/kernel/pid_max` of a large machine), and some 6 MiB.
const MOST: usize = 128 * 1024;

/// How many threads are looked up without a table.
const RECENT: usize = 64;

/// Threads' names. Some formats cut them: what begins a name known already is not taken.
pub(crate) struct Names {
    all: HashMap<Tid, Comm>,
    recent: Vec<(Tid, Comm)>,
}

impl Default for Names {
    fn default() -> Self {
        // -1 is no thread's id.
        Names { all: HashMap::new(), recent: vec![(Tid(-1), Comm::default()); RECENT] }
    }
}

impl Names {
    /// Notes a thread's name; `<idle>` and `<...>` are none.
    pub(crate) fn learn(&mut self, tid: Tid, comm: &str) {
        if comm.is_empty() || comm.starts_with('<') {
            return;
        }
        let Some(recent) = usize::try_from(tid.0).ok().and_then(|tid| self.recent.get_mut(tid % RECENT))
        else {
            return;
        };
        if recent.0 == tid && recent.1.as_bytes() == comm.as_bytes() {
            return;
        }
        let comm = Comm::from(comm);
        *recent = (tid, comm);
        if let Some(known) = self.all.get_mut(&tid) {
            if !known.as_bytes().starts_with(comm.as_bytes()) {
                *known = comm;
            }
        } else if self.all.len() < MOST {
            self.all.insert(tid, comm);
        }
    }

    /// All that are known.
    pub(crate) fn all(&self) -> Vec<(Tid, Comm)> {
        self.all.iter().map(|(&tid, &comm)| (tid, comm)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts_and_a_cut_one_does_not() {
        let mut names = Names::default();
        for (tid, comm) in [
            (1, "bash"),
            (1, "multipathd"),
            (1, "multipat"),
            (2, "<...>"),
            (0, "<idle>"),
            (65, "a"),
            (-1, "x"),
            (3, ""),
        ] {
            names.learn(Tid(tid), comm);
        }
        let mut all = names.all();
        all.sort_by_key(|&(tid, _)| tid);
        assert_eq!(all, [(Tid(1), Comm::from("multipathd")), (Tid(65), Comm::from("a"))]);
    }
}
