//! From the rounds and the verdict to what becomes of the change, and to the report.

use crate::judge::{ProveJudgement, ProveVerdict};
use crate::merge::merged;
use crate::options::ProveOptions;
use crate::report::{ChangeOutcome, ProveReport, RoundSummary, SideEffect, StateSummary};
use crate::round::{Round, RoundState, worst_hundredth};
use crate::tuned_machine::TunedMachine;
use whylate_base::Ns;

/// Makes the change to stay, where that was asked for, it is better, and nothing else is worse by it.
pub(crate) fn keep(
    options: &ProveOptions,
    machine: &TunedMachine<'_>,
    verdict: ProveVerdict,
    effects: &[SideEffect],
) -> ChangeOutcome {
    if !options.keep {
        return ChangeOutcome::NotAsked;
    }
    let worse = effects.iter().find(|effect| effect.verdict == ProveVerdict::Worse);
    match (verdict, worse) {
        (ProveVerdict::Better, None) => match machine.keep() {
            Ok(id) => ChangeOutcome::Kept(id),
            Err(error) => ChangeOutcome::RolledBack(error.to_string()),
        },
        (ProveVerdict::Better, Some(worse)) => {
            ChangeOutcome::RolledBack(format!("it has a side effect: {}", worse.why))
        }
        (verdict, _) => ChangeOutcome::RolledBack(format!(
            "it is kept only if it is better, and the verdict is {}",
            verdict.name()
        )),
    }
}

/// The report, but for what the change is, the notes and the time that it took.
pub(crate) fn report(
    options: &ProveOptions,
    rounds: &[Round],
    judgement: ProveJudgement,
    side_effects: Vec<SideEffect>,
    keeping: ChangeOutcome,
) -> ProveReport {
    let deadline = options.subject.deadline();
    ProveReport {
        source: String::new(),
        change: Vec::new(),
        subject: options.subject.to_string(),
        command: options.command_name.clone(),
        deadline,
        verdict: judgement.verdict,
        why: judgement.why,
        before: state_summary(rounds, RoundState::Before, deadline),
        after: state_summary(rounds, RoundState::After, deadline),
        rounds: rounds.iter().zip(1..).map(|(round, number)| summary(number, round)).collect(),
        round_length: options.round,
        side_effects,
        keeping,
        notes: Vec::new(),
        elapsed: Ns::ZERO,
    }
}

/// A round as reports have it.
pub(crate) fn summary(number: usize, round: &Round) -> RoundSummary {
    let histogram = round.samples();
    RoundSummary {
        number,
        state: round.state,
        samples: histogram.count(),
        median: histogram.median(),
        worst_hundredth: worst_hundredth(&histogram),
        max: histogram.max(),
    }
}

/// All rounds of a state.
fn state_summary(rounds: &[Round], state: RoundState, deadline: Option<Ns>) -> StateSummary {
    let histogram = merged(rounds, state).all();
    StateSummary {
        rounds: rounds.iter().filter(|round| round.state == state).count(),
        worst_hundredth: worst_hundredth(&histogram),
        late: deadline.map(|deadline| histogram.beyond(deadline)),
        histogram,
    }
}
