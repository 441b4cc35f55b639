//! What `whylate-lab mistakes` prints.

use std::fmt::Write;
use whylate_lab_cli::mistakes::{Case, MistakeEnd, MistakeResult, MistakeRow, MistakesDocument};

/// One line for each program: its name, its code, and the mistake.
pub(super) fn list(cases: &[Case]) -> String {
    let name = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let code = cases.iter().map(|case| case.code.len()).max().unwrap_or(0);
    cases.iter().map(|case| format!("{:<name$}  {:<code$}  {}\n", case.name, case.code, case.title)).collect()
}

/// One line for a run that has ended.
pub(super) fn line(result: &MistakeResult, ended: usize, count: usize) -> String {
    let judgement = &result.judgement;
    let twin = if result.clean { " (clean)" } else { "" };
    let details = match judgement.end {
        MistakeEnd::FalseFinding => judgement.false_findings.join("; "),
        MistakeEnd::WrongLine => format!("at {}", judgement.places.join(", ")),
        _ => result.note.clone(),
    };
    let code = if result.code.is_empty() { "no mistake" } else { result.code.as_str() };
    format!(
        "{ended}/{count} {:<13} {}{twin}: {code}: {details} ({:.1} s)",
        word(judgement.end),
        result.case,
        result.seconds
    )
}

fn word(end: MistakeEnd) -> &'static str {
    match end {
        MistakeEnd::Right => "right",
        MistakeEnd::WrongLine => "wrong line",
        MistakeEnd::Missed => "missed",
        MistakeEnd::FalseFinding => "false finding",
        MistakeEnd::NotProvoked => "not provoked",
        MistakeEnd::NoRun => "no run",
    }
}

const HEADS: [&str; 8] =
    ["faulty", "found", "with line", "line right", "accused falsely", "clean", "accused", "not judged"];

/// The totals by group and by language.
pub(super) fn tables(document: &MistakesDocument) -> String {
    let mut text = String::new();
    for (what, rows) in [("group", &document.by_group), ("language", &document.by_language)] {
        // Writing to a String cannot fail.
        let _ = write!(text, "{what:<10}");
        for head in HEADS {
            let _ = write!(text, "  {head}");
        }
        text.push('\n');
        for row in rows.iter().chain([&document.total]) {
            let _ = write!(text, "{:<10}", row.name);
            for (head, cell) in HEADS.iter().zip(cells(row)) {
                let _ = write!(text, "  {cell:>width$}", width = head.len());
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

fn cells(row: &MistakeRow) -> [u64; 8] {
    [
        row.faulty,
        row.found,
        row.with_line,
        row.line_right,
        row.faulty_accused,
        row.clean,
        row.clean_accused,
        row.not_provoked + row.no_run,
    ]
}
