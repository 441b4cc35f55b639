//! A measurement: distributions, the worst wake-ups, what the numbers lack.

use super::{activation, page, summary};
use crate::bins::{LogAxis, height};
use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::measure::{ExplainedSpike, MeasureReport, SpikeKind, TraceState};
use whylate_probes::{CpuResult, Histogram};

/// A histogram's width and height in SVG units, and the room for a CPU's name and its top count.
const PLOT: f64 = 960.0;
const TALL: f64 = 46.0;
const LEFT: f64 = 136.0;
const RIGHT: f64 = 20.0;
const GAP: f64 = 10.0;
const COLUMNS: usize = 240;
/// Two labels of ticks do not come closer than this.
const TICK: f64 = 60.0;

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
            h2 { "Latency" small { "of timed wake-ups" } }
            div.wide { table {
                thead { tr {
                    th {} th.n { "wake-ups" } th.n { "min" } th.n { "mean" } th.n { "p50" } th.n { "p99" } th.n { "p99.99" } th.n { "max" }
                } }
                tbody {
                    @for cpu in &report.cpus { (row(&format!("CPU {}", cpu.cpu), &cpu.histogram)) }
                    @if report.cpus.len() > 1 { (row("all", &all)) }
                }
            } }
            (histograms(&report.cpus, report.probe.threshold))
            @let trouble: Vec<String> = report.cpus.iter().flat_map(words::trouble).collect();
            @if !trouble.is_empty() { ul { @for note in trouble { li { (note) } } } }
        }
    }
}

fn histograms(cpus: &[CpuResult], threshold: Option<Ns>) -> Markup {
    let Some(axis) = LogAxis::of(cpus.iter().map(|cpu| &cpu.histogram)) else { return html! {} };
    let bottom = cpus.len() as f64 * (TALL + GAP);
    let width = LEFT + PLOT + RIGHT;
    let x = |latency: Ns| LEFT + axis.at(latency) * PLOT;
    let mut last = f64::NEG_INFINITY;
    let mut ticks = axis.ticks();
    ticks.retain(|&tick| {
        let keep = x(tick) - last >= TICK;
        if keep {
            last = x(tick);
        }
        keep
    });
    let threshold =
        threshold.filter(|&threshold| (axis.latency(0.0)..=axis.latency(1.0)).contains(&threshold));
    html! {
        figure {
            div.wide {
                svg.chart viewBox={ "0 0 " (width) " " (bottom + 24.0) } role="img" aria-label="Histograms of latency by CPU" {
                    g.axis {
                        @for &tick in &ticks {
                            line x1=(px(x(tick))) x2=(px(x(tick))) y1="0" y2=(px(bottom)) {}
                            text x=(px(x(tick))) y=(px(bottom + 16.0)) { (round(tick)) }
                        }
                    }
                    @for (i, cpu) in cpus.iter().enumerate() {
                        (histogram(cpu, &axis, i as f64 * (TALL + GAP)))
                    }
                    @if let Some(threshold) = threshold {
                        g.limit {
                            line x1=(px(x(threshold))) x2=(px(x(threshold))) y1="0" y2=(px(bottom)) {
                                title { "threshold " (threshold) }
                            }
                        }
                    }
                }
            }
            figcaption { span.note { "Both axes are logarithmic: a single late wake-up among millions is seen." } }
        }
    }
}

fn histogram(cpu: &CpuResult, axis: &LogAxis, y: f64) -> Markup {
    let bins = axis.bins(&cpu.histogram, COLUMNS);
    let highest = bins.iter().copied().max().unwrap_or(0);
    let width = PLOT / COLUMNS as f64;
    html! {
        text.lane x=(px(LEFT - 14.0)) y=(px(y + TALL - 2.0)) { "CPU " (cpu.cpu) }
        rect.base x=(px(LEFT)) y=(px(y + TALL)) width=(px(PLOT)) height="1" {}
        @for (i, &count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            @let tall = (height(count, highest) * TALL).max(1.5);
            rect.column x=(px(LEFT + i as f64 * width)) y=(px(y + TALL - tall)) width=(px(width)) height=(px(tall)) {
                title {
                    (words::plural(count, "wake-up")) ", "
                    (axis.latency(i as f64 / COLUMNS as f64)) " to " (axis.latency((i + 1) as f64 / COLUMNS as f64)) " late"
                }
            }
        }
    }
}

/// A tick's label: `20 us`.
fn round(tick: Ns) -> String {
    match tick.0 {
        ns @ ..1_000 => format!("{ns} ns"),
        ns @ 1_000..1_000_000 => format!("{} us", ns / 1_000),
        ns @ 1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        ns => format!("{} s", ns / 1_000_000_000),
    }
}

fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn spikes(report: &MeasureReport) -> Markup {
    html! {
        @if !report.spikes.is_empty() {
            section {
                h2 { "Worst wake-ups" }
                @for (i, spike) in report.spikes.iter().enumerate() {
                    @match &spike.answer {
                        Ok(activation) if i == 0 => article { (heading(spike)) (activation::body(activation)) }
                        Ok(activation) => details { summary { (heading(spike)) } (activation::body(activation)) }
                        Err(why) => article { (heading(spike)) p.sure { "Not explained: " (words::clean(&why.to_string())) } }
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
