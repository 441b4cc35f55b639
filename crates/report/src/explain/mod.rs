//! `whylate explain`: why threads were late.

mod facts;
pub mod html;
pub mod json;
pub mod junit;
mod listed;
pub mod markdown;
mod peer_facts;
mod rows;
pub mod sarif;
pub mod svg;
pub mod terminal;
mod timeline;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_base::Severity;
use whylate_ledger::Explanation;

/// An explanation, and the severity at which the command fails.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The explanation.
    pub explanation: &'a Explanation,
    /// The least severity that JUnit shows as a failure.
    pub fail_on: Severity,
}

impl Render for Explained<'_> {
    const FORMATS: &'static [Format] = &[
        Format::Text,
        Format::Json,
        Format::Html,
        Format::Markdown,
        Format::Svg,
        Format::Sarif,
        Format::Junit,
    ];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        let explanation = self.explanation;
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(explanation, style)),
            Format::Json => Rendered::Document(json::render(explanation)),
            Format::Html => Rendered::Text(html::render(explanation)),
            Format::Markdown => Rendered::Text(markdown::render(explanation)),
            Format::Svg => Rendered::Text(svg::render(explanation)?),
            Format::Sarif => Rendered::Document(sarif::render(explanation)),
            Format::Junit => Rendered::Text(junit::render(explanation, self.fail_on)),
        })
    }
}
