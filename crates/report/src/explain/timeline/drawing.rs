//! Lanes of boxes on an axis of time: what all timelines are drawn with.

use super::merge::merge;
use crate::svg::palette::{self, Fill};
use maud::{Markup, html};
use std::ops::Range;
use whylate_base::Ns;

/// Width of the lanes' names, and of the plot, in SVG units (about a CSS pixel each).
pub(super) const GUTTER: f64 = 116.0;
pub(super) const PLOT: f64 = 960.0;
/// Room on both sides of the plot for labels that stick out.
pub(super) const MARGIN: f64 = 20.0;
/// Where the plot begins.
pub(super) const LEFT: f64 = GUTTER + MARGIN;
pub(super) const LANE: f64 = 26.0;
pub(super) const GAP: f64 = 7.0;
/// A line of labels of markers.
pub(super) const LABEL: f64 = 15.0;
pub(super) const AXIS: f64 = 24.0;
/// Rectangles in one lane at most.
pub(super) const BUDGET: usize = 500;
/// A slice narrower than this stays invisible even when zoomed in twenty times.
pub(super) const FINEST: f64 = 0.05;
/// Width of a character of a label.
pub(super) const CHARACTER: f64 = 6.4;

/// From instants to the plot's coordinates.
pub(super) struct Scale {
    pub(super) start: Ns,
    pub(super) span: Ns,
}

impl Scale {
    pub(super) fn at(&self, at: Ns) -> f64 {
        self.length(at.since(self.start)).min(PLOT)
    }

    pub(super) fn length(&self, length: Ns) -> f64 {
        length.0 as f64 * PLOT / self.span.0 as f64
    }

    /// How long a stretch of `width` units is.
    pub(super) fn time(&self, width: f64) -> Ns {
        Ns((self.span.0 as f64 * width / PLOT) as i64)
    }
}

/// A coordinate to four digits: enough to zoom in a thousand times.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A row of boxes.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) boxes: Vec<Box>,
}

/// A rectangle: one stretch of time, or several drawn as one.
pub(super) struct Box {
    pub(super) x: f64,
    pub(super) width: f64,
    pub(super) fill: Fill,
    pub(super) label: String,
    pub(super) details: String,
    pub(super) many: bool,
}

/// What is common to a segment of the ledger and a slice of a CPU.
pub(super) struct Piece {
    pub(super) start: Ns,
    pub(super) end: Ns,
    pub(super) fill: Fill,
    pub(super) name: String,
}

pub(super) fn boxes<T>(
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

pub(super) fn boxed(pieces: &[Piece], scale: &Scale) -> Option<Box> {
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

pub(super) fn draw(one: &Box, y: f64) -> Markup {
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
