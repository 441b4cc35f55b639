//! `whylate check`: whether a machine is ready for real-time work.

mod answers;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod terminal;

use crate::format::Format;
use crate::render::{Render, Rendered};
use crate::terminal::Style;
use whylate_base::Severity;
use whylate_checks::CheckReport;

/// The answers about a machine, and the severity at which the command fails.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The answers.
    pub report: &'a CheckReport,
    /// The least severity that JUnit shows as a failure.
    pub fail_on: Severity,
}

impl Render for Checked<'_> {
    const FORMATS: &'static [Format] =
        &[Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Sarif, Format::Junit];

    fn render(&self, format: Format, style: &Style) -> Option<Rendered> {
        let report = self.report;
        Some(match format {
            Format::Text => Rendered::Text(terminal::render(report, style)),
            Format::Json => Rendered::Document(json::render(report)),
            Format::Html => Rendered::Text(html::render(report)),
            Format::Markdown => Rendered::Text(markdown::render(report)),
            Format::Sarif => Rendered::Document(sarif::render(report)),
            Format::Junit => Rendered::Text(junit::render(report, self.fail_on)),
            Format::Svg => return None,
        })
    }
}
