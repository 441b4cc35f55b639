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
pub(crate) mod chain;
mod drawing;
mod merge;

use crate::explain::rows;
use crate::svg::palette::{self, Fill};
use crate::words;
use drawing::{AXIS, CHARACTER, GAP, LABEL, LANE, LEFT, MARGIN, PLOT, Piece, Row, Scale, boxes, draw, px};
use maud::{Markup, html};
use std::collections::BTreeSet;
use whylate_base::Ns;
use whylate_ledger::{Activation, CpuTrack, Segment, Slice};

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
