//! The trace that is converted, as its records or as typed events.

use crate::args::{ConvertArgs, ConvertFormat};
use anyhow::Result;
use std::path::Path;
use whylate_events::{EventSource, KindSet, TraceInfo};
use whylate_export::dat;
use whylate_ftrace::dat::TraceFile;
use whylate_ledger::Options;

/// The trace as it is read.
pub(super) enum Input {
    /// By its records.
    Recorded(Box<TraceFile>),
    /// By its typed events.
    Typed(Box<dyn EventSource>),
}

impl Input {
    pub(super) fn open(path: &Path, format: ConvertFormat) -> Result<Input> {
        if path.as_os_str() == "-" {
            return Ok(Input::Typed(whylate_intake::open_stdin(KindSet::ALL)?));
        }
        // What comes through a pipe can be opened only once.
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        if matches!(format, ConvertFormat::Dat | ConvertFormat::Text) && is_file {
            match TraceFile::open(path) {
                Ok(file) if format == ConvertFormat::Text || dat::can_copy(&file) => {
                    return Ok(Input::Recorded(Box::new(file)));
                }
                // The general reader reports best what is wrong with it.
                _ => {}
            }
        }
        Ok(Input::Typed(whylate_intake::open(path, KindSet::ALL)?))
    }

    pub(super) fn info(&self) -> &TraceInfo {
        match self {
            Input::Recorded(file) => file.info(),
            Input::Typed(source) => source.info(),
        }
    }
}

/// How the activations in the output are explained.
pub(super) fn ledger_options(args: &ConvertArgs) -> Options {
    Options { tasks: args.cut().tasks, worst: usize::from(args.worst), ..Options::default() }
}
