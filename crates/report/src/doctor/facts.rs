//! What all renderers of doctor's reports share: the answer in one line, how a place and a thread are worded.

use crate::words;
use whylate_base::{Policy, Severity};
use whylate_investigate::doctor::{CallTotal, DoctorFinding, DoctorReport, ThreadReport};

/// `2 errors, 1 warning`: the answer in one line.
pub(super) fn title(report: &DoctorReport) -> String {
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "remark")];
    let count = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(severity, noun)| (count(severity), noun))
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| words::plural(count as u64, noun))
        .collect();
    match parts.is_empty() {
        false => parts.join(", "),
        true if report.has_realtime() => "Nothing found".to_owned(),
        true => "Cannot tell".to_owned(),
    }
}

/// The sentence of a report without findings; `None` with findings.
pub(super) fn nothing(report: &DoctorReport) -> Option<&'static str> {
    match (report.findings.is_empty(), report.has_realtime()) {
        (false, _) => None,
        (true, true) => Some("Nothing found."),
        (true, false) => Some(
            "Cannot tell: no real-time thread was seen (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), nor one that asked to be one.",
        ),
    }
}

/// For how long what was observed, in parts to be joined by a separator.
pub(super) fn observed(report: &DoctorReport) -> [String; 3] {
    [
        format!("observed for {}", report.duration),
        words::plural(report.threads.len() as u64, "thread"),
        words::plural(report.findings.len() as u64, "finding"),
    ]
}

/// The line of a finding and the longest occurrence, as far as they are known, with a label.
pub(super) fn place(finding: &DoctorFinding) -> Option<(&'static str, String)> {
    let place = finding.location.as_ref().map(|location| words::clean(&location.to_string()));
    match (place, finding.worst) {
        (Some(place), Some(worst)) => Some(("at", format!("{place}, worst {worst}"))),
        (Some(place), None) => Some(("at", place)),
        (None, Some(worst)) => Some(("worst", worst.to_string())),
        (None, None) => None,
    }
}

/// The other party of a finding with its line, where there is one.
pub(super) fn other(finding: &DoctorFinding) -> Option<String> {
    let (thread, location) = finding.other.as_ref()?;
    let location = location.as_ref()?;
    Some(words::clean(&format!("{} at {location}", words::thread(&thread.comm, thread.tid))))
}

/// `fifo 50`, `deadline`, `other`.
pub(super) fn scheduling(thread: &ThreadReport) -> String {
    match thread.policy {
        Policy::Fifo | Policy::Rr => format!("{} {}", thread.policy.name(), thread.priority),
        policy => policy.name().to_owned(),
    }
}

/// The counts of a thread since it began, in the order of [`COUNTS`].
pub(super) fn counts(thread: &ThreadReport) -> [String; 5] {
    [
        words::count(thread.minor_faults),
        words::count(thread.major_faults),
        words::count(thread.voluntary_switches),
        words::count(thread.involuntary_switches),
        words::known(thread.run_delay),
    ]
}

/// The headings of [`counts`]: page faults, context switches, and the time on a runqueue.
pub(super) const COUNTS: [&str; 5] = ["minor", "major", "voluntary", "preempted", "waited"];

/// The locked memory of a thread's process.
pub(super) fn locked(thread: &ThreadReport) -> String {
    thread.locked_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} KiB", words::count(bytes >> 10)))
}

/// `clock_nanosleep 200`.
pub(super) fn call(total: &CallTotal) -> String {
    format!("{} {}", total.name, words::count(total.count))
}
