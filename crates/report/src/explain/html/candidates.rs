//! What the page is about, where the user left it open or asked for a part: the threads to choose from, the part.

use crate::explain::facts;
use crate::words;
use maud::{Markup, html};
use whylate_ledger::{Candidates, Explanation};

pub(super) fn write(explanation: &Explanation) -> Markup {
    html! {
        @if let Some(scope) = facts::scope(explanation) { section { p { (scope) } } }
        @if let Some(candidates) = &explanation.candidates { (section(candidates)) }
    }
}

fn section(candidates: &Candidates) -> Markup {
    let [why, what, how] = facts::candidates(candidates);
    html! {
        section {
            h2 { "Candidates" }
            p { b { (why) " " (what) } " " (how) }
            div.wide { table {
                thead { tr {
                    th { "thread" } th { "policy" } th.n { "activations" } th.n { "max latency" } th.n { "max wait" }
                    th { "explained" }
                } }
                tbody {
                    @for candidate in &candidates.threads {
                        tr {
                            td { (words::thread(&candidate.comm, candidate.tid)) }
                            td { (words::scheduling(candidate.policy, candidate.priority)) }
                            td.n { (words::count(candidate.activations)) }
                            td.n { (words::known(candidate.latency)) }
                            td.n { (words::known(candidate.wait)) }
                            td { (if candidate.is_explained { "yes" } else { "no" }) }
                        }
                    }
                }
            } }
        }
    }
}
