//! The sentences and cells of groups side by side, which all formats share.

use super::compared::ComparedGroups;
use crate::words;
use whylate_investigate::compare::RunVerdict;
use whylate_investigate::compare::groups::{
    GroupGate, GroupPair, GroupTest, GroupTestKind, MachineGroup, SURE_OF_ALL, Untested,
};

/// Machines that miss a gate, and are named.
const NAMED: usize = 5;

/// The heading of the groups.
pub(super) const GROUPS: [&str; 4] = ["group", "machines", "runs", "samples"];

/// The cells of [`GROUPS`].
pub(super) fn group(report: &ComparedGroups, at: usize, group: &MachineGroup) -> [String; 4] {
    let is_baseline = report.comparison.baseline == Some(at);
    let name = words::clean(&group.name);
    [
        if is_baseline { format!("{name} (baseline)") } else { name },
        group.machines.len().to_string(),
        group.runs().to_string(),
        group.samples().to_string(),
    ]
}

/// The heading of the tests of a pair.
pub(super) const TESTS: [&str; 7] =
    ["quantile", "before", "after", "shift", "machines", "chance", "corrected"];

/// The cells of [`TESTS`].
pub(super) fn test(test: &GroupTest) -> [String; 7] {
    let machines = match test.kind {
        GroupTestKind::Same(signs) => {
            format!("later on {}, earlier on {}", signs.larger, signs.smaller)
        }
        GroupTestKind::Different { before, after, share } => {
            format!("{before} and {after}: later in {:.0} of 100 pairs", share * 100.0)
        }
    };
    [
        quantile(test.q),
        test.before.to_string(),
        test.after.to_string(),
        test.shift.to_string(),
        machines,
        probability(test.p),
        probability(test.corrected),
    ]
}

pub(super) fn quantile(q: f64) -> String {
    format!("p{}", (q * 1e6).round() / 1e4)
}

fn probability(p: f64) -> String {
    if p < 1e-6 { "< 0.000001".to_owned() } else { format!("{p:.6}") }
}

/// The name of a group.
pub(super) fn name(report: &ComparedGroups, at: usize) -> String {
    report.comparison.groups.get(at).map_or_else(String::new, |group| words::clean(&group.name))
}

/// The first sentence of a pair.
pub(super) fn verdict(report: &ComparedGroups, pair: &GroupPair) -> String {
    let (before, after) = (name(report, pair.before), name(report, pair.after));
    match pair.verdict {
        RunVerdict::Worse => format!("{after} is worse than {before}"),
        RunVerdict::Better => format!("{after} is better than {before}"),
        RunVerdict::Mixed => {
            format!("{after} is better than {before} in some quantiles, and worse in others")
        }
        RunVerdict::Same => format!("no difference is shown between {after} and {before}"),
        RunVerdict::CannotTell => format!("cannot tell whether {after} is worse than {before}"),
    }
}

/// What was not tested, and what else differs.
pub(super) fn notes(pair: &GroupPair) -> Vec<String> {
    let machines = |one: &Untested| (one.before, one.after, one.both);
    let mut notes: Vec<String> =
        pair.untested.chunk_by(|a, b| machines(a) == machines(b)).map(untested).collect();
    let is_same = pair.tests.iter().any(|test| matches!(test.kind, GroupTestKind::Same(_)));
    notes.extend(pair.confounded.iter().map(|(name, before, after)| {
        let list = |values: &[String]| words::clean(&values.join(", "));
        let consequence = if is_same { "it changed as well" } else { "it may be the reason" };
        format!("the {name} differs, too: {consequence} ({} before, {} after)", list(before), list(after))
    }));
    notes
}

/// Quantiles that as many machines have.
fn untested(alike: &[Untested]) -> String {
    let Some(&Untested { before, after, both, .. }) = alike.first() else { return String::new() };
    let quantiles: Vec<String> = alike.iter().map(|one| quantile(one.q)).collect();
    let (each, in_both) = Untested::NEEDED;
    format!(
        "not tested: {}. {before} and {after} machines have enough samples, {both} of them in both groups; {each} of each or \
         {in_both} in both are needed",
        quantiles.join(", ")
    )
}

/// How certain the verdicts are.
pub(super) fn certainty(report: &ComparedGroups) -> Option<String> {
    let tests = report.comparison.tests;
    (tests > 0).then(|| {
        format!(
            "{}. A machine counts once. The last column is corrected for all of them by Holm's method: a difference counts as \
             shown below {SURE_OF_ALL}, so that with {:.0} % no verdict of this report is due to chance.",
            words::plural(tests as u64, "test"),
            (1.0 - SURE_OF_ALL) * 100.0
        )
    })
}

/// How the machines of a group meet a gate: the word, the sentence, and whether they do.
pub(super) fn gate(report: &ComparedGroups, gated: &GroupGate) -> (&'static str, String, Option<bool>) {
    let group = name(report, gated.group);
    let machines = gated.met + gated.missed.len() + gated.unknown.len();
    let of = format!("of {}", words::plural(machines as u64, "machine"));
    let more = |all: usize| if all > NAMED { format!(", and {} more", all - NAMED) } else { String::new() };
    let unknown = gated.unknown.first().map(|(machine, why)| {
        let (machine, why) = (words::clean(machine), words::clean(why));
        format!("cannot tell for {}: {machine}: {why}", gated.unknown.len())
    });
    if !gated.missed.is_empty() {
        let missed = gated.missed.iter().take(NAMED).map(|missed| {
            format!("{} {} ({})", words::clean(&missed.machine), missed.value, words::clean(&missed.thread))
        });
        let mut text = format!("{group}: {}: {} {of} miss it: ", gated.gate, gated.missed.len());
        text += &missed.collect::<Vec<_>>().join(", ");
        text += &more(gated.missed.len());
        text += &unknown.map(|unknown| format!("; {unknown}")).unwrap_or_default();
        return ("MISSED", text, Some(false));
    }
    match unknown {
        Some(unknown) => ("cannot tell", format!("{group}: {}: {unknown} {of}", gated.gate), None),
        None => ("met", format!("{group}: {}: {} {of} meet it", gated.gate, gated.met), Some(true)),
    }
}

/// What the report is about.
pub(super) fn title(report: &ComparedGroups) -> String {
    format!("machines by {}", words::clean(&report.comparison.by))
}
