//! Threads and processes that the real-time path starts.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "start-in-loop", page: page!("start-in-loop"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "starts threads or processes in its loop",
    why: WHY,
    fix: FIX,
};

/// Fewer may be of a program that starts its threads one after the other, with pauses.
const ENOUGH: usize = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls =
        observation.path_calls().filter(|(_, call)| starts(call) && call.ret.is_some_and(|id| id > 0));
    let lines = by_line(observation, calls);
    lines.iter().filter(|line| line.items.len() >= ENOUGH).map(|line| MISTAKE.at(line)).collect()
}

/// True for a call that makes a thread or a process.
pub(super) fn starts(call: &Call) -> bool {
    use SystemCall as C;
    matches!(call.call, C::Clone | C::Clone3 | C::Fork | C::Vfork)
}

const WHY: &str = "a new thread takes memory for its stack and its kernel data, and a new process a copy of the page tables, under \
     locks that all processes share: from tens of microseconds to milliseconds; what it does first, such as touching its stack \
     or loading libraries, faults; and after fork() each page that the real-time thread writes is copied";

const FIX: &[&str] = &[
    "start the threads before the loop, and let them wait for work (a condition variable, an eventfd)",
    "hand what needs another program to a thread that is not real-time, started before",
];

#[cfg(test)]
mod tests {
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::facts::Call;
    use crate::doctor::made_up::{call, found, program, repeat};
    use whylate_base::{Policy, Tid};

    #[test]
    fn starts_that_come_back_are_found() {
        let start = Call { ret: Some(77), ..call(11, C::Clone3, &[], 7) };
        for (what, calls, expected) in [
            ("threads", repeat(start, 3), true),
            ("processes", repeat(Call { call: C::Vfork, ..start }, 3), true),
            ("two at the start", repeat(start, 2), false),
            ("refused", repeat(Call { ret: Some(-11), ..start }, 9), false),
            ("by a thread that is not real-time", repeat(Call { tid: Tid(12), ..start }, 9), false),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Other, 0)]);
            observation.calls = calls;
            let expected: &[_] = if expected { &[("start-in-loop", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{what}");
        }
    }
}
