//! Runs without a histogram, as `cyclictest` without `-h` and `rtla timerlat top` print them: what the least, the mean and the
//! largest latency of each thread show.

use super::difference::{chance, notable};
use super::prepared::Prepared;
use super::verdict::RunVerdict;
use whylate_base::Ns;
use whylate_stats::several::holm;
use whylate_stats::summary::{LargestOrder, LargestTest, MeanShift, SummaryPair, ThreadSummary};
use whylate_stats::{Histogram, Run};

/// What chance does more often than this, after the correction for both tests, shows nothing.
const SURE_OF_BOTH: f64 = 0.05;
/// A thread with fewer samples is not compared: tables of the largest latency alone count as one.
const FEWEST: u64 = 100;
/// The usual interval of rtla and cyclictest, where a run does not have its own.
const INTERVAL: Ns = Ns::from_ms(1);
/// The largest latencies of all threads are alike where the least of them is at least this share of the greatest.
const ALIKE: f64 = 0.8;

/// What is shown, and its probability by chance, corrected for both tests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summaries {
    mean: Option<(MeanShift, f64)>,
    largest: Option<Largest>,
}

/// The order of the largest latencies of the threads.
#[derive(Clone, Copy, Debug)]
struct Largest {
    order: LargestOrder,
    p: f64,
    /// A single event that stopped all threads at once would explain those of the later run.
    is_one_event: bool,
}

impl Summaries {
    /// Of two runs, one of which has no histogram; of others nothing.
    pub(super) fn of(before: &Prepared, after: &Prepared) -> Summaries {
        let has_samples = |run: &Prepared| !run.all.histogram.buckets().is_empty();
        if has_samples(before) && has_samples(after) {
            return Summaries::default();
        }
        let Some(threads) = threads(&before.run, &after.run) else { return Summaries::default() };
        let (mean, order) = (MeanShift::of(&threads), LargestOrder::of(&threads, notable));
        let each: Vec<f64> =
            mean.iter().map(|mean| mean.p).chain(order.iter().map(|order| order.p)).collect();
        let mut corrected = holm(&each).into_iter();
        // In the order in which they were handed over.
        let mean = mean.and_then(|mean| Some((mean, corrected.next()?)));
        let largest = order.and_then(|order| {
            let run = if order.is_later { &after.run } else { &before.run };
            // The test of the largest of all takes it for one event itself.
            let is_one_event = !matches!(order.test, LargestTest::Shorter { .. }) && is_one_event(run);
            Some(Largest { order, p: corrected.next()?, is_one_event })
        });
        Summaries { mean, largest }
    }

    /// What the largest latencies show of the tail, and in which words; `None`: nothing, or there are too few threads.
    pub(super) fn tail(&self) -> Option<(RunVerdict, String)> {
        let Largest { order, p, is_one_event } = self.largest.filter(|largest| largest.p < SURE_OF_BOTH)?;
        let (larger, now) = if order.is_later { ("larger", "now") } else { ("smaller", "before") };
        let verdict = match (is_one_event, order.is_later) {
            (true, _) => RunVerdict::CannotTell,
            (false, true) => RunVerdict::Worse,
            (false, false) => RunVerdict::Better,
        };
        let what = match order.test {
            LargestTest::Apart { threads } => format!(
                "the largest latency of each of {threads} threads is {larger} than every one of them was before (exact rank \
                 test"
            ),
            LargestTest::Signs { larger: count, threads } => format!(
                "the largest latency is {larger} than before in {count} of {threads} threads (sign test"
            ),
            LargestTest::Shorter { share } => {
                let (verb, share) = (if order.is_later { "is" } else { "was" }, share * 100.0);
                return Some((
                    verdict,
                    format!(
                        "the largest latency of all {verb} in the run {now}, which has only {share:.1} % of the samples of both \
                         (exact test, which holds for a single event and for threads that are late together; {})",
                        chance(p)
                    ),
                ));
            }
        };
        let doubt = match is_one_event {
            true => format!(
                ". Those {now} are so alike that a single event which stopped all threads at once would explain them"
            ),
            false => String::new(),
        };
        Some((
            verdict,
            format!("{what}, if threads are late independently of each other; {}){doubt}", chance(p)),
        ))
    }

    /// What the means show of the usual latency, and in which words; `None`: they are not known, or hardly differ.
    pub(super) fn usual(&self) -> Option<(RunVerdict, String)> {
        let (mean, p) = self.mean.filter(|(mean, _)| notable(mean.before, mean.after))?;
        let MeanShift { before, after, least, most, .. } = mean;
        let went = format!("the mean went from {before} to {after}");
        if p >= SURE_OF_BOTH || !mean.is_shown() {
            return Some((RunVerdict::CannotTell, format!("{went}, which may be chance")));
        }
        let verdict = if least > Ns::ZERO { RunVerdict::Worse } else { RunVerdict::Better };
        Some((
            verdict,
            format!(
                "{went} (by {least} to {most}, with 95 %: Hoeffding's inequality, if samples are independent of each other)"
            ),
        ))
    }
}

/// What is known of a run without a histogram, and of which of the two; `None` where both have one.
pub(super) fn known_of_each(before: &Histogram, after: &Histogram) -> Option<String> {
    let known = |run: &Histogram| {
        let known = match (run.min().is_some(), run.mean().is_some()) {
            (true, true) => "only minimum, mean and maximum are",
            (true, false) => "only minimum and maximum are",
            (false, true) => "only mean and maximum are",
            (false, false) => "only the maximum is",
        };
        run.buckets().is_empty().then_some(known)
    };
    match (known(before), known(after)) {
        (None, None) => None,
        (Some(known), None) => Some(format!("{known} known of the run before")),
        (None, Some(known)) => Some(format!("{known} known of the run now")),
        (Some(one), Some(other)) if one == other => Some(format!("{one} known of both")),
        (Some(one), Some(other)) => {
            Some(format!("{one} known of the run before, and {other} of the run now"))
        }
    }
}

/// The threads of both runs side by side; `None` where they are not the same, or one of them has too few samples.
pub(super) fn threads(before: &Run, after: &Run) -> Option<Vec<SummaryPair>> {
    if before.whole().count() != after.whole().count() {
        return None;
    }
    let pair = |thread: &whylate_stats::Measured| {
        let other = after.whole().find(|other| other.name == thread.name)?;
        let (a, b) = (ThreadSummary::of(&thread.histogram)?, ThreadSummary::of(&other.histogram)?);
        (a.count.min(b.count) >= FEWEST).then_some((a, b))
    };
    before.whole().map(pair).collect()
}

/// True where a single event may have made the largest latencies of all threads: they are alike, or lie less than an interval
/// apart. Of a stop that lasts as long, each thread has what was left of it when it was due. Of a stop that is much shorter than
/// the interval, most threads have nothing.
fn is_one_event(run: &Run) -> bool {
    let each = || run.whole().filter_map(|thread| thread.histogram.max());
    let (Some(least), Some(most)) = (each().min(), each().max()) else { return false };
    let interval = run.interval.unwrap_or(INTERVAL);
    let is_alike = least.0 as f64 >= ALIKE * most.0 as f64;
    is_alike || most.0 >= interval.0 / 2 && least >= most - interval
}

#[cfg(test)]
mod tests;
