//! The sentences and cells of worst cases, which all formats share.

use crate::words;
use whylate_base::Ns;
use whylate_simulate::worst_case::{Contributor, WorstCase};

/// The columns of a worst case's parts.
pub(super) const COLUMNS: [&str; 5] = ["by", "in the worst seen", "worst case", "share", "bound without it"];

/// The heading of a thread's worst case.
pub(super) fn heading(worst: &WorstCase) -> String {
    format!("Worst case of {}", words::clean(&worst.name))
}

/// `seen 61 us in 1,000 jobs; these 5 coincide at 143 us`
pub(super) fn sentence(worst: &WorstCase) -> String {
    let jobs = words::plural(worst.jobs, "job");
    match &worst.bound {
        Ok(bound) => {
            format!("seen {} in {jobs}; these {} coincide at {bound}", worst.seen, worst.contributors.len())
        }
        Err(reason) => format!("cannot tell: {reason} (seen {} in {jobs})", worst.seen),
    }
}

/// What statistics alone support.
pub(super) fn claim(worst: &WorstCase) -> Option<String> {
    if worst.jobs == 0 {
        return None;
    }
    let fitted = match &worst.fitted {
        Ok(Some(level)) => format!(
            "by the fit of the tail one job in a million takes more than {level} at most, if there is no rarer cause"
        ),
        Ok(None) => "the fit of the tail allows any response".to_owned(),
        Err(refusal) => format!("the tail is not fitted: {refusal}"),
    };
    Some(format!(
        "statistics: a job may take longer than all {} that were seen with a probability of up to {:.2} % (95 % confidence); \
         {fitted}",
        words::count(worst.jobs),
        worst.longer_at_most * 100.0
    ))
}

/// The cells of [`COLUMNS`], behind the cause.
pub(super) fn cells(worst: &WorstCase, part: &Contributor) -> [String; 5] {
    let all: Ns = worst.contributors.iter().map(|part| part.time).sum();
    [
        part.by.as_ref().map_or_else(|| "-".to_owned(), |by| words::clean(by)),
        part.in_worst_seen.to_string(),
        part.time.to_string(),
        words::percent(part.time.0 as f64 / all.0.max(1) as f64),
        words::known(part.bound_without),
    ]
}

/// What to fix first.
pub(super) fn first(worst: &WorstCase) -> Option<String> {
    let part = worst.contributors.get(worst.first?)?;
    let by = part.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    let without =
        part.bound_without.map_or_else(String::new, |bound| format!(": the bound is {bound} without it"));
    let fix = match part.fix.first() {
        Some(fix) => format!("; {}", fix.text),
        None => format!("; see whylate explain --code {}", part.cause),
    };
    Some(format!("fix first: {}{by}{without}{fix}", part.cause))
}
