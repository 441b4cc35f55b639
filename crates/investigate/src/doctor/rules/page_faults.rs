//! What the rules about page faults share: which faults are in the real-time path, their lines and their findings.

use super::lines::{Line, Placed, by_line};
use crate::doctor::facts::{Fault, FaultCause, Observation, RealTimePath};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Ns, Severity};
use whylate_events::StackId;

impl Placed for Fault {
    fn stack(&self) -> Option<StackId> {
        Some(self.stack)
    }

    fn duration(&self) -> Option<Ns> {
        None
    }
}

/// What a rule reports of the faults of one cause.
pub(super) struct FaultMistake {
    pub(super) code: &'static str,
    pub(super) cause: FaultCause,
    /// Where or when they happen, as the title has it behind their count: `as its stack grows`.
    pub(super) place: &'static str,
    /// Why there are such faults; why they matter is [`COST`].
    pub(super) why: &'static str,
    pub(super) fix: &'static [&'static str],
}

impl FaultMistake {
    /// A finding for each line with such faults in the real-time path.
    pub(super) fn find(&self, observation: &Observation) -> Vec<DoctorFinding> {
        let finding = |line: &Line<'_, Fault>| {
            let title = format!("{}: {} {}", line.name(), count(line), self.place);
            line.finding(self.code, Severity::Warning, title)
                .because(format!("{}: {COST}", self.why))
                .fix(self.fix)
        };
        of_cause(observation, self.cause).iter().map(finding).collect()
    }
}

/// The faults of one cause in the real-time path, by line.
///
/// The first round of a loop loads its code and constants: what is read from files then is part of the start-up, unless
/// a device was read.
fn of_cause(observation: &Observation, cause: FaultCause) -> Vec<Line<'_, Fault>> {
    let is_from_file = matches!(cause, FaultCause::File | FaultCause::CopyOnWrite);
    let counts = |path: &RealTimePath, fault: &Fault| {
        path.contains(fault.time) && (!is_from_file || fault.is_major || fault.time >= path.warm)
    };
    let faults = observation.faults.iter().filter(|fault| fault.cause == Some(cause)).filter_map(|fault| {
        let thread = observation.threads.get(&fault.tid).filter(|thread| thread.wants_realtime())?;
        thread.path.filter(|path| counts(path, fault)).map(|_| (thread, fault))
    });
    by_line(observation, faults)
}

/// `3 page faults`, `1 page fault, 1 of them from a device`.
fn count(line: &Line<'_, Fault>) -> String {
    let all = line.items.len();
    let major = line.items.iter().filter(|fault| fault.is_major).count();
    let from_device = if major > 0 { format!(", {major} of them from a device") } else { String::new() };
    format!("{all} page fault{}{from_device}", if all == 1 { "" } else { "s" })
}

/// Why every fault matters.
const COST: &str = "a page fault enters the kernel, takes locks of the address space that other threads may hold, \
     and clears or copies a page: microseconds at best, milliseconds where memory is short or a device is read";
