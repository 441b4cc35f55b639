//! sysjitter's table: a row for each figure, a column for each core (`write_summary` in sysjitter.c, versions 1.3 and 1.4).
//! A sample is a gap in which the core did not run the spinning thread, and gaps below the threshold are not counted.

use super::counted::MOST_THREADS;
use super::error::Broken;
use super::ranked::Ranked;
use super::sections;
use std::collections::HashMap;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

const TOOL: &str = "sysjitter";
/// The rows with percentiles.
const PERCENTILES: [(&str, f64); 6] = [
    ("int_median(ns)", 0.5),
    ("int_90(ns)", 0.9),
    ("int_99(ns)", 0.99),
    ("int_999(ns)", 0.999),
    ("int_9999(ns)", 0.9999),
    ("int_99999(ns)", 0.99999),
];

/// Each table in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut has_table = false;
    let parts =
        sections::cut(text, |line| line.starts_with("core_i:") && std::mem::replace(&mut has_table, true));
    parts.into_iter().filter_map(|part| Rows::of(part).map(|rows| rows.run())).collect()
}

/// The rows of a table by their names.
struct Rows<'a> {
    rows: HashMap<&'a str, Vec<&'a str>>,
    cores: usize,
}

impl<'a> Rows<'a> {
    /// `None`: it is no such table. sysjitter2's begins with `core_i:`, too, and has neither of these rows.
    fn of(text: &'a str) -> Option<Rows<'a>> {
        let row = |line: &'a str| {
            let (name, values) = line.split_once(':')?;
            let is_own = ["core_i", "cpu_mhz"].contains(&name)
                || ["int_", "threshold(", "runtime("].iter().any(|begin| name.starts_with(begin));
            // One more than there may be is enough to refuse them.
            is_own.then(|| (name, values.split_ascii_whitespace().take(MOST_THREADS + 1).collect()))
        };
        let rows: HashMap<&str, Vec<&str>> = text.lines().filter_map(row).collect();
        let cores = rows.get("core_i")?.len();
        (rows.contains_key("threshold(ns)") || rows.contains_key("int_n")).then_some(Rows { rows, cores })
    }

    /// The numbers of a row, one of each core; `None`: the row is missing.
    fn numbers<T: std::str::FromStr>(&self, name: &str) -> Result<Option<Vec<T>>, Broken> {
        let Some(values) = self.rows.get(name) else { return Ok(None) };
        let numbers: Vec<T> = values.iter().map_while(|value| value.parse().ok()).collect();
        match numbers.len() == self.cores && values.len() == self.cores {
            true => Ok(Some(numbers)),
            false => Err(broken(format!(
                "the row {name} has not one number for each of the {} cores in core_i: the table was cut, or its lines were \
                 broken",
                self.cores
            ))),
        }
    }

    fn needed(&self, name: &str) -> Result<Vec<u64>, Broken> {
        self.numbers(name)?.ok_or_else(|| {
            broken(format!(
                "its table was cut: the row {name} is missing, and the largest gap may not be known"
            ))
        })
    }

    fn run(&self) -> Result<Run, Broken> {
        if self.cores == 0 || self.cores > MOST_THREADS {
            return Err(broken(format!(
                "it has {} cores, and from 1 to {MOST_THREADS} are supported",
                self.cores
            )));
        }
        let cores: Vec<u32> = self.numbers("core_i")?.unwrap_or_default();
        let (samples, min, max) =
            (self.needed("int_n")?, self.needed("int_min(ns)")?, self.needed("int_max(ns)")?);
        // Below the maxima: without it the last of them may be cut itself.
        let total = self.needed("int_total(ns)")?;
        let mean = self.numbers::<u64>("int_mean(ns)")?;
        let mut percentiles = Vec::new();
        for (name, share) in PERCENTILES {
            percentiles.extend(self.numbers::<u64>(name)?.map(|values| (share, values)));
        }
        let (mut threads, mut empty) = (Vec::new(), 0);
        for (at, core) in cores.iter().enumerate() {
            let ranked = Ranked {
                cpu: Some(Cpu(*core)),
                name: format!("CPU {core}"),
                samples: samples[at],
                min: min[at],
                max: max[at],
                mean: mean
                    .as_ref()
                    .map_or(total[at] as f64 / samples[at].max(1) as f64, |mean| mean[at] as f64),
                percentiles: percentiles
                    .iter()
                    .map(|(share, values)| (*share * samples[at] as f64, values[at]))
                    .collect(),
            };
            match ranked.measured().map_err(broken)? {
                Some(thread) => threads.push(thread),
                None => empty += 1,
            }
        }
        let threshold = self.numbers::<u64>("threshold(ns)")?.and_then(|all| all.first().copied());
        if threads.is_empty() {
            let than = threshold.map_or("its threshold".to_owned(), |ns| format!("{ns} ns, its threshold"));
            return Err(broken(format!("there is no sample in it: no gap took as long as {than}")));
        }
        let mut notes = vec![
            "a sample is a gap; of each core minimum, mean, maximum and percentiles are in the file: between two of them a gap \
             is known by these two alone, and behind the last percentile only the maximum is known"
                .to_owned(),
        ];
        notes.extend(threshold.map(|ns| format!("gaps shorter than {ns} ns are not counted")));
        if threads.len() > 1 {
            notes.push(
                "percentiles of all cores together do not follow from those of each: a gate checks each core"
                    .to_owned(),
            );
        }
        if empty > 0 {
            notes.push(format!("{empty} of {} cores had no gap and are left out", self.cores));
        }
        let elapsed = self.numbers::<u64>("runtime(ns)")?.and_then(|all| all.into_iter().max());
        let elapsed = elapsed.and_then(|ns| i64::try_from(ns).ok()).map(Ns);
        Ok(Run { tool: TOOL.to_owned(), probe: "busy".to_owned(), elapsed, threads, notes, ..Run::default() })
    }
}

fn broken(why: String) -> Broken {
    Broken { tool: TOOL, why }
}
