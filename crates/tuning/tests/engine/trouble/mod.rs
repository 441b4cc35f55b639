//! What may go wrong: refusals, other programs, torn journals, reboots.

mod access;
mod boots;
mod damaged_journals;
mod drift;
mod refusals;

use crate::machine::Machine;
use whylate_tuning::{FaultInjector, JournalEntry, Verification, verify};

const SWAPPINESS: &str = "/proc/sys/vm/swappiness";
const KSM: &str = "/sys/kernel/mm/ksm/run";
const OWN: &str = "/etc/sysctl.d/10-own.conf";

fn no_faults() -> FaultInjector {
    FaultInjector::default()
}

fn entry(machine: &Machine, id: u64) -> JournalEntry {
    machine.store(&no_faults()).load(id).expect("the journal can be read")
}

fn verified(machine: &Machine) -> Verification {
    verify(&machine.store(&no_faults()), &machine.system(&no_faults())).expect("the journals can be read")
}

fn nothing() -> Vec<String> {
    Vec::new()
}
