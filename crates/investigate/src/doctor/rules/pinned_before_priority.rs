//! Threads that pin themselves before they raise their priority.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Ns, Severity};

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "pinned-before-priority",
    page: page!("pinned-before-priority"),
    needs: Needs::Calls,
    find,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let pinned = observation
        .realtime_threads()
        .filter(|thread| thread.refused().is_none())
        .filter_map(|thread| Some((thread, pinned(observation, thread)?)));
    pinned
        .map(|(thread, call)| {
            let title = format!("{} pins itself before it raises its priority", thread.name());
            DoctorFinding::new(RULE.code, Severity::Warning, title)
                .of(thread)
                .at(observation.location(call.stack))
                .times(1, call.duration())
                .because(WHY)
                .fix(&["raise the priority first (sched_setscheduler, pthread_setschedparam), then pin (sched_setaffinity)"])
        })
        .collect()
}

/// The call by which a thread pinned itself, as SCHED_OTHER, before it asked for its own priority.
fn pinned<'a>(observation: &'a Observation, thread: &ThreadFacts) -> Option<&'a Call> {
    let asked =
        thread.requests.iter().filter(|request| request.by == thread.tid && request.is_for_realtime());
    let asked =
        asked.filter_map(|request| observation.calls.get(request.call)).map(|call| call.start).min()?;
    // A thread that inherited a real-time priority is not held up by pinning itself.
    let was_realtime = |at: Ns| thread.realtime_since.is_some_and(|since| since < at);
    let pins = thread.pinned.iter().filter_map(|&index| observation.calls.get(index));
    pins.into_iter().find(|call| call.start < asked && !was_realtime(call.start))
}

const WHY: &str = "between the two calls the thread is bound to that CPU with no priority: where a real-time thread keeps the CPU \
     busy, it never gets there to raise its own";
