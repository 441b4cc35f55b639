//! Histograms of latency, one below the other, so that CPUs can be compared.

use crate::bins::{LogAxis, height};
use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_probes::CpuResult;

/// A histogram's width and height in SVG units, and the room for a CPU's name and its top count.
const PLOT: f64 = 960.0;
const TALL: f64 = 46.0;
const LEFT: f64 = 136.0;
const RIGHT: f64 = 20.0;
const GAP: f64 = 10.0;
const COLUMNS: usize = 240;
/// Two labels of ticks do not come closer than this.
const TICK: f64 = 60.0;

/// The latency histograms of all CPUs on one scale.
pub(crate) struct Histograms {
    /// What goes into an `svg` element of class `chart`.
    pub(crate) drawing: Markup,
    /// The drawing's size.
    pub(crate) width: f64,
    /// The drawing's size.
    pub(crate) height: f64,
}

/// What a caption has to say.
pub(crate) const NOTE: &str = "Both axes are logarithmic: a single late wake-up among millions is seen.";

impl Histograms {
    /// None when nothing was measured.
    pub(crate) fn of(cpus: &[CpuResult], threshold: Option<Ns>) -> Option<Histograms> {
        let axis = LogAxis::of(cpus.iter().map(|cpu| &cpu.histogram))?;
        let bottom = cpus.len() as f64 * (TALL + GAP);
        Some(Histograms {
            drawing: drawing(cpus, threshold, &axis, bottom),
            width: LEFT + PLOT + RIGHT,
            height: bottom + 24.0,
        })
    }

    /// As a part of a page.
    pub(crate) fn figure(&self) -> Markup {
        html! {
            figure {
                div.wide {
                    svg.chart viewBox={ "0 0 " (self.width) " " (self.height) } role="img"
                        aria-label="Histograms of latency by CPU" { (self.drawing) }
                }
                figcaption { span.note { (NOTE) } }
            }
        }
    }
}

fn drawing(cpus: &[CpuResult], threshold: Option<Ns>, axis: &LogAxis, bottom: f64) -> Markup {
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
        g.axis {
            @for &tick in &ticks {
                line x1=(px(x(tick))) x2=(px(x(tick))) y1="0" y2=(px(bottom)) {}
                text x=(px(x(tick))) y=(px(bottom + 16.0)) { (round(tick)) }
            }
        }
        @for (i, cpu) in cpus.iter().enumerate() {
            (histogram(cpu, axis, i as f64 * (TALL + GAP)))
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
