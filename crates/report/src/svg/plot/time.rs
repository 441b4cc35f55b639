//! When: the largest latency of each stretch of time, and which of them are explained spikes.

use super::frame::{Frame, Scaled};
use super::place::{Placed, Places};
use super::scale::{Axis, Unit, clock};
use super::series::{self, Series};
use super::{BELOW, LEFT, Plot, TOP, WIDTH, path, px};
use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::compare::Prepared;
use whylate_stats::{Late, Maxima};

const HEIGHT: f64 = 300.0;
const RIGHT: f64 = 110.0;
/// Spikes whose cause is written beside them.
const NAMED: usize = 6;

/// Points that follow each other.
type Line = Vec<(f64, f64)>;

/// A spike that is the largest of its stretch of time.
struct Marked<'a> {
    spike: &'a Late,
    run: usize,
    /// Its number among its run's spikes.
    number: usize,
    at: (f64, f64),
}

/// The maxima of each run, or of each thread. With `linked`, the spikes of the first run lead to `#spike-N`. `None`
/// where no run knows when its samples were.
pub(crate) fn time(runs: &[Prepared], by_thread: bool, linked: bool) -> Option<Plot> {
    let mut all = Series::of(runs, by_thread);
    let before = all.len();
    all.retain(|series| series.maxima().is_some_and(|maxima| maxima.blocks().iter().any(Option::is_some)));
    let unknown = before - all.len();
    let maxima = || all.iter().filter_map(|series| series.maxima());
    let values = || maxima().flat_map(|maxima| maxima.blocks().iter().flatten().copied());
    let (least, most) = values().min().zip(values().max())?;
    let end =
        maxima().map(|maxima| maxima.length().0 as f64 * maxima.blocks().len() as f64).fold(1.0, f64::max);
    let frame = Frame { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT };
    let (least, most) = (least.0.max(1) as f64 * 0.8, most.0.max(1) as f64 * 1.5);
    let scaled =
        Scaled { frame, x: Axis::new(Unit::Time, 0.0, end), y: Axis::new(Unit::Latency, least, most) };
    let lines: Vec<(&Series<'_>, Vec<Line>)> =
        all.iter().filter_map(|series| Some((series, stretches(&scaled, series.maxima()?)))).collect();
    let marked = marked(&scaled, runs, &all);
    let mut places = Places::new(&frame, RIGHT - 4.0);
    lines.iter().flat_map(|(_, parts)| parts).for_each(|part| places.line(part));
    for one in &marked {
        places.line(&[(one.at.0 - 5.0, one.at.1), (one.at.0 + 5.0, one.at.1)]);
    }
    let causes = causes(&mut places, &marked);
    let whole: Vec<(&Series<'_>, Vec<(f64, f64)>)> =
        lines.iter().map(|(series, parts)| (*series, parts.concat())).collect();
    let below = frame.bottom() + BELOW;
    let (names, used) = named(&mut places, &whole, below);
    let drawing = html! {
        (scaled.axes(Some("time from the beginning"), Some("largest latency")))
        @for (_, (series, parts)) in series::in_order(&lines) { (line(series, parts)) }
        @for one in &marked { (mark(one, linked && one.run == 0)) }
        g.causes { @for placed in &causes { text x=(px(placed.x)) y=(px(placed.y)) { (placed.text) } } }
        (names)
    };
    let longest = clock(maxima().map(Maxima::length).max().unwrap_or_default().0);
    let mut notes = vec![format!(
        "The largest latency of each {longest}. Circles: late samples that are listed, with their culprits."
    )];
    if marked.is_empty() {
        notes[0] = format!("The largest latency of each {longest}.");
    }
    if unknown > 0 {
        notes.push(format!(
            "Of {} it is not known when their samples were.",
            words::plural(unknown as u64, "line")
        ));
    }
    Some(Plot {
        drawing,
        height: below + used,
        about: "The largest latency of each stretch of time".to_owned(),
        notes,
    })
}

/// Points of blocks that follow each other; a block without samples ends a line.
fn stretches(scaled: &Scaled, maxima: &Maxima) -> Vec<Line> {
    let mut parts: Vec<Line> = vec![Vec::new()];
    for (at, largest) in maxima.blocks().iter().enumerate() {
        match (largest, parts.last_mut()) {
            (Some(largest), Some(part)) => {
                part.push((scaled.x(middle(maxima, at)), scaled.y(largest.0 as f64)))
            }
            (None, Some(part)) if !part.is_empty() => parts.push(Vec::new()),
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn middle(maxima: &Maxima, block: usize) -> f64 {
    (block as f64 + 0.5) * maxima.length().0 as f64
}

fn line(series: &Series<'_>, parts: &[Vec<(f64, f64)>]) -> Markup {
    html! {
        g class=(series.class()) tabindex="0" role="img" aria-label=(series.about()) {
            title { (series.about()) }
            @for part in parts {
                @match part.as_slice() {
                    [only] => { circle.dot cx=(px(only.0)) cy=(px(only.1)) r="2" {} },
                    part => { path.stroke.thin d=(path(part)) {} },
                }
            }
        }
    }
}

/// The spikes that are the largest of a block: the spike's own time and the block's time are the same
/// number, so no two clocks have to be brought together.
fn marked<'a>(scaled: &Scaled, runs: &'a [Prepared], all: &[Series<'_>]) -> Vec<Marked<'a>> {
    let mut marked: Vec<Marked<'a>> = Vec::new();
    for (run, number, spike) in runs.iter().enumerate().flat_map(|(run, own)| {
        own.run.spikes.iter().flatten().enumerate().map(move |(number, spike)| (run, number, spike))
    }) {
        let own =
            |series: &&Series<'_>| series.run == run && (series.cpu().is_none() || series.cpu() == spike.cpu);
        let place = all.iter().filter(own).filter_map(|series| series.maxima()).find_map(|maxima| {
            let block = maxima.blocks().iter().position(|largest| *largest == Some(spike.latency))?;
            Some((scaled.x(middle(maxima, block)), scaled.y(spike.latency.0 as f64)))
        });
        if let Some(at) = place.filter(|at| !marked.iter().any(|other| other.at == *at)) {
            marked.push(Marked { spike, run, number, at });
        }
    }
    marked
}

/// The causes of the latest, each once.
fn causes(places: &mut Places, marked: &[Marked<'_>]) -> Vec<Placed> {
    let mut latest: Vec<&Marked<'_>> = marked.iter().filter(|one| one.spike.cause.is_some()).collect();
    latest.sort_by_key(|one| std::cmp::Reverse(one.spike.latency));
    let mut seen: Vec<(&Option<String>, &Option<String>)> = Vec::new();
    let mut placed = Vec::new();
    for one in latest {
        let key = (&one.spike.cause, &one.spike.culprit);
        if seen.contains(&key) || seen.len() == NAMED {
            continue;
        }
        seen.push(key);
        placed.extend(places.name(&because(one.spike, false), &[one.at]));
    }
    placed
}

fn because(spike: &Late, in_full: bool) -> String {
    let who = spike.culprit.as_deref().map(words::clean);
    match (&spike.cause, who) {
        (Some(cause), Some(who)) if in_full => format!("{}, {who}", words::clean(cause)),
        (Some(_), Some(who)) => who,
        (Some(cause), None) => words::clean(cause),
        (None, _) => "not explained".to_owned(),
    }
}

fn mark(one: &Marked<'_>, is_linked: bool) -> Markup {
    let latency: Ns = one.spike.latency;
    let place = one.spike.cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
    let about = format!("{latency} late{place}: {}", because(one.spike, true));
    let circle = html! { circle cx=(px(one.at.0)) cy=(px(one.at.1)) r="4.5" {} };
    html! {
        @if is_linked {
            a.spike href={ "#spike-" (one.number) } aria-label=(about) { title { (about) } (circle) }
        } @else {
            g.spike tabindex="0" role="img" aria-label=(about) { title { (about) } (circle) }
        }
    }
}

fn named(places: &mut Places, lines: &[(&Series<'_>, Vec<(f64, f64)>)], below: f64) -> (Markup, f64) {
    // They are obstacles already, part by part: across a gap there is no line.
    let ends: Vec<(&Series<'_>, Vec<(f64, f64)>)> = lines
        .iter()
        .map(|(series, points)| (*series, points.last().copied().into_iter().collect()))
        .collect();
    series::named(places, &ends, below)
}
