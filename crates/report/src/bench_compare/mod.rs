//! `whylate compare` of two benches.

mod facts;
pub mod json;
pub mod markdown;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_probes::bench::BenchComparison;

impl Render for BenchComparison {
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
