//! `whylate measure`: how late wake-ups were, and why.

mod facts;
pub mod html;
pub mod json;
pub mod markdown;
pub mod svg;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_investigate::measure::MeasureReport;

impl Render for MeasureReport {
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
