//! `whylate compare`: runs side by side.

pub mod html;
pub mod json;
mod known;
pub mod markdown;
mod runs;
pub mod svg;
pub mod terminal;

pub use known::known;
pub use runs::{Claiming, Compared, Gated};

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;

impl Render for Compared {
    const FORMATS: &'static [Format] =
        &[Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Svg];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Svg => Rendered::Text(svg::render(self)?),
            Format::Sarif | Format::Junit => return None,
        })
    }
}
