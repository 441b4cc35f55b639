//! Gates of groups: each machine has to meet them.

use super::members::MachineGroup;
use crate::compare::gate::{Gate, GateAnswer};
use whylate_base::Ns;

/// How the machines of a group meet a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupGate {
    /// The place of the group.
    pub group: usize,
    /// The gate.
    pub gate: Gate,
    /// So many machines meet it.
    pub met: usize,
    /// Those that miss it, the worst first.
    pub missed: Vec<MissedBy>,
    /// Those of which it is not known, each with the reason.
    pub unknown: Vec<(String, String)>,
}

/// A machine that misses a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedBy {
    /// It.
    pub machine: String,
    /// Its worst thread.
    pub thread: String,
    /// The thread's number.
    pub value: Ns,
}

impl GroupGate {
    pub(super) fn of(at: usize, group: &MachineGroup, gate: &Gate) -> GroupGate {
        let mut judged =
            GroupGate { group: at, gate: gate.clone(), met: 0, missed: Vec::new(), unknown: Vec::new() };
        for (name, machine) in &group.machines {
            match gate.judge(&machine.run).answer {
                GateAnswer::Met(_) => judged.met += 1,
                GateAnswer::Missed { thread, value } => {
                    judged.missed.push(MissedBy { machine: name.clone(), thread, value });
                }
                GateAnswer::CannotTell(why) => judged.unknown.push((name.clone(), why)),
            }
        }
        judged.missed.sort_by(|a, b| b.value.cmp(&a.value).then_with(|| a.machine.cmp(&b.machine)));
        judged
    }
}
