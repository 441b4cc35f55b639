//! The CCDF: the share of samples at or above a latency, and the fitted tail beyond them.

use super::frame::{Frame, Scaled};
use super::histogram::limit;
use super::place::Places;
use super::scale::{Axis, Unit};
use super::series::{self, Series};
use super::{BELOW, LEFT, Plot, TOP, WIDTH, path, thinned};
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::compare::Prepared;
use whylate_stats::{Histogram, Tail};

const HEIGHT: f64 = 380.0;
const RIGHT: f64 = 110.0;
/// How far below the measured share a fit is drawn: farther it is not reliable.
const BEYOND: f64 = 1e-3;
/// And to latencies so many times the largest measured.
const FARTHEST: f64 = 8.0;
/// Lines with fits at most: more cannot be told apart.
const FITS: usize = 6;

/// Each run, or each thread, with its fit or why there is none. `None` without samples.
pub(crate) fn ccdf(runs: &[Prepared], by_thread: bool, threshold: Option<Ns>) -> Option<Plot> {
    let all = Series::of(runs, by_thread);
    let mut notes = Vec::new();
    let fits: Vec<Option<&Tail>> = match all.len() {
        0..=FITS => all.iter().map(|series| fit(series, &mut notes)).collect(),
        _ => vec![None; all.len()],
    };
    let is_crowded = all.len() > FITS;
    let mut plot = plotted(&all, &fits, threshold, notes)?;
    if is_crowded {
        plot.notes.push("No tail is fitted: there are too many lines.".to_owned());
    }
    Some(plot)
}

/// Each thread without a fit: of samples for which none would mean anything. `None` without samples.
pub(crate) fn ccdf_without_fit(runs: &[Prepared]) -> Option<Plot> {
    let all = Series::of(runs, true);
    plotted(&all, &vec![None; all.len()], None, Vec::new())
}

fn plotted(
    all: &[Series<'_>],
    fits: &[Option<&Tail>],
    threshold: Option<Ns>,
    mut notes: Vec<String>,
) -> Option<Plot> {
    let (from, mut to) = series::span(all)?;
    let most = all.iter().map(|series| series.histogram().count()).max().unwrap_or(1) as f64;
    let is_fitted = fits.iter().any(Option::is_some);
    let lowest = if is_fitted { BEYOND / most } else { 0.6 / most };
    for (series, tail) in all.iter().zip(fits) {
        if let Some(level) = tail.and_then(|tail| tail.level(lowest)) {
            to = to.max((level.estimate.0 as f64 * 1.1).min(series.max() * FARTHEST));
        }
    }
    let frame = Frame { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT };
    let scaled =
        Scaled { frame, x: Axis::new(Unit::Latency, from, to), y: Axis::new(Unit::Share, lowest, 1.0) };
    let lines: Vec<(&Series<'_>, Vec<(f64, f64)>)> =
        all.iter().map(|series| (series, measured(&scaled, series.histogram()))).collect();
    let fitted: Vec<Vec<(f64, f64)>> = fits
        .iter()
        .map(|tail| tail.map_or_else(Vec::new, |tail| beyond(&scaled, tail, to, lowest)))
        .collect();
    let mut places = Places::new(&frame, RIGHT - 4.0);
    fitted.iter().for_each(|points| places.line(points));
    let below = frame.bottom() + BELOW;
    let (names, used) = series::named(&mut places, &lines, below);
    let limit = limit(&scaled, threshold, Some(&mut places));
    let drawing = html! {
        (scaled.axes(Some("latency"), Some("share of samples at or above")))
        (limit)
        @for (at, (series, points)) in series::in_order(&lines) { (drawn(series, points, &fitted[at])) }
        (names)
    };
    if is_fitted {
        let note = "Dashed: the fitted tail, where independent samples of one cause would go on; what no sample has \
                    shown is not shown by a line either.";
        notes.insert(0, note.to_owned());
    }
    Some(Plot {
        drawing,
        height: below + used,
        about: "CCDF: the share of samples at or above each latency".to_owned(),
        notes,
    })
}

fn fit<'a>(series: &Series<'a>, notes: &mut Vec<String>) -> Option<&'a Tail> {
    series
        .samples
        .tail()
        .map_err(|refusal| notes.push(format!("{}: no tail is fitted: {refusal}.", series.name)))
        .ok()
}

fn drawn(series: &Series<'_>, points: &[(f64, f64)], fitted: &[(f64, f64)]) -> Markup {
    html! {
        g class=(series.class()) tabindex="0" role="img" aria-label=(series.about()) {
            title { (series.about()) }
            path.stroke d=(path(points)) {}
            @if !fitted.is_empty() { path.stroke.fitted d=(path(fitted)) {} }
        }
    }
}

/// Down a slope inside a bucket, whose samples may lie anywhere in it; flat from one bucket to the next.
fn measured(scaled: &Scaled, histogram: &Histogram) -> Vec<(f64, f64)> {
    let count = histogram.count() as f64;
    let max = histogram.max().unwrap_or_default();
    let mut left = histogram.count();
    let mut points = Vec::with_capacity(histogram.buckets().len() * 2 + 2);
    for bucket in histogram.buckets() {
        let share = left as f64 / count;
        points.push((scaled.x(bucket.from.0 as f64), scaled.y(share)));
        left -= bucket.count;
        if left > 0 {
            points.push((scaled.x(bucket.upto.0 as f64), scaled.y(left as f64 / count)));
        }
    }
    // The last one is exact; before it, one sample or more.
    let last = if histogram.overflow() > 0 { histogram.overflow() } else { 1 };
    points.push((scaled.x(max.0 as f64), scaled.y(last as f64 / count)));
    thinned(points)
}

fn beyond(scaled: &Scaled, tail: &Tail, to: f64, lowest: f64) -> Vec<(f64, f64)> {
    const STEPS: i32 = 80;
    let from = tail.threshold.0.max(1) as f64;
    let factor = (to / from).max(1.0);
    let points = (0..=STEPS).map(|step| {
        let latency = from * factor.powf(f64::from(step) / f64::from(STEPS));
        (latency, tail.beyond(Ns(latency as i64)))
    });
    let visible = points.take_while(|(_, share)| *share >= lowest);
    visible.map(|(latency, share)| (scaled.x(latency), scaled.y(share))).collect()
}
