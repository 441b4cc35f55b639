//! Reads of a clock that steps with the tick.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{CoarseRead, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "coarse-clock", page: page!("coarse-clock"), needs: Needs::Files, find };

/// Whether the code runs in the loop, and what the time is for, is not seen.
fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let reads = observation.coarse_reads.iter();
    reads
        .map(|CoarseRead { clock, location }| {
            let title = format!("the program reads {clock}, which steps once in a tick");
            DoctorFinding::new(RULE.code, Severity::Info, title)
                .at(Some(location.clone()))
                .because(WHY)
                .fix(FIX)
        })
        .collect()
}

const WHY: &str = "a coarse clock shows the time of the last tick, 1 to 10 ms ago (CONFIG_HZ; clock_getres(2) names it): a shorter span \
     is 0 or a whole tick, and a deadline that is computed from it is early by as much. For time stamps of messages it is \
     good enough";

const FIX: &[&str] = &[
    "CLOCK_MONOTONIC for spans and deadlines: where the vDSO reads it, it costs some 20 to 50 ns (`whylate bench clock`)",
];

#[cfg(test)]
mod tests {
    use crate::doctor::facts::CoarseRead;
    use crate::doctor::made_up::{found, program};
    use whylate_base::{Policy, SourceLocation};

    #[test]
    fn each_place_is_a_finding() {
        let read = |line| CoarseRead {
            clock: "CLOCK_MONOTONIC_COARSE",
            location: SourceLocation { line: Some(line), ..SourceLocation::default() },
        };
        let mut observation = program(&[(11, Policy::Fifo, 50)]);
        assert_eq!(found(&observation), []);
        observation.coarse_reads = vec![read(3), read(9)];
        assert_eq!(found(&observation), [("coarse-clock", Some(3)), ("coarse-clock", Some(9))]);
    }
}
