//! The guard's own thread: it must run where nothing else does, and must itself not starve anything.

use super::error::GuardError;
use std::ffi::CStr;
use whylate_base::{CpuSet, Ns, Tid};
use whylate_host::FsRoot;
use whylate_sys::{DeadlineParams, Lock, SchedParams};

/// The name of its thread, by which [`protection`](crate::protection) finds it.
const NAME: &CStr = c"whylate-guard";

/// Of itself: the kernel lets it run for no more than this, and no FIFO thread keeps it from that.
const RESERVATION: DeadlineParams =
    DeadlineParams { runtime: Ns(1_000_000), deadline: Ns(20_000_000), period: Ns(20_000_000) };

/// The CPUs that are not kept free for real-time threads; `None` where all are, or none is.
pub(super) fn housekeeping(tree: &FsRoot) -> Option<CpuSet> {
    let set = |name: &str| tree.value::<CpuSet>(&format!("/sys/devices/system/cpu/{name}")).value.ok();
    let reserved = [set("isolated"), set("nohz_full")].into_iter().flatten();
    let rest = reserved.fold(set("online")?, |rest, reserved| rest.without(&reserved));
    (!rest.is_empty() && Some(&rest) != set("online").as_ref()).then_some(rest)
}

/// Locks this process's memory, and gives the calling thread its CPUs and a policy that nothing starves. Returns a sentence
/// about it.
///
/// # Errors
/// Without the right to a real-time policy.
pub(super) fn prepare(cpus: Option<&CpuSet>) -> Result<String, GuardError> {
    let refused = |error: whylate_sys::SysError| {
        let hint = error.hint().map(|hint| format!(": {hint}")).unwrap_or_default();
        GuardError::Input(format!("{error}{hint}; a guard needs root; --dry-run reports without it"))
    };
    // It only shows in lists of threads.
    let _ = rustix::thread::set_name(NAME);
    whylate_sys::mlockall(Lock::CurrentAndFuture).map_err(refused)?;
    let cpus = cpus.cloned().or_else(|| housekeeping(&FsRoot::live()));
    if let Some(cpus) = &cpus {
        whylate_sys::setaffinity(Tid(0), cpus).map_err(|error| {
            GuardError::Input(format!(
                "the guard cannot run on CPUs {cpus}: {error}; choose others with --cpus"
            ))
        })?;
    }
    let place = cpus.map_or_else(|| "all CPUs".to_owned(), |cpus| format!("CPUs {cpus}"));
    let own = SchedParams { reset_on_fork: true, ..SchedParams::deadline(RESERVATION) };
    let params = match whylate_sys::setattr(Tid(0), &own) {
        Ok(()) => own,
        // Admission refuses a thread with CPUs of its own (sched(7)), and reservations beyond the limit.
        Err(_) => {
            let fifo = SchedParams { reset_on_fork: true, ..SchedParams::fifo(99) };
            whylate_sys::setattr(Tid(0), &fifo).map_err(refused)?;
            fifo
        }
    };
    Ok(format!("the guard itself has {params} on {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn housekeeping_cpus_are_the_others() {
        const AT: &str = "/sys/devices/system/cpu/";
        let rest = |isolated: &str, full: &str| {
            let files = [("online", "0-3\n"), ("isolated", isolated), ("nohz_full", full)];
            let files: Vec<(String, &str)> = files.map(|(name, text)| (format!("{AT}{name}"), text)).to_vec();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            housekeeping(&FsRoot::memory(&files)).map(|cpus| cpus.to_string())
        };
        assert_eq!(rest("2\n", "3\n").as_deref(), Some("0-1"));
        assert_eq!(rest("\n", "(null)\n"), None);
        assert_eq!(rest("0-3\n", "\n"), None);
    }
}
