//! Checks of a scenario that its types do not express: words that must be known ones.

use super::{Expectation, Late, Scenario};
use whylate_base::{Ns, parse_duration};
use whylate_lab::{Arch, TimeSource};
use whylate_ledger::Cause;

/// The longest duration in a scenario.
const LONGEST: Ns = Ns::from_secs(600);
/// In milliseconds: while the guest is stopped, its limit is not checked.
const MOST_STOPPED: u64 = 1_000;

/// A word of the file that is wrong, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// As it stands in the file.
    pub(super) word: String,
    pub(super) why: String,
}

fn wrong(word: &str, why: impl Into<String>) -> Wrong {
    Wrong { word: word.to_owned(), why: why.into() }
}

/// The first error of `scenario`.
pub(super) fn first_wrong(scenario: &Scenario) -> Option<Wrong> {
    if scenario.inject.is_empty() {
        return Some(wrong("inject", "no fault: give whylate-inject's arguments, such as [\"higher\"]"));
    }
    if scenario.expect.is_empty() {
        return Some(wrong("expect", "no [[expect]]: write the right answers"));
    }
    if scenario.peer.as_ref().is_some_and(|peer| peer.inject.is_empty()) {
        return Some(wrong("peer", "no program of the other machine: write `inject`"));
    }
    if scenario.peer.is_some() && (scenario.record_after_ms.is_some() || scenario.record_for.is_some()) {
        return Some(wrong("peer", "two machines are recorded from the beginning to the end"));
    }
    if scenario.cpus == 0 || scenario.cpus > 16 {
        return Some(wrong("cpus", "a guest has 1 to 16 CPUs"));
    }
    if let Some(name) = scenario.architectures.iter().find(|name| name.parse::<Arch>().is_err()) {
        return Some(wrong(name, "not an architecture: write x86_64 or arm64"));
    }
    let durations = std::iter::once(&scenario.duration).chain(&scenario.record_for);
    durations
        .filter_map(|text| of_duration(text))
        .next()
        .or_else(|| of_milliseconds(scenario))
        .or_else(|| scenario.settings.iter().find_map(|setting| of_setting(setting)))
        .or_else(|| scenario.expect.iter().find_map(of_expectation))
}

fn of_duration(text: &str) -> Option<Wrong> {
    match parse_duration(text) {
        Err(error) => Some(wrong(text, error.to_string())),
        Ok(length) if length <= Ns::ZERO || length > LONGEST => {
            Some(wrong(text, "too short or too long: write more than zero, and at most 10m"))
        }
        Ok(_) => None,
    }
}

fn of_milliseconds(scenario: &Scenario) -> Option<Wrong> {
    let longest = LONGEST.0.unsigned_abs() / 1_000_000;
    if scenario.record_after_ms.is_some_and(|time| time > longest) {
        return Some(wrong("record-after-ms", "too long: at most 10 minutes"));
    }
    let stop = scenario.stop_ms?;
    if stop == 0 || stop > MOST_STOPPED {
        return Some(wrong("stop-ms", format!("the host stops the guest for 1 to {MOST_STOPPED} ms")));
    }
    (scenario.time == TimeSource::Virtual)
        .then(|| wrong("stop-ms", "virtual time stands still meanwhile: add `time = \"free\"`"))
}

fn of_setting(setting: &str) -> Option<Wrong> {
    let good = split_setting(setting).is_some();
    (!good).then(|| {
        wrong(setting, "not a setting: write `/path = value`, or `?/path = value` where it may be missing")
    })
}

/// A setting's path, its value, and whether a kernel may lack it.
pub(crate) fn split_setting(setting: &str) -> Option<(&str, &str, bool)> {
    let (path, value) = setting.split_once(" = ")?;
    let (path, optional) = match path.trim().strip_prefix('?') {
        Some(path) => (path, true),
        None => (path.trim(), false),
    };
    path.starts_with('/').then_some((path, value.trim(), optional))
}

fn of_expectation(expectation: &Expectation) -> Option<Wrong> {
    let mut causes = expectation.causes.iter().chain(&expectation.not_judged);
    if let Some(cause) = causes.find(|cause| Cause::from_code(cause).is_none()) {
        return Some(wrong(cause, "not a cause: `whylate explain --code list` names them all"));
    }
    if expectation.late == Late::Some && expectation.causes.is_empty() {
        return Some(wrong("expect", "late jobs are expected, but no cause is right: write `causes`"));
    }
    let culprit = expectation.culprits.iter().find(|culprit| ExpectedCulprit::parse(culprit).is_none())?;
    Some(wrong(
        culprit,
        "not a culprit: write part:culprit, part:bystander, thread:PATTERN, irq:PATTERN, softirq:PATTERN or none",
    ))
}

/// A right culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedCulprit<'a> {
    /// The threads with that part in the injector's label.
    Part(&'a str),
    Thread(&'a str),
    Irq(&'a str),
    Softirq(&'a str),
    NoCulprit,
}

impl ExpectedCulprit<'_> {
    /// From an entry of [`Expectation::culprits`].
    pub(crate) fn parse(text: &str) -> Option<ExpectedCulprit<'_>> {
        match text.split_once(':') {
            None if text == "none" => Some(ExpectedCulprit::NoCulprit),
            Some(("part", part @ ("culprit" | "bystander" | "victim"))) => Some(ExpectedCulprit::Part(part)),
            Some(("thread", pattern)) => Some(ExpectedCulprit::Thread(pattern)),
            Some(("irq", pattern)) => Some(ExpectedCulprit::Irq(pattern)),
            Some(("softirq", pattern)) => Some(ExpectedCulprit::Softirq(pattern)),
            _ => None,
        }
    }
}
