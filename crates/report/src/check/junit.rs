//! JUnit XML, as CI servers read it (the dialect of Jenkins and GitLab): one test case for each rule.
//!
//! JUnit knows no severity. A case is red exactly where the exit code would be: a failure at or above the
//! threshold is `failure`, what cannot be told is `error`. What is below the threshold is `skipped`, with the
//! same words, as is what does not apply: a green case stands for a pass and nothing else.

use crate::check::answers::way_out_line;
use crate::words;
use whylate_base::Severity;
use whylate_checks::{CannotTell, CheckReport, CheckedRule, RuleOutcome, Status};

/// What is said of a case beside its name.
struct Outcome {
    element: &'static str,
    kind: String,
    message: String,
    text: String,
}

/// The answers about a machine as a JUnit document; what is graver than or as grave as `fail_on` is red.
pub fn render(report: &CheckReport, fail_on: Severity) -> String {
    let cases: Vec<(&CheckedRule, Option<Outcome>)> =
        report.answers.iter().map(|answered| (answered, outcome(answered, fail_on))).collect();
    let count = |element: &str| {
        let of = |(_, outcome): &&(_, Option<Outcome>)| {
            outcome.as_ref().is_some_and(|outcome| outcome.element == element)
        };
        cases.iter().filter(of).count()
    };
    let totals = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count("failure"),
        count("error"),
        count("skipped")
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites name=\"whylate check\" {totals}>\n");
    xml += &format!("  <testsuite name=\"{}\" {totals}>\n", escape(report.options.profile.name()));
    xml += &properties(report);
    for (answered, outcome) in &cases {
        xml += &case(report, answered, outcome.as_ref());
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

fn properties(report: &CheckReport) -> String {
    let machine = &report.machine;
    let all = [
        ("release", &machine.release),
        ("version", &machine.version),
        ("cpus", &machine.cpus),
        ("model", &machine.model),
    ];
    let mut xml = String::new();
    for (name, value) in all {
        if let Some(value) = value {
            xml += &format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape(value));
        }
    }
    match xml.is_empty() {
        true => xml,
        false => format!("    <properties>\n{xml}    </properties>\n"),
    }
}

fn case(report: &CheckReport, answered: &CheckedRule, outcome: Option<&Outcome>) -> String {
    let name =
        format!("classname=\"whylate.check.{}\" name=\"{}\"", report.options.profile, answered.rule.code);
    let Some(Outcome { element, kind, message, text }) = outcome else {
        return format!("    <testcase {name}/>\n");
    };
    let message = escape(message);
    let body = match *element {
        "skipped" => format!("      <skipped message=\"{message}\"/>\n"),
        _ => {
            format!("      <{element} type=\"{kind}\" message=\"{message}\">{}</{element}>\n", escape(text))
        }
    };
    format!("    <testcase {name}>\n{body}    </testcase>\n")
}

/// What to say of an answer; nothing of a pass.
fn outcome(answered: &CheckedRule, fail_on: Severity) -> Option<Outcome> {
    let severity = answered.severity();
    let (kind, message, text, red) = match &answered.verdict {
        Ok(answer) if answer.status == Status::Pass => return None,
        Ok(answer) if answer.status == Status::NotApplicable => {
            let message = format!("does not apply: {}", words::clean(&answer.what));
            return Some(Outcome { element: "skipped", kind: String::new(), message, text: String::new() });
        }
        Ok(answer) => (severity.to_string(), words::clean(&answer.what), failure(answer), "failure"),
        Err(unknown) => {
            let said = not_known(unknown);
            ("cannot-tell".to_owned(), said.clone(), said, "error")
        }
    };
    if severity >= fail_on {
        return Some(Outcome { element: red, kind, message, text });
    }
    let message = match answered.failed() {
        true => format!("{kind}: {message}"),
        false => message,
    };
    Some(Outcome { element: "skipped", kind, message, text })
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

/// As text or attribute of XML 1.0. U+FFFE and U+FFFF are no characters of it (2.2).
fn escape(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml += "&amp;",
            '<' => xml += "&lt;",
            '>' => xml += "&gt;",
            '"' => xml += "&quot;",
            '\n' => xml.push('\n'),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            c if c.is_control() => xml.push('\u{fffd}'),
            c => xml.push(c),
        }
    }
    xml
}
