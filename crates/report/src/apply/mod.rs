//! `whylate apply`, `whylate confirm` and `whylate rollback`: what was done to a machine.

pub mod json;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_tuning::JournalEntry;

/// The applies that a verb worked on, in that order.
#[derive(Clone, Copy, Debug)]
pub struct Applies<'a>(pub &'a [JournalEntry]);

impl Render for Applies<'_> {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self.0, style)),
            Format::Json => Rendered::Document(json::render(self.0)),
            Format::Html | Format::Markdown | Format::Svg | Format::Sarif | Format::Junit => return None,
        })
    }
}
