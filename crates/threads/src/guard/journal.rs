//! What is lent at this time, written down before it is lent, so that it is restored where this process is killed: by the
//! watchdog, or by the next guard.

use super::lend;
use super::look::WatchedThread;
use crate::journal_file;
use crate::select::ThreadName;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use whylate_base::{Ns, Policy, Tid};
use whylate_sys::{DeadlineParams, SchedParams};

/// Where journals of guards are.
pub(super) const DIRECTORY: &str = "/run/whylate/guard";

/// The journal of this process. It is written anew at each change, as only what is lent now counts.
#[derive(Debug)]
pub(super) struct GuardJournal {
    path: PathBuf,
    loans: Vec<Loan>,
    /// The directory, which no second guard can lock.
    _lock: OwnedFd,
}

/// A thread with its own policy, and the lent one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Loan {
    pid: Tid,
    tid: Tid,
    started: u64,
    comm: String,
    own: SavedParams,
    lent: SavedParams,
}

/// [`SchedParams`] as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedParams {
    policy: u32,
    priority: u32,
    nice: i32,
    reset_on_fork: bool,
    slice: Option<Ns>,
    /// Runtime, deadline, period.
    deadline: Option<[Ns; 3]>,
}

impl GuardJournal {
    /// An empty one.
    ///
    /// # Errors
    /// `WouldBlock`: another guard has one in this directory.
    pub(super) fn create(directory: &Path) -> io::Result<GuardJournal> {
        let path = journal_file::own(directory)?;
        let lock = OwnedFd::from(File::open(directory)?);
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let journal = GuardJournal { path, loans: Vec::new(), _lock: lock };
        journal.write()?;
        Ok(journal)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down that a thread is to be lent a policy.
    pub(super) fn add(
        &mut self,
        thread: &WatchedThread,
        own: &SchedParams,
        lent: &SchedParams,
    ) -> io::Result<()> {
        let ThreadName { pid, tid, comm } = thread.name.clone();
        let (own, lent) = (SavedParams::from(own), SavedParams::from(lent));
        self.loans.push(Loan { pid, tid, started: thread.started, comm, own, lent });
        self.write()
    }

    /// A thread has its own policy again.
    pub(super) fn remove(&mut self, thread: &WatchedThread) -> io::Result<()> {
        self.loans.retain(|loan| (loan.tid, loan.started) != thread.key());
        self.write()
    }

    /// Nothing is lent any more.
    pub(super) fn close(self) {
        if self.loans.is_empty() {
            remove(&self.path);
        }
    }

    /// A reader sees the old or the new one whole.
    fn write(&self) -> io::Result<()> {
        let beside = beside(&self.path);
        let mut text = String::new();
        for loan in &self.loans {
            text.push_str(&serde_json::to_string(loan).map_err(io::Error::other)?);
            text.push('\n');
        }
        File::create(&beside)?.write_all(text.as_bytes())?;
        fs::rename(&beside, &self.path)
    }
}

/// Where a journal is written before it takes the place of the old one.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// Removes a journal, and what a guard that was killed while it wrote has left beside it.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_file(beside(path));
}

/// Guards that run.
pub(super) fn running() -> Vec<u32> {
    journal_file::holders(Path::new(DIRECTORY))
}

/// Restores what guards have left that were killed. Returns a sentence for each thread.
pub(super) fn recover() -> Vec<String> {
    journal_file::abandoned(Path::new(DIRECTORY)).iter().flat_map(|path| recover_file(path)).collect()
}

/// Restores what a journal has, and removes it. Returns a sentence for each thread.
pub(super) fn recover_file(path: &Path) -> Vec<String> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    let loans = text.lines().filter_map(|line| serde_json::from_str::<Loan>(line).ok());
    let mut sentences = Vec::new();
    let mut is_whole = true;
    for loan in loans {
        let Some((own, lent)) = loan.own.params().zip(loan.lent.params()) else { continue };
        let name = ThreadName { pid: loan.pid, tid: loan.tid, comm: loan.comm };
        let thread = WatchedThread { name, started: loan.started, policy: None, priority: 0 };
        let named = format!("{}:{}", thread.name.comm, thread.name.tid);
        match lend::restore(&thread, &own, &lent) {
            Ok(lend::Restored::Now) => sentences.push(format!("{named} has {own} again")),
            Ok(_) => {}
            Err(error) => {
                is_whole = false;
                sentences.push(format!("{named} keeps {lent} instead of {own}: {error}"));
            }
        }
    }
    if is_whole {
        remove(path);
    }
    sentences
}

impl From<&SchedParams> for SavedParams {
    fn from(params: &SchedParams) -> SavedParams {
        SavedParams {
            policy: params.policy.raw(),
            priority: params.priority,
            nice: params.nice,
            reset_on_fork: params.reset_on_fork,
            slice: params.slice,
            deadline: params.deadline.map(|own| [own.runtime, own.deadline, own.period]),
        }
    }
}

impl SavedParams {
    fn params(&self) -> Option<SchedParams> {
        Some(SchedParams {
            policy: Policy::from_raw(self.policy)?,
            priority: self.priority,
            nice: self.nice,
            reset_on_fork: self.reset_on_fork,
            slice: self.slice,
            deadline: self.deadline.map(|[runtime, deadline, period]| DeadlineParams {
                runtime,
                deadline,
                period,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::look;
    use super::*;
    use std::collections::BTreeSet;

    /// A thread of its own, which looks at itself.
    fn in_a_thread(test: impl FnOnce(WatchedThread) + Send + 'static) {
        let run = || {
            let own = whylate_sys::gettid();
            let look = look::Look::take(&BTreeSet::new());
            let looked = look.threads.into_iter().find(|looked| looked.thread.name.tid == own);
            test(looked.expect("it runs").thread);
        };
        std::thread::spawn(run).join().expect("thread");
    }

    fn policy() -> Policy {
        whylate_sys::getattr(Tid(0)).expect("own policy").policy
    }

    #[test]
    fn what_was_lent_is_restored_from_the_journal() {
        in_a_thread(|thread| {
            let directory = tempfile::tempdir().expect("a directory");
            let mut journal = GuardJournal::create(directory.path()).expect("a journal");
            let second = GuardJournal::create(directory.path()).expect_err("one guard runs already");
            assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
            let own = whylate_sys::getattr(Tid(0)).expect("own policy");
            // Needs no right, as SCHED_DEADLINE would.
            let lent = SchedParams { policy: Policy::Batch, reset_on_fork: false, ..own };
            journal.add(&thread, &own, &lent).expect("written");
            whylate_sys::setattr(Tid(0), &lent).expect("lent");
            let path = journal.path().to_owned();
            assert_eq!(recover_file(&path).len(), 1);
            assert_eq!((policy(), path.exists()), (Policy::Other, false));
            // What was not lent, or changed meanwhile, stays as it is.
            journal.write().expect("written");
            assert_eq!(recover_file(&path), [] as [String; 0]);
            journal.write().expect("written");
            whylate_sys::setattr(Tid(0), &SchedParams { policy: Policy::Idle, ..SchedParams::OTHER })
                .expect("set");
            assert_eq!(recover_file(&path), [] as [String; 0]);
            assert_eq!(policy(), Policy::Idle);
            journal.remove(&thread).expect("written");
            journal.close();
            assert!(!path.exists());
        });
    }

    #[test]
    fn every_policy_is_kept_exactly() {
        let deadline = DeadlineParams { runtime: Ns(1), deadline: Ns(2), period: Ns(3) };
        let nice = SchedParams { nice: -7, reset_on_fork: true, slice: Some(Ns(500)), ..SchedParams::OTHER };
        for params in [SchedParams::fifo(7), SchedParams::deadline(deadline), nice] {
            assert_eq!(SavedParams::from(&params).params(), Some(params));
        }
    }

    #[test]
    fn a_damaged_journal_restores_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("1-1.jsonl");
        fs::write(&path, "{\"pid\":1,\"tid").expect("written");
        assert_eq!(recover_file(&path), [] as [String; 0]);
        assert!(!path.exists());
    }
}
