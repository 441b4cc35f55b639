//! `whylate compare --tables`: groups of machines.

mod compared;
mod facts;
mod html;
pub mod json;
pub mod markdown;
pub mod terminal;

pub use compared::ComparedGroups;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;

impl Render for ComparedGroups {
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
