//! Explanations and measurements as Markdown, for an issue.

use crate::{assert_current, fixture, sample};
use whylate_report::{explain, measure};

#[test]
fn markdown_is_as_before() {
    assert_current(&fixture("story.md"), &explain::markdown::render(&sample::story()));
    assert_current(&fixture("candidates.md"), &explain::markdown::render(&sample::candidates()));
    assert_current(&fixture("measure.md"), &measure::markdown::render(&sample::measurement()));
    assert_current(&fixture("measure-poor.md"), &measure::markdown::render(&sample::poor_measurement()));
}

#[test]
fn nothing_in_a_name_becomes_markup() {
    let text = explain::markdown::render(&sample::hostile());
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    // Between backticks it is code.
    assert!(text.split('`').step_by(2).all(|prose| !prose.contains("<script")), "{text}");
    assert!(text.contains("`<script"), "a name is shown as it is: {text}");
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert!((3..=10).contains(&bars), "a cell that ends early: {line}");
    }
}

#[test]
fn each_finding_and_verdict_is_in_it() {
    let story = sample::story();
    let text = explain::markdown::render(&story);
    for finding in &story.findings {
        assert!(text.contains(finding.code), "{}", finding.code);
    }
    for task in &story.tasks {
        assert!(text.contains(&format!("`{}:{}`", task.comm, task.tid)), "{}", task.comm);
    }
}
