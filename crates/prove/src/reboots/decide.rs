//! What a proof across reboots does next: pure, by what is on the disk and how the machine was booted.

use super::record::{RebootPhase, RebootProof};
use crate::judge::{ProveJudgement, settled};
use crate::round::{Round, RoundState};

/// So many boots more than rounds: those in which a round was cut short, as by a power cut.
pub(crate) const SPARE_BOOTS: usize = 2;

/// How the machine was booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BootFacts {
    /// This boot.
    pub(crate) boot: String,
    /// All changed parameters have the values of the change.
    pub(crate) has_change: bool,
    /// All of them have the values of before.
    pub(crate) has_none: bool,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// A round is measured in this boot.
    Measure(RoundState),
    /// It goes on after a reboot.
    WaitForReboot,
    /// The old parameters are put back, as it cannot go on.
    Restore(String),
    /// The restoring goes on.
    GoOnRestoring {
        /// Why it was begun.
        why: String,
        /// There is a verdict.
        is_done: bool,
    },
    /// Nothing.
    Nothing,
}

/// What comes next in this boot.
pub(crate) fn next(proof: &RebootProof, facts: &BootFacts) -> NextStep {
    match &proof.phase {
        RebootPhase::Ended { .. } => NextStep::Nothing,
        RebootPhase::Restore { why, is_done } => NextStep::GoOnRestoring { why: why.clone(), is_done: *is_done },
        RebootPhase::Change { .. } => NextStep::Restore(
            "it was killed, or the machine lost its power, while the boot loader was being configured".to_owned(),
        ),
        RebootPhase::Measure { .. } if proof.measured_in.as_deref() == Some(&facts.boot) => NextStep::WaitForReboot,
        RebootPhase::Measure { .. } if proof.boots >= proof.most_rounds + SPARE_BOOTS => NextStep::Restore(format!(
            "{} boots were used, and {} rounds are measured: too many of them were cut short",
            proof.boots,
            proof.rounds.len()
        )),
        RebootPhase::Measure { with_change: true } if !facts.has_change => NextStep::Restore(
            "the kernel was not booted with the changed parameters: another entry of the boot menu, or another program has \
             configured the boot loader"
                .to_owned(),
        ),
        RebootPhase::Measure { with_change: false } if !facts.has_none => NextStep::Restore(
            "the kernel was booted with changed parameters, and not with those of before".to_owned(),
        ),
        RebootPhase::Measure { with_change: true } => NextStep::Measure(RoundState::After),
        RebootPhase::Measure { with_change: false } => NextStep::Measure(RoundState::Before),
    }
}

/// What comes after a round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AfterRound {
    /// Another round, in another boot of this state.
    Another(RoundState),
    /// There is an answer.
    Judged(Box<ProveJudgement>),
}

/// What comes after these rounds. Each boot is one round, whether or not the state changes: what a boot decides once, such as where
/// memory lies, is the same in all rounds of it.
pub(crate) fn after_round(rounds: &[Round], most: usize) -> AfterRound {
    let bound = |count: usize| (count >= most).then(|| format!("all {count} rounds are measured (--rounds)"));
    match settled(rounds, bound) {
        Some(judgement) => AfterRound::Judged(Box::new(judgement)),
        None => AfterRound::Another(RoundState::of_round(rounds.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;
    use whylate_profiles::DesiredState;
    use whylate_stats::{Measured, Run};

    fn proof(phase: RebootPhase) -> RebootProof {
        let desired = DesiredState { profile: "t".to_owned(), ..DesiredState::default() };
        let new = RebootProof::new(Vec::new(), "/".to_owned(), desired, Vec::new());
        RebootProof { phase, most_rounds: 8, ..new }
    }

    fn facts(has_change: bool) -> BootFacts {
        BootFacts { boot: "b2".to_owned(), has_change, has_none: !has_change }
    }

    #[test]
    fn each_phase_has_its_next_step_in_a_boot_that_fits() {
        let measure = |with_change| RebootPhase::Measure { with_change };
        assert_eq!(next(&proof(measure(true)), &facts(true)), NextStep::Measure(RoundState::After));
        assert_eq!(next(&proof(measure(false)), &facts(false)), NextStep::Measure(RoundState::Before));
        for (phase, booted_with) in [(measure(true), false), (measure(false), true)] {
            assert!(matches!(next(&proof(phase), &facts(booted_with)), NextStep::Restore(_)));
        }
        let measured = RebootProof { measured_in: Some("b2".to_owned()), ..proof(measure(true)) };
        assert_eq!(next(&measured, &facts(false)), NextStep::WaitForReboot);
        for to_change in [true, false] {
            let cut = proof(RebootPhase::Change { to_change });
            assert!(matches!(next(&cut, &facts(to_change)), NextStep::Restore(_)));
        }
        let (why, is_done) = ("w".to_owned(), true);
        let restoring = proof(RebootPhase::Restore { why: why.clone(), is_done });
        assert_eq!(next(&restoring, &facts(true)), NextStep::GoOnRestoring { why: why.clone(), is_done });
        assert_eq!(next(&proof(RebootPhase::Ended { why, is_done }), &facts(true)), NextStep::Nothing);
    }

    #[test]
    fn boots_are_bounded() {
        let phase = RebootPhase::Measure { with_change: false };
        let used_up = RebootProof { boots: 8 + SPARE_BOOTS, ..proof(phase.clone()) };
        assert!(matches!(next(&used_up, &facts(false)), NextStep::Restore(why) if why.contains("boots")));
        let last = RebootProof { boots: 8 + SPARE_BOOTS - 1, ..proof(phase) };
        assert_eq!(next(&last, &facts(false)), NextStep::Measure(RoundState::Before));
    }

    #[test]
    fn eight_boots_in_alternation_end_without_the_change() {
        let round = |state, latency: i64| Round {
            state,
            run: Run {
                threads: vec![Measured {
                    histogram: (0..500).map(|at| Ns(latency + at)).collect(),
                    ..Measured::default()
                }],
                ..Run::default()
            },
            others: Vec::new(),
            throughput: Vec::new(),
        };
        let mut rounds = Vec::new();
        let mut states = String::new();
        let judgement = loop {
            match after_round(&rounds, 8) {
                AfterRound::Another(state) => {
                    states.push(if state == RoundState::After { 'A' } else { 'B' });
                    let latency = if state == RoundState::After { 20_000 } else { 90_000 };
                    rounds.push(round(state, latency + 100 * rounds.len() as i64));
                }
                AfterRound::Judged(judgement) => break judgement,
            }
        };
        assert_eq!(states, "BAABBAAB");
        assert_eq!(judgement.verdict, crate::ProveVerdict::Better, "{judgement:#?}");
    }
}
