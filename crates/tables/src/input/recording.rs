//! The rows of a recording, which the ledger explains.

use super::documents::recording_facts;
use crate::error::TablesError;
use crate::options::{MOST_LATE, TableOptions};
use crate::rows::{Rows, RunFacts};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use whylate_ledger::{Options, Select, WANTED, explain_any, explain_each};
use whylate_report::explain::json::document::{Activation, Document};

/// Explains a recording as `whylate explain` does, and with `all` once more for the activations that are not among the worst.
pub(super) fn rows(
    path: &Path,
    options: &TableOptions,
    run: &mut RunFacts,
    rows: &mut Rows<'_>,
) -> Result<(), TablesError> {
    let failed = |error: io::Error| TablesError::Write { path: path.to_owned(), error };
    let open = || whylate_intake::open(path, WANTED);
    let worst = options.explain.worst;
    let kept = if options.explain.deadline.is_some() { worst.max(MOST_LATE) } else { worst };
    let asked = Options { worst: kept, ..options.explain.clone() };
    let explanation = explain_any(open()?, &asked, || open().map(Some))?;
    let mut document = Document::from(&explanation);
    drop(explanation);
    if let Some(deadline) = options.explain.deadline {
        let mut seen: HashMap<i32, usize> = HashMap::new();
        document.activations.retain(|activation| {
            let seen = seen.entry(activation.tid).or_default();
            *seen += 1;
            *seen <= worst || activation.response_ns > deadline.0
        });
    }
    recording_facts(&document, run, rows);
    rows.explanation(&document).map_err(failed)?;
    if options.all {
        others(path, options, &document, rows).map_err(failed)?
    }
    Ok(())
}

/// What tells an activation apart.
fn key(activation: &Activation) -> (i32, i64, i64) {
    (activation.tid, activation.due_ns, activation.response_ns)
}

/// The activations that are not in the document: their ledgers, without a verdict.
fn others(path: &Path, options: &TableOptions, document: &Document, rows: &mut Rows<'_>) -> io::Result<()> {
    let there: HashSet<_> = document.activations.iter().map(key).collect();
    // Where no thread was asked for, those that were explained: they may be whylate's choice.
    let tasks = if document.candidates.is_some() {
        document.tasks.iter().map(|task| Select::Tid(whylate_base::Tid(task.tid))).collect()
    } else {
        options.explain.tasks.clone()
    };
    let source = whylate_intake::open(path, WANTED).map_err(io::Error::other)?;
    let asked = Options { tasks, worst: 1, ..options.explain.clone() };
    let mut outcome = Ok(());
    let mut each = |activation: &whylate_ledger::Activation| {
        if outcome.is_ok() {
            let activation = whylate_report::explain::json::activation(activation);
            if !there.contains(&key(&activation)) {
                outcome = rows.activation(&activation, false);
            }
        }
    };
    explain_each(source, &asked, &mut each);
    outcome
}
