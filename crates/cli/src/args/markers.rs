//! `--begin-marker`, `--end-marker`: lines of a program that begin and end activations.

use clap::Args;
use whylate_events::Marker;
use whylate_ledger::Markers;

/// `--begin-marker`, `--end-marker`
#[derive(Debug, Default, Args)]
pub(crate) struct MarkerArgs {
    /// An activation begins where a thread writes a line to trace_marker that begins with TEXT, and not where it wakes;
    /// sleeps until the end belong to it
    #[arg(long, value_name = "TEXT", value_parser = text)]
    begin_marker: Option<String>,
    /// With --begin-marker: it ends where the thread writes a line that begins with TEXT; default: where the next begins
    #[arg(long, value_name = "TEXT", value_parser = text, requires = "begin_marker")]
    end_marker: Option<String>,
}

impl MarkerArgs {
    pub(crate) fn markers(&self) -> Option<Markers> {
        let begin = self.begin_marker.clone()?;
        // The same line at both ends: each ends one and begins the next.
        let end = self.end_marker.clone().filter(|end| *end != begin);
        Some(Markers { begin, end })
    }
}

/// Of a line in a recording only the beginning is kept.
fn text(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a line that begins with nothing is any line: give its first word".to_owned()),
        _ if Marker::from(text).as_str() != text => {
            Err("it is too long: give the beginning of the line, 62 bytes at most".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}
