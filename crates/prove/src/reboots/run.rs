//! The steps of a proof across reboots. Each is on the disk before it is made: whatever cuts it off, the next boot knows.

use super::decide::{AfterRound, BootFacts, NextStep, after_round, next};
use super::record::{KeptChange, RebootPhase, RebootProof};
use super::rounds::KeptRound;
use super::store::RebootStore;
use crate::conclude::{self, summary};
use crate::error::ProveError;
use crate::judge::ProveJudgement;
use crate::meter::Meter;
use crate::options::{ProveOptions, ProveProgress};
use crate::others;
use crate::report::{ChangeOutcome, ProveReport, ProvenChange, SideEffect};
use crate::round::{Round, RoundState};
use crate::run::nothing;
use crate::side_effects::{self, failed_checks};
use crate::tuned_machine::{TunedMachine, marked, refusals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whylate_base::Ns;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredState, Selector, Skipped};
use whylate_tuning::{
    ApplyStep, Plan, Setting, StepsError, System, Timestamp, boot_id, parameter_steps, persist,
};

/// What is asked of a proof across reboots, beside what is measured.
#[derive(Clone, Debug)]
pub struct RebootRequest {
    /// The command line of `whylate prove`, without the program: a later process reads it again.
    pub arguments: Vec<String>,
    /// The directory in which it was called.
    pub directory: String,
    /// The machine may be rebooted without a question.
    pub may_reboot: bool,
}

/// How far a proof is.
#[derive(Clone, Debug, PartialEq)]
pub struct RebootOutcome {
    /// The proof.
    pub proof: RebootProof,
    /// The report, where there is a verdict.
    pub report: Option<ProveReport>,
    /// It goes on, or the old parameters count again, after a reboot.
    pub needs_reboot: bool,
}

/// The kernel parameters of a desired state. What else it has is among what is left out.
pub fn parameters_alone(mut desired: DesiredState) -> DesiredState {
    let (kept, others): (Vec<_>, Vec<_>) =
        desired.settings.into_iter().partition(|one| matches!(one.selector, Selector::Parameter { .. }));
    if !others.is_empty() {
        desired.skipped.push(Skipped {
            what: match others.len() {
                1 => "a setting that is no kernel parameter".to_owned(),
                count => format!("{count} settings that are no kernel parameters"),
            },
            why: "--across-reboots measures kernel parameters alone: prove other settings without it"
                .to_owned(),
        });
    }
    DesiredState { settings: kept, ..desired }
}

/// Begins a proof: a round in this boot, and then the first change.
///
/// # Errors
/// [`ProveError`]: nothing is changed, or what was changed is put back, unless the error states otherwise.
pub fn begin(
    options: &ProveOptions,
    machine: &TunedMachine<'_>,
    store: &RebootStore,
    request: RebootRequest,
    stop: &Arc<AtomicBool>,
    on_event: &mut dyn FnMut(ProveProgress<'_>),
) -> Result<RebootOutcome, ProveError> {
    refuse_second(store)?;
    let plan = machine.plan().map_err(ProveError::Change)?;
    refusals(&plan)?;
    let change: Vec<KeptChange> = plan.changes.iter().filter_map(kept).collect();
    if change.is_empty() || change.len() != plan.changes.len() {
        return Err(ProveError::Change(format!("no kernel parameter to prove: {}", nothing(&plan))));
    }
    let mut proof = RebootProof::new(request.arguments, request.directory, plan.desired.clone(), change);
    proof.may_reboot = request.may_reboot;
    proof.most_rounds = options.rounds;
    proof.began = Timestamp::now().0;
    let facts = facts(&machine.access.system.tree(), &proof)?;
    if !facts.has_none {
        return Err(ProveError::Change(
            "the running kernel was booted with other parameters than the next one would be: reboot first"
                .to_owned(),
        ));
    }
    // What cannot be configured is refused before anything is written.
    parameter_steps(&plan, machine.access.system)?;
    let unit = persist::resume_steps(machine.access.system).map_err(StepsError::from)?;
    on_event(ProveProgress::Started);
    proof.unit = Some(machine.access.store.next_id()?);
    store.save(&proof)?;
    let mut run = RebootRun { options, machine, store, stop, proof };
    if let Err(error) = run.made(&plan, &unit) {
        run.restore(error.to_string(), false)?;
        return Err(error);
    }
    let outcome = run.advance(on_event);
    match outcome {
        Ok(_) if stop.load(Ordering::Acquire) && !run.proof.has_ended() => {
            run.restore("it was ended by a signal in its first round".to_owned(), false)
        }
        Err(error) if !run.proof.has_ended() => {
            run.restore(error.to_string(), false)?;
            Err(error)
        }
        outcome => outcome,
    }
}

/// Goes on after a boot; `Ok(None)`: there is no proof.
///
/// # Errors
/// [`ProveError`]; what was changed is put back, unless the error states otherwise.
pub fn go_on(
    options: &ProveOptions,
    machine: &TunedMachine<'_>,
    store: &RebootStore,
    stop: &Arc<AtomicBool>,
    on_event: &mut dyn FnMut(ProveProgress<'_>),
) -> Result<Option<RebootOutcome>, ProveError> {
    let Some(proof) = store.load()? else { return Ok(None) };
    let mut run = RebootRun { options, machine, store, stop, proof };
    match run.advance(on_event) {
        // A shutdown ends the measuring as well: the next boot goes on.
        Err(error) if !stop.load(Ordering::Acquire) && !run.proof.has_ended() => {
            run.restore(error.to_string(), false).map(Some)
        }
        outcome => outcome.map(Some),
    }
}

/// Puts the old parameters back, and ends the proof.
///
/// # Errors
/// There is none, or something cannot be put back.
pub fn abandon(
    options: &ProveOptions,
    machine: &TunedMachine<'_>,
    store: &RebootStore,
) -> Result<RebootOutcome, ProveError> {
    let proof = store.load()?.filter(|proof| !proof.has_ended());
    let proof =
        proof.ok_or_else(|| ProveError::Reboots("no proof across reboots is in progress".to_owned()))?;
    let stop = Arc::new(AtomicBool::new(false));
    RebootRun { options, machine, store, stop: &stop, proof }.restore("it was abandoned".to_owned(), false)
}

fn refuse_second(store: &RebootStore) -> Result<(), ProveError> {
    match store.load()? {
        Some(proof) if !proof.has_ended() => Err(ProveError::Change(
            "a proof across reboots is in progress: see `whylate prove --status`, or end it with `whylate prove --abandon`".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn kept(change: &whylate_tuning::Change) -> Option<KeptChange> {
    let Setting::Parameter { name } = &change.setting else { return None };
    Some(KeptChange {
        name: name.clone(),
        now: change.now.clone(),
        then: change.then.clone(),
        why: change.reasons.why.clone(),
    })
}

/// How this boot was made.
fn facts(tree: &FsRoot, proof: &RebootProof) -> Result<BootFacts, ProveError> {
    let unknown =
        |what: &str| ProveError::Reboots(format!("cannot read {what}: which boot this is cannot be told"));
    let boot = boot_id(tree).ok_or_else(|| unknown("/proc/sys/kernel/random/boot_id"))?;
    let host = Snapshot::read(tree);
    let cmdline = host.kernel.cmdline.known().ok_or_else(|| unknown("/proc/cmdline"))?;
    let is = |one: &KeptChange, value: &Option<String>| {
        whylate_bootloader::value(cmdline, &one.name, value.as_deref()) == *value
    };
    Ok(BootFacts {
        boot,
        has_change: proof.change.iter().all(|one| is(one, &one.then)),
        has_none: proof.change.iter().all(|one| is(one, &one.now)),
    })
}

/// A proof at work in one boot.
pub(super) struct RebootRun<'a> {
    pub(super) options: &'a ProveOptions,
    pub(super) machine: &'a TunedMachine<'a>,
    pub(super) store: &'a RebootStore,
    pub(super) stop: &'a Arc<AtomicBool>,
    pub(super) proof: RebootProof,
}

impl RebootRun<'_> {
    fn facts(&self) -> Result<BootFacts, ProveError> {
        facts(&self.machine.access.system.tree(), &self.proof)
    }

    fn save(&self) -> Result<(), ProveError> {
        self.store.save(&self.proof)
    }

    fn outcome(&self, report: Option<ProveReport>, needs_reboot: bool) -> RebootOutcome {
        RebootOutcome { proof: self.proof.clone(), report, needs_reboot }
    }

    /// What this boot is for.
    fn advance(&mut self, on_event: &mut dyn FnMut(ProveProgress<'_>)) -> Result<RebootOutcome, ProveError> {
        let facts = self.facts()?;
        let state = match next(&self.proof, &facts) {
            NextStep::Measure(state) => state,
            NextStep::WaitForReboot => return Ok(self.outcome(None, true)),
            NextStep::Restore(why) => return self.restore(why, false),
            NextStep::GoOnRestoring { why, is_done } => return self.restore(why, is_done),
            NextStep::Nothing => return Ok(self.outcome(None, false)),
        };
        self.proof.boots += 1;
        self.save()?;
        let round = self.measured(state)?;
        if self.stop.load(Ordering::Acquire) {
            return Ok(self.outcome(None, false));
        }
        self.proof.rounds.push(KeptRound::of(&round, &facts.boot));
        self.proof.measured_in = Some(facts.boot.clone());
        self.save()?;
        on_event(ProveProgress::Round(&summary(self.proof.rounds.len(), &round)));
        let rounds: Vec<Round> = self.proof.rounds.iter().map(KeptRound::round).collect();
        match after_round(&rounds, self.proof.most_rounds) {
            AfterRound::Another(state) => {
                self.change(state == RoundState::After)?;
                Ok(self.outcome(None, true))
            }
            AfterRound::Judged(judgement) => self.finish(*judgement, &rounds),
        }
    }

    fn measured(&mut self, state: RoundState) -> Result<Round, ProveError> {
        let tree = self.machine.access.system.tree();
        let meter = Meter { options: self.options, stop: self.stop };
        let command = meter.start_command()?;
        meter.settle();
        self.look_at_checks(&tree, state);
        let others = others::rules(&tree, &self.options.subject);
        let (round, notes) = meter.measure(state, command, &others)?;
        notes.into_iter().for_each(|note| self.note(note));
        Ok(round)
    }

    fn note(&mut self, note: String) {
        if !self.proof.notes.contains(&note) {
            self.proof.notes.push(note);
        }
    }

    /// Once in each state: what fails only with the change is a side effect.
    fn look_at_checks(&mut self, tree: &FsRoot, state: RoundState) {
        let is_first_after = self.proof.rounds.len() == 1 && state == RoundState::After;
        if self.proof.checks.is_some() && !is_first_after {
            return;
        }
        let cpus = self.options.checked_cpus.as_ref();
        match &self.proof.checks {
            None => self.proof.checks = Some(failed_checks(tree, cpus)),
            Some(before) => self.proof.newly_failed = side_effects::newly_failed(tree, cpus, before),
        }
    }

    /// Configures the boot loader for the next round, where it is not yet.
    pub(super) fn change(&mut self, to_change: bool) -> Result<(), ProveError> {
        if to_change != self.proof.applied.is_some() {
            self.proof.phase = RebootPhase::Change { to_change };
            if to_change {
                let plan = self.machine.plan().map_err(ProveError::Change)?;
                refusals(&plan)?;
                let steps = parameter_steps(&plan, self.machine.access.system)?;
                self.proof.applied = Some(self.machine.access.store.next_id()?);
                self.save()?;
                self.made(&plan, &steps)?;
            } else {
                self.save()?;
                self.put_back(self.proof.applied)?;
                self.proof.applied = None;
            }
        }
        self.proof.phase = RebootPhase::Measure { with_change: to_change };
        self.save()
    }

    /// Makes steps, by a journal that is marked as a proof's.
    fn made(&self, plan: &Plan, steps: &[ApplyStep]) -> Result<(), ProveError> {
        self.machine.make(&marked(plan), steps).map(|_| ())
    }

    /// Undoes an apply of this proof, as far as there is one.
    fn put_back(&self, id: Option<u64>) -> Result<(), ProveError> {
        let Some(id) = id else { return Ok(()) };
        match self.machine.access.store.ids()?.contains(&id) {
            true => self.machine.undo_apply(id),
            false => Ok(()),
        }
    }

    /// Puts everything back: the parameters, then the unit. It can be cut off anywhere, and goes on at the next boot.
    fn restore(&mut self, why: String, is_done: bool) -> Result<RebootOutcome, ProveError> {
        self.proof.phase = RebootPhase::Restore { why: why.clone(), is_done };
        self.save()?;
        self.put_back(self.proof.applied)?;
        self.proof.applied = None;
        self.save()?;
        self.put_back(self.proof.unit)?;
        self.proof.unit = None;
        self.proof.phase = RebootPhase::Ended { why, is_done };
        self.save()?;
        let needs_reboot = !self.facts()?.has_none;
        Ok(self.outcome(None, needs_reboot))
    }

    pub(super) fn finish(
        &mut self,
        judgement: ProveJudgement,
        rounds: &[Round],
    ) -> Result<RebootOutcome, ProveError> {
        let effects = side_effects::of(rounds, judgement.pair.as_ref(), &self.proof.newly_failed);
        let restored = self.restore(format!("the verdict is {}", judgement.verdict.name()), true)?;
        // After the unit is gone: what the apply needs is not taken away with it.
        let keeping = conclude::keep(self.options, self.machine, judgement.verdict, &effects);
        let is_kept = matches!(keeping, ChangeOutcome::Kept(_));
        let report = self.report(judgement, rounds, effects, keeping);
        Ok(RebootOutcome { report: Some(report), needs_reboot: restored.needs_reboot || is_kept, ..restored })
    }

    fn report(
        &self,
        judgement: ProveJudgement,
        rounds: &[Round],
        side_effects: Vec<SideEffect>,
        keeping: ChangeOutcome,
    ) -> ProveReport {
        let change = self.proof.change.iter().map(|one| ProvenChange {
            setting: Setting::Parameter { name: one.name.clone() }.to_string(),
            now: one.now.clone(),
            then: one.then.clone(),
            why: one.why.clone(),
        });
        let mut notes = self.proof.notes.clone();
        notes.push(format!("each round is of another boot, of {} in all", self.proof.boots));
        ProveReport {
            source: self.proof.desired.profile.clone(),
            change: change.collect(),
            notes,
            elapsed: Ns::from_secs((Timestamp::now().0 - self.proof.began).max(0)),
            ..conclude::report(self.options, rounds, judgement, side_effects, keeping)
        }
    }
}
