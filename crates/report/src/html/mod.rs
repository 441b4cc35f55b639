//! One self-contained HTML file: no network, readable without JavaScript, printable.
//!
//! ```text
//! answer ─ findings ─ threads ─ per thread: worst activation ─ limits
//! answer ─ histograms ─ spikes by cause ─ worst wake-ups ─ findings ─ beyond what was seen ─ limits
//! verdict ─ gates ─ what moved ─ plots ─ claims ─ limits
//!            each with verdict, timeline (SVG), ledger, evidence, fix
//! ```
//!
//! The drawing is complete as it stands; `script.js` only adds zooming and hover details.
//! Names are chosen by the threads themselves: everything passes through `words::clean`
//! and the template's escaping, and the page forbids itself every connection.

mod activation;
mod check;
mod compare;
mod measure;
mod section;
mod summary;
mod tables;

use crate::{Compared, svg, words};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use whylate_checks::Report;
use whylate_investigate::measure::MeasureReport;
use whylate_ledger::{Activation, Explanation, TaskSummary};

/// Nothing may be loaded from anywhere; the page's own style and script are inline.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'";

/// An explanation as one HTML file.
pub fn explanation(explanation: &Explanation) -> String {
    let title = summary::title(explanation);
    let main = html! {
        (summary::findings(&explanation.findings))
        (summary::no_finding(explanation))
        @for one in &explanation.sections { (section::write(one)) }
        (summary::tasks(explanation))
        @for task in &explanation.tasks {
            (of_task(task, &explanation.activations))
        }
        (summary::limits(explanation))
    };
    page(&title, &summary::header(explanation, &title), &main, &summary::footer(&explanation.trace))
}

/// A measurement as one HTML file.
pub fn measurement(report: &MeasureReport) -> String {
    measure::write(report)
}

/// Runs side by side as one HTML file.
pub fn compared(compared: &Compared) -> String {
    compare::write(compared)
}

/// The answers about a machine as one HTML file.
pub fn checked(report: &Report) -> String {
    check::write(report)
}

fn page(title: &str, header: &Markup, main: &Markup, footer: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - whylate" }
                style { (PreEscaped(include_str!("style.css"))) (PreEscaped(svg::style())) }
            }
            body {
                header { (header) }
                main { (main) }
                footer { (footer) }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    page.into_string()
}

/// A thread's worst activation in full, the next ones folded.
fn of_task(task: &TaskSummary, activations: &[Activation]) -> Markup {
    let mut worst = activations.iter().filter(|activation| activation.tid == task.tid);
    let Some(first) = worst.next() else { return html! {} };
    html! {
        section id=(anchor(task)) {
            h2 {
                (words::thread(&task.comm, task.tid))
                small { (words::scheduling(task.policy, task.priority)) " · worst of " (words::plural(task.activations, "activation")) }
            }
            article { (activation::heading(first)) (activation::body(first)) }
            @for next in worst {
                details { summary { (activation::heading(next)) } (activation::body(next)) }
            }
        }
    }
}

/// The id of a thread's section.
fn anchor(task: &TaskSummary) -> String {
    format!("tid-{}", task.tid)
}
