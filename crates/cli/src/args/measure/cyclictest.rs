//! The command line as cyclictest's users write it: numbers without a unit, and `-h N`.

use super::super::values::positive_duration;
use std::ffi::OsString;
use whylate_base::Ns;

/// A value whose unit shows what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Either {
    Bare(u32),
    Time(Ns),
}

/// The arguments with cyclictest's `-h N` in our words: without a number `-h` asks for help, as it does everywhere else.
pub(crate) fn in_our_words(arguments: Vec<OsString>) -> Vec<OsString> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if arguments.get(1).is_none_or(|verb| verb != "measure") {
        return arguments;
    }
    let next_is_number: Vec<bool> =
        arguments.iter().skip(1).map(|next| next.to_str().is_some_and(number)).chain([false]).collect();
    let translate = |(argument, next): (OsString, bool)| match argument.to_str() {
        Some("-h") if next => "--histogram".into(),
        Some(text) => match text.strip_prefix("-h") {
            Some(upto) if number(upto) => format!("--histogram={upto}").into(),
            _ => argument,
        },
        None => argument,
    };
    arguments.into_iter().zip(next_is_number).map(translate).collect()
}

/// A duration, or a bare number of this unit.
fn or_bare(text: &str, unit: &str) -> Result<Ns, String> {
    match text.parse::<u32>() {
        Ok(_) => positive_duration(&format!("{text}{unit}")),
        Err(_) => positive_duration(text),
    }
}

pub(super) fn micros(text: &str) -> Result<Ns, String> {
    or_bare(text, "us")
}

pub(super) fn some_micros(text: &str) -> Result<Ns, String> {
    if text == "0" { Ok(Ns::ZERO) } else { micros(text) }
}

/// cyclictest knows days as well.
pub(super) fn duration_or_seconds(text: &str) -> Result<Ns, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u16>().ok());
    match days {
        Some(days) if days > 0 => Ok(Ns::from_secs(i64::from(days) * 24 * 3600)),
        _ => or_bare(text, "s"),
    }
}

pub(super) fn either(text: &str) -> Result<Either, String> {
    match text.parse() {
        Ok(bare) => Ok(Either::Bare(bare)),
        Err(_) => duration_or_seconds(text).map(Either::Time),
    }
}
