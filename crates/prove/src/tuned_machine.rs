//! The machine with the change: made by a journal, and rolled back by it.

use crate::error::ProveError;
use crate::latency_request;
use crate::options::{ChangeSource, MachineAccess};
use std::fs::File;
use std::time::Duration;
use whylate_host::Snapshot;
use whylate_profiles::DesiredState;
use whylate_tuning::{
    ApplyStep, ClockReading, FailurePolicy, Journal, JournalEntry, JournalError, JournalStore, LiveSystem,
    Plan, PlannedStep, RunContext, SessionKind, SessionOutcome, StepProgress, StoreLock, System, Timestamp,
};

/// What the journals of a proof are made of begins with this: by it a killed proof is known.
const MARK: &str = "prove: ";
/// A change that a killed proof left, and that no process restored, counts as not confirmed from then on: `whylate
/// apply --boot` rolls it back.
const UNCONFIRMED_AFTER: Duration = Duration::from_secs(600);

/// How long the reapplying at boot is waited for.
const BOOT_PATIENCE: Duration = Duration::from_secs(120);

/// What of a change is in effect; nothing by default.
#[derive(Default)]
pub(crate) struct Applied {
    journals: Vec<Journal>,
    /// Held open for as long as the change is in effect.
    _request: Option<File>,
}

/// The machine, with the right to change it: no other whylate changes it meanwhile.
pub struct TunedMachine<'a> {
    pub(crate) access: MachineAccess<'a>,
    pub(crate) lock: StoreLock,
    change: ChangeSource<'a>,
}

impl<'a> TunedMachine<'a> {
    /// Takes the right to change the machine. Changes of earlier proofs that were killed are rolled back first; their
    /// numbers are returned.
    ///
    /// # Errors
    /// Another program has that right, or another apply is not whole or waits to be confirmed.
    pub fn open(access: MachineAccess<'a>, change: ChangeSource<'a>) -> Result<(Self, Vec<u64>), ProveError> {
        TunedMachine::open_with(access, change, &[], Duration::ZERO)
    }

    /// The same to go on with a proof across reboots: applies of these numbers are its own, and need not be whole. What else changes
    /// the machine at boot is waited for.
    ///
    /// # Errors
    /// As [`TunedMachine::open`].
    pub fn reopen(
        access: MachineAccess<'a>,
        change: ChangeSource<'a>,
        own: &[u64],
    ) -> Result<Self, ProveError> {
        TunedMachine::open_with(access, change, own, BOOT_PATIENCE).map(|(machine, _)| machine)
    }

    fn open_with(
        access: MachineAccess<'a>,
        change: ChangeSource<'a>,
        own: &[u64],
        patience: Duration,
    ) -> Result<(Self, Vec<u64>), ProveError> {
        let lock = access.store.lock_within("whylate prove", patience)?;
        let restored = left_over(access.store)?;
        for id in &restored {
            undo_left_over(access.system, access.store, &lock, *id)?;
        }
        let unfinished = whylate_tuning::unfinished(access.store)?;
        if let Some(entry) = unfinished.filter(|entry| !own.contains(&entry.id)) {
            return Err(ProveError::Change(format!(
                "apply {} is {}: finish it with `whylate apply --resume`, or undo it with `whylate rollback`, first",
                entry.id,
                entry.status().words()
            )));
        }
        let waiting = access.store.readable()?.entries.into_iter().find(JournalEntry::is_unconfirmed);
        if let Some(entry) = waiting {
            return Err(ProveError::Change(format!(
                "apply {} waits to be confirmed, and would be undone meanwhile: run `whylate confirm` or `whylate rollback` first",
                entry.id
            )));
        }
        Ok((TunedMachine { access, lock, change }, restored))
    }

    /// The plan of the change on the machine as it is now.
    ///
    /// # Errors
    /// It cannot be made now, which may be because a program does not run yet.
    pub(crate) fn plan(&self) -> Result<Plan, String> {
        let tree = self.access.system.tree();
        let host = Snapshot::read(&tree);
        let desired = (self.change)(&tree, &host)?;
        Ok(whylate_tuning::plan(desired, &tree, &host, self.access.allowed))
    }

    /// Makes a change, or what is left of it to be made; nothing where the plan has no change.
    ///
    /// # Errors
    /// It cannot be made. What was made of it is rolled back.
    pub(crate) fn apply(&self, plan: &Plan, applied: &mut Applied) -> Result<(), ProveError> {
        if plan.changes.is_empty() {
            return Ok(());
        }
        refuse(plan)?;
        if applied._request.is_none() {
            applied._request = latency_request::hold(plan)?;
        }
        let steps = whylate_tuning::runtime_steps(plan, self.access.system)?;
        if steps.is_empty() {
            return Ok(());
        }
        let mut journal = self.access.store.create(&self.lock, &marked(plan))?;
        whylate_tuning::arm(&mut journal, ClockReading::now(), UNCONFIRMED_AFTER)?;
        let context = context(self.access.system);
        let made =
            whylate_tuning::apply(&mut journal, SessionKind::Apply, &steps, FailurePolicy::Stop, &context);
        let failed = match made {
            Ok(SessionOutcome::Complete) => None,
            Ok(_) => Some(reasons(journal.entry())),
            Err(error) => Some(error.to_string()),
        };
        applied.journals.push(journal);
        match failed {
            None => Ok(()),
            Some(why) => {
                let undone = self.undo(std::mem::take(applied));
                let and =
                    undone.err().map_or_else(|| "it is rolled back".to_owned(), |error| error.to_string());
                Err(ProveError::Apply(format!("the change cannot be made: {why}; {and}")))
            }
        }
    }

    /// Rolls a change back, the last part first.
    ///
    /// # Errors
    /// Something of it is still in effect: what, and what to do.
    pub(crate) fn undo(&self, applied: Applied) -> Result<(), ProveError> {
        let context = context(self.access.system);
        let mut failed = Vec::new();
        for mut journal in applied.journals.into_iter().rev() {
            let undone = whylate_tuning::rollback(&mut journal, false, &context);
            if undone.outcome != SessionOutcome::Complete {
                failed.push(not_restored(journal.entry()));
            }
        }
        match failed.is_empty() {
            true => Ok(()),
            false => Err(ProveError::Apply(failed.join("; "))),
        }
    }

    /// Applies the change to stay, as `whylate apply` does; the number of the apply.
    ///
    /// # Errors
    /// It cannot be made. What was made of it is rolled back.
    pub(crate) fn keep(&self) -> Result<u64, ProveError> {
        let plan = self.plan().map_err(ProveError::Change)?;
        refusals(&plan)?;
        let steps = whylate_tuning::steps(&plan, self.access.store.next_id()?, self.access.system)?;
        self.make(&plan, &steps)
    }

    /// Makes steps by a journal of their own, to stay; its number.
    ///
    /// # Errors
    /// They cannot be made. What was made of them is rolled back.
    pub(crate) fn make(&self, plan: &Plan, steps: &[ApplyStep]) -> Result<u64, ProveError> {
        let mut journal = self.access.store.create(&self.lock, plan)?;
        let context = context(self.access.system);
        let made =
            whylate_tuning::apply(&mut journal, SessionKind::Apply, steps, FailurePolicy::Stop, &context);
        let why = match made {
            Ok(SessionOutcome::Complete) => return Ok(journal.entry().id),
            Ok(_) => reasons(journal.entry()),
            Err(error) => error.to_string(),
        };
        let undone = whylate_tuning::rollback(&mut journal, false, &context);
        let and = match undone.outcome {
            SessionOutcome::Complete => "it is rolled back".to_owned(),
            _ => not_restored(journal.entry()),
        };
        Err(ProveError::Apply(format!("the change cannot be made to stay: {why}; {and}")))
    }

    /// Rolls an apply back.
    ///
    /// # Errors
    /// Something of it is still in effect: what, and what to do.
    pub(crate) fn undo_apply(&self, id: u64) -> Result<(), ProveError> {
        undo_left_over(self.access.system, self.access.store, &self.lock, id)
    }
}

impl Applied {
    /// Whether something was made.
    pub(crate) fn is_something(&self) -> bool {
        !self.journals.is_empty() || self._request.is_some()
    }
}

/// The applies of proofs that are still in effect: those were killed. Last first.
pub(crate) fn left_over(store: &JournalStore) -> Result<Vec<u64>, JournalError> {
    let entries = store.readable()?.entries;
    let is_ours = |entry: &&JournalEntry| {
        entry.is_unconfirmed() && entry.profile().is_some_and(|profile| profile.starts_with(MARK))
    };
    Ok(entries.iter().rev().filter(is_ours).map(|entry| entry.id).collect())
}

/// Rolls back what a killed proof left.
pub(crate) fn undo_left_over(
    system: &LiveSystem,
    store: &JournalStore,
    lock: &StoreLock,
    id: u64,
) -> Result<(), ProveError> {
    let mut journal = store.open(lock, id)?;
    let undone = whylate_tuning::rollback(&mut journal, false, &context(system));
    match undone.outcome {
        SessionOutcome::Complete => Ok(()),
        _ => Err(ProveError::Apply(not_restored(journal.entry()))),
    }
}

/// Why a plan cannot be measured by turns; `Ok`: it can. Kernel parameters are measured across reboots.
pub(crate) fn refuse(plan: &Plan) -> Result<(), ProveError> {
    let of_boot: Vec<String> = plan
        .changes
        .iter()
        .filter(|change| change.setting.is_of_files())
        .map(|change| change.setting.to_string())
        .collect();
    if !of_boot.is_empty() {
        return Err(ProveError::Change(format!(
            "refused: {} counts from the next boot on, and a proof makes its change many times: measure it in the lab, in two \
             guests, one of them with --append (`whylate lab exec --kernel NAME --append PARAMETERS --no-record -- /whylate measure \
             --json`), and compare both documents with `whylate compare`; measure kernel parameters here with --across-reboots; or \
             leave them out with --skip-kernel-parameters",
            of_boot.join(", ")
        )));
    }
    refusals(plan)
}

/// Why a plan cannot be applied, whatever is measured; `Ok`: it can.
pub(crate) fn refusals(plan: &Plan) -> Result<(), ProveError> {
    let is_root = rustix::process::geteuid().is_root();
    let not_root = whylate_tuning::without_root(plan, is_root);
    let refusals: Vec<String> = plan
        .refusals
        .iter()
        .chain(&not_root)
        .map(|refusal| format!("refused[{}]: {}; {}", refusal.code, refusal.why, refusal.fix))
        .collect();
    match refusals.is_empty() {
        true => Ok(()),
        false => Err(ProveError::Change(refusals.join("\n"))),
    }
}

pub(crate) fn marked(plan: &Plan) -> Plan {
    let profile = format!("{MARK}{}", plan.desired.profile);
    Plan { desired: DesiredState { profile, ..plan.desired.clone() }, ..plan.clone() }
}

/// Nothing stops a change half way: it is made, or rolled back.
fn context(system: &LiveSystem) -> RunContext<'_> {
    RunContext { system, now: &Timestamp::now, stop: &|| false, notify: &|_: &PlannedStep| {} }
}

fn reasons(entry: &JournalEntry) -> String {
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let failed = steps.filter(|step| step.progress == StepProgress::Failed);
    let why: Vec<&str> = failed.filter_map(|step| step.why.as_deref()).collect();
    if why.is_empty() { "a step failed".to_owned() } else { why.join("; ") }
}

fn not_restored(entry: &JournalEntry) -> String {
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let why: Vec<String> = steps
        .filter_map(|step| {
            let (back, why) = step.back.as_ref()?;
            (!back.is_settled())
                .then(|| format!("{}: {}", step.planned.target, why.as_deref().unwrap_or("not restored")))
        })
        .collect();
    format!(
        "apply {} is not rolled back whole: {}; see `whylate history`, then `whylate rollback`",
        entry.id,
        why.join("; ")
    )
}
