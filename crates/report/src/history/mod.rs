//! `whylate history`: what was applied when.

pub mod json;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_tuning::HistoryEntry;

/// Every apply, first to last.
#[derive(Clone, Copy, Debug)]
pub struct History<'a>(pub &'a [HistoryEntry]);

impl Render for History<'_> {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self.0, style)),
            Format::Json => Rendered::Document(json::render(self.0)),
            Format::Html | Format::Markdown | Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
