//! Applies, resumes and rollbacks on the machine, with a clock that stands.

use super::root::Machine;
use whylate_profiles::DesiredState;
use whylate_tuning::{
    ApplyStep, FailurePolicy, FaultInjector, Journal, JournalError, Plan, PlannedStep, RollbackReport,
    RunContext, SessionKind, SessionOutcome, System, Timestamp, apply, resume, rollback,
};

/// Runs something of the engine on a machine, with a clock that stands.
pub(crate) fn run<T>(system: &dyn System, work: impl FnOnce(&RunContext<'_>) -> T) -> T {
    work(&RunContext { system, now: &|| Timestamp(1_000), stop: &|| false, notify: &|_: &PlannedStep| {} })
}

pub(crate) fn plan() -> Plan {
    Plan { desired: DesiredState { profile: "test".into(), ..DesiredState::default() }, ..Plan::default() }
}

/// Applies steps; an error means that a fault interrupted it, or that the journal could not be written.
pub(crate) fn applied(
    machine: &Machine,
    faults: &FaultInjector,
    steps: &[ApplyStep],
) -> Result<SessionOutcome, JournalError> {
    applied_with(machine, faults, steps, FailurePolicy::Stop)
}

/// The same with what is to happen at a failed step.
pub(crate) fn applied_with(
    machine: &Machine,
    faults: &FaultInjector,
    steps: &[ApplyStep],
    policy: FailurePolicy,
) -> Result<SessionOutcome, JournalError> {
    let store = machine.store(faults);
    let lock = store.lock("whylate apply")?;
    let mut journal = store.create(&lock, &plan())?;
    run(&machine.system(faults), |run| apply(&mut journal, SessionKind::Apply, steps, policy, run))
}

/// Goes on with the last apply.
pub(crate) fn resumed(machine: &Machine, faults: &FaultInjector) -> Result<SessionOutcome, JournalError> {
    with_last(machine, faults, |journal| {
        run(&machine.system(faults), |run| resume(journal, FailurePolicy::Stop, run))
    })?
}

/// Rolls the last apply back, with whatever standing it has.
pub(crate) fn rolled_back(
    machine: &Machine,
    faults: &FaultInjector,
    force: bool,
) -> Result<RollbackReport, JournalError> {
    with_last(machine, faults, |journal| run(&machine.system(faults), |run| rollback(journal, force, run)))
}

fn with_last<T>(
    machine: &Machine,
    faults: &FaultInjector,
    work: impl FnOnce(&mut Journal) -> T,
) -> Result<T, JournalError> {
    let store = machine.store(faults);
    let lock = store.lock("whylate rollback")?;
    let id = store.ids()?.last().copied().ok_or(JournalError::NoSuch { id: 0 })?;
    Ok(work(&mut store.open(&lock, id)?))
}
