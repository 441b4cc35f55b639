//! Drawings: parts of the HTML page, and files of their own for documents and issue trackers.
//!
//! A file carries its own colours, light and dark, and loads nothing from anywhere.

mod axis;
mod merge;
pub(crate) mod palette;
pub(crate) mod plot;
pub(crate) mod timeline;

use crate::{Compared, measured, words};
use maud::{Markup, PreEscaped, html};
use palette::Fill;
use std::collections::BTreeSet;
use timeline::Timeline;
use whylate_investigate::compare::{Comparison, Prepared};
use whylate_investigate::measure::MeasureReport;
use whylate_ledger::Explanation;

/// Room for the title above a drawing, and for a line of the legend below it.
const TITLE: f64 = 34.0;
const LINE: f64 = 20.0;
/// Width of a character of the legend.
const CHARACTER: f64 = 6.6;

/// The timeline of the worst activation; `None` when none was kept.
pub fn explanation(explanation: &Explanation) -> Option<String> {
    let worst = explanation.activations.iter().max_by_key(|activation| activation.response())?;
    let timeline = Timeline::of(worst);
    let mut title = format!(
        "{}: {}, {}",
        words::thread(&worst.comm, worst.tid),
        words::lateness(worst),
        worst.verdict.cause
    );
    if let Some(by) = &worst.verdict.by {
        title.push_str(&format!(" by {}", words::culprit(by)));
    }
    let (legend, lines) = legend(&timeline.fills, timeline.width);
    Some(file("timeline", &title, (timeline.width, timeline.height), &timeline.drawing, &legend, lines))
}

/// What is plotted of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How often how late.
    Histogram,
    /// How rarely so late or later, with the fitted tail.
    Ccdf,
    /// The largest latency of each stretch of time.
    Time,
}

/// A measurement's histograms, how rarely it was how late, and when; `None` when nothing was measured.
pub fn measurement(report: &MeasureReport) -> Option<String> {
    let runs = [Prepared::of(report.run())];
    let plots = [
        plot::multiples(&runs, report.probe.threshold),
        plot::ccdf(&runs, false, report.probe.threshold),
        plot::time(&runs, true, false),
    ];
    let plots: Vec<plot::Plot> = plots.into_iter().flatten().collect();
    (!plots.is_empty()).then(|| plot::file(&measured::title(report), &plots))
}

/// Runs as they are plotted: one below the other, or over each other; with `by_thread`, each thread on its own. `None`
/// where they have no samples or, of [`Kind::Time`], do not tell when these were.
pub fn plotted(runs: &[Prepared], kind: Kind, by_thread: bool) -> Option<String> {
    let (title, plot) = match kind {
        Kind::Histogram if by_thread => ("Latency, thread by thread", plot::multiples(runs, None)),
        Kind::Histogram => ("Latency", plot::histogram(runs, None)),
        Kind::Ccdf => ("How rarely so late", plot::ccdf(runs, by_thread, None)),
        Kind::Time => ("The largest latency over time", plot::time(runs, by_thread, false)),
    };
    Some(plot::file(&format!("{title}: {}", labels(runs)), &[plot?]))
}

/// How far quantiles moved from the first run to each other; `None` where there are none to compare.
pub fn shifted(comparison: &Comparison, by_thread: bool) -> Option<String> {
    let title = format!("How far quantiles moved: {}", labels(&comparison.runs));
    Some(plot::file(&title, &[plot::shift(comparison, by_thread)?]))
}

/// All that shows how runs differ; `None` when nothing was measured.
pub fn compared(compared: &Compared) -> Option<String> {
    let comparison = &compared.comparison;
    let runs = &comparison.runs;
    let plots = [plot::shift(comparison, false), plot::ccdf(runs, false, None), plot::histogram(runs, None)];
    let plots: Vec<plot::Plot> = plots.into_iter().flatten().collect();
    (!plots.is_empty()).then(|| plot::file(&compared.title(), &plots))
}

/// A drawing for a program that knows neither variables of CSS nor dark: in light colours.
pub fn plain(drawing: &str) -> String {
    plot::plain(drawing)
}

fn labels(runs: &[Prepared]) -> String {
    runs.iter().map(|run| words::clean(&run.run.label)).collect::<Vec<_>>().join(", ")
}

/// The rules for all that is drawn.
pub(crate) fn style() -> String {
    format!("{}{}", include_str!("drawing.css"), palette::css())
}

/// Swatches with their meanings, in lines of `width`, and how many lines.
fn legend(fills: &BTreeSet<Fill>, width: f64) -> (Markup, usize) {
    let (mut x, mut line) = (136.0, 0);
    let mut keys = Vec::new();
    for fill in fills {
        let room = fill.meaning().chars().count() as f64 * CHARACTER + 34.0;
        if x + room > width {
            (x, line) = (136.0, line + 1);
        }
        keys.push((x, line as f64 * LINE, fill));
        x += room;
    }
    let keys = html! {
        @for (x, y, fill) in keys {
            rect class=(fill.class()) x=(x) y=(y + 4.0) width="11" height="11" rx="3" {}
            text x=(x + 17.0) y=(y + 14.0) { (fill.meaning()) }
        }
    };
    (keys, line + 1)
}

fn file(
    class: &str,
    title: &str,
    (width, height): (f64, f64),
    drawing: &Markup,
    below: &Markup,
    lines: usize,
) -> String {
    let whole = TITLE + height + lines as f64 * LINE + 8.0;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(class) viewBox={ "0 0 " (width) " " (whole) } width=(width) height=(whole)
            font-family="system-ui,sans-serif" font-size="11" role="img" aria-label=(title) {
            style { (PreEscaped(style())) }
            rect width=(width) height=(whole) style="fill:var(--card)" {}
            text x="20" y="22" style="font-size:14px;font-weight:600" { (title) }
            g transform={ "translate(0 " (TITLE) ")" } { (drawing) }
            g.legend transform={ "translate(0 " (TITLE + height) ")" } { (below) }
        }
    };
    picture.into_string() + "\n"
}
