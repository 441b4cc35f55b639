//! `whylate plan --against`: two profiles or machines, setting by setting.

mod facts;
pub mod html;
pub mod json;
pub mod markdown;
mod rows;
pub mod terminal;
mod view;

pub use view::PlanComparison;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;

impl Render for PlanComparison<'_> {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json, Format::Html, Format::Markdown];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self.comparison)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
