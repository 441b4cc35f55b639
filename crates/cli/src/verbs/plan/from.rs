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
        Ok(From { fixes, check })
    }

    /// The fixes with these numbers; without numbers the first of each finding that can be made.
    pub(crate) fn chosen(&self, numbers: &[usize], host: &Snapshot) -> Result<DesiredState> {
        Ok(self.fixes.choose(numbers, host)?.desired)
    }
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
