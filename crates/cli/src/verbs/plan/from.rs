//! What `--from` takes: a document of `explain`, `check` or `doctor`, with the fixes that its findings advise.

use super::input::document;
use anyhow::{Context, Result, bail};
use std::path::Path;
use whylate_host::Snapshot;
use whylate_profiles::DesiredState;
use whylate_profiles::fixes::Fixes;
use whylate_report::check::json::document as check;

/// A document with fixes.
pub(crate) struct From {
    /// Its fixes.
    pub(crate) fixes: Fixes,
    /// The document itself, where it is one of `check`.
    pub(crate) check: Option<check::Document>,
    /// The threads whose late activations a document of `explain` has, without those that made others late.
    pub(crate) late: Vec<String>,
}

impl From {
    /// Reads it; `-` is standard input.
    pub(crate) fn read(path: &Path) -> Result<From> {
        let (text, name) = document(path)?;
        let fixes = Fixes::read(&text, &name)?;
        let check = match fixes.schema == check::SCHEMA {
            true => {
                let wanted = || format!("{name} is not a document of `whylate check --json`");
                Some(serde_json::from_str(&text).with_context(wanted)?)
            }
            false => None,
        };
        let late = late_threads(&text);
        Ok(From { fixes, check, late })
    }

    /// The fixes with these numbers; without numbers the first of each finding that can be made.
    pub(crate) fn chosen(&self, numbers: &[usize], host: &Snapshot) -> Result<DesiredState> {
        Ok(self.fixes.choose(numbers, host)?.desired)
    }
}

/// Of an explanation, the names of late threads that made no other thread late.
fn late_threads(text: &str) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let activations = document["activations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |value: &serde_json::Value| value["comm"].as_str().map(str::to_owned);
    let tid = |value: &serde_json::Value| value["tid"].as_i64();
    let culprits: Vec<i64> = activations.iter().filter_map(|one| tid(&one["verdict"]["by"])).collect();
    let late = activations.iter().filter(|one| tid(one).is_none_or(|own| !culprits.contains(&own)));
    let mut names: Vec<String> = Vec::new();
    for comm in late.filter_map(name) {
        if !comm.is_empty() && !names.contains(&comm) {
            names.push(comm);
        }
    }
    names
}

/// A document that has a profile's settings no fixes by number; a document of another verb needs no profile.
pub(crate) fn check_options(from: &From, has_profile: bool) -> Result<()> {
    if from.check.is_none() && has_profile {
        bail!(
            "{} names its own settings: --profile, --isolated and --set apply to documents of `whylate check`",
            from.fixes.name
        );
    }
    Ok(())
}
