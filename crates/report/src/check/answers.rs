//! What all renderers of a check share: which answers come first, and how a way out is worded.

use crate::words;
use whylate_base::Severity;
use whylate_checks::{CannotTell, CheckReport, CheckedRule, Fix, RuleOutcome, RuleStatus};

/// The results in the order of reading: failures first, the gravest first, then unknown ones, then passes.
pub(crate) struct Groups<'a> {
    /// Failed, gravest first; of one severity in the registry's order.
    pub(crate) failed: Vec<(&'a CheckedRule, &'a RuleOutcome)>,
    /// What had to be known is not.
    pub(crate) unknown: Vec<(&'a CheckedRule, &'a CannotTell)>,
    /// Passed.
    pub(crate) passed: Vec<(&'a CheckedRule, &'a RuleOutcome)>,
    /// The question does not arise.
    pub(crate) beside: Vec<(&'a CheckedRule, &'a RuleOutcome)>,
}

impl<'a> Groups<'a> {
    pub(crate) fn of(report: &'a CheckReport) -> Groups<'a> {
        let mut groups =
            Groups { failed: Vec::new(), unknown: Vec::new(), passed: Vec::new(), beside: Vec::new() };
        for answered in &report.answers {
            match &answered.verdict {
                Err(unknown) => groups.unknown.push((answered, unknown)),
                Ok(answer) => match answer.status {
                    RuleStatus::Fail => groups.failed.push((answered, answer)),
                    RuleStatus::Pass => groups.passed.push((answered, answer)),
                    RuleStatus::NotApplicable => groups.beside.push((answered, answer)),
                },
            }
        }
        groups.failed.sort_by_key(|(answered, _)| std::cmp::Reverse(answered.severity()));
        groups
    }

    /// How many failures are of one severity.
    pub(crate) fn failures(&self, severity: Severity) -> usize {
        self.failed.iter().filter(|(answered, _)| answered.severity() == severity).count()
    }

    /// `2 errors, 1 warning, 3 cannot tell`: the answer in one line.
    pub(crate) fn title(&self) -> String {
        let counts = [
            (self.failures(Severity::Error), "error"),
            (self.failures(Severity::Warning), "warning"),
            (self.failures(Severity::Info), "remark"),
        ];
        let mut parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| words::plural(count as u64, name))
            .collect();
        if parts.is_empty() {
            parts.push("Nothing found".to_owned());
        }
        if !self.unknown.is_empty() {
            parts.push(format!("{} cannot tell", self.unknown.len()));
        }
        parts.join(", ")
    }
}

/// The parts of a way out, each with what it is; the first needs no label.
pub(crate) fn way_out(fix: &Fix) -> impl Iterator<Item = (&'static str, String)> {
    let reboot = if fix.reboot { " (needs a reboot)" } else { "" };
    let parts = [
        ("", fix.runtime.as_ref().map(|command| words::clean(command))),
        ("lasting: ", fix.boot.as_ref().map(|setting| format!("{}{reboot}", words::clean(setting)))),
        ("risk: ", fix.risk.as_ref().map(|risk| words::clean(risk))),
    ];
    let parts = parts.into_iter().filter_map(|(label, text)| Some((label, text?)));
    parts.enumerate().map(|(i, (label, text))| (if i == 0 { "" } else { label }, text))
}

/// A way out as one line.
pub(crate) fn way_out_line(fix: &Fix) -> String {
    let parts: Vec<String> = way_out(fix).map(|(label, text)| format!("{label}{text}")).collect();
    parts.join("; ")
}

/// What was asked of which machine.
pub(crate) fn facts(report: &CheckReport) -> Vec<String> {
    let (ask, machine) = (&report.options, &report.machine);
    let mut facts = vec![format!("profile {}", ask.profile)];
    facts.extend(ask.cpus.as_ref().map(|cpus| format!("for CPUs {cpus}")));
    facts.extend(ask.priority.map(|priority| format!("for priority {priority}")));
    facts.extend(ask.user.as_ref().map(|user| format!("for {}", words::clean(user))));
    facts.extend(machine.release.as_ref().map(|release| format!("Linux {}", words::clean(release))));
    facts.extend(machine.cpus.as_ref().map(|cpus| format!("CPUs {cpus}")));
    facts.extend(machine.model.as_ref().map(|model| words::clean(model)));
    facts
}
