//! Values of options of several verbs.

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns, Severity, parse_duration};

/// When a verb fails.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FailOn {
    Info,
    Warning,
    Error,
}

impl From<FailOn> for Severity {
    fn from(fail_on: FailOn) -> Severity {
        match fail_on {
            FailOn::Info => Severity::Info,
            FailOn::Warning => Severity::Warning,
            FailOn::Error => Severity::Error,
        }
    }
}

/// A file's name; `-` would read as standard output, which is for answers.
pub(in crate::args) fn file_to_write() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("it cannot be written to standard output; give the name of a file"),
        false => Ok(path),
    })
}

pub(in crate::args) fn some_cpus(text: &str) -> Result<CpuSet, String> {
    match text.parse::<CpuSet>() {
        Ok(cpus) if cpus.is_empty() => Err("name one CPU at least".to_owned()),
        Ok(cpus) => Ok(cpus),
        Err(error) => Err(error.to_string()),
    }
}

/// The interval of a sampled clock: the kernel's own cost of a sample is some microseconds.
pub(in crate::args) fn stack_period(text: &str) -> Result<Ns, String> {
    const SHORTEST: Ns = Ns::from_us(50);
    match parse_duration(text) {
        Ok(period) if period >= SHORTEST => Ok(period),
        Ok(_) => Err(format!("must be {SHORTEST} or more")),
        Err(error) => Err(error.to_string()),
    }
}

pub(in crate::args) fn positive_duration(text: &str) -> Result<Ns, String> {
    match parse_duration(text) {
        Ok(duration) if duration > Ns::ZERO => Ok(duration),
        Ok(_) => Err("must be more than zero".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
