//! A bench as one HTML file: the verdict, and of each group a table and plots.

use super::facts;
use crate::html::page::page;
use crate::svg::plot;
use crate::words;
use maud::{Markup, html};
use whylate_base::Severity;
use whylate_investigate::compare::Prepared;
use whylate_probes::bench::{BenchReport, BenchRow};
use whylate_stats::{Measured, Run};

/// A bench as one HTML file.
pub fn render(report: &BenchReport) -> String {
    let title = facts::title(report);
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        @if let Some(answer) = report.verdict.first() { p.answer { (words::clean(&answer.text)) } }
        p.trace { (report.elapsed) " · " (words::plural(report.rows.len() as u64, "row")) @if report.interrupted { " · interrupted" } }
    };
    let main = html! {
        (verdict(report))
        @for (name, rows) in facts::groups(report) { (group(name, &rows)) }
        (published(report))
        (list("Skipped", &facts::skipped(report)))
        (list("Notes", &report.notes))
    };
    let footer = html! { "Made by whylate " (env!("CARGO_PKG_VERSION")) "." };
    page(&title, &header, &main, &footer)
}

fn verdict(report: &BenchReport) -> Markup {
    html! {
        @if !report.verdict.is_empty() {
            section {
                h2 { "Verdict" }
                @for verdict in &report.verdict {
                    @let class = match verdict.severity {
                        Severity::Error => "finding error",
                        Severity::Warning => "finding warning",
                        Severity::Info => "finding good",
                    };
                    div class=(class) { p { (words::clean(&verdict.text)) } }
                }
            }
        }
    }
}

fn group(name: &str, rows: &[&BenchRow]) -> Markup {
    let further = facts::further(rows);
    let runs = [Prepared::of(run(rows))];
    html! {
        section {
            h2 { (words::clean(name)) }
            div.wide { table {
                thead { tr { th {} @for name in facts::COSTS.iter().chain(further) { th.n { (name) } } } }
                tbody { @for row in rows { tr {
                    td { (words::clean(&row.name)) }
                    @for cell in facts::costs(row).into_iter().chain(facts::further_cells(row)) { td.n { (cell) } }
                } } }
            } }
            @if let Some(plot) = plot::histogram(&runs, None) { h3 { "Histogram of the time per operation" } (plot.figure()) }
            @if let Some(plot) = plot::ccdf_without_fit(&runs) { h3 { "CCDF of the time per operation" } (plot.figure()) }
        }
    }
}

/// The rows as the threads of a run, so that each is a line.
fn run(rows: &[&BenchRow]) -> Run {
    let threads = rows.iter().map(|row| Measured {
        name: row.name.clone(),
        histogram: row.operation_times(),
        ..Measured::default()
    });
    Run { threads: threads.collect(), ..Run::default() }
}

fn published(report: &BenchReport) -> Markup {
    html! {
        @if let Some(first) = report.published.first() {
            section {
                h2 { "Published figures" small { (first.work) } }
                div.wide { table {
                    thead { tr { th {} @for name in facts::published_heading(report) { th.n { (name) } } } }
                    tbody { @for time in &report.published { tr {
                        td { (words::clean(&time.name)) }
                        @for cell in facts::published(report, time) { td.n { (cell) } }
                    } } }
                } }
            }
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
