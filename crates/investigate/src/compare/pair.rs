//! Two runs side by side.

use super::causes::{self, CauseShift};
use super::prepared::Prepared;
use super::settings::{self, Settings};
use whylate_base::Ns;
use whylate_stats::compare::{Larger, Shift, Tails};
use whylate_stats::{Measured, Run};

/// The quantiles that are compared.
pub(super) const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// What chance does more often than this shows nothing.
const SURE: f64 = 0.01;
/// With fewer samples there is nothing to compare.
const FEWEST: u64 = 100;
/// A difference in what is usual counts from this share on, and from this latency on.
const SHARE: f64 = 0.05;
const NOTHING: Ns = Ns(500);
/// Runs whose shares of missed periods differ by more have not sampled alike.
const MISSED: f64 = 0.01;

/// Whether the second run is better than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerdict {
    /// Its late ones are less late, or fewer.
    Better,
    /// They are later, or more.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// Chance explains what differs.
    Same,
    /// They cannot be compared; the pair has the reason.
    CannotTell,
}

/// One run beside the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// All threads together.
    pub all: Difference,
    /// The threads that both have, by name; none where there is but one.
    pub threads: Vec<(String, Difference)>,
    /// Better or worse.
    pub verdict: RunVerdict,
    /// Why so, in sentences, the weightiest first.
    pub why: Vec<String>,
    /// The causes of late samples, those that changed most first.
    pub causes: Vec<CauseShift>,
    /// How the machine was set; `None`: that is not known of both.
    pub settings: Option<Settings>,
}

/// Two distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Their samples.
    pub samples: (u64, u64),
    /// The quantiles that both have.
    pub shifts: Vec<Shift>,
    /// The largest of each.
    pub max: Option<(Ns, Ns)>,
    /// How often both are beyond one threshold; `None`: too few samples.
    pub tails: Option<Tails>,
    /// Whose maxima of blocks of time are larger; `None`: too few, or not known.
    pub larger: Option<Larger>,
}

impl Difference {
    fn of(before: &Measured, after: &Measured) -> Difference {
        let (own, other) = (&before.histogram, &after.histogram);
        Difference {
            samples: (own.count(), other.count()),
            shifts: QUANTILES.iter().filter_map(|&q| Shift::of(own, other, q)).collect(),
            max: own.max().zip(other.max()),
            tails: Tails::of(own, other),
            larger: before.maxima.as_ref().zip(after.maxima.as_ref()).and_then(|(a, b)| Larger::of(a, b)),
        }
    }

    /// True where more than chance differs, by as much as the verdict counts.
    pub fn differs(&self) -> bool {
        self.tails.is_some_and(|tails| tails.p < SURE)
            || self.larger.is_some_and(|larger| larger.p < SURE)
            || self.shifts.iter().any(counts)
    }
}

/// True of a quantile that moved by more than chance, and by as much as matters.
fn counts(shift: &Shift) -> bool {
    let moved = (shift.after - shift.before).0.abs();
    shift.is_shown() && moved >= NOTHING.0 && moved as f64 >= SHARE * shift.before.0 as f64
}

impl Pair {
    pub(super) fn of(before: &Prepared, after: &Prepared) -> Pair {
        let all = Difference::of(&before.all, &after.all);
        let threads = match before.run.threads.len().max(after.run.threads.len()) {
            0 | 1 => Vec::new(),
            _ => threads(&before.run.threads, &after.run.threads),
        };
        let causes = causes::shifts(before, after);
        let (verdict, why) = judge(before, after, &all, &causes);
        Pair { all, threads, verdict, why, causes, settings: settings::shifts(&before.run, &after.run) }
    }
}

fn threads(before: &[Measured], after: &[Measured]) -> Vec<(String, Difference)> {
    let same = |name: &str| after.iter().find(|thread| thread.name == name);
    let both = before.iter().filter_map(|thread| Some((thread, same(&thread.name)?)));
    both.map(|(a, b)| (a.name.clone(), Difference::of(a, b))).collect()
}

fn judge(
    before: &Prepared,
    after: &Prepared,
    all: &Difference,
    causes: &[CauseShift],
) -> (RunVerdict, Vec<String>) {
    let (own, other) = (&before.run.probe, &after.run.probe);
    if own != other {
        let why = format!("they measured different things: {own} and {other}. Compare runs of one probe");
        return (RunVerdict::CannotTell, vec![why]);
    }
    let (a, b) = all.samples;
    if a.min(b) < FEWEST {
        let why = format!("too few samples: {a} and {b}, and {FEWEST} are needed at least");
        return (RunVerdict::CannotTell, vec![why]);
    }
    let mut why = Vec::new();
    let (mut better, mut worse) = (false, false);
    let mut add = |worsened: bool, text: String| {
        if worsened {
            worse = true
        } else {
            better = true
        }
        why.push(text);
    };
    if let Some(tails) = all.tails.filter(|tails| tails.p < SURE) {
        let (was, is) = (per_million(tails.before, a), per_million(tails.after, b));
        let text =
            format!("beyond {}: {} in a million before, {} now{}", tails.threshold, was, is, chance(tails.p));
        add(tails.after as f64 / b as f64 > tails.before as f64 / a as f64, text);
    }
    if let Some(larger) = all.larger.filter(|larger| larger.p < SURE) {
        let text = format!(
            "of a stretch of time of each, the later run's has the larger maximum in {:.0} of 100 pairs{}",
            larger.share * 100.0,
            chance(larger.p)
        );
        add(larger.share > 0.5, text);
    }
    for shift in all.shifts.iter().filter(|shift| counts(shift)) {
        let moved = shift.after - shift.before;
        let text =
            format!("the {} went from {} to {}{}", name(shift.q), shift.before, shift.after, interval(shift));
        add(moved > Ns::ZERO, text);
    }
    why.extend(causes.iter().filter(|shift| shift.is_news).filter_map(CauseShift::sentence));
    let verdict = match (better, worse) {
        (true, true) => RunVerdict::Mixed,
        (true, false) => RunVerdict::Better,
        (false, true) => RunVerdict::Worse,
        (false, false) => RunVerdict::Same,
    };
    if let Some((sentence, flattering)) = missed(&before.run, &after.run) {
        why.insert(0, sentence);
        if flattering.contains(&verdict) {
            return (RunVerdict::CannotTell, why);
        }
    }
    // The latest samples are among these: without them nothing is shown to be as good.
    let (lost_before, lost_after) = (before.all.histogram.overflow(), after.all.histogram.overflow());
    if matches!(verdict, RunVerdict::Better | RunVerdict::Same) && lost_before.max(lost_after) > 0 {
        let text = format!(
            "how late {lost_before} samples before and {lost_after} now were is not known: they are off the scale, and \
             they are the latest. Measure with a larger limit"
        );
        why.insert(0, text);
        return (RunVerdict::CannotTell, why);
    }
    (verdict, why)
}

/// Where one run let many more periods pass without a sample: that it did, and which verdicts that takes the ground from.
/// A sample that was not taken is not late, so such a run looks better than it was.
fn missed(before: &Run, after: &Run) -> Option<(String, &'static [RunVerdict])> {
    let (own, other) = (before.missed()?, after.missed()?);
    if (own - other).abs() < MISSED {
        return None;
    }
    let sentence = format!(
        "{:.1} % of the periods passed without a sample before, and {:.1} % now: the thread was late for them, and they are \
         in no number here",
        own * 100.0,
        other * 100.0
    );
    let flattering: &[RunVerdict] = match own > other {
        true => &[RunVerdict::Worse, RunVerdict::Same],
        false => &[RunVerdict::Better, RunVerdict::Same],
    };
    Some((sentence, flattering))
}

/// How a quantile is called.
pub(super) fn name(q: f64) -> String {
    match q {
        0.5 => "median".to_owned(),
        _ => format!("{}th percentile", (q * 1e6).round() / 1e4),
    }
}

fn interval(shift: &Shift) -> String {
    match shift.least.zip(shift.most) {
        Some((least, most)) => format!(" (by {least} to {most}, with 95 %)"),
        None => String::new(),
    }
}

fn chance(p: f64) -> String {
    if p < 1e-6 {
        " (by chance: less than once in a million)".to_owned()
    } else {
        format!(" (by chance: {p:.6})")
    }
}

fn per_million(count: u64, of: u64) -> String {
    let share = count as f64 / of as f64 * 1e6;
    if share < 10.0 && share > 0.0 { format!("{share:.1}") } else { format!("{share:.0}") }
}
