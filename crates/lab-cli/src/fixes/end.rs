//! A run before and after a fix, compared.

use super::Lateness;
use schemars::JsonSchema;
use serde::Serialize;

/// What became of the lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FixEnd {
    /// No job is late, and no finding is new that reports a starving thread.
    Gone,
    /// At most half as many jobs are late, some of them by the old cause.
    Less,
    /// The late jobs have other causes than before, or another thread starves now.
    Moved,
    /// As many are late, by the old cause.
    Unchanged,
    /// More jobs are late, or by more.
    Worse,
    /// The fix cannot be made on that machine.
    NotMade,
    /// No setting is advised, and there is no mended twin of the program.
    ByHand,
    /// Nothing was late before.
    NotProvoked,
    /// The guest failed.
    NoRun,
}

/// The finding of a thread that gets no CPU time any more.
const STARVED: &str = "starved";
/// More late jobs count as worse from this factor on, and a longer response from this one.
const MORE: f64 = 1.25;
const LONGER: f64 = 1.5;

/// Compares a run with the one after the fix.
pub fn compare(before: &Lateness, after: &Lateness) -> FixEnd {
    let starves = |lateness: &Lateness| lateness.findings.iter().any(|code| code == STARVED);
    if after.late == 0 {
        return if starves(after) && !starves(before) { FixEnd::Moved } else { FixEnd::Gone };
    }
    let longer = after.worst_ns.0 as f64 > LONGER * before.worst_ns.0 as f64;
    // One late job more is chance.
    let more = after.share() > MORE * before.share() && after.late > before.late + 1;
    if longer || more {
        return FixEnd::Worse;
    }
    let known = |cause: &str| before.causes.iter().any(|count| count.cause == cause);
    if !after.causes.is_empty() && after.causes.iter().all(|count| !known(&count.cause)) {
        return FixEnd::Moved;
    }
    if after.share() <= before.share() / 2.0 { FixEnd::Less } else { FixEnd::Unchanged }
}

impl FixEnd {
    /// The word that users read.
    pub fn word(self) -> &'static str {
        match self {
            FixEnd::Gone => "gone",
            FixEnd::Less => "less",
            FixEnd::Moved => "moved",
            FixEnd::Unchanged => "unchanged",
            FixEnd::Worse => "WORSE",
            FixEnd::NotMade => "not made",
            FixEnd::ByHand => "by hand",
            FixEnd::NotProvoked => "not provoked",
            FixEnd::NoRun => "no run",
        }
    }

    /// True where a fix was made, and its effect is known.
    pub fn is_judged(self) -> bool {
        matches!(self, FixEnd::Gone | FixEnd::Less | FixEnd::Moved | FixEnd::Unchanged | FixEnd::Worse)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CauseCount;
    use super::*;
    use whylate_base::Ns;

    fn lateness(late: u64, worst: i64, cause: &str, findings: &[&str]) -> Lateness {
        let causes = (late > 0).then(|| CauseCount { cause: cause.to_owned(), by: None, jobs: late });
        Lateness {
            jobs: 200,
            late,
            by_host: 0,
            worst_ns: Ns(worst),
            causes: causes.into_iter().collect(),
            findings: findings.iter().map(|&code| code.to_owned()).collect(),
        }
    }

    #[test]
    fn what_became_of_the_lateness() {
        let before = lateness(8, 3_000, "irq", &["irq"]);
        for (late, worst, cause, findings, expected) in [
            (0, 200, "", &[][..], FixEnd::Gone),
            (0, 200, "", &["relative-sleep"], FixEnd::Gone),
            (0, 200, "", &["starved"], FixEnd::Moved),
            (4, 2_000, "irq", &[], FixEnd::Less),
            (7, 3_000, "irq", &[], FixEnd::Unchanged),
            (9, 3_000, "irq", &[], FixEnd::Unchanged),
            (12, 3_000, "irq", &[], FixEnd::Worse),
            (1, 9_000, "irq", &[], FixEnd::Worse),
            (4, 2_000, "softirq", &[], FixEnd::Moved),
            (12, 3_000, "softirq", &[], FixEnd::Worse),
        ] {
            let after = lateness(late, worst, cause, findings);
            assert_eq!(compare(&before, &after), expected, "{after:?}");
        }
        let starving = lateness(8, 3_000, "starved", &["starved"]);
        assert_eq!(compare(&starving, &lateness(0, 200, "", &["starved"])), FixEnd::Gone);
    }
}
