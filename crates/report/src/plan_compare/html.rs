//! A comparison of settings as one HTML file. What is the same on both sides is folded in the page.

use super::facts::{self, Labels};
use super::rows::{Section, sections};
use super::view::PlanComparison;
use crate::html::page::page;
use maud::{Markup, html};
use whylate_tuning::Agreement;

/// A comparison of settings as one HTML file.
pub fn render(view: &PlanComparison<'_>) -> String {
    let comparison = view.comparison;
    let labels = Labels::of(comparison);
    let title = facts::title(comparison, &labels);
    let header = html! {
        p.brand { "whylate plan" }
        h1 { (title) }
        @for line in facts::about(comparison, &labels) { p.trace { (line) } }
    };
    let different = sections(&comparison.settings, &labels, |agreement| agreement != Agreement::Same);
    let same = sections(&comparison.settings, &labels, |agreement| agreement == Agreement::Same);
    let main = html! {
        @for one in &different { section { h2 { (one.title) } (table(one, &labels)) } }
        @if let Some(heading) = facts::same(comparison) {
            section {
                details open[view.all] {
                    summary { (heading) }
                    @for one in &same { h3 { (one.title) } (table(one, &labels)) }
                }
            }
        }
        @for (title, skipped) in facts::not_compared(comparison, &labels) {
            section {
                h2 { (title) }
                ul { @for (what, why) in &skipped { li { code { (what) } ": " (why) } } }
            }
        }
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION")) ". " code { "whylate check --explain CODE" }
        " shows the page of each rule in brackets."
    };
    page(&title, &header, &main, &footer)
}

fn table(section: &Section, labels: &Labels) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th { "setting" }
                @for label in labels.each() { th { (label) } }
                th { "why" }
            } }
            tbody {
                @for block in &section.blocks {
                    @for row in &block.rows {
                        tr {
                            td { code { (row.name) } }
                            @for (at, cell) in row.cells.iter().enumerate() {
                                td {
                                    @if at < 2 && row.agreement == Agreement::Different { b { (cell) } }
                                    @else { (cell) }
                                }
                            }
                            td.soft { @for (at, line) in block.reasons.iter().enumerate() { @if at > 0 { br; } (line) } }
                        }
                    }
                }
            }
        } }
    }
}
