//! Which threads are shown.

use crate::select;
use whylate_base::Tid;
use whylate_host::Thread;

/// The selection of `whylate ps`.
#[derive(Clone, Debug, Default)]
pub struct PsOptions {
    /// Threads of these ids or names, in which `*` matches any text; empty: every real-time thread.
    pub tasks: Vec<String>,
    /// Every thread, also those that are not real-time.
    pub all: bool,
}

impl PsOptions {
    /// Whether a thread is shown.
    pub(super) fn selects(&self, thread: &Thread) -> bool {
        match self.tasks.is_empty() {
            true => self.all || thread.is_realtime(),
            false => {
                let name =
                    select::ThreadName { pid: Tid(thread.pid), tid: thread.tid, comm: thread.comm.clone() };
                self.tasks.iter().any(|pattern| select::is_meant(&name, pattern))
            }
        }
    }
}
