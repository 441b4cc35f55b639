//! A measurement in the forms other programs read.
//!
//! ```text
//!        ┌─> histogram    as `cyclictest -h` prints it: gnuplot and awk scripts, OSADL's plots
//! Run ───┼─> cyclictest   as `cyclictest --json` writes it
//!        ├─> csv          each class of each thread a line, in nanoseconds: data frames
//!        └─> metrics      OpenMetrics: node_exporter's textfile collector, Prometheus itself
//! ```
//!
//! The first two count in whole microseconds, as cyclictest does; a bucket that spans more than one counts as its
//! latest, so that nothing looks earlier than it was.

mod classes;
mod csv;
mod cyclictest;
mod histogram;
mod metrics;

pub use metrics::families;

use std::io::{self, Write};
use std::path::Path;
use whylate_stats::Run;

/// A form of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `cyclictest -h`: a column for each thread, a line for each microsecond.
    Histogram,
    /// `cyclictest --json`.
    Cyclictest,
    /// `thread,from_ns,upto_ns,count`.
    Csv,
    /// OpenMetrics 1.0, which is read as Prometheus' text format as well.
    Metrics,
}

impl Form {
    /// How the name of a file ends that is to have this form.
    pub const ENDINGS: [(&str, Form); 4] = [
        (".hist", Form::Histogram),
        (".cyclictest.json", Form::Cyclictest),
        (".csv", Form::Csv),
        (".prom", Form::Metrics),
    ];

    /// The form that a file's name asks for; `None`: none of these.
    pub fn of_file(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        Form::ENDINGS.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, form)| form)
    }
}

/// Writes a measurement.
///
/// # Errors
/// What `out` answers.
pub fn write(run: &Run, form: Form, out: &mut dyn Write) -> io::Result<()> {
    match form {
        Form::Histogram => histogram::write(run, out)?,
        Form::Cyclictest => cyclictest::write(run, out)?,
        Form::Csv => csv::write(run, out)?,
        Form::Metrics => {
            let text =
                whylate_metrics::text(&metrics::families(run), whylate_metrics::TextFormat::OpenMetrics);
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()
}
