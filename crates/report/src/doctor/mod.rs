//! `whylate doctor`: the real-time mistakes of a program.

mod facts;
pub mod html;
pub mod json;
pub mod markdown;
pub mod sarif;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_investigate::doctor::DoctorReport;

impl Render for DoctorReport {
    const FORMATS: &'static [Format] =
        &[Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Sarif];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Sarif => Rendered::Document(sarif::render(self)),
            Format::Svg | Format::Junit => return None,
        })
    }
}
