//! What is drawn as one line: a run, or a thread of one.

use super::place::{Placed, Places};
use super::{LEFT, WIDTH, px};
use crate::words;
use maud::{Markup, html};
use whylate_base::Cpu;
use whylate_investigate::compare::{Prepared, Samples};
use whylate_stats::{Histogram, Maxima};

/// So many have a colour of their own; those with the largest maxima.
pub(super) const COLORS: usize = 8;

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Series<'a> {
    pub(super) name: String,
    pub(super) samples: Samples<'a>,
    /// Its run among the runs.
    pub(super) run: usize,
    /// Which colour; `None`: it is one of many, in grey.
    pub(super) color: Option<usize>,
}

impl<'a> Series<'a> {
    /// Of each run's threads together, or of each thread; those without samples are left out.
    pub(super) fn of(runs: &'a [Prepared], by_thread: bool) -> Vec<Series<'a>> {
        let mut all: Vec<Series<'a>> = Vec::new();
        let mut add = |name, samples, run| all.push(Series { name, samples, run, color: None });
        for (at, run) in runs.iter().enumerate() {
            let label = words::clean(&run.run.label);
            if !by_thread {
                add(label, run.together(), at);
                continue;
            }
            for samples in run.threads() {
                let thread = words::clean(&samples.measured.name);
                let name = if runs.len() == 1 { thread } else { format!("{label}, {thread}") };
                add(name, samples, at);
            }
        }
        all.retain(|series| series.histogram().count() > 0);
        if all.len() == 1 && all[0].name.is_empty() {
            all[0].name = "all".to_owned();
        }
        let mut latest: Vec<usize> = (0..all.len()).collect();
        latest.sort_by_key(|&at| std::cmp::Reverse(all[at].histogram().max()));
        latest.truncate(COLORS);
        latest.sort_unstable();
        for (color, at) in latest.into_iter().enumerate() {
            all[at].color = Some(color);
        }
        all
    }

    pub(super) fn histogram(&self) -> &'a Histogram {
        &self.samples.measured.histogram
    }

    /// The largest of each stretch of time, where that is known.
    pub(super) fn maxima(&self) -> Option<&'a Maxima> {
        self.samples.measured.maxima.as_ref()
    }

    /// The CPU of one thread that was bound to it.
    pub(super) fn cpu(&self) -> Option<Cpu> {
        self.samples.measured.cpu
    }

    /// The class of its colour.
    pub(super) fn class(&self) -> String {
        self.color.map_or_else(|| "series many".to_owned(), |color| format!("series s{color}"))
    }

    /// In a sentence, for a tooltip or a screen reader.
    pub(super) fn about(&self) -> String {
        format!(
            "{}: {}, median {}, p99.99 {}, max {}",
            self.name,
            words::plural(self.histogram().count(), "sample"),
            words::known(self.histogram().percentile(0.5)),
            words::known(self.histogram().tail(0.9999)),
            words::known(self.histogram().max())
        )
    }

    pub(super) fn max(&self) -> f64 {
        self.histogram().max().unwrap_or_default().0 as f64
    }
}

/// A note on samples in no bucket: they are drawn where the latest of them was.
pub(super) fn off_scale(all: &[Series<'_>]) -> Vec<String> {
    let beyond = all.iter().filter(|series| series.histogram().overflow() > 0).map(|series| {
        let samples = words::plural(series.histogram().overflow(), "sample");
        format!(
            "{}: {samples} off the scale, of which only the latest is known: they are drawn there.",
            series.name
        )
    });
    beyond.collect()
}

/// Those in grey first: the others lie over them.
pub(super) fn in_order<'a, T>(
    lines: &'a [(&'a Series<'a>, T)],
) -> impl Iterator<Item = (usize, &'a (&'a Series<'a>, T))> {
    let of = |is_colored: bool| {
        lines.iter().enumerate().filter(move |(_, (series, _))| series.color.is_some() == is_colored)
    };
    of(false).chain(of(true))
}

/// From the least to the most of all of them, with some room.
pub(super) fn span(all: &[Series<'_>]) -> Option<(f64, f64)> {
    let least = all.iter().filter_map(|series| series.histogram().min()).min()?;
    let most = all.iter().filter_map(|series| series.histogram().max()).max()?;
    Some(((least.0.max(1) as f64) * 0.9, (most.0.max(1) as f64) * 1.12))
}

/// Names beside their lines, and below the drawing those that found no room there.
pub(super) fn named(
    places: &mut Places,
    lines: &[(&Series<'_>, Vec<(f64, f64)>)],
    below: f64,
) -> (Markup, f64) {
    lines.iter().for_each(|(_, points)| places.line(points));
    let mut beside: Vec<(Placed, &Series<'_>)> = Vec::new();
    let mut homeless: Vec<&Series<'_>> = Vec::new();
    for (series, points) in lines.iter().filter(|(series, _)| series.color.is_some()) {
        // From the late end on: that is where the lines part.
        let near: Vec<(f64, f64)> =
            points.iter().rev().step_by((points.len() / 60).max(1)).copied().collect();
        match places.name(&series.name, &near) {
            Some(placed) => beside.push((placed, series)),
            None => homeless.push(series),
        }
    }
    let others = lines.iter().filter(|(series, _)| series.color.is_none()).count();
    let (mut x, mut y) = (LEFT, below + 12.0);
    let mut keys = Vec::new();
    let grey = (others > 0).then(|| (format!("{others} more"), "series many".to_owned()));
    for (name, class) in homeless.iter().map(|series| (series.name.clone(), series.class())).chain(grey) {
        let room = name.chars().count() as f64 * super::scale::CHARACTER + 40.0;
        if x + room > WIDTH && x > LEFT {
            (x, y) = (LEFT, y + 18.0);
        }
        keys.push((x, y, name, class));
        x += room;
    }
    let used = if keys.is_empty() { 0.0 } else { y - below + 8.0 };
    let drawn = html! {
        g.names {
            @for (placed, series) in &beside {
                text class=(series.class()) x=(px(placed.x)) y=(px(placed.y)) { (placed.text) }
            }
            @for (x, y, name, class) in &keys {
                g class=(class) { line x1=(px(*x)) x2=(px(x + 18.0)) y1=(px(y - 4.0)) y2=(px(y - 4.0)) {} }
                text x=(px(x + 24.0)) y=(px(*y)) { (name) }
            }
        }
    };
    (drawn, used)
}
