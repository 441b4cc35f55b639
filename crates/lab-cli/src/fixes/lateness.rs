//! How late the victims of a run were, and why.

use crate::judge::{Circumstances, judge};
use crate::label::Label;
use crate::matrix::explained;
use crate::scenario::Expectation;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use whylate_base::{Ns, Severity};
use whylate_ledger::Cause;

/// The late jobs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lateness {
    /// Jobs of the victims.
    pub jobs: u64,
    /// Of these: late ones, without those that the host made late.
    pub late: u64,
    /// Late jobs that are not counted: the host or the emulator took the CPU from the guest, or, after a fix, the job ends a sleep
    /// that began before it.
    pub by_host: u64,
    /// The longest response, without those that the host made late.
    #[schemars(with = "i64")]
    pub worst_ns: Ns,
    /// The causes of the late jobs, the most frequent first.
    pub causes: Vec<CauseCount>,
    /// The codes of findings that are warnings or errors, each once.
    pub findings: Vec<String>,
}

/// How many late jobs a cause made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CauseCount {
    /// The code of the cause; `not-seen` where the explanation lacks the activation.
    pub cause: String,
    /// The culprit by its name.
    pub by: Option<String>,
    /// How many late jobs.
    pub jobs: u64,
}

impl Lateness {
    /// Of a run; `before` is the run before the fix.
    ///
    /// # Errors
    /// The recording cannot be opened.
    pub(super) fn of(
        label: &Label,
        recording: &Path,
        host_noise: bool,
        before: Option<&Lateness>,
    ) -> Result<Lateness, String> {
        let explanation = explained(recording, label)?;
        let circumstances = Circumstances { host_noise };
        let judgement = judge(label, &explanation, &Expectation::default(), circumstances);
        let mut lateness = Lateness { jobs: label.jobs, ..Lateness::default() };
        let by_host = |cause: Option<&str>| host_noise && cause.is_some_and(|cause| of_host(cause, before));
        // A timer that is armed already keeps its slack, and a sleep its place on a CPU.
        let began_before = |due: Ns| before.is_some() && due <= label.start_ns;
        let host_made = |due: Ns| {
            began_before(due)
                || judgement.jobs.iter().any(|job| job.due_ns == due && by_host(job.cause.as_deref()))
        };
        for job in &label.late_jobs {
            let is_host = host_made(job.due);
            let response = if is_host { Ns::ZERO } else { job.done.since(job.due) };
            lateness.worst_ns = lateness.worst_ns.max(response);
        }
        if lateness.worst_ns == Ns::ZERO {
            lateness.worst_ns = label.worst_response_ns.min(label.limit_ns);
        }
        for job in &judgement.jobs {
            if began_before(job.due_ns) || by_host(job.cause.as_deref()) {
                lateness.by_host += 1;
                continue;
            }
            lateness.count(job.cause.as_deref().unwrap_or("not-seen"), job.by.as_deref());
        }
        lateness.causes.sort_by_key(|count| std::cmp::Reverse(count.jobs));
        lateness.late = label.late.saturating_sub(lateness.by_host);
        let severe = explanation.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
        for finding in severe {
            if !lateness.findings.iter().any(|code| code == finding.code) {
                lateness.findings.push(finding.code.to_owned());
            }
        }
        Ok(lateness)
    }

    fn count(&mut self, cause: &str, by: Option<&str>) {
        // Ids differ from run to run.
        let by = by.map(|by| by.rsplit_once(':').map_or(by, |(name, _)| name).to_owned());
        match self.causes.iter_mut().find(|count| count.cause == cause && count.by == by) {
            Some(count) => count.jobs += 1,
            None => self.causes.push(CauseCount { cause: cause.to_owned(), by, jobs: 1 }),
        }
    }

    /// Whether it had that cause.
    pub(super) fn has_cause(&self, cause: &str) -> bool {
        self.causes.iter().any(|count| count.cause == cause)
    }

    /// The usual cause of its late jobs.
    pub(super) fn usual_cause(&self) -> Option<&str> {
        self.causes.first().map(|count| count.cause.as_str())
    }

    /// Late jobs among all.
    pub(super) fn share(&self) -> f64 {
        if self.jobs == 0 { 0.0 } else { self.late as f64 / self.jobs as f64 }
    }
}

/// True for a cause that the host makes: stolen time; and, after a fix of something else, time that no other thread is accused of. The
/// emulator runs one CPU at a time, so a thread on the other CPU stands still in the middle of its work or its sleep.
fn of_host(cause: &str, before: Option<&Lateness>) -> bool {
    let accuses_another =
        Cause::from_code(cause).is_some_and(|cause| cause.accuses() && !cause.accuses_late_thread());
    let is_new = before.is_some_and(|before| !before.has_cause(cause));
    cause == Cause::Stolen.code() || (is_new && !accuses_another)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_makes_what_no_thread_is_accused_of() {
        let mut before = Lateness::default();
        before.count("own-work", None);
        before.count("irq", Some("irq 3 (ttyS1):3"));
        before.count("irq", Some("irq 3 (ttyS1):4"));
        assert_eq!(before.causes.len(), 2);
        for (cause, after, expected) in [
            ("stolen", None, true),
            ("timer-late", None, false),
            ("timer-late", Some(&before), true),
            ("unexplained", Some(&before), true),
            ("own-work", Some(&before), false),
            ("page-fault", Some(&before), true),
            ("irq", Some(&before), false),
            ("softirq", Some(&before), false),
        ] {
            assert_eq!(of_host(cause, after), expected, "{cause}");
        }
    }
}
