//! `docs/fixes.md`: does the first advice help? The last run, and the first one, which stays.

use super::markers::{between, replaced};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write;

/// The page.
pub(super) const PAGE: &str = "docs/fixes.md";
/// Lateness that is gone, among all scenarios that were judged.
const LEAST_GONE: f64 = 0.95;

const LAST: (&str, &str) =
    ("<!-- last run: begin, written by cargo xtask score --fixes -->", "<!-- last run: end -->");
const FIRST: (&str, &str) = ("<!-- first run: begin -->", "<!-- first run: end -->");

/// The page with the tables of these runs. A page without a first run gets them as such too.
///
/// # Errors
/// When `old` lacks the markers, or a document is not of `whylate-lab fixes --json`.
pub(super) fn page(old: &str, documents: &[Value], day: &str) -> Result<String> {
    let body = body(documents, day)?;
    let page = replaced(PAGE, old, LAST, &body)?;
    match between(PAGE, &page, FIRST)?.trim().is_empty() {
        true => replaced(PAGE, &page, FIRST, &body),
        false => Ok(page),
    }
}

/// True when enough lateness is gone, and none is worse.
///
/// # Errors
/// When `document` has no totals.
pub(super) fn good(document: &Value) -> Result<bool> {
    let total = &document["total"];
    let (judged, gone, worse) = (number(total, "judged")?, number(total, "gone")?, number(total, "worse")?);
    Ok(judged > 0 && gone as f64 >= LEAST_GONE * judged as f64 && worse == 0)
}

const TOTALS: [(&str, &str); 9] = [
    ("judged", "judged"),
    ("gone", "gone"),
    ("less", "less"),
    ("moved", "moved"),
    ("unchanged", "unchanged"),
    ("worse", "worse"),
    ("not_made", "cannot be made"),
    ("by_hand", "by hand"),
    ("no_run", "no run"),
];

fn body(documents: &[Value], day: &str) -> Result<String> {
    let heads: String = TOTALS.iter().map(|(_, head)| format!(" {head} |")).collect();
    let mut text = format!("\n{day}.\n\n| advice |{heads}\n| --- |{}\n", " --: |".repeat(TOTALS.len()));
    let mut rows: Vec<(String, [u64; TOTALS.len()])> = Vec::new();
    for document in documents {
        let routes = document["by_route"].as_array().context("no `by_route` in the lab's results")?;
        for row in routes.iter().chain([&document["total"]]) {
            let name = word(row, "name")?;
            let at = rows.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                rows.push((name.to_owned(), [0; TOTALS.len()]));
                rows.len() - 1
            });
            for (sum, (key, _)) in rows[at].1.iter_mut().zip(TOTALS) {
                *sum += number(row, key)?;
            }
        }
    }
    rows.sort_by_key(|(name, _)| name == "all");
    for (name, sums) in rows {
        let cells: String = sums.iter().map(|sum| format!(" {sum} |")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {} |{cells}", if name == "none" { "not followed" } else { name.as_str() });
    }
    text.push_str(
        "\n| scenario | kernel | CPUs | cause | advice followed | late before | after | worst before | after | lateness | \
         new findings |\n| --- | --- | --: | --- | --- | --: | --: | --: | --: | --- | --- |\n",
    );
    for document in documents {
        for run in document["runs"].as_array().context("no `runs` in the lab's results")? {
            text.push_str(&line(run)?);
        }
    }
    text.push('\n');
    Ok(text)
}

fn line(run: &Value) -> Result<String> {
    let (before, after) = (&run["before"], &run["after"]);
    let late = |of: &Value| match (of["late"].as_u64(), of["jobs"].as_u64()) {
        (Some(late), Some(jobs)) => format!("{late} of {jobs}"),
        _ => "-".to_owned(),
    };
    let worst = |of: &Value| match of["worst_ns"].as_i64() {
        Some(worst) => format!("{:.2} ms", worst as f64 / 1e6),
        None => "-".to_owned(),
    };
    let list = |key: &str| {
        let words = run[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(plain).collect::<Vec<_>>().join("; ")
    };
    let advice = match (word(run, "route")?, list("applied")) {
        ("none", _) => plain(word(run, "fix")?),
        ("twin", twin) => format!("mended twin: {twin}"),
        (_, applied) if applied.is_empty() => {
            format!("{} ({})", plain(word(run, "fix")?), plain(word(run, "note")?))
        }
        (_, applied) => applied,
    };
    let end = match word(run, "end")? {
        "gone" => "gone",
        "worse" => "**worse**",
        "not-made" => "cannot be made",
        "by-hand" => "by hand",
        "not-provoked" => "nothing was late",
        "no-run" => "no run",
        other => other,
    };
    Ok(format!(
        "| {} | {} | {} | {} | {advice} | {} | {} | {} | {} | {end} | {} |\n",
        word(run, "scenario")?,
        word(run, "kernel")?,
        number(run, "cpus")?,
        word(run, "code")?,
        late(before),
        late(after),
        worst(before),
        worst(after),
        list("new_findings")
    ))
}

/// Text of a program in a cell of a table.
fn plain(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|").replace('*', "\\*").replace('<', "\\<")
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

    fn totals(name: &str, gone: u64, worse: u64) -> Value {
        json!({"name": name, "judged": gone + worse, "gone": gone, "less": 0, "moved": 0, "unchanged": 0, "worse": worse,
               "not_made": 1, "by_hand": 2, "no_run": 0})
    }

    fn document(gone: u64, worse: u64) -> Value {
        let run = |scenario: &str, route: &str, end: &str, applied: Value, after: Value| {
            json!({"scenario": scenario, "kernel": "6.12", "cpus": 2, "seed": 1, "code": "irq", "fix": "move | it",
                   "route": route, "applied": applied, "end": end, "new_findings": ["starved"], "note": "refused",
                   "before": {"late": 8, "jobs": 200, "worst_ns": 3_000_000}, "after": after, "seconds": 1.0})
        };
        let after = json!({"late": 0, "jobs": 200, "worst_ns": 210_000});
        json!({"schema": "whylate.lab-fixes/1", "by_route": [totals("settings", gone, worse)],
               "total": totals("all", gone, worse),
               "runs": [run("a", "settings", "gone", json!(["CPUs of x: 1 -> 0"]), after),
                        run("b", "settings", "not-made", json!([]), Value::Null),
                        run("c", "none", "by-hand", json!([]), Value::Null)]})
    }

    fn empty() -> String {
        format!("# Fixes\n{}\n{}\nWords.\n{}\n{}\n", LAST.0, LAST.1, FIRST.0, FIRST.1)
    }

    #[test]
    fn the_first_run_stays() {
        let first = page(&empty(), &[document(2, 0), document(1, 1)], "2026-01-01").expect("a page");
        for part in [
            "| settings | 4 | 3 | 0 | 0 | 0 | 1 | 2 | 4 | 0 |",
            "| a | 6.12 | 2 | irq | CPUs of x: 1 -> 0 | 8 of 200 | 0 of 200 | 3.00 ms | 0.21 ms | gone | starved |",
            "| b | 6.12 | 2 | irq | move \\| it (refused) | 8 of 200 | - | 3.00 ms | - | cannot be made | starved |",
            "| c | 6.12 | 2 | irq | move \\| it | 8 of 200 | - |",
            "Words.",
        ] {
            assert!(first.contains(part), "{part} in {first}");
        }
        let second = page(&first, &[document(2, 0)], "2026-02-02").expect("a page");
        assert_eq!((second.matches("2026-01-01").count(), second.matches("2026-02-02").count()), (1, 1));
        assert!(page("# Fixes\n", &[document(2, 0)], "2026-01-01").is_err());
        assert!(page(&empty(), &[json!({})], "2026-01-01").is_err());
    }

    #[test]
    fn one_that_is_worse_is_not_good() {
        for (gone, worse, expected) in [(19, 0, true), (0, 0, false), (30, 1, false)] {
            assert_eq!(good(&document(gone, worse)).expect("totals"), expected, "{gone} {worse}");
        }
    }
}
