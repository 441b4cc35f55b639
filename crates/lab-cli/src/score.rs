//! Totals of many runs: the share of right answers.

use crate::judge::Ruling;
use crate::matrix::{End, RunResult};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use whylate_base::Ns;

/// The totals of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Score {
    /// By the right cause; `nothing` where no culprit may be named.
    pub by_cause: Vec<Row>,
    /// By kernel.
    pub by_kernel: Vec<Row>,
    /// By scenario.
    pub by_scenario: Vec<Row>,
    /// All of them.
    pub total: Row,
}

/// One line of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What the runs have in common.
    pub name: String,
    /// Runs that were judged.
    pub runs: u64,
    /// Of these: right ones.
    pub right: u64,
    /// Every late job has the right cause.
    pub causes_right: u64,
    /// Every late job names the right culprit too.
    pub culprits_right: u64,
    /// A wrong cause or culprit is named.
    pub wrong: u64,
    /// A late job has no cause or no culprit, or a finding is missing.
    pub unexplained: u64,
    /// Not judged: the fault made no job late.
    pub not_provoked: u64,
    /// Not judged: the run failed.
    pub no_run: u64,
    /// Late jobs of the judged runs.
    pub jobs: u64,
    /// Of these: set aside.
    pub aside: u64,
    /// Time of late jobs beyond the usual response.
    #[schemars(with = "i64")]
    pub late_ns: Ns,
    /// How much of it is charged to `unexplained`.
    #[schemars(with = "i64")]
    pub late_unexplained_ns: Ns,
}

impl Row {
    fn add(&mut self, result: &RunResult) {
        match result.end {
            End::NotProvoked => self.not_provoked += 1,
            End::NoRun => self.no_run += 1,
            End::Right | End::Wrong | End::Unexplained => {
                self.runs += 1;
                self.right += u64::from(result.end == End::Right);
                self.wrong += u64::from(result.end == End::Wrong);
                self.unexplained += u64::from(result.end == End::Unexplained);
                self.causes_right += u64::from(result.causes_right);
                self.culprits_right += u64::from(result.culprits_right);
                let jobs = result.judgement.iter().flat_map(|judgement| &judgement.jobs);
                self.jobs += jobs.clone().count() as u64;
                self.aside += jobs.filter(|job| job.ruling == Ruling::Aside).count() as u64;
                let (late, unexplained) =
                    result.judgement.as_ref().map(|judgement| judgement.late_time()).unwrap_or_default();
                self.late_ns += late;
                self.late_unexplained_ns += unexplained;
            }
        }
    }

    /// The unexplained share of late time, 0 to 1; 0 where nothing was late.
    pub fn unexplained_share(&self) -> f64 {
        match self.late_ns {
            Ns(0) => 0.0,
            late => self.late_unexplained_ns.0 as f64 / late.0 as f64,
        }
    }
}

impl Score {
    /// Of these runs.
    pub fn of(results: &[RunResult]) -> Score {
        let mut total = Row { name: "all".to_owned(), ..Row::default() };
        results.iter().for_each(|result| total.add(result));
        Score {
            by_cause: rows(results, |result| &result.expected),
            by_kernel: rows(results, |result| &result.kernel),
            by_scenario: rows(results, |result| &result.scenario),
            total,
        }
    }
}

fn rows(results: &[RunResult], name: impl Fn(&RunResult) -> &String) -> Vec<Row> {
    let mut rows: BTreeMap<&String, Row> = BTreeMap::new();
    for result in results {
        let name = name(result);
        rows.entry(name).or_insert_with(|| Row { name: name.clone(), ..Row::default() }).add(result);
    }
    rows.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::settle_sweeps;

    fn result(scenario: &str, end: End, late_jobs: u64, sweep: &[&str]) -> RunResult {
        RunResult {
            scenario: scenario.to_owned(),
            programs: Vec::new(),
            kernel: "6.1".to_owned(),
            release: "6.1.0".to_owned(),
            seed: 1,
            sweep: sweep.iter().map(|text| (*text).to_owned()).collect(),
            expected: "irq".to_owned(),
            end,
            late_jobs,
            causes_right: end == End::Right,
            culprits_right: end == End::Right,
            judgement: None,
            said: String::new(),
            notes: Vec::new(),
            recording: None,
            seconds: 1.0,
        }
    }

    #[test]
    fn what_was_not_judged_counts_apart() {
        let ends = [End::Right, End::Right, End::Wrong, End::Unexplained, End::NotProvoked, End::NoRun];
        let results: Vec<RunResult> = ends.iter().map(|end| result("a", *end, 1, &[])).collect();
        let Score { total, by_cause, .. } = Score::of(&results);
        assert_eq!((total.runs, total.right, total.wrong, total.unexplained), (4, 2, 1, 1));
        assert_eq!((total.not_provoked, total.no_run, total.causes_right), (1, 1, 2));
        assert_eq!((by_cause.len(), by_cause[0].name.as_str(), by_cause[0].runs), (1, "irq", 4));
        assert_eq!(Score::of(&[]).total.runs, 0);
    }

    #[test]
    fn a_sweep_that_never_strikes_has_not_provoked_its_fault() {
        let mut clean = [result("a", End::Right, 0, &["x"]), result("a", End::Right, 0, &["y"])];
        settle_sweeps(&mut clean);
        assert!(clean.iter().all(|result| result.end == End::NotProvoked));
        let mut struck = [
            result("a", End::Right, 0, &["x"]),
            result("a", End::Wrong, 2, &["y"]),
            result("b", End::Right, 0, &["x"]),
            result("c", End::Right, 0, &[]),
        ];
        settle_sweeps(&mut struck);
        let ends: Vec<End> = struck.iter().map(|result| result.end).collect();
        assert_eq!(ends, [End::Right, End::Wrong, End::NotProvoked, End::Right]);
    }

    #[test]
    fn the_unexplained_share_is_one_of_late_time() {
        let row = Row { late_ns: Ns(400), late_unexplained_ns: Ns(100), ..Row::default() };
        assert!((row.unexplained_share() - 0.25).abs() < 1e-9);
        assert!(Row::default().unexplained_share() == 0.0);
    }
}
