//! A simulation as one HTML file: the tasks, findings, and the worst activations with their timelines.

use super::{facts, proposal, replay, sweep, worst_case};
use crate::explain::html::{activation, summary};
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use whylate_simulate::propose::Proposal;
use whylate_simulate::sweep::Sweep;
use whylate_simulate::worst_case::WorstCase;
use whylate_simulate::{ReplayReport, SimulationReport};

/// A simulation as one HTML file.
pub(super) fn render(report: &SimulationReport) -> String {
    let title = "whylate simulate";
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        p.trace { (facts::about(report).join(" · ")) }
    };
    let main = html! {
        @if let Some(of) = &report.replay {
            section { p { (replay::error(of)) } @if let Some(losses) = replay::losses(of) { p { (losses) } } }
        }
        @if let Some(of) = &report.proposal { (proposed(of)) }
        @if let Some(of) = &report.sweep { (swept(of)) }
        @match &report.replay { Some(of) => (replayed(of)), None => (tasks(report)) }
        @for worst in &report.worst_cases { (composed(worst)) }
        (summary::findings(&report.findings))
        @for task in &report.tasks {
            @if let Some(worst) = facts::worst(report, task) {
                section {
                    h2 { (words::clean(&task.name)) }
                    article { (activation::heading(worst)) (activation::body(worst, None)) }
                }
            }
        }
        (list("Without a bound", &facts::without_bound(report)))
        (list("Assumptions", &report.assumptions))
    };
    let footer = html! { "Made by whylate " (env!("CARGO_PKG_VERSION")) "." };
    page(title, &header, &main, &footer)
}

/// A proposal; what follows is of a run with it.
fn proposed(of: &Proposal) -> Markup {
    html! {
        section {
            h2 { (proposal::HEADING) }
            p { (words::clean(&proposal::sentence(of))) }
            div.wide { table {
                thead { tr { th { "task" } @for name in proposal::COLUMNS { th.n { (name) } } } }
                tbody { @for task in &of.tasks { tr {
                    td { (words::clean(&task.name)) }
                    @for cell in proposal::cells(task) { td.n { (cell) } }
                } } }
            } }
            @if let Some(worse) = proposal::worse(of) { p { (words::clean(&worse)) } }
        }
    }
}

fn tasks(report: &SimulationReport) -> Markup {
    html! {
        section {
            h2 { "Response times" }
            div.wide { table {
                thead { tr { th { "task" } @for name in facts::COLUMNS { th.n { (name) } } } }
                tbody { @for task in &report.tasks { tr {
                    td { (words::clean(&task.name)) }
                    @for cell in facts::cells(report, task) { td.n { (cell) } }
                } } }
            } }
        }
    }
}

fn replayed(of: &ReplayReport) -> Markup {
    html! {
        section {
            h2 { "Replay of the recording" }
            div.wide { table {
                thead { tr { th { "thread" } @for name in replay::columns(of) { th.n { (name) } } } }
                tbody { @for thread in &of.threads { tr {
                    td { (words::clean(&thread.name)) }
                    @for cell in replay::cells(of, thread) { td.n { (cell) } }
                } } }
            } }
            @if let Some(unlisted) = replay::unlisted(of) { p { (unlisted) } }
        }
        (list(&format!("With {}", of.changes.join(" ")), &replay::sentences(of)))
    }
}

/// A sweep: its combinations, grouped; what follows is about the worst one.
fn swept(of: &Sweep) -> Markup {
    let table = sweep::table(of);
    let is_number = |at: usize| at >= of.keys.len() && at + 1 < table.head.len();
    html! {
        section {
            h2 { (sweep::heading(of)) }
            @for sentence in sweep::sentences(of) { p { (words::clean(&sentence)) } }
            div.wide { table {
                thead { tr { @for (at, name) in table.head.iter().enumerate() { th.n[is_number(at)] { (name) } } } }
                tbody { @for row in &table.rows { tr {
                    @for (at, cell) in row.iter().enumerate() { td.n[is_number(at)] { (cell) } }
                } } }
            } }
        }
        @if let Some((worst, _)) = of.ends {
            section { h2 { "Worst combination: " (words::clean(&sweep::changes(of, worst))) } }
        }
    }
}

fn composed(worst: &WorstCase) -> Markup {
    html! {
        section {
            h2 { (worst_case::heading(worst)) }
            p { (words::clean(&worst_case::sentence(worst))) }
            @if !worst.contributors.is_empty() {
                div.wide { table {
                    thead { tr { th { "cause" } @for name in worst_case::COLUMNS { th.n { (name) } } } }
                    tbody { @for part in &worst.contributors { tr {
                        td { (part.cause.code()) }
                        @for cell in worst_case::cells(worst, part) { td.n { (cell) } }
                    } } }
                } }
            }
            @for sentence in worst_case::first(worst).iter().chain(&worst_case::claim(worst)) {
                p { (words::clean(sentence)) }
            }
            ul { @for assumption in &worst.assumptions { li { (words::clean(assumption)) } } }
        }
    }
}

fn list(heading: &str, sentences: &[String]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            section { h2 { (heading) } ul { @for sentence in sentences { li { (words::clean(sentence)) } } } }
        }
    }
}
