//! `whylate explain`

use super::runs;
use crate::args::{ExplainArgs, Selection};
use crate::exit_status::ExitStatus;
use crate::output;
use crate::output::message;
use crate::report::Destination;
use anyhow::{Result, anyhow, bail};
use std::path::Path;
use whylate_events::EventSource;
use whylate_intake::OpenError;
use whylate_ledger::{Cause, Explanation, explain, finding_codes, finding_page};

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    if let Some(code) = &args.code {
        return print_page(code);
    }
    let Some(file) = &args.file else { bail!("which trace? give a file, or - for standard input") };
    let destination = Destination::of::<Explanation>(&args.output, std::slice::from_ref(file))?;
    let source = open(file)?;
    let explanation = explain(source, &args.selection.options());
    answer(&explanation, &args.selection, &destination)
}

/// The trace in a file; of a measurement the error names the verbs that read it.
fn open(file: &Path) -> Result<Box<dyn EventSource>> {
    opened(file).map_err(|error| match (&error, file.to_str()) {
        (OpenError::NoEvents { .. } | OpenError::Binary { .. }, Some(name)) if name != "-" => {
            runs::is_measurement(file).map_or_else(|| error.into(), |what| anyhow!("{what}"))
        }
        _ => error.into(),
    })
}

fn opened(file: &Path) -> Result<Box<dyn EventSource>, OpenError> {
    match file.to_str() {
        Some("-") => whylate_intake::open_stdin(whylate_ledger::WANTED),
        _ => whylate_intake::open(file, whylate_ledger::WANTED),
    }
}

/// Writes an explanation to where it was asked for.
pub(crate) fn answer(
    explanation: &Explanation,
    selection: &Selection,
    destination: &Destination<'_>,
) -> Result<ExitStatus> {
    destination.write(explanation)?;
    if !explanation.concludes() {
        return no_tasks(explanation, selection);
    }
    Ok(ExitStatus::of(&explanation.findings, selection.fail_on.into()))
}

/// No thread was there to explain: the user's choice matched none, or the trace has none.
fn no_tasks(explanation: &Explanation, selection: &Selection) -> Result<ExitStatus> {
    let blind = explanation.missing.iter().any(|missing| missing.kind == whylate_events::Kind::Switch);
    if blind || explanation.trace.events == 0 {
        message!("whylate: cannot tell: the trace has no sched_switch events");
    } else if selection.tasks.is_empty() {
        message!(
            "whylate: no thread to explain: the trace has no real-time thread but the kernel's own; \
             choose others with --task COMM|TID"
        );
    } else {
        message!(
            "whylate: no thread to explain: none of the trace is called {}",
            selection.tasks.join(" or ")
        );
    }
    Ok(ExitStatus::CannotTell)
}

fn print_page(code: &str) -> Result<ExitStatus> {
    if code == "list" {
        let causes = Cause::ALL.iter().map(|cause| cause.code());
        let list: String = causes.chain(finding_codes()).map(|code| format!("{code}\n")).collect();
        output::print(&list)?;
    } else if let Some(page) = finding_page(code) {
        output::print(page)?;
    } else {
        bail!("`{code}` is neither a cause nor a finding; `whylate explain --code list` names them all");
    }
    Ok(ExitStatus::Done)
}
