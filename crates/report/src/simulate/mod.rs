//! `whylate simulate`: what a task set will do, by a model of the scheduler.

mod facts;
mod html;
pub mod json;
mod markdown;
mod proposal;
pub mod proposal_json;
mod replay;
pub mod replay_json;
mod sweep;
pub mod sweep_json;
mod terminal;
mod worst_case;
pub mod worst_case_json;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_simulate::SimulationReport;

impl Render for SimulationReport {
    const FORMATS: &'static [Format] =
        &[Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Svg];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(self, style)),
            Format::Json => Rendered::Document(json::render(self)),
            Format::Html => Rendered::Text(html::render(self)),
            Format::Markdown => Rendered::Text(markdown::render(self)),
            Format::Svg => Rendered::Text(crate::explain::svg::render(&self.explanation)?),
            Format::Sarif | Format::Junit => return None,
        })
    }
}
