//! Which activations are late: beyond the deadline, the thread's own period, or its history.

use super::counts::LatencyCounts;
use super::late::{LateLimit, LimitKind};
use super::options::WatchRule;
use super::period::PeriodTracker;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use whylate_base::{Comm, Ns, Tid};
use whylate_ledger::{EndedTimes, LateJudge};

/// Names that have distributions of their own; more are counted together.
const MOST_NAMES: usize = 64;
/// What the others are counted as.
const OTHERS: &str = "(others)";
/// Threads whose periods are followed; of more, those that have not been due for longest are forgotten.
const MOST_THREADS: usize = 1_024;
/// Fewer responses are no history.
const HISTORY: u64 = 1_000;
/// A limit of the history is looked up anew after so many responses.
const LOOK_EVERY: u64 = 256;
/// A response is beyond the history where it is so many times its 99th percentile, and so much more.
const TIMES: i64 = 4;
const MORE: Ns = Ns::from_us(100);

/// What is counted of the threads of one name, over all restarts.
#[derive(Clone, Debug, Default)]
pub(super) struct NameHistory {
    pub(super) activations: u64,
    pub(super) late: u64,
    pub(super) latency: LatencyCounts,
    pub(super) response: LatencyCounts,
    /// What its last activation was judged by.
    pub(super) limit: Option<LateLimit>,
    /// The limit of the history, and at how many responses it was looked up.
    beyond: Option<(Ns, u64)>,
}

/// Judges the activations of watched threads, and counts them. Its memory is bounded.
pub struct LateThreshold {
    rules: Vec<WatchRule>,
    state: RefCell<State>,
    /// Late activations are counted only: the bound on CPU time leaves no room to explain them.
    only_counts: Cell<bool>,
    counted_only: Cell<u64>,
}

#[derive(Default)]
struct State {
    names: HashMap<Comm, NameHistory>,
    threads: HashMap<Tid, ThreadState>,
    /// The limits of late activations, until they are taken.
    limits: Vec<(Tid, Ns, LateLimit)>,
}

struct ThreadState {
    period: PeriodTracker,
    last_due: Ns,
}

impl LateThreshold {
    /// Of these rules, without history.
    pub fn new(rules: Vec<WatchRule>) -> LateThreshold {
        LateThreshold {
            rules,
            state: RefCell::default(),
            only_counts: Cell::new(false),
            counted_only: Cell::new(0),
        }
    }

    /// The same history, judged by other rules.
    pub(super) fn with_rules(self, rules: Vec<WatchRule>) -> LateThreshold {
        LateThreshold { rules, ..self }
    }

    /// Whether there is room to explain late activations from here on.
    pub(super) fn explain(&self, has_room: bool) {
        self.only_counts.set(!has_room);
    }

    /// Late activations that were counted only.
    pub(super) fn counted_only(&self) -> u64 {
        self.counted_only.get()
    }

    pub(super) fn rules(&self) -> &[WatchRule] {
        &self.rules
    }

    /// The limit that a late activation exceeded; it is forgotten then.
    pub fn take_limit(&self, tid: Tid, due: Ns) -> Option<LateLimit> {
        let limits = &mut self.state.borrow_mut().limits;
        let at = limits.iter().position(|&(thread, at, _)| (thread, at) == (tid, due))?;
        Some(limits.swap_remove(at).2)
    }

    /// The threads that were due last, the latest first.
    pub(super) fn threads(&self) -> Vec<Tid> {
        let state = self.state.borrow();
        let mut all: Vec<(Ns, Tid)> =
            state.threads.iter().map(|(&tid, thread)| (thread.last_due, tid)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().map(|(_, tid)| tid).collect()
    }

    /// What is counted so far, by name.
    pub(super) fn histories(&self) -> Vec<(Comm, NameHistory)> {
        self.state.borrow().names.iter().map(|(name, history)| (*name, history.clone())).collect()
    }

    /// How many activations were seen, and how many were late.
    pub fn totals(&self) -> (u64, u64) {
        let state = self.state.borrow();
        state.names.values().fold((0, 0), |(all, late), name| (all + name.activations, late + name.late))
    }

    /// The period of a thread, where it has one.
    pub(super) fn period_of(&self, tid: Tid) -> Option<Ns> {
        self.state.borrow().threads.get(&tid)?.period.period()
    }
}

impl LateJudge for LateThreshold {
    fn is_late(&self, ended: &EndedTimes) -> bool {
        let Some(rule) = self.rules.iter().find(|rule| rule.fits(ended.tid, ended.comm.as_str())) else {
            return false;
        };
        // A probe of a library's function sees the watch, too.
        let is_own = ended.tid.0.unsigned_abs() == std::process::id();
        if !ended.is_period || is_own {
            return false;
        }
        let state = &mut *self.state.borrow_mut();
        let period = state.period(ended);
        let history = state.history(ended.comm);
        let response = ended.response();
        let limit = match (rule.deadline, period) {
            (Some(limit), _) => Some(LateLimit { limit, kind: LimitKind::Deadline }),
            (None, Some(limit)) => Some(LateLimit { limit, kind: LimitKind::Period }),
            (None, None) => history.limit().map(|limit| LateLimit { limit, kind: LimitKind::History }),
        };
        history.limit = limit;
        history.activations += 1;
        if let Some(latency) = ended.latency() {
            history.latency.record(latency);
        }
        if ended.is_whole {
            history.response.record(response);
        }
        let Some(limit) = limit.filter(|limit| response > limit.limit) else { return false };
        history.late += 1;
        if self.only_counts.get() {
            self.counted_only.set(self.counted_only.get() + 1);
            return false;
        }
        state.limits.push((ended.tid, ended.due, limit));
        true
    }

    fn deadline(&self, tid: Tid, due: Ns) -> Option<Ns> {
        let state = self.state.borrow();
        let (_, _, limit) = state.limits.iter().find(|limit| (limit.0, limit.1) == (tid, due))?;
        (limit.kind == LimitKind::Deadline).then_some(limit.limit)
    }
}

impl State {
    /// Takes in when a thread was due; its period, where it has one.
    fn period(&mut self, ended: &EndedTimes) -> Option<Ns> {
        if self.threads.len() >= MOST_THREADS && !self.threads.contains_key(&ended.tid) {
            self.forget_threads();
        }
        let new = || ThreadState { period: PeriodTracker::default(), last_due: ended.due };
        let thread = self.threads.entry(ended.tid).or_insert_with(new);
        thread.last_due = ended.due;
        if ended.may_be_periodic {
            thread.period.due(ended.due);
        }
        thread.period.period()
    }

    fn forget_threads(&mut self) {
        let mut dues: Vec<Ns> = self.threads.values().map(|thread| thread.last_due).collect();
        let middle = dues.len() / 2;
        let until = *dues.select_nth_unstable(middle).1;
        self.threads.retain(|_, thread| thread.last_due > until);
    }

    fn history(&mut self, comm: Comm) -> &mut NameHistory {
        let is_full = self.names.len() >= MOST_NAMES && !self.names.contains_key(&comm);
        self.names.entry(if is_full { Comm::from(OTHERS) } else { comm }).or_default()
    }
}

impl NameHistory {
    /// A longer response is beyond this history; `None`: it is too short.
    fn limit(&mut self) -> Option<Ns> {
        let count = self.response.count();
        if count < HISTORY {
            return None;
        }
        match self.beyond {
            Some((limit, at)) if count - at < LOOK_EVERY => Some(limit),
            _ => {
                let usual = self.response.percentile(0.99)?;
                let limit = Ns(usual.0.saturating_mul(TIMES)).max(usual + MORE);
                self.beyond = Some((limit, count));
                Some(limit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_ledger::Select;

    fn ended(tid: i32, due: i64, response: i64, may_be_periodic: bool) -> EndedTimes {
        EndedTimes {
            tid: Tid(tid),
            comm: Comm::from("ctl"),
            due: Ns(due),
            running: Some(Ns(due + 5_000)),
            end: Ns(due + response),
            is_whole: true,
            is_period: true,
            may_be_periodic,
        }
    }

    fn threshold(deadline: Option<Ns>) -> LateThreshold {
        LateThreshold::new(vec![WatchRule { threads: Some(Select::Pattern("c*".to_owned())), deadline }])
    }

    #[test]
    fn a_deadline_is_a_deadline() {
        let threshold = threshold(Some(Ns::from_us(500)));
        assert!(!threshold.is_late(&ended(1, 0, 500_000, true)));
        assert!(threshold.is_late(&ended(1, 1_000_000, 500_001, true)));
        let limit = threshold.take_limit(Tid(1), Ns(1_000_000)).expect("late");
        assert_eq!((limit.limit, limit.kind), (Ns::from_us(500), LimitKind::Deadline));
        assert_eq!(threshold.take_limit(Tid(1), Ns(1_000_000)), None);
        assert!(!threshold.is_late(&EndedTimes { comm: Comm::from("x"), ..ended(2, 0, 9_000_000, true) }));
        assert!(!threshold.is_late(&EndedTimes { is_period: false, ..ended(1, 0, 9_000_000, true) }));
        assert_eq!(threshold.totals(), (2, 1));
    }

    #[test]
    fn without_one_a_period_is_what_is_missed() {
        let threshold = threshold(None);
        for n in 0..50 {
            assert!(!threshold.is_late(&ended(1, n * 1_000_000, 100_000, true)));
        }
        assert!(threshold.is_late(&ended(1, 50_000_000, 1_100_000, true)));
        let limit = threshold.take_limit(Tid(1), Ns(50_000_000)).expect("late");
        assert_eq!((limit.limit, limit.kind), (Ns::from_ms(1), LimitKind::Period));
    }

    #[test]
    fn without_a_period_it_is_the_history() {
        let threshold = threshold(None);
        let due = |n: i64| n * 1_000_000 + n % 13 * 70_000;
        for n in 0..1_500 {
            assert!(!threshold.is_late(&ended(1, due(n), 100_000 + n % 5 * 1_000, false)), "{n}");
        }
        assert!(!threshold.is_late(&ended(1, due(1_500), 300_000, false)));
        assert!(threshold.is_late(&ended(1, due(1_501), 900_000, false)));
        let limit = threshold.take_limit(Tid(1), Ns(due(1_501))).expect("late");
        assert_eq!(limit.kind, LimitKind::History);
    }

    #[test]
    fn memory_is_bounded() {
        let threshold = threshold(Some(Ns::from_secs(1)));
        // No process has such a number (PID_MAX_LIMIT in the kernel's include/linux/threads.h): this one's would not count.
        let first = 1 << 22;
        for n in 0..5_000 {
            let name = format!("c{}", n % 300);
            threshold.is_late(&EndedTimes {
                comm: Comm::from(name.as_str()),
                ..ended(first + n, i64::from(n), 1_000, true)
            });
        }
        assert!(threshold.histories().len() <= MOST_NAMES + 1);
        assert!(threshold.threads().len() <= MOST_THREADS);
        assert_eq!(threshold.totals(), (5_000, 0));
    }
}
