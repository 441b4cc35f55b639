//! `whylate watch`: late activations as they come, and the summary.

pub mod facts;
pub mod html;
pub mod json;
pub mod markdown;
pub mod metrics;
pub mod terminal;
pub mod text;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_investigate::watch::WatchReport;

impl Render for WatchReport {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json, Format::Html, Format::Markdown];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::summary(self)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
