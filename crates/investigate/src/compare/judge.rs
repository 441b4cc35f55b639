//! What two runs show about each other, in sentences: first of the tail, then of what is usual.

use super::causes::CauseShift;
use super::difference::{Difference, SURE, chance, counts, moved_between, notable};
use super::prepared::Prepared;
use super::summaries::{self, Summaries};
use super::verdict::{Evidence, RunVerdict, TailVerdict};
use whylate_base::Ns;
use whylate_stats::compare::{Shift, Tails, times_as_many};
use whylate_stats::{Histogram, Run};

/// Quantiles from this one on are the tail.
const TAIL: f64 = 0.99;
/// With fewer samples there is nothing to compare.
const FEWEST: u64 = 100;
/// Runs whose shares of missed periods differ by more have not sampled alike.
const MISSED: f64 = 0.01;

/// What is concluded, and why.
pub(super) struct Judgement {
    pub(super) verdict: RunVerdict,
    pub(super) tail: TailVerdict,
    pub(super) usual: RunVerdict,
    pub(super) is_max_larger: bool,
    /// In sentences, those of the tail first.
    pub(super) why: Vec<String>,
}

impl Judgement {
    fn cannot_tell(why: Vec<String>) -> Judgement {
        let (tail, usual) = (TailVerdict::CannotTell, RunVerdict::CannotTell);
        Judgement { verdict: RunVerdict::CannotTell, tail, usual, is_max_larger: false, why }
    }
}

pub(super) fn judge(
    before: &Prepared,
    after: &Prepared,
    all: &Difference,
    causes: &[CauseShift],
) -> Judgement {
    let (own, other) = (&before.run.probe, &after.run.probe);
    if own != other {
        let why = format!("they measured different things: {own} and {other}. Compare runs of one probe");
        return Judgement::cannot_tell(vec![why]);
    }
    let (a, b) = all.samples;
    if a.min(b) < FEWEST {
        let why = format!("too few samples: {a} and {b}, and {FEWEST} are needed at least");
        return Judgement::cannot_tell(vec![why]);
    }
    let apart = Apart::of(before, after);
    let summaries = Summaries::of(before, after);
    let (tail, deep, mut why) = self::tail(before, after, all, apart, &summaries);
    let usual = usual(all, deep, apart, &summaries, &mut why);
    why.extend(causes.iter().filter(|shift| shift.is_news).filter_map(CauseShift::sentence));
    let is_max_larger = all.max.is_some_and(|(before, after)| after > before && notable(before, after));
    let verdict = RunVerdict::of(tail, usual, is_max_larger);
    if let Some((sentence, flattering)) = missed(&before.run, &after.run) {
        why.insert(0, sentence);
        if flattering.contains(&verdict) {
            return Judgement::cannot_tell(why);
        }
    }
    Judgement { verdict, tail, usual, is_max_larger, why }
}

/// The tail: how many samples are beyond a threshold, the maxima over time, and the quantiles from [`TAIL`] on.
fn tail(
    before: &Prepared,
    after: &Prepared,
    all: &Difference,
    apart: Option<Apart>,
    summaries: &Summaries,
) -> (TailVerdict, Evidence, Vec<String>) {
    let (a, b) = all.samples;
    let (mut evidence, mut why) = (Evidence::default(), Vec::new());
    // Few samples that are all lower do not show that none is ever late.
    let is_enough = |apart: &Apart| apart.is_worse() || a.min(b) >= Tails::needed();
    why.extend(apart.map(Apart::sentence));
    let apart = apart.filter(is_enough);
    if let Some(apart) = apart {
        evidence.add(apart.is_worse());
    }
    if let Some(tails) = all.tails.filter(|tails| tails.p < SURE) {
        let shares = shares(tails.threshold, (tails.before, a), (tails.after, b));
        why.push(format!("{shares} ({})", chance(tails.p)));
        evidence.add(tails.after as f64 / b as f64 > tails.before as f64 / a as f64);
    }
    if let Some(larger) = all.larger.filter(|larger| larger.p < SURE) {
        why.push(format!(
            "of a stretch of time of each, the later run's has the larger maximum in {:.0} of 100 pairs ({})",
            larger.share * 100.0,
            chance(larger.p)
        ));
        evidence.add(larger.share > 0.5);
    }
    let deep = evidence;
    for shift in all.shifts.iter().filter(|shift| is_of_tail(shift, deep)) {
        why.push(moved(shift));
        evidence.add(shift.after > shift.before);
    }
    let shown = evidence.verdict();
    if let Some(sentence) = unknown(before, after, all, shown).filter(|_| apart.is_none()) {
        let (verdict, of_threads) = summaries.tail().unzip();
        why.splice(0..0, of_threads.into_iter().chain([sentence]));
        why.extend(largest(before, after, all));
        return (TailVerdict::of(verdict.unwrap_or(RunVerdict::CannotTell)), deep, why);
    }
    let verdict = match (shown, all.tails) {
        (RunVerdict::Same, None) if a + b >= 2 * Tails::needed() => {
            why.push(
                "the tail cannot be compared: the classes of the two histograms are too wide to have a common bound beyond \
                 which samples can be counted"
                    .to_owned(),
            );
            TailVerdict::CannotTell
        }
        (RunVerdict::Same, None) => {
            let more = Tails::needed().saturating_sub(a.min(b)).max(1);
            why.push(format!(
                "too few samples to compare the tail: {a} and {b}; {more} more of each are needed at least"
            ));
            TailVerdict::TooFew { more }
        }
        (RunVerdict::Same, Some(tails)) => {
            why.push(format!(
                "no difference is shown in the tail: {} of {a} samples were beyond {} before, {} of {b} now",
                tails.before, tails.threshold, tails.after
            ));
            why.extend(undecided(before, after, all));
            TailVerdict::Same
        }
        (shown, _) => TailVerdict::of(shown),
    };
    why.extend(largest(before, after, all));
    (verdict, deep, why)
}

/// Two runs of which every sample of one is above every sample of the other: their least and their largest alone show which is
/// worse.
#[derive(Clone, Copy)]
enum Apart {
    /// The least sample now, above the largest before.
    Worse { least: Ns, largest: Ns },
    /// The largest sample now, below the least before.
    Better { least: Ns, largest: Ns },
}

impl Apart {
    /// `None` where they overlap or nearly do, or where a least sample is not known.
    fn of(before: &Prepared, after: &Prepared) -> Option<Apart> {
        let (own, other) = (&before.all.histogram, &after.all.histogram);
        let above = |upper: &Histogram, lower: &Histogram| {
            let (least, largest) = (upper.min_bounds()?.least, lower.max_bounds()?.most);
            // Of samples that were rounded down the sentence has the numbers as they are printed.
            let printed = || upper.min().zip(lower.max());
            (least > largest && notable(largest, least)).then(printed)?
        };
        let worse = above(other, own).map(|(least, largest)| Apart::Worse { least, largest });
        worse.or_else(|| above(own, other).map(|(least, largest)| Apart::Better { least, largest }))
    }

    fn is_worse(self) -> bool {
        matches!(self, Apart::Worse { .. })
    }

    fn sentence(self) -> String {
        match self {
            Apart::Worse { least, largest } => {
                format!(
                    "every sample is later than each one before: the least is {least} now, the largest was {largest}"
                )
            }
            Apart::Better { least, largest } => {
                format!(
                    "every sample is less late than each one before: the largest is {largest} now, the least was {least}"
                )
            }
        }
    }
}

/// Why the latest samples cannot be compared; `None` where they can, or where what is known of them shows enough.
fn unknown(before: &Prepared, after: &Prepared, all: &Difference, shown: RunVerdict) -> Option<String> {
    let (own, other) = (&before.all.histogram, &after.all.histogram);
    let (lost_before, lost_after) = (own.overflow(), other.overflow());
    let (max_before, max_after) = all.max?;
    if let Some(known) = summaries::known_of_each(own, other) {
        return Some(format!("{known}: measure with a histogram"));
    }
    let is_known = match shown {
        RunVerdict::Worse => true,
        // Those of the first are beyond its scale, and none of the second is.
        RunVerdict::Better => lost_after == 0 && (lost_before == 0 || max_after <= max_before),
        _ => lost_after == 0 && (lost_before == 0 || max_after < own.limit()),
    };
    if is_known || lost_before.max(lost_after) == 0 {
        return None;
    }
    Some(format!(
        "how late {lost_before} samples before and {lost_after} now were is not known: they are off the scale, and they are \
         the latest. Measure with a larger limit, or with a histogram"
    ))
}

/// The rarest quantile that moved and may have done so by chance, with the samples that would show it.
fn undecided(before: &Prepared, after: &Prepared, all: &Difference) -> Option<String> {
    let tail = || all.shifts.iter().filter(|shift| shift.q >= TAIL);
    let shift = tail().rfind(|shift| !shift.is_shown() && notable(shift.before, shift.after))?;
    let (own, other) = (&before.all.histogram, &after.all.histogram);
    let threshold = own.percentile_bounds(shift.q)?.most;
    let more = more_samples(own.beyond(threshold), other.beyond(threshold), all.samples);
    Some(format!(
        "the {} went from {} to {}, which may be chance{more}",
        name(shift.q),
        shift.before,
        shift.after
    ))
}

/// Where the largest differ: of one sample chance cannot be estimated, only how many more would show.
fn largest(before: &Prepared, after: &Prepared, all: &Difference) -> Option<String> {
    let (was, is) = all.max.filter(|&(was, is)| notable(was, is))?;
    let (own, other) = (&before.all.histogram, &after.all.histogram);
    if own.buckets().is_empty() || other.buckets().is_empty() {
        // How many samples of it are late is not known, and so neither how many more there would be.
        return Some(format!("the largest latency went from {was} to {is}"));
    }
    let smaller = own.max_bounds()?.most.min(other.max_bounds()?.most);
    let more = more_samples(own.surely_beyond(smaller), other.surely_beyond(smaller), all.samples);
    Some(format!("the largest latency went from {was} to {is}{more}"))
}

/// How many more samples show that shares differ which differ as these do; nothing where they do already, or do not differ.
fn more_samples(before: u64, after: u64, (a, b): (u64, u64)) -> String {
    let times = times_as_many(before, a, after, b, SURE).filter(|times| *times > 1.0);
    let more = times.map(|times| ((times - 1.0) * a.max(b) as f64).ceil() as u64);
    more.map_or_else(String::new, |more| {
        format!("; with {more} more samples of each, a difference as large as this one would be shown")
    })
}

/// True of a quantile that shows something about the tail: a high one that is worse, or one that is better together with the
/// latest samples. When the bulk of the samples moves, it takes high quantiles with it, and leaves the latest where they are.
fn is_of_tail(shift: &Shift, deep: Evidence) -> bool {
    shift.q >= TAIL && counts(shift) && (shift.after > shift.before || deep.better)
}

/// What is usual: the quantiles below [`TAIL`], and those that show nothing about the tail.
fn usual(
    all: &Difference,
    deep: Evidence,
    apart: Option<Apart>,
    summaries: &Summaries,
    why: &mut Vec<String>,
) -> RunVerdict {
    let known = || all.shifts.iter().filter(|shift| !is_of_tail(shift, deep));
    let mut evidence = Evidence::default();
    for shift in known().filter(|shift| counts(shift)) {
        why.push(moved(shift));
        evidence.add(shift.after > shift.before);
    }
    // Half of the samples of one of them may be off the scale.
    let has_any = all.shifts.iter().any(|shift| shift.q < TAIL);
    match apart {
        _ if has_any => evidence.verdict(),
        Some(apart) if apart.is_worse() => RunVerdict::Worse,
        Some(_) => RunVerdict::Better,
        None => {
            let (verdict, of_means) = summaries.usual().unzip();
            why.extend(of_means);
            verdict.unwrap_or(RunVerdict::CannotTell)
        }
    }
}

fn moved(shift: &Shift) -> String {
    format!("the {} went from {} to {}{}", name(shift.q), shift.before, shift.after, interval(shift))
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
fn name(q: f64) -> String {
    match q {
        0.5 => "median".to_owned(),
        _ => format!("{}th percentile", (q * 1e6).round() / 1e4),
    }
}

fn interval(shift: &Shift) -> String {
    let between = moved_between(shift, |ns| ns.to_string());
    between.map_or_else(String::new, |between| format!(" (by {between}, with 95 %)"))
}

/// How many samples are beyond a threshold, of so many each. Where nearly all of both are, the others differ.
fn shares(threshold: Ns, before: (u64, u64), after: (u64, u64)) -> String {
    let (was, is) = (per_million(before.0, before.1), per_million(after.0, after.1));
    if was != is {
        return format!("beyond {threshold}: {was} in a million before, {is} now");
    }
    let others = |(beyond, of): (u64, u64)| format!("{} of {of} samples", of.saturating_sub(beyond));
    format!("up to {threshold}: {} before, {} now", others(before), others(after))
}

fn per_million(count: u64, of: u64) -> String {
    let share = count as f64 / of as f64 * 1e6;
    if share < 10.0 && share > 0.0 { format!("{share:.1}") } else { format!("{share:.0}") }
}

#[cfg(test)]
mod tests {
    use super::shares;
    use whylate_base::Ns;

    #[test]
    fn shares_that_are_shown_differ() {
        let us = Ns::from_us(2);
        assert_eq!(
            shares(us, (500, 1_000_000), (3, 1_000_000)),
            "beyond 2.00 us: 500 in a million before, 3.0 now"
        );
        // Both round to a million.
        assert_eq!(
            shares(us, (99_999_999, 100_000_000), (99_999_960, 100_000_000)),
            "up to 2.00 us: 1 of 100000000 samples before, 40 of 100000000 samples now"
        );
    }
}
