//! Which CPUs a thread may use, as a fact.

use whylate_base::Tid;
use whylate_events::Fact;

/// The CPUs of a thread as a fact, where the kernel returns them and the line fits.
pub(super) fn fact(tid: Tid) -> Option<Fact> {
    let cpus = whylate_sys::getaffinity(tid).ok().filter(|cpus| !cpus.is_empty())?;
    Some(Fact::Affinity { tid, cpus }).filter(Fact::fits)
}
