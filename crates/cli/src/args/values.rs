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

/// A share of one CPU.
pub(in crate::args) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(share),
        _ => Err("expected a percentage above 0, and no more than 100".to_owned()),
    }
}

/// `64MiB`, `1GiB`.
pub(in crate::args) fn bytes(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let shift = match unit.trim() {
        "KiB" | "K" => 10,
        "MiB" | "M" => 20,
        "GiB" | "G" => 30,
        _ => return Err("expected a number with KiB, MiB or GiB, such as 512MiB".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number before the unit".to_owned())?;
    match number.checked_mul(1 << shift) {
        Some(bytes) if bytes >= 1 << 20 => Ok(bytes),
        Some(_) => Err("must be 1 MiB or more".to_owned()),
        None => Err("is too large".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(
            (bytes("512MiB"), bytes("1GiB"), bytes("2048 K")),
            (Ok(512 << 20), Ok(1 << 30), Ok(2 << 20))
        );
        for wrong in ["512", "1KiB", "GiB", "1TiB", "99999999999GiB", ""] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
