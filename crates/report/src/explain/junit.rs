//! JUnit XML for CI servers: one test case for each finding, and one for each explained thread.
//!
//! A case is red exactly where the exit code would be: a finding at or above the threshold is a `failure`, and an
//! explanation that concludes nothing is an `error`. A finding below the threshold is `skipped` with its words. The case of
//! a thread is green, and its output is the thread's worst activation.

use crate::explain::facts;
use crate::junit::{red, skipped, xml_text};
use crate::words;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use whylate_base::{Finding, Severity};
use whylate_ledger::{Activation, Explanation};

/// An explanation as a JUnit document; a finding of at least `fail_on` is red.
pub fn render(explanation: &Explanation, fail_on: Severity) -> String {
    let mut suite = TestSuite::new(xml_text(&facts::title(explanation)));
    suite.add_test_cases(explanation.findings.iter().map(|finding| of_finding(finding, fail_on)));
    let worst = explanation.activations_by_thread();
    suite.add_test_cases(explanation.tasks.iter().map(|task| {
        let name = words::thread(&task.comm, task.tid);
        let mut case = TestCase::new(xml_text(&name), TestCaseStatus::success());
        case.set_classname("whylate.explain.thread");
        if let Some(worst) = worst.get(&task.tid).and_then(|all| all.first()) {
            case.set_system_out(xml_text(&activation(worst)));
        }
        case
    }));
    if !explanation.concludes() || explanation.candidates.is_some() {
        let why = facts::limits(explanation).join("\n");
        let status = red(NonSuccessKind::Error, "cannot-tell", "no chosen thread was explained", &why);
        let mut case = TestCase::new("explanation", status);
        case.set_classname("whylate.explain");
        suite.add_test_case(case);
    }
    let mut document = Report::new("whylate explain");
    document.add_test_suite(suite);
    document.to_string().expect("memory takes all that is written")
}

fn of_finding(finding: &Finding, fail_on: Severity) -> TestCase {
    let title = words::clean(&finding.title);
    let word = finding.severity.to_string();
    let status = if finding.severity < fail_on {
        skipped(&format!("{word}: {title}"))
    } else {
        red(NonSuccessKind::Failure, &word, &title, &details(finding))
    };
    // One code may have several findings: the title tells them apart.
    let mut case = TestCase::new(xml_text(&format!("{}: {title}", finding.code)), status);
    case.set_classname("whylate.explain.finding");
    case
}

fn details(finding: &Finding) -> String {
    let mut lines = vec![words::clean(&finding.why)];
    lines.extend(finding.evidence.iter().map(|seen| format!("seen  {}", words::observation(seen))));
    for (i, fix) in finding.fix.iter().enumerate() {
        lines.push(format!("{}{}", if i == 0 { "fix   " } else { "or    " }, words::clean(&fix.text)));
    }
    lines.join("\n")
}

fn activation(activation: &Activation) -> String {
    let verdict = &activation.verdict;
    format!(
        "{} ({}); {} on CPU {}\n{}: {}\n",
        words::due_at(activation),
        words::trigger(activation),
        words::lateness(activation),
        activation.cpu,
        verdict.cause,
        verdict.why,
    )
}
