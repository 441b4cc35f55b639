//! `whylate explain` on recordings whose fault is known, because it was provoked on purpose
//! (`fixtures/README.md`), or explained by experts before us.

mod architectures;
mod chains;
mod options;
mod provoked;
mod published;
mod reports;

use crate::support::answer::{answer, list};
use crate::support::run::whylate;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

fn explain(file: &Path, options: &[&str]) -> (Option<i32>, Value) {
    let arguments = ["explain", "--json"].map(OsStr::new).into_iter().chain([file.as_os_str()]);
    let run = whylate(arguments.chain(options.iter().map(OsStr::new)));
    assert!(matches!(run.code, Some(0 | 1)), "{}: {run:#?}", file.display());
    (run.code, answer(&run.stdout))
}

/// The finding with this code whose title or reason has this name.
fn finding<'a>(answer: &'a Value, code: &str, name: &str) -> Option<&'a Value> {
    let has = |finding: &Value, key: &str| finding[key].as_str().is_some_and(|text| text.contains(name));
    list(&answer["findings"])
        .iter()
        .find(|&finding| finding["code"] == code && (has(finding, "title") || has(finding, "why")))
}
