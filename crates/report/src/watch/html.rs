//! The summary of a watch on one page.

use super::facts;
use crate::html::page::page;
use crate::html::tables::distributions;
use crate::words;
use maud::html;
use whylate_investigate::watch::WatchReport;

/// A watch as one HTML file.
pub fn render(report: &WatchReport) -> String {
    let title = facts::title(report);
    let header = html! {
        p.brand { "whylate watch" }
        h1 { (title) }
        p.trace { (facts::facts(report).join(" · ")) }
    };
    let of = |seen: fn(&whylate_investigate::watch::WatchedName) -> &whylate_stats::Histogram| {
        let rows = report.threads.iter().map(move |thread| (words::clean(&thread.name), seen(thread)));
        distributions("activations", rows.filter(|(_, histogram)| histogram.count() > 0))
    };
    let main = html! {
        @if !report.groups.is_empty() {
            section {
                h2 { "Groups" small { "late activations of the same thread, cause and culprit" } }
                div.wide { table {
                    thead { tr { @for name in facts::GROUP { th { (name) } } } }
                    tbody { @for group in &report.groups {
                        tr { @for (at, cell) in facts::group(group).iter().enumerate() {
                            @if at < 5 { td.n { (cell) } } @else { td { (cell) } }
                        } }
                    } }
                } }
            }
        }
        @if !report.threads.is_empty() {
            section { h2 { "Response" small { "due to done" } } (of(|thread| &thread.response)) }
            section { h2 { "Latency" small { "due to running" } } (of(|thread| &thread.latency)) }
        }
        @if !report.kept.is_empty() {
            section {
                h2 { "Windows" small { "the newest first; `whylate explain FILE` opens one" } }
                div.wide { table {
                    thead { tr { th { "file" } th.n { "response" } th { "due" } th { "why" } } }
                    tbody { @for window in report.kept.iter().rev() {
                        tr {
                            td { code { (words::clean(&window.name)) } }
                            td.n { (window.response) }
                            td { (facts::date(window.at)) }
                            td { (words::clean(&window.why)) }
                        }
                    } }
                } }
            }
        }
        section {
            h2 { "Cost and limits" }
            ul { @for sentence in facts::cost(report).iter().chain(&report.notes) { li { (words::clean(sentence)) } } }
        }
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION")) ". " code { "whylate explain --code CAUSE" } " explains a cause."
    };
    page(&title, &header, &main, &footer)
}
