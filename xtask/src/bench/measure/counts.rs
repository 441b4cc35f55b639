//! What a run counted, from the JSON of `cyclictest --json`, which `whylate measure --export` writes as well.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Latencies beyond so many us are in no class of cyclictest's.
pub(super) const HISTOGRAM: &str = "100000";

/// All threads together.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Microseconds, and how many samples.
    pub(super) classes: BTreeMap<u64, u64>,
    pub(super) samples: u64,
    /// In us.
    pub(super) max: u64,
}

impl Counts {
    pub(super) fn read(path: &Path) -> Result<Counts> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Counts::of(&text).with_context(|| format!("{} is none of cyclictest's files", path.display()))
    }

    fn of(text: &str) -> Option<Counts> {
        let document: Value = serde_json::from_str(text).ok()?;
        let mut counts = Counts::default();
        for thread in document["thread"].as_object()?.values() {
            for (class, count) in thread["histogram"].as_object()? {
                *counts.classes.entry(class.parse().ok()?).or_default() += count.as_u64()?;
            }
            counts.samples += thread["cycles"].as_u64()?;
            counts.max = counts.max.max(thread["max"].as_u64()?);
        }
        Some(counts)
    }

    /// In us, of the samples in classes; `None` without any.
    pub(super) fn mean(&self) -> Option<f64> {
        let count: u64 = self.classes.values().sum();
        let sum: f64 = self.classes.iter().map(|(class, count)| *class as f64 * *count as f64).sum();
        (count > 0).then(|| sum / count as f64)
    }

    /// In us, by nearest rank; a rank beyond the classes is the maximum. `None` without samples.
    pub(super) fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q * self.samples as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let class = self.classes.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        (self.samples > 0).then(|| class.map_or(self.max, |(class, _)| *class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_put_together() {
        let text = r#"{"thread": {"0": {"histogram": {"5": 6, "7": 1}, "cycles": 8, "max": 900},
                                  "1": {"histogram": {"5": 1, "6": 1}, "cycles": 2, "max": 6}}}"#;
        let counts = Counts::of(text).expect("it is one");
        assert_eq!((counts.samples, counts.max), (10, 900));
        let of = |q| counts.quantile(q);
        assert_eq!(
            (of(0.0), of(0.7), of(0.8), of(0.9), of(1.0)),
            (Some(5), Some(5), Some(6), Some(7), Some(900))
        );
        assert_eq!(counts.mean(), Some((7.0 * 5.0 + 6.0 + 7.0) / 9.0));
        assert_eq!((Counts::default().quantile(0.5), Counts::default().mean()), (None, None));
        assert_eq!(Counts::of("{}"), None);
    }
}
