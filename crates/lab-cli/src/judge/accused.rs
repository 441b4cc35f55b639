//! The culprit of a verdict, compared with the expected ones.

use crate::label::Label;
use crate::scenario::ExpectedCulprit;
use whylate_base::{Tid, glob};
use whylate_ledger::{Culprit, softirq_name};

/// Whether a verdict names the right culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Rightly,
    /// There is a culprit, and the verdict does not name it.
    Missing,
    Wrongly,
}

/// Compares the culprit of a verdict on the thread `late` with the expected ones.
pub(crate) fn named(label: &Label, late: Tid, by: Option<&Culprit>, expected: &[String]) -> Named {
    let by = by.filter(|by| !is_itself(late, by));
    let mut known = expected.iter().filter_map(|text| ExpectedCulprit::parse(text));
    match by {
        None if expected.is_empty() || known.any(|one| one == ExpectedCulprit::NoCulprit) => Named::Rightly,
        None => Named::Missing,
        Some(by) if known.any(|one| is(label, by, one)) => Named::Rightly,
        Some(_) => Named::Wrongly,
    }
}

fn is_itself(late: Tid, by: &Culprit) -> bool {
    matches!(by, Culprit::Task { tid, .. } if *tid == late)
}

fn is(label: &Label, by: &Culprit, expected: ExpectedCulprit<'_>) -> bool {
    match (by, expected) {
        (Culprit::Task { tid, .. }, ExpectedCulprit::Part(part)) => {
            label.of_part(part).any(|member| member.tid == *tid)
        }
        (Culprit::Task { comm, .. }, ExpectedCulprit::Thread(pattern)) => glob(pattern, comm.as_str()),
        (Culprit::Irq { name, .. }, ExpectedCulprit::Irq(pattern)) => glob(pattern, name.as_str()),
        (Culprit::Softirq { vec }, ExpectedCulprit::Softirq(pattern)) => glob(pattern, softirq_name(*vec)),
        _ => false,
    }
}

/// In a few words: `rogue-high:99`, `irq 4 (ttyS0)`, `softirq NET_RX`.
pub(crate) fn name(by: &Culprit) -> String {
    match by {
        Culprit::Task { tid, comm, .. } => format!("{comm}:{tid}"),
        Culprit::Irq { irq: Some(irq), name } => format!("irq {irq} ({name})"),
        Culprit::Irq { irq: None, name } => format!("irq {name}"),
        Culprit::Softirq { vec } => format!("softirq {}", softirq_name(*vec)),
    }
}
