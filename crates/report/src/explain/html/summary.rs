//! What the page shows of the trace as a whole: answer, findings, threads, limits.

use super::activation;
use crate::explain::facts::{self, worst};
use crate::explain::peer_facts;
use crate::svg::palette::Fill;
use crate::words;
use maud::{Markup, html};
use whylate_base::{Finding, Ns, Severity};
use whylate_events::TraceInfo;
use whylate_ledger::{Explanation, Spread, TaskSummary};

/// How many findings are shown unfolded, apart from errors, which all are.
const IN_FULL: usize = 4;

pub(crate) fn header(explanation: &Explanation, title: &str) -> Markup {
    html! {
        p.brand { "whylate" }
        h1 { (title) }
        @if let Some(worst) = worst(explanation) {
            p.answer {
                (activation::chip(worst.verdict.cause)) " " b { (words::thread(&worst.comm, worst.tid)) " "
                (words::lateness(worst)) ": " } (words::clean(&worst.verdict.why))
            }
        }
        p.trace { (words::trace(&explanation.trace).join(" · ")) }
    }
}

/// Errors and the first few others; the rest is folded.
pub(crate) fn findings(findings: &[Finding]) -> Markup {
    let in_full = |(i, finding): &(usize, &Finding)| finding.severity == Severity::Error || *i < IN_FULL;
    let (open, folded): (Vec<_>, Vec<_>) = findings.iter().enumerate().partition(in_full);
    html! {
        @if !findings.is_empty() {
            section {
                h2 { "Findings" }
                @for (_, one) in open { (finding(one)) }
                @if !folded.is_empty() {
                    details {
                        summary { (words::plural(folded.len() as u64, "more finding")) }
                        @for (_, one) in folded { (finding(one)) }
                    }
                }
            }
        }
    }
}

/// One line behind the findings, or in place of them.
pub(crate) fn closing(explanation: &Explanation) -> Markup {
    html! {
        @if let Some(text) = crate::closing::closing(explanation) {
            section { p { (text) } }
        }
    }
}

fn finding(finding: &Finding) -> Markup {
    html! {
        div class={ "finding " (finding.severity) } {
            h3 {
                span.severity { (finding.severity) }
                (words::clean(&finding.title))
                code { (finding.code) }
            }
            @if !finding.why.is_empty() { p { (words::clean(&finding.why)) } }
            (activation::evidence(&finding.evidence))
            (activation::fixes(&finding.fix))
        }
    }
}

pub(crate) fn tasks(explanation: &Explanation) -> Markup {
    html! {
        @if !explanation.tasks.is_empty() {
            section {
                h2 { "Threads" small { "real-time first, then the worst response" } }
                div.wide { table {
                    thead {
                        tr {
                            th rowspan="2" { "thread" } th rowspan="2" { "policy" }
                            th.n rowspan="2" { "activations" }
                            th.group colspan="4" { "latency: due to running" }
                            th.group colspan="4" { "response: due to done" }
                            th rowspan="2" { "where all its time went" }
                        }
                        tr { @for _ in 0..2 { th.n { "min" } th.n { "p50" } th.n { "p99" } th.n { "max" } } }
                    }
                    tbody {
                        @for task in &explanation.tasks {
                            tr {
                                td { a href={ "#" (anchor(task)) } { (words::thread(&task.comm, task.tid)) } }
                                td { (words::scheduling(task.policy, task.priority)) }
                                td.n { (words::count(task.activations)) }
                                (spread(task.latency))
                                (spread(task.response))
                                td { (causes(task)) }
                            }
                        }
                    }
                } }
                @if let Some(unlisted) = facts::unlisted(explanation) { p.sure { (unlisted) } }
            }
        }
    }
}

fn spread(spread: Option<Spread>) -> Markup {
    html! {
        @match spread {
            Some(spread) => {
                td.n { (spread.min) } td.n { (spread.p50) } td.n { (spread.p99) } td.n { b { (spread.max) } }
            }
            None => { td.n { "-" } td.n { "-" } td.n { "-" } td.n { "-" } }
        }
    }
}

/// All charged time of a thread as one bar.
fn causes(task: &TaskSummary) -> Markup {
    let total = task.causes.iter().map(|(_, time)| *time).sum::<Ns>().0.max(1) as f64;
    html! {
        div.stack {
            @for (cause, time) in &task.causes {
                @let share = time.0 as f64 / total;
                i class=(Fill::Cause(*cause).class()) style={ "width:" (format!("{:.2}", share * 100.0)) "%" }
                    title={ (cause) ": " (time) ", " (words::percent(share)) } {}
            }
        }
        @if let Some((cause, time)) = task.causes.first() {
            small { (cause) " " (words::percent(time.0 as f64 / total)) }
        }
    }
}

/// How the recording of the host was joined.
pub(crate) fn host(explanation: &Explanation) -> Markup {
    let facts = facts::host(explanation);
    html! {
        @if !facts.is_empty() {
            section {
                h2 { "Host" }
                ul { @for fact in &facts { li { (fact) } } }
            }
        }
    }
}

/// How another machine's recording was joined, with the hops of the worst round trip.
pub(crate) fn peer(explanation: &Explanation) -> Markup {
    html! {
        @if let Some(peer) = &explanation.peer {
            section {
                h2 { "Peer" }
                ul { @for fact in &peer_facts::joined(explanation) { li { (fact) } } }
                @if let Some(worst) = peer.worst.first() {
                    p { (peer_facts::round_trip(worst, peer.join.error)) }
                    ul {
                        @for hop in &worst.hops {
                            li {
                                (peer_facts::place(hop)) ": " (hop.time().to_string()) ", usually "
                                (hop.usually.to_string()) " " (peer_facts::charges(hop).collect::<Vec<_>>().join(", "))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What is unknown, was lost, or could not be read.
pub(crate) fn limits(explanation: &Explanation) -> Markup {
    let trace = &explanation.trace;
    html! {
        @let stacks = facts::stacks(trace);
        @if !explanation.missing.is_empty() || trace.lost_events > 0 || !trace.damage.is_empty() || !stacks.is_empty() {
            section {
                h2 { "Limits of this recording" }
                ul {
                    @for missing in &explanation.missing {
                        li {
                            "Cannot tell " (missing.cannot_tell)
                            @if !missing.kind.tracepoints().is_empty() {
                                ": record " code { (missing.kind.tracepoints().join(" ")) }
                            }
                        }
                    }
                    @if trace.lost_events > 0 {
                        li { (facts::lost(trace.lost_events)) }
                    }
                    @if let Some(quality) = words::quality(trace) { li { (quality) } }
                    @for damage in &trace.damage {
                        li { "Damage " (words::clean(&damage.to_string())) }
                    }
                    @for note in &stacks { li { "Call stacks: " (note) } }
                }
            }
        }
    }
}

pub(crate) fn footer(trace: &TraceInfo) -> Markup {
    html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION")) ". Latency: from due to running. Response: from due to \
         done. Every ledger adds up to its response, to the nanosecond."
        @if let Some((start, end)) = trace.span {
            " Recorded from " (words::instant(start)) " to " (words::instant(end)) " s of the trace's clock."
        }
    }
}

/// The id of a thread's section.
pub(super) fn anchor(task: &TaskSummary) -> String {
    format!("tid-{}", task.tid)
}
