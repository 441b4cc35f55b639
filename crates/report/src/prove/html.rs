//! A proof as one HTML file.

use super::facts;
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use whylate_prove::ProveReport;

/// A proof as one HTML file.
pub(super) fn render(report: &ProveReport) -> String {
    let header = html! {
        p.brand { "whylate" }
        h1 { (words::clean(&facts::verdict(report))) }
        p.trace { (words::clean(&facts::about(report).join(" · "))) }
    };
    let main = html! {
        (list("Reasons", &report.why))
        (list("Change", &facts::changes(report)))
        section {
            h2 { "Measurement" }
            div.wide { table {
                thead { tr { th {} @for name in facts::STATES { th.n { (name) } } } }
                tbody { @for (name, cells) in facts::states(report) {
                    tr { td { (name) } @for cell in cells { td.n { (cell) } } }
                } }
            } }
        }
        (list("Side effects", &report.side_effects.iter().map(facts::side_effect).collect::<Vec<_>>()))
        section { p { (words::clean(&facts::keeping(report))) } }
        section {
            h2 { "Rounds" }
            div.wide { table {
                thead { tr { @for name in facts::ROUNDS { th.n { (name) } } } }
                tbody { @for round in &report.rounds { tr { @for cell in facts::round(round) { td.n { (cell) } } } } }
            } }
        }
        (list("Notes", &report.notes))
    };
    let footer = html! { "Made by whylate " (env!("CARGO_PKG_VERSION")) "." };
    page("whylate prove", &header, &main, &footer)
}

fn list(heading: &str, sentences: &[String]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            section { h2 { (heading) } ul { @for sentence in sentences { li { (words::clean(sentence)) } } } }
        }
    }
}
