//! Compares doctor's answer with the marked lines of a program.

use super::places::{SourceLine, file_name};
use super::{Answer, AnsweredFinding, AnsweredWhere, Case};
use schemars::JsonSchema;
use serde::Serialize;

/// How a run was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeEnd {
    /// The mistake is found, on its line where it has one, and nothing else is accused; in a clean twin: nothing is.
    Right,
    /// Nothing else is accused, and the code is right, but the line is not.
    WrongLine,
    /// The mistake is not found, and nothing else is accused.
    Missed,
    /// A mistake that the program does not have is accused, whatever else was found.
    FalseFinding,
    /// Not judged: by the program's own check the mistake did not take place here.
    NotProvoked,
    /// Not judged: the program was not built, or doctor gave no document.
    NoRun,
}

/// The judgement of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MistakeJudgement {
    /// In one word.
    pub end: MistakeEnd,
    /// True when a finding has the code of the mistake; always false for a clean twin.
    pub found: bool,
    /// True when such a finding is on a marked line; `null` where the mistake has no line, and for a clean twin.
    pub line_right: Option<bool>,
    /// The places of the findings with the code of the mistake.
    pub places: Vec<String>,
    /// Findings of at least a warning that are false.
    pub false_findings: Vec<String>,
}

/// Judges the answer about a case, or about its clean twin. `lines` looks up a module and an offset where the answer has no
/// line.
pub fn judge(
    case: &Case,
    clean: bool,
    answer: &Answer,
    lines: impl Fn(&str, u64) -> Vec<SourceLine>,
) -> MistakeJudgement {
    let is_false = |finding: &&AnsweredFinding| finding.accuses() && (clean || !case.is_true(&finding.code));
    let false_findings: Vec<String> = answer.findings.iter().filter(is_false).map(in_words).collect();
    let found: Vec<&AnsweredFinding> =
        answer.findings.iter().filter(|finding| !clean && finding.code == case.code).collect();
    let on_line = found
        .iter()
        .any(|finding| finding.place.as_ref().is_some_and(|place| is_marked(case, place, &lines)));
    let line_right = (!clean && !case.without_line).then_some(on_line);
    let end = match (false_findings.is_empty(), clean, found.is_empty(), line_right) {
        (false, ..) => MistakeEnd::FalseFinding,
        (true, true, ..) => MistakeEnd::Right,
        (true, false, true, _) => MistakeEnd::Missed,
        (true, false, false, Some(false)) => MistakeEnd::WrongLine,
        (true, false, false, _) => MistakeEnd::Right,
    };
    MistakeJudgement {
        end,
        found: !found.is_empty(),
        line_right,
        places: found.iter().map(|finding| at(finding.place.as_ref())).collect(),
        false_findings,
    }
}

fn is_marked(case: &Case, place: &AnsweredWhere, lines: impl Fn(&str, u64) -> Vec<SourceLine>) -> bool {
    let is_marked =
        |file: &str, line: u32| file_name(file) == case.name && case.lines().any(|marked| marked == line);
    match (&place.file, place.line, &place.module, place.offset) {
        (Some(file), Some(line), ..) => is_marked(file, line),
        (_, _, Some(module), Some(offset)) => {
            lines(module, offset).iter().any(|found| is_marked(&found.file, found.line))
        }
        _ => false,
    }
}

/// A finding in one line.
fn in_words(finding: &AnsweredFinding) -> String {
    let thread = finding.thread.as_ref().and_then(|thread| thread.comm.as_deref()).unwrap_or("the process");
    format!(
        "{} ({}) of {thread} at {}: {}",
        finding.code,
        finding.severity,
        at(finding.place.as_ref()),
        finding.title
    )
}

/// A place in one word, as exactly as the answer has it.
fn at(place: Option<&AnsweredWhere>) -> String {
    let Some(place) = place else { return "no place".to_owned() };
    match (&place.file, place.line, &place.module, place.offset, &place.function) {
        (Some(file), Some(line), ..) => format!("{}:{line}", file_name(file)),
        (_, _, Some(module), Some(offset), _) => format!("{}+{offset:#x}", file_name(module)),
        (_, _, _, _, Some(function)) => format!("{function}()"),
        (_, _, Some(module), ..) => file_name(module).to_owned(),
        _ => "no place".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const SOURCE: &str = "// title = \"x\"\n// code = \"file-write\"\n// also = [\"file-open\"]\n// verified = \"strace\"\n\
                          a();\nwrite(); // MISTAKE: file-write\nwrite(); // MISTAKE: file-write\nsync(); // MISTAKE: file-sync\n";

    fn case() -> Case {
        Case::parse("a.c", SOURCE).expect("a case")
    }

    fn finding(code: &str, severity: &str, place: Value) -> Value {
        json!({"code": code, "severity": severity, "title": "t", "thread": {"tid": 1, "comm": "control"}, "where": place})
    }

    fn at_line(line: u32) -> Value {
        json!({"function": "f", "file": "/build/a.c", "line": line, "module": "/build/a", "offset": 4660})
    }

    fn judged(case: &Case, clean: bool, findings: &[Value]) -> MistakeJudgement {
        let document = json!({"schema": "doctor/1", "threads": [], "findings": findings});
        let answer: Answer = serde_json::from_value(document).expect("a document");
        let line = |file: &str, line| SourceLine { file: file.to_owned(), line };
        judge(case, clean, &answer, |module, offset| match (module, offset) {
            ("/build/a", 0x1000) => vec![line("rt.h", 40), line("a.c", 7)],
            _ => Vec::new(),
        })
    }

    #[test]
    fn a_mistake_on_one_of_its_lines_is_right() {
        for place in [
            at_line(6),
            at_line(7),
            json!({"file": null, "line": null, "module": "/build/a", "offset": 4096}),
        ] {
            let judgement = judged(&case(), false, &[finding("file-write", "warning", place)]);
            assert_eq!(
                (judgement.end, judgement.line_right),
                (MistakeEnd::Right, Some(true)),
                "{judgement:?}"
            );
        }
    }

    #[test]
    fn another_line_or_another_file_is_wrong() {
        let other = json!({"file": "/build/b.c", "line": 6, "module": "/build/a", "offset": 4096});
        let none = json!({"file": null, "line": null, "module": "/lib/libc.so.6", "offset": 4096});
        for place in [at_line(5), other, none, Value::Null] {
            let judgement = judged(&case(), false, &[finding("file-write", "error", place)]);
            assert_eq!((judgement.end, judgement.found), (MistakeEnd::WrongLine, true), "{judgement:?}");
        }
        // One right line among several findings of the code is enough: the rest are consequences of the same mistake.
        let both = [finding("file-write", "error", at_line(5)), finding("file-write", "info", at_line(6))];
        assert_eq!(judged(&case(), false, &both).end, MistakeEnd::Right);
    }

    #[test]
    fn other_codes_are_false_unless_they_are_true_as_well() {
        let right = finding("file-write", "warning", at_line(6));
        for (code, severity, end) in [
            ("file-open", "error", MistakeEnd::Right),
            ("file-sync", "error", MistakeEnd::Right),
            ("fifo-99", "info", MistakeEnd::Right),
            ("fifo-99", "warning", MistakeEnd::FalseFinding),
            ("fifo-99", "critical", MistakeEnd::FalseFinding),
        ] {
            let judgement = judged(&case(), false, &[right.clone(), finding(code, severity, at_line(5))]);
            assert_eq!(judgement.end, end, "{code} {severity}");
            assert_eq!(judgement.false_findings.is_empty(), end == MistakeEnd::Right);
        }
        let judgement = judged(&case(), false, &[finding("fifo-99", "error", Value::Null)]);
        assert_eq!(judgement.false_findings, ["fifo-99 (error) of control at no place: t"]);
        assert_eq!((judgement.end, judgement.found), (MistakeEnd::FalseFinding, false));
        assert_eq!(judged(&case(), false, &[]).end, MistakeEnd::Missed);
    }

    #[test]
    fn in_a_clean_twin_every_accusation_is_false() {
        assert_eq!(judged(&case(), true, &[]).end, MistakeEnd::Right);
        assert_eq!(judged(&case(), true, &[finding("fifo-99", "info", Value::Null)]).end, MistakeEnd::Right);
        for code in ["file-write", "file-open", "fifo-99"] {
            let judgement = judged(&case(), true, &[finding(code, "warning", at_line(6))]);
            assert_eq!((judgement.end, judgement.found), (MistakeEnd::FalseFinding, false), "{code}");
        }
    }

    #[test]
    fn a_mistake_without_a_line_needs_none() {
        let source =
            "// title = \"x\"\n// code = \"fifo-99\"\n// without-line = true\n// verified = \"chrt\"\n";
        let case = Case::parse("a.c", source).expect("a case");
        for place in [Value::Null, at_line(3)] {
            let judgement = judged(&case, false, &[finding("fifo-99", "warning", place)]);
            assert_eq!((judgement.end, judgement.line_right), (MistakeEnd::Right, None));
        }
    }
}
