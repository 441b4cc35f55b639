//! JUnit XML: what the documents of all reports share.

use quick_junit::{NonSuccessKind, TestCaseStatus};

/// A character that XML 1.0 (2.2) excludes remains visible: the writer would drop it, or keep it and break the document.
pub(crate) fn xml_text(text: &str) -> String {
    let is_excluded = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(is_excluded, "\u{fffd}")
}

/// A case that is neither green nor red, with the reason.
pub(crate) fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(xml_text(message));
    status
}

/// A red case: its kind in a word, one line, and the details.
pub(crate) fn red(kind: NonSuccessKind, word: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word).set_message(xml_text(message)).set_description(xml_text(text));
    status
}
