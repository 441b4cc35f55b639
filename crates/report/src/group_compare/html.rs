//! Groups side by side as one HTML file.

use super::compared::ComparedGroups;
use super::facts;
use crate::compare::html::class;
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use whylate_investigate::compare::groups::GroupPair;

/// Groups side by side as one HTML file.
pub(super) fn render(report: &ComparedGroups) -> String {
    let comparison = &report.comparison;
    let title = facts::title(report);
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
    };
    let main = html! {
        @if !comparison.gates.is_empty() {
            section {
                h2 { "Gates" }
                ul { @for gated in &comparison.gates {
                    @let (word, text, is_met) = facts::gate(report, gated);
                    @let class = match is_met { Some(true) => "good", Some(false) => "bad", None => "" };
                    li { b class=(class) { (word) } " · " (text) }
                } }
            }
        }
        @for pair in &comparison.pairs { (self::pair(report, pair)) }
        section {
            h2 { "Groups" }
            div.wide { table {
                thead { tr { @for name in facts::GROUPS { th { (name) } } } }
                tbody { @for (at, group) in comparison.groups.iter().enumerate() {
                    tr { @for cell in facts::group(report, at, group) { td { (cell) } } }
                } }
            } }
            @for sentence in facts::certainty(report).iter().chain(&report.left_out) {
                p.sure { (words::clean(sentence)) }
            }
        }
    };
    let footer = html! { "Made by whylate " (env!("CARGO_PKG_VERSION")) "." };
    page(&title, &header, &main, &footer)
}

fn pair(report: &ComparedGroups, pair: &GroupPair) -> Markup {
    html! {
        section {
            div class=(class(pair.verdict)) {
                h3 { (facts::verdict(report, pair)) }
                ul { @for note in facts::notes(pair) { li { (note) } } }
            }
            div.wide { table {
                thead { tr { @for name in facts::TESTS { th { (name) } } } }
                tbody { @for test in &pair.tests {
                    tr { @for cell in facts::test(test) { td { @if test.is_shown() { b { (cell) } } @else { (cell) } } } }
                } }
            } }
        }
    }
}
