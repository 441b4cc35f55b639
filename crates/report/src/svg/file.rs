//! A drawing as a file of its own: with title, legend, and its own colours.

use crate::svg::palette::{self, Fill};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeSet;

/// Room for the title above a drawing, and for a line of the legend below it.
pub(crate) const TITLE: f64 = 34.0;
pub(crate) const LINE: f64 = 20.0;
/// Width of a character of the legend.
pub(crate) const CHARACTER: f64 = 6.6;

/// The rules for all drawings, without the colours of causes.
pub(crate) const RULES: &str = include_str!("drawing.css");

/// The rules for what is drawn in `markup`.
pub(crate) fn style(markup: &str) -> String {
    format!("{RULES}{}", palette::css(markup))
}

/// Swatches with their meanings, in lines of `width`, and how many lines.
pub(crate) fn legend(fills: &BTreeSet<Fill>, width: f64) -> (Markup, usize) {
    let (mut x, mut line) = (136.0, 0);
    let mut keys = Vec::new();
    for fill in fills {
        let room = fill.meaning().chars().count() as f64 * CHARACTER + 34.0;
        if x + room > width {
            (x, line) = (136.0, line + 1);
        }
        keys.push((x, line as f64 * LINE, fill));
        x += room;
    }
    let keys = html! {
        @for (x, y, fill) in keys {
            rect class=(fill.class()) x=(x) y=(y + 4.0) width="11" height="11" rx="3" {}
            text x=(x + 17.0) y=(y + 14.0) { (fill.meaning()) }
        }
    };
    (keys, line + 1)
}

pub(crate) fn file(
    class: &str,
    title: &str,
    (width, height): (f64, f64),
    drawing: &Markup,
    below: &Markup,
    lines: usize,
) -> String {
    let whole = TITLE + height + lines as f64 * LINE + 8.0;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(class) viewBox={ "0 0 " (width) " " (whole) } width=(width) height=(whole)
            font-family="system-ui,sans-serif" font-size="11" role="img" aria-label=(title) {
            style { (PreEscaped(style(&(drawing.0.clone() + &below.0)))) }
            rect width=(width) height=(whole) style="fill:var(--card)" {}
            text x="20" y="22" style="font-size:14px;font-weight:600" { (title) }
            g transform={ "translate(0 " (TITLE) ")" } { (drawing) }
            g.legend transform={ "translate(0 " (TITLE + height) ")" } { (below) }
        }
    };
    picture.into_string() + "\n"
}
