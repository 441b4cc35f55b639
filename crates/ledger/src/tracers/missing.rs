//! What the recordings of other tracers lack, and what therefore cannot be determined.

use crate::model::{Explanation, Missing};
use crate::timeline::Timeline;
use whylate_events::Kind;

/// What is missing; `None` of a recording that no such tracer made.
///
/// `shows_within`: functions within a critical section were traced.
pub(super) fn missing(
    timeline: &Timeline,
    explanation: &Explanation,
    shows_within: bool,
) -> Option<Vec<Missing>> {
    let has = |kind: Kind| timeline.seen.contains(kind);
    let lacks = |kinds: &[(Kind, &'static str)]| {
        let lacking = kinds.iter().filter(|(kind, _)| !has(*kind));
        lacking.map(|&(kind, cannot_tell)| Missing::all_of(kind, cannot_tell)).collect()
    };
    let functions = has(Kind::Function) || has(Kind::FunctionGraph);
    match &explanation.trace.latency {
        Some(trace) if trace.tracer.is_wakeup() => {
            let mut missing: Vec<Missing> = lacks(&[(
                Kind::HrtimerExpire,
                "how late the timer's interrupt was, if one woke it: this tracer begins at the wake-up",
            )]);
            if !functions {
                missing
                    .push(Missing::all_of(Kind::Function, "which functions ran between wake-up and switch"));
            }
            Some(missing)
        }
        Some(_) if shows_within => Some(Vec::new()),
        Some(_) => {
            let cannot_tell = "which functions took the time of the critical section";
            Some(vec![Missing::all_of(Kind::Function, cannot_tell)])
        }
        None if has(Kind::Switch) => None,
        None if has(Kind::Timerlat) => Some(lacks(&[
            (Kind::Osnoise, "which interrupts and threads delayed the timer's thread"),
            (Kind::Stack, "where in the kernel the thread was that kept the CPU (osnoise/print_stack)"),
        ])),
        None if has(Kind::Osnoise) || has(Kind::Hwlat) || has(Kind::Preemptirq) => Some(Vec::new()),
        None if !explanation.trace.breakdowns.is_empty() => Some(Vec::new()),
        None if has(Kind::FunctionGraph) && explanation.concludes() => {
            Some(lacks(&[(Kind::Switch, "whether a thread was late because of a call")]))
        }
        // Its tracer printed nothing.
        None if explanation.trace.tracer.is_some() && explanation.trace.events == 0 => Some(Vec::new()),
        None => None,
    }
}
