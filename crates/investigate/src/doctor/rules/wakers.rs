//! Waits in the real-time path that another thread of the program ended, and the call with which it did.

use super::purpose::is_rwlock;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::{DoctorFinding, FoundThread};
use crate::doctor::futex::FutexCall;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Ns, Severity, Tid};

/// A wait that a thread ended.
#[derive(Clone, Copy)]
pub(super) struct Wait<'a> {
    /// The thread that waited, in its real-time path.
    pub(super) thread: &'a ThreadFacts,
    /// The call in which it slept.
    pub(super) call: &'a Call,
    /// The thread that woke it.
    pub(super) by: &'a ThreadFacts,
    /// The waker's call.
    pub(super) waker: &'a Call,
}

/// The calls of each thread, by their start.
pub(super) struct CallsByThread<'a>(HashMap<Tid, Vec<&'a Call>>);

impl<'a> CallsByThread<'a> {
    pub(super) fn new(observation: &'a Observation) -> CallsByThread<'a> {
        let mut calls: HashMap<Tid, Vec<&'a Call>> = HashMap::new();
        for call in &observation.calls {
            calls.entry(call.tid).or_default().push(call);
        }
        CallsByThread(calls)
    }

    /// The calls of a thread that started until an instant, and those after it.
    pub(super) fn around(&self, tid: Tid, at: Ns) -> (&[&'a Call], &[&'a Call]) {
        let calls = self.0.get(&tid).map(Vec::as_slice).unwrap_or_default();
        calls.split_at(calls.partition_point(|call| call.start <= at))
    }

    /// The call that a thread was in.
    fn at(&self, tid: Tid, at: Ns) -> Option<&'a Call> {
        let last = *self.around(tid, at).0.last()?;
        last.end.is_none_or(|end| end >= at).then_some(last)
    }
}

/// All such waits, but not those for locks: their owner has rules of its own.
pub(super) fn waits<'a>(observation: &'a Observation, calls: &CallsByThread<'a>) -> Vec<Wait<'a>> {
    let is_lock = |call: &Call| match call.call {
        SystemCall::Flock | SystemCall::Fcntl => true,
        _ => FutexCall::of(call).is_some_and(|futex| futex.is_lock()) || is_rwlock(observation, call),
    };
    let found = observation.path_calls().filter(|(_, call)| !is_lock(call));
    found.filter_map(|(thread, call)| wait(observation, calls, thread, call)).collect()
}

/// The wait of a thread in a call, where another thread of the program ended it.
pub(super) fn wait<'a>(
    observation: &'a Observation,
    calls: &CallsByThread<'a>,
    thread: &'a ThreadFacts,
    call: &'a Call,
) -> Option<Wait<'a>> {
    let (by, at) = call.woken_by.filter(|_| call.slept)?;
    let by = observation.threads.get(&by).filter(|by| by.tid != thread.tid)?;
    Some(Wait { thread, call, by, waker: calls.at(by.tid, at)? })
}

/// The waits of each pair of threads: the one that waited, and the one that woke it.
pub(super) fn by_pair(waits: Vec<Wait<'_>>) -> Vec<Vec<Wait<'_>>> {
    let mut pairs: BTreeMap<(Tid, Tid), Vec<Wait<'_>>> = BTreeMap::new();
    for wait in waits {
        pairs.entry((wait.thread.tid, wait.by.tid)).or_default().push(wait);
    }
    pairs.into_values().collect()
}

/// A finding about the waits of a pair, which are not empty: at the line of the longest, and at that of its waker.
pub(super) fn finding(
    observation: &Observation,
    code: &'static str,
    severity: Severity,
    does: &str,
    waits: &[Wait<'_>],
) -> Option<DoctorFinding> {
    let worst = waits.iter().max_by_key(|wait| wait.call.duration())?;
    let (thread, by) = (worst.thread, worst.by);
    let title =
        format!("{} {does} {}: {}", thread.ranked_name(), by.ranked_name(), super::lines::times(waits.len()));
    let line = |stack: fn(&Wait<'_>) -> Option<whylate_events::StackId>| {
        let worst_first = std::iter::once(worst).chain(waits);
        worst_first.filter_map(stack).find_map(|stack| observation.location(Some(stack)))
    };
    let mut finding = DoctorFinding::new(code, severity, title)
        .of(thread)
        .at(line(|wait| wait.call.stack))
        .times(waits.len(), worst.call.duration());
    finding.other = Some((FoundThread::from(by), line(|wait| wait.waker.stack)));
    Some(finding)
}

/// True where the thread had asked the other one for something, and waited for its answer: since its last sleep it woke the
/// other one, which then woke it.
pub(super) fn is_answer(wait: &Wait<'_>, calls: &CallsByThread<'_>) -> bool {
    let (before, _) = calls.around(wait.thread.tid, wait.call.start);
    let own_sleep = before.iter().rev().skip(1).find(|call| call.slept).and_then(|call| call.end);
    let (helper, _) = calls.around(wait.by.tid, wait.waker.start);
    let asked = helper.iter().rev().find(|call| call.slept && call.start < wait.waker.start);
    let asked_at = asked.and_then(|call| call.woken_by).filter(|(by, _)| *by == wait.thread.tid);
    asked_at.is_some_and(|(_, at)| own_sleep.is_none_or(|slept| at >= slept))
}
