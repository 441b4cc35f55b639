//! `whylate compare --tables`: groups of machines.

use crate::args::{CompareArgs, FailOnWorse};
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use whylate_investigate::compare::RunVerdict;
use whylate_investigate::compare::groups::{GroupComparison, Grouping, MachineRun};
use whylate_report::Render;
use whylate_report::group_compare::ComparedGroups;
use whylate_tables::{StoredMeasurement, measurements};

/// What may be the reason as well where groups differ in it.
const CONFOUNDING: [&str; 6] = ["kernel", "arch", "cpu_model", "board", "firmware", "profile"];

pub(super) fn compare(args: &CompareArgs, tables: &Path) -> Result<ExitStatus> {
    let format = args.output.format();
    if !ComparedGroups::FORMATS.contains(&format) {
        let known: Vec<&str> = ComparedGroups::FORMATS.iter().map(|format| format.name()).collect();
        bail!("a comparison of groups has no format {}: choose one of {}", format.name(), known.join(", "));
    }
    if !args.claims.is_empty() || !args.cpus.is_empty() {
        bail!("--claim and --cpus are about single measurements, not about groups of machines");
    }
    let destination = Destination::of::<ComparedGroups>(&args.output, &[])?;
    let report = grouped(args, tables)?;
    destination.write(&report)?;
    Ok(outcome(&report.comparison, args.fail_on))
}

fn grouped(args: &CompareArgs, tables: &Path) -> Result<ComparedGroups> {
    let by = args.by.as_str();
    let mut grouping = Grouping::default();
    // The kinds of measurements, with how many there are.
    let mut probes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut without_value, mut without_machine, mut empty) = (0, 0, 0);
    measurements(tables, &mut |stored| {
        let chosen = |(name, value): &(String, String)| fact(&stored, name) == Some(value.as_str());
        if !args.conditions.iter().all(chosen) {
            return;
        }
        let (Some(group), machine) = (fact(&stored, by).map(str::to_owned), stored.facts.get("machine"))
        else {
            without_value += 1;
            return;
        };
        let Some(machine) = machine.cloned() else {
            without_machine += 1;
            return;
        };
        if stored.run.threads.iter().all(|thread| thread.histogram.count() == 0) {
            empty += 1;
            return;
        }
        *probes.entry(stored.run.probe.clone()).or_default() += 1;
        let facts = CONFOUNDING.into_iter().filter(|name| *name != by);
        let facts = facts.filter_map(|name| Some((name, stored.facts.get(name)?.clone()))).collect();
        grouping.add(MachineRun { group, machine, facts, run: stored.run });
    })?;
    if probes.len() > 1 {
        let known: Vec<String> =
            probes.iter().map(|(probe, count)| format!("--where \"probe={probe}\" ({count})")).collect();
        bail!(
            "{}: the measurements are of several kinds, which are not compared with each other: choose one with {}",
            tables.display(),
            known.join(" or ")
        );
    }
    let left_out = [
        (without_value, format!("do not have a {by}: they are in no group")),
        (
            without_machine,
            "do not name their machine: they are in no group; name it with tables --machine".to_owned(),
        ),
        (empty, "have no sample: they are in no group".to_owned()),
    ];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} measurements {what}"))
        .collect();
    if grouping.is_empty() {
        let why = if left_out.is_empty() { String::new() } else { format!(": {}", left_out.join("; ")) };
        bail!("{}: there is no measurement to compare{why}", tables.display());
    }
    if grouping.len() < 2 && args.gate.is_empty() {
        bail!(
            "{}: all measurements have the same {by}: ask something of them with --gate, or compare by something else",
            tables.display()
        );
    }
    let gates: Vec<_> = args.gate.iter().flat_map(|list| list.0.clone()).collect();
    let baseline = args.baseline.as_ref().map(|name| name.to_string_lossy());
    let comparison = grouping.compared(by, baseline.as_deref(), &gates)?;
    Ok(ComparedGroups { comparison, left_out })
}

/// What is known of a measurement under a name: a fact, or a setting of the machine by its path.
fn fact<'a>(stored: &'a StoredMeasurement, name: &str) -> Option<&'a str> {
    stored.facts.get(name).or_else(|| stored.settings.get(name)).map(String::as_str)
}

/// Found where a group is worse or a machine misses a gate, even where other answers are unknown.
fn outcome(comparison: &GroupComparison, fail_on: FailOnWorse) -> ExitStatus {
    let verdicts = || comparison.pairs.iter().map(|pair| pair.verdict);
    let is_worse = |verdict: RunVerdict| match fail_on {
        FailOnWorse::Mixed => matches!(verdict, RunVerdict::Worse | RunVerdict::Mixed),
        FailOnWorse::Worse => verdict == RunVerdict::Worse,
        FailOnWorse::Never => false,
    };
    if verdicts().any(is_worse) || comparison.gates.iter().any(|gate| !gate.missed.is_empty()) {
        return ExitStatus::Found;
    }
    let unknown = comparison.gates.iter().any(|gate| !gate.unknown.is_empty())
        || verdicts().any(|verdict| verdict == RunVerdict::CannotTell);
    if unknown { ExitStatus::CannotTell } else { ExitStatus::Done }
}
