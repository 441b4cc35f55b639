//! What the observer changes: `/dev/cpu_dma_latency` where that is asked for, and what tracing adds, by measuring again
//! without it.

use std::fs::File;
use std::io;
use std::path::Path;
use whylate_base::Ns;
use whylate_stats::Histogram;
use whylate_stats::compare::{Shift, Tails};

/// Requests that no idle state is entered that takes longer than this to leave.
pub(super) fn hold_latency(device: &Path, us: u32) -> io::Result<File> {
    let us = i32::try_from(us).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    whylate_sys::request_cpu_latency(device, us)
}

/// The quantiles that are put side by side.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
/// Chance is to divide the tails so unevenly less often than this.
const BY_CHANCE: f64 = 0.01;

/// The same measured without a trace, beside what was measured with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How long was measured without.
    pub elapsed: Ns,
    /// How many wake-ups.
    pub samples: u64,
    /// The largest of them.
    pub max: Option<Ns>,
    /// From without to with the trace.
    pub shifts: Vec<Shift>,
    /// How often both are late.
    pub tails: Option<Tails>,
}

impl Observed {
    pub(super) fn of(elapsed: Ns, without: &Histogram, with: &Histogram) -> Observed {
        Observed {
            elapsed,
            samples: without.count(),
            max: without.max(),
            shifts: shifts(without, with),
            tails: Tails::of(without, with),
        }
    }

    /// What that means, in a sentence.
    pub fn sentence(&self) -> String {
        let differences = differences(&self.shifts, self.tails.as_ref(), "it", "it");
        let start = format!("measured again for {} without the trace", self.elapsed);
        match (differences.is_empty(), self.shifts.is_empty()) {
            (_, true) => format!("{start}: too few wake-ups to tell what it changes"),
            (true, false) => format!("{start}: no difference that chance does not explain"),
            (false, false) => format!("{start}: with the trace, {}", differences.join("; ")),
        }
    }
}

/// The quantiles of two measurements, side by side.
pub(super) fn shifts(before: &Histogram, after: &Histogram) -> Vec<Shift> {
    QUANTILES.iter().filter_map(|&q| Shift::of(before, after, q)).collect()
}

/// What differs by more than chance explains; `before` and `after` are their names in a sentence.
pub(super) fn differences(shifts: &[Shift], tails: Option<&Tails>, before: &str, after: &str) -> Vec<String> {
    let by = |shift: &Shift| {
        let (by, word) =
            (shift.after - shift.before, if shift.after >= shift.before { "above" } else { "below" });
        format!("p{} is {} {word} {before}", shift.q * 100.0, Ns(by.0.abs()))
    };
    let tails = tails.filter(|tails| tails.p < BY_CHANCE).map(|tails| {
        let rarely = if tails.after > tails.before { "more" } else { "less" };
        format!("wake-ups later than {} are {rarely} frequent with {after}", tails.threshold)
    });
    shifts.iter().filter(|shift| shift.is_shown()).map(by).chain(tails).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, base: f64) -> Histogram {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..20_000).map(|_| Ns((base - 1_000.0 * (1.0 - random.f64()).ln()) as i64)).collect()
    }

    #[test]
    fn a_difference_is_said_and_none_is_not() {
        let second = Ns::from_secs(1);
        let same = Observed::of(second, &drawn(1, 2_000.0), &drawn(2, 2_000.0)).sentence();
        assert!(same.contains("no difference"), "{same}");
        let later = Observed::of(second, &drawn(1, 2_000.0), &drawn(2, 2_700.0)).sentence();
        assert!(
            later.contains("p50 is ") && later.contains("above it") && later.contains("more frequent"),
            "{later}"
        );
        let none = Observed::of(second, &Histogram::default(), &drawn(2, 2_700.0)).sentence();
        assert!(none.contains("too few"), "{none}");
    }

    #[test]
    fn a_request_is_four_bytes() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let held = hold_latency(file.path(), 12).expect("a request");
        assert_eq!(std::fs::read(file.path()).expect("its bytes"), 12i32.to_ne_bytes());
        drop(held);
        assert!(hold_latency(file.path(), u32::MAX).is_err());
        assert!(hold_latency(&file.path().with_extension("gone"), 0).is_err());
    }
}
