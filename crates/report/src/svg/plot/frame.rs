//! The frame that values are drawn into: axes with round numbers, and what they count.

use super::px;
use super::scale::{Axis, lowered};
use maud::{Markup, html};

/// Where a frame lies in its drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A frame with its scales.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    pub(super) frame: Frame,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Scaled {
    pub(super) fn x(&self, value: f64) -> f64 {
        self.frame.left + self.x.at(value) * self.frame.width
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.frame.bottom() - self.y.at(value) * self.frame.height
    }

    /// Lines at round values, and their numbers; a title where one is given, and else no numbers.
    pub(super) fn axes(&self, x_title: Option<&str>, y_title: Option<&str>) -> Markup {
        let (bottom, frame) = (self.frame.bottom(), self.frame);
        html! {
            g.axis {
                @for tick in self.x.ticks(frame.width, false) {
                    @let x = px(self.x(tick.value));
                    line.faint[tick.label.is_empty()] x1=(x) x2=(x) y1=(px(frame.top)) y2=(px(bottom)) {}
                    @if x_title.is_some() && !tick.label.is_empty() {
                        text.below x=(x) y=(px(bottom + 17.0)) { (number(&tick.label)) }
                    }
                }
                @for tick in self.y.ticks(frame.height, true) {
                    @let y = px(self.y(tick.value));
                    line.faint[tick.label.is_empty()] x1=(px(frame.left)) x2=(px(frame.right())) y1=(y) y2=(y) {}
                    @if y_title.is_some() && !tick.label.is_empty() {
                        text.beside x=(px(frame.left - 8.0)) y=(px(self.y(tick.value) + 4.0)) { (number(&tick.label)) }
                    }
                }
                path.box d={ "M" (px(frame.left)) " " (px(frame.top)) "V" (px(bottom)) "H" (px(frame.right())) } {}
                @if let Some(title) = x_title.filter(|title| !title.is_empty()) {
                    text.title x=(px(frame.left + frame.width / 2.0)) y=(px(bottom + 36.0)) { (title) }
                }
                @if let Some(title) = y_title.filter(|title| !title.is_empty()) {
                    @let (x, y) = (px(frame.left - 58.0), px(frame.top + frame.height / 2.0));
                    text.title x=(x) y=(y) transform={ "rotate(-90 " (x) " " (y) ")" } { (title) }
                }
            }
        }
    }
}

/// A number as it is written: with a power above the line in a smaller font, as few fonts have all the small digits.
fn number(label: &str) -> Markup {
    let power = label.find(|c| lowered(c).is_some());
    let (base, power) = label.split_at(power.unwrap_or(label.len()));
    html! {
        (base)
        @if !power.is_empty() {
            tspan dy="-5" font-size="9" style="font-size:9px" { (power.chars().filter_map(lowered).collect::<String>()) }
        }
    }
}

impl Frame {
    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }
}
