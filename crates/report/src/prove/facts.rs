//! The sentences and cells of a proof, which all its formats share.

use crate::words;
use whylate_prove::{
    ChangeOutcome, ProveReport, ProveVerdict, ProvenChange, RoundSummary, SideEffect, StateSummary,
};

/// The columns behind a state's name.
pub(super) const STATES: [&str; 7] = ["rounds", "samples", "p50", "p99", "worst 1 %", "max", "late"];

/// The columns of a round.
pub(super) const ROUNDS: [&str; 6] = ["round", "state", "samples", "p50", "worst 1 %", "max"];

/// So many settings are listed.
const LISTED: usize = 20;

/// The verdict in a sentence.
pub(super) fn verdict(report: &ProveReport) -> String {
    let what = &report.subject;
    match report.verdict {
        ProveVerdict::Better => format!("better: the change shortens {what}"),
        ProveVerdict::Worse => format!("worse: the change lengthens {what}"),
        ProveVerdict::NoDifference => format!("no difference is shown in {what}"),
        ProveVerdict::Refused => format!("refused: no verdict on {what}"),
    }
}

/// The settings of the change; of very many the first ones.
pub(super) fn changes(report: &ProveReport) -> Vec<String> {
    let mut lines: Vec<String> = report.change.iter().take(LISTED).map(change).collect();
    if report.change.len() > LISTED {
        lines.push(format!("and {} more settings, which --json has", report.change.len() - LISTED));
    }
    lines
}

/// `CPUs of hog: 0-1 -> 0`.
fn change(change: &ProvenChange) -> String {
    let side = |side: &Option<String>| match side.as_deref() {
        None => "absent".to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(value) => value.to_owned(),
    };
    format!("{}: {} -> {}", change.setting, side(&change.now), side(&change.then))
}

/// Both states, with the cells of [`STATES`].
pub(super) fn states(report: &ProveReport) -> [(&'static str, [String; 7]); 2] {
    [("before", cells(&report.before)), ("after", cells(&report.after))]
}

fn cells(state: &StateSummary) -> [String; 7] {
    [
        state.rounds.to_string(),
        words::count(state.histogram.count()),
        words::known(state.histogram.median()),
        words::known(state.histogram.tail(0.99)),
        words::known(state.worst_hundredth),
        words::known(state.histogram.max()),
        state.late.map_or_else(|| "-".to_owned(), words::count),
    ]
}

/// The cells of [`ROUNDS`].
pub(super) fn round(round: &RoundSummary) -> [String; 6] {
    [
        round.number.to_string(),
        round.state.name().to_owned(),
        words::count(round.samples),
        words::known(round.median),
        words::known(round.worst_hundredth),
        words::known(round.max),
    ]
}

/// `worse: thread logger: ...`.
pub(super) fn side_effect(effect: &SideEffect) -> String {
    let (kind, name) = effect.kind.names();
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    format!("{}: {kind}{name}: {}", effect.verdict.name(), effect.why)
}

/// What became of the change.
pub(super) fn keeping(report: &ProveReport) -> String {
    match &report.keeping {
        ChangeOutcome::NotAsked => "the change is rolled back (--keep keeps one that is better)".to_owned(),
        ChangeOutcome::Kept(id) => format!("the change is kept, as apply {id}: `whylate rollback` undoes it"),
        ChangeOutcome::RolledBack(why) => format!("the change is rolled back: {why}"),
    }
}

/// `8 rounds of 4.00 s · 41.20 s in all`.
pub(super) fn about(report: &ProveReport) -> Vec<String> {
    let mut about = vec![
        format!("{} of {}", words::plural(report.rounds.len() as u64, "round"), report.round_length),
        format!("{} in all", report.elapsed),
    ];
    about.extend(report.command.as_ref().map(|command| format!("with {command}")));
    about.extend(report.deadline.map(|deadline| format!("late beyond {deadline}")));
    about
}
