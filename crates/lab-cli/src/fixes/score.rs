//! Results and totals of the fixes, and the JSON document of `whylate-lab fixes --json`.

use super::{FixEnd, Lateness};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The name and version of the schema. Within a version fields are only ever added.
pub const FIXES_SCHEMA: &str = "whylate.lab-fixes/1";

/// How the first advice was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FixRoute {
    /// `whylate apply --from` made settings.
    Settings,
    /// The guest booted with kernel parameters.
    KernelParameters,
    /// The scenario's mended twin ran.
    Twin,
    /// It was not.
    None,
}

/// One scenario on one kernel, before and after its first advice.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FixResult {
    /// The scenario's name.
    pub scenario: String,
    /// The kernel's name.
    pub kernel: String,
    /// CPUs of the guest.
    pub cpus: u32,
    /// The seed.
    pub seed: u64,
    /// The code of the finding or verdict that advises.
    pub code: String,
    /// The first fix that is not a change of a program; where all are, the first.
    pub fix: String,
    /// How it was followed.
    pub route: FixRoute,
    /// What was set, in words.
    pub applied: Vec<String>,
    /// Before.
    pub before: Lateness,
    /// After; `None`: there was no run.
    pub after: Option<Lateness>,
    /// What became of the lateness.
    pub end: FixEnd,
    /// Codes of warnings and errors that were not found before.
    pub new_findings: Vec<String>,
    /// Why there is no result, or another remark.
    pub note: String,
    /// The time of the second run on the host.
    pub seconds: f64,
}

/// One line of the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixRow {
    /// How the advice was followed, or `all`.
    pub name: String,
    /// Scenarios whose lateness is known before and after.
    pub judged: u64,
    /// Of these, by [`FixEnd`].
    pub gone: u64,
    /// At most half as many late jobs.
    pub less: u64,
    /// Other causes, or another thread starves.
    pub moved: u64,
    /// As before.
    pub unchanged: u64,
    /// More late jobs, or later ones.
    pub worse: u64,
    /// Not judged: the fix cannot be made on that machine.
    pub not_made: u64,
    /// Not judged: only a change of a program is advised, which the scenario has no twin of.
    pub by_hand: u64,
    /// Not judged: nothing was late, or the guest failed.
    pub no_run: u64,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "whylate.lab-fixes/1")]
pub struct FixesDocument {
    /// Always `whylate.lab-fixes/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// Each scenario on each kernel.
    pub runs: Vec<FixResult>,
    /// By how the advice was followed.
    pub by_route: Vec<FixRow>,
    /// All of them.
    pub total: FixRow,
}

impl FixRoute {
    /// The word that users read.
    pub fn word(self) -> &'static str {
        match self {
            FixRoute::Settings => "settings",
            FixRoute::KernelParameters => "kernel parameters",
            FixRoute::Twin => "mended twin",
            FixRoute::None => "none",
        }
    }
}

impl FixRow {
    fn named(name: &str) -> FixRow {
        FixRow { name: name.to_owned(), ..FixRow::default() }
    }

    fn add(&mut self, result: &FixResult) {
        self.judged += u64::from(result.end.is_judged());
        *match result.end {
            FixEnd::Gone => &mut self.gone,
            FixEnd::Less => &mut self.less,
            FixEnd::Moved => &mut self.moved,
            FixEnd::Unchanged => &mut self.unchanged,
            FixEnd::Worse => &mut self.worse,
            FixEnd::NotMade => &mut self.not_made,
            FixEnd::ByHand => &mut self.by_hand,
            FixEnd::NotProvoked | FixEnd::NoRun => &mut self.no_run,
        } += 1;
    }
}

impl FixesDocument {
    /// Of these results.
    pub fn of(runs: Vec<FixResult>) -> FixesDocument {
        let mut routes: BTreeMap<FixRoute, FixRow> = BTreeMap::new();
        let mut total = FixRow::named("all");
        for run in &runs {
            routes.entry(run.route).or_insert_with(|| FixRow::named(run.route.word())).add(run);
            total.add(run);
        }
        FixesDocument {
            schema: FIXES_SCHEMA.to_owned(),
            runs,
            by_route: routes.into_values().collect(),
            total,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("plain data with string keys")
    }
}

/// The JSON Schema of these documents.
pub fn schema() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<FixesDocument>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_judged_counts_apart() {
        let result = |route, end| FixResult {
            scenario: "a".to_owned(),
            kernel: "6.1".to_owned(),
            cpus: 1,
            seed: 1,
            code: "irq".to_owned(),
            fix: "move it".to_owned(),
            route,
            applied: Vec::new(),
            before: Lateness::default(),
            after: None,
            end,
            new_findings: Vec::new(),
            note: String::new(),
            seconds: 1.0,
        };
        let document = FixesDocument::of(vec![
            result(FixRoute::Settings, FixEnd::Gone),
            result(FixRoute::Settings, FixEnd::Worse),
            result(FixRoute::Settings, FixEnd::NotMade),
            result(FixRoute::Twin, FixEnd::Moved),
            result(FixRoute::None, FixEnd::ByHand),
            result(FixRoute::None, FixEnd::NotProvoked),
            result(FixRoute::None, FixEnd::NoRun),
        ]);
        let total = &document.total;
        assert_eq!((total.judged, total.gone, total.worse, total.moved), (3, 1, 1, 1));
        assert_eq!((total.not_made, total.by_hand, total.no_run), (1, 1, 2));
        let routes: Vec<(&str, u64)> =
            document.by_route.iter().map(|row| (row.name.as_str(), row.judged)).collect();
        assert_eq!(routes, [("settings", 2), ("mended twin", 1), ("none", 0)]);
        assert_eq!(document.json()["runs"][0]["route"], "settings");
    }
}
