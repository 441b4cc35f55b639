//! `--write-profile FILE`: a proposal as a profile that `whylate plan` takes.

use crate::atomic_file;
use crate::output::message;
use anyhow::Result;
use std::fmt::Write as _;
use std::path::Path;
use whylate_simulate::SimulationReport;
use whylate_simulate::propose::{HeldBy, Proposal, ProposalOutcome, ProposedTask};

/// Writes the profile to `file`, if one is asked for. Where nothing is proposed it says so, and leaves the file as it is.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(file: Option<&Path>, report: &SimulationReport) -> Result<()> {
    let Some((file, proposal)) = file.zip(report.proposal.as_ref()) else { return Ok(()) };
    let why = match &proposal.outcome {
        ProposalOutcome::Found { by, .. } => {
            let text = text(proposal, *by);
            atomic_file::write(file, |out| Ok(out.write_all(text.as_bytes())?))?;
            return Ok(());
        }
        ProposalOutcome::HoldsAlready(_) => "all deadlines are held as it is",
        ProposalOutcome::NotFound { .. } => "nothing was found that holds all deadlines",
        ProposalOutcome::Interrupted => "it was interrupted before anything was found",
    };
    message!("whylate: {} is not written: {why}", file.display());
    Ok(())
}

fn text(proposal: &Proposal, by: HeldBy) -> String {
    let how = match by {
        HeldBy::Bound => "by a bound",
        HeldBy::Run => "in a simulated run",
    };
    let mut text = format!(
        "# Written by `whylate simulate --propose`: all deadlines are held {how}.\nsummary = \"Priorities and CPUs that hold all \
         deadlines\"\n\n[threads]\n"
    );
    for task in &proposal.tasks {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} = {}", quoted(&task.name), entry(task));
    }
    text
}

fn entry(task: &ProposedTask) -> String {
    let after = &task.after;
    let cpus = match after.cpus.is_empty() {
        true => String::new(),
        false => format!(", cpus = {}", quoted(&after.cpus.to_string())),
    };
    let policy = format!("{} {}", task.policy.name(), after.priority);
    let why = format!("Its deadline is {}.", task.deadline);
    format!("{{ policy = {}{cpus}, why = {} }}", quoted(&policy), quoted(&why))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
