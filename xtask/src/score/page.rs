//! `docs/accuracy.md`, written from the results of the whole matrix.

use super::summary::{HEADS, Row, Summary};
use std::fmt::Write;

/// The page.
pub(super) fn markdown(summary: &Summary, command: &str, day: &str) -> String {
    let releases: Vec<&str> = summary.releases.iter().map(String::as_str).collect();
    let mut text = format!(
        "# Accuracy\n\n\
         This page is written by `{command}`; do not edit it. {day}, kernels {}.\n\n\
         Each run provokes one known fault in a real kernel (`crates/lab-cli/scenarios`), records it with `whylate record`, and\n\
         holds `whylate explain` against the label of the injector, which knows the cause, the culprit and the time of each late job. A seed\n\
         varies thread names, phases and lengths.\n\n\
         - *right*: every late job has the right cause and culprit, every expected finding is there, and no other culprit is named.\n\
         - *cause right*, *culprit right*: every late job's verdict; *culprit right* includes the cause.\n\
         - *wrong accusation*: at least one verdict or finding names a cause or a culprit that is false.\n\
         - *unexplained*: no wrong culprit is named, but a late job has no cause or no culprit, or a finding is missing.\n\
         - *late time unexplained*: of the late jobs' time beyond the usual, the share charged to `unexplained`.\n\
         - *set aside*: late jobs that are not judged, because the label has no answer: the host took the CPU where the\n  \
           guest ran on the host's time or on several CPUs, or the fault does more than one thing (`not-judged`).\n\
         - *not provoked*: the fault made nothing late; *no run*: the guest failed. Neither counts as judged.\n\n\
         `nothing` are runs in which no culprit may be named.\n",
        releases.join(", ")
    );
    for (what, rows) in
        [("cause", &summary.causes), ("kernel", &summary.kernels), ("scenario", &summary.scenarios)]
    {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## By {what}\n\n{}", table(what, rows, &summary.total));
    }
    text.push_str("\n## Runs that are not right\n\n");
    text.push_str(&list(summary.misses()));
    text
}

/// A section on scenarios that are run apart, by `cargo xtask score` with these options.
pub(super) fn section(heading: &str, options: &str, about: &str, summary: &Summary, day: &str) -> String {
    let releases: Vec<&str> = summary.releases.iter().map(String::as_str).collect();
    format!(
        "{heading}\n`cargo xtask score {options} --seeds {}` writes this section; do not edit it. {day}, kernels {}: {}.\n\n\
         {about}\n{}{}",
        summary.seeds.len(),
        releases.join(", "),
        summary.words(),
        tables(summary, "scenario"),
        not_right(summary)
    )
}

/// The tables by cause, by kernel, and by `what` of each run.
pub(super) fn tables(summary: &Summary, what: &str) -> String {
    let tables = [("cause", &summary.causes), ("kernel", &summary.kernels), (what, &summary.scenarios)];
    tables.into_iter().map(|(what, rows)| format!("\n{}", table(what, rows, &summary.total))).collect()
}

/// The runs that are not right, under their title.
pub(super) fn not_right(summary: &Summary) -> String {
    format!("\nRuns that are not right:\n\n{}", list(summary.misses()))
}

/// The runs that are not right, as a list.
fn list(misses: &[String]) -> String {
    if misses.is_empty() {
        return "None.\n".to_owned();
    }
    misses.iter().map(|miss| format!("- {}\n", miss.replace(['\n', '\r'], " ").replace('*', "\\*"))).collect()
}

/// Rows, and the total, as a table.
fn table(what: &str, rows: &[Row], total: &Row) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&[&[what][..], &HEADS].concat());
    text.push_str(&line(&[&["---"][..], &["--:"; HEADS.len()]].concat()));
    for row in rows.iter().chain([total]) {
        let cells = row.cells();
        let cells: Vec<&str> =
            std::iter::once(row.name.as_str()).chain(cells.iter().map(String::as_str)).collect();
        text.push_str(&line(&cells));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::document;
    use super::*;

    #[test]
    fn the_page_has_the_command_the_kernels_and_every_row() {
        let summary = Summary::of(&document()).expect("results");
        let page = markdown(&summary, "cargo xtask score --seeds 3", "2026-01-02");
        for part in [
            "`cargo xtask score --seeds 3`",
            "2026-01-02, kernels 6.1.0-50.",
            "| irq | 2 | 50.0 % | 100.0 % | 50.0 % | 50.0 % | 0.0 % | 2.50 % | 1 | 0 | 16 | 2 |",
            "| irq-load |",
            "| all |",
            "- wrong: irq-load",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        let widths: Vec<usize> =
            page.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert!(widths.iter().all(|width| *width == HEADS.len() + 2), "{widths:?}");
    }
}
