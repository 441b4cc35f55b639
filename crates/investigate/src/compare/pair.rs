//! Two runs side by side.

use super::causes::{self, CauseShift};
use super::difference::Difference;
use super::judge::{Judgement, judge};
use super::prepared::Prepared;
use super::settings::{self, Settings};
use super::summaries;
use super::verdict::{RunVerdict, TailVerdict};
use whylate_stats::Measured;
use whylate_stats::summary::MeanShift;

/// One run beside another.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The place of the run before, among all.
    pub before: usize,
    /// The place of the run after.
    pub after: usize,
    /// All threads together.
    pub all: Difference,
    /// The threads that both have, by name; none where there is but one.
    pub threads: Vec<(String, Difference)>,
    /// True where one of them has threads that the other does not have.
    pub has_other_threads: bool,
    /// Better or worse.
    pub verdict: RunVerdict,
    /// Whether the latest samples, which decide for real-time work, are better or worse.
    pub tail: TailVerdict,
    /// Whether the usual latency, below the 99th percentile, is better or worse.
    pub usual: RunVerdict,
    /// True where the largest latency grew by as much as matters, whether by chance or not.
    pub is_max_larger: bool,
    /// Why so, in sentences, first those about the tail.
    pub why: Vec<String>,
    /// The causes of late samples, those that changed most first.
    pub causes: Vec<CauseShift>,
    /// How the machine was set; `None`: that is not known of both.
    pub settings: Option<Settings>,
}

impl Pair {
    pub(super) fn of(before: &Prepared, after: &Prepared) -> Pair {
        // The threads may have other shares in the second run: their means count one by one.
        let mean = || MeanShift::of(&summaries::threads(&before.run, &after.run)?);
        let all = Difference::of(&before.all, &after.all);
        let all = Difference { mean: all.mean.and_then(|_| mean()), ..all };
        let threads = match before.run.threads.len().max(after.run.threads.len()) {
            0 | 1 => Vec::new(),
            _ => threads(&before.run.threads, &after.run.threads),
        };
        let most = before.run.threads.len().max(after.run.threads.len());
        let has_other_threads = !threads.is_empty() && threads.len() < most;
        let causes = causes::shifts(before, after);
        let Judgement { verdict, tail, usual, is_max_larger, why } = judge(before, after, &all, &causes);
        let settings = settings::shifts(&before.run, &after.run);
        Pair {
            before: 0,
            after: 1,
            all,
            threads,
            has_other_threads,
            verdict,
            tail,
            usual,
            is_max_larger,
            why,
            causes,
            settings,
        }
    }
}

fn threads(before: &[Measured], after: &[Measured]) -> Vec<(String, Difference)> {
    let same = |name: &str| after.iter().find(|thread| thread.name == name);
    let both = before.iter().filter_map(|thread| Some((thread, same(&thread.name)?)));
    both.map(|(a, b)| (a.name.clone(), Difference::of(a, b))).collect()
}
