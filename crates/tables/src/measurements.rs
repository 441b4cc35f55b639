//! Measurements read back from tables: what `compare --tables` puts side by side.

use crate::batch::{Batch, BatchColumn, Data};
use crate::dataset::{UNKNOWN_PARTITION, unescaped};
use crate::error::TablesError;
use crate::parquet_read::read;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

/// A measurement in the tables, with what is known of its machine then.
#[derive(Clone, Debug, Default)]
pub struct StoredMeasurement {
    /// By name: `machine`, `date`, `probe`, `tool`, `source`, and the columns of `machines`.
    pub facts: HashMap<&'static str, String>,
    /// The machine's settings.
    pub settings: HashMap<String, String>,
    /// The measurement, without the times of its samples.
    pub run: Run,
}

/// Hands every measurement in a directory of tables to `each`, one after the other.
///
/// # Errors
/// If the directory has no tables, or one of them cannot be read.
pub fn measurements(root: &Path, each: &mut dyn FnMut(StoredMeasurement)) -> Result<(), TablesError> {
    let runs = root.join("runs");
    if !runs.is_dir() {
        let why =
            "there is no table `runs` in it: give a directory that `whylate tables` has written".to_owned();
        return Err(TablesError::Table { path: root.to_owned(), why });
    }
    for date in sorted(&runs)? {
        for machine in sorted(&date)? {
            for file in
                sorted(&machine)?.iter().filter(|file| file.extension().is_some_and(|end| end == "parquet"))
            {
                one(root, file, each)?;
            }
        }
    }
    Ok(())
}

fn sorted(directory: &Path) -> Result<Vec<PathBuf>, TablesError> {
    let entries = fs::read_dir(directory).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let entries = entries.map_err(|error| TablesError::Read { path: directory.to_owned(), error })?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn one(root: &Path, file: &Path, each: &mut dyn FnMut(StoredMeasurement)) -> Result<(), TablesError> {
    let runs = Columns(read(file)?);
    let table = |name: &str| -> Result<Option<Columns>, TablesError> {
        let own = file.strip_prefix(root.join("runs")).unwrap_or(file);
        let path = root.join(name).join(own);
        // A table without rows has no file.
        if path.exists() { read(&path).map(|batch| Some(Columns(batch))) } else { Ok(None) }
    };
    if runs.text("kind").first().cloned().flatten().as_deref() != Some("measurement") {
        return Ok(());
    }
    let mut stored = StoredMeasurement::default();
    for name in ["machine", "probe", "tool", "source", "kernel"] {
        stored.facts.extend(runs.first(name).map(|value| (name, value)));
    }
    stored.facts.extend(partition(file, "date=").map(|date| ("date", date)));
    if let Some(machines) = table("machines")? {
        for name in [
            "kernel",
            "version",
            "arch",
            "cpu_model",
            "board",
            "firmware",
            "cmdline",
            "clocksource",
            "profile",
        ] {
            stored.facts.extend(machines.first(name).map(|value| (name, value)));
        }
    }
    if let Some(settings) = table("settings")? {
        let pairs = settings.text("name").into_iter().zip(settings.text("value"));
        stored.settings.extend(pairs.filter_map(|(name, value)| Some((name?, value?))));
    }
    if let (Some(latencies), histograms) = (table("latencies")?, table("histograms")?) {
        stored.run.threads =
            threads(&latencies, histograms.as_ref(), stored.facts.get("tool").map(String::as_str));
    }
    stored.run.label = stored.facts.get("source").cloned().unwrap_or_default();
    stored.run.tool = stored.facts.get("tool").cloned().unwrap_or_default();
    stored.run.probe = stored.facts.get("probe").cloned().unwrap_or_default();
    each(stored);
    Ok(())
}

/// A part of a path, such as the day in `date=2026-11-24`.
fn partition(file: &Path, key: &str) -> Option<String> {
    let value = file.components().find_map(|part| part.as_os_str().to_str()?.strip_prefix(key))?;
    (value != UNKNOWN_PARTITION).then(|| unescaped(value))
}

fn threads(latencies: &Columns, histograms: Option<&Columns>, tool: Option<&str>) -> Vec<Measured> {
    let mut buckets: HashMap<(Option<String>, Option<i64>), Vec<Bucket>> = HashMap::new();
    if let Some(histograms) = histograms {
        let rows = histograms.text("thread").into_iter().zip(histograms.int("cpu"));
        let ends =
            histograms.int("from_ns").into_iter().zip(histograms.int("upto_ns")).zip(histograms.int("count"));
        for (thread, ((from, upto), count)) in rows.zip(ends) {
            if let (Some(from), Some(upto), Some(count)) =
                (from, upto, count.and_then(|count| u64::try_from(count).ok()))
            {
                buckets.entry(thread).or_default().push(Bucket { from: Ns(from), upto: Ns(upto), count });
            }
        }
    }
    let (names, cpus, stages) = (latencies.text("thread"), latencies.int("cpu"), latencies.bool("stage"));
    let ints = |name: &str| latencies.int(name);
    let (samples, overflow, limit) = (ints("samples"), ints("overflow"), ints("limit_ns"));
    let (mean, min, max, missed) = (ints("mean_ns"), ints("min_ns"), ints("max_ns"), ints("missed"));
    let count = |values: &[Option<i64>], at: usize| values[at].and_then(|value| u64::try_from(value).ok());
    let ns = |values: &[Option<i64>], at: usize| values[at].map(Ns);
    (0..names.len())
        .map(|at| {
            let mut own = buckets.remove(&(names[at].clone(), cpus[at])).unwrap_or_default();
            own.sort_by_key(|bucket| bucket.from);
            // Whole numbers of a bucket's width, but in our own documents.
            let width =
                own.last().map_or(1, |last| last.upto.0.saturating_sub(last.from.0).saturating_add(1));
            let unit = if tool == Some("whylate measure") { Ns(1) } else { Ns(width) };
            let exact = Exact {
                overflow: count(&overflow, at).unwrap_or_default(),
                sum: count(&mean, at)
                    .unwrap_or_default()
                    .saturating_mul(count(&samples, at).unwrap_or_default()),
                min: ns(&min, at).unwrap_or_default(),
                max: ns(&max, at).unwrap_or_default(),
            };
            let histogram = Histogram::new(own, exact).rounded_down_to(unit);
            Measured {
                cpu: cpus[at].and_then(|cpu| u32::try_from(cpu).ok()).map(Cpu),
                name: names[at].clone().unwrap_or_default(),
                histogram: histogram.with_limit(ns(&limit, at).unwrap_or_default()),
                maxima: None,
                missed: count(&missed, at),
                is_stage: stages[at].unwrap_or_default(),
            }
        })
        .collect()
}

/// The rows of a table, by column.
struct Columns(Batch);

impl Columns {
    fn column(&self, name: &str) -> Option<&BatchColumn> {
        let at = self.0.table().columns.iter().position(|column| column.name == name)?;
        self.0.columns().get(at)
    }

    /// A value for each row.
    fn spread<T>(&self, name: &str, mut values: impl Iterator<Item = T>) -> Vec<Option<T>> {
        let Some(column) = self.column(name) else { return (0..self.0.rows()).map(|_| None).collect() };
        column.defined.iter().map(|&is_defined| if is_defined { values.next() } else { None }).collect()
    }

    fn text(&self, name: &str) -> Vec<Option<String>> {
        let texts = self.column(name).map(|column| column.data.texts().map(str::to_owned));
        self.spread(name, texts.into_iter().flatten())
    }

    fn first(&self, name: &str) -> Option<String> {
        self.text(name).into_iter().next().flatten()
    }

    fn int(&self, name: &str) -> Vec<Option<i64>> {
        let ints: &[i64] = match self.column(name).map(|column| &column.data) {
            Some(Data::Ints(ints)) => ints,
            _ => &[],
        };
        self.spread(name, ints.iter().copied())
    }

    fn bool(&self, name: &str) -> Vec<Option<bool>> {
        let bools: &[bool] = match self.column(name).map(|column| &column.data) {
            Some(Data::Bools(bools)) => bools,
            _ => &[],
        };
        self.spread(name, bools.iter().copied())
    }
}
