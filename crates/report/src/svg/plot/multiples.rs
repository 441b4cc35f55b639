//! Small multiples: a small histogram for each thread of each run, all on the same scales.

use super::frame::{Frame, Scaled};
use super::histogram::{Heights, limit, line, outline};
use super::scale::{Axis, BOLD, CHARACTER, Unit};
use super::series::{self, Series};
use super::{BELOW, LEFT, Plot, TOP, WIDTH, columns, px};
use crate::words;
use maud::html;
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_investigate::compare::Prepared;
use whylate_stats::Histogram;

const COLUMNS: usize = 90;
const HEIGHT: f64 = 92.0;
const GAP: f64 = 16.0;
/// Panels side by side: the last number below the one and the first below the next are in the middle of their lines.
const ASIDE: f64 = 52.0;
const NAME: f64 = 18.0;
const RIGHT: f64 = 26.0;
/// Above the columns of several runs, for their names.
const HEAD: f64 = 22.0;
/// Panels side by side of one run, and panels at most: those with the largest maxima.
const ABREAST: usize = 3;
const MOST: usize = 96;

/// Each thread on its own. Of several runs, a run is a column, and threads of the same name are side by side.
pub(crate) fn multiples(runs: &[Prepared], threshold: Option<Ns>) -> Option<Plot> {
    let mut all = Series::of(runs, true);
    let left_out = all.len().saturating_sub(MOST);
    if left_out > 0 {
        let mut maxima: Vec<f64> = all.iter().map(Series::max).collect();
        maxima.sort_by(f64::total_cmp);
        let least = maxima[left_out];
        all.retain(|series| series.max() >= least);
        all.truncate(MOST);
    }
    let (from, to) = series::span(&all)?;
    let histograms: Vec<&Histogram> = all.iter().map(|series| series.histogram()).collect();
    let edges = columns::edges(&histograms, COLUMNS);
    let counts: Vec<Vec<u64>> = histograms.iter().map(|one| columns::counts(one, &edges)).collect();
    let heights = Heights::of(&all);
    let (places, abreast, rows) = arranged(runs, &all);
    let (x, y) = (Axis::new(Unit::Latency, from, to), heights.axis(&all, &counts));
    let width = (WIDTH - LEFT - RIGHT - ASIDE * (abreast - 1) as f64) / abreast as f64;
    let lowest = |column: usize| places.iter().filter(|place| place.0 == column).map(|place| place.1).max();
    let head = if runs.len() > 1 { HEAD } else { 0.0 };
    let heads = runs.iter().enumerate().filter(|_| runs.len() > 1).map(|(at, run)| {
        let left = LEFT + at as f64 * (width + ASIDE);
        let name = fitting(&words::clean(&run.run.label), width);
        html! { text class={ "series s" (at % series::COLORS) } x=(px(left)) y=(px(TOP + 4.0)) { (name) } }
    });
    let top = TOP + head;
    let panels = all.iter().zip(&counts).zip(&places).map(|((series, counts), &(column, row))| {
        let left = LEFT + column as f64 * (width + ASIDE);
        let frame =
            Frame { left, top: top + NAME + row as f64 * (HEIGHT + NAME + GAP), width, height: HEIGHT };
        let scaled = Scaled { frame, x, y };
        let points = outline(&scaled, &edges, |column| heights.of_count(counts[column], series));
        // The colour that the line has in the other plots.
        let color = if runs.len() == 1 { series.color } else { Some(series.run % series::COLORS) };
        let own = Series { color, ..series.clone() };
        let max = series.histogram().max().unwrap_or_default();
        // Of several, the run is named above its column.
        let name = match runs {
            [_] => series.name.clone(),
            _ => words::clean(&series.samples.measured.name),
        };
        let name = fitting(&name, width - 14.0 * CHARACTER);
        html! {
            (scaled.axes(
                (lowest(column) == Some(row)).then_some("latency"),
                (column == 0).then_some(if row == rows / 2 { heights.title() } else { "" }),
            ))
            (limit(&scaled, threshold, None))
            (line(&own, &points, true))
            text.panel x=(px(left)) y=(px(frame.top - 5.0)) { (name) }
            text.beside x=(px(frame.right())) y=(px(frame.top - 5.0)) { "max " (max) }
        }
    });
    let drawing = html! { g.names { @for head in heads { (head) } } @for panel in panels { (panel) } };
    let mut notes = vec!["All have the same scales, and both axes are logarithmic.".to_owned()];
    notes.extend(series::off_scale(&all));
    if left_out > 0 {
        notes
            .push(format!("{} with smaller maxima are not drawn.", words::plural(left_out as u64, "thread")));
    }
    Some(Plot {
        drawing,
        height: top + rows as f64 * (HEIGHT + NAME + GAP) - GAP + BELOW,
        about: "Histograms of latency, one for each thread".to_owned(),
        notes,
    })
}

/// Column and row of each, how many columns there are, and how many rows.
fn arranged(runs: &[Prepared], all: &[Series<'_>]) -> (Vec<(usize, usize)>, usize, usize) {
    if runs.len() == 1 {
        let abreast = match all.len() {
            4 => 2,
            count => count.clamp(1, ABREAST),
        };
        let places = (0..all.len()).map(|at| (at % abreast, at / abreast)).collect();
        return (places, abreast, all.len().div_ceil(abreast));
    }
    let thread = |series: &Series<'_>| (series.cpu(), series.samples.measured.name.clone());
    let mut rows: BTreeMap<(Option<Cpu>, String), usize> =
        all.iter().map(|series| (thread(series), 0)).collect();
    rows.values_mut().enumerate().for_each(|(at, row)| *row = at);
    let row = |series: &Series<'_>| rows.get(&thread(series)).copied().unwrap_or(0);
    let places = all.iter().map(|series| (series.run, row(series))).collect();
    (places, runs.len(), rows.len())
}

/// As much of a name as there is room for: its end shows which thread it is.
fn fitting(name: &str, width: f64) -> String {
    let room = (width / BOLD).max(4.0) as usize;
    let count = name.chars().count();
    if count <= room {
        return name.to_owned();
    }
    "…".to_owned() + &name.chars().skip(count + 1 - room).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_end() {
        assert_eq!(fitting("short", 100.0), "short");
        assert_eq!(fitting("a-long-file.json, CPU 3", 9.5 * BOLD), "…n, CPU 3");
    }
}
