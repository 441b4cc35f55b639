//! Output to a terminal, to standard output or to the system log in the real-time path.

use super::lines::Mistake;
use super::purpose::{is_logging, is_name_resolution};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Descriptor, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "terminal-output", page: page!("terminal-output"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "writes to standard output, a terminal or the log in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    if is_logging(observation, call)
        && matches!(call.call, C::SendTo | C::SendMsg | C::Connect | C::Write | C::Writev)
    {
        return true;
    }
    let writes = matches!(call.call, C::Write | C::Writev | C::Pwrite | C::Pwritev);
    writes && !is_name_resolution(observation, call) && is_output(observation, call)
}

/// Standard output and standard error are a terminal, or whatever stands in for one: none of them is made for a loop
/// with a deadline.
fn is_output(observation: &Observation, call: &Call) -> bool {
    let descriptor = observation.descriptor(call.tid, call.fd(), call.start);
    matches!(call.fd(), 1 | 2) || matches!(descriptor, Some(Descriptor::Terminal(_)))
}

const WHY: &str = "a terminal, a pipe and the log take what is written at their reader's pace: a window that is scrolled, a serial line or a stopped reader stops the thread";

const FIX: &[&str] = &[
    "put the text into a ring buffer in memory, and write it from a thread that is not real-time",
    "count events in the loop, and print the counts after it",
];
