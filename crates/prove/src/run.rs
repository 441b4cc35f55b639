//! The loop: rounds in alternation, until there is a verdict or a bound is reached.

use crate::conclude::{self, summary};
use crate::error::ProveError;
use crate::judge::{FEWEST, ProveJudgement, ProveVerdict, judge, settled};
use crate::meter::{LOOK, Meter};
use crate::options::{ChangeSource, MachineAccess, ProveOptions, ProveProgress};
use crate::others;
use crate::report::{ProveReport, ProvenChange};
use crate::round::{BLOCK, Round, RoundState};
use crate::side_effects::{self, failed_checks};
use crate::tuned_machine::{Applied, TunedMachine, refuse};
use crate::watchdog::Watchdog;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::Ns;
use whylate_investigate::watch::WatchRule;
use whylate_sys::Clock;
use whylate_tuning::{Plan, Setting, System};

/// How long is waited for the threads of the command that the change names.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many threads are no longer a choice of single ones.
const MANY: usize = 8;

/// Measures a change before and after in alternation. Each time the change is rolled back, also on an error, and where this
/// process is killed.
///
/// # Errors
/// [`ProveError`]. The machine is as it was, unless the error states otherwise.
pub fn prove(
    options: &ProveOptions,
    access: MachineAccess<'_>,
    change: ChangeSource<'_>,
    stop: &Arc<AtomicBool>,
    on_event: &mut dyn FnMut(ProveProgress<'_>),
) -> Result<ProveReport, ProveError> {
    let started = whylate_sys::now(Clock::Monotonic);
    let (machine, restored) = TunedMachine::open(access, change)?;
    restored.into_iter().for_each(|id| on_event(ProveProgress::Restored(id)));
    // What can be refused is refused before anything is measured.
    let plan = machine.plan();
    match &plan {
        Ok(plan) => check_plan(plan, options.command.is_some())?,
        Err(why) if options.command.is_none() => return Err(ProveError::Change(why.clone())),
        Err(_) => {}
    }
    on_event(ProveProgress::Started);
    let watchdog = Watchdog::start(access.watchdog)?;
    let mut proof = Proof {
        options,
        machine: &machine,
        stop,
        started,
        rounds: Vec::new(),
        others: None,
        change: plan.as_ref().map(changes).unwrap_or_default(),
        source: plan.as_ref().map(|plan| plan.desired.profile.clone()).unwrap_or_default(),
        checks: None,
        newly_failed: Vec::new(),
        notes: plan.as_ref().ok().and_then(inherited).into_iter().collect(),
    };
    let measured = proof.rounds(on_event);
    let report = measured.map(|judgement| proof.report(judgement));
    // Still with the right to change the machine: nothing is left for it to do.
    watchdog.stop();
    report
}

/// Whether a plan can be measured; where a command is to run, nothing to change may mean that its threads are missing.
fn check_plan(plan: &Plan, has_command: bool) -> Result<(), ProveError> {
    refuse(plan)?;
    if plan.changes.is_empty() && !has_command {
        return Err(ProveError::Change(nothing(plan)));
    }
    Ok(())
}

/// Why a plan has no changes.
pub(crate) fn nothing(plan: &Plan) -> String {
    let skipped: Vec<String> = plan
        .skipped
        .iter()
        .chain(&plan.desired.skipped)
        .map(|left| format!("{}: {}", left.what, left.why))
        .collect();
    let mut text = match plan.unchanged.len() {
        0 => "nothing to change".to_owned(),
        _ => "nothing to change: every setting already has the desired value".to_owned(),
    };
    if !skipped.is_empty() {
        text += &format!("; skipped: {}", skipped.join("; "));
    }
    text
}

fn changes(plan: &Plan) -> Vec<ProvenChange> {
    let one = |change: &whylate_tuning::Change| ProvenChange {
        setting: change.setting.to_string(),
        now: change.now.clone(),
        then: change.then.clone(),
        why: change.reasons.why.clone(),
    };
    plan.changes.iter().map(one).collect()
}

/// What outlasts a change of many threads: others that these start meanwhile.
fn inherited(plan: &Plan) -> Option<String> {
    let is_thread =
        |setting: &Setting| matches!(setting, Setting::ThreadCpus { .. } | Setting::ThreadPolicy { .. });
    let count = plan.changes.iter().filter(|change| is_thread(&change.setting)).count();
    (count >= MANY).then(|| {
        format!(
            "the change is of {count} threads: processes that these started during a round with the change inherited their CPUs or \
             policy, and keep them"
        )
    })
}

/// A proof at work.
struct Proof<'a> {
    options: &'a ProveOptions,
    machine: &'a TunedMachine<'a>,
    stop: &'a Arc<AtomicBool>,
    started: Ns,
    rounds: Vec<Round>,
    /// Known from the first round on.
    others: Option<Vec<WatchRule>>,
    change: Vec<ProvenChange>,
    source: String,
    /// The checks that failed before.
    checks: Option<Vec<(String, String)>>,
    newly_failed: Vec<(String, String)>,
    notes: Vec<String>,
}

impl Proof<'_> {
    /// Measures rounds until there is a verdict, a bound is reached, or the user ends it.
    fn rounds(&mut self, on_event: &mut dyn FnMut(ProveProgress<'_>)) -> Result<ProveJudgement, ProveError> {
        loop {
            let number = self.rounds.len();
            if let Some(judgement) = settled(&self.rounds, |count| self.bound(count)) {
                return Ok(judgement);
            }
            if !self.is_asked_to_stop() {
                let round = self.round(RoundState::of_round(number))?;
                // A round that was cut short is none.
                if !self.is_asked_to_stop() {
                    on_event(ProveProgress::Round(&summary(number + 1, &round)));
                    self.rounds.push(round);
                    continue;
                }
            }
            let whole = self.rounds.len() / BLOCK * BLOCK;
            let mut judgement = judge(&self.rounds[..whole]).judgement();
            let ended = format!(
                "it was ended by a signal after {} rounds, before there was a verdict; {FEWEST} rounds are needed at least",
                self.rounds.len()
            );
            if whole < FEWEST {
                judgement.why.clear();
            }
            judgement.verdict = ProveVerdict::Refused;
            judgement.why.insert(0, ended);
            return Ok(judgement);
        }
    }

    fn meter(&self) -> Meter<'_> {
        Meter { options: self.options, stop: self.stop }
    }

    fn is_asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn elapsed(&self) -> Ns {
        whylate_sys::now(Clock::Monotonic) - self.started
    }

    /// Why there are no more rounds; `None`: there are.
    fn bound(&self, count: usize) -> Option<String> {
        if count >= self.options.rounds {
            return Some(format!("all {count} rounds are measured (--rounds)"));
        }
        (self.elapsed() >= self.options.limit)
            .then(|| format!("the time is over after {count} rounds (--duration)"))
    }

    /// A round of a state. The change, where it is made, is rolled back, whatever happens.
    fn round(&mut self, state: RoundState) -> Result<Round, ProveError> {
        let mut applied = Applied::default();
        let round = self.measured(state, &mut applied);
        let undone = self.machine.undo(applied);
        match (round, undone) {
            (Ok(round), Ok(())) => Ok(round),
            (Err(error), Ok(())) => Err(error),
            (Ok(_), Err(error)) => Err(error),
            (Err(error), Err(undone)) => Err(ProveError::Apply(format!("{error}; {undone}"))),
        }
    }

    fn measured(&mut self, state: RoundState, applied: &mut Applied) -> Result<Round, ProveError> {
        let is_after = state == RoundState::After;
        if is_after && let Ok(plan) = self.machine.plan() {
            self.machine.apply(&plan, applied)?;
        }
        let command = self.meter().start_command()?;
        self.meter().settle();
        if is_after && command.is_some() {
            self.apply_to_command(applied)?;
        }
        if is_after && !applied.is_something() {
            let why = self.machine.plan().map_or_else(|why| why, |plan| nothing(&plan));
            return Err(ProveError::Change(why));
        }
        self.meter().settle();
        self.look_at_checks(state);
        let subject = &self.options.subject;
        let others = self
            .others
            .get_or_insert_with(|| others::rules(&self.machine.access.system.tree(), subject))
            .clone();
        let (round, notes) = self.meter().measure(state, command, &others)?;
        notes.into_iter().for_each(|note| self.note(note));
        Ok(round)
    }

    /// The threads of the command, which run only now.
    fn apply_to_command(&mut self, applied: &mut Applied) -> Result<(), ProveError> {
        let until = whylate_sys::now(Clock::Monotonic) + Ns(PATIENCE.as_nanos() as i64);
        loop {
            let plan = self.machine.plan();
            if let Ok(plan) = &plan {
                if self.change.is_empty() && !plan.changes.is_empty() {
                    (self.change, self.source) = (changes(plan), plan.desired.profile.clone());
                }
                self.machine.apply(plan, applied)?;
            }
            let is_over = whylate_sys::now(Clock::Monotonic) >= until || self.is_asked_to_stop();
            if applied.is_something() || is_over {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Once in each state: what fails only with the change is a side effect.
    fn look_at_checks(&mut self, state: RoundState) {
        let tree = self.machine.access.system.tree();
        let cpus = self.options.checked_cpus.as_ref();
        match (&self.checks, state) {
            (None, RoundState::Before) => self.checks = Some(failed_checks(&tree, cpus)),
            (Some(before), RoundState::After) if self.rounds.len() == 1 => {
                self.newly_failed = side_effects::newly_failed(&tree, cpus, before);
            }
            _ => {}
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn report(&self, judgement: ProveJudgement) -> ProveReport {
        let effects = side_effects::of(&self.rounds, judgement.pair.as_ref(), &self.newly_failed);
        let keeping = conclude::keep(self.options, self.machine, judgement.verdict, &effects);
        ProveReport {
            source: self.source.clone(),
            change: self.change.clone(),
            notes: self.notes.clone(),
            elapsed: self.elapsed(),
            ..conclude::report(self.options, &self.rounds, judgement, effects, keeping)
        }
    }
}
