//! The function in which the time of a function_graph trace went, where it shows nothing else.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::RECORD;
use crate::tracers::calls::{GaveWay, LongestCall, UnmatchedReturn};
use crate::tracers::console;
use whylate_base::{AdvisedFix, Evidence, Finding, Ns, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "longest-call", page: page!("longest-call") };

/// Why no plan has it.
const OF_CODE: &str = "the code of the kernel or of a driver is to be found and changed";
/// The same of what is printed.
const OF_CONSOLE: &str = "which messages are needed is for a person to decide";
/// A function that took a smaller share is not where the time went.
const MOST: f64 = 0.2;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    // A latency tracer's lines are explained as its section, and where threads are explained the calls are beside that.
    let shows_more = subject.trace.latency.is_some() || !subject.worst.is_empty();
    let Some(call) = subject.calls.longest().filter(|_| !shows_more && subject.options.tasks.is_empty())
    else {
        return Vec::new();
    };
    let (function, duration, cpu) = (call.function.as_str(), call.duration, call.cpu);
    let end = call.at + duration;
    // What was left out within may have taken the time.
    let is_whole = !subject.trace.left_out.iter().any(|left_out| left_out.at >= call.at && left_out.at < end);
    let longer = subject.calls.longer_return();
    let (title, within) = match call.most.filter(|_| is_whole) {
        // It calls none, or what it calls is not traced.
        Some((name, own, _)) if name == call.function && own == duration => (
            format!("{function} took {duration} on CPU {cpu}"),
            "the trace has no function that it called, so it is not known what took most of it".to_owned(),
        ),
        Some((name, own, calls)) => {
            let in_calls = if calls == 1 { "one call".to_owned() } else { format!("{calls} calls") };
            let title = match is_notable(own, duration) {
                true if name == call.function => {
                    format!("{function} took {own} of its {duration} itself, on CPU {cpu}")
                }
                true => format!("{name} took {own} of the {duration} of {function}, on CPU {cpu}"),
                false => {
                    format!("{function} took {duration} on CPU {cpu}; no single function took most of it")
                }
            };
            (title, format!("of all functions within, {name} took most by itself: {own} in {in_calls}"))
        }
        None if call.only_returns => (
            format!("{function} took {duration} on CPU {cpu}"),
            "the trace has returns alone, as where a threshold is set (tracing_thresh), and not what was called within"
                .to_owned(),
        ),
        None if call.was_away => (
            format!("{function} took {duration} on CPU {cpu}, and other threads ran there meanwhile"),
            match call.waited.filter(|&(waited, _)| waited != call.function) {
                Some((waited, took)) => format!(
                    "it waited in {waited}, which took {took} (it slept, or was preempted): what it did itself is not known"
                ),
                None => "it slept, or was preempted: what it did itself is not known".to_owned(),
            },
        ),
        None => (
            format!("{function} took {duration} on CPU {cpu}"),
            "lines within it are missing, so it is not known which function took most of it".to_owned(),
        ),
    };
    let moved = call.returned_on.map(|on| {
        format!(" on CPU {on}: its thread was moved there, and so was off the CPU meanwhile (it slept, or was preempted)")
    });
    let returned =
        format!("{function} was entered, and returned after {duration}{}", moved.unwrap_or_default());
    let mut evidence = vec![Evidence::at(call.at, cpu, returned)];
    evidence.extend(subject.calls.longer_away().map(|away| {
        let LongestCall { function, duration, .. } = away;
        let text = match away.waited {
            Some((waited, took)) if waited != *function => format!(
                "{function} took {duration}, and waited in {waited}, which took {took}: other threads had the CPU meanwhile, so it slept, or was preempted"
            ),
            Some(_) => format!(
                "{function} took {duration}, and waited: other threads had the CPU meanwhile, so it slept, or was preempted"
            ),
            None => format!(
                "{function} took {duration}, and other threads ran meanwhile: it slept, or was preempted"
            ),
        };
        Evidence::at(away.at, away.cpu, text)
    }));
    evidence.extend(longer.map(|longer| {
        Evidence::general(match longer {
            UnmatchedReturn { function, duration, .. } if function.is_empty() => format!(
                "another call returned after {duration}: the lines that lead to it are missing, so it is not known which it was"
            ),
            UnmatchedReturn { function, duration, .. } => format!(
                "{function} returned after {duration}; the line of its entry is missing, so it is not known what took most of it"
            ),
        })
    }));
    let away = subject.calls.longer_return_away();
    evidence.extend(away.and_then(gave_way));
    let slept = away
        .filter(|away| longer.is_none_or(|longer| away.duration > longer.duration))
        .and_then(|away| Some((away, away.gave_way?.chosen()?)));
    vec![Finding {
        code: INFO.code,
        severity: Severity::Info,
        title: match longer {
            _ if let Some((UnmatchedReturn { function, duration, gave_way }, (by, delay))) = slept => {
                let function = if function.is_empty() { "a call" } else { function.as_str() };
                let took = gave_way.map_or(duration, |gave_way| gave_way.took);
                format!(
                    "{function} took {duration}, of which {by} slept {took} ({delay}); its entry is missing"
                )
            }
            Some(UnmatchedReturn { ref function, duration, .. }) => {
                let function = if function.is_empty() { "a call" } else { function.as_str() };
                format!("{function} took {duration}, and its entry is missing; of the whole calls {title}")
            }
            None => title,
        },
        why: match call.only_returns {
            _ if longer.is_some() || slept.is_some() => {
                format!(
                    "{function} is the longest call of those that the trace has from entry to return; {within}"
                )
            }
            true => format!("{function} is the longest call of those whose return the trace has; {within}"),
            false => {
                format!("{function} is the longest call that the trace has from entry to return; {within}")
            }
        },
        evidence,
        fix: match slept {
            Some((_, (by, delay))) => {
                let chosen = format!(
                    "see why {by} sleeps: {delay} takes as long as its caller asks for, so its code chose that time"
                );
                [vec![AdvisedFix::by_hand(chosen, OF_CODE)], fix(call)].concat()
            }
            None => fix(call),
        },
    }]
}

fn fix(call: &LongestCall) -> Vec<AdvisedFix> {
    let most = call.most.filter(|&(_, own, _)| is_notable(own, call.duration));
    let spent = most.map_or(call.function, |(name, _, _)| name);
    let printing = console::prints(spent.as_str());
    let of_console = if printing { console::advice::<&str>(&[]) } else { Vec::new() };
    let mut fix: Vec<AdvisedFix> =
        of_console.into_iter().map(|text| AdvisedFix::by_hand(text, OF_CONSOLE)).collect();
    fix.push(AdvisedFix::by_hand(
        "record the scheduler's events as well, which show whether a thread was late because of it: whylate record",
        RECORD,
    ));
    fix
}

/// True of a function in which the time of a call went, by its share.
fn is_notable(own: Ns, duration: Ns) -> bool {
    own.0 as f64 / duration.0.max(1) as f64 >= MOST
}

/// A call that gave the CPU away, and for how long.
fn gave_way(returned: UnmatchedReturn) -> Option<Evidence> {
    let UnmatchedReturn { function, duration, gave_way } = returned;
    let GaveWay { function: away, took, .. } = gave_way?;
    let within = match function == away {
        true => format!("{function} returned after {duration}"),
        false if function.is_empty() => {
            format!("a call returned after {duration}, of which {away} took {took}")
        }
        false => format!("{function} returned after {duration}, of which {away} took {took}"),
    };
    Some(Evidence::general(format!(
        "{within}: there the CPU goes to other threads, so it slept, or was preempted, and this was no work of its own"
    )))
}
