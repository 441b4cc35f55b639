//! `docs/doctor-accuracy.md`: the last run of the programs with mistakes, and the first run, which stays.

use super::markers::{between, replaced};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write;

/// The page.
pub(super) const PAGE: &str = "docs/doctor-accuracy.md";
/// What must hold of all judged programs with a mistake.
const LEAST_RIGHT: f64 = 0.95;

const LAST: (&str, &str) =
    ("<!-- last run: begin, written by cargo xtask score --mistakes -->", "<!-- last run: end -->");
const GUESTS: (&str, &str) =
    ("<!-- guests: begin, written by cargo xtask score --mistakes --kernel -->", "<!-- guests: end -->");
const FIRST: (&str, &str) = ("<!-- first run: begin -->", "<!-- first run: end -->");

/// The page with the tables of these runs: of this machine, or of guests of the lab. A page without a first run gets this
/// machine's as such too.
///
/// # Errors
/// When `old` lacks the markers, or a document is not of `whylate-lab mistakes --json`.
pub(super) fn page(old: &str, documents: &[Value], day: &str) -> Result<String> {
    let (guests, here): (Vec<&Value>, Vec<&Value>) =
        documents.iter().partition(|document| document["kernel"].is_string());
    let mut page = old.to_owned();
    if !guests.is_empty() {
        page = replaced(PAGE, &page, GUESTS, &in_guests(&guests, day)?)?;
    }
    for document in here {
        let body = body(document, day)?;
        page = replaced(PAGE, &page, LAST, &body)?;
        if between(PAGE, &page, FIRST)?.trim().is_empty() {
            page = replaced(PAGE, &page, FIRST, &body)?;
        }
    }
    Ok(page)
}

/// True when mistakes are found with their lines often enough, and no clean program is accused.
///
/// # Errors
/// When `document` has no totals.
pub(super) fn good(document: &Value) -> Result<bool> {
    let total = &document["total"];
    let (faulty, found) = (number(total, "faulty")?, number(total, "found")?);
    let (with_line, line_right) = (number(total, "with_line")?, number(total, "line_right")?);
    let enough = |right: u64, of: u64| right as f64 >= LEAST_RIGHT * of as f64;
    let nothing_false = number(total, "faulty_accused")? + number(total, "clean_accused")? == 0;
    Ok(faulty > 0 && enough(found, faulty) && enough(line_right, with_line) && nothing_false)
}

fn body(document: &Value, day: &str) -> Result<String> {
    let release = document["release"].as_str().context("no `release` in the lab's results")?;
    let mut text = format!("\n{day}, kernel {release}.\n");
    for (what, rows) in [("group", "by_group"), ("language", "by_language")] {
        text.push_str(&head(what));
        let rows = document[rows].as_array().with_context(|| format!("no `{rows}` in the lab's results"))?;
        for row in rows.iter().chain([&document["total"]]) {
            text.push_str(&totals(row)?);
        }
    }
    text.push_str("\n| program | mistake | build | found | line | false findings | in the clean twin |\n| --- | --- | --- | --- | --- | --: | --: |\n");
    let runs = document["runs"].as_array().context("no `runs` in the lab's results")?;
    for run in runs.iter().filter(|run| run["clean"] == false || run["code"] == "") {
        let twin = runs.iter().find(|other| other["case"] == run["case"] && other["clean"] == true);
        text.push_str(&line(run, twin)?);
    }
    text.push_str("\nFalse findings, and runs that were not judged:\n\n");
    let all: String = runs.iter().map(remarks).collect::<Result<_>>()?;
    text.push_str(if all.is_empty() { "None.\n" } else { &all });
    text.push('\n');
    Ok(text)
}

/// One row for each kernel, and what is not right.
fn in_guests(documents: &[&Value], day: &str) -> Result<String> {
    let mut text = format!("\n{day}.\n{}", head("kernel"));
    let mut misses = String::new();
    for document in documents {
        let kernel = word(document, "kernel")?;
        let mut row = document["total"].clone();
        row["name"] = format!("{kernel} ({})", word(document, "release")?).into();
        text.push_str(&totals(&row)?);
        for run in document["runs"].as_array().context("no `runs` in the lab's results")? {
            let all = remarks(run)? + &missed(run)?;
            let Some(first) = all.lines().next() else { continue };
            let more = match all.lines().count() - 1 {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            misses.push_str(&format!("- {kernel}: {}{more}\n", first.trim_start_matches("- ")));
        }
    }
    text.push_str("\nNot right, or not judged:\n\n");
    text.push_str(if misses.is_empty() { "None.\n" } else { &misses });
    text.push('\n');
    Ok(text)
}

/// A mistake that was not found, or not on its line.
fn missed(run: &Value) -> Result<String> {
    let judgement = &run["judgement"];
    if !is_judged(run) || run["clean"] == true {
        return Ok(String::new());
    }
    let what = match (judgement["found"].as_bool(), judgement["line_right"].as_bool()) {
        (Some(false), _) => "not found".to_owned(),
        (_, Some(false)) => {
            let places = judgement["places"].as_array().into_iter().flatten().filter_map(Value::as_str);
            format!("not on its line, but at {}", places.collect::<Vec<_>>().join(", "))
        }
        _ => return Ok(String::new()),
    };
    Ok(format!("- {} (`{}`): {what}\n", word(run, "case")?, word(run, "code")?))
}

fn head(what: &str) -> String {
    format!(
        "\n| {what} | programs | found | with a line | line right | others accused | clean twins | of these accused | not judged |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n"
    )
}

fn totals(row: &Value) -> Result<String> {
    let mut text = format!("| {} |", word(row, "name")?);
    for key in ["faulty", "found", "with_line", "line_right", "faulty_accused", "clean", "clean_accused"] {
        // Writing to a String cannot fail.
        let _ = write!(text, " {} |", number(row, key)?);
    }
    let _ = writeln!(text, " {} |", number(row, "not_provoked")? + number(row, "no_run")?);
    Ok(text)
}

fn line(run: &Value, twin: Option<&Value>) -> Result<String> {
    let judgement = &run["judgement"];
    let [found, line] = match is_judged(run) {
        false => ["not judged"; 2],
        true => [
            if judgement["found"] == true { "yes" } else { "no" },
            match judgement["line_right"].as_bool() {
                Some(true) => "right",
                Some(false) if judgement["found"] == true => "wrong",
                Some(false) => "-",
                None => "none to find",
            },
        ],
    };
    let false_findings = |run: &Value| match is_judged(run) {
        true => run["judgement"]["false_findings"].as_array().map_or(0, Vec::len).to_string(),
        false => "not judged".to_owned(),
    };
    let twin = twin.map_or("not judged".to_owned(), false_findings);
    if run["code"] == "" {
        let (name, flags) = (word(run, "case")?, word(run, "flags")?);
        return Ok(format!("| {name} | none | {flags} | - | - | - | {twin} |\n"));
    }
    Ok(format!(
        "| {} | `{}` | {} | {found} | {line} | {} | {twin} |\n",
        word(run, "case")?,
        word(run, "code")?,
        word(run, "flags")?,
        false_findings(run)
    ))
}

fn remarks(run: &Value) -> Result<String> {
    let name = word(run, "case")?;
    let twin = if run["clean"] == true { ", clean twin" } else { "" };
    if !is_judged(run) {
        return Ok(format!("- {name}{twin}: not judged: {}\n", plain(word(run, "note")?)));
    }
    let findings =
        run["judgement"]["false_findings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(findings.map(|finding| format!("- {name}{twin}: {}\n", plain(finding))).collect())
}

fn is_judged(run: &Value) -> bool {
    !matches!(run["judgement"]["end"].as_str(), None | Some("not-provoked" | "no-run"))
}

/// Text of a program on one line, without what Markdown reads as its own.
fn plain(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('*', "\\*").replace('<', "\\<")
}

fn word<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("no `{key}` in the lab's results"))
}

fn number(value: &Value, key: &str) -> Result<u64> {
    value[key].as_u64().with_context(|| format!("no `{key}` in the lab's results"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(name: &str, found: u64, clean_accused: u64) -> Value {
        json!({"name": name, "faulty": 2, "found": found, "with_line": 1, "line_right": 1, "faulty_accused": 0, "clean": 1,
               "clean_accused": clean_accused, "not_provoked": 1, "no_run": 0})
    }

    fn run(case: &str, clean: bool, end: &str, false_findings: &[&str]) -> Value {
        json!({"case": case, "language": "C", "flags": "-O2 -g", "code": "file-write", "clean": clean, "note": "lines: 3",
               "seconds": 1.0, "judgement": {"end": end, "found": !clean, "line_right": if clean { Value::Null } else { json!(true) },
               "places": [], "false_findings": false_findings}})
    }

    fn document(found: u64, clean_accused: u64) -> Value {
        let mut without_mistake = run("clean.c", true, "right", &[]);
        without_mistake["code"] = json!("");
        json!({"schema": "whylate.lab-mistakes/1", "release": "6.1.0",
               "runs": [run("a.c", false, "right", &[]), run("a.c", true, "false-finding", &["fifo-99 (error) of *x*"]),
                        run("b.c", false, "no-run", &[]), without_mistake],
               "by_group": [row("io", found, 0)], "by_language": [row("C", found, 0)], "total": row("all", found, clean_accused)})
    }

    fn empty() -> String {
        let sections = [LAST, GUESTS, FIRST].map(|(begin, end)| format!("{begin}\n{end}\n"));
        format!("# Title\n\n{}\nWords.\n\n{}\n{}", sections[0], sections[1], sections[2])
    }

    #[test]
    fn the_first_run_stays() {
        let first = page(&empty(), &[document(2, 0)], "2026-01-01").expect("a page");
        assert_eq!(first.matches("2026-01-01").count(), 2);
        for part in [
            "| a.c | `file-write` | -O2 -g | yes | right | 0 | 1 |",
            "| b.c | `file-write` | -O2 -g | not judged | not judged | not judged | not judged |",
            "| clean.c | none | -O2 -g | - | - | - | 0 |",
            "| all | 2 | 2 | 1 | 1 | 0 | 1 | 0 | 1 |",
            "- a.c, clean twin: fifo-99 (error) of \\*x\\*\n",
            "- b.c: not judged: lines: 3\n",
            "Words.",
        ] {
            assert!(first.contains(part), "{part} in {first}");
        }
        let second = page(&first, &[document(2, 0)], "2026-02-02").expect("a page");
        assert_eq!((second.matches("2026-01-01").count(), second.matches("2026-02-02").count()), (1, 1));
        assert!(page("# Title\n", &[document(2, 0)], "2026-01-01").is_err());
        assert!(page(&empty(), &[json!({})], "2026-01-01").is_err());
    }

    #[test]
    fn a_run_in_guests_has_a_section_of_its_own() {
        let mut guest = document(2, 1);
        guest["kernel"] = json!("6.12-rt");
        guest["runs"][0]["judgement"]["line_right"] = json!(false);
        guest["runs"][0]["judgement"]["places"] = json!(["libc.so.6+0x10"]);
        let herd = run("c.c", false, "false-finding", &["file-open (error)", "fifo-99", "yield"]);
        guest["runs"].as_array_mut().expect("runs").push(herd);
        let text = page(&empty(), &[guest], "2026-01-01").expect("a page");
        for part in [
            "| 6.12-rt (6.1.0) | 2 | 2 | 1 | 1 | 0 | 1 | 1 | 1 |",
            "- 6.12-rt: a.c (`file-write`): not on its line, but at libc.so.6+0x10\n",
            "- 6.12-rt: c.c: file-open (error); and 2 more\n",
            "- 6.12-rt: a.c, clean twin: fifo-99 (error) of \\*x\\*\n",
            "- 6.12-rt: b.c: not judged: lines: 3\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(between(PAGE, &text, LAST).expect("a section").trim().is_empty(), "{text}");
    }

    #[test]
    fn a_miss_or_a_false_finding_is_not_good() {
        assert!(good(&document(2, 0)).expect("totals"));
        assert!(!good(&document(1, 0)).expect("totals"));
        assert!(!good(&document(2, 1)).expect("totals"));
        assert!(good(&json!({})).is_err());
    }
}
