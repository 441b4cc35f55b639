//! The other real-time threads of programs, which a change may make later.

use crate::subject::Subject;
use whylate_base::Policy;
use whylate_host::{FsRoot, Snapshot};
use whylate_investigate::watch::WatchRule;
use whylate_ledger::Select;

/// More names are not looked at.
const MOST: usize = 32;

/// Their rules: real-time threads of programs that run now and are not what is measured.
pub(crate) fn rules(tree: &FsRoot, subject: &Subject) -> Vec<WatchRule> {
    let host = Snapshot::read(tree);
    let own = std::process::id();
    let Some(all) = host.threads.each.known() else { return Vec::new() };
    let mut names: Vec<&str> = all
        .iter()
        .filter(|thread| !thread.kernel && u32::try_from(thread.pid) != Ok(own))
        .filter(|thread| matches!(thread.policy, Some(Policy::Fifo | Policy::Rr | Policy::Deadline)))
        .filter(|thread| !subject.measures(thread.tid, &thread.comm))
        .map(|thread| thread.comm.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let rule = |name: &str| WatchRule { threads: Some(Select::Comm(name.to_owned())), deadline: None };
    names.into_iter().take(MOST).map(rule).collect()
}
