//! One activation: verdict, timeline, ledger, evidence, fix.

use super::own_work;
use crate::explain::rows;
use crate::explain::timeline::Timeline;
use crate::svg::palette::Fill;
use crate::words;
use maud::{Markup, html};
use whylate_base::{AdvisedFix, Evidence};
use whylate_events::Stacks;
use whylate_ledger::{Activation, Cause};

/// How many rows of a ledger are listed; the small ones are summed up.
const ROWS: usize = 25;
/// Call stacks of a row.
const PLACES: usize = 3;

/// A cause's name on its colour.
pub(crate) fn chip(cause: Cause) -> Markup {
    html! { span class={ "chip " (Fill::Cause(cause).class()) " t-" (cause.code()) } { (cause) } }
}

/// When and how late, in one line.
pub(crate) fn heading(activation: &Activation) -> Markup {
    if let Some(seen) = words::one_instant(activation) {
        return html! { span.when { b { (seen) } } };
    }
    html! {
        span.when {
            b { (words::lateness(activation)) } " "
            (chip(activation.verdict.cause))
            @if let Some(by) = &activation.verdict.by { " " (words::culprit(by)) }
            small { (words::due_at(activation)) " on CPU " (activation.cpu) }
        }
    }
}

/// `stacks` are those of its recording, where it has some.
pub(crate) fn body(activation: &Activation, stacks: Option<&Stacks>) -> Markup {
    if words::one_instant(activation).is_some() {
        return html! {};
    }
    let verdict = &activation.verdict;
    html! {
        p.why { (words::clean(&verdict.why)) }
        p.sure {
            (verdict.charged) " of " (verdict.judged) " (" (words::percent(verdict.share)) "), "
            (verdict.confidence) " confidence. Became due: " (words::trigger(activation)) "."
        }
        (Timeline::of(activation).figure())
        div.columns {
            (ledger(activation, stacks))
            div {
                @if !verdict.evidence.is_empty() { h4 { "Evidence" } (evidence(&verdict.evidence)) }
                @if !verdict.fix.is_empty() { h4 { "Fix" } (fixes(&verdict.fix)) }
            }
        }
    }
}

fn ledger(activation: &Activation, stacks: Option<&Stacks>) -> Markup {
    let (rows, left, time) = rows::largest(rows::rows(activation), ROWS);
    let whole = activation.response().0.max(1) as f64;
    html! {
        table.ledger {
            thead { tr { th { "cause" } th { "culprit" } th.n { "time" } th.n { "share" } th {} } }
            tbody {
                @for row in &rows {
                    tr.accused[row.accused] {
                        td { i class={ "swatch " (Fill::Cause(row.cause).class()) } {} (row.cause) }
                        td {
                            (rows::who(row.by.as_ref(), row.owner.as_ref()))
                            @if let Some(stacks) = stacks {
                                @for place in row.places.iter().take(PLACES) { (own_work::place(place, stacks)) }
                            }
                        }
                        td.n { (row.total) }
                        td.n { (words::percent(row.share)) }
                        td.bar {
                            i class=(Fill::Cause(row.cause).class())
                                style={ "width:" (format!("{:.2}", row.share * 100.0)) "%" } {}
                        }
                    }
                }
                @if left > 0 {
                    tr {
                        td { (words::plural(left as u64, "other")) } td {}
                        td.n { (time) } td.n { (words::percent(time.0 as f64 / whole)) } td {}
                    }
                }
            }
            tfoot { tr {
                td { "response" } td {} td.n { (activation.response()) } td.n { "100.0 %" } td {}
            } }
        }
    }
}

/// What shows an answer, with instants in a column of their own.
pub(crate) fn evidence(evidence: &[Evidence]) -> Markup {
    html! {
        @if !evidence.is_empty() {
            table.evidence {
                @for seen in evidence {
                    tr {
                        td.n { @if let Some(at) = seen.at { (words::instant(at)) } }
                        td { (words::observation(seen)) }
                    }
                }
            }
        }
    }
}

/// What to do, best first.
pub(crate) fn fixes(fixes: &[AdvisedFix]) -> Markup {
    html! {
        @match fixes {
            [] => {}
            [only] => p.fix { (words::clean(&only.text)) }
            several => ol.fix { @for fix in several { li { (words::clean(&fix.text)) } } }
        }
    }
}
