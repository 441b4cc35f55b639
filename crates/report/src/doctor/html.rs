//! The mistakes of a program on one page: gravest first, then what could not be seen, then the threads with their calls.

use super::facts;
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use whylate_investigate::doctor::{DoctorFinding, DoctorReport, ThreadReport};

/// How many system calls of a thread are shown; JSON has all of them.
const CALLS: usize = 12;

/// The mistakes of a program as one HTML file.
pub fn render(report: &DoctorReport) -> String {
    let title = facts::title(report);
    let header = html! {
        p.brand { "whylate doctor" }
        h1 { (title) }
        p.trace { (facts::observed(report).join(" · ")) }
    };
    let main = html! {
        @match facts::nothing(report) {
            Some(sentence) => section { p { (sentence) } },
            None => section {
                h2 { "Findings" }
                @for one in &report.findings { (finding(one)) }
            }
        }
        @if !report.unseen.is_empty() {
            section {
                h2 { "Not seen" small { "what could not be seen is never reported as fine" } }
                ul { @for sentence in &report.unseen { li { (words::clean(sentence)) } } }
            }
        }
        @if !report.threads.is_empty() { (threads(&report.threads)) }
        @if report.threads.iter().any(|thread| !thread.calls.is_empty()) { (calls(&report.threads)) }
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION")) ". " code { "whylate doctor --code CODE" }
        " explains a finding."
    };
    page(&title, &header, &main, &footer)
}

fn finding(finding: &DoctorFinding) -> Markup {
    html! {
        div class={ "finding " (finding.severity) } {
            h3 {
                span.severity { (finding.severity) }
                (words::clean(&finding.title))
                code { (finding.code) }
            }
            @if let Some((label, place)) = facts::place(finding) {
                p { b { (label) " " (place) } @if let Some(path) = path(finding) { " " small { (path) } } }
            }
            @if let Some(other) = facts::other(finding) { p { "other: " (other) } }
            p { (words::clean(&finding.why)) }
            @match finding.fix.as_slice() {
                [] => {}
                [only] => p.fix { (words::clean(&only.text)) }
                several => ol.fix { @for fix in several { li { (words::clean(&fix.text)) } } }
            }
        }
    }
}

/// The whole path of the file: its name may be there twice.
fn path(finding: &DoctorFinding) -> Option<String> {
    let location = finding.location.as_ref()?;
    location.file.as_ref().or(location.module.as_ref()).map(|path| words::clean(path))
}

fn threads(threads: &[ThreadReport]) -> Markup {
    html! {
        section {
            h2 { "Threads" small { "real-time ones first; counts since each thread began" } }
            div.wide { table {
                thead {
                    tr {
                        th rowspan="2" { "thread" } th rowspan="2" { "policy" } th rowspan="2" { "CPUs" }
                        th.n rowspan="2" { "periodic waits" }
                        th.group colspan="2" { "page faults" }
                        th.group colspan="2" { "context switches" }
                        th.n rowspan="2" { "on a runqueue" }
                        th.n rowspan="2" { "locked memory" }
                    }
                    tr { @for name in &facts::COUNTS[..4] { th.n { (name) } } }
                }
                tbody {
                    @for thread in threads {
                        tr {
                            td { (words::thread(&thread.comm, thread.tid)) }
                            td { (facts::scheduling(thread)) }
                            td { (thread.cpus.as_ref().map(ToString::to_string).unwrap_or_default()) }
                            td.n { (thread.waits.map_or_else(|| "-".to_owned(), words::count)) }
                            @for count in facts::counts(thread) { td.n { (count) } }
                            td.n { (facts::locked(thread)) }
                        }
                    }
                }
            } }
        }
    }
}

fn calls(threads: &[ThreadReport]) -> Markup {
    html! {
        section {
            h2 { "System calls" small { "the longest in total first; the line has most of the time" } }
            @for thread in threads.iter().filter(|thread| !thread.calls.is_empty()) {
                details {
                    summary { (words::thread(&thread.comm, thread.tid)) ": " (words::plural(thread.calls.iter().map(|total| total.count).sum(), "call")) }
                    div.wide { table {
                        thead { tr { th { "call" } th.n { "count" } th.n { "total" } th.n { "longest" } th { "line" } } }
                        tbody {
                            @for total in thread.calls.iter().take(CALLS) {
                                tr {
                                    td { code { (total.name) } }
                                    td.n { (words::count(total.count)) }
                                    td.n { (total.total) }
                                    td.n { (total.worst) }
                                    td { @if let Some(line) = &total.location { (words::clean(&line.to_string())) } }
                                }
                            }
                        }
                    } }
                    @if thread.calls.len() > CALLS { p.sure { "and " (thread.calls.len() - CALLS) " more" } }
                }
            }
        }
    }
}
