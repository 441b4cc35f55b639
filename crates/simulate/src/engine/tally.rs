//! What is counted of each thread.

use rustc_hash::FxHashMap;
use whylate_base::Ns;
use whylate_stats::{Bucket, Exact, Histogram, MeasuredLayout};

/// The jobs of one thread.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Jobs that are done.
    pub jobs: u64,
    /// Jobs that were left out because the one before was late.
    pub skipped: u64,
    /// Jobs that were done after their deadline, or are not done at the end and have passed it.
    pub missed: u64,
    /// The due instant of the job with the longest response.
    pub worst_due: Ns,
    /// The longest distance from the due instant of the first task of its chain, of a task that others wake.
    pub end_to_end: Option<Ns>,
    /// CPU time in all.
    pub ran: Ns,
    /// The longest time in which it was runnable and did not run.
    pub longest_wait: Ns,
    /// All time in which it was runnable and did not run.
    pub waited: Ns,
    /// The due instant of the job that is not done at the end.
    pub unfinished: Option<Ns>,
    responses: FxHashMap<usize, u64>,
    sum: u64,
    least: Ns,
    most: Ns,
}

impl Tally {
    /// A job is done.
    pub(crate) fn add(&mut self, due: Ns, origin: Ns, done: Ns, deadline: Option<Ns>) {
        let response = done - due;
        *self.responses.entry(MeasuredLayout::index(response)).or_default() += 1;
        self.sum = self.sum.saturating_add(response.0.max(0).unsigned_abs());
        if self.jobs == 0 || response < self.least {
            self.least = response;
        }
        if self.jobs == 0 || response > self.most {
            self.most = response;
            self.worst_due = due;
        }
        self.jobs += 1;
        if deadline.is_some_and(|deadline| response > deadline) {
            self.missed += 1;
        }
        if origin != due {
            let whole = done - origin;
            self.end_to_end = Some(self.end_to_end.map_or(whole, |before| before.max(whole)));
        }
    }

    /// The distribution of the response times of the jobs that are done.
    pub fn responses(&self) -> Histogram {
        let mut indices: Vec<(usize, u64)> = self.responses.iter().map(|(&at, &count)| (at, count)).collect();
        indices.sort_unstable();
        let buckets = indices.into_iter().map(|(at, count)| Bucket {
            from: MeasuredLayout::lower(at),
            upto: MeasuredLayout::upper(at),
            count,
        });
        Histogram::new(buckets, Exact { overflow: 0, sum: self.sum, min: self.least, max: self.most })
    }

    /// The longest response.
    pub fn worst(&self) -> Option<Ns> {
        (self.jobs > 0).then_some(self.most)
    }
}
