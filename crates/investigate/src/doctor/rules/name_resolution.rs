//! Name resolution in the real-time path.

use super::lines::Mistake;
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "name-resolution", page: page!("name-resolution"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Error,
    does: "resolves names in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

/// The calls that take time: all others are by the way.
fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    let takes_time = [
        C::Connect,
        C::SendTo,
        C::SendMsg,
        C::SendMmsg,
        C::Poll,
        C::RecvFrom,
        C::RecvMsg,
        C::Open,
        C::Openat,
    ];
    takes_time.contains(&call.call) && is_name_resolution(observation, call)
}

const WHY: &str = "a name is looked up in files, by other programs and over the network: that takes milliseconds, and seconds where a server does not answer";

const FIX: &[&str] = &[
    "resolve names before the loop, and use the addresses",
    "where addresses change: resolve them in a thread that is not real-time",
];
