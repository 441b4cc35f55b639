//! Latency histograms: lines over each other, both axes logarithmic.

use super::frame::{Frame, Scaled};
use super::place::Places;
use super::scale::{Axis, Unit};
use super::series::{self, Series};
use super::{BELOW, LEFT, Plot, TOP, WIDTH, columns, path, px};
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::compare::Prepared;
use whylate_stats::Histogram;

const HEIGHT: f64 = 330.0;
const COLUMNS: usize = 140;
/// Right of the frame.
const RIGHT: f64 = 24.0;

/// The runs, or the threads of the only one. `None` without samples.
pub(crate) fn histogram(runs: &[Prepared], threshold: Option<Ns>) -> Option<Plot> {
    let all = Series::of(runs, runs.len() == 1);
    let (from, to) = series::span(&all)?;
    let histograms: Vec<&Histogram> = all.iter().map(|series| series.histogram()).collect();
    let edges = columns::edges(&histograms, COLUMNS);
    let heights = Heights::of(&all);
    let counts: Vec<Vec<u64>> = histograms.iter().map(|one| columns::counts(one, &edges)).collect();
    let frame = Frame { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT };
    let scaled = Scaled { frame, x: Axis::new(Unit::Latency, from, to), y: heights.axis(&all, &counts) };
    let outlines = all.iter().zip(&counts).map(|(series, counts)| {
        (series, outline(&scaled, &edges, |column| heights.of_count(counts[column], series)))
    });
    let lines: Vec<(&Series<'_>, Vec<(f64, f64)>)> = outlines.collect();
    let mut places = Places::new(&frame, RIGHT - 4.0);
    let below = frame.bottom() + BELOW;
    let (names, used) = series::named(&mut places, &lines, below);
    let limit = limit(&scaled, threshold, Some(&mut places));
    let drawing = html! {
        (scaled.axes(Some("latency"), Some(heights.title())))
        (limit)
        @for (_, (series, points)) in series::in_order(&lines) { (line(series, points, lines.len() == 1)) }
        (names)
    };
    let of = if runs.len() == 1 { "thread" } else { "run" };
    let mut notes =
        vec!["Both axes are logarithmic: a single late sample among millions is seen.".to_owned()];
    notes.extend(series::off_scale(&all));
    Some(Plot {
        drawing,
        height: below + used,
        about: format!("Histograms of latency, one for each {of}, over each other"),
        notes,
    })
}

/// What the height of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heights {
    /// Samples.
    Counts,
    /// The share of a line's samples: lines of different length can be compared.
    Shares,
}

impl Heights {
    /// Counts are what people know; they mislead only where one line has a multiple of the other's.
    pub(super) fn of(all: &[Series<'_>]) -> Heights {
        let counts = || all.iter().map(|series| series.histogram().count());
        match (counts().min(), counts().max()) {
            (Some(least), Some(most)) if most / least.max(1) >= 2 => Heights::Shares,
            _ => Heights::Counts,
        }
    }

    pub(super) fn of_count(self, count: u64, series: &Series<'_>) -> f64 {
        match self {
            Heights::Counts => count as f64,
            Heights::Shares => count as f64 / series.histogram().count().max(1) as f64,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Heights::Counts => "samples",
            Heights::Shares => "share of samples",
        }
    }

    pub(super) fn axis(self, all: &[Series<'_>], counts: &[Vec<u64>]) -> Axis {
        let highest = all
            .iter()
            .zip(counts)
            .flat_map(|(series, counts)| counts.iter().map(move |&count| self.of_count(count, series)));
        let highest = highest.fold(0.0, f64::max) * 1.5;
        let most = all.iter().map(|series| series.histogram().count()).max().unwrap_or(1);
        match self {
            Heights::Counts => Axis::new(Unit::Count, 0.7, highest.max(10.0)),
            Heights::Shares => Axis::new(Unit::Share, 0.7 / most as f64, highest),
        }
    }
}

/// The upper edge of the columns, down to the axis where there are none.
pub(super) fn outline(scaled: &Scaled, edges: &[Ns], height: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let bottom = scaled.frame.bottom();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let columns = edges.len().saturating_sub(1);
    // Before the first and after the last sample there is nothing to be drawn.
    let first = (0..columns).find(|&at| height(at) > 0.0).unwrap_or(0);
    let end = (0..columns).rfind(|&at| height(at) > 0.0).map_or(0, |last| last + 1);
    for (at, pair) in edges.windows(2).enumerate().take(end).skip(first) {
        let height = height(at);
        let y = if height > 0.0 { scaled.y(height) } else { bottom };
        for (edge, begins) in [(pair[0], true), (pair[1], false)] {
            let x = scaled.x(edge.0 as f64);
            if begins && points.last().is_none_or(|last| last.1 != y) {
                let before = points.last().map_or(bottom, |last| last.1);
                points.extend([(x, before), (x, y)]);
            } else if !begins {
                // Along the same height only its end counts.
                if points.len() > 1 && points[points.len() - 2..].iter().all(|point| point.1 == y) {
                    points.pop();
                }
                points.push((x, y));
            }
        }
    }
    let end = points.last().map(|last| (last.0, bottom));
    points.extend(end);
    points.dedup();
    points
}

/// A line with the text it shows when it is pointed at or focused.
pub(super) fn line(series: &Series<'_>, points: &[(f64, f64)], is_filled: bool) -> Markup {
    html! {
        g class=(series.class()) tabindex="0" role="img" aria-label=(series.about()) {
            title { (series.about()) }
            @if is_filled { path.area d=(path(points)) {} }
            path.stroke d=(path(points)) {}
        }
    }
}

/// Where samples begin to be too late, with its name where there is room for it in `places`.
pub(super) fn limit(scaled: &Scaled, threshold: Option<Ns>, places: Option<&mut Places>) -> Markup {
    let Some(threshold) = threshold.filter(|threshold| scaled.x.holds(threshold.0 as f64)) else {
        return html! {};
    };
    let (x, top, bottom) = (scaled.x(threshold.0 as f64), scaled.frame.top, scaled.frame.bottom());
    let name = format!("threshold {threshold}");
    let near = [14.0, 30.0, 46.0, 62.0].map(|below| (x, top + below));
    let placed = places.and_then(|places| places.name(&name, &near));
    html! {
        g.limit {
            line x1=(px(x)) x2=(px(x)) y1=(px(top)) y2=(px(bottom)) { title { (name) } }
            @if let Some(placed) = placed { text x=(px(placed.x)) y=(px(placed.y)) { (placed.text) } }
        }
    }
}
