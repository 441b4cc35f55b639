//! A measurement: distributions, the worst wake-ups, what the numbers lack.

use crate::explain::html::{activation, summary};
use crate::html::page::page;
use crate::html::tables;
use crate::measure::facts;
use crate::svg::plot;
use crate::words;
use maud::{Markup, html};
use whylate_investigate::compare::Prepared;
use whylate_investigate::measure::{ExplainedSpike, MeasureReport, SpikeGroup, SpikeKind, TraceState};
use whylate_ledger::Cause;
use whylate_probes::ProbeKind;
use whylate_stats::{Late, Run};

/// A measurement as one HTML file.
pub fn render(report: &MeasureReport) -> String {
    let title = facts::title(report);
    let prepared = Prepared::of(report.run());
    let worst = report.spikes.iter().find_map(|spike| spike.answer.as_ref().ok());
    let header = html! {
        p.brand { "whylate" }
        h1 { (title) }
        @if let Some(worst) = worst {
            p.answer { (activation::chip(worst.verdict.cause)) " " (words::clean(&worst.verdict.why)) }
        }
        p.trace { (facts::facts(report).join(" · ")) }
        (loads(report))
    };
    let main = html! {
        (first(report))
        (distribution(report, &prepared))
        (phases(report))
        (deadline(report))
        (groups(report, &prepared.run))
        (spikes(report))
        (summary::findings(&report.findings))
        (beyond(report))
        (notes(report))
    };
    let footer = html! {
        "Made by whylate " (env!("CARGO_PKG_VERSION"))
        "." @if let ProbeKind::Timer(_) = report.probe.kind { " Latency: from the instant a timer was due to the thread's first look at the clock." }
        " Instants are CLOCK_MONOTONIC."
    };
    page(&title, &header, &main, &footer)
}

/// Which loads ran, and which did not to the end.
fn loads(report: &MeasureReport) -> Markup {
    html! {
        @for (what, died) in report.loads.iter().map(facts::load) {
            p.trace { "load: " (what) }
            @if let Some(died) = died { p.trace.died { "died: " (died) } }
        }
    }
}

/// What the numbers lack.
fn first(report: &MeasureReport) -> Markup {
    let unexplained = match &report.trace {
        TraceState::Unavailable(why) => Some(words::clean(why)),
        TraceState::Recorded { .. } | TraceState::Off => None,
    };
    html! {
        @if !report.degraded.is_empty() || unexplained.is_some() {
            section {
                h2 { "Warnings" }
                @for degraded in &report.degraded {
                    div.finding.warning {
                        h3 { (words::clean(&degraded.effect)) }
                        p { (words::clean(&degraded.reason)) }
                        p.fix { (words::clean(&degraded.remedy)) }
                    }
                }
                @if let Some(why) = unexplained {
                    div.finding.warning { h3 { "Cannot explain" } p { (why) } }
                }
            }
        }
    }
}

fn distribution(report: &MeasureReport, prepared: &Prepared) -> Markup {
    let each = report.cpus.iter().map(|cpu| (cpu.name(), &cpu.histogram));
    let all = (report.cpus.len() > 1).then(|| ("all".to_owned(), &prepared.all.histogram));
    let trouble: Vec<String> = report.cpus.iter().flat_map(facts::trouble).collect();
    html! {
        section {
            h2 { "Latency" small { (report.probe.kind) ", " (report.probe.rhythm()) } }
            (tables::distributions(&format!("{}s", report.probe.sample()), each.chain(all)))
            (plots(report, prepared))
            @if !trouble.is_empty() { ul { @for note in trouble { li { (note) } } } }
        }
    }
}

/// The phases side by side.
fn phases(report: &MeasureReport) -> Markup {
    let each: Vec<(String, String)> = report.phases.iter().map(facts::phase).collect();
    let names = each.iter().map(|(name, _)| name.clone());
    let rows = names.zip(report.phases.iter().map(|phase| &phase.histogram));
    html! {
        @if !report.phases.is_empty() {
            section {
                h2 { "Phases" }
                (tables::distributions("samples", rows))
                ul {
                    @for (_, about) in &each { li { (about) } }
                    @if let Some(shift) = &report.phase_shift { li { (shift.sentence()) } }
                }
            }
        }
    }
}

/// Whether the deadline is kept, and which approach suits it.
fn deadline(report: &MeasureReport) -> Markup {
    let answer = report.deadline.as_ref().map(facts::deadline);
    html! {
        @if let Some((sentence, reasons)) = answer {
            section {
                h2 { "Deadline" }
                p { b { (sentence) } }
                ul { @for reason in reasons { li { (reason) } } }
            }
        }
    }
}

/// What is seen of all of it: over each other, each on its own, how rarely, and when.
fn plots(report: &MeasureReport, prepared: &Prepared) -> Markup {
    let runs = std::slice::from_ref(prepared);
    let threshold = report.probe.threshold;
    let several = report.cpus.len() > 1;
    html! {
        @if let Some(plot) = plot::histogram(runs, threshold) { h3 { "Latency histogram" } (plot.figure()) }
        @if let Some(plot) = plot::multiples(runs, threshold).filter(|_| several) { (plot.figure()) }
        @if let Some(plot) = plot::ccdf(runs, false, threshold) { h3 { "Latency CCDF" } (plot.figure()) }
        @if let Some(plot) = plot::time(runs, true, true) { h3 { "Maximum over time" } (plot.figure()) }
    }
}

/// Spikes by cause, each with a way to the worst of them that is listed.
fn groups(report: &MeasureReport, run: &Run) -> Markup {
    let groups = facts::groups(report);
    let listed = |group: &SpikeGroup| {
        let is_own = |spike: &Late| {
            spike.cause.as_deref() == group.cause.map(Cause::code) && spike.culprit == group.culprit
        };
        run.spikes.iter().flatten().position(is_own)
    };
    html! {
        @if !groups.is_empty() {
            section {
                h2 { "Spikes by cause" }
                div.wide { table {
                    thead { tr { @for (at, name) in facts::GROUP.iter().enumerate() { th.n[at < 5] { (name) } } } }
                    tbody { @for group in groups {
                        @let [count, worst, first, last, every, because] = facts::group(group);
                        tr {
                            td.n { b { (count) } }
                            td.n { @match listed(group) {
                                Some(at) => a href={ "#spike-" (at) } { (worst) },
                                None => (worst),
                            } }
                            td.n { (first) } td.n { (last) } td.n { (every) }
                            td { (because) }
                        }
                    } }
                } }
            }
        }
    }
}

fn spikes(report: &MeasureReport) -> Markup {
    let stacks = report.stacks.as_deref();
    html! {
        @if !report.spikes.is_empty() {
            section {
                h2 { "Worst " (report.probe.sample()) "s" }
                @for (i, spike) in report.spikes.iter().enumerate() {
                    @match &spike.answer {
                        Ok(activation) if i == 0 => article id={ "spike-" (i) } { (heading(report, spike)) (activation::body(activation, stacks)) }
                        Ok(activation) => details id={ "spike-" (i) } { summary { (heading(report, spike)) } (activation::body(activation, stacks)) }
                        Err(why) => article id={ "spike-" (i) } { (heading(report, spike)) p.sure { "Not explained: " (words::clean(&why.to_string())) } }
                    }
                }
                @if report.not_listed > 0 { p.sure { "and " (words::count(report.not_listed)) " more over the threshold" } }
            }
        }
    }
}

fn heading(report: &MeasureReport, spike: &ExplainedSpike) -> Markup {
    html! {
        span.when {
            b { @if spike.kind == SpikeKind::Stuck { "more than " } (spike.latency()) @if !facts::is_of_gaps(report) { " late" } } " "
            @if let Ok(activation) = &spike.answer {
                (activation::chip(activation.verdict.cause))
                @if let Some(by) = &activation.verdict.by { " " (words::culprit(by)) }
            }
            small { "due at " (words::instant(spike.measured.due)) " on CPU " (spike.measured.cpu) }
        }
    }
}

/// What the samples support beyond themselves, and whether the claim holds.
fn beyond(report: &MeasureReport) -> Markup {
    html! {
        @if let Some(beyond) = &report.tail {
            section {
                h2 { "Extrapolation" }
                @if let Some(claimed) = &beyond.claim { (tables::claim("claim", claimed)) }
                table.said { @for (fit, sentence) in facts::beyond(report, beyond) { tr { th { (fit) } td { (sentence) } } } }
            }
        }
    }
}

fn notes(report: &MeasureReport) -> Markup {
    let notes = facts::notes(report);
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for note in notes { li { (note) } } }
            }
        }
    }
}
