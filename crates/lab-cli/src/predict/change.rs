//! The changes, as data: `predictions.toml`.

use serde::Deserialize;
use thiserror::Error;
use whylate_base::Action;

const FILE: &str = include_str!("../../predictions.toml");

/// One change to a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PredictedChange {
    /// The change in a few words.
    pub title: String,
    /// The scenario, with descriptive names (seed 0).
    pub scenario: String,
    /// The kernel before.
    pub kernel: String,
    /// Options of `whylate simulate`.
    pub simulate: Vec<String>,
    /// The truth, as settings of threads or files of the kernel: `whylate apply` makes them in the guest.
    pub action: Option<Action>,
    /// The truth, as other arguments of `whylate-inject`.
    pub inject: Option<Vec<String>>,
    /// The truth, as settings that are written in the guest first, as those of scenarios.
    #[serde(default)]
    pub settings: Vec<String>,
    /// The truth, as another kernel.
    pub after_kernel: Option<String>,
}

/// The reason why the file cannot be used.
#[derive(Debug, Error)]
#[error("predictions.toml: {0}")]
pub struct PredictionError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    change: Vec<PredictedChange>,
}

/// Every change.
///
/// # Errors
/// When the file is wrong, which a test excludes.
pub fn built_in() -> Result<Vec<PredictedChange>, PredictionError> {
    parse(FILE)
}

fn parse(text: &str) -> Result<Vec<PredictedChange>, PredictionError> {
    let wrong = |error: &dyn std::fmt::Display| PredictionError(error.to_string().trim_end().to_owned());
    let changes: Changes = toml::from_str(text).map_err(|error| wrong(&error))?;
    for change in &changes.change {
        let says = |what: String| Err(PredictionError(format!("`{}`: {what}", change.title)));
        if let Err(error) = crate::scenario::find(&change.scenario) {
            return says(error.to_string());
        }
        if change.simulate.is_empty() {
            return says("no options of `whylate simulate`".to_owned());
        }
        if let Some(flaw) = change.action.as_ref().and_then(Action::flaw) {
            return says(format!("its action is wrong: {flaw}"));
        }
        let truths = [
            change.action.is_some(),
            change.inject.is_some(),
            !change.settings.is_empty(),
            change.after_kernel.is_some(),
        ];
        if !truths.contains(&true) {
            return says("no truth: give action, inject, settings or after-kernel".to_owned());
        }
    }
    Ok(changes.change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_are_right_and_not_the_same() {
        let changes = built_in().expect("predictions.toml");
        assert!(changes.len() >= 30, "{}", changes.len());
        for (at, change) in changes.iter().enumerate() {
            let scenario = crate::scenario::find(&change.scenario).expect("a scenario");
            assert!(scenario.applies_to(&change.kernel), "{}", change.title);
            assert!(changes.iter().skip(at + 1).all(|other| other.title != change.title), "{}", change.title);
        }
    }

    #[test]
    fn a_change_without_a_truth_is_refused() {
        let good = "[[change]]\ntitle = 'x'\nscenario = 'higher'\nkernel = '6.1'\nsimulate = ['--remove', 'a']\ninject = ['nothing']\n";
        assert!(parse(good).is_ok());
        for (from, to, words) in [
            ("inject = ['nothing']\n", "", "no truth"),
            ("'higher'", "'no-such'", "neither a scenario nor a file"),
            ("['--remove', 'a']", "[]", "no options"),
            ("inject", "injects", "unknown field"),
            ("inject = ['nothing']", "action = { kind = 'thread', set = [] }", "its action is wrong"),
        ] {
            let error = parse(&good.replace(from, to)).expect_err(to).to_string();
            assert!(error.contains(words), "{to}: {error}");
        }
    }
}
