//! `whylate ps`: real-time threads and interrupts.

pub mod json;
pub mod terminal;
mod view;

pub use view::PsView;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;

impl Render for PsView<'_> {
    const FORMATS: &'static [Format] = &[Format::Text, Format::Json];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self.report)),
            _ => return None,
        })
    }
}
