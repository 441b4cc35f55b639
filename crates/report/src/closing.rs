//! The closing line of a report: that there is no finding, and what that does not mean.

use crate::words;
use whylate_base::{Confidence, Ns, Severity};
use whylate_ledger::{Activation, Candidate, Cause, Explanation, Trigger, Verdict};

/// Less made no period late, however little is usual.
const LONG: Ns = Ns::from_ms(1);
/// So many times the usual response is far beyond it.
const MULTIPLE: i64 = 2;
/// So many activations show what is usual.
const MANY: u64 = 20;

/// The finding that the trace's clock counts ticks alone.
const COARSE_CLOCK: &str = "coarse-clock";

/// What is left to say behind the findings: that there is none, and which thread beside those explained may be the late one.
pub(crate) fn closing(explanation: &Explanation) -> Option<String> {
    let findings = &explanation.findings;
    // What the clock cannot show explains no thread.
    let is_none = findings.iter().all(|finding| finding.code == COARSE_CLOCK);
    let none = is_none.then(|| no_finding(explanation)).flatten();
    // Beside a warning it is a matter of course that others wait.
    let is_harmless = findings.iter().all(|finding| finding.severity == Severity::Info);
    let is_shown = is_harmless && !(findings.is_empty() && explanation.tasks.is_empty());
    let beside = explanation.waits_beside.as_ref().filter(|_| is_shown).map(waits_beside);
    let parts: Vec<String> = none.into_iter().chain(beside).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The sentence where there is no finding; `None` where no activation was seen either.
fn no_finding(explanation: &Explanation) -> Option<String> {
    let tasks = &explanation.tasks;
    let activations: u64 = tasks.iter().map(|task| task.activations).sum();
    let latest = tasks.iter().filter_map(|task| task.latency).map(|latency| latency.max).max();
    let longest = tasks.iter().filter_map(|task| task.response).map(|response| response.max).max();
    let blind = explanation.trace.lost_events > 0 || !explanation.trace.damage.is_empty();
    let limit = if blind { ", as far as the trace could be read" } else { "" };
    let count = words::plural(activations, "activation");
    let in_doubt = worst_in_doubt(explanation);
    let worst = worst_beyond_usual(explanation).filter(|_| in_doubt.is_none());
    // The longest is named where it stands out.
    let adds_longest =
        |longest: Ns| !is_marked(explanation) && worst.is_none_or(|worst| worst.response() < longest);
    // The cause of what is named elsewhere in the line is named there.
    let why = |latest: Ns| match (in_doubt, worst) {
        (Some(_), _) => String::new(),
        (None, Some(worst)) if worst.latency() == Some(latest) => String::new(),
        _ => because(explanation, |activation| activation.latency() == Some(latest)),
    };
    // Between markers, no thread is seen to start. No finding beside a late start is no good news, so that the start is named.
    let most = match (latest, longest) {
        // Good news of the starts is none of the whole.
        (Some(latest), Some(longest)) if longest >= latest + latest && adds_longest(longest) => {
            let took = match (in_doubt, worst) {
                (None, None) => because(explanation, |activation| {
                    activation.response() == longest && activation.latency() != Some(latest)
                }),
                _ => String::new(),
            };
            let why = why(latest);
            format!(
                "the latest start came {latest} after it was due{why}, and the longest took {longest}{took}"
            )
        }
        (Some(latest), _) => format!("the latest start came {latest} after it was due{}", why(latest)),
        (None, Some(Ns::ZERO)) if longest_in_part(explanation, Ns::ZERO).is_none() => {
            "none of which the recording has whole".to_owned()
        }
        (None, Some(longest)) if !is_marked(explanation) => {
            let longest = longest_in_part(explanation, longest).map_or_else(|| longest.to_string(), at_least);
            format!("the longest took {longest}; how late they started, the recording does not show")
        }
        (None, Some(longest)) => format!("the longest took {longest} from marker to marker"),
        (None, None) => return None,
    };
    Some(match in_doubt {
        None if !explanation.findings.is_empty() => return None,
        None if let Some(worst) = worst => {
            // That no other thread is at fault, it does not show: one may have kept a device busy, or a packet back.
            let nothing = match worst.verdict.by {
                None => "No finding names another thread",
                Some(_) => "No finding beyond the worst activations",
            };
            let second = second_beyond_usual(explanation, worst).map_or_else(String::new, |second| {
                format!(", and up to {} ({})", second.response(), words::because(&second.verdict))
            });
            format!("{nothing}{limit}: {}{second}; in {count}, {most}.", beyond_usual(explanation, worst))
        }
        None => format!("No finding{limit}: in {count}, {most}."),
        Some(worst) => format!(
            "Cannot tell why {} {}: {}. No finding has enough evidence{limit}; in {count}, {most}.",
            words::thread(&worst.comm, worst.tid),
            words::lateness(worst),
            match worst.verdict.cause {
                Cause::Unexplained => "the time is unexplained".to_owned(),
                Cause::TraceLoss => "events of that time were lost".to_owned(),
                cause => format!("the trace suggests {cause}, with low confidence"),
            },
        ),
    })
}

/// The thread that waited longest of those that are not explained.
fn waits_beside(candidate: &Candidate) -> String {
    let wait = candidate.wait.unwrap_or(Ns::ZERO);
    let name = words::clean(candidate.comm.as_str());
    format!(
        "Not explained: {name}:{} waited {wait} for a CPU; --task {} explains it.",
        candidate.tid, candidate.tid
    )
}

/// The longest of which the recording has a part only, where that part is longer than `whole`.
fn longest_in_part(explanation: &Explanation, whole: Ns) -> Option<Ns> {
    let in_part = |activation: &&Activation| !activation.is_whole() && !activation.is_start_or_end();
    let parts = explanation.activations.iter().filter(in_part).map(Activation::response);
    parts.max().filter(|&part| part > whole)
}

fn at_least(longest: Ns) -> String {
    format!("at least {longest}")
}

/// ` (fair-queue, app:7)`: the cause of an activation, where that is no work of the thread itself.
fn because(explanation: &Explanation, is_it: impl Fn(&Activation) -> bool) -> String {
    let is_named = |activation: &&Activation| {
        is_it(activation)
            && activation.verdict.cause != Cause::OwnWork
            && activation.verdict.confidence > Confidence::Low
    };
    let one = explanation.activations.iter().find(is_named);
    one.map(|activation| format!(" ({})", words::because(&activation.verdict))).unwrap_or_default()
}

fn is_marked(explanation: &Explanation) -> bool {
    explanation.activations.iter().any(|activation| activation.trigger == Trigger::Marker)
}

/// The activation that was latest, or took longest, if its verdict is not certain: it must not pass for one that was in
/// time.
fn worst_in_doubt(explanation: &Explanation) -> Option<&Activation> {
    let activations = || explanation.activations.iter().filter(|activation| !activation.is_start_or_end());
    let latest = activations().max_by_key(|activation| activation.latency());
    let longest = activations().max_by_key(|activation| activation.response());
    let in_doubt = |activation: &&Activation| {
        let verdict = &activation.verdict;
        matches!(verdict.cause, Cause::Unexplained | Cause::TraceLoss)
            || (verdict.cause != Cause::OwnWork && verdict.confidence == Confidence::Low)
    };
    latest.into_iter().chain(longest).find(|one| in_doubt(one) && !is_about_usual(explanation, one))
}

/// True of an activation of less than [`LONG`] that came about as soon and took about as long as those of its thread do: it was not late.
fn is_about_usual(explanation: &Explanation, one: &Activation) -> bool {
    let task = explanation.tasks.iter().find(|task| task.tid == one.tid);
    let Some(task) = task.filter(|task| task.activations >= MANY && one.response() < LONG) else {
        return false;
    };
    let is_usual =
        |time: Ns, usual: Option<Ns>| usual.is_some_and(|usual| time.0 < usual.0.saturating_mul(MULTIPLE));
    is_usual(one.response(), task.response.map(|response| response.p50))
        && one.latency().is_none_or(|latency| is_usual(latency, task.latency.map(|latency| latency.p50)))
}

/// The activation that took longest, where that is a multiple of what is usual for its thread, and most of what goes beyond it has one
/// cause. No finding sums such a cause up, such as a sleep in the kernel: the last line must not read as if all had been in time.
fn worst_beyond_usual(explanation: &Explanation) -> Option<&Activation> {
    let periods = explanation.activations.iter().filter(|activation| !activation.is_start_or_end());
    let longest = periods.max_by_key(|activation| activation.response())?;
    let Verdict { charged, ref fix, .. } = longest.verdict;
    let (response, usual) = (longest.response(), usual_response(explanation, longest)?);
    let is_most = charged.0.saturating_mul(2) >= response.since(usual).0;
    // Nothing is advised about what was in time.
    let is_late = !fix.is_empty() && charged >= LONG && is_most;
    (is_late && usual.0.saturating_mul(MULTIPLE) <= response.0).then_some(longest)
}

/// The longest activation of the same thread with another cause, where it is a multiple of what is usual as well: of two faults, the
/// worst one is not all.
fn second_beyond_usual<'a>(explanation: &'a Explanation, worst: &Activation) -> Option<&'a Activation> {
    let usual = usual_response(explanation, worst)?;
    let is_second = |one: &&Activation| {
        let verdict = &one.verdict;
        let is_late = !verdict.fix.is_empty() && verdict.charged >= LONG;
        let is_most = verdict.charged.0.saturating_mul(2) >= one.response().since(usual).0;
        one.tid == worst.tid
            && !one.is_start_or_end()
            && verdict.cause != worst.verdict.cause
            && verdict.confidence > Confidence::Low
            && (verdict.by.is_none() || worst.verdict.by.is_some())
            && is_late
            && is_most
            && usual.0.saturating_mul(MULTIPLE) <= one.response().0
    };
    explanation.activations.iter().filter(is_second).max_by_key(|one| one.response())
}

/// The median of the responses of that thread.
fn usual_response(explanation: &Explanation, of: &Activation) -> Option<Ns> {
    let task = explanation.tasks.iter().find(|task| task.tid == of.tid)?;
    Some(task.response?.p50)
}

/// `control:165 took up to 509.9 ms (kernel-sleep), where 0.4 ms is usual`
fn beyond_usual(explanation: &Explanation, worst: &Activation) -> String {
    let usual = usual_response(explanation, worst).unwrap_or(Ns::ZERO);
    format!(
        "{} took up to {} ({}), where {usual} is usual",
        words::thread(&worst.comm, worst.tid),
        worst.response(),
        words::because(&worst.verdict)
    )
}
