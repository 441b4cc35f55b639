//! Effects of a mistake that has a finding of its own, at the same line: a library's call, or the start of a thread, allocates,
//! and touches memory.

use crate::doctor::finding::DoctorFinding;
use whylate_base::{SourceLocation, Tid};

/// Calls that allocate, open files and touch memory by the way.
const CAUSES: [&str; 5] = ["name-resolution", "terminal-output", "file-open", "file-write", "start-in-loop"];
/// What they do by the way.
const EFFECTS: [&str; 7] = [
    "heap-in-loop",
    "file-open",
    "fault-first-touch",
    "fault-copy-on-write",
    "fault-file",
    "fault-stack",
    "fault-heap",
];

/// Removes the findings that only repeat another one.
pub(super) fn remove(findings: &mut Vec<DoctorFinding>) {
    let place = |finding: &DoctorFinding| -> Option<(Tid, SourceLocation)> {
        // Without a line, one function has several.
        let line = finding.location.clone().filter(|location| location.line.is_some())?;
        Some((finding.thread?.tid, SourceLocation { offset: None, ..line }))
    };
    let causes: Vec<(&str, _)> = findings
        .iter()
        .filter(|finding| CAUSES.contains(&finding.code))
        .filter_map(|finding| Some((finding.code, place(finding)?)))
        .collect();
    findings.retain(|finding| {
        let explained = place(finding).is_some_and(|at| {
            causes.iter().any(|(code, place)| {
                *code != finding.code
                    && *place == at
                    && !(finding.code == "file-open" && *code != "name-resolution")
            })
        });
        !(EFFECTS.contains(&finding.code) && explained)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::FoundThread;
    use whylate_base::Severity;

    fn finding(code: &'static str, tid: i32, line: Option<u32>) -> DoctorFinding {
        let location =
            SourceLocation { file: Some("/src/a.c".to_owned()), line, ..SourceLocation::default() };
        DoctorFinding {
            thread: Some(FoundThread { tid: Tid(tid), comm: "a".into() }),
            ..DoctorFinding::new(code, Severity::Warning, String::new()).at(Some(location))
        }
    }

    #[test]
    fn only_effects_at_the_line_of_their_cause_are_removed() {
        let mut findings = vec![
            finding("terminal-output", 7, Some(3)),
            finding("heap-in-loop", 7, Some(3)),
            finding("heap-in-loop", 7, Some(4)),
            finding("heap-in-loop", 8, Some(3)),
            finding("relative-sleep", 7, Some(3)),
            finding("file-open", 7, None),
            finding("fault-file", 7, None),
            finding("file-open", 7, Some(3)),
        ];
        remove(&mut findings);
        let left: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(
            left,
            [
                "terminal-output",
                "heap-in-loop",
                "heap-in-loop",
                "relative-sleep",
                "file-open",
                "fault-file",
                "file-open"
            ]
        );
    }
}
