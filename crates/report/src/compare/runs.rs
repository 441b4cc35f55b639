//! What `whylate compare` renders, and the words its renderers share.

use crate::{claims, words};
use whylate_base::Ns;
use whylate_investigate::compare::{
    CauseShift, Comparison, Difference, GateAnswer, Judged, Pair, Prepared, RunVerdict, Seen, SettingShift,
    Settings, Statistic, TailVerdict, moved_between,
};
use whylate_investigate::measure::Claimed;

/// Runs side by side, with what was asked of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The runs, and what is compared with what.
    pub comparison: Comparison,
    /// The conditions that some of them had to meet.
    pub gates: Vec<Gated>,
    /// What they are to show.
    pub claims: Vec<Claiming>,
}

/// A condition, and whether a run meets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    /// Which of the runs.
    pub run: usize,
    /// The answer.
    pub judged: Judged,
}

/// A claim, and a run's answer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claiming {
    /// Which of the runs.
    pub run: usize,
    /// The answer.
    pub claimed: Claimed,
}

impl Compared {
    /// What a reader calls a run.
    pub(crate) fn label(&self, run: usize) -> String {
        self.comparison.runs.get(run).map_or_else(String::new, |run| words::clean(&run.run.label))
    }

    /// The answer in a line: of the pairs, or else of the gates, or else of the claims.
    pub(crate) fn title(&self) -> String {
        let pairs: Vec<String> = self.comparison.pairs.iter().map(|pair| self.verdict(pair)).collect();
        let missed =
            self.gates.iter().filter(|gated| !matches!(gated.judged.answer, GateAnswer::Met(_))).count();
        let gates = match (self.gates.len(), missed) {
            (0, _) => None,
            (1, 0) => Some("The gate is met".to_owned()),
            (_, 0) => Some("All gates are met".to_owned()),
            (all, missed) => Some(format!("{missed} of {} not met", words::plural(all as u64, "gate"))),
        };
        let mut all: Vec<String> = pairs.into_iter().chain(gates).collect();
        if all.is_empty() {
            all.extend(self.claims.iter().map(|claiming| claims::answer(&claiming.claimed)));
        }
        all.join(". ")
    }

    /// A pair's verdict in a sentence: "better" or "worse" alone only where that holds of the tail, and no part contradicts
    /// it.
    pub(crate) fn verdict(&self, pair: &Pair) -> String {
        let (first, own) = (self.label(pair.before), self.label(pair.after));
        let of_threads = usual_of_threads(pair).filter(|_| pair.usual == RunVerdict::CannotTell);
        let larger = pair.all.max.filter(|(before, after)| pair.is_max_larger && after > before);
        match (pair.tail, pair.usual) {
            (TailVerdict::Better, RunVerdict::Better | RunVerdict::Same) if larger.is_none() => {
                format!("{own} is better than {first}")
            }
            (TailVerdict::Worse, RunVerdict::Worse | RunVerdict::Same) => {
                format!("{own} is worse than {first}")
            }
            (TailVerdict::Same, RunVerdict::Same) => {
                format!("{own} differs from {first} by no more than chance")
            }
            (TailVerdict::CannotTell, RunVerdict::CannotTell) if of_threads.is_none() => {
                format!("whether {own} is better or worse than {first} cannot be determined")
            }
            (tail, usual) => {
                let grown = match larger.filter(|_| matches!(tail, TailVerdict::Better | TailVerdict::Same)) {
                    Some((before, after)) => format!(", but the largest went from {before} to {after}"),
                    None => String::new(),
                };
                let usual = of_threads.unwrap_or_else(|| self::usual(usual).to_owned());
                format!("{own} beside {first}: {}{grown}; {usual}", self::tail(tail))
            }
        }
    }
}

fn tail(tail: TailVerdict) -> String {
    match tail {
        TailVerdict::Better => "the tail is better".to_owned(),
        TailVerdict::Worse => "the tail is worse".to_owned(),
        TailVerdict::Mixed => "the tail is better in one part and worse in another".to_owned(),
        TailVerdict::Same => "no difference shown in the tail".to_owned(),
        TailVerdict::TooFew { more } => {
            format!("too few samples to compare the tail ({} more of each)", words::count(more))
        }
        TailVerdict::CannotTell => "the tail cannot be compared".to_owned(),
    }
}

fn usual(usual: RunVerdict) -> &'static str {
    match usual {
        RunVerdict::Better => "the usual latency is better",
        RunVerdict::Worse => "the usual latency is worse",
        RunVerdict::Mixed => "the usual latency is better in one part and worse in another",
        RunVerdict::Same => "the usual latency is the same",
        RunVerdict::CannotTell => "the usual latency cannot be compared",
    }
}

/// What the means of the threads that differ show of the usual latency, where they agree.
fn usual_of_threads(pair: &Pair) -> Option<String> {
    /// So many are named in a headline.
    const MOST_IN_HEADLINE: usize = 4;
    let differ = pair.threads.iter().filter(|(_, part)| part.differs());
    let differ: Vec<(String, bool)> = differ
        .filter_map(|(name, part)| {
            let mean = part.mean.filter(|mean| mean.is_shown())?;
            Some((words::clean(name), mean.most < Ns::ZERO))
        })
        .collect();
    let is_better = differ.first()?.1;
    if differ.iter().any(|(_, other)| *other != is_better) {
        return None;
    }
    let mut names: Vec<String> = differ.into_iter().map(|(name, _)| name).collect();
    if let Some(more @ 2..) = names.len().checked_sub(MOST_IN_HEADLINE) {
        names.truncate(MOST_IN_HEADLINE);
        names.push(format!("{more} more"));
    }
    let named = match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        one => one.concat(),
    };
    Some(format!("the usual latency of {named} is {}", if is_better { "better" } else { "worse" }))
}

/// The answer to a gate in a few words, and whether it is met.
pub(crate) fn gate(judged: &Judged) -> (String, Option<bool>) {
    let gate = &judged.gate;
    match &judged.answer {
        GateAnswer::Met(worst) => (format!("{gate} is met, with {worst}"), Some(true)),
        GateAnswer::Missed { thread, value } => {
            (format!("{gate} is missed: {value} ({})", words::clean(thread)), Some(false))
        }
        GateAnswer::CannotTell(why) => (format!("{gate}: cannot tell, {}", words::clean(why)), None),
    }
}

/// What a run is, in parts to be joined by a separator.
pub(crate) fn described(run: &Prepared) -> Vec<String> {
    let run = &run.run;
    let mut parts = vec![words::clean(&run.label), words::clean(&run.tool), words::clean(&run.probe)];
    parts.extend(run.elapsed.map(|elapsed| elapsed.to_string()));
    parts.extend(run.interval.map(|interval| format!("a sample every {interval}")));
    parts.push(words::plural(run.threads.len() as u64, "thread"));
    parts.retain(|part| !part.is_empty());
    parts
}

/// What must be known of the runs' numbers: of which runs, and what.
pub(crate) fn notes(runs: &[Prepared]) -> Vec<(String, String)> {
    let mut notes: Vec<(Vec<String>, String)> = Vec::new();
    for run in runs {
        for note in &run.run.notes {
            let (label, note) = (words::clean(&run.run.label), words::clean(note));
            match notes.iter_mut().find(|(_, known)| *known == note) {
                Some((labels, _)) => labels.push(label),
                None => notes.push((vec![label], note)),
            }
        }
    }
    let is_of_all = |labels: &[String]| runs.len() > 1 && labels.len() == runs.len();
    let label = |labels: Vec<String>| if is_of_all(&labels) { "each".to_owned() } else { labels.join(", ") };
    notes.into_iter().map(|(labels, note)| (label(labels), note)).collect()
}

/// A number of a distribution in both runs.
pub(crate) struct Moved {
    /// `p99.99`, `max`.
    pub(crate) statistic: String,
    pub(crate) before: String,
    pub(crate) after: String,
    /// With its sign.
    pub(crate) by: String,
    /// Where chance may have put it.
    pub(crate) chance: String,
    /// True where chance is no explanation.
    pub(crate) is_shown: bool,
}

/// The quantiles of a part, or else its mean, and its maximum.
pub(crate) fn moved(part: &Difference) -> Vec<Moved> {
    let row = |statistic: Statistic, (before, after): (Ns, Ns), chance: String, is_shown| Moved {
        statistic: statistic.to_string(),
        before: before.to_string(),
        after: after.to_string(),
        by: words::signed(after - before),
        chance,
        is_shown,
    };
    let quantiles = part.shifts.iter().map(|shift| {
        let chance = moved_between(shift, words::signed).unwrap_or_else(|| "too few samples".to_owned());
        row(Statistic::Quantile(shift.q), (shift.before, shift.after), chance, shift.is_shown())
    });
    let mean = part.mean.map(|mean| {
        let chance = format!("{} to {}", words::signed(mean.least), words::signed(mean.most));
        row(Statistic::Mean, (mean.before, mean.after), chance, mean.is_shown())
    });
    let max = part
        .max
        .map(|max| row(Statistic::Max, max, "a maximum has no confidence interval".to_owned(), false));
    quantiles.chain(mean).chain(max).collect()
}

/// The threads that differ on their own; or, of several that do not, one sentence for all.
pub(crate) fn threads(pair: &Pair) -> Result<Vec<(String, &Difference)>, &'static str> {
    let differ = pair.threads.iter().filter(|(_, part)| part.differs());
    let differ: Vec<(String, &Difference)> = differ.map(|(name, part)| (words::clean(name), part)).collect();
    let tested = pair.threads.iter().filter(|(_, part)| part.is_tested()).count();
    match differ.is_empty() && !pair.threads.is_empty() {
        true if tested == 0 => Err("Too little is known of the threads to compare each on its own."),
        true if !pair.threads.iter().any(|(_, part)| part.has_tested_tail()) => Err(
            "None of the threads' means that are known of both differs by more than chance. Of one thread's largest latency \
             alone no test shows whether it does.",
        ),
        true if tested < pair.threads.len() || pair.has_other_threads => {
            Err("None of the threads that can be compared differs on its own by more than chance.")
        }
        true => Err("None of the threads differs on its own by more than chance."),
        false => Ok(differ),
    }
}

/// So many threads are named that are not shown.
const MOST_NAMED: usize = 8;

/// Which threads are not shown beside those that differ, and why; `None` where all are shown, or none.
pub(crate) fn left_out(pair: &Pair) -> Option<String> {
    pair.threads.iter().any(|(_, part)| part.differs()).then_some(())?;
    let named = |is_left_out: fn(&Difference) -> bool, why: &str| {
        let left_out = pair.threads.iter().filter(|(_, part)| !part.differs() && is_left_out(part));
        let mut names: Vec<String> = left_out.map(|(name, _)| words::clean(name)).collect();
        let more = names.len().saturating_sub(MOST_NAMED);
        names.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{why}: {}{more}.", names.join(", ")))
    };
    let others = "Threads of one run that the other does not have are not compared one by one.";
    let parts = [
        named(
            Difference::is_tested,
            "Threads that do not differ by more than chance, or not by as much as counts",
        ),
        named(|part| !part.is_tested(), "Threads of which too little is known"),
        pair.has_other_threads.then(|| others.to_owned()),
    ];
    let all: Vec<String> = parts.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What became of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Gone,
    New,
    /// It is in both, or as late as what is usual in the other.
    None,
}

impl News {
    pub(crate) fn of(cause: &CauseShift) -> News {
        match (cause.before, cause.after) {
            (Some(_), None) if cause.is_news => News::Gone,
            (None, Some(_)) if cause.is_news => News::New,
            _ => News::None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            News::Gone => "gone",
            News::New => "new",
            News::None => "",
        }
    }
}

/// `3 times, up to 331.0 us`
pub(crate) fn seen(seen: Option<Seen>) -> String {
    match seen {
        Some(seen) => format!("{}, up to {}", words::plural(seen.count as u64, "time"), seen.worst),
        None => "-".to_owned(),
    }
}

/// Why a cause that is gone, or new, may not be.
pub(crate) fn unsure(causes: &[CauseShift]) -> Option<&'static str> {
    let is_unsure = causes.iter().any(|cause| !cause.is_sure);
    is_unsure.then_some("Not every late sample was explained: one that is gone may be among these.")
}

/// The settings that differ; or a sentence where there are none, or none are known.
pub(crate) fn settings(pair: &Pair) -> Result<&[SettingShift], String> {
    match &pair.settings {
        None => Err("The machine's settings are not known of both: what changed is unknown.".to_owned()),
        Some(Settings { differ, compared: 1 }) if differ.is_empty() => {
            Err("The one setting of the machine that is known of both is the same.".to_owned())
        }
        Some(Settings { differ, compared }) if differ.is_empty() => Err(format!(
            "The machine was set in the same way, as far as {compared} settings tell that are known of both."
        )),
        Some(Settings { differ, .. }) => Ok(differ),
    }
}

/// A setting's value.
pub(crate) fn value(value: Option<&String>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| words::clean(value))
}
