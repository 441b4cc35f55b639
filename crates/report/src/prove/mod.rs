//! `whylate prove`: whether a change makes threads less late.

mod facts;
mod html;
pub mod json;
mod markdown;
mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_prove::ProveReport;

impl Render for ProveReport {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json, Format::Html, Format::Markdown];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
