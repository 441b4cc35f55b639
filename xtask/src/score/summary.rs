//! The lab's results, as far as the tables need them.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The results of a matrix.
pub(super) struct Summary {
    pub(super) causes: Vec<Row>,
    pub(super) kernels: Vec<Row>,
    pub(super) scenarios: Vec<Row>,
    pub(super) total: Row,
    /// `uname -r` of each kernel that came up.
    pub(super) releases: BTreeSet<String>,
    pub(super) seeds: BTreeSet<u64>,
    /// Runs that are not right, one line each.
    misses: Vec<String>,
}

/// One line of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) runs: u64,
    pub(super) right: u64,
    pub(super) causes: u64,
    pub(super) culprits: u64,
    pub(super) wrong: u64,
    pub(super) unexplained: u64,
    pub(super) not_provoked: u64,
    pub(super) no_run: u64,
    pub(super) jobs: u64,
    pub(super) aside: u64,
    /// Share of late time charged to `unexplained`, in percent.
    pub(super) late_unexplained: f64,
}

impl Row {
    fn read(value: &Value) -> Result<Row> {
        let number =
            |key: &str| value[key].as_u64().with_context(|| format!("a row without `{key}`: {value}"));
        let time = |key: &str| value[key].as_f64().with_context(|| format!("a row without `{key}`: {value}"));
        let (late, unexplained) = (time("late_ns")?, time("late_unexplained_ns")?);
        Ok(Row {
            name: value["name"].as_str().context("a row without a name")?.to_owned(),
            runs: number("runs")?,
            right: number("right")?,
            causes: number("causes_right")?,
            culprits: number("culprits_right")?,
            wrong: number("wrong")?,
            unexplained: number("unexplained")?,
            not_provoked: number("not_provoked")?,
            no_run: number("no_run")?,
            jobs: number("jobs")?,
            aside: number("aside")?,
            late_unexplained: if late > 0.0 { unexplained / late * 100.0 } else { 0.0 },
        })
    }

    /// As cells of a table, after the name.
    pub(super) fn cells(&self) -> [String; 11] {
        let percent = |count: u64| match self.runs {
            0 => "-".to_owned(),
            runs => format!("{:.1} %", count as f64 * 100.0 / runs as f64),
        };
        [
            self.runs.to_string(),
            percent(self.right),
            percent(self.causes),
            percent(self.culprits),
            percent(self.wrong),
            percent(self.unexplained),
            format!("{:.2} %", self.late_unexplained),
            self.not_provoked.to_string(),
            self.no_run.to_string(),
            self.jobs.to_string(),
            self.aside.to_string(),
        ]
    }
}

/// The heads of [`Row::cells`].
pub(super) const HEADS: [&str; 11] = [
    "runs judged",
    "right",
    "cause right",
    "culprit right",
    "wrong accusation",
    "unexplained",
    "late time unexplained",
    "not provoked",
    "no run",
    "late jobs",
    "set aside",
];

impl Summary {
    /// From the JSON of `whylate lab run`.
    pub(super) fn of(document: &Value) -> Result<Summary> {
        let score = &document["score"];
        let rows = |key: &str| -> Result<Vec<Row>> {
            let rows = score[key].as_array().with_context(|| format!("no `{key}` in the lab's results"))?;
            rows.iter().map(Row::read).collect()
        };
        let runs = document["runs"].as_array().context("no `runs` in the lab's results")?;
        let releases = runs.iter().filter_map(|run| run["release"].as_str());
        Ok(Summary {
            causes: rows("by_cause")?,
            kernels: rows("by_kernel")?,
            scenarios: rows("by_scenario")?,
            total: Row::read(&score["total"])?,
            releases: releases.filter(|release| !release.is_empty()).map(str::to_owned).collect(),
            seeds: runs.iter().filter_map(|run| run["seed"].as_u64()).collect(),
            misses: runs.iter().filter(|run| run["end"] != "right").map(miss).collect(),
        })
    }

    /// Runs judged, right ones, wrong ones.
    pub(super) fn totals(&self) -> (f64, f64, f64) {
        (self.total.runs as f64, self.total.right as f64, self.total.wrong as f64)
    }

    /// The runs that are not right.
    pub(super) fn misses(&self) -> &[String] {
        &self.misses
    }

    /// In one line.
    pub(super) fn words(&self) -> String {
        let Row { runs, right, wrong, unexplained, .. } = self.total;
        format!("{right} of {runs} right, {wrong} wrong, {unexplained} unexplained")
    }

    /// For a terminal.
    pub(super) fn tables(&self) -> String {
        let mut text = String::new();
        for (what, rows) in [("cause", &self.causes), ("kernel", &self.kernels)] {
            let rows: Vec<&Row> = rows.iter().chain([&self.total]).collect();
            let widest = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(what.len());
            // Writing to a String cannot fail.
            let _ = write!(text, "{what:<widest$}");
            for head in HEADS {
                let _ = write!(text, "  {head}");
            }
            text.push('\n');
            for row in rows {
                let _ = write!(text, "{:<widest$}", row.name);
                for (head, cell) in HEADS.iter().zip(row.cells()) {
                    let _ = write!(text, "  {cell:>width$}", width = head.len());
                }
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }
}

fn miss(run: &Value) -> String {
    let text = |key: &str| run[key].as_str().unwrap_or("?");
    let sweep: Vec<&str> = run["sweep"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let why = match text("said") {
        "" => run["notes"][0].as_str().unwrap_or("nothing was late"),
        said => said,
    };
    let sweep = if sweep.is_empty() { String::new() } else { format!(" {}", sweep.join(" ")) };
    // A case of other programs has no seed.
    let seed = match run["programs"].as_array().is_some_and(|programs| !programs.is_empty()) {
        true => String::new(),
        false => format!(" seed {}", run["seed"]),
    };
    format!("{}: {}{sweep} on {}{seed}: {why}", text("end"), text("scenario"), text("kernel"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Results of two runs on one kernel, one of them wrong.
    pub(crate) fn document() -> Value {
        let row = |name: &str, right: u64| {
            json!({"name": name, "runs": 2, "right": right, "causes_right": 2, "culprits_right": right,
                   "wrong": 2 - right, "unexplained": 0, "not_provoked": 1, "no_run": 0, "jobs": 16, "aside": 2,
                   "late_ns": 1000, "late_unexplained_ns": 25})
        };
        json!({
            "schema": "whylate.lab-run/1",
            "runs": [
                {"scenario": "higher", "kernel": "6.1", "release": "6.1.0-50", "seed": 1, "sweep": [], "end": "right",
                 "said": "8 x higher-priority-task", "notes": []},
                {"scenario": "irq-load", "kernel": "6.1", "release": "6.1.0-50", "seed": 1, "sweep": ["--phase", "1ms"],
                 "end": "wrong", "said": "1 x own-work (high)", "notes": []},
            ],
            "score": {"by_cause": [row("irq", 1)], "by_kernel": [row("6.1", 1)], "by_scenario": [row("irq-load", 1)],
                      "total": row("all", 1)},
        })
    }

    #[test]
    fn the_labs_results_are_read() {
        let summary = Summary::of(&document()).expect("results");
        assert_eq!(summary.words(), "1 of 2 right, 1 wrong, 0 unexplained");
        assert_eq!(summary.releases.iter().collect::<Vec<_>>(), ["6.1.0-50"]);
        assert_eq!(summary.seeds.len(), 1);
        assert_eq!(summary.misses(), ["wrong: irq-load --phase 1ms on 6.1 seed 1: 1 x own-work (high)"]);
        assert!((summary.total.late_unexplained - 2.5).abs() < 1e-9);
        assert_eq!(summary.total.cells()[1], "50.0 %");
        assert!(summary.tables().contains("irq"));
    }

    #[test]
    fn what_is_no_result_is_refused() {
        assert!(Summary::of(&json!({})).is_err());
        let mut document = document();
        document["score"]["total"]["runs"] = json!("two");
        assert!(Summary::of(&document).is_err());
    }
}
