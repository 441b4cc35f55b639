//! The verdict on rounds, by the ranks of whole rounds. Samples of a round depend on each other, and a machine drifts from round
//! to round: all samples together (`compare`) show differences between any two rounds, and miss a fault of one sample in a
//! hundred. They must not contradict, and for the usual latency they must agree.

use crate::merge::merged;
use crate::round::{BLOCK, Round, RoundState, middle, worst_hundredth};
use whylate_base::Ns;
use whylate_investigate::compare::{Pair, Prepared, RunVerdict, TailVerdict, compare, notable};
use whylate_stats::{Histogram, RankSum};

/// With fewer rounds of each state no order of them is unlikely enough.
pub(crate) const FEWEST: usize = 2 * BLOCK;

/// How unlikely the order of rounds must be by chance: of the tail at the first look, which needs all rounds of one state on one
/// side; at later looks, and of the usual latency. Together, looks at up to 16 rounds are wrong less often than 1 time in 20.
const FIRST_LOOK: f64 = 0.03;
const LATER_LOOK: f64 = 0.005;

/// What a proof shows about the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProveVerdict {
    /// The threads are less late with it.
    Better,
    /// They are later with it.
    Worse,
    /// No difference is shown.
    NoDifference,
    /// There is no verdict.
    Refused,
}

impl ProveVerdict {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            ProveVerdict::Better => "better",
            ProveVerdict::Worse => "worse",
            ProveVerdict::NoDifference => "no-difference",
            ProveVerdict::Refused => "refused",
        }
    }
}

/// A verdict, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct ProveJudgement {
    /// The verdict.
    pub verdict: ProveVerdict,
    /// Why so, in sentences.
    pub why: Vec<String>,
    /// All samples of both states, side by side; `None`: there was no round of one of them.
    pub pair: Option<Pair>,
}

/// Whether more rounds are needed.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// More rounds change nothing.
    Final(ProveJudgement),
    /// More rounds may show a difference; what there is so far.
    Open(ProveJudgement),
}

impl Decision {
    /// The judgement, whether or not more rounds are needed.
    pub fn judgement(self) -> ProveJudgement {
        match self {
            Decision::Final(judgement) | Decision::Open(judgement) => judgement,
        }
    }
}

/// The judgement of rounds, where there is one: blocks are whole, and more rounds change nothing, or `bound` has a reason why
/// there are no more.
pub(crate) fn settled(
    rounds: &[Round],
    bound: impl FnOnce(usize) -> Option<String>,
) -> Option<ProveJudgement> {
    let count = rounds.len();
    if count < FEWEST || !count.is_multiple_of(BLOCK) {
        return None;
    }
    match judge(rounds) {
        Decision::Final(judgement) => Some(judgement),
        Decision::Open(mut judgement) => {
            judgement.why.push(bound(count)?);
            Some(judgement)
        }
    }
}

/// Judges the rounds so far.
pub fn judge(rounds: &[Round]) -> Decision {
    let count = |state| rounds.iter().filter(|round| round.state == state).count();
    let (before, after) = (count(RoundState::Before), count(RoundState::After));
    let sides = [RoundState::Before, RoundState::After].map(|state| Prepared::of(merged(rounds, state)));
    let pair = compare(sides.into()).pairs.into_iter().next().filter(|_| before > 0 && after > 0);
    let refused = |why: String, pair| ProveJudgement { verdict: ProveVerdict::Refused, why: vec![why], pair };
    if before + after < FEWEST || before != after {
        let why = format!(
            "{before} rounds before and {after} after were measured, and {} of each are needed",
            FEWEST / 2
        );
        return Decision::Open(refused(why, pair));
    }
    let Some(pair) = pair else { return Decision::Open(refused("nothing was measured".to_owned(), None)) };
    let chance = if before + after == FEWEST { FIRST_LOOK } else { LATER_LOOK };
    let shown = Shown::of(&pair);
    let tail_rounds = Ranked::of(rounds, worst_hundredth);
    let usual_rounds = Ranked::of(rounds, Histogram::median);
    let tail = tail_rounds.as_ref().and_then(|ranked| ranked.side(chance));
    let usual = usual_rounds
        .as_ref()
        .and_then(|ranked| ranked.side(LATER_LOOK))
        .filter(|side| shown.usual == Some(*side));
    let mut why: Vec<String> = [(tail, &tail_rounds, TAIL), (usual, &usual_rounds, USUAL)]
        .into_iter()
        .filter_map(|(side, ranked, what)| side.and(ranked.as_ref()).map(|ranked| ranked.sentence(what)))
        .collect();
    why.extend(pair.why.iter().cloned());
    let verdict = match (tail, usual) {
        (Some(tail), Some(usual)) if tail != usual => {
            why.insert(0, OPPOSITE.to_owned());
            ProveVerdict::Refused
        }
        // More rounds show whether that is chance.
        (Some(tail), None) if [shown.tail, shown.usual].contains(&Some(tail.opposite())) => {
            why.insert(0, OPPOSITE.to_owned());
            return Decision::Open(ProveJudgement { verdict: ProveVerdict::Refused, why, pair: Some(pair) });
        }
        (None, Some(Side::Smaller)) if pair.is_max_larger => {
            why.insert(0, "the usual latency is smaller after, but the largest latency is larger".to_owned());
            return Decision::Open(ProveJudgement {
                verdict: ProveVerdict::NoDifference,
                why,
                pair: Some(pair),
            });
        }
        (Some(side), _) | (None, Some(side)) => match side {
            Side::Smaller => ProveVerdict::Better,
            Side::Larger => ProveVerdict::Worse,
        },
        (None, None) => return Decision::Open(open(pair, &shown, why)),
    };
    Decision::Final(ProveJudgement { verdict, why, pair: Some(pair) })
}

const OPPOSITE: &str =
    "the tail and the usual latency moved in opposite directions: which of them matters is for you to decide";
const TAIL: &str = "the mean of the worst hundredth";
const USUAL: &str = "the median";

/// What stays where rounds and samples do not both show a difference.
fn open(pair: Pair, shown: &Shown, mut why: Vec<String>) -> ProveJudgement {
    let (a, b) = pair.all.samples;
    let verdict = match pair.verdict {
        RunVerdict::CannotTell if shown.tail.is_none() && shown.usual.is_none() => ProveVerdict::Refused,
        _ => ProveVerdict::NoDifference,
    };
    if shown.tail.is_some() || shown.usual.is_some() {
        why.insert(
            0,
            "the samples of both states differ, but rounds of the same state differ as much among themselves: that may be chance"
                .to_owned(),
        );
    }
    if a == 0 || b == 0 {
        let which = if a == 0 { "before" } else { "after" };
        why.insert(
            0,
            format!(
                "nothing was measured {which} the change: what is to be measured did not run, or did not end"
            ),
        );
    }
    ProveJudgement { verdict, why, pair: Some(pair) }
}

/// To which side latencies moved from before to after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Smaller,
    Larger,
}

impl Side {
    fn opposite(self) -> Side {
        match self {
            Side::Smaller => Side::Larger,
            Side::Larger => Side::Smaller,
        }
    }
}

/// What all samples show.
struct Shown {
    tail: Option<Side>,
    usual: Option<Side>,
}

impl Shown {
    fn of(pair: &Pair) -> Shown {
        let tail = match pair.tail {
            TailVerdict::Better => Some(Side::Smaller),
            TailVerdict::Worse => Some(Side::Larger),
            _ => None,
        };
        let usual = match pair.usual {
            RunVerdict::Better => Some(Side::Smaller),
            RunVerdict::Worse => Some(Side::Larger),
            _ => None,
        };
        Shown { tail, usual }
    }
}

/// What whole rounds show: a number of each, by ranks.
struct Ranked {
    ranks: RankSum,
    /// The middle of the numbers, before and after.
    middles: (Ns, Ns),
}

impl Ranked {
    fn of(rounds: &[Round], number: fn(&Histogram) -> Option<Ns>) -> Option<Ranked> {
        let side = |state| {
            let own = rounds.iter().filter(|round| round.state == state);
            own.map(|round| number(&round.samples())).collect::<Option<Vec<Ns>>>()
        };
        Ranked::of_numbers(side(RoundState::Before)?, side(RoundState::After)?)
    }

    fn of_numbers(before: Vec<Ns>, after: Vec<Ns>) -> Option<Ranked> {
        let ranks = RankSum::of(&before, &after)?;
        Some(Ranked { ranks, middles: (middle(before)?, middle(after)?) })
    }

    /// The side that is no chance, if the difference is as large as matters.
    fn side(&self, chance: f64) -> Option<Side> {
        let (before, after) = self.middles;
        let side = if self.ranks.share > 0.5 { Side::Larger } else { Side::Smaller };
        (notable(before, after) && self.ranks.p <= chance).then_some(side)
    }

    fn sentence(&self, what: &str) -> String {
        let (share, word) = match self.ranks.share > 0.5 {
            true => (self.ranks.share, "larger"),
            false => (1.0 - self.ranks.share, "smaller"),
        };
        format!(
            "{what} is {word} after than before in {:.0} % of the pairs of rounds (by chance: {:.4})",
            share * 100.0,
            self.ranks.p
        )
    }
}

/// Whether other samples of both states differ: the tail, which decides for threads with a deadline.
pub(crate) fn differ(before: &[Histogram], after: &[Histogram]) -> Option<(ProveVerdict, String)> {
    let numbers = |side: &[Histogram]| side.iter().map(worst_hundredth).collect::<Option<Vec<Ns>>>();
    let ranked = Ranked::of_numbers(numbers(before)?, numbers(after)?)?;
    let chance = if before.len() + after.len() <= FEWEST { FIRST_LOOK } else { LATER_LOOK };
    let verdict = match ranked.side(chance)? {
        Side::Larger => ProveVerdict::Worse,
        Side::Smaller => ProveVerdict::Better,
    };
    Some((verdict, ranked.sentence(TAIL)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_stats::{Measured, Run};

    /// A round whose samples are drawn around `level`, with `late` samples of 50 ms.
    fn round(state: RoundState, random: &mut fastrand::Rng, level: f64, late: usize) -> Round {
        let drawn = (0..400).map(|_| Ns((level * (1.0 - (1.0 - random.f64()).ln())) as i64));
        let histogram = drawn.chain((0..late).map(|at| Ns::from_ms(50) + Ns(at as i64 * 1_000))).collect();
        let thread = Measured { name: "ctl".to_owned(), histogram, ..Measured::default() };
        let run = Run {
            probe: "response".to_owned(),
            elapsed: Some(Ns::from_secs(4)),
            threads: vec![thread],
            ..Run::default()
        };
        Round { state, run, others: Vec::new(), throughput: Vec::new() }
    }

    fn rounds(
        count: usize,
        seed: u64,
        of: impl Fn(RoundState, &mut fastrand::Rng) -> (f64, usize),
    ) -> Vec<Round> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count)
            .map(|at| {
                let state = RoundState::of_round(at);
                let (level, late) = of(state, &mut random);
                round(state, &mut random, level, late)
            })
            .collect()
    }

    fn verdict(rounds: &[Round]) -> ProveVerdict {
        judge(rounds).judgement().verdict
    }

    #[test]
    fn a_fault_that_goes_is_better_and_one_that_comes_is_worse() {
        let fault =
            |faulty| move |state, _: &mut fastrand::Rng| (20_000.0, if state == faulty { 4 } else { 0 });
        let better = judge(&rounds(FEWEST, 1, fault(RoundState::Before)));
        let Decision::Final(better) = better else { panic!("{better:?}") };
        assert_eq!(better.verdict, ProveVerdict::Better, "{:?}", better.why);
        assert!(better.why[0].contains("smaller after than before in 100 %"), "{:?}", better.why);
        let worse = judge(&rounds(FEWEST, 1, fault(RoundState::After)));
        assert!(
            matches!(&worse, Decision::Final(worse) if worse.verdict == ProveVerdict::Worse),
            "{worse:?}"
        );
    }

    #[test]
    fn too_few_rounds_or_samples_have_no_verdict() {
        let all = rounds(FEWEST, 1, |state, _| (20_000.0, if state == RoundState::Before { 4 } else { 0 }));
        for count in [0, 1, 4, 7] {
            let decision = judge(&all[..count]);
            assert!(
                matches!(&decision, Decision::Open(open) if open.verdict == ProveVerdict::Refused),
                "{decision:?}"
            );
        }
        let mut empty = all.clone();
        empty
            .iter_mut()
            .filter(|round| round.state == RoundState::Before)
            .for_each(|round| round.run.threads.clear());
        let Decision::Open(open) = judge(&empty) else { panic!("a verdict without samples") };
        assert_eq!(open.verdict, ProveVerdict::Refused);
        assert!(open.why[0].contains("nothing was measured before"), "{:?}", open.why);
    }

    /// A machine that changes between rounds by more than the states do: samples differ by far more than chance.
    #[test]
    fn rounds_that_differ_among_themselves_show_nothing() {
        let drifting = |_: RoundState, random: &mut fastrand::Rng| (10_000.0 * (1.0 + 3.0 * random.f64()), 0);
        let mut wrong = 0;
        for seed in 0..100 {
            let all = rounds(16, seed, drifting);
            let looks = [8, 12, 16].map(|count| verdict(&all[..count]));
            wrong += usize::from(
                looks.iter().any(|look| matches!(look, ProveVerdict::Better | ProveVerdict::Worse)),
            );
        }
        // 5 of 100 are expected at most; 14 are 4 standard deviations more, and the seeds are fixed.
        assert!(wrong <= 13, "{wrong} of 100 are wrong");
    }

    #[test]
    fn opposite_directions_are_refused() {
        let opposite = |state, _: &mut fastrand::Rng| match state {
            RoundState::Before => (20_000.0, 4),
            RoundState::After => (60_000.0, 0),
        };
        let all = rounds(12, 3, opposite);
        let Decision::Open(early) = judge(&all[..FEWEST]) else { panic!("a verdict after 8 rounds") };
        assert_eq!(early.verdict, ProveVerdict::Refused, "{:?}", early.why);
        let Decision::Final(judged) = judge(&all) else { panic!("no verdict after 12 rounds") };
        assert_eq!(judged.verdict, ProveVerdict::Refused, "{:?}", judged.why);
    }
}
