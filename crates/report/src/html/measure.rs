//! A measurement: distributions, the worst wake-ups, what the numbers lack.

use super::{activation, page, summary};
use crate::svg::{measured_run, plot};
use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::measure::{ExplainedSpike, MeasureReport, SpikeKind, TraceState};
use whylate_stats::Histogram;

pub(super) fn write(report: &MeasureReport) -> String {
    let title = words::measured(report);
    let worst = report.spikes.iter().find_map(|spike| spike.answer.as_ref().ok());
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        @if let Some(worst) = worst {
            p.answer { (activation::chip(worst.verdict.cause)) " " (words::clean(&worst.verdict.why)) }
        }
        p.trace { (words::probe(report).join(" · ")) }
    };
    let main = html! {
        (degraded(report))
        (distribution(report))
        (spikes(report))
        (summary::findings(&report.findings))
        (notes(report))
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION"))
        ". Latency: from the instant a timer was due to the thread's first look at the clock. Instants are CLOCK_MONOTONIC."
    };
    page(&title, &header, &main, &footer)
}

fn degraded(report: &MeasureReport) -> Markup {
    html! {
        @if !report.degraded.is_empty() {
            section {
                h2 { "Read this first" }
                @for degraded in &report.degraded {
                    div.finding.warning {
                        h3 { (words::clean(&degraded.effect)) }
                        p { (words::clean(&degraded.reason)) }
                        p.fix { (words::clean(&degraded.remedy)) }
                    }
                }
            }
        }
    }
}

fn distribution(report: &MeasureReport) -> Markup {
    let row = |name: &str, histogram: &Histogram| {
        let time = |time: Option<Ns>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
        html! {
            tr {
                td { (name) }
                td.n { (words::count(histogram.count())) }
                td.n { (time(histogram.min())) }
                td.n { (time(histogram.mean())) }
                td.n { (time(histogram.percentile(0.5))) }
                td.n { (time(histogram.tail(0.99))) }
                td.n { (time(histogram.tail(0.9999))) }
                td.n { b { (time(histogram.max())) } }
            }
        }
    };
    let mut all = Histogram::default();
    report.cpus.iter().for_each(|cpu| all.merge(&cpu.histogram));
    html! {
        section {
            h2 { "Latency" small { (report.probe.kind) ", " (report.probe.rhythm()) } }
            div.wide { table {
                thead { tr {
                    th {} th.n { (report.probe.sample()) "s" } th.n { "min" } th.n { "mean" } th.n { "p50" } th.n { "p99" } th.n { "p99.99" } th.n { "max" }
                } }
                tbody {
                    @for cpu in &report.cpus { (row(&format!("CPU {}", cpu.cpu), &cpu.histogram)) }
                    @if report.cpus.len() > 1 { (row("all", &all)) }
                }
            } }
            (plots(report))
            @let trouble: Vec<String> = report.cpus.iter().flat_map(words::trouble).collect();
            @if !trouble.is_empty() { ul { @for note in trouble { li { (note) } } } }
        }
    }
}

/// What is seen of all of it: over each other, each on its own, how rarely, and when.
fn plots(report: &MeasureReport) -> Markup {
    let runs = [measured_run(report)];
    let threshold = report.probe.threshold;
    let several = report.cpus.len() > 1;
    html! {
        @if let Some(plot) = plot::histogram(&runs, threshold) { h3 { "How often how late" } (plot.figure()) }
        @if let Some(plot) = plot::multiples(&runs, threshold).filter(|_| several) { (plot.figure()) }
        @if let Some(plot) = plot::ccdf(&runs, false, threshold) { h3 { "How rarely so late" } (plot.figure()) }
        @if let Some(plot) = plot::time(&runs, true, true) { h3 { "When" } (plot.figure()) }
    }
}

fn spikes(report: &MeasureReport) -> Markup {
    html! {
        @if !report.spikes.is_empty() {
            section {
                h2 { "Worst " (report.probe.sample()) "s" }
                @for (i, spike) in report.spikes.iter().enumerate() {
                    @match &spike.answer {
                        Ok(activation) if i == 0 => article id={ "spike-" (i) } { (heading(spike)) (activation::body(activation)) }
                        Ok(activation) => details id={ "spike-" (i) } { summary { (heading(spike)) } (activation::body(activation)) }
                        Err(why) => article id={ "spike-" (i) } { (heading(spike)) p.sure { "Not explained: " (words::clean(&why.to_string())) } }
                    }
                }
                @if report.not_listed > 0 { p.sure { "and " (words::count(report.not_listed)) " more over the threshold" } }
            }
        }
    }
}

fn heading(spike: &ExplainedSpike) -> Markup {
    html! {
        span.when {
            b { @if spike.kind == SpikeKind::Stuck { "more than " } (spike.latency()) " late" } " "
            @if let Ok(activation) = &spike.answer {
                (activation::chip(activation.verdict.cause))
                @if let Some(by) = &activation.verdict.by { " " (words::culprit(by)) }
            }
            small { "due at " (words::instant(spike.due)) " on CPU " (spike.cpu) }
        }
    }
}

fn notes(report: &MeasureReport) -> Markup {
    let trace: &[String] = match &report.trace {
        TraceState::Recorded { notes, .. } => notes,
        TraceState::Off => &[],
        TraceState::Unavailable(why) => std::slice::from_ref(why),
    };
    html! {
        @if !trace.is_empty() || !report.observer.is_empty() {
            section {
                h2 { "What to know about these numbers" }
                ul {
                    @for note in trace { li { (words::clean(note)) } }
                    @for note in &report.observer { li { (words::clean(note)) } }
                }
            }
        }
    }
}
