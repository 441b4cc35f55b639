//! Explanations as SARIF and JUnit, for code hosts and CI servers.

use crate::sample;
use serde_json::Value;
use whylate_base::{Evidence, Severity, SourceLocation};
use whylate_report::explain::{junit, sarif};

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn sarif_has_each_finding_with_its_rule_and_its_fix() {
    let story = sample::story();
    let log = sarif::render(&story);
    assert_eq!(log["version"], "2.1.0");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(results(&log).len() > story.findings.len(), "the worst activations are results too");
    for (result, finding) in results(&log).iter().zip(&story.findings) {
        assert_eq!(result["ruleId"], finding.code);
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], finding.code);
        assert!(rules[index]["help"]["text"].as_str().is_some_and(|page| page.starts_with("# ")), "{result}");
        let text = result["message"]["text"].as_str().expect("a text");
        assert!(finding.fix.first().is_none_or(|fix| text.contains(&format!("Fix: {}", fix.text))), "{text}");
    }
}

#[test]
fn sarif_shows_the_line_that_a_call_stack_shows() {
    let mut story = sample::story();
    let location =
        SourceLocation { file: Some("/src/queue.cpp".into()), line: Some(88), ..SourceLocation::default() };
    let finding = story.findings.first_mut().expect("a finding");
    let seen = Evidence { location: Some(location), ..Evidence::general("it was held here") };
    finding.evidence.extend([seen.clone(), seen]);
    let log = sarif::render(&story);
    let locations = results(&log)[0]["locations"].as_array().expect("locations");
    assert_eq!(locations.len(), 1, "a line is named once");
    let place = &locations[0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "file:///src/queue.cpp");
    assert_eq!(place["region"]["startLine"], 88);
}

#[test]
fn a_case_is_red_where_the_exit_code_would_be() {
    let story = sample::story();
    for fail_on in [Severity::Info, Severity::Warning, Severity::Error] {
        let text = junit::render(&story, fail_on);
        let red = story.findings.iter().filter(|finding| finding.severity >= fail_on).count();
        assert_eq!(text.matches("<failure").count(), red, "{fail_on}: {text}");
        assert_eq!(text.matches("<skipped").count(), story.findings.len() - red, "{fail_on}: {text}");
        assert_eq!(text.matches("<testcase").count(), story.findings.len() + story.tasks.len(), "{text}");
        assert!(!text.contains("<error"), "{text}");
    }
}

#[test]
fn what_concludes_nothing_is_an_error_and_not_green() {
    let text = junit::render(&sample::candidates(), Severity::Error);
    assert_eq!(text.matches("<error").count(), 1, "{text}");
}

#[test]
fn a_hostile_name_keeps_the_documents_whole() {
    let text = junit::render(&sample::hostile(), Severity::Info);
    assert!(!text.contains('\u{1b}') && !text.contains("<script"), "{text}");
    let log = sarif::render(&sample::hostile()).to_string();
    assert!(!log.contains("\\u001b"), "{log}");
}
