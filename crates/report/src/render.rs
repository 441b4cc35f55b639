//! What a report that can be written in several formats offers.

use crate::format::Format;
use crate::terminal::Style;
use serde_json::Value;
use std::io::{self, Write};

/// A report with a renderer for each of its formats.
pub trait Render {
    /// The formats that there is a renderer for.
    const FORMATS: &'static [Format];

    /// The report in one of [`Render::FORMATS`]; `None` where there is nothing to draw, or no renderer.
    fn render(&self, format: Format, style: &Style) -> Option<Rendered>;
}

/// A report in one of its formats.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    /// As text.
    Text(String),
    /// As a JSON document.
    Document(Value),
}

impl Rendered {
    /// Writes the report; it ends with a line break.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written to.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Rendered::Text(text) => out.write_all(text.as_bytes())?,
            Rendered::Document(document) => {
                serde_json::to_writer_pretty(&mut *out, document)?;
                out.write_all(b"\n")?;
            }
        }
        out.flush()
    }
}
