//! What else a change does: to other threads, to a command's run time, to the checks, and which causes are new.

use crate::judge::{ProveVerdict, differ};
use crate::merge::of_other;
use crate::report::{SideEffect, SideEffectKind};
use crate::round::{Round, RoundState, middle};
use std::collections::BTreeSet;
use whylate_base::{CpuSet, Ns};
use whylate_checks::{CheckOptions, Profile, Selection};
use whylate_host::{FsRoot, Snapshot};
use whylate_investigate::compare::{CauseShift, Pair, Seen};
use whylate_ledger::Cause;
use whylate_stats::Histogram;

/// A cause is new from so many late samples on: among the worst few of a run each cause may be.
const FEWEST_NEW: usize = 3;
/// With fewer samples in a round a thread is not judged.
const FEWEST_SAMPLES: u64 = 10;

/// All of them, worse first.
pub(crate) fn of(
    rounds: &[Round],
    pair: Option<&Pair>,
    newly_failed: &[(String, String)],
) -> Vec<SideEffect> {
    let mut all: Vec<SideEffect> = threads(rounds);
    all.extend(throughput(rounds));
    all.extend(pair.into_iter().flat_map(new_causes));
    all.extend(newly_failed.iter().map(|(code, title)| SideEffect {
        kind: SideEffectKind::Check(code.clone()),
        verdict: ProveVerdict::Worse,
        why: format!("the check {code} fails with the change, and did not before: {title}"),
    }));
    all.sort_by_key(|effect| effect.verdict != ProveVerdict::Worse);
    all
}

fn threads(rounds: &[Round]) -> Vec<SideEffect> {
    let names: BTreeSet<&str> =
        rounds.iter().flat_map(|round| &round.others).map(|thread| thread.name.as_str()).collect();
    names.into_iter().filter_map(|name| thread(rounds, name)).collect()
}

/// A thread that has samples in every round.
fn thread(rounds: &[Round], name: &str) -> Option<SideEffect> {
    let side = |state| -> Option<Vec<Histogram>> {
        let own = rounds.iter().filter(|round| round.state == state);
        own.map(|round| {
            let thread = round.others.iter().find(|thread| thread.name == name)?;
            (thread.histogram.count() >= FEWEST_SAMPLES).then(|| thread.histogram.clone())
        })
        .collect()
    };
    let (before, after) = (side(RoundState::Before)?, side(RoundState::After)?);
    let worst = |state| of_other(rounds, state, name).max();
    let (was, is) = (worst(RoundState::Before)?, worst(RoundState::After)?);
    let (verdict, why) = match differ(&before, &after) {
        Some((verdict, sentence)) => {
            (verdict, format!("{sentence}; its longest response went from {was} to {is}"))
        }
        None => (
            ProveVerdict::NoDifference,
            format!("no difference is shown; longest response {was} before, {is} after"),
        ),
    };
    Some(SideEffect { kind: SideEffectKind::Thread(name.to_owned()), verdict, why })
}

/// The medians of the run times of each round.
fn throughput(rounds: &[Round]) -> Option<SideEffect> {
    let median = |round: &Round| middle(round.throughput.clone());
    let side = |state| {
        let own = rounds.iter().filter(|round| round.state == state);
        own.map(median).collect::<Option<Vec<Ns>>>()
    };
    if rounds.iter().all(|round| round.throughput.is_empty()) {
        return None;
    }
    let effect = |verdict, why| Some(SideEffect { kind: SideEffectKind::Throughput, verdict, why });
    let (Some(before), Some(after)) = (side(RoundState::Before), side(RoundState::After)) else {
        let why = "in a round the command did not end once: choose a longer --round".to_owned();
        return effect(ProveVerdict::Refused, why);
    };
    let of_all = |side: &[Ns]| middle(side.to_vec()).unwrap_or(Ns::ZERO);
    let (was, is) = (of_all(&before), of_all(&after));
    let one = |took: &Ns| Histogram::from_iter([*took]);
    let as_histograms = |side: &[Ns]| side.iter().map(one).collect::<Vec<_>>();
    let shown = differ(&as_histograms(&before), &as_histograms(&after));
    match shown {
        Some((verdict, _)) => {
            effect(verdict, format!("a run of the command took {was} before and {is} after"))
        }
        None => effect(
            ProveVerdict::NoDifference,
            format!("no difference is shown; a run of the command took {was} before, {is} after"),
        ),
    }
}

/// True of a cause that names something: what is unexplained is no evidence against the change.
fn accuses(shift: &CauseShift) -> bool {
    Cause::from_code(&shift.cause).is_some_and(Cause::accuses)
}

/// Causes of samples that are later than all before, and that there were none of before.
fn new_causes(pair: &Pair) -> Vec<SideEffect> {
    let worst_before = pair.all.max.map_or(Ns::MAX, |(before, _)| before);
    let is_new = |after: &Seen| after.count >= FEWEST_NEW && after.worst > worst_before;
    let new = pair.causes.iter().filter(|shift| {
        shift.is_sure && accuses(shift) && shift.before.is_none() && shift.after.as_ref().is_some_and(is_new)
    });
    let effect = |shift: &CauseShift| {
        let after = shift.after?;
        let by = shift.culprit.as_ref().map(|culprit| format!(" ({culprit})")).unwrap_or_default();
        Some(SideEffect {
            kind: SideEffectKind::Cause(shift.cause.clone()),
            verdict: ProveVerdict::Worse,
            why: format!(
                "{} late samples by {}{by} after, none before; the latest {}",
                after.count, shift.cause, after.worst
            ),
        })
    };
    new.filter_map(effect).collect()
}

/// The checks that fail on the machine as it is, and did not fail `before`.
pub(crate) fn newly_failed(
    tree: &FsRoot,
    cpus: Option<&CpuSet>,
    before: &[(String, String)],
) -> Vec<(String, String)> {
    let is_new = |(code, _): &(String, String)| before.iter().all(|(known, _)| known != code);
    failed_checks(tree, cpus).into_iter().filter(is_new).collect()
}

/// The checks that fail on the machine as it is: code and title.
pub(crate) fn failed_checks(tree: &FsRoot, cpus: Option<&CpuSet>) -> Vec<(String, String)> {
    let options = CheckOptions { cpus: cpus.cloned(), ..CheckOptions::of(Profile::Realtime) };
    let report = whylate_checks::check(&Snapshot::read(tree), &options, &Selection::default());
    let failed = report.answers.iter().filter(|answer| answer.failed());
    failed.map(|answer| (answer.rule.code.to_owned(), answer.rule.title.to_owned())).collect()
}
