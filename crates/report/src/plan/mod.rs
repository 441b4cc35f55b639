//! `whylate plan`: what tuning would change.

pub(crate) mod changes;
pub mod json;
pub mod markdown;
pub(crate) mod names;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_tuning::Plan;

impl Render for Plan {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json, Format::Markdown];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Html | Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
