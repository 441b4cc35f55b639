//! The timeline of an activation: its ledger and the CPUs involved.
//!
//! ```text
//!               due    woken                         running done
//!   rtload:312  |▒▒▒▒▒▒|▒▒▒▒▒▒▒▒ rt-throttled ▒▒▒▒▒▒▒▒|█████████|    ledger
//!   CPU 1       |  ▌         ▌          ▌            ▌|█████████|    who had the CPU
//!   CPU 0       |▓▓▓▓    ▓▓▓▓▓  kworker   ▓▓▓▓        |         |
//!               0            10 ms          20 ms                    since due
//! ```

mod axis;
mod merge;

use crate::explain::rows;
use crate::svg::palette::{self, Fill};
use crate::words;
use maud::{Markup, html};
use merge::merge;
use std::collections::BTreeSet;
use std::ops::Range;
use whylate_base::Ns;
use whylate_ledger::{Activation, CpuTrack, Segment, Slice};

/// Width of the lanes' names, and of the plot, in SVG units (about a CSS pixel each).
const GUTTER: f64 = 116.0;
const PLOT: f64 = 960.0;
/// Room on both sides of the plot for labels that stick out.
const MARGIN: f64 = 20.0;
/// Where the plot begins.
const LEFT: f64 = GUTTER + MARGIN;
const LANE: f64 = 26.0;
const GAP: f64 = 7.0;
/// A line of labels of markers.
const LABEL: f64 = 15.0;
const AXIS: f64 = 24.0;
/// Rectangles in one lane at most.
const BUDGET: usize = 500;
/// A slice narrower than this stays invisible even when zoomed in twenty times.
const FINEST: f64 = 0.05;
/// Width of a character of a label.
const CHARACTER: f64 = 6.4;

/// An activation drawn, and the facts for its caption.
pub(crate) struct Timeline {
    /// What goes into an `svg` element of class `timeline`.
    pub(crate) drawing: Markup,
    /// The drawing's size.
    pub(crate) width: f64,
    /// The drawing's size.
    pub(crate) height: f64,
    /// The colours in it.
    pub(crate) fills: BTreeSet<Fill>,
    /// What was drawn together and when 0 is.
    pub(crate) note: String,
    span: Ns,
    about: String,
}

impl Timeline {
    pub(crate) fn of(activation: &Activation) -> Timeline {
        let scale = Scale { start: activation.due, span: activation.response().max(Ns(1)) };
        let lanes = lanes(activation, &scale);
        let (markers, label_rows) = markers(activation, &scale);
        let top = label_rows as f64 * LABEL + 6.0;
        let bottom = top + lanes.len() as f64 * (LANE + GAP);
        let height = bottom + AXIS;
        let fills: BTreeSet<Fill> = lanes.iter().flat_map(|lane| &lane.boxes).map(|one| one.fill).collect();
        let merged = lanes.iter().flat_map(|lane| &lane.boxes).any(|one| one.many);
        let note = format!(
            "0 is due, {} s.{}",
            words::instant(scale.start),
            if merged {
                " Neighbours too narrow to draw are drawn as one, labelled with their number."
            } else {
                ""
            }
        );
        Timeline {
            drawing: drawing(&lanes, &markers, &scale, (top, bottom)),
            width: LEFT + PLOT + MARGIN,
            height,
            fills,
            note,
            span: scale.span,
            about: format!(
                "Timeline of {} from due to done",
                words::thread(&activation.comm, activation.tid)
            ),
        }
    }

    /// As a part of a page, which the page's script lets one zoom.
    pub(crate) fn figure(&self) -> Markup {
        html! {
            figure {
                div.wide {
                    svg.timeline viewBox={ "0 0 " (px(self.width)) " " (px(self.height)) } role="img"
                        aria-label=(self.about) data-span=(self.span.0) data-plot=(px(PLOT)) { (self.drawing) }
                }
                figcaption {
                    @for fill in &self.fills {
                        span.key { i class={ "swatch " (fill.class()) } {} (fill.meaning()) }
                    }
                    span.note { (self.note) }
                }
            }
        }
    }
}

fn drawing(lanes: &[Row], markers: &[Marker], scale: &Scale, (top, bottom): (f64, f64)) -> Markup {
    let origin = format!("translate({} 0)", px(LEFT));
    let ticks = axis::ticks(scale.span, 9);
    html! {
        @for (i, lane) in lanes.iter().enumerate() {
            @let y = top + i as f64 * (LANE + GAP);
            text.lane x=(px(LEFT - 14.0)) y=(px(y + LANE / 2.0 + 4.0)) { (lane.name) }
            rect.ground x=(px(LEFT)) y=(px(y)) width=(px(PLOT)) height=(px(LANE)) {}
        }
        g.axis transform=(origin) {
            @for (at, label) in &ticks {
                @let x = scale.length(*at);
                line x1=(px(x)) x2=(px(x)) y1=(px(top)) y2=(px(bottom)) {}
                text x=(px(x)) y=(px(bottom + 14.0)) { (label) }
            }
        }
        // Clips what is zoomed out of sight.
        svg.plot x=(px(LEFT)) y="0" width=(px(PLOT)) height=(px(bottom + AXIS)) {
            @for (i, lane) in lanes.iter().enumerate() {
                @let y = top + i as f64 * (LANE + GAP);
                @for one in &lane.boxes { (draw(one, y)) }
            }
        }
        g.markers transform=(origin) {
            @for marker in markers {
                @let y = marker.row as f64 * LABEL + 11.0;
                g {
                    line x1=(px(marker.x)) x2=(px(marker.x)) y1=(px(y - 9.0)) y2=(px(bottom)) {}
                    text.before[marker.before] x=(px(marker.text_x())) y=(px(y)) { (marker.label) }
                }
            }
        }
    }
}

/// From instants to the plot's coordinates.
struct Scale {
    start: Ns,
    span: Ns,
}

impl Scale {
    fn at(&self, at: Ns) -> f64 {
        self.length(at.since(self.start)).min(PLOT)
    }

    fn length(&self, length: Ns) -> f64 {
        length.0 as f64 * PLOT / self.span.0 as f64
    }

    /// How long a stretch of `width` units is.
    fn time(&self, width: f64) -> Ns {
        Ns((self.span.0 as f64 * width / PLOT) as i64)
    }
}

/// A coordinate to four digits: enough to zoom in a thousand times.
fn px(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A row of boxes.
struct Row {
    name: String,
    boxes: Vec<Box>,
}

/// A rectangle: one stretch of time, or several drawn as one.
struct Box {
    x: f64,
    width: f64,
    fill: Fill,
    label: String,
    details: String,
    many: bool,
}

/// What is common to a segment of the ledger and a slice of a CPU.
struct Piece {
    start: Ns,
    end: Ns,
    fill: Fill,
    name: String,
}

fn lanes(activation: &Activation, scale: &Scale) -> Vec<Row> {
    let segment = |segment: &Segment| {
        let who = rows::who(segment.by.as_ref(), segment.owner.as_ref());
        let name =
            if who.is_empty() { segment.cause.to_string() } else { format!("{}: {who}", segment.cause) };
        Piece { start: segment.start, end: segment.end, fill: Fill::Cause(segment.cause), name }
    };
    let slice = |slice: &Slice| Piece {
        start: slice.start,
        end: slice.end,
        fill: palette::of_on_cpu(&slice.on_cpu, activation),
        name: words::on_cpu(&slice.on_cpu),
    };
    let mut rows = vec![Row {
        name: words::thread(&activation.comm, activation.tid),
        boxes: boxes(&activation.ledger, |one| (one.start, one.end), segment, scale),
    }];
    // The CPU it was late on comes first.
    let mut lanes: Vec<&CpuTrack> = activation.tracks.iter().collect();
    lanes.sort_by_key(|lane| (lane.cpu != activation.cpu, lane.cpu));
    rows.extend(lanes.into_iter().map(|lane| Row {
        name: format!("CPU {}", lane.cpu),
        boxes: boxes(&lane.slices, |one| (one.start, one.end), slice, scale),
    }));
    rows
}

fn boxes<T>(
    items: &[T],
    span: impl Fn(&T) -> (Ns, Ns),
    piece: impl Fn(&T) -> Piece,
    scale: &Scale,
) -> Vec<Box> {
    let (groups, _) = merge(items, span, scale.time(FINEST), BUDGET);
    let one = |group: Range<usize>| {
        let pieces: Vec<Piece> = items.get(group).unwrap_or_default().iter().map(&piece).collect();
        boxed(&pieces, scale)
    };
    groups.into_iter().filter_map(one).collect()
}

fn boxed(pieces: &[Piece], scale: &Scale) -> Option<Box> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let length = last.end.since(first.start);
    let x = scale.at(first.start);
    let width = (scale.at(last.end) - x).max(0.0);
    let when =
        format!("{length}, from +{} to +{}", first.start.since(scale.start), last.end.since(scale.start));
    if pieces.len() == 1 {
        let details = format!("{}\n{when}", first.name);
        return Some(Box { x, width, fill: first.fill, label: first.name.clone(), details, many: false });
    }
    let mut parts: Vec<(&str, Fill, Ns)> = Vec::new();
    for piece in pieces {
        let length = piece.end.since(piece.start);
        match parts.iter_mut().find(|(name, ..)| *name == piece.name) {
            Some((_, _, total)) => *total += length,
            None => parts.push((&piece.name, piece.fill, length)),
        }
    }
    parts.sort_by_key(|(_, fill, total)| (*fill == Fill::Idle, std::cmp::Reverse(*total)));
    let fill = parts.first()?.1;
    let label = format!("{} drawn as one", pieces.len());
    let mut details = format!("{label}\n{when}");
    for (name, _, total) in parts.iter().take(4) {
        details.push_str(&format!("\n{total} {name}"));
    }
    if parts.len() > 4 {
        details.push_str(&format!("\nand {} more", parts.len() - 4));
    }
    Some(Box { x, width, fill, label, details, many: true })
}

fn draw(one: &Box, y: f64) -> Markup {
    // What is there must be seen, and on the plot; the script takes the truth from data-x and data-w.
    let seen = one.width.clamp(0.6, PLOT);
    let x = one.x.min(PLOT - seen);
    let (true_x, true_width) = ((one.x > x).then(|| px(one.x)), (one.width < seen).then(|| px(one.width)));
    let inset = if one.fill == Fill::Idle { LANE / 2.0 - 0.75 } else { 0.0 };
    let room = ((one.width - 8.0) / CHARACTER) as usize;
    let label: String = if room >= one.label.chars().count() {
        one.label.clone()
    } else if room >= 5 {
        one.label.chars().take(room - 1).chain(['…']).collect()
    } else {
        String::new()
    };
    html! {
        rect class=(one.fill.class()) x=(px(x)) y=(px(y + inset)) width=(px(seen)) height=(px(LANE - 2.0 * inset))
            data-x=[true_x] data-w=[true_width] { title { (one.details) } }
        @if !label.is_empty() && one.fill != Fill::Idle {
            text class=(palette::text_class(one.fill)) x=(px(one.x + 4.0)) y=(px(y + LANE / 2.0 + 4.0)) { (label) }
        }
    }
}

/// A named instant.
struct Marker {
    x: f64,
    label: String,
    row: usize,
    /// The label stands left of the line.
    before: bool,
}

impl Marker {
    fn text_x(&self) -> f64 {
        if self.before { self.x - 4.0 } else { self.x + 4.0 }
    }

    /// What its label covers.
    fn extent(&self) -> (f64, f64) {
        let width = label_width(&self.label);
        if self.before { (self.x - width, self.x) } else { (self.x, self.x + width) }
    }
}

fn label_width(label: &str) -> f64 {
    label.chars().count() as f64 * CHARACTER + 10.0
}

/// The markers, and how many rows their labels take so that none covers another.
fn markers(activation: &Activation, scale: &Scale) -> (Vec<Marker>, usize) {
    let at_once = activation.woken == Some(activation.due);
    let named = [
        (if at_once { "due, woken" } else { "due" }, Some(activation.due)),
        ("woken", activation.woken.filter(|_| !at_once)),
        ("running", activation.running),
        (if activation.done.is_some() { "done" } else { "end of trace" }, Some(activation.end)),
    ];
    let marker = |(name, at): (&str, Option<Ns>)| {
        let (x, since) = (scale.at(at?), at?.since(scale.start));
        let label = if since == Ns::ZERO { name.to_owned() } else { format!("{name} +{since}") };
        Some(Marker { before: x + label_width(&label) > PLOT, x, label, row: 0 })
    };
    let mut markers: Vec<Marker> = named.into_iter().filter_map(marker).collect();
    // A line starts at its label and goes down. So that it crosses no label, those to the
    // right of their line take rows from the left, those to the left of it from the right.
    let split = markers.iter().position(|marker| marker.before).unwrap_or(markers.len());
    markers[split..].reverse();
    let mut rows: Vec<Vec<(f64, f64)>> = Vec::new();
    for marker in &mut markers {
        let (from, to) = marker.extent();
        let free = |row: &Vec<(f64, f64)>| row.iter().all(|&(start, end)| to <= start || end <= from);
        marker.row = rows.iter().position(free).unwrap_or(rows.len());
        match rows.get_mut(marker.row) {
            Some(row) => row.push((from, to)),
            None => rows.push(vec![(from, to)]),
        }
    }
    (markers, rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        for (value, text) in
            [(0.0, "0"), (12.5, "12.5"), (0.000_04, "0"), (960.0, "960"), (1.0 / 3.0, "0.3333")]
        {
            assert_eq!(px(value), text);
        }
    }

    #[test]
    fn instants_outside_stay_on_the_plot() {
        let scale = Scale { start: Ns(100), span: Ns(50) };
        assert_eq!([0, 100, 125, 150, 999].map(|at| scale.at(Ns(at))), [0.0, 0.0, PLOT / 2.0, PLOT, PLOT]);
    }
}
