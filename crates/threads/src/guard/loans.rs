//! The threads that have a lent policy now.

use super::event::{BoostEnd, StarvingThread, ThreadEvent, ThreadEventKind};
use super::journal::GuardJournal;
use super::lend::{self, Restored};
use super::look::{self, ThreadKey};
use super::options::BoostOptions;
use std::time::Duration;
use whylate_base::{Cpu, Ns, Policy};
use whylate_sys::{Clock, SchedParams, SysError, now};

/// How often a boosted thread is looked at; more rarely where there are many.
const PACE: Duration = Duration::from_millis(20);
/// For each boosted thread: a look at one takes 20 us.
const PACE_EACH: Duration = Duration::from_millis(2);

/// After a slice in which the thread did not run: the fair server or another reservation had the CPU (Linux 6.12 and later).
const RETRY: Ns = Ns(50_000_000);

/// The threads that have a lent policy now, and the journal of them.
#[derive(Debug)]
pub(super) struct Loans {
    boost: BoostOptions,
    journal: GuardJournal,
    loans: Vec<Loan>,
}

#[derive(Debug)]
struct Loan {
    starving: StarvingThread,
    own: SchedParams,
    lent: SchedParams,
    /// SCHED_FIFO is lent in slices; `None`: the kernel bounds it.
    next_slice: Option<Ns>,
    at: Ns,
    ran_before: Ns,
}

impl Loans {
    pub(super) fn new(boost: BoostOptions, journal: GuardJournal) -> Loans {
        Loans { boost, journal, loans: Vec::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.loans.len()
    }

    pub(super) fn has(&self, key: ThreadKey) -> bool {
        self.loans.iter().any(|loan| loan.starving.thread.key() == key)
    }

    /// Whether one boost more on this CPU stays within the share of all.
    pub(super) fn has_room(&self, cpu: Cpu) -> bool {
        let there = self.loans.iter().filter(|loan| loan.starving.cpu == cpu).count();
        (there + 1) as f64 * self.boost.each() <= self.boost.share + f64::EPSILON
    }

    /// When it is to be called again, if nothing else happens; `None`: nothing is lent.
    pub(super) fn pace(&self) -> Option<Duration> {
        let count = u32::try_from(self.loans.len()).unwrap_or(u32::MAX);
        (count > 0).then(|| PACE.max(PACE_EACH.saturating_mul(count)))
    }

    /// Lends a thread a policy; `None`: it has ended meanwhile.
    pub(super) fn lend(&mut self, starving: StarvingThread) -> Option<ThreadEventKind> {
        match self.try_lend(starving) {
            Ok(kind) => kind,
            Err(reason) => Some(ThreadEventKind::Refused { reason }),
        }
    }

    fn try_lend(&mut self, starving: StarvingThread) -> Result<Option<ThreadEventKind>, String> {
        let says = |error: SysError| error.to_string();
        let Some(own) = lend::own(&starving.thread).map_err(says)? else { return Ok(None) };
        if own.policy == Policy::Deadline {
            return Err("it has SCHED_DEADLINE, before which nothing runs but other reservations".to_owned());
        }
        let deadline = lend::deadline(&self.boost);
        let (lent, instead) = match self.set(&starving, &own, &deadline) {
            Ok(true) => (deadline, None),
            Ok(false) => return Ok(None),
            Err(error) => {
                let fifo = lend::fifo(starving.by.as_ref())
                    .map_err(|reason| format!("SCHED_DEADLINE is refused ({error}), and {reason}"))?;
                (fifo, Some(error))
            }
        };
        let at = now(Clock::Monotonic);
        let next_slice = instead.is_some().then_some(at);
        if next_slice.is_some() {
            self.journal.add(&starving.thread, &own, &lent).map_err(|error| not_journaled(&error))?;
        }
        let ran_before = look::cpu_time(&starving.thread).unwrap_or_default();
        self.loans.push(Loan { starving, own, lent, next_slice, at, ran_before });
        let slices = next_slice.map(|_| self.boost.runtime);
        Ok(Some(ThreadEventKind::Boosted { lent, slices, longest: self.boost.longest, instead }))
    }

    /// Sets a policy, which is in the journal before. `Ok(false)`: the thread has ended.
    fn set(
        &mut self,
        starving: &StarvingThread,
        own: &SchedParams,
        lent: &SchedParams,
    ) -> Result<bool, String> {
        self.journal.add(&starving.thread, own, lent).map_err(|error| not_journaled(&error))?;
        let result = lend::set(&starving.thread, lent);
        if !matches!(result, Ok(true)) {
            // What stays in the journal is compared before it is restored.
            let _ = self.journal.remove(&starving.thread);
        }
        result.map_err(|error| error.to_string())
    }

    /// Restores the threads that sleep or have had their time; `all`: every one.
    pub(super) fn tend(&mut self, all: bool) -> Vec<ThreadEvent> {
        let mut events = Vec::new();
        for mut loan in std::mem::take(&mut self.loans) {
            let at = now(Clock::Monotonic);
            match ended(&loan, all, at, &self.boost) {
                Some(end) => {
                    let (kind, is_restored) = restored(&loan, at, end);
                    if is_restored {
                        let _ = self.journal.remove(&loan.starving.thread);
                    }
                    events.push(ThreadEvent { at, starving: loan.starving, kind });
                }
                None => {
                    if loan.next_slice.is_some_and(|next| at >= next) {
                        let until = if slice(&loan, &self.boost) { self.boost.period } else { RETRY };
                        loan.next_slice = Some(at + until);
                    }
                    self.loans.push(loan);
                }
            }
        }
        events
    }

    /// Restores every thread, and removes the journal.
    pub(super) fn close(mut self) -> Vec<ThreadEvent> {
        let events = self.tend(true);
        self.journal.close();
        events
    }
}

fn not_journaled(error: &std::io::Error) -> String {
    format!("what is to be restored cannot be written down in {}: {error}", super::journal::DIRECTORY)
}

/// Why a boost ends now; `None`: it goes on.
fn ended(loan: &Loan, all: bool, at: Ns, boost: &BoostOptions) -> Option<BoostEnd> {
    match look::state(&loan.starving.thread) {
        None => Some(BoostEnd::ThreadEnded),
        _ if all => Some(BoostEnd::GuardEnds),
        Some('R') => (at.since(loan.at) >= boost.longest).then_some(BoostEnd::TimeOver),
        Some(_) => Some(BoostEnd::Asleep),
    }
}

/// Gives the own policy back; `false`: that failed, so that it stays in the journal for the watchdog and the next guard.
fn restored(loan: &Loan, at: Ns, end: BoostEnd) -> (ThreadEventKind, bool) {
    let thread = &loan.starving.thread;
    let ran = look::cpu_time(thread).map(|ran| ran.since(loan.ran_before));
    let end = match lend::restore(thread, &loan.own, &loan.lent) {
        Ok(Restored::Now | Restored::Already) => end,
        Ok(Restored::ChangedMeanwhile) => BoostEnd::ChangedMeanwhile,
        Ok(Restored::Ended) => BoostEnd::ThreadEnded,
        Err(error) => BoostEnd::Failed(error.to_string()),
    };
    let is_restored = !matches!(end, BoostEnd::Failed(_));
    (ThreadEventKind::Restored { to: loan.own, after: at.since(loan.at), ran, end }, is_restored)
}

/// Lets a thread run for one slice at a SCHED_FIFO priority: this thread, which has a policy before it, ends it. Returns
/// whether it ran.
fn slice(loan: &Loan, boost: &BoostOptions) -> bool {
    let thread = &loan.starving.thread;
    let before = look::cpu_time(thread);
    if lend::set(thread, &loan.lent).is_ok_and(|is_there| is_there) {
        std::thread::sleep(Duration::from_nanos(boost.runtime.0.unsigned_abs()));
        // What fails here is tried again when the boost ends, and reported then.
        let _ = lend::restore(thread, &loan.own, &loan.lent);
    }
    look::cpu_time(thread) != before
}
