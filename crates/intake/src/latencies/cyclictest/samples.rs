//! What `cyclictest -v` prints: a line for each sample.

use super::super::counted::Counted;
use std::collections::BTreeMap;

/// `       0:       6:      40`: thread, cycle, latency. Times of day have no spaces.
pub(super) fn sample(line: &str) -> Option<(u32, u64, u64)> {
    if !line.contains(": ") && !line.starts_with(' ') {
        return None;
    }
    let mut words = line.split(':').map(str::trim);
    let sample = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(sample)
}

/// All samples, as `-v` prints them.
///
/// # Errors
/// If some are missing between others.
pub(super) fn each_sample(text: &str) -> Option<Result<Vec<Counted>, String>> {
    let mut threads: BTreeMap<u32, Samples> = BTreeMap::new();
    let (mut samples, mut others) = (0u64, 0u64);
    for line in text.lines() {
        match sample(line) {
            Some((thread, cycle, latency)) => {
                threads.entry(thread).or_default().add(cycle, latency);
                samples += 1;
            }
            None => others += 1,
        }
    }
    let counted = |(thread, samples): (u32, Samples)| {
        if let Some((before, behind)) = samples.gap() {
            return Err(format!(
                "between its samples {before} and {behind} of thread {thread} others are missing"
            ));
        }
        let name = format!("thread {thread}");
        Ok(Counted { name, classes: samples.classes.into_iter().collect(), ..Counted::default() })
    };
    (samples > others).then(|| threads.into_iter().map(counted).collect())
}

/// The samples of a thread.
#[derive(Default)]
struct Samples {
    classes: BTreeMap<u64, u64>,
    last: Option<u64>,
    /// How many have the number next to that of the one before, and how many another one.
    next: u64,
    apart: u64,
    first_gap: Option<(u64, u64)>,
}

impl Samples {
    fn add(&mut self, cycle: u64, latency: u64) {
        *self.classes.entry(latency).or_default() += 1;
        match self.last.replace(cycle) {
            Some(before) if cycle == before.saturating_add(1) => self.next += 1,
            Some(before) => {
                self.apart += 1;
                self.first_gap.get_or_insert((before, cycle));
            }
            None => {}
        }
    }

    /// Where samples are missing. Of `--oscope N` a line is the latest of N samples, and few numbers are next to each other.
    fn gap(&self) -> Option<(u64, u64)> {
        self.first_gap.filter(|_| self.next > self.apart)
    }
}
