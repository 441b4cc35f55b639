//! `whylate run --dry-run`: the steps, and what is refused.

pub mod json;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_threads::run::RunReport;

impl Render for RunReport {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Html | Format::Markdown | Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
