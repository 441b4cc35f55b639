//! JUnit XML for CI servers: one test case for each rule.
//!
//! JUnit has no severity. A case is red exactly where the exit code would be: a failure at or above the
//! threshold is `failure`, an unknown result is `error`. A result below the threshold is `skipped` with the
//! same words, as is a rule that does not apply: a green case stands for a pass and nothing else.

use crate::check::answers::way_out_line;
use crate::junit::{red, skipped, xml_text};
use crate::words;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use whylate_base::Severity;
use whylate_checks::{CannotTell, CheckReport, CheckedRule, RuleOutcome, RuleStatus};

/// The answers about a machine as a JUnit document; a severity of at least `fail_on` is red.
pub fn render(report: &CheckReport, fail_on: Severity) -> String {
    let mut suite = TestSuite::new(xml_text(report.options.profile.name()));
    suite.add_properties(properties(report));
    suite.add_test_cases(report.answers.iter().map(|answered| case(report, answered, fail_on)));
    let mut document = Report::new("whylate check");
    document.add_test_suite(suite);
    document.to_string().expect("memory takes all that is written")
}

fn properties(report: &CheckReport) -> impl Iterator<Item = Property> {
    let machine = &report.machine;
    let all = [
        ("release", &machine.release),
        ("version", &machine.version),
        ("cpus", &machine.cpus),
        ("model", &machine.model),
    ];
    all.into_iter().filter_map(|(name, value)| Some(Property::new(name, xml_text(value.as_ref()?))))
}

fn case(report: &CheckReport, answered: &CheckedRule, fail_on: Severity) -> TestCase {
    let mut case = TestCase::new(answered.rule.code, status(answered, fail_on));
    case.set_classname(format!("whylate.check.{}", report.options.profile));
    case
}

fn status(answered: &CheckedRule, fail_on: Severity) -> TestCaseStatus {
    let severity = answered.severity();
    let (non_success, kind, message, text) = match &answered.verdict {
        Ok(answer) if answer.status == RuleStatus::Pass => return TestCaseStatus::success(),
        Ok(answer) if answer.status == RuleStatus::NotApplicable => {
            return skipped(&format!("does not apply: {}", words::clean(&answer.what)));
        }
        Ok(answer) => {
            let what = words::clean(&answer.what);
            (NonSuccessKind::Failure, severity.to_string(), what, failure(answer))
        }
        Err(unknown) => {
            let text = not_known(unknown);
            (NonSuccessKind::Error, "cannot-tell".to_owned(), text.clone(), text)
        }
    };
    if severity < fail_on {
        return match answered.failed() {
            true => skipped(&format!("{kind}: {message}")),
            false => skipped(&message),
        };
    }
    red(non_success, &kind, &message, &text)
}

fn failure(answer: &RuleOutcome) -> String {
    let mut lines = vec![words::clean(&answer.why)];
    for proof in &answer.evidence {
        lines.push(format!("seen  {} = {}", words::clean(&proof.path), words::clean(&proof.value)));
    }
    for (i, fix) in answer.fixes.iter().enumerate() {
        lines.push(format!("{}{}", if i == 0 { "fix   " } else { "or    " }, way_out_line(fix)));
    }
    lines.join("\n")
}

fn not_known(unknown: &CannotTell) -> String {
    format!("cannot tell: {}: {}", words::clean(&unknown.path), words::clean(&unknown.why))
}
