//! Plots of measurements: histogram, CCDF, maximum over time, and shift of quantiles.
//!
//! ```text
//! Run ... ─> Series ─┬─> histogram: overlaid, or as small multiples
//!                    ├─> ccdf:      with the fitted tail, or why there is none
//!                    └─> time:      the largest of each stretch of time, spikes marked
//! Comparison ──────────> shift:     quantiles, with intervals
//!      scale: axes   frame: lines and numbers   place: names that overlap nothing
//! ```

mod ccdf;
mod columns;
mod frame;
mod histogram;
mod multiples;
mod place;
mod scale;
mod series;
mod shift;
mod time;

use crate::svg::file::{LINE, RULES, TITLE, style};
pub(crate) use ccdf::{ccdf, ccdf_without_fit};
pub(crate) use histogram::histogram;
use maud::{Markup, PreEscaped, html};
pub(crate) use multiples::multiples;
pub(crate) use shift::shift;
pub(crate) use time::time;

/// A drawing's width, and the frame's place in it.
const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 14.0;
/// Numbers and title of the axis below.
const BELOW: f64 = 44.0;
/// Characters to a line of notes below a drawing of its own.
const NOTE: usize = 140;

/// A plot, and the facts for its caption.
pub(crate) struct Plot {
    drawing: Markup,
    height: f64,
    /// What is seen, in a sentence.
    about: String,
    notes: Vec<String>,
}

impl Plot {
    /// As a part of a page.
    pub(crate) fn figure(&self) -> Markup {
        html! {
            figure.plotted {
                div.wide {
                    svg.chart viewBox={ "0 0 " (WIDTH) " " (px(self.height)) } role="group" aria-label=(self.about) { (self.drawing) }
                }
                @if !self.notes.is_empty() {
                    figcaption { @for note in &self.notes { span.note { (note) } } }
                }
            }
        }
    }
}

/// Plots below each other, as a file of their own.
pub(crate) fn file(title: &str, plots: &[Plot]) -> String {
    let mut top = TITLE + 6.0;
    let mut parts = Vec::new();
    for plot in plots {
        let lines: Vec<String> = plot.notes.iter().flat_map(|note| wrapped(note, NOTE)).collect();
        let below = top + plot.height;
        parts.push(html! {
            g transform={ "translate(0 " (px(top)) ")" } role="group" aria-label=(plot.about) { (plot.drawing) }
            g.legend {
                @for (at, line) in lines.iter().enumerate() {
                    text x=(LEFT) y=(px(below + 14.0 + at as f64 * (LINE - 3.0))) { (line) }
                }
            }
        });
        top = below + lines.len() as f64 * (LINE - 3.0) + 20.0;
    }
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox={ "0 0 " (WIDTH) " " (px(top)) } width=(WIDTH) height=(px(top))
            font-family="system-ui,sans-serif" font-size="12" role="group" aria-label=(title) {
            style { (PreEscaped(style(""))) }
            rect width=(WIDTH) height=(px(top)) style="fill:var(--card)" {}
            text x=(LEFT) y="24" style="font-size:15px;font-weight:600" { (title) }
            @for part in parts { (part) }
        }
    };
    picture.into_string() + "\n"
}

/// The same drawing for a program that knows no variables and no dark: in light colours.
pub(crate) fn plain(drawing: &str) -> String {
    let light = RULES.split("@media").next().unwrap_or_default();
    let root =
        light.split_once(":root{").and_then(|(_, rest)| rest.split_once('}')).map_or("", |(root, _)| root);
    let mut plain = without_media(drawing);
    for (name, value) in root.split(';').filter_map(|one| one.split_once(':')) {
        plain = plain.replace(&format!("var({name})"), value);
    }
    plain
}

/// Without rules for other media: they override what comes first where `@media` is not known.
fn without_media(drawing: &str) -> String {
    let mut rest = drawing;
    let mut kept = String::with_capacity(drawing.len());
    while let Some((before, block)) = rest.split_once("@media") {
        kept.push_str(before);
        let mut depth = 0;
        let end = block.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == '}' && depth == 0
        });
        rest = end.map_or("", |(at, _)| &block[at + 1..]);
    }
    kept + rest
}

/// A path through points.
fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::with_capacity(points.len() * 12);
    for (at, (x, y)) in points.iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path.push_str(&px(*x));
        path.push(' ');
        path.push_str(&px(*y));
    }
    path
}

/// Without points that lie on the one before them.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let last = points.len().saturating_sub(1);
    for (at, (x, y)) in points.into_iter().enumerate() {
        let near =
            kept.last().is_some_and(|(own_x, own_y)| (x - own_x).abs() < 0.4 && (y - own_y).abs() < 0.4);
        if !near || at == last {
            kept.push((x, y));
        }
    }
    kept
}

fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Broken at blanks.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_ascii_whitespace() {
        let line = lines.last_mut().expect("one line at least");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_drawing_has_neither_variables_nor_media() {
        let plot =
            Plot { drawing: html! {}, height: 10.0, about: String::new(), notes: vec!["a note".to_owned()] };
        let drawing = plain(&file("t", &[plot]));
        assert!(!drawing.contains("var(") && !drawing.contains("@media"), "{drawing}");
        assert!(drawing.contains("fill:#fff") && drawing.contains(">a note<"));
    }

    #[test]
    fn notes_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    }
}
