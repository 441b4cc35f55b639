//! A wake-up's trace that is cut off behind its first lines: which thread had the CPU at the wake-up, and where it was.
//!
//! ```text
//!    X-2193      6dNh4.    0us+:     2193:120:R   + [006]    4301:  0:R cyclictest
//!    X-2193      6dNh4.   23us : <stack trace>
//! ```
//!
//! That thread may have run on to the end of the latency, or others behind it: no line shows that, so it is no more than likely.

use super::actors;
use super::interrupted::{Interrupted, interrupted};
use super::lines::{Line, Lines};
use crate::causes::Cause;
use crate::charge::attribution::Charge;
use crate::model::{Activation, Culprit};
use crate::timeline::Timeline;
use whylate_base::{Confidence, Evidence, Ns, Priority, Tid};
use whylate_events::{ContextFlags, LatencyTrace};

/// All lines are in this part of the latency.
const FIRST: i64 = 10;
/// Functions that are shown.
const FRAMES: usize = 8;

/// The one thread of a wake-up's lines, none of which is later than a tenth of the latency.
fn only_thread(window: &[Line], due: Ns, latency: Ns) -> Option<Tid> {
    let last = window.last()?;
    let is_one = window.iter().all(|line| line.tid == last.tid);
    (is_one && !last.tid.is_idle() && (last.at - due).0.saturating_mul(FIRST) <= latency.0)
        .then_some(last.tid)
}

/// The charge for what follows the last line.
pub(super) fn charge(
    timeline: &Timeline,
    window: &[Line],
    (due, latency): (Ns, Ns),
    (late, waiter): (Tid, Priority),
) -> Option<Charge> {
    let tid = only_thread(window, due, latency).filter(|&tid| tid != late)?;
    let by = actors::task(timeline, due, tid, "");
    let Culprit::Task { priority, .. } = by else { return None };
    // The scheduler asks a thread to give way that comes later, as soon as the other one is woken.
    let is_asked = window.iter().any(|line| line.flags.contains(ContextFlags::NEED_RESCHED));
    let cause = match (priority, is_asked) {
        (Priority::UNKNOWN, true) => Cause::PreemptionDisabled,
        (Priority::UNKNOWN, false) => Cause::OtherTask,
        _ => actors::in_front(by, true, waiter).cause,
    };
    Some(Charge::to(cause, Some(by), Confidence::Low))
}

/// States in the verdict that this is no more than what the first lines show.
pub(super) fn describe(trace: &LatencyTrace, lines: &Lines, activation: &mut Activation) {
    let (due, end) = (activation.due, activation.running.unwrap_or(activation.end));
    let window = lines.between(due, end);
    let Some(tid) = only_thread(window, due, trace.latency) else { return };
    let verdict = &mut activation.verdict;
    let Some(by @ Culprit::Task { tid: culprit, .. }) = verdict.by else { return };
    if culprit != tid || verdict.confidence > Confidence::Low {
        return;
    }
    let stack = lines.stack_since(due);
    let (place, function) = match interrupted(&stack) {
        Some(Interrupted::Kernel { function, .. }) => (format!(", in {function}"), Some(function)),
        Some(Interrupted::User) => (", in user code".to_owned(), None),
        Some(Interrupted::Idle { .. }) | None => (String::new(), None),
    };
    verdict.why = format!(
        "at the wake-up {by} had CPU {}{place}; what followed was cut: it may have run on for {}",
        activation.cpu, verdict.charged
    );
    for seen in &mut verdict.evidence {
        seen.what = seen.what.replace(" had the CPU for ", " may have had the CPU for ");
    }
    let below = function.and_then(|function| stack.iter().position(|name| *name == function));
    let shown: Vec<&str> =
        stack.iter().skip(below.unwrap_or_default()).take(FRAMES).map(String::as_str).collect();
    if !shown.is_empty() {
        let what = format!("the stack at the wake-up: {}", shown.join(" <- "));
        verdict.evidence.push(Evidence::at(due, activation.cpu, what));
    }
}
