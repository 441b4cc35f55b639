//! The sentences and cells of a proposal, which all formats share.

use crate::words;
use whylate_base::{CpuSet, Ns};
use whylate_simulate::propose::{HeldBy, Proposal, ProposalOutcome, ProposedTask, TaskPlace};

/// The columns of its tasks.
pub(super) const COLUMNS: [&str; 6] = ["deadline", "priority", "CPUs", "longest", "bound", "missed"];

/// The heading.
pub(super) const HEADING: &str = "Proposal";

/// What was found.
pub(super) fn sentence(proposal: &Proposal) -> String {
    let how = |by: &HeldBy| match by {
        HeldBy::Bound => "by their bounds, whatever the phases are",
        HeldBy::Run => "in this run; no analysis bounds them",
    };
    match &proposal.outcome {
        ProposalOutcome::HoldsAlready(by) => format!("all deadlines are held as it is, {}", how(by)),
        ProposalOutcome::Found { changes, by } => {
            format!("all deadlines are held with {}, {}", options(changes), how(by))
        }
        ProposalOutcome::NotFound { left } => format!(
            "no order of priorities was found that holds all deadlines: none of {} holds its own below the others; give them less \
             work, other CPUs or longer deadlines",
            left.join(", ")
        ),
        ProposalOutcome::Interrupted => "interrupted before anything was found".to_owned(),
    }
}

fn options(changes: &[String]) -> String {
    changes.iter().map(|change| format!("--set {change}")).collect::<Vec<_>>().join(" ")
}

/// Which other tasks lose by it.
pub(super) fn worse(proposal: &Proposal) -> Option<String> {
    let each = |(name, before, after): &(String, Ns, Ns)| format!("{name} {before} -> {after}");
    let all: Vec<String> = proposal.worse.iter().map(each).collect();
    (!all.is_empty()).then(|| format!("longer waits or responses of others: {}", all.join(", ")))
}

/// The cells of [`COLUMNS`], behind the name.
pub(super) fn cells(task: &ProposedTask) -> [String; 6] {
    let both = |of: fn(&TaskPlace) -> String| {
        let (before, after) = (of(&task.before), of(&task.after));
        if before == after { after } else { format!("{before} -> {after}") }
    };
    [
        task.deadline.to_string(),
        both(|place| place.priority.to_string()),
        both(|place| cpus(&place.cpus)),
        both(|place| words::known(place.worst)),
        both(|place| words::known(place.bound)),
        both(|place| words::count(place.missed)),
    ]
}

fn cpus(cpus: &CpuSet) -> String {
    if cpus.is_empty() { "all".to_owned() } else { cpus.to_string() }
}
