//! Priority inversions, as the ledger finds them.

use super::calls::SystemCall;
use super::facts::{Call, Inversion, Observation};
use super::futex_words::{FutexWord, words};
use whylate_base::{Ns, Tid};
use whylate_events::EventSource;
use whylate_ledger::{Cause, Culprit, Options, Select, explain};

/// The inversions in the worst activations of the program's real-time threads.
pub(super) fn find(source: impl EventSource, observation: &Observation) -> Vec<Inversion> {
    let tasks: Vec<Select> = observation.realtime_threads().map(|thread| Select::Tid(thread.tid)).collect();
    if tasks.is_empty() {
        return Vec::new();
    }
    let explanation = explain(source, &Options { tasks, ..Options::default() });
    let words = words(observation);
    let mut found = Vec::new();
    for activation in explanation.activations.iter().filter(|one| one.verdict.cause == Cause::LockInversion) {
        for (index, segment) in activation.ledger.iter().enumerate() {
            let (Cause::LockInversion, Some(middle)) = (segment.cause, segment.by) else { continue };
            // Without whylate beside it there would have been none.
            if tid(middle).is_some_and(|tid| observation.observers.contains(&tid)) {
                continue;
            }
            // A kernel lock has no line to mend, and what is before the periodic part is start-up.
            if !is_in_path(observation, activation.tid, segment.start)
                || !is_mutex(observation, &words, activation.tid, segment.start)
            {
                continue;
            }
            found.push(Inversion {
                tid: activation.tid,
                location: activation.place(index).cloned(),
                owner: segment.owner.and_then(tid),
                middle: middle.to_string(),
                lost: segment.length(),
            });
        }
    }
    found
}

fn is_in_path(observation: &Observation, tid: Tid, at: Ns) -> bool {
    let path = observation.threads.get(&tid).and_then(|thread| thread.path);
    path.is_some_and(|path| path.contains(at))
}

/// Whether the thread waited for a mutex at an instant. What the ledger takes for a lock by one call is none where all
/// calls at the same word show otherwise.
fn is_mutex(observation: &Observation, words: &[FutexWord<'_>], tid: Tid, at: Ns) -> bool {
    let is_open = |call: &&Call| call.tid == tid && call.start <= at && call.end.is_none_or(|end| end >= at);
    let call = observation.calls.iter().rev().find(is_open).filter(|call| call.call == SystemCall::Futex);
    let Some(call) = call else { return false };
    let word = words.iter().find(|word| word.uses.iter().any(|one| std::ptr::eq(one.call, call)));
    word.is_some_and(FutexWord::is_mutex)
}

fn tid(culprit: Culprit) -> Option<Tid> {
    match culprit {
        Culprit::Task { tid, .. } => Some(tid),
        _ => None,
    }
}
