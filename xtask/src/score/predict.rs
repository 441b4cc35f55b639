//! `docs/predictions.md`: what `whylate simulate` predicts, beside the truth. The last run, and the first one, which stays.

use super::markers::{between, replaced};
use anyhow::{Context, Result};
use serde_json::Value;

/// The page.
pub(super) const PAGE: &str = "docs/predictions.md";
/// Directions that must be right, of all changes.
const LEAST_RIGHT: f64 = 0.95;
/// The error of the longest response that the median change may have.
const MOST_ERROR: f64 = 0.15;

const LAST: (&str, &str) =
    ("<!-- last run: begin, written by cargo xtask score --predict -->", "<!-- last run: end -->");
const FIRST: (&str, &str) = ("<!-- first run: begin -->", "<!-- first run: end -->");

/// The page with the tables of this run. A page without a first run gets it as such too.
///
/// # Errors
/// When `old` lacks the markers, or the document is not of `whylate-lab predict --json`.
pub(super) fn page(old: &str, document: &Value, day: &str) -> Result<String> {
    let body = body(document, day)?;
    let page = replaced(PAGE, old, LAST, &body)?;
    match between(PAGE, &page, FIRST)?.trim().is_empty() {
        true => replaced(PAGE, &page, FIRST, &body),
        false => Ok(page),
    }
}

/// True when directions are right often enough, and the longest responses are near.
///
/// # Errors
/// When `document` has no totals.
pub(super) fn good(document: &Value) -> Result<bool> {
    let total = &document["total"];
    let (judged, right) = (number(total, "judged")?, number(total, "direction_right")?);
    let error = total["max_error"].as_f64().context("no `max_error` in the lab's results")?;
    Ok(judged > 0 && right as f64 >= LEAST_RIGHT * judged as f64 && error <= MOST_ERROR)
}

fn body(document: &Value, day: &str) -> Result<String> {
    let total = &document["total"];
    let percent =
        |key: &str| total[key].as_f64().map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let mut text = format!(
        "\n{day}. {} changes with a result, {} without. Direction right: {}; cause right: {}. Median error: p50 {}, p99 {}, \
         longest {}.\n\n| change | scenario, kernel | `simulate` | thread | longest before | predicted | after | error p50 | \
         p99 | longest | direction | cause |\n| --- | --- | --- | --- | --: | --: | --: | --: | --: | --: | --- | --- |\n",
        number(total, "judged")?,
        number(total, "no_run")?,
        number(total, "direction_right")?,
        number(total, "cause_right")?,
        percent("p50_error"),
        percent("p99_error"),
        percent("max_error"),
    );
    let changes = document["changes"].as_array().context("no `changes` in the lab's results")?;
    let mut notes = String::new();
    for change in changes {
        let options = change["simulate"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let options = options.collect::<Vec<_>>().join(" ");
        let (title, scenario) = (word(change, "title")?, word(change, "scenario")?);
        let place = format!("{scenario}, {}", word(change, "kernel")?);
        let threads = change["threads"].as_array().context("no `threads` in the lab's results")?;
        for (at, thread) in threads.iter().enumerate() {
            let [title, place, options] = match at {
                0 => [title.to_owned(), place.clone(), format!("`{options}`")],
                _ => Default::default(),
            };
            text += &format!("| {title} | {place} | {options} |{}\n", cells(thread)?);
        }
        if let Some(note) = change["note"].as_str().filter(|note| !note.is_empty()) {
            notes += &format!("- {title} ({place}): no result: {}\n", note.replace(['\n', '\r'], " "));
        }
    }
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    text.push('\n');
    Ok(text)
}

fn cells(thread: &Value) -> Result<String> {
    let longest = |of: &str| match thread[of]["max"].as_i64() {
        Some(ns) if ns >= 1_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        Some(ns) => format!("{:.1} us", ns as f64 / 1e3),
        None => "-".to_owned(),
    };
    let error =
        |key: &str| thread[key].as_f64().map_or("-".to_owned(), |share| format!("{:+.1} %", 100.0 * share));
    let (predicted, direction) = (word(thread, "predicted_direction")?, word(thread, "direction")?);
    let direction = match predicted == direction {
        true => direction.to_owned(),
        false => format!("**wrong**: {predicted}, is {direction}"),
    };
    let cause = |key: &str| thread[key].as_str().unwrap_or("not late").to_owned();
    let (predicted, true_one) = (cause("predicted_cause"), cause("cause"));
    let cause =
        if predicted == true_one { true_one } else { format!("**wrong**: {predicted}, is {true_one}") };
    Ok(format!(
        " {} | {} | {} | {} | {} | {} | {} | {direction} | {cause} |",
        word(thread, "name")?,
        longest("before"),
        longest("predicted"),
        longest("after"),
        error("p50_error"),
        error("p99_error"),
        error("max_error")
    ))
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

    fn document(right: u64, max_error: f64) -> Value {
        let responses = |max: i64| json!({"jobs": 200, "p50": 230_000, "p99": null, "max": max});
        let thread = json!({"name": "victim", "victim": true, "before": responses(3_200_000), "predicted": responses(240_500),
                            "after": responses(250_000), "p50_error": 0.01, "p99_error": null, "max_error": -0.04,
                            "predicted_direction": "shorter", "direction": "same", "predicted_cause": null, "cause": "irq"});
        json!({"schema": "whylate.lab-predict/1",
               "total": {"judged": 20, "no_run": 1, "direction_right": right, "cause_right": 18, "p50_error": 0.01,
                         "p99_error": 0.0, "max_error": max_error},
               "changes": [{"title": "it is gone", "scenario": "higher", "kernel": "6.1", "simulate": ["--remove", "x"],
                            "threads": [thread], "note": ""},
                           {"title": "off", "scenario": "throttle", "kernel": "6.1", "simulate": ["--set", "a=b"],
                            "threads": [], "note": "no\nguest"}]})
    }

    #[test]
    fn the_first_run_stays() {
        let empty = format!("# P\n{}\n{}\nWords.\n{}\n{}\n", LAST.0, LAST.1, FIRST.0, FIRST.1);
        let first = page(&empty, &document(19, 0.1), "2026-01-01").expect("a page");
        for part in [
            "20 changes with a result, 1 without. Direction right: 19",
            "| it is gone | higher, 6.1 | `--remove x` | victim | 3.20 ms | 240.5 us | 250.0 us | +1.0 % | - | -4.0 % | \
             **wrong**: shorter, is same | **wrong**: not late, is irq |",
            "- off (throttle, 6.1): no result: no guest\n",
            "Words.",
        ] {
            assert!(first.contains(part), "{part} in {first}");
        }
        let second = page(&first, &document(19, 0.1), "2026-02-02").expect("a page");
        assert_eq!((second.matches("2026-01-01").count(), second.matches("2026-02-02").count()), (1, 1));
        assert!(page("# P\n", &document(19, 0.1), "2026-01-01").is_err());
    }

    #[test]
    fn wrong_directions_and_large_errors_are_not_good() {
        for (right, error, expected) in [(19, 0.15, true), (18, 0.1, false), (20, 0.2, false)] {
            assert_eq!(good(&document(right, error)).expect("totals"), expected, "{right} {error}");
        }
    }
}
