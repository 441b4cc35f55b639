//! The timeline of one instance of a chain: a lane for each thread, packet or interrupt, and arrows from hop to hop.
//!
//! ```text
//! timer   |▒|
//! sense    ↘|███████|
//! plan              ↘|▒▒▒▒▒▒▒▒▒▒▒▒███████|
//! net:lo                                 ↘|▒|
//! act                                       ↘|████|
//! ```

use super::axis;
use super::drawing::{AXIS, GAP, LANE, LEFT, MARGIN, PLOT, Piece, Row, Scale, boxes, draw, px};
use crate::svg::palette::Fill;
use crate::words;
use maud::{Markup, html};
use std::collections::BTreeSet;
use whylate_base::Ns;
use whylate_ledger::{ChainInstance, Hop, Segment};

/// As a part of a page.
pub(crate) fn figure(instance: &ChainInstance) -> Markup {
    let scale = Scale { start: instance.start, span: instance.latency().max(Ns(1)) };
    let rows: Vec<Row> = instance.hops.iter().map(|hop| row(hop, &scale)).collect();
    let bottom = rows.len() as f64 * (LANE + GAP);
    let (width, height) = (LEFT + PLOT + MARGIN, bottom + AXIS);
    let fills: BTreeSet<Fill> = rows.iter().flat_map(|row| &row.boxes).map(|one| one.fill).collect();
    let about = format!(
        "Timeline of a chain from {} s on, {} long",
        words::instant(instance.start),
        instance.latency()
    );
    html! {
        figure {
            div.wide {
                svg.timeline viewBox={ "0 0 " (px(width)) " " (px(height)) } role="img" aria-label=(about)
                    data-span=(scale.span.0) data-plot=(px(PLOT)) { (drawing(instance, &rows, &scale, bottom)) }
            }
            figcaption {
                @for fill in &fills { span.key { i class={ "swatch " (fill.class()) } {} (fill.meaning()) } }
                span.note { "0 is the beginning, " (words::instant(instance.start)) " s. Arrows lead from hop to hop." }
            }
        }
    }
}

fn row(hop: &Hop, scale: &Scale) -> Row {
    let piece = |segment: &Segment| {
        let name = match &segment.by {
            Some(by) => format!("{}: {}", segment.cause, words::culprit(by)),
            None => segment.cause.to_string(),
        };
        Piece { start: segment.start, end: segment.end, fill: Fill::Cause(segment.cause), name }
    };
    Row { name: words::clean(&hop.from), boxes: boxes(&hop.ledger, |one| (one.start, one.end), piece, scale) }
}

fn drawing(instance: &ChainInstance, rows: &[Row], scale: &Scale, bottom: f64) -> Markup {
    let top = |index: usize| index as f64 * (LANE + GAP);
    let origin = format!("translate({} 0)", px(LEFT));
    html! {
        @for (index, row) in rows.iter().enumerate() {
            text.lane x=(px(LEFT - 14.0)) y=(px(top(index) + LANE / 2.0 + 4.0)) { (row.name) }
            rect.ground x=(px(LEFT)) y=(px(top(index))) width=(px(PLOT)) height=(px(LANE)) {}
        }
        g.axis transform=(origin) {
            @for (at, label) in &axis::ticks(scale.span, 9) {
                @let x = scale.length(*at);
                line x1=(px(x)) x2=(px(x)) y1="0" y2=(px(bottom)) {}
                text x=(px(x)) y=(px(bottom + 14.0)) { (label) }
            }
        }
        // Clips what is zoomed out of sight.
        svg.plot x=(px(LEFT)) y="0" width=(px(PLOT)) height=(px(bottom + AXIS)) {
            @for (index, row) in rows.iter().enumerate() {
                @for one in &row.boxes { (draw(one, top(index))) }
            }
        }
        // The script moves what is in this group with the plot.
        g.markers transform=(origin) {
            @for (index, hop) in instance.hops.iter().enumerate().skip(1) {
                @let x = scale.at(hop.start);
                @let y = top(index);
                g {
                    line x1=(px(x)) x2=(px(x)) y1=(px(y - GAP - LANE / 2.0)) y2=(px(y + LANE / 2.0)) {}
                    text x=(px(x)) y=(px(y + 2.0)) { "↓ " (hop_by(instance, index)) }
                }
            }
        }
    }
}

/// How the hop before lets this one go on.
fn hop_by(instance: &ChainInstance, index: usize) -> &'static str {
    index.checked_sub(1).and_then(|before| instance.hops.get(before)).map_or("", |hop| hop.kind)
}
